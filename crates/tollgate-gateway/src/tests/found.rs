//! Foreign databases, served by their tables.

use std::path::Path;

use super::client::{Answer, Running};

const JSON: (&str, &str) = ("Content-Type", "application/json");

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, rating REAL);
    CREATE TABLE orders (
        number TEXT NOT NULL, line SMALLINT NOT NULL, customer INTEGER REFERENCES customers (id),
        price DECIMAL(10, 2), ordered DATE NOT NULL, PRIMARY KEY (number, line)
    );
    CREATE TABLE days (day DATE PRIMARY KEY NOT NULL, open BOOLEAN NOT NULL DEFAULT TRUE);
    CREATE TABLE log (message TEXT);
    CREATE TABLE Größen (größe INTEGER PRIMARY KEY);
    CREATE VIEW rich AS SELECT id, name FROM customers WHERE rating > 5;
    INSERT INTO customers VALUES (1, 'Ada', 9.5), (2, 'Ben', 1);
    INSERT INTO orders VALUES ('A/1', 1, 1, 12.50, '2024-02-29');
    INSERT INTO log VALUES ('begun');
";

fn shop(path: &Path) {
    rusqlite::Connection::open(path).unwrap().execute_batch(SHOP).unwrap();
}

fn serve(path: &Path, more: &str) -> Running {
    let url = path.display();
    Running::start(&format!("[[service]]\nkind = \"database\"\ndatabase = \"sqlite:{url}\"\n{more}"))
}

