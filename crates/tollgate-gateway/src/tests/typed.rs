//! Enumerations and complex types of a mapping file, in both versions and on both kinds of database.

use super::client::Running;
use super::own::{AS_JSON, JSON, OWN_V2, OWN_V4, json, on_both, send};

const TABLES: &str = "
    CREATE TABLE tasks (
        id BIGINT PRIMARY KEY, status INTEGER NOT NULL DEFAULT 0, level VARCHAR(4), colours INTEGER,
        street VARCHAR(20), done_by VARCHAR(20), city VARCHAR(20), zip VARCHAR(5) DEFAULT '00000'
    );
    INSERT INTO tasks VALUES (1, 0, 'l', 3, 'Main', 'ann', 'Rome', '1'), (2, 7, 'h', 0, 'Side', NULL, 'Oslo', '2'),
        (3, 7, NULL, NULL, NULL, NULL, NULL, NULL), (4, 1, 'm', 4, 'Main', 'bob', 'Oslo', '3'), (5, 9, 'x', 8, '', '', '', '');
";

const MAPPING: &str = r#"
    [enumerations.Status]
    members = [{ name = "Open" }, { name = "Paid" }, { name = "Void", stored = 7 }]

    [enumerations.Level]
    members = [{ name = "Low", stored = "l" }, { name = "Middle", stored = "m" }, { name = "High", stored = "h" }]

    [enumerations.Colours]
    flags = true
    members = [{ name = "Red" }, { name = "Green" }, { name = "Blue" }]

    [tables.tasks.columns]
    status.enumeration = "Status"
    level.enumeration = "Level"
    colours.enumeration = "Colours"

    [tables.tasks.complex.address]
    type = "Address"
    members = { street = "street", city = "city", code = "zip" }

    [singletons]
    First = "tasks(1)"
    Lost = "tasks(99)"

    [actions.Void]
    bound_to = "tasks"
    when = "status ne own.Status'Void'"
    set = { status = "own.Status'Void'", level = "null" }
    answers = "changed"

    [actions.Raise]
    bound_to = "Collection(tasks)"
    where = "level eq 'Low'"
    set = { level = "'High'" }
"#;

