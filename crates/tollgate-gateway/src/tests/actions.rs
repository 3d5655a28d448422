//! Actions: as V2 and as V4 call them, of the flight service and of a mapping file.

use super::client::{Answer, Running, V2, V4};
use super::own::{AS_JSON, OWN_V2, OWN_V4, json, on_both, send};

const NO_BODY: (&str, &str) = ("Content-Length", "0");

/// A key of an agency.
fn agency(gateway: &Running) -> String {
    let answer = gateway.get(&format!("{V4}TravelagencyCollection?$top=1&$select=agencynum"));
    json(&answer)["value"][0]["agencynum"].as_str().unwrap().to_owned()
}

#[test]
fn the_telephone_of_an_agency_is_changed_in_both_versions() {
    let gateway = Running::start("");
    let agency = agency(&gateway);
    let mut client = gateway.connect();
    let telephone = |text: &str| {
        gateway.get(&format!("{V4}TravelagencyCollection('{agency}')/TELEPHONE")).expect(200, text);
    };
    let call = |number: &str| format!("{V2}UpdateAgencyPhoneNo?agencynum='{agency}'&telephone='{number}'");
    let answer = client.ask("PUT", &call("0621-1"), &[AS_JSON, NO_BODY]);
    answer.expect(200, "\"TELEPHONE\":\"0621-1\"");
    assert_eq!(json(&answer)["d"]["agencynum"], agency.as_str());
    telephone("0621-1");
    client.ask("PUT", &call("0621-2"), &[NO_BODY]).expect(200, "<d:TELEPHONE>0621-2</d:TELEPHONE>");
    client.ask("POST", &call("0621-3"), &[NO_BODY, ("X-HTTP-Method", "PUT")]).expect(200, "0621-3");
    let body = format!(r#"{{"agencynum":"{agency}","telephone":"0621-4"}}"#);
    let answer = send(&gateway, "POST", &format!("{V4}UpdateAgencyPhoneNo?$select=TELEPHONE"), &[], &body);
    answer.expect(200, "#TravelagencyCollection(TELEPHONE)/$entity").expect(200, "\"TELEPHONE\":\"0621-4\"");
    telephone("0621-4");
    for (method, target, body, status, part) in [
        ("POST", call("1"), "", 405, "PUT"),
        ("GET", call("1"), "", 405, "PUT"),
        ("DELETE", format!("{V4}UpdateAgencyPhoneNo"), "", 405, "POST"),
        ("GET", format!("{V4}UpdateAgencyPhoneNo"), "", 405, "POST"),
        ("PUT", call(&"1".repeat(31)), "", 400, "at most 30 characters"),
        ("PUT", format!("{V2}UpdateAgencyPhoneNo?agencynum='{agency}'"), "", 400, "telephone"),
        ("PUT", call("1").replace(&agency, "nobody"), "", 404, "no entity"),
        ("POST", format!("{V4}UpdateAgencyPhoneNo"), "{}", 400, "agencynum"),
        ("POST", format!("{V4}UpdateAgencyPhoneNo(telephone='1')"), "{}", 400, "in the body"),
        ("POST", format!("{V4}UpdateAgencyPhoneNo/NAME"), "{}", 404, "nothing can follow"),
        ("POST", format!("{V4}UpdateAgencyPhoneNo?$filter=NAME%20eq%20'a'"), &body, 400, "$filter"),
    ] {
        send(&gateway, method, &target, &[], body).expect(status, part);
    }
    telephone("0621-4");
    let allow = client.ask("OPTIONS", &call("1"), &[]);
    assert_eq!((allow.status, allow.header("allow")), (204, Some("OPTIONS, PUT")));
}

#[test]
fn an_action_stands_or_falls_with_its_change_set() {
    let gateway = Running::start("");
    let agency = agency(&gateway);
    let call = |number: &str| format!("PUT UpdateAgencyPhoneNo?agencynum='{agency}'&telephone='{number}' HTTP/1.1");
    let batch = |lines: &[String]| {
        let part = |line: &String| {
            format!(
                "--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n{line}\r\n\r\n\r\n"
            )
        };
        let parts: String = lines.iter().map(part).collect();
        let body = format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n--b--");
        let multipart = ("Content-Type", "multipart/mixed; boundary=b");
        gateway.connect().ask_with("POST", &format!("{V2}$batch"), &[multipart], body)
    };
    let telephone = || {
        let answer = gateway.get(&format!("{V4}TravelagencyCollection('{agency}')?$select=TELEPHONE"));
        json(&answer)["TELEPHONE"].as_str().unwrap().to_owned()
    };
    batch(&[call("1"), call("2")]).expect(202, "<d:TELEPHONE>2</d:TELEPHONE>");
    assert_eq!(telephone(), "2");
    let missing = call("3").replace(&agency, "nobody");
    batch(&[call("3"), missing]).expect(202, "HTTP/1.1 404");
    assert_eq!(telephone(), "2");
    let body = format!(
        r#"{{"requests":[{{"id":"1","method":"post","url":"UpdateAgencyPhoneNo","body":{{"agencynum":"{agency}","telephone":"4"}}}},
        {{"id":"2","dependsOn":["1"],"method":"get","url":"$1/TELEPHONE"}}]}}"#
    );
    let told = json(&send(&gateway, "POST", &format!("{V4}$batch"), &[], &body));
    assert_eq!(told["responses"][1]["body"]["value"], "4", "{told}");
}

