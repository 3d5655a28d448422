//! The description of plain REST: complete, without dangling references, and true for the answers.

use serde_json::{Value, json};

use super::client::Running;

const METHODS: [&str; 7] = ["get", "head", "options", "post", "put", "patch", "delete"];

fn document(gateway: &Running, path: &str) -> Value {
    serde_json::from_slice(&gateway.get(path).expect(200, "\"openapi\":\"3.1.0\"").body).unwrap()
}

/// Target of a reference, or the value itself.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).expect(reference),
        None => value,
    }
}

/// Calls `see` with each object within.
fn each_object(value: &Value, see: &mut impl FnMut(&Value)) {
    match value {
        Value::Object(members) => {
            see(value);
            members.values().for_each(|member| each_object(member, see));
        }
        Value::Array(items) => items.iter().for_each(|item| each_object(item, see)),
        _ => {}
    }
}

#[test]
fn each_reference_leads_somewhere_and_each_operation_has_a_name_of_its_own() {
    let document = document(Running::shared(), "/rest/openapi.json");
    each_object(&document, &mut |value| assert!(resolved(&document, value).is_object()));
    let mut names = Vec::new();
    each_object(&document["paths"], &mut |value| names.extend(value["operationId"].as_str().map(str::to_owned)));
    let operations = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), operations), (operations, 60));
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(
        paths,
        [
            "/rest/bookings",
            "/rest/bookings/{carrid}/{connid}/{fldate}/{bookid}",
            "/rest/carriers",
            "/rest/carriers/{carrid}",
            "/rest/flights",
            "/rest/flights/{carrid}/{connid}/{fldate}",
            "/rest/mass-change/deleteAllRecs",
            "/rest/mass-change/insertAll",
            "/rest/openapi.json",
            "/rest/records",
            "/rest/records/{ID}",
            "/rest/travelagencies",
            "/rest/travelagencies/{agencynum}",
        ]
    );
}

/// A value that a parameter's schema allows, as written in a URL.
fn example(schema: &Value) -> String {
    if let Some(first) = schema["enum"].get(0).and_then(Value::as_str) {
        return first.to_owned();
    }
    match (schema["type"].as_str().unwrap(), schema["format"].as_str()) {
        ("array", _) => example(&schema["items"]),
        ("boolean", _) => "true".to_owned(),
        ("integer", _) => schema["maximum"].to_string(),
        ("number", _) => "12.5".to_owned(),
        ("string", Some("date")) => "2011-06-01".to_owned(),
        ("string", Some("date-time")) => "2011-06-01T11:00:00Z".to_owned(),
        ("string", Some("date-time-local")) => "2011-06-01T11:00:00".to_owned(),
        ("string", Some("time-local")) => "11:00:00".to_owned(),
        ("string", Some("uuid")) => "01234567-89ab-cdef-0123-456789abcdef".to_owned(),
        ("string", None | Some("base64url")) => "abcd".to_owned(),
        (other, format) => panic!("no example for {other} {format:?}"),
    }
}

#[test]
fn each_parameter_that_is_described_is_taken_and_each_answer_is_a_described_one() {
    let gateway = Running::shared();
    let document = document(gateway, "/rest/openapi.json");
    let mut client = gateway.connect();
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(parameters) = item["get"]["parameters"].as_array() else { continue };
        let mut target = path.clone();
        for part in item["parameters"].as_array().into_iter().flatten() {
            let part = resolved(&document, part);
            target = target.replace(&format!("{{{}}}", part["name"].as_str().unwrap()), &example(&part["schema"]));
        }
        for parameter in parameters {
            let parameter = resolved(&document, parameter);
            let (name, value) = (parameter["name"].as_str().unwrap(), example(&parameter["schema"]));
            if parameter["in"] == "header" || name == "cursor" {
                continue;
            }
            let answer = client.ask("GET", &format!("{target}?{name}={value}"), &[]);
            assert!(matches!(answer.status, 200 | 404), "{target}?{name}={value}: {}", answer.text());
            tried += 1;
        }
        for method in METHODS {
            let answer = client.ask(&method.to_ascii_uppercase(), &format!("{target}?colour=red"), &[]);
            let is_described = !item[method].is_null();
            // Who has no such method is told so; all others say that there is no such parameter.
            assert_eq!(answer.status == 405, !is_described, "{method} {target}: {}", answer.status);
            let status = answer.status.to_string();
            assert!(!is_described || !item[method]["responses"][&status].is_null(), "{method} {target}: {status}");
        }
    }
    assert!(tried > 300, "{tried}");
}

