//! Writing from outside, in both versions and all formats: the change and the answer of each request.

mod conditions;
mod csrf;
mod deep;
mod refused;
mod v2;
mod v4;

use super::client::{Answer, Connection, Running, V4};

/// The records by V4 and by V2.
const RECORDS_V4: &str = "/odata/v4/refsvc/TestRecords";
const RECORDS_V2: &str = "/sap/opu/odata/refsvc/TestRecords";

const JSON: (&str, &str) = ("Content-Type", "application/json");
const ATOM: (&str, &str) = ("Content-Type", "application/atom+xml");
const AS_JSON: (&str, &str) = ("Accept", "application/json");

/// A gateway of its own, and one client of it.
struct Writer {
    client: Connection,
    // Ends behind the connection.
    _gateway: Running,
}

impl Writer {
    fn start() -> Writer {
        Writer::start_with("")
    }

    fn start_with(config: &str) -> Writer {
        let gateway = Running::start(config);
        Writer { client: gateway.connect(), _gateway: gateway }
    }

    fn get(&mut self, target: &str) -> Answer {
        self.client.ask("GET", target, &[AS_JSON])
    }

    /// Sends JSON, and asks for JSON.
    fn send(&mut self, method: &str, target: &str, body: &str) -> Answer {
        self.send_with(method, target, &[], body)
    }

    fn send_with(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut headers = headers.to_vec();
        if !headers.iter().any(|header| header.0 == JSON.0) {
            headers.push(JSON);
        }
        if !headers.iter().any(|header| header.0 == AS_JSON.0) {
            headers.push(AS_JSON);
        }
        self.client.ask_with(method, target, &headers, body)
    }

    /// Number of entities in a set.
    fn count(&mut self, set: &str) -> String {
        self.client.ask("GET", &format!("{V4}{set}/$count"), &[]).text()
    }
}

/// The path of the URL in `Location`.
fn location(answer: &Answer) -> String {
    let url = answer.header("location").unwrap_or_else(|| panic!("a location in {answer:?}"));
    let behind_scheme = url.strip_prefix("http://").unwrap();
    behind_scheme[behind_scheme.find('/').unwrap()..].to_owned()
}