const TABLES: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL);
    CREATE TABLE orders (
        number VARCHAR(8) PRIMARY KEY, customer INTEGER REFERENCES customers (id), status VARCHAR(10) NOT NULL,
        total DECIMAL(10, 2) NOT NULL, note VARCHAR(10), changed TIMESTAMP
    );
    INSERT INTO customers VALUES (1, 'Ada'), (2, 'Ben');
    INSERT INTO orders VALUES ('A1', 1, 'open', 10.00, NULL, NULL), ('A2', 1, 'open', 20.50, NULL, NULL),
        ('A3', 1, 'sent', 30.00, NULL, NULL), ('B1', 2, 'open', 1.00, NULL, NULL);
";

const MAPPING: &str = r#"
    [tables.orders]
    etag = "changed"
    columns.changed.managed = "modified_at"

    [actions.Cancel]
    bound_to = "orders"
    when = "status eq 'open' or status eq 'void'"
    set = { status = "'void'", note = "concat(@reason, '!')" }
    answers = "changed"
    parameters = [{ name = "reason", type = "Edm.String" }]

    [actions.Raise]
    bound_to = "Collection(orders)"
    where = "status eq 'open' and total lt @below"
    set = { total = "total mul @by" }
    answers = "changed"
    parameters = [{ name = "by", type = "Edm.Decimal" }, { name = "below", type = "Edm.Decimal" }]

    [actions.Rename]
    changes = "customers"
    key = ["id"]
    set = { name = "@name" }
    parameters = [{ name = "id", type = "Edm.Int64" }, { name = "name", type = "Edm.String" }]

    [actions.CloseAll]
    changes = "orders"
    where = "customer_customer/name eq @name and status ne 'closed'"
    set = { status = "'closed'" }
    parameters = [{ name = "name", type = "Edm.String" }]

    [functions.Dear]
    bound_to = "customers"
    through = "orders"
    where = "total ge @than"
    parameters = [{ name = "than", type = "Edm.Decimal" }]

    [functions.Open]
    bound_to = "Collection(orders)"
    where = "status eq 'open'"
"#;

