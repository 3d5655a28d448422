//! Members of enumerations in plain REST, and where values of V4 are computed: `$compute`, `$apply`, `cast`, `isof`, `case`,
//! parameters of functions and actions. On both kinds of database.

use super::client::Running;
use super::own::{JSON, OWN_V2, OWN_V4, json, on_both};

/// Texts that look like numbers of members, and one member's name that is the stored value of the other.
const CODES: &str = "
    CREATE TABLE codes (id BIGINT PRIMARY KEY, status VARCHAR(1), grade VARCHAR(1), colours INTEGER, stage INTEGER);
    INSERT INTO codes VALUES (1, '1', 'A', 0, 2), (2, '2', 'B', 1, 1), (3, '3', 'A', 5, 0), (4, NULL, NULL, NULL, NULL),
        (5, '9', 'Z', 8, 7);
";

const CODES_MAPPING: &str = r#"
    [enumerations.Status]
    members = [{ name = "Open", stored = "1" }, { name = "Void", stored = "2" }, { name = "Done", stored = "3" }]

    [enumerations.Grade]
    members = [{ name = "A", stored = "B" }, { name = "B", stored = "A" }]

    [enumerations.Colours]
    flags = true
    members = [{ name = "Red" }, { name = "Green" }, { name = "Blue" }]

    [enumerations.Stage]
    members = [{ name = "First", stored = 2 }, { name = "Second", stored = 1 }, { name = "Third", stored = 0 }]

    [tables.codes.columns]
    status.enumeration = "Status"
    grade.enumeration = "Grade"
    colours.enumeration = "Colours"
    stage.enumeration = "Stage"

    [functions.With]
    returns = "codes"
    where = "status eq @status"
    parameters = [{ name = "status", type = "Status" }]

    [functions.Coloured]
    returns = "codes"
    where = "colours has @colours and stage le @up_to"
    parameters = [{ name = "colours", type = "own.Colours" }, { name = "up_to", type = "Stage" }]

    [actions.Move]
    bound_to = "codes"
    when = "status ne @to"
    set = { status = "@to", colours = "@with" }
    answers = "changed"
    parameters = [{ name = "to", type = "Status" }, { name = "with", type = "Colours" }]

    [actions.MoveAll]
    changes = "codes"
    where = "stage gt @above"
    set = { stage = "@above" }
    parameters = [{ name = "above", type = "Stage" }]
"#;

#[test]
fn what_a_protocol_shows_of_a_member_it_takes_for_the_same() {
    on_both("enumerations_again", [CODES, CODES], CODES_MAPPING, "", |gateway| {
        let all = || gateway.get(&format!("{OWN_V4}codes?$orderby=id")).text();
        let before = all();
        let xml = "application/xml";
        for id in 1..=4 {
            for (path, media_type) in [
                (format!("/rest/own/codes/{id}"), "application/json"),
                (format!("/rest/own/codes/{id}"), xml),
                (format!("{OWN_V2}codes({id}L)"), "application/json"),
                (format!("{OWN_V2}codes({id}L)"), "application/atom+xml"),
                (format!("{OWN_V4}codes({id})"), "application/json"),
            ] {
                let shown = gateway.get_with(&path, &[("Accept", media_type)]).expect(200, "").text();
                let put = gateway.connect().ask_with("PUT", &path, &[("Content-Type", media_type)], &shown);
                assert!(matches!(put.status, 200 | 204), "{path} {shown} {}", put.text());
                assert_eq!(all(), before, "{path} as {media_type}");
            }
        }
    });
}

