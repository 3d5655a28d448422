//! Services over PostgreSQL, on the tests' own server; without PostgreSQL, nothing is tested.

use super::client::Running;
use super::cluster::cluster;
use super::found::{MANAGED, change_by_state};
use crate::services::flights;
use crate::store::postgres::{Address, PostgresDatabase};

const JSON: (&str, &str) = ("Content-Type", "application/json");

const SALES: &str = "
    CREATE SCHEMA sales;
    SET search_path TO sales;
    CREATE TABLE customers (id serial PRIMARY KEY, code uuid NOT NULL UNIQUE, name varchar(40) NOT NULL, since date);
    CREATE TABLE orders (
        number numeric(8) PRIMARY KEY, customer int REFERENCES customers (id), placed timestamptz NOT NULL DEFAULT now(),
        total numeric(12, 2) CHECK (total >= 0), paid boolean NOT NULL DEFAULT false
    );
    CREATE TABLE notes (text text);
    CREATE VIEW unpaid AS SELECT number, total FROM orders WHERE NOT paid;
    INSERT INTO customers (code, name) VALUES ('01234567-89ab-cdef-0123-456789abcdef', 'Ada');
    INSERT INTO orders (number, customer, total) VALUES (7, 1, 12.50);
";

#[test]
fn the_records_lie_in_postgresql_and_are_written_in_all_ways() {
    let Some(cluster) = cluster() else { return };
    let service = format!("kind = \"records\"\ndatabase = \"{}\"", cluster.url(""));
    let gateway = Running::start(&format!("[[service]]\n{service}\nwork_processes.limit = 2"));
    let mut client = gateway.connect();
    client.ask("DELETE", "/rest/records?all=true", &[]).expect(200, "deleted");
    let created = client.ask_with("POST", "/odata/v4/refsvc/TestRecords", &[JSON], r#"{"integerField":7}"#);
    let location = created.expect(201, "\"integerField\":7").header("location").unwrap().to_owned();
    let path = &location[location.find("/odata").unwrap()..];
    assert_eq!(client.ask_with("PATCH", path, &[JSON], r#"{"stringField":"a"}"#).status, 204);
    client.ask("GET", path, &[]).expect(200, "\"stringField\":\"a\"");
    let array = |count: usize| format!("[{}]", vec![r#"{"stringField":"b","decimalField":1.50}"#; count].join(","));
    for count in [3, 300] {
        let inserted = client.ask_with("POST", "/rest/records", &[JSON], array(count));
        inserted.expect(201, &format!("{{\"inserted\":{count}}}"));
    }
    let wrong = array(50).replacen("1.50", "1.23456", 1);
    client.ask_with("POST", "/rest/records", &[JSON], wrong).expect(400, "\"target\":\"[0].decimalField\"");
    client.ask("GET", "/odata/v4/refsvc/TestRecords/$count", &[]).expect(200, "304");
    client.ask("POST", "/rest/mass-change/deleteAllRecs", &[("Content-Length", "0")]).expect(200, "{\"deleted\":304}");
    assert_eq!(gateway.metric("tollgate_work_processes_limit{service=\"records\"}"), 2);
    assert_eq!(gateway.metric("tollgate_database_reconnects_total{service=\"records\"}"), 0);
}

#[test]
fn a_database_that_is_there_is_served_by_its_tables() {
    let Some(cluster) = cluster() else { return };
    let mut maker = postgres::Client::connect(&cluster.url(""), postgres::NoTls).unwrap();
    maker.batch_execute(SALES).unwrap();
    let url = cluster.url("schema=sales");
    let gateway = Running::start(&format!("[[service]]\nkind = \"database\"\nname = \"sales\"\ndatabase = \"{url}\""));
    assert!(gateway.remarks.iter().any(|remark| remark.contains("notes")), "{:?}", gateway.remarks);
    let mut client = gateway.connect();
    client.ask("GET", "/odata/v4/sales/customers?$expand=orders", &[]).expect(200, "\"total\":12.5");
    client.ask("GET", "/rest/sales/orders/7", &[]).expect(200, "\"paid\":false");
    client.ask("GET", "/sap/opu/odata/sales/orders(7M)?$format=json", &[]).expect(200, "\"number\":\"7\"");
    let body = r#"{"code":"00000000-89ab-cdef-0123-456789abcdef","name":"Ben","since":"2024-02-29"}"#;
    let created = client.ask_with("POST", "/rest/sales/customers", &[JSON], body);
    assert!(created.expect(201, "\"id\":2").header("location").unwrap().ends_with("/rest/sales/customers/2"));
    client.ask_with("POST", "/rest/sales/customers", &[JSON], body).expect(409, "code");
    client.ask_with("PATCH", "/odata/v4/sales/orders(7)", &[JSON], r#"{"total":-1}"#).expect(400, "");
    client.ask_with("PATCH", "/odata/v4/sales/orders(7)", &[JSON], r#"{"paid":true}"#).expect(204, "");
    client.ask("DELETE", "/rest/sales/customers/1", &[]).expect(409, "others still refer to it");
    client.ask_with("POST", "/rest/sales/unpaid", &[JSON], "{}").expect(405, "");
}

#[test]
fn an_etag_on_a_managed_column_changes_with_each_change() {
    let Some(cluster) = cluster() else { return };
    let mut maker = postgres::Client::connect(&cluster.url(""), postgres::NoTls).unwrap();
    let table = "CREATE SCHEMA managed; CREATE TABLE managed.documents (id int PRIMARY KEY, title text, \
                 made_by varchar(5) NOT NULL, changed timestamptz NOT NULL, changed_by text)";
    maker.batch_execute(table).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mapping = folder.path().join("mapping.toml");
    std::fs::write(&mapping, MANAGED).unwrap();
    let (url, mapping) = (cluster.url("schema=managed"), mapping.display());
    let service = format!("kind = \"database\"\nname = \"papers\"\ndatabase = \"{url}\"\nmapping = \"{mapping}\"");
    let gateway = Running::start(&format!("[[service]]\n{service}\nuser = \"alice\""));
    assert_eq!(gateway.remarks, Vec::<String>::new());
    change_by_state(&gateway, "papers");
}

#[test]
fn a_rule_that_waits_for_the_end_of_the_transaction_fails_the_unit_that_breaks_it_and_no_other() {
    let Some(cluster) = cluster() else { return };
    let mut maker = postgres::Client::connect(&cluster.url(""), postgres::NoTls).unwrap();
    let tables = "CREATE SCHEMA waiting; SET search_path TO waiting; CREATE TABLE head (id int PRIMARY KEY); \
                  CREATE TABLE line (id int PRIMARY KEY, \
                  head int REFERENCES head DEFERRABLE INITIALLY DEFERRED)";
    maker.batch_execute(tables).unwrap();
    let url = cluster.url("schema=waiting");
    let gateway =
        Running::start(&format!("[[service]]\nkind = \"database\"\nname = \"waiting\"\ndatabase = \"{url}\""));
    let request = |id: u32, group: &str, set: &str, body: &str| {
        let json = r#""headers":{"content-type":"application/json"}"#;
        format!(r#"{{"id":"{id}",{group}"method":"POST","url":"{set}",{json},"body":{body}}}"#)
    };
    let requests = [
        request(1, "", "line", r#"{"id":1,"head":99}"#),
        // The line comes before the head that it refers to.
        request(2, r#""atomicityGroup":"a","#, "line", r#"{"id":2,"head":5}"#),
        request(3, r#""atomicityGroup":"a","#, "head", r#"{"id":5}"#),
        request(4, r#""atomicityGroup":"b","#, "line", r#"{"id":4,"head":98}"#),
        request(5, "", "line", r#"{"id":5,"head":5}"#),
    ];
    let body = format!(r#"{{"requests":[{}]}}"#, requests.join(","));
    let mut client = gateway.connect();
    let headers = [JSON, ("Prefer", "continue-on-error")];
    let answer = client.ask_with("POST", "/odata/v4/waiting/$batch", &headers, body);
    let answer: serde_json::Value = serde_json::from_slice(&answer.expect(200, "").body).unwrap();
    let statuses: Vec<_> = answer["responses"].as_array().unwrap().iter().map(|one| one["status"].as_u64()).collect();
    assert_eq!(statuses, [409, 201, 201, 409, 201].map(Some));
    client.ask("GET", "/odata/v4/waiting/line/$count", &[]).expect(200, "2");
}

#[test]
fn a_server_that_is_not_there_is_told_without_the_password() {
    let nobody = tollgate_net::listen::Reserved::on_loopback().unwrap();
    let gone = nobody.address();
    let service = format!("kind = \"records\"\ndatabase = \"postgres://me:hunter2@{gone}/shop\"");
    let config = format!("listen.addresses = [\"127.0.0.1:0\"]\n[[service]]\n{service}");
    let config = crate::Config::parse(&config, "t.toml").unwrap();
    let error = crate::Gateway::start(config).map(|_| ()).unwrap_err();
    let told = format!("{error} {error:?}");
    assert!(told.contains("cannot serve `records`") && !told.contains("hunter2"), "{told}");
}

#[test]
fn two_gateways_that_begin_with_an_empty_database_at_once_both_find_the_service_in_it() {
    const GATEWAYS: i64 = 2;
    let Some(cluster) = cluster() else { return };
    // Locks are each database's own, so that nobody else waits for this one.
    cluster.run("CREATE DATABASE empty_at_first");
    let url = cluster.url("").replace("/postgres?", "/empty_at_first?");
    let mut holder = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    holder.batch_execute("SELECT pg_advisory_lock(7203100812)").unwrap();
    // However short a request would wait for a lock.
    let address = Address::parse(&format!("{url}&lock_timeout=100")).unwrap();
    let database = PostgresDatabase::open(address, flights::mapping()).unwrap();
    std::thread::scope(|scope| {
        let create = || flights::create(&mut database.connection().unwrap(), flights::SEED);
        let gateways = [scope.spawn(create), scope.spawn(create)];
        // Both have found nothing and wait before they create anything.
        let waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        while holder.query_one(waiting, &[]).unwrap().get::<_, i64>(0) < GATEWAYS {
            assert!(gateways.iter().all(|gateway| !gateway.is_finished()), "they do not wait for each other");
        }
        holder.batch_execute("SELECT pg_sleep(0.3); SELECT pg_advisory_unlock(7203100812)").unwrap();
        for gateway in gateways {
            gateway.join().unwrap().unwrap();
        }
    });
    let flights = holder.query_one("SELECT count(*) FROM \"Flight\"", &[]).unwrap();
    assert_eq!(flights.get::<_, i64>(0), 400);
}