/// The ids found by a query.
fn ids(gateway: &Running, query: &str) -> String {
    let answer = gateway.get(&format!("{OWN_V4}tasks?$select=id&{}", query.replace(' ', "%20")));
    let told = json(answer.expect(200, "value"));
    let ids = told["value"].as_array().unwrap().iter().map(|task| task["id"].to_string());
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn members_are_filtered_ordered_and_told_by_their_names() {
    on_both("enumerations", [TABLES, TABLES], MAPPING, "", |gateway| {
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata.expect(200, "<EnumType Name=\"Colours\" UnderlyingType=\"Edm.Int32\" IsFlags=\"true\">");
        metadata.expect(200, "<Member Name=\"Void\" Value=\"7\"/>");
        metadata
            .expect(200, "<Property Name=\"status\" Type=\"own.Status\" Nullable=\"false\" DefaultValue=\"Open\"/>");
        gateway.get(&format!("{OWN_V4}$metadata?$format=json")).expect(200, "\"$Kind\":\"EnumType\"");
        gateway.get(&format!("{OWN_V2}$metadata")).expect(200, "<Property Name=\"status\" Type=\"Edm.Int");
        let first = json(&gateway.get(&format!("{OWN_V4}tasks(1)")));
        assert_eq!(
            (&first["status"], &first["level"], &first["colours"]),
            (&"Open".into(), &"Low".into(), &"Red,Green".into())
        );
        let none = json(&gateway.get(&format!("{OWN_V4}tasks(3)")));
        assert_eq!((&none["status"], &none["level"]), (&"Void".into(), &serde_json::Value::Null));
        // What has no name is told as it is.
        let other = json(&gateway.get(&format!("{OWN_V4}tasks(5)")));
        assert_eq!((&other["status"], &other["level"], &other["colours"]), (&"9".into(), &"x".into(), &"8".into()));
        let full =
            gateway.get_with(&format!("{OWN_V4}tasks(1)"), &[("Accept", "application/json;odata.metadata=full")]);
        full.expect(200, "\"level@odata.type\":\"#own.Level\",\"level\":\"Low\"");
        gateway.get(&format!("{OWN_V4}tasks(1)/level")).expect(200, "\"value\":\"Low\"");
        assert_eq!(gateway.get(&format!("{OWN_V4}tasks(1)/colours/$value")).text(), "Red,Green");
        // V2 knows what is stored.
        let v2 = gateway.get_with(&format!("{OWN_V2}tasks(2L)"), &[AS_JSON]);
        let stored = |name: &str| json(&v2)["d"][name].to_string().trim_matches('"').to_owned();
        assert_eq!([stored("status"), stored("level"), stored("colours")], ["7", "h", "0"]);
        gateway.get(&format!("{OWN_V2}tasks?$filter=status%20eq%207&$format=json")).expect(200, "\"id\":\"3\"");
        for (query, expected) in [
            ("$filter=status eq own.Status'Void'", "2 3"),
            ("$filter=status eq 'Open'", "1"),
            ("$filter=own.Status'Open' lt status&$orderby=id", "2 3 4 5"),
            ("$filter=level eq own.Level'High'", "2"),
            ("$filter=level gt own.Level'Low'", "2 4"),
            ("$filter=level ne null and level le own.Level'Middle'", "1 4"),
            ("$filter=status in (own.Status'Open','Paid')", "1 4"),
            ("$filter=colours has own.Colours'Red'", "1"),
            ("$filter=colours has own.Colours'Red,Green'", "1"),
            ("$filter=colours has own.Colours'Green,Blue'", ""),
            ("$filter=level has own.Level'Low'", "1"),
            ("$filter=colours eq own.Colours'Green,Red'", "1"),
            ("$filter=not (status eq own.Status'7')", "1 4 5"),
            ("$filter=level ne null and id lt 5&$orderby=level desc,id&$top=3", "2 4 1"),
            ("$orderby=status desc,id", "5 2 3 4 1"),
            ("$filter=level eq null", "3"),
            ("$apply=filter(status eq own.Status'Void')", "2 3"),
            ("$search=h", ""),
            ("$search=side", "2"),
        ] {
            assert_eq!(ids(gateway, query).trim(), expected, "{query}");
        }
        for (query, status, part) in [
            ("$filter=status eq own.Status'Voids'", 400, "did you mean own.Status'Void'?"),
            ("$filter=status eq own.Level'Low'", 400, "cannot compare own.Status with own.Level"),
            ("$filter=status eq 7", 400, "a value of no enumeration"),
            ("$filter=status eq own.State'Open'", 400, "did you mean own.Status?"),
            ("$filter=status eq own.Status'Open", 400, ""),
            ("$filter=id has own.Colours'Red'", 400, "has asks values of an enumeration"),
            ("$filter=status add 1 eq 8", 400, "nothing can be computed with a member of own.Status"),
            ("$filter=contains(level,'l')", 400, "nothing can be computed with a member of own.Level"),
            ("$filter=-status eq 1", 400, "nothing can be computed"),
            ("$filter=level", 400, "nothing can be computed"),
        ] {
            gateway.get(&format!("{OWN_V4}tasks?{}", query.replace(' ', "%20"))).expect(status, part);
        }
    });
}

#[test]
fn members_are_written_by_their_names_and_nothing_else_is() {
    on_both("enumerations_written", [TABLES, TABLES], MAPPING, "", |gateway| {
        let v4 = |method: &str, below: &str, body: &str| send(gateway, method, &format!("{OWN_V4}{below}"), &[], body);
        v4("POST", "tasks", r#"{"id":10,"level":"High","colours":"Blue,Red"}"#)
            .expect(201, "\"status\":\"Open\",\"level\":\"High\",\"colours\":\"Red,Blue\"");
        v4("PATCH", "tasks(10)", r#"{"status":"Paid","colours":null}"#).expect(204, "");
        v4("PUT", "tasks(10)/level", r#"{"value":"Low"}"#).expect(204, "");
        gateway
            .get(&format!("{OWN_V4}tasks(10)"))
            .expect(200, "\"status\":\"Paid\",\"level\":\"Low\",\"colours\":null");
        for body in [
            r#"{"status":"Closed"}"#,
            r#"{"status":3}"#,
            r#"{"status":true}"#,
            r#"{"status":null}"#,
            r#"{"level":"x"}"#,
            r#"{"level":"l"}"#,
            r#"{"colours":"Red,Pink"}"#,
            r#"{"colours":8}"#,
            r#"{"status":"Open,Paid"}"#,
            r#"{"status":[]}"#,
        ] {
            v4("PATCH", "tasks(10)", body).expect(400, "\"target\"");
        }
        let v2 = |body: &str| send(gateway, "MERGE", &format!("{OWN_V2}tasks(10L)"), &[], body);
        v2(r#"{"status":7,"level":"m"}"#).expect(204, "");
        v2(r#"{"status":2}"#).expect(400, "expected a member such as 0, 1, 7");
        v2(r#"{"level":"Low"}"#).expect(400, "expected a member");
        let atom = "<entry xmlns=\"http://www.w3.org/2005/Atom\" xmlns:m=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\" xmlns:d=\"http://schemas.microsoft.com/ado/2007/08/dataservices\"><content type=\"application/xml\"><m:properties><d:status>4</d:status></m:properties></content></entry>";
        let as_atom = ("Content-Type", "application/atom+xml");
        gateway.connect().ask_with("MERGE", &format!("{OWN_V2}tasks(10L)"), &[as_atom], atom).expect(400, "member");
        gateway
            .connect()
            .ask_with("PATCH", "/rest/own/tasks/10", &[JSON], r#"{"level":"High"}"#)
            .expect(200, "\"level\":\"High\"");
        v4("POST", "tasks(10)/own.Void", "{}").expect(409, "");
        v4("POST", "tasks(4)/own.Void", "").expect(200, "\"status\":\"Void\",\"level\":null");
        v4("POST", "tasks/own.Raise", "").expect(204, "");
        gateway.get(&format!("{OWN_V4}tasks(1)")).expect(200, "\"level\":\"High\"");
    });
}

#[test]
fn columns_together_are_a_complex_property() {
    on_both("complex", [TABLES, TABLES], MAPPING, "", |gateway| {
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata.expect(
            200,
            "<ComplexType Name=\"Address\"><Property Name=\"street\" Type=\"Edm.String\" MaxLength=\"20\"/>",
        );
        metadata.expect(200, "<Property Name=\"address\" Type=\"own.Address\" Nullable=\"false\"/>");
        gateway.get(&format!("{OWN_V2}$metadata")).expect(200, "<Property Name=\"address\" Type=\"own.Address\"");
        let address = |id: u64| json(&gateway.get(&format!("{OWN_V4}tasks({id})")))["address"].clone();
        assert_eq!(address(1), serde_json::json!({"street": "Main", "city": "Rome", "code": "1"}));
        assert_eq!(ids(gateway, "$filter=address/city eq 'Oslo'&$orderby=address/street desc"), "2 4");
        gateway.get(&format!("{OWN_V4}tasks(1)/address/city/$value")).expect(200, "Rome");
        gateway.get(&format!("{OWN_V4}tasks(1)/address")).expect(200, "\"street\":\"Main\",\"city\":\"Rome\"");
        gateway
            .get(&format!("{OWN_V4}tasks?$select=address/city&$top=1&$orderby=id"))
            .expect(200, "{\"city\":\"Rome\"}");
        gateway
            .get(&format!("{OWN_V2}tasks(1L)"))
            .expect(200, "<d:address m:type=\"own.Address\"><d:street>Main</d:street>");
        gateway
            .get(&format!("{OWN_V2}tasks?$filter=address/code%20eq%20'2'&$format=json"))
            .expect(200, "\"city\":\"Oslo\"");
        let body = r#"{"id":20,"address":{"city":"Bern"}}"#;
        send(gateway, "POST", &format!("{OWN_V4}tasks"), &[], body).expect(201, "\"city\":\"Bern\",\"code\":\"00000\"");
        let patch = |below: &str, body: &str| send(gateway, "PATCH", &format!("{OWN_V4}tasks(20){below}"), &[], body);
        patch("", r#"{"address":{"street":"Long"},"done_by":"eve"}"#).expect(204, "");
        assert_eq!(address(20), serde_json::json!({"street": "Long", "city": "Bern", "code": "00000"}));
        patch("/address", r#"{"code":"9"}"#).expect(204, "");
        assert_eq!(address(20)["code"], "9");
        patch("", r#"{"address":{"street":"much too long a name of a street"}}"#).expect(400, "address/street");
        patch("", r#"{"address":{"town":"x"}}"#).expect(400, "own.Address has no property");
        patch("", r#"{"address":null}"#).expect(400, "");
        // What is never null has its members, also where all of them are null.
        gateway.get(&format!("{OWN_V4}tasks(3)/address")).expect(200, "\"street\":null,\"city\":null,\"code\":null");
        let delete = |below: &str| send(gateway, "DELETE", &format!("{OWN_V4}tasks(20)/address{below}"), &[], "");
        delete("").expect(400, "address, which cannot be null");
        assert_eq!(address(20)["code"], "9");
        delete("/street").expect(204, "");
        assert_eq!(address(20)["street"], serde_json::Value::Null);
        let merge = send(gateway, "MERGE", &format!("{OWN_V2}tasks(20L)"), &[], r#"{"address":{"city":"Genf"}}"#);
        merge.expect(204, "");
        assert_eq!(address(20)["city"], "Genf");
    });
}

#[test]
fn a_singleton_is_an_entity_with_a_name() {
    on_both("singletons", [TABLES, TABLES], MAPPING, "", |gateway| {
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata.expect(200, "<Singleton Name=\"First\" Type=\"own.task\"></Singleton>");
        gateway.get(&format!("{OWN_V4}$metadata?$format=json")).expect(200, "\"First\":{\"$Type\":\"own.task\"}");
        gateway.get(OWN_V4).expect(200, "{\"name\":\"First\",\"kind\":\"Singleton\",\"url\":\"First\"}");
        gateway.get(&format!("{OWN_V2}$metadata")).expect(200, "tasks");
        gateway.get(&format!("{OWN_V4}First")).expect(200, "$metadata#First\",\"id\":1,");
        gateway.get(&format!("{OWN_V4}First?$select=status")).expect(200, "$metadata#First(status)\"");
        gateway.get(&format!("{OWN_V4}First?$compute=id%20add%201%20as%20next&$select=next")).expect(200, "\"next\":2");
        gateway.get(&format!("{OWN_V4}First/address/city")).expect(200, "\"value\":\"Rome\"");
        gateway.get(&format!("{OWN_V4}First/$ref")).expect(200, "tasks(1)");
        let v4 = |method: &str, below: &str, headers: &[(&str, &str)], body: &str| {
            send(gateway, method, &format!("{OWN_V4}{below}"), headers, body)
        };
        v4("PATCH", "First", &[], r#"{"status":"Paid"}"#).expect(204, "");
        let told = [("Prefer", "return=representation")];
        v4("PATCH", "First", &told, r#"{"address":{"city":"Bern"}}"#)
            .expect(200, "$metadata#First\",\"id\":1,\"status\":\"Paid\"");
        v4("POST", "First/own.Void", &[], "").expect(200, "\"status\":\"Void\"");
        v4("DELETE", "First", &[], "").expect(405, "PATCH");
        let allow = gateway.connect().ask("OPTIONS", &format!("{OWN_V4}First"), &[]);
        assert_eq!(allow.header("allow"), Some("GET, HEAD, OPTIONS, PATCH, PUT"));
        v4("PATCH", "Lost", &[], r#"{"status":"Paid"}"#).expect(404, "");
        gateway.get(&format!("{OWN_V4}Lost")).expect(404, "");
        gateway.get(&format!("{OWN_V4}First(1)")).expect(400, "takes no key");
        gateway.get(&format!("{OWN_V4}Fist")).expect(404, "did you mean First?");
        gateway.get(&format!("{OWN_V2}First")).expect(404, "");
        let batch = r#"{"requests":[{"id":"1","method":"get","url":"First/status"}]}"#;
        v4("POST", "$batch", &[], batch).expect(200, "\"value\":\"Void\"");
    });
}

const EXAMPLE_TABLES: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20));
    CREATE TABLE configurations (id INTEGER PRIMARY KEY, currency VARCHAR(3));
    CREATE TABLE order_heads (
        number VARCHAR(8) PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customers (id), placed DATE NOT NULL,
        status VARCHAR(1) NOT NULL, total DECIMAL(10, 2) NOT NULL, note VARCHAR(10), internal_note VARCHAR(10),
        ship_street VARCHAR(20), ship_city VARCHAR(20), changed_at TIMESTAMP, tags TEXT
    );
    CREATE TABLE people (
        id INTEGER PRIMARY KEY, kind VARCHAR(1), salary INTEGER, boss_id INTEGER REFERENCES people (id), budget INTEGER
    );
    INSERT INTO people VALUES (1, 'm', 90, NULL, 7), (2, 'e', 40, 1, NULL), (3, 'p', NULL, NULL, NULL);
    INSERT INTO customers VALUES (1, 'Ada');
    INSERT INTO configurations VALUES (1, 'EUR');
    INSERT INTO order_heads VALUES ('A1', 1, '2024-02-01', 'o', 200, NULL, 'x', 'Main', 'Rome', NULL, NULL),
        ('A2', 1, '2024-02-02', 'v', 50, NULL, 'x', 'Main', 'Rome', NULL, NULL);
";

/// The mapping file in the comments of an example. The service must have its name for its enumerations.
fn mapping_of_the_example() -> String {
    let example = include_str!("../../../../examples/your-own-database.toml");
    let (_, mapping) = example.split_once("# orders-mapping.toml may say:\n").unwrap();
    let line = |line: &str| line.strip_prefix("#   ").unwrap_or_default().replace("orders.Status", "own.Status");
    mapping.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_of_a_mapping_file_holds_as_a_whole() {
    let of_postgres = EXAMPLE_TABLES.replace("tags TEXT", "tags TEXT[]");
    let tables = [EXAMPLE_TABLES, of_postgres.as_str()];
    on_both("example", tables, &mapping_of_the_example(), "if_match = \"optional\"", |gateway| {
        let get = |below: &str| gateway.get(&format!("{OWN_V4}{below}"));
        get("OrdersSince(since=2024-01-31)?$select=number").expect(200, "\"number\":\"A1\"}]");
        get("Customers(1)/own.Large(than=100)?$select=number").expect(200, "\"number\":\"A1\"}]");
        get("Orders?$filter=status%20eq%20own.Status'Open'&$select=shipping").expect(200, "\"city\":\"Rome\"");
        get("OrdersIn(status=own.Status'Void')?$select=number").expect(200, "\"number\":\"A2\"}]");
        get("Orders('A1')/tags").expect(200, "\"value\":[]");
        get("Settings").expect(200, "\"currency\":\"EUR\"");
        assert!(!get("$metadata").text().contains("internal_note"));
        send(gateway, "POST", &format!("{OWN_V4}Customers(1)/Orders/own.Dispatch"), &[], "").expect(204, "");
        let cancel = |order: &str| {
            send(gateway, "POST", &format!("{OWN_V4}Orders('{order}')/own.Cancel"), &[], r#"{"reason":"lost"}"#)
        };
        cancel("A1").expect(200, "\"status\":\"Void\"").expect(200, "\"note\":\"lost\"");
        cancel("A2").expect(409, "");
        get("People/own.Employee?$filter=boss/own.Manager/budget%20eq%207").expect(200, "[{\"id\":2");
    });
}