#[test]
fn actions_of_a_mapping_file_change_what_they_are_called_on() {
    on_both("actions", [TABLES, TABLES], MAPPING, "if_match = \"optional\"", |gateway| {
        let post = |below: &str, headers: &[(&str, &str)], body: &str| {
            send(gateway, "POST", &format!("{OWN_V4}{below}"), headers, body)
        };
        let order = |number: &str| json(&gateway.get(&format!("{OWN_V4}orders('{number}')")));
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata.expect(200, "<Action Name=\"Cancel\" IsBound=\"true\" EntitySetPath=\"it\">");
        metadata.expect(200, "<Parameter Name=\"it\" Type=\"Collection(own.order)\" Nullable=\"false\"/>");
        metadata.expect(200, "<ActionImport Name=\"Rename\" Action=\"own.Rename\"/>");
        let told = gateway.get(&format!("{OWN_V2}$metadata"));
        told.expect(200, "<FunctionImport Name=\"Rename\" m:HttpMethod=\"POST\">");
        assert!(!told.text().contains("Cancel") && !told.text().contains("Dear"));
        // One entity, by its key and by a path, with its ETag.
        let answer =
            post("orders('A1')/own.Cancel?$select=status,note&$expand=customer_customer", &[], r#"{"reason":"lost"}"#);
        let changed = json(answer.expect(200, "orders(status,note,customer_customer())/$entity"));
        assert_eq!((&changed["status"], &changed["note"]), (&"void".into(), &"lost!".into()));
        assert_eq!(changed["customer_customer"]["name"], "Ada");
        let etag = answer.header("etag").unwrap().to_owned();
        post("orders('A1')/own.Cancel", &[("If-Match", "W/\"other\"")], r#"{"reason":"x"}"#).expect(412, "");
        post("orders('A1')/own.Cancel", &[("If-Match", &etag)], r#"{"reason":"y"}"#).expect(200, "y!");
        post("orders('A3')/own.Cancel", &[], r#"{"reason":"z"}"#).expect(409, "not in a state");
        post("orders('A9')/own.Cancel", &[], r#"{"reason":"z"}"#).expect(404, "");
        post("orders('A1')/own.Cancel", &[], r#"{"reason":"much too long"}"#).expect(400, "at most 10 characters");
        post("orders('A1')/own.Cancel", &[], r#"{"reason":7}"#).expect(400, "\"target\":\"reason\"");
        post("orders/own.Cancel", &[], r#"{"reason":"x"}"#).expect(501, "own.Cancel");
        post("orders('A1')/own.Cancel/status", &[], "{}").expect(404, "nothing can follow");
        assert_eq!(order("A3")["status"], "sent");
        // Many, within what the path leads to.
        let raised = post("customers(1)/orders/own.Raise?$orderby=number", &[], r#"{"by":2,"below":100}"#);
        raised.expect(400, "$orderby");
        let raised = json(&post("customers(1)/orders/own.Raise?$select=number,total", &[], r#"{"by":2,"below":100}"#));
        assert_eq!(raised["value"].as_array().unwrap().len(), 1, "{raised}");
        assert_eq!((&raised["value"][0]["number"], raised["value"][0]["total"].as_f64()), (&"A2".into(), Some(41.0)));
        assert_eq!(order("B1")["total"].as_f64(), Some(1.0));
        let raised = json(&post("orders/own.Raise", &[], r#"{"by":1.5,"below":10}"#));
        assert_eq!((raised["value"][0]["total"].as_f64(), &raised["value"][1]), (Some(1.5), &serde_json::Value::Null));
        assert_eq!(json(&post("orders/own.Raise", &[], r#"{"by":2,"below":0}"#))["value"], serde_json::json!([]));
        post("orders/own.Raise", &[], r#"{"by":100000000,"below":100}"#).expect(400, "digits");
        post("orders/own.Raise", &[("If-Match", "*")], r#"{"by":1,"below":100}"#).expect(400, "If-Match");
        post("customers(9)/orders/own.Raise", &[], r#"{"by":1,"below":100}"#).expect(404, "");
        assert_eq!(order("B1")["total"].as_f64(), Some(1.5));
        // Without an answer, in both versions.
        assert_eq!(post("Rename", &[], r#"{"id":2,"name":"Bob"}"#).expect(204, "").text(), "");
        let v2 = |below: &str| send(gateway, "POST", &format!("{OWN_V2}{below}"), &[], "");
        v2("Rename?id=1L&name='Ann'").expect(204, "");
        gateway.get(&format!("{OWN_V4}customers?$orderby=id")).expect(200, "Ann").expect(200, "Bob");
        v2("CloseAll?name='Ann'").expect(204, "");
        let closed = gateway.get(&format!("{OWN_V4}orders/$count?$filter=status%20eq%20'closed'"));
        assert_eq!(closed.text(), "3");
        // What a client gives is a value, whatever it looks like.
        let quoted = r#"{"id":1,"name":"'; DROP TABLE"}"#;
        post("Rename", &[], quoted).expect(204, "");
        gateway.get(&format!("{OWN_V4}customers(1)/name")).expect(200, "'; DROP TABLE");
    });
}

#[test]
fn a_text_that_no_database_keeps_is_refused_wherever_it_is_sent() {
    on_both("actions_nul", [TABLES, TABLES], MAPPING, "if_match = \"optional\"", |gateway| {
        let order = r#"{"number":"Z\u0000","status":"open","total":1}"#;
        for (method, target, body) in [
            ("POST", format!("{OWN_V4}Rename"), r#"{"id":2,"name":"Ze\u0000d"}"#),
            ("POST", format!("{OWN_V4}orders('A1')/own.Cancel"), r#"{"reason":"\u0000"}"#),
            ("POST", format!("{OWN_V4}orders"), order),
            ("POST", format!("{OWN_V2}orders"), order),
            ("POST", "/rest/own/orders".to_owned(), order),
            ("PATCH", format!("{OWN_V4}customers(2)"), r#"{"name":"\u0000"}"#),
            ("PATCH", "/rest/own/customers/2".to_owned(), r#"{"name":"\u0000"}"#),
        ] {
            send(gateway, method, &target, &[], body).expect(400, "U+0000");
        }
        let plain = [("Content-Type", "text/plain")];
        gateway
            .connect()
            .ask_with("PUT", &format!("{OWN_V4}customers(2)/name/$value"), &plain, "a\0")
            .expect(400, "U+0000");
    });
}

#[test]
fn an_action_answers_as_little_as_is_preferred() {
    on_both("actions_preferred", [TABLES, TABLES], MAPPING, "if_match = \"optional\"", |gateway| {
        let post = |below: &str, prefer: &str, body: &str| {
            send(gateway, "POST", &format!("{OWN_V4}{below}"), &[("Prefer", prefer)], body)
        };
        let applied = |answer: &Answer| answer.header("preference-applied").map(str::to_owned);
        let minimal = Some("return=minimal".to_owned());
        let one = post("orders('A1')/own.Cancel", "return=minimal", r#"{"reason":"lost"}"#);
        assert_eq!((one.expect(204, "").text(), applied(&one)), (String::new(), minimal.clone()));
        assert!(one.header("etag").is_some());
        gateway.get(&format!("{OWN_V4}orders('A1')/note")).expect(200, "lost!");
        let many = post("orders/own.Raise", "return=minimal", r#"{"by":2,"below":100}"#);
        assert_eq!((many.expect(204, "").text(), applied(&many)), (String::new(), minimal.clone()));
        gateway.get(&format!("{OWN_V4}orders('A2')/total")).expect(200, "41");
        let whole = post("orders/own.Raise", "return=representation", r#"{"by":1,"below":100}"#);
        assert_eq!(applied(whole.expect(200, "\"A2\"")).as_deref(), Some("return=representation"));
        // What answers nothing cannot answer more.
        let none = post("Rename", "return=representation", r#"{"id":2,"name":"Bob"}"#);
        assert_eq!(applied(none.expect(204, "")), None);
        assert_eq!(applied(post("Rename", "return=minimal", r#"{"id":2,"name":"Bob"}"#).expect(204, "")), minimal);
    });
}

#[test]
fn functions_are_called_on_what_a_path_leads_to() {
    on_both("bound_functions", [TABLES, TABLES], MAPPING, "", |gateway| {
        let numbers = |below: &str| {
            let answer = gateway.get(&format!("{OWN_V4}{below}"));
            let told = json(answer.expect(200, "value"));
            let numbers =
                told["value"].as_array().unwrap().iter().map(|order| order["number"].as_str().unwrap().to_owned());
            numbers.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(numbers("customers(1)/own.Dear(than=20.5)"), "A2 A3");
        assert_eq!(numbers("customers(1)/own.Dear(than=@t)?@t=20.5&$filter=status%20eq%20'open'"), "A2");
        assert_eq!(numbers("customers(2)/own.Dear(than=20.5)"), "");
        assert_eq!(numbers("orders/own.Open?$orderby=number%20desc&$top=2"), "B1 A2");
        assert_eq!(numbers("customers(1)/orders/own.Open()"), "A1 A2");
        assert_eq!(gateway.get(&format!("{OWN_V4}customers(1)/orders/own.Open()/$count")).text(), "2");
        gateway.get(&format!("{OWN_V4}customers(9)/own.Dear(than=1)")).expect(404, "");
        gateway.get(&format!("{OWN_V4}customers(1)/own.Dear()")).expect(400, "than");
        gateway.get(&format!("{OWN_V4}orders/own.Open/own.Open")).expect(501, "what a function has found");
        gateway.get(&format!("{OWN_V4}customers/own.Dear(than=1)")).expect(501, "own.Dear");
        send(gateway, "POST", &format!("{OWN_V4}orders/own.Open"), &[], "{}").expect(405, "GET");
        let metadata = gateway.get(&format!("{OWN_V4}$metadata"));
        metadata
            .expect(200, "<Function Name=\"Dear\" IsComposable=\"true\" IsBound=\"true\" EntitySetPath=\"it/orders\">");
        metadata.expect(200, "<Action Name=\"Raise\" IsBound=\"true\"");
        let metadata = json(&gateway.get(&format!("{OWN_V4}$metadata?$format=json")));
        assert_eq!(metadata["own"]["Dear"][0]["$IsComposable"], true);
        assert_eq!(metadata["own"]["Raise"][0]["$IsComposable"], serde_json::Value::Null);
    });
}

#[test]
fn an_action_wants_the_state_that_it_changes_where_the_service_does() {
    let more = "csrf = \"required\"";
    on_both("action_states", [TABLES, TABLES], MAPPING, more, |gateway| {
        let cancel = format!("{OWN_V4}orders('A1')/own.Cancel");
        send(gateway, "POST", &cancel, &[], r#"{"reason":"x"}"#).expect(403, "X-CSRF-Token");
        let fetched = gateway.get_with(OWN_V4, &[("X-CSRF-Token", "Fetch")]);
        let cookie = fetched.header("set-cookie").unwrap().split(';').next().unwrap();
        let token = [("X-CSRF-Token", fetched.header("x-csrf-token").unwrap()), ("Cookie", cookie)];
        send(gateway, "POST", &cancel, &token, r#"{"reason":"x"}"#).expect(428, "If-Match");
        let known = [&token[..], &[("If-Match", "*")]].concat();
        send(gateway, "POST", &cancel, &known, r#"{"reason":"x"}"#).expect(200, "void");
    });
}
