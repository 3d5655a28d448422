//! Rows of one table that are entities of several types, on both kinds of database.

use super::client::Running;
use super::own::{AS_JSON, OWN_V2, OWN_V4, json, on_both, send};

const TABLES: &str = "
    CREATE TABLE people (
        id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL, kind VARCHAR(1), friend_id BIGINT REFERENCES people (id),
        salary NUMERIC(9, 2), grade INTEGER DEFAULT 1, boss_id BIGINT REFERENCES people (id), budget INTEGER,
        street VARCHAR(20), city VARCHAR(20), until VARCHAR(10)
    );
    INSERT INTO people VALUES
        (1, 'Ada', 'm', NULL, 90.75, 3, NULL, 1000, NULL, NULL, NULL),
        (2, 'Ben', 'e', 1, 40.25, 1, 1, NULL, NULL, NULL, NULL),
        (3, 'Cid', 'e', NULL, 55.25, 2, 1, NULL, NULL, NULL, NULL),
        (4, 'Dot', 'p', 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        (5, 'Eve', 'g', 1, NULL, NULL, NULL, NULL, 'Main', 'Rome', '2030'),
        (6, 'Fay', NULL, 3, 77, 9, 1, 5, NULL, NULL, NULL),
        (7, 'Gus', '?', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE TABLE vehicles (
        plate VARCHAR(8) PRIMARY KEY, wheels INTEGER NOT NULL, owner_id BIGINT NOT NULL REFERENCES people (id),
        doors INTEGER, gears INTEGER
    );
    INSERT INTO vehicles VALUES ('A-1', 4, 1, 5, NULL), ('B-2', 2, 1, NULL, 21), ('C-3', 4, 2, 3, NULL);
";

const MAPPING: &str = r#"
    [tables.people]
    name = "People"
    type = "Person"
    discriminator = "kind"
    stored = "p"
    complex.lodging = { type = "Lodging", members = { street = "street", city = "city" } }

    [tables.people.derived.Employee]
    stored = "e"
    columns = ["salary", "grade", "boss_id"]

    [tables.people.derived.Boss]
    base = "Employee"
    stored = "m"
    columns = ["budget"]

    [tables.people.derived.Guest]
    stored = "g"
    columns = ["until", "street", "city"]

    [tables.vehicles]
    discriminator = "wheels"
    abstract = true

    [tables.vehicles.derived.Car]
    stored = 4
    columns = ["doors"]

    [tables.vehicles.derived.Bike]
    stored = 2
    columns = ["gears"]

    [singletons]
    Head = "People(1)"
"#;

const EMPLOYEE: &str = "own.Employee";

fn get(gateway: &Running, below: &str) -> super::client::Answer {
    gateway.get(&format!("{OWN_V4}{}", below.replace(' ', "%20")))
}

/// The ids found by a path with a query.
fn ids(gateway: &Running, below: &str) -> String {
    let separator = if below.contains('?') { '&' } else { '?' };
    let told = json(get(gateway, &format!("{below}{separator}$select=id")).expect(200, "value"));
    told["value"].as_array().unwrap().iter().map(|one| one["id"].to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn types_are_declared_in_both_documents_and_flat_in_v2() {
    on_both("derived_declared", [TABLES, TABLES], MAPPING, "", |gateway| {
        let metadata = get(gateway, "$metadata");
        metadata.expect(200, "<EntityType Name=\"Person\"><Key><PropertyRef Name=\"id\"/></Key>");
        metadata.expect(200, "<EntityType Name=\"Employee\" BaseType=\"own.Person\"><Property Name=\"salary\"");
        metadata.expect(
            200,
            "<EntityType Name=\"Boss\" BaseType=\"own.Employee\"><Property Name=\"budget\" Type=\"Edm.Int",
        );
        metadata.expect(200, "<EntityType Name=\"Guest\" BaseType=\"own.Person\"><Property Name=\"lodging\"");
        metadata.expect(200, "<EntityType Name=\"vehicle\" Abstract=\"true\"><Key>");
        metadata.expect(200, "<NavigationPropertyBinding Path=\"own.Employee/boss\" Target=\"People\"/>");
        let json_document = get(gateway, "$metadata?$format=json");
        json_document.expect(200, "\"Boss\":{\"$Kind\":\"EntityType\",\"$BaseType\":\"own.Employee\",\"budget\":");
        json_document.expect(200, "\"vehicle\":{\"$Kind\":\"EntityType\",\"$Abstract\":true,\"$Key\":[\"plate\"]");
        json_document.expect(200, "\"own.Employee/boss\":\"People\"");
        let v2 = gateway.get(&format!("{OWN_V2}$metadata"));
        let text = v2.expect(200, "<EntityType Name=\"Person\"").text();
        assert!(text.contains("Name=\"salary\"") && !text.contains("Employee"), "{text}");
        let flat = gateway.get_with(&format!("{OWN_V2}People(5L)"), &[AS_JSON]);
        flat.expect(200, "\"kind\":\"g\"").expect(200, "\"salary\":null");
        gateway.get("/rest/own/People/2").expect(200, "\"kind\":\"e\"").expect(200, "\"budget\":null");
        let openapi = json(&gateway.get("/rest/own/openapi.json"));
        let told =
            |schema: &str, property: &str| openapi["components"]["schemas"][schema]["properties"][property].clone();
        assert_eq!(told("People_new", "kind")["enum"], serde_json::json!(["p", "e", "m", "g", null]));
        let meaning = "of which type it is: \"p\" Person, \"e\" Employee, \"m\" Boss, \"g\" Guest";
        assert_eq!(told("People_selected", "kind")["description"], meaning);
        assert_eq!(told("People_change", "budget")["description"], "only of a Boss");
        assert_eq!(told("vehicles_new", "wheels")["enum"], serde_json::json!([2, 4]));
    });
}

#[test]
fn entities_say_their_type_and_have_what_it_declares() {
    on_both("derived_read", [TABLES, TABLES], MAPPING, "", |gateway| {
        let person = get(gateway, "People(4)");
        let text = person.expect(200, "$metadata#People/$entity\",\"id\":4,").text();
        assert!(!text.contains("salary") && !text.contains("lodging") && !text.contains("type"), "{text}");
        get(gateway, "People(1)").expect(200, "\"@odata.type\":\"#own.Boss\",\"id\":1").expect(200, "\"budget\":1000");
        let guest = get(gateway, "People(5)");
        guest.expect(200, "\"lodging\":{\"street\":\"Main\",\"city\":\"Rome\"},\"until\":\"2030\"}");
        let newer = gateway.get_with(&format!("{OWN_V4}People(2)"), &[("OData-MaxVersion", "4.01")]);
        newer.expect(200, "\"@type\":\"#own.Employee\"");
        // What no type is stored for is of the first, without anything that others declare.
        for id in [6, 7] {
            let text = get(gateway, &format!("People({id})")).expect(200, "\"name\"").text();
            assert!(!text.contains("salary") && !text.contains("odata.type"), "{text}");
        }
        let full = ("Accept", "application/json;odata.metadata=full");
        let full = |below: &str| gateway.get_with(&format!("{OWN_V4}{below}"), &[full]);
        let boss = full("People(1)");
        boss.expect(200, "\"@odata.type\":\"#own.Boss\"").expect(200, "\"@odata.editLink\":\"People(1)/own.Boss\"");
        boss.expect(200, "\"boss@odata.navigationLink\":\"People(1)/own.Employee/boss\"");
        full("People(4)").expect(200, "\"@odata.type\":\"#own.Person\"").expect(200, "editLink\":\"People(4)\"");
        let none = ("Accept", "application/json;odata.metadata=none");
        let bare = gateway.get_with(&format!("{OWN_V4}People?$select={EMPLOYEE}/salary&$filter=id%20gt%201"), &[none]);
        bare.expect(200, "{\"value\":[{\"salary\":40.25},{\"salary\":55.25},{},{},{},{}]}");
        get(gateway, "Head").expect(200, "$metadata#Head\",\"@odata.type\":\"#own.Boss\"");
        get(gateway, "vehicles")
            .expect(200, "\"@odata.type\":\"#own.Bike\",\"plate\":\"B-2\",\"wheels\":2,\"owner_id\":1,\"gears\":21}");
    });
}

#[test]
fn casts_in_paths_keep_what_is_of_the_type() {
    on_both("derived_paths", [TABLES, TABLES], MAPPING, "", |gateway| {
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        let employees = get(gateway, "People/own.Employee");
        employees.expect(200, "$metadata#People/own.Employee\",\"value\":[{\"@odata.type\":\"#own.Boss\",\"id\":1");
        employees.expect(200, "{\"id\":2,\"name\":\"Ben\",\"kind\":\"e\",\"friend_id\":1,\"salary\":40.25");
        for (below, expected) in [
            ("People/own.Employee", "1 2 3"),
            ("People/own.Person", "1 2 3 4 5 6 7"),
            ("People/own.Employee/own.Boss", "1"),
            ("People/own.Guest", "5"),
            ("People/own.Employee?$filter=salary gt 41&$orderby=salary desc", "1 3"),
            ("People/own.Employee?$top=1&$skip=1&$orderby=boss/name desc,id", "3"),
            ("People(1)/People_by_boss/own.Employee", "2 3"),
            ("People(1)/People_by_friend/own.Employee", "2"),
            ("People?$filter=own.Employee/salary gt 41", "1 3"),
            ("People?$filter=own.Employee/salary eq null", "4 5 6 7"),
            ("People?$filter=not (own.Employee/salary gt 41)", "2 4 5 6 7"),
            ("People?$filter=isof(own.Employee)", "1 2 3"),
            ("People?$filter=not isof(own.Employee)", "4 5 6 7"),
            ("People?$filter=isof(friend,own.Employee)", "2 4 5 6"),
            ("People?$filter=not isof(friend,own.Boss)", "1 3 4 6 7"),
            ("People?$filter=isof(friend,own.Person)", "2 4 5 6"),
            ("People?$filter=isof(own.Employee/boss,own.Boss)", "2 3"),
            ("People?$filter=cast(own.Employee)/salary lt 50", "2"),
            ("People?$filter=cast(friend,own.Boss)/budget eq 1000", "2 5"),
            ("People?$filter=friend/own.Employee/boss/own.Boss/budget eq 1000", "4 6"),
            ("People?$filter=own.Employee/boss/name eq 'Ada'", "2 3"),
            ("People?$filter=own.Guest/lodging/city eq 'Rome'", "5"),
            ("People?$filter=People_by_friend/own.Employee/any(e:e/salary lt 50)", "1"),
            ("People?$filter=People_by_friend/any(p:p/own.Employee/salary lt 50)", "1"),
            ("People?$filter=People_by_friend/any(p:isof(p,own.Guest))", "1"),
            ("People?$filter=People_by_friend/own.Employee/all(e:e/salary gt 50) and id lt 4", "2 3"),
            ("People?$filter=People_by_friend/own.Employee/$count eq 1", "1"),
            ("People?$filter=People_by_friend/own.Employee/any()", "1"),
            ("People?$orderby=own.Employee/salary desc,id desc&$top=3", "1 3 2"),
            ("People/own.Employee?$search=Ben", "2"),
            ("People/own.Employee?$apply=filter(salary gt 50)", "1 3"),
        ] {
            found.push((below, ids(gateway, below)));
            wanted.push((below, expected.to_owned()));
        }
        assert_eq!(found, wanted);
        assert_eq!(get(gateway, "People/own.Employee/$count").text(), "3");
        assert_eq!(get(gateway, "People/own.Employee/$count?$filter=salary gt 50").text(), "2");
        get(gateway, "People/own.Guest?$count=true").expect(200, "\"@odata.count\":1");
        get(gateway, "People(2)/own.Employee").expect(200, "$metadata#People/own.Employee/$entity\",\"id\":2");
        get(gateway, "People/own.Employee(2)").expect(200, "$metadata#People/own.Employee/$entity\",\"id\":2");
        get(gateway, "People/own.Employee(2)/salary").expect(200, "#People(2)/own.Employee/salary\",\"value\":40.25");
        get(gateway, "People(2)/own.Employee/boss")
            .expect(200, "$metadata#People/$entity\",\"@odata.type\":\"#own.Boss\"");
        get(gateway, "People(5)/own.Guest/lodging/city/$value").expect(200, "Rome");
        get(gateway, "Head/own.Boss/budget").expect(200, "\"value\":1000");
        get(gateway, "People/own.Employee?$apply=aggregate(salary with sum as total)").expect(200, "\"total\":186.25");
        get(gateway, "People/own.Employee?$compute=salary mul 2 as twice&$top=1").expect(200, "\"twice\":181.5");
        let page = gateway.get_with(&format!("{OWN_V4}People/own.Employee"), &[("Prefer", "maxpagesize=2")]);
        let next = json(page.expect(200, "nextLink"))["@odata.nextLink"].as_str().unwrap().to_owned();
        gateway.get(&next[next.find("/odata").unwrap()..]).expect(200, "\"id\":3");
        for (below, status, part) in [
            ("People(4)/own.Employee", 404, ""),
            ("People(4)/own.Employee/boss", 404, ""),
            ("People/own.Employee(4)", 404, ""),
            ("People(2)/own.Employee(2)", 400, "takes no key"),
            ("People(2)/salary", 404, "Person has no property"),
            ("People/own.Employe", 404, "did you mean own.Employee?"),
            ("People/own.Car", 404, "'own.Car' does not derive from own.Person"),
            ("People/own.Guest/own.Employee", 404, "does not derive from own.Guest"),
            ("People/own.Guest/own.Person", 404, "does not derive from own.Guest"),
            ("People?$filter=salary gt 1", 400, "unknown property 'salary'"),
            (
                "People?$filter=id gt 0 and own.Car/doors gt 1",
                400,
                "does not derive from own.Person in $filter at column 13",
            ),
            ("People?$filter=isof(own.Boat)", 400, "unknown type 'own.Boat'"),
            ("People?$filter=cast(own.Employee) ne null", 501, "cast of an entity"),
            ("People?$select=salary", 400, "unknown property"),
            ("People?$expand=boss", 400, "unknown navigation property"),
            ("People/own.Employee?$orderby=until", 400, "unknown property"),
        ] {
            get(gateway, below).expect(status, part);
        }
    });
}

#[test]
fn casts_choose_what_is_shown_and_expanded() {
    on_both("derived_shown", [TABLES, TABLES], MAPPING, "", |gateway| {
        let chosen =
            get(gateway, "People?$select=name,own.Employee/salary,own.Guest/lodging&$filter=id ne 1 and id lt 6");
        chosen.expect(200, "$metadata#People(name,own.Employee/salary,own.Guest/lodging)\"");
        chosen.expect(200, "\"name\":\"Ben\",\"salary\":40.25}").expect(200, "\"name\":\"Dot\"}");
        chosen.expect(200, "\"name\":\"Eve\",\"lodging\":{\"street\":\"Main\",\"city\":\"Rome\"}}");
        let expanded = get(gateway, "People?$expand=own.Employee/boss($select=name)&$select=id");
        expanded.expect(200, "$metadata#People(id,own.Employee/boss(name))\"");
        let told = json(&expanded);
        let boss = |at: usize| told["value"][at].get("boss").map(|boss| boss["name"].clone());
        assert_eq!(boss(0), Some(serde_json::Value::Null));
        assert_eq!(boss(1), Some("Ada".into()));
        assert_eq!([boss(3), boss(4), boss(5)], [None, None, None], "{told}");
        let behind = get(gateway, "People(1)?$expand=People_by_friend/own.Employee($select=salary)");
        behind.expect(200, "People(People_by_friend/own.Employee(salary))/$entity");
        behind.expect(200, "\"People_by_friend\":[{").expect(200, "\"salary\":40.25}]");
        let inherited = json(&get(gateway, "People?$expand=own.Employee/friend($levels=2)&$filter=id in (2,4)"));
        assert_eq!(inherited["value"][0]["friend"]["name"], "Ada");
        assert!(inherited["value"][1].get("friend").is_none(), "{inherited}");
        let levels = json(&get(gateway, "People/own.Employee?$expand=boss($levels=2)&$filter=id eq 2"));
        assert_eq!(levels["value"][0]["boss"]["boss"], serde_json::Value::Null);
        let counted = json(&get(gateway, "People(1)?$expand=People_by_boss/own.Employee/$count"));
        assert_eq!(counted["People_by_boss@odata.count"], 2, "{counted}");
        let small = [("Prefer", "maxpagesize=1")];
        let cut = gateway.get_with(&format!("{OWN_V4}People(1)?$expand=People_by_boss/own.Employee"), &small);
        let next = json(&cut)["People_by_boss@odata.nextLink"].as_str().unwrap().to_owned();
        assert!(next.contains("People(1)/People_by_boss/own.Employee?$skiptoken="), "{next}");
        gateway.get(&next[next.find("/odata").unwrap()..]).expect(200, "\"id\":3");
        get(gateway, "vehicles?$expand=owner($select=own.Employee/salary)&$filter=plate eq 'C-3'")
            .expect(200, "\"owner\":{\"@odata.type\":\"#own.Employee\"")
            .expect(200, "\"salary\":40.25}");
        get(gateway, "People(1)/vehicles/own.Bike?$select=gears").expect(200, "\"gears\":21}");
    });
}

#[test]
fn what_is_written_is_of_one_type_for_good() {
    on_both("derived_written", [TABLES, TABLES], MAPPING, "", |gateway| {
        let v4 = |method: &str, below: &str, body: &str| send(gateway, method, &format!("{OWN_V4}{below}"), &[], body);
        let made = v4("POST", "People", r##"{"salary":12.75,"@odata.type":"#own.Employee","id":10,"name":"Hal"}"##);
        made.expect(201, "\"@odata.type\":\"#own.Employee\",\"id\":10").expect(201, "\"kind\":\"e\"");
        made.expect(201, "\"salary\":12.75,\"grade\":1,");
        v4("POST", "People/own.Guest", r#"{"id":11,"name":"Ida","lodging":{"city":"Oslo"}}"#)
            .expect(201, "\"@odata.type\":\"#own.Guest\"")
            .expect(201, "\"city\":\"Oslo\"");
        v4("POST", "People/own.Employee", r#"{"@type":"own.Boss","id":12,"name":"Jan","budget":5}"#)
            .expect(201, "own.Boss");
        v4("POST", "People", r#"{"id":13,"name":"Kay"}"#).expect(201, "\"kind\":\"p\",\"friend_id\":null}");
        v4("POST", "People(12)/People_by_boss/own.Employee", r#"{"id":14,"name":"Leo"}"#).expect(201, "\"boss_id\":12");
        v4("POST", "vehicles", r#"{"plate":"D-4","owner_id":12,"wheels":2,"gears":3}"#).expect(201, "#own.Bike");
        for (method, below, body, part) in [
            (
                "POST",
                "People",
                r#"{"id":20,"name":"x","salary":1}"#,
                "Person has no salary, which is a property of Employee",
            ),
            (
                "POST",
                "People",
                r##"{"id":20,"name":"x","@odata.type":"#own.Car"}"##,
                "expected the type own.Person or one that derives from it",
            ),
            (
                "POST",
                "People",
                r##"{"id":20,"name":"x","kind":"g","@odata.type":"#own.Employee"}"##,
                "expected an entity of type Employee, found Guest",
            ),
            ("POST", "People", r#"{"id":20,"name":"x","kind":"z"}"#, "expected kind to be the value of a type"),
            (
                "POST",
                "People/own.Guest",
                r##"{"id":20,"name":"x","@odata.type":"#own.Employee"}"##,
                "expected an entity of type Guest",
            ),
            ("POST", "vehicles", r#"{"plate":"E-5","owner_id":1}"#, "vehicle is abstract"),
            ("PATCH", "People(13)", r#"{"salary":1}"#, "Person has no salary"),
            ("PATCH", "People(13)", r##"{"@odata.type":"#own.Guest","name":"y"}"##, "a type does not change"),
            ("PATCH", "People(13)", r#"{"kind":"e"}"#, "a type does not change"),
            ("PATCH", "People(10)", r#"{"budget":1}"#, "Employee has no budget"),
        ] {
            v4(method, below, body).expect(400, part);
        }
        v4("PATCH", "People(10)/own.Employee", r#"{"salary":13}"#).expect(204, "");
        v4("PATCH", "People(10)", r##"{"@odata.type":"#own.Employee","salary":14,"kind":"e"}"##).expect(204, "");
        v4("PUT", "People(10)/own.Employee/salary", r#"{"value":15}"#).expect(204, "");
        get(gateway, "People(10)/own.Employee/salary/$value").expect(200, "15");
        v4("PATCH", "People(13)/own.Employee", r#"{"name":"z"}"#).expect(404, "");
        v4("DELETE", "People(13)/own.Employee", "").expect(404, "");
        v4("PUT", "People(10)", r#"{"name":"Hal II"}"#).expect(204, "");
        get(gateway, "People(10)")
            .expect(200, "\"name\":\"Hal II\",\"kind\":\"e\",\"friend_id\":null,\"salary\":null,\"grade\":1");
        let told = [("Prefer", "return=representation")];
        send(gateway, "PATCH", &format!("{OWN_V4}People(30)/own.Guest"), &told, r#"{"name":"New"}"#)
            .expect(201, "\"@odata.type\":\"#own.Guest\",\"id\":30");
        // V2 and plain REST say the type by its property, and may say that there is nothing of the others.
        let v2 = |method: &str, below: &str, body: &str| {
            send(gateway, method, &format!("{OWN_V2}{below}"), &[AS_JSON], body)
        };
        v2("POST", "People", r#"{"id":"40","name":"Mia","kind":"e","salary":"3","budget":null}"#)
            .expect(201, "\"kind\":\"e\"");
        v2("POST", "People", r#"{"id":"41","name":"Mia","kind":"p","salary":"3"}"#).expect(400, "Person has no salary");
        v2("MERGE", "People(40L)", r#"{"kind":"e","salary":"4","until":null}"#).expect(204, "");
        let rest =
            |method: &str, below: &str, body: &str| send(gateway, method, &format!("/rest/own/{below}"), &[], body);
        rest("POST", "People", r#"{"id":50,"name":"Ned","kind":"g","until":"2031"}"#).expect(201, "\"until\":\"2031\"");
        rest("POST", "People", r#"[{"id":51,"name":"a"},{"id":52,"name":"b","until":"1"}]"#).expect(400, "[1].until");
        rest("PATCH", "People/50", r#"{"salary":1}"#).expect(400, "Guest has no salary");
        v4("DELETE", "People(30)/own.Guest", "").expect(204, "");
        let batch = r#"{"requests":[{"id":"1","method":"get","url":"People/own.Guest?$select=id"}]}"#;
        v4("POST", "$batch", batch).expect(200, "\"id\":50");
    });
}

#[test]
fn relations_and_actions_are_those_of_the_type() {
    let mapping = format!(
        "{MAPPING}
        [actions.Raise]
        bound_to = \"People\"
        set = {{ salary = \"100\" }}
        answers = \"changed\"
        "
    );
    on_both("derived_related", [TABLES, TABLES], &mapping, "", |gateway| {
        let v4 = |method: &str, below: &str, body: &str| send(gateway, method, &format!("{OWN_V4}{below}"), &[], body);
        let ada = r#"{"@odata.id":"People(1)"}"#;
        v4("DELETE", "People(3)/own.Employee/boss/$ref", "").expect(204, "");
        get(gateway, "People(3)/own.Employee/boss").expect(204, "");
        v4("PUT", "People(3)/own.Employee/boss/$ref", ada).expect(204, "");
        get(gateway, "People/own.Employee/3/boss").expect(200, "\"id\":1");
        get(gateway, "People/1/own.Boss/budget").expect(200, "1000");
        v4("PUT", "People(4)/own.Employee/boss/$ref", ada).expect(404, "");
        v4("PUT", "People(4)/boss/$ref", ada).expect(404, "Person has no property 'boss'");
        let dot = r#"{"@odata.id":"People(4)"}"#;
        v4("POST", "People(1)/People_by_boss/$ref", dot).expect(400, "Person has no boss_id");
        v4("POST", "People(1)/People_by_friend/$ref", dot).expect(204, "");
        let bound = r##""name":"Hal","boss@odata.bind":"People(1)"}"##;
        v4("POST", "People", &format!(r##"{{"@odata.type":"#own.Employee","id":60,{bound}"##))
            .expect(201, "\"boss_id\":1");
        v4("POST", "People", &format!("{{\"id\":61,{bound}")).expect(400, "Person has no boss");
        let deep =
            |kind: &str| format!(r##"{{"id":62,"name":"Ida","People_by_boss":[{{{kind}"id":63,"name":"Jan"}}]}}"##);
        v4("POST", "People/own.Boss", &deep("")).expect(400, "Person has no boss_id");
        v4("POST", "People/own.Boss", &deep(r##""@odata.type":"#own.Employee","##)).expect(201, "#own.Boss");
        get(gateway, "People(63)").expect(200, "\"@odata.type\":\"#own.Employee\"").expect(200, "\"boss_id\":62");
        let grouped = get(gateway, "People?$apply=groupby((own.Employee/boss/name),aggregate($count as number))");
        grouped.expect(200, "{\"boss\":{\"name\":\"Ada\"},\"number\":3}");
        let levels = "People?$apply=groupby((own.Employee/grade),concat(aggregate($count as number),topcount(1,id)))";
        get(gateway, levels).expect(200, "\"grade\":2,\"number\":1");
        v4("POST", "People(2)/own.Employee/own.Raise", "").expect(200, "\"salary\":100");
        v4("POST", "People(4)/own.Raise", "").expect(400, "Person has no salary");
        v4("POST", "People(4)/own.Employee/own.Raise", "").expect(404, "");
    });
}

#[test]
fn a_collection_of_a_derived_type_is_one_of_its_entities_only() {
    let more = |text: &str, array: &str| {
        format!(
            "{TABLES} ALTER TABLE people ADD COLUMN skills {text};
            UPDATE people SET skills = '{array}' WHERE id IN (2, 4, 6);"
        )
    };
    let mapping = MAPPING.replace("\"boss_id\"]", "\"boss_id\", \"skills\"]");
    let mapping = format!("{mapping}\n[tables.people.columns]\nskills.collection = \"Edm.String\"\n");
    let tables = [more("TEXT", r#"["a","b"]"#), more("TEXT[]", "{a,b}")];
    on_both("derived_collection", [&tables[0], &tables[1]], &mapping, "", |gateway| {
        get(gateway, "People(2)").expect(200, "\"skills\":[\"a\",\"b\"]");
        get(gateway, "People(3)").expect(200, "\"skills\":[]");
        let text = get(gateway, "People(4)").expect(200, "\"name\"").text();
        assert!(!text.contains("skills"), "{text}");
        let questions = [
            ("'a' in own.Employee/skills", "2"),
            ("own.Employee/skills/any(s:s eq 'b')", "2"),
            ("own.Employee/skills/$count eq 2", "2"),
            ("hassubset(own.Employee/skills,[\"a\"])", "2"),
            ("hassubsequence(own.Employee/skills,[\"a\",\"b\"])", "2"),
            ("own.Employee/skills/$count($filter=$this eq 'a') eq 1", "2"),
        ];
        for (filter, expected) in questions {
            assert_eq!(ids(gateway, &format!("People?$filter={}", filter.replace('"', "%22"))), expected, "{filter}");
        }
        let v4 = |method: &str, below: &str, body: &str| send(gateway, method, &format!("{OWN_V4}{below}"), &[], body);
        v4("POST", "People/own.Employee", r#"{"id":70,"name":"Hal","skills":["c"]}"#).expect(201, "[\"c\"]");
        v4("POST", "People", r#"{"id":71,"name":"Ida"}"#).expect(201, "\"id\":71");
        v4("POST", "People", r#"{"id":72,"name":"Ida","skills":["c"]}"#).expect(400, "Person has no skills");
        v4("PUT", "People(70)/own.Employee/skills", r#"{"value":["d"]}"#).expect(204, "");
        get(gateway, "People(70)/own.Employee/skills").expect(200, "\"value\":[\"d\"]");
    });
}

#[test]
fn what_an_entity_has_not_is_null_is_not_named_and_cannot_be_made_its_own() {
    on_both("derived_foreign", [TABLES, TABLES], MAPPING, "if_match = \"optional\"", |gateway| {
        let kay = r#"{"id":13,"name":"Kay","kind":"p"}"#;
        let rest = |method: &str, below: &str, body: &str| {
            send(gateway, method, &format!("/rest/own/{below}"), &[("Accept", "application/json")], body)
        };
        rest("POST", "People", kay).expect(201, "\"grade\":null");
        let told = gateway.get("/rest/own/People/13");
        let body = told.expect(200, "\"grade\":null").text();
        rest("PUT", "People/13", &body).expect(200, "\"grade\":null");
        send(gateway, "PATCH", &format!("{OWN_V4}People(2)"), &[], r#"{"kind":null}"#).expect(400, "does not change");
        send(gateway, "PATCH", &format!("{OWN_V4}People(4)"), &[], r#"{"kind":null}"#).expect(204, "");
        let groups = get(gateway, "People?$apply=groupby((own.Employee/grade),topcount(1,id))");
        assert!(!groups.expect(200, "value").text().contains("{}"), "{}", groups.text());
        get(gateway, "People?$apply=top(7)/aggregate(salary with sum as t)").expect(400, "salary");
        let guests = get(gateway, "People/own.Guest?$select=*");
        assert!(!guests.expect(200, "own.Guest").text().contains("own.Employee"), "{}", guests.text());
        let path = format!("{OWN_V4}People(3)/own.Employee/boss/own.Boss/$ref");
        send(gateway, "PUT", &path, &[], r#"{"@odata.id":"People(1)"}"#).expect(204, "");
    });
}