#[test]
fn plain_rest_names_members_wherever_it_has_them() {
    on_both("enumerations_rest", [CODES, CODES], CODES_MAPPING, "", |gateway| {
        let one = json(&gateway.get("/rest/own/codes/1"));
        let expected = serde_json::json!({"id": 1, "status": "Open", "grade": "B", "colours": "0", "stage": "First"});
        assert_eq!(one, expected);
        let none = json(&gateway.get("/rest/own/codes/4"));
        assert!(none["status"].is_null() && none["colours"].is_null());
        // What has no name is told as it is.
        let other = json(&gateway.get("/rest/own/codes/5"));
        assert_eq!((&other["status"], &other["colours"], &other["stage"]), (&"9".into(), &"8".into(), &"7".into()));
        let xml = gateway.get_with("/rest/own/codes?sort=id&limit=4", &[("Accept", "application/xml")]);
        xml.expect(
            200,
            "<id>3</id><status>Done</status><grade>B</grade><colours>Red,Blue</colours><stage>Third</stage>",
        );
        xml.expect(200, "<status null=\"true\"/><grade null=\"true\"/><colours null=\"true\"/>");
        let ids = |query: &str| {
            let told = json(gateway.get(&format!("/rest/own/codes?fields=id&{query}")).expect(200, "items"));
            let ids = told["items"].as_array().unwrap().iter().map(|code| code["id"].to_string());
            ids.collect::<Vec<_>>().join(" ")
        };
        for (query, expected) in [
            ("status=Open", "1"),
            ("status=Open&status=Done&sort=id", "1 3"),
            ("status.ne=Open&sort=id", "2 3 4 5"),
            ("status.gt=Open&sort=-id", "3 2"),
            ("grade=A", "2"),
            ("grade.lt=B", "2"),
            ("colours=Red,Blue", "3"),
            ("colours=0", "1"),
            ("stage.ge=Second&id.lt=5&sort=stage", "2 1"),
            ("status.null=true", "4"),
            ("id.lt=4&sort=grade,-status", "2 3 1"),
        ] {
            assert_eq!(ids(query), expected, "{query}");
        }
        let first = json(&gateway.get("/rest/own/codes?id.lt=4&sort=grade,-status&limit=1&fields=id"));
        let next = first["next"].as_str().unwrap();
        let next = &next[next.find("/rest").unwrap()..];
        gateway.get(next).expect(200, "\"items\":[{\"id\":3}]");
        for (query, part) in [
            ("status=1", "'1' is no value for 'status': expected one of Open, Void, Done"),
            ("status=Opn", "did you mean Open?"),
            ("stage=2", "no value for 'stage'"),
            ("colours=Pink", "no value for 'colours'"),
            ("status.starts=O", "is no text"),
        ] {
            gateway.get(&format!("/rest/own/codes?{query}")).expect(400, part);
        }
        let patch = |body: &str| gateway.connect().ask_with("PATCH", "/rest/own/codes/1", &[JSON], body);
        patch(r#"{"status":"Done","grade":"A","colours":"Green,Red","stage":null}"#)
            .expect(200, "\"status\":\"Done\",\"grade\":\"A\",\"colours\":\"Red,Green\",\"stage\":null");
        for body in [r#"{"status":"1"}"#, r#"{"status":1}"#, r#"{"stage":2}"#, r#"{"stage":"2"}"#, r#"{"colours":3}"#] {
            patch(body).expect(400, "expected a member such as");
        }
        let all = r#"[{"id":11,"status":"Void"},{"id":12,"status":"2"}]"#;
        gateway.connect().ask_with("POST", "/rest/own/codes", &[JSON], all).expect(400, "member such as Open, Void");

        let openapi = json(&gateway.get("/rest/own/openapi.json"));
        let property = |schema: &str, name: &str| openapi["components"]["schemas"][schema]["properties"][name].clone();
        let names = serde_json::json!({"type": ["string", "null"], "enum": ["Open", "Void", "Done", null]});
        assert_eq!(property("codes_new", "status"), names);
        assert_eq!(property("codes_change", "status"), names);
        assert_eq!(
            property("codes_change", "colours"),
            serde_json::json!({"type": ["string", "null"], "pattern": "^(0|(Red|Green|Blue)(,(Red|Green|Blue))*)$"})
        );
        assert_eq!(property("codes_selected", "status")["examples"], serde_json::json!(["Open", "Void", "Done"]));
        assert_eq!(property("codes_selected", "status")["enum"], serde_json::Value::Null);
        let mut asked = Vec::new();
        for parameter in openapi["components"]["parameters"].as_object().unwrap().values() {
            if parameter["name"] == "status" || parameter["name"] == "status.gt" {
                let schema = &parameter["schema"];
                asked.push(schema.get("items").unwrap_or(schema)["enum"].clone());
            }
        }
        assert_eq!(asked, vec![serde_json::json!(["Open", "Void", "Done"]); 2]);
    });
}

/// Result of a V4 query, as in the document.
fn found(gateway: &Running, query: &str) -> String {
    let headers = [("Accept", "application/json;odata.metadata=none")];
    let answer = gateway.get_with(&format!("{OWN_V4}codes?{}", query.replace(' ', "%20")), &headers);
    let text = answer.expect(200, "value").text();
    text.strip_prefix("{\"value\":").and_then(|rest| rest.strip_suffix('}')).unwrap().replace('"', "")
}

#[test]
fn what_is_computed_may_be_a_member() {
    on_both("enumerations_computed", [CODES, CODES], CODES_MAPPING, "", |gateway| {
        for (query, expected) in [
            ("$compute=status as s&$select=id,s&$filter=s eq own.Status'Void'", "[{id:2,s:Void}]"),
            ("$compute=status as s&$select=s&$orderby=s desc&$filter=id lt 4", "[{s:Done},{s:Void},{s:Open}]"),
            ("$compute=colours as c&$select=c&$filter=c has own.Colours'Blue'", "[{c:Red,Blue}]"),
            (
                "$compute=case(id eq 1:own.Status'Done',id eq 2:status) as s&$select=s&$orderby=id&$top=3",
                "[{s:Done},{s:Void},{s:null}]",
            ),
            ("$compute=cast(status,Edm.String) as s,concat(s,'!') as t&$select=t&$filter=id eq 2", "[{t:Void!}]"),
            ("$compute=cast('Void',own.Status) as s&$select=s&$top=1", "[{s:Void}]"),
            (
                "$apply=filter(id lt 4)/groupby((grade),aggregate($count as n))&$orderby=grade",
                "[{grade:A,n:1},{grade:B,n:2}]",
            ),
            (
                "$apply=filter(id lt 4)/aggregate(status with max as last,status with min as first,grade with countdistinct as n,stage with min as low,colours with max as most)",
                "[{last:Done,first:Open,n:2,low:Third,most:Red,Blue}]",
            ),
            ("$apply=filter(id gt 5)/aggregate(status with max as last)", "[{last:null}]"),
            (
                "$apply=filter(id lt 4)/groupby((grade),aggregate(status with max as last))/filter(last eq own.Status'Done')",
                "[{grade:B,last:Done}]",
            ),
            (
                "$apply=filter(id lt 4)/groupby((grade),aggregate(status with max as last))/aggregate(last with min as s)",
                "[{s:Void}]",
            ),
            (
                "$apply=filter(id lt 4)/groupby((stage))&$filter=stage gt own.Stage'Third'&$orderby=stage desc",
                "[{stage:First},{stage:Second}]",
            ),
            ("$apply=filter(id lt 4)/groupby((grade))&$compute=grade as g&$filter=g eq 'B'", "[{grade:B,g:B}]"),
            (
                "$apply=filter(id eq 2)/concat(groupby((status)),aggregate(status with max as status))",
                "[{status:Void},{status:Void}]",
            ),
            ("$apply=filter(id eq 1)/groupby((rollup($all,grade)),aggregate($count as n))", "[{grade:B,n:1},{n:1}]"),
            ("$apply=filter(id eq 1)/compute(grade as g)/groupby((g))", "[{g:B}]"),
            (
                "$apply=filter(id lt 4)/groupby((grade),topcount(1,status)/aggregate(status with max as s))&$orderby=grade",
                "[{grade:A,s:Void},{grade:B,s:Done}]",
            ),
            ("$apply=topcount(1,stage)/groupby((id,stage))", "[{id:5,stage:7}]"),
            ("$apply=filter(id lt 4)/topcount(1,status)/groupby((id,status))", "[{id:3,status:Done}]"),
            ("$apply=filter(id lt 4)/orderby(grade desc,status)/top(2)/groupby((id))&$orderby=id", "[{id:1},{id:3}]"),
        ] {
            assert_eq!(found(gateway, query), expected, "{query}");
        }
        let full = [("Accept", "application/json;odata.metadata=full")];
        gateway
            .get_with(&format!("{OWN_V4}codes?$compute=status%20as%20s&$select=s&$top=1&$orderby=id"), &full)
            .expect(200, "\"s@odata.type\":\"#own.Status\",\"s\":\"Open\"");
        gateway
            .get_with(&format!("{OWN_V4}codes?$apply=filter(id%20eq%203)/groupby((colours))"), &full)
            .expect(200, "\"colours@odata.type\":\"#own.Colours\",\"colours\":\"Red,Blue\"");
        for (query, status, part) in [
            ("$apply=aggregate(status with sum as s)", 400, "a sum or average is not of own.Status"),
            ("$apply=topsum(1,stage)", 400, "nothing can be computed with a member of own.Stage"),
            ("$apply=concat(groupby((status)),compute(grade as status)/groupby((status)))", 400, "is taken"),
            (
                "$apply=concat(groupby((status)),groupby((id),aggregate(grade with max as status)))",
                400,
                "of different types",
            ),
            ("$compute=status add 1 as s", 400, "nothing can be computed"),
            ("$compute=case(id eq 1:status,true:grade) as s", 400, "case gives members of"),
            ("$compute=case(id eq 1:status,true:id) as s", 400, "case gives members of"),
        ] {
            gateway.get(&format!("{OWN_V4}codes?{}", query.replace(' ', "%20"))).expect(status, part);
        }
    });
}

#[test]
fn members_are_cast_to_names_and_numbers_and_from_them() {
    on_both("enumerations_cast", [CODES, CODES], CODES_MAPPING, "", |gateway| {
        for (filter, expected) in [
            ("cast(status,Edm.String) eq 'Void'", "2"),
            ("cast(status,Edm.Int32) eq 2", "3"),
            ("cast(stage,Edm.Int64) add 1 eq 3", "1"),
            ("cast('Void',own.Status) eq status", "2"),
            ("cast(own.Status'Done',Edm.Int32) eq id", "2"),
            ("cast(id,own.Status) eq own.Status'Done'", "2"),
            ("cast(id,own.Stage) eq own.Stage'First'", "2"),
            ("cast(id,own.Colours) has own.Colours'Green'", "2 3"),
            ("cast(cast(grade,Edm.String),own.Grade) eq own.Grade'A'", "2"),
            ("cast(cast(status,Edm.String),own.Status) gt own.Status'Open'", "2 3"),
            ("cast(status,own.Status) eq 'Open'", "1"),
            ("cast('Vod',own.Status) eq null", "1 2 3 4 5"),
            ("cast(null,own.Status) eq null and id eq 1", "1"),
            ("cast(1.5,Edm.Int32) eq id", "1"),
            ("isof(status,own.Status)", "1 2 3 5"),
            ("isof(status,Edm.String)", ""),
            ("isof(id,own.Status)", ""),
            ("isof(cast(id,own.Status),own.Status)", "1 2"),
            ("case(id eq 1:own.Status'Done',true:status) eq own.Status'Done'", "1 3"),
            ("case(id eq 1:own.Status'Done',true:status) gt own.Status'Open'", "1 2 3"),
            ("case(id eq 4:null,true:grade) in (own.Grade'A',own.Grade'B')", "1 2 3"),
            ("status in [\"Open\",\"Done\"]", "1 3"),
        ] {
            let query = format!("$filter={}&$select=id&$orderby=id", filter.replace('"', "%22"));
            let ids = found(gateway, &query).replace("{id:", "").replace(['[', ']', '}'], "").replace(',', " ");
            assert_eq!(ids, expected, "{filter}");
        }
        let deep = (0..12).fold("status".to_owned(), |inner, _| format!("cast(cast({inner},Edm.String),own.Status)"));
        for (filter, status, part) in [
            ("cast(status,Edm.Date) eq null", 400, "cannot cast own.Status to Edm.Date"),
            ("cast(grade,own.Status) eq null", 400, "cannot cast own.Grade to own.Status"),
            ("cast(2013-09-25,own.Status) eq null", 400, "cannot cast Edm.Date to own.Status"),
            ("cast(colours,Edm.String) eq 'Red'", 501, "several members"),
            ("cast(status,own.State) eq null", 501, "own.State"),
            (&format!("{deep} eq null"), 400, "more than"),
        ] {
            gateway.get(&format!("{OWN_V4}codes?$filter={}", filter.replace(' ', "%20"))).expect(status, part);
        }
    });
}

#[test]
fn members_are_given_to_functions_and_actions() {
    on_both("enumerations_given", [CODES, CODES], CODES_MAPPING, "", |gateway| {
        let v4 = |below: &str| gateway.get(&format!("{OWN_V4}{below}"));
        v4("$metadata").expect(200, "<Parameter Name=\"status\" Type=\"own.Status\" Nullable=\"false\"/>");
        v4("$metadata?$format=json").expect(200, "{\"$Name\":\"colours\",\"$Type\":\"own.Colours\"}");
        let metadata = gateway.get(&format!("{OWN_V2}$metadata"));
        metadata.expect(200, "<Parameter Name=\"status\" Type=\"Edm.String\" Mode=\"In\"/>");
        for (call, id) in [
            ("With(status=own.Status'Void')?$select=id", 2),
            ("With(status='Void')?$select=id", 2),
            ("With(status=@s)?$select=id&@s=own.Status'Done'", 3),
            ("Coloured(colours=own.Colours'Red,Blue',up_to=own.Stage'Second')?$select=id", 3),
        ] {
            v4(call).expect(200, &format!("[{{\"id\":{id}}}]"));
        }
        for (call, part) in [
            ("With(status=own.Status'Vod')", "did you mean own.Status'Void'?"),
            ("With(status=own.Grade'A')", ""),
            ("With(status=1)", "is own.Status, which this value of Edm.Int"),
            ("With(status=null)", "cannot be null"),
            ("With(status=@s)?@s=1", "is own.Status"),
            ("With()", "expected With(status=own.Status'Open')"),
            ("Coloured(colours=own.Colours'Pink',up_to='First')", "no member of own.Colours"),
        ] {
            v4(call).expect(400, part);
        }
        let v2 = |below: &str| gateway.get_with(&format!("{OWN_V2}{below}"), &[("Accept", "application/json")]);
        v2("With?status='2'&$select=id").expect(200, "\"id\":\"2\"");
        v2("With?status='Void'").expect(400, "no member of own.Status");
        v2("Coloured?colours=1&up_to=1&$select=id").expect(200, "\"id\":\"2\"");
        let post =
            |below: &str, body: &str| gateway.connect().ask_with("POST", &format!("{OWN_V4}{below}"), &[JSON], body);
        let done = r#"{"to":"Done","with":"Green,Red"}"#;
        post("codes(1)/own.Move", done).expect(200, "\"status\":\"Done\",\"grade\":\"B\",\"colours\":\"Red,Green\"");
        post("codes(1)/own.Move", done).expect(409, "");
        post("codes(1)/own.Move", r#"{"to":"Dome","with":"Red"}"#).expect(400, "member such as Open, Void, Done");
        post("codes(1)/own.Move", r#"{"to":"Open"}"#).expect(400, "with");
        post("MoveAll", r#"{"above":"Third"}"#).expect(204, "");
        assert_eq!(found(gateway, "$select=stage&$filter=id lt 3"), "[{stage:Third},{stage:Third}]");
    });
}