#[test]
fn a_schema_says_what_must_be_there_what_may_be_null_and_how_long_it_may_be() {
    let document = document(Running::shared(), "/rest/openapi.json");
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["carriers_new"]["required"], json!(["carrid"]));
    assert_eq!(
        schemas["carriers"]["properties"]["carrid"],
        json!({ "type": "string", "maxLength": 3, "title": schemas["carriers"]["properties"]["carrid"]["title"] })
    );
    assert_eq!(schemas["carriers"]["properties"]["CARRNAME"]["type"], json!(["string", "null"]));
    // What divides floating-point numbers refuses 0.07 as a multiple of 0.01.
    assert_eq!(schemas["flights"]["properties"]["PRICE"]["multipleOf"], Value::Null);
    assert_eq!(
        schemas["flights"]["properties"]["PRICE"]["description"],
        json!("at most 15 digits, 2 of them behind the point")
    );
    assert_eq!(schemas["flights"]["properties"]["PRICE"]["exclusiveMaximum"], json!(1e13));
    assert_eq!(
        schemas["flights"]["properties"]["flightDetails"]["properties"]["period"]["type"],
        json!(["integer", "null"])
    );
    assert_eq!(schemas["flights"]["required"].as_array().unwrap().len(), 14);
    assert_eq!(schemas["flights_change"]["required"], Value::Null);
    assert_eq!(schemas["records"]["properties"]["createdAt"]["readOnly"], true);
    assert_eq!(schemas["records_new"]["required"], Value::Null);
}

#[test]
fn it_is_kept_by_its_etag_and_is_each_services_own() {
    let gateway = Running::shared();
    let first = gateway.get("/rest/openapi.json");
    let etag = first.header("etag").unwrap();
    assert_eq!(gateway.get_with("/rest/openapi.json", &[("If-None-Match", etag)]).status, 304);
    assert_eq!(gateway.get_with("/rest/openapi.json", &[("If-Match", "\"other\"")]).status, 412);
    assert_eq!(gateway.ask("POST", "/rest/openapi.json").status, 405);
    assert_eq!(gateway.get("/rest/openapi.json").body, first.body);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let tables =
        "CREATE TABLE größen (id INTEGER PRIMARY KEY, grad REAL); CREATE TABLE gr__en (id INTEGER PRIMARY KEY);
                  CREATE VIEW rich AS SELECT id FROM größen WHERE grad > 5;";
    rusqlite::Connection::open(&file).unwrap().execute_batch(tables).unwrap();
    let url = file.display();
    let service = "[[service]]\nkind = \"database\"\ncsrf = \"required\"";
    let shop = Running::start(&format!("{service}\ndatabase = \"sqlite:{url}\""));
    let document = document(&shop, "/rest/shop/openapi.json");
    shop.get("/rest/openapi.json").expect(404, "");
    each_object(&document, &mut |value| assert!(resolved(&document, value).is_object()));
    let schemas = document["components"]["schemas"].as_object().unwrap();
    assert!(schemas.contains_key("gr__en_list") && schemas.contains_key("gr__en_2_list"), "{:?}", schemas.keys());
    let paths = document["paths"].as_object().unwrap();
    assert!(paths["/rest/shop/gr%C3%B6%C3%9Fen"]["post"]["responses"]["403"].is_object());
    assert!(paths.values().all(|path| path["get"]["responses"]["403"].is_null()), "nobody is kept from reading");
}