#[test]
fn infinite_numbers_are_served_as_the_versions_write_them_and_nan_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    shop(&file);
    let values = "INSERT INTO customers VALUES (3, 'Inf', 9e999), (4, 'Low', -9e999)";
    rusqlite::Connection::open(&file).unwrap().execute_batch(values).unwrap();
    let gateway = serve(&file, "");
    let (v4, v2) = ("/odata/v4/shop/", "/sap/opu/odata/shop/");
    gateway.get(&format!("{v4}customers(3)")).expect(200, "\"rating\":\"INF\"");
    gateway.get(&format!("{v4}customers(4)")).expect(200, "\"rating\":\"-INF\"");
    gateway.get(&format!("{v4}customers(3)/rating/$value")).expect(200, "INF");
    gateway.get(&format!("{v4}customers?$filter=rating%20eq%20INF&$select=id")).expect(200, "[{\"id\":3}]");
    gateway.get(&format!("{v4}customers?$orderby=rating&$top=1&$select=id")).expect(200, "[{\"id\":4}]");
    gateway.get(&format!("{v2}customers(3)?$format=json")).expect(200, "\"rating\":\"INF\"");
    gateway.get(&format!("{v2}customers(4)")).expect(200, "<d:rating>-INF</d:rating>");
    gateway.get("/rest/shop/customers/3").expect(200, "\"rating\":\"INF\"");
    let mut client = gateway.connect();
    let mut post = |body: &str| client.ask_with("POST", &format!("{v4}customers"), &[JSON], body);
    post(r#"{"name":"x","rating":"-INF"}"#).expect(201, "\"rating\":\"-INF\"");
    post(r#"{"name":"x","rating":"NaN"}"#).expect(400, "\"target\":\"rating\"");
}

#[test]
fn its_tables_are_read_and_written_in_every_protocol_by_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    shop(&file);
    let gateway = serve(&file, "");
    gateway.get("/odata/v4/shop/$metadata").expect(200, "Namespace=\"shop\"");
    gateway.get("/odata/v4/shop/customers?$expand=orders").expect(200, "\"price\":12.5,");
    gateway.get("/sap/opu/odata/shop/orders(number='A%2F1',line=1)?$format=json").expect(200, "Date(1709164800000)");
    gateway.get("/rest/shop/customers/1").expect(200, "\"name\":\"Ada\"");
    gateway.get("/rest/shop/orders/A%2F1/1").expect(200, "\"ordered\":\"2024-02-29\"");
    let mut client = gateway.connect();
    let mut post = |path: &str, body: &str| client.ask_with("POST", path, &[JSON], body);
    let location = |answer: &Answer| answer.header("location").unwrap().to_owned();
    let created = post("/rest/shop/days", r#"{"day":"2024-03-01"}"#);
    created.expect(201, "\"open\":true");
    assert!(location(&created).ends_with("/rest/shop/days/2024-03-01"));
    // The key comes from the database.
    let created = post("/odata/v4/shop/customers", r#"{"name":"Cid"}"#);
    assert!(location(&created.expect(201, "\"id\":3").clone()).ends_with("/odata/v4/shop/customers(3)"));
    post("/rest/shop/customers", r#"[{"name":"Dora"},{"name":"Eve"}]"#).expect(201, "{\"inserted\":2}");
    post("/rest/shop/orders", r#"{"number":"B","line":1,"customer":99,"ordered":"2024-01-01"}"#)
        .expect(400, "customer refers to");
    gateway.ask("DELETE", "/rest/shop/customers/1").expect(409, "others still refer to it");
    gateway.ask("DELETE", "/rest/shop/customers/5").expect(204, "");
    gateway.get("/odata/v4/shop/customers/$count").expect(200, "4");
    gateway.get("/rest/shop/nothing").expect(404, "shop/customers");
    // Nothing else is served.
    gateway.get("/rest/flights").expect(404, "shop/orders");
    assert_eq!(gateway.metric("tollgate_work_processes_busy{service=\"shop\"}"), 0);
}

/// A function of a mapping file over the tables of [`SHOP`].
const FUNCTIONS: &str = r#"
    [functions.Bought]
    returns = "orders"
    where = "customer eq @who and ordered ge @since and price lt @below"
    parameters = [
        { name = "who", type = "Edm.Int64" },
        { name = "since", type = "Edm.Date" },
        { name = "below", type = "Edm.Decimal" },
    ]
"#;

#[test]
fn a_function_of_the_mapping_file_is_answered_in_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping) = (folder.path().join("shop.db"), folder.path().join("mapping.toml"));
    shop(&file);
    std::fs::write(&mapping, FUNCTIONS).unwrap();
    let gateway = serve(&file, &format!("mapping = \"{}\"", mapping.display()));
    let (v4, v2) = ("/odata/v4/shop/", "/sap/opu/odata/shop/");
    gateway.get(&format!("{v4}$metadata")).expect(200, "<FunctionImport Name=\"Bought\"");
    gateway.get(&format!("{v2}$metadata")).expect(200, "<Parameter Name=\"since\" Type=\"Edm.DateTime\"");
    let call = |since: &str, below: &str| format!("{v4}Bought(who=1,since={since},below={below})");
    gateway.get(&call("2024-02-29", "12.51")).expect(200, "\"number\":\"A/1\"");
    gateway.get(&call("2024-02-29", "12.5")).expect(200, "\"value\":[]");
    gateway.get(&(call("2024-03-01", "100") + "/$count")).expect(200, "0");
    let parameters = "who=1L&since=datetime'2024-01-01T00:00:00'&below=100M";
    gateway
        .get(&format!("{v2}Bought?{parameters}&$expand=customer_customer&$format=json"))
        .expect(200, "\"name\":\"Ada\"");
    gateway.get(&format!("{v2}Bought?{parameters}&$filter=line%20eq%202&$format=json")).expect(200, "\"results\":[]");
    gateway.get(&call("'2024'", "1")).expect(400, "since");
}

/// Writes with ETags, over a table `documents` whose columns `made_by`, `changed` and `changed_by` are managed: an
/// outdated state is refused, and each change makes a new one.
pub(super) fn change_by_state(gateway: &Running, service: &str) {
    let mut client = gateway.connect();
    let path = format!("/odata/v4/{service}/documents(1)");
    let body = r#"{"id":1,"title":"first","made_by":"bob","changed":"2000-01-01T00:00:00Z"}"#;
    let created = client.ask_with("POST", &format!("/odata/v4/{service}/documents"), &[JSON], body);
    let first = created.expect(201, "\"made_by\":\"alice\"").header("etag").unwrap().to_owned();
    assert!(!first.contains("2000-01-01"), "{first}");
    let known = [JSON, ("If-Match", &first)];
    let changed = client.ask_with("PATCH", &path, &known, r#"{"title":"second"}"#);
    let second = changed.expect(204, "").header("etag").unwrap().to_owned();
    assert_ne!(first, second);
    client.ask_with("PATCH", &path, &known, r#"{"title":"lost"}"#).expect(412, "");
    let read = client.ask("GET", &path, &[]);
    assert_eq!(read.expect(200, "\"changed_by\":\"alice\"").header("etag"), Some(&*second));
    client.ask_with("PUT", &path, &[JSON, ("If-Match", &second)], r#"{"title":"third"}"#).expect(204, "");
    client.ask("DELETE", &path, &[("If-Match", &second)]).expect(412, "");
    let third = client.ask("GET", &path, &[]).expect(200, "\"made_by\":\"alice\"").header("etag").unwrap().to_owned();
    client.ask("DELETE", &path, &[("If-Match", &third)]).expect(204, "");
}

/// Lines of a mapping file for [`change_by_state`].
pub(super) const MANAGED: &str = "
    [tables.documents]
    etag = \"changed\"
    columns.made_by.managed = \"created_by\"
    columns.changed.managed = \"modified_at\"
    columns.changed_by.managed = \"modified_by\"
";

#[test]
fn an_etag_on_a_managed_column_changes_with_each_change() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping) = (folder.path().join("shop.db"), folder.path().join("mapping.toml"));
    let table = "CREATE TABLE documents (id INTEGER PRIMARY KEY, title TEXT, made_by TEXT NOT NULL, \
                 changed TIMESTAMPTZ NOT NULL, changed_by VARCHAR(5))";
    rusqlite::Connection::open(&file).unwrap().execute_batch(table).unwrap();
    std::fs::write(&mapping, MANAGED).unwrap();
    let gateway = serve(&file, &format!("mapping = \"{}\"\nuser = \"alice\"", mapping.display()));
    assert_eq!(gateway.remarks, Vec::<String>::new());
    change_by_state(&gateway, "shop");
}

#[test]
fn names_beyond_ascii_are_encoded_in_what_leads_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    shop(&file);
    let gateway = serve(&file, "");
    gateway.get("/").expect(200, "/rest/shop/Gr%C3%B6%C3%9Fen");
    let created = gateway.connect().ask_with("POST", "/rest/shop/Gr%c3%b6%c3%9fen", &[JSON], r#"{"größe":42}"#);
    let location = created.header("location").unwrap();
    assert!(location.ends_with("/rest/shop/Gr%C3%B6%C3%9Fen/42"), "{location}");
    gateway.get("/rest/shop/Gr%C3%B6%C3%9Fen/42").expect(200, "\"größe\":42");
}

#[test]
fn what_has_no_key_is_read_only_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    shop(&file);
    let gateway = serve(&file, "name = \"mine\"");
    assert!(
        gateway.remarks.iter().any(|remark| remark.starts_with("mine: log: it has no key")),
        "{:?}",
        gateway.remarks
    );
    gateway.get("/rest/mine/log").expect(200, "begun");
    gateway.get("/odata/v4/mine/rich").expect(200, "Ada");
    for path in ["/rest/mine/log", "/odata/v4/mine/log", "/rest/mine/rich"] {
        gateway.connect().ask_with("POST", path, &[JSON], "{}").expect(405, "");
    }
}

#[test]
fn a_mapping_file_renames_hides_and_restricts() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping) = (folder.path().join("shop.db"), folder.path().join("shop.toml"));
    shop(&file);
    let text = "others = \"hidden\"\n[tables.customers]\nname = \"People\"\ntype = \"Person\"\nread_only = true\n";
    std::fs::write(&mapping, text).unwrap();
    let gateway = serve(&file, &format!("mapping = \"{}\"", mapping.display()));
    gateway.get("/rest/shop/People/9").expect(404, "there is no such Person");
    gateway.get("/rest/shop/orders").expect(404, "shop/People");
    gateway.connect().ask_with("POST", "/odata/v4/shop/People", &[JSON], "{}").expect(405, "");
}

#[test]
fn a_file_that_is_not_there_or_a_mapping_that_does_not_fit_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping) = (folder.path().join("shop.db"), folder.path().join("shop.toml"));
    let start = |more: &str| {
        let config = format!("[[service]]\nkind = \"database\"\ndatabase = \"sqlite:{}\"\n{more}", file.display());
        let config =
            crate::Config::parse(&format!("listen.addresses = [\"127.0.0.1:0\"]\n{config}"), "t.toml").unwrap();
        crate::Gateway::start(config).map(|_| ()).unwrap_err().to_string()
    };
    assert!(start("").contains("cannot serve `shop` over sqlite:"), "{}", start(""));
    assert!(!file.exists(), "somebody's file is not made");
    shop(&file);
    let more = format!("mapping = \"{}\"", mapping.display());
    assert!(start(&more).contains("cannot read"), "{}", start(&more));
    std::fs::write(&mapping, "[tables.custmers]\nhidden = true\n").unwrap();
    assert!(start(&more).contains("did you mean `customers`?"), "{}", start(&more));
}
