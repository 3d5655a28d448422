//! A database of one's own with a mapping file, on SQLite and, where installed, on PostgreSQL: all kinds of models are
//! tested on both.

use super::client::{Answer, Running};
use super::cluster::cluster;

/// The roots of the service in both versions.
pub(super) const OWN_V4: &str = "/odata/v4/own/";
pub(super) const OWN_V2: &str = "/sap/opu/odata/own/";

pub(super) const JSON: (&str, &str) = ("Content-Type", "application/json");
pub(super) const AS_JSON: (&str, &str) = ("Accept", "application/json");

/// Creates the tables of `sql` in a database of each kind and runs `test` with a gateway over them, which reads
/// `mapping`. `schema` is a name that no other test uses; `more` are further lines of the service.
pub(super) fn on_both(schema: &str, sql: [&str; 2], mapping: &str, more: &str, test: impl Fn(&Running)) {
    let folder = tempfile::tempdir().unwrap();
    let (file, mapping_file) = (folder.path().join("own.db"), folder.path().join("mapping.toml"));
    std::fs::write(&mapping_file, mapping).unwrap();
    rusqlite::Connection::open(&file).unwrap().execute_batch(sql[0]).unwrap();
    let service = |url: &str| {
        let mapping = mapping_file.display();
        format!(
            "[[service]]\nkind = \"database\"\nname = \"own\"\ndatabase = \"{url}\"\nmapping = \"{mapping}\"\n{more}"
        )
    };
    test(&Running::start(&service(&format!("sqlite:{}", file.display()))));
    if let Some(cluster) = cluster() {
        let mut maker = postgres::Client::connect(&cluster.url(""), postgres::NoTls).unwrap();
        maker.batch_execute(&format!("CREATE SCHEMA {schema}; SET search_path TO {schema}; {}", sql[1])).unwrap();
        test(&Running::start(&service(&cluster.url(&format!("schema={schema}")))));
    }
}

/// A request with a body of JSON.
pub(super) fn send(gateway: &Running, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    gateway.connect().ask_with(method, target, &[&[JSON], headers].concat(), body)
}

/// Parses a JSON answer.
pub(super) fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_str(&answer.text()).unwrap_or_else(|error| panic!("{error}: {}", answer.text()))
}
