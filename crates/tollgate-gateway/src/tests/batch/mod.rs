//! `$batch` from outside, in all its forms: stored records, the answer to each request, and batches refused as a whole.

mod at_once;
mod json;
mod limits;
mod multipart;
mod references;
mod ui5;

use crate::tests::client::{Answer, Running};

const V4: &str = "/odata/v4/refsvc/";
const V2: &str = "/sap/opu/odata/refsvc/";
const JSON: (&str, &str) = ("Content-Type", "application/json");
const MULTIPART: (&str, &str) = ("Content-Type", "multipart/mixed; boundary=b");

impl Running {
    /// Sends a batch to the service below `root`.
    fn batch(&self, root: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.connect().ask_with("POST", &format!("{root}$batch"), headers, body)
    }

    /// Number of records.
    fn records(&self) -> u64 {
        self.get(&format!("{V4}TestRecords/$count")).text().parse().unwrap()
    }
}

/// The key of a record, by a number.
fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// A request of a JSON batch that creates a record with this key; `more` is added to its members.
fn create(name: &str, number: usize, more: &str) -> String {
    format!(
        r#"{{"id":"{name}","method":"POST","url":"TestRecords"{more},"headers":{{"content-type":"application/json"}},"body":{{"ID":"{}","integerField":{number}}}}}"#,
        id(number)
    )
}

fn requests(requests: &[String]) -> String {
    format!(r#"{{"requests":[{}]}}"#, requests.join(","))
}

/// A part of a multipart batch behind a delimiter of `boundary`.
fn part(boundary: &str, head: &str, request: &str, body: &str) -> String {
    format!("--{boundary}\r\nContent-Type: application/http\r\n{head}\r\n{request}\r\n\r\n{body}\r\n")
}

/// A part that creates a record.
fn create_part(boundary: &str, content_id: &str, number: usize) -> String {
    let head = format!("Content-ID: {content_id}\r\n");
    let request = "POST TestRecords HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json";
    part(boundary, &head, request, &format!(r#"{{"ID":"{}"}}"#, id(number)))
}

/// A change set with the boundary `c` in a batch with the boundary `b`.
fn change_set(parts: &[String]) -> String {
    format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{}--c--\r\n", parts.concat())
}

/// The answers in the body of a batch's answer, each with the Content-ID of its part and its status; change sets are
/// set in brackets.
fn outline(answer: &Answer) -> String {
    let content_type = answer.header("content-type").unwrap();
    let text = answer.text();
    match content_type.split_once("boundary=") {
        Some((_, boundary)) => {
            assert!(
                text.starts_with(&format!("--{boundary}")) && text.ends_with(&format!("--{boundary}--\r\n")),
                "{text}"
            );
            outline_of_parts(&text, boundary)
        }
        None => {
            assert_eq!(content_type, "application/json");
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let responses = value["responses"].as_array().unwrap().iter();
            let told = responses.map(|response| {
                let group = response["atomicityGroup"].as_str().map(|group| format!("{group}:")).unwrap_or_default();
                format!("{group}{}={}", response["id"].as_str().unwrap_or("-"), response["status"])
            });
            told.collect::<Vec<_>>().join(" ")
        }
    }
}

fn outline_of_parts(text: &str, boundary: &str) -> String {
    let delimiter = format!("--{boundary}\r\n");
    let whole = text.split(&format!("--{boundary}--")).next().unwrap();
    let told = whole.split(&delimiter).skip(1).map(|part| {
        let (head, rest) = part.split_once("\r\n\r\n").unwrap();
        if let Some((_, nested)) = head.split_once("boundary=") {
            return format!("[{}]", outline_of_parts(rest, nested));
        }
        let id = head.lines().find_map(|line| line.strip_prefix("Content-ID: ")).unwrap_or("-");
        format!("{id}={}", rest.strip_prefix("HTTP/1.1 ").unwrap().split(' ').next().unwrap())
    });
    told.collect::<Vec<_>>().join(" ")
}
