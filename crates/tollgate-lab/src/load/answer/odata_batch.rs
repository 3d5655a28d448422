//! OData batches as a load client sends them: one request repeated in a body, with a row of the feed for each copy if
//! there is a feed. Every answer in the answer is counted.
//!
//! Frames come from `tollgate-wire`. It does not insert and verify records; see [`crate::load::insert`].

use std::collections::BTreeMap;
use std::fmt::Display;

use tollgate_wire::batch::{Outgoing, Response, json, multipart};

use super::failure::Failure;
use crate::load::script::{Parted, filled};
use crate::traffic::feed::Feed;
use crate::traffic::feed::template::Escape;
use crate::traffic::statuses::Statuses;

/// Boundary between the parts; long, and in no payload by chance.
const BOUNDARY: &str = "batch_tollgate_5f1c2b7e9d";
/// Boundary between the requests of a change set.
const CHANGE_SET_BOUNDARY: &str = "batch_tollgate_5f1c2b7e9d_set";

/// Requests in one batch, at most.
pub const REQUESTS_MAX: usize = 10_000;

/// Format of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchForm {
    /// As `multipart/mixed`, each request by itself.
    #[default]
    Multipart,
    /// As `multipart/mixed`, all requests in one change set: how OData V2 writes.
    ChangeSet,
    /// As JSON (OData V4.01).
    Json,
}

impl BatchForm {
    /// The `Content-Type` of the batch.
    pub fn content_type(self) -> String {
        match self {
            BatchForm::Multipart | BatchForm::ChangeSet => format!("{};boundary={BOUNDARY}", multipart::MEDIA_TYPE),
            BatchForm::Json => "application/json".to_owned(),
        }
    }
}

/// Writes a batch of `requests` copies of `part`; with a feed, its target and body may have places for the feed's
/// values.
///
/// # Errors
/// An unknown place or column in the part.
pub fn write(form: BatchForm, requests: usize, part: &Outgoing<'_>, feed: Option<&Feed>) -> Result<Parted, String> {
    let parts = match feed {
        None => vec![one(form, part)],
        Some(feed) => {
            let escape = Escape::of_fields(part.headers.iter().copied());
            let body = std::str::from_utf8(part.body).map_err(|_| "the body: with a feed it must be text in UTF-8")?;
            let rows = 0..feed.table.rows();
            let row = |row: usize| {
                let target = filled(part.target, feed, row, Escape::Url, "the URL")?;
                let body = filled(body, feed, row, escape, "the body")?;
                Ok(one(form, &Outgoing { target: &String::from_utf8_lossy(&target), body: &body, ..*part }))
            };
            rows.map(row).collect::<Result<Vec<_>, String>>()?
        }
    };
    let (begin, behind) = match form {
        BatchForm::Multipart => (String::new(), format!("--{BOUNDARY}--\r\n")),
        BatchForm::ChangeSet => (
            format!("--{BOUNDARY}\r\nContent-Type: {};boundary={CHANGE_SET_BOUNDARY}\r\n\r\n", multipart::MEDIA_TYPE),
            format!("--{CHANGE_SET_BOUNDARY}--\r\n--{BOUNDARY}--\r\n"),
        ),
        BatchForm::Json => ("{\"requests\":[".to_owned(), "]}".to_owned()),
    };
    let before = |place: usize| {
        let begin = if place == 0 { begin.as_str() } else { "" };
        match form {
            BatchForm::Multipart => format!("{begin}--{BOUNDARY}\r\n"),
            BatchForm::ChangeSet => format!("{begin}--{CHANGE_SET_BOUNDARY}\r\nContent-ID: {}\r\n", place + 1),
            BatchForm::Json => format!("{begin}{}{{\"id\":\"{place}\"", if place == 0 { "" } else { "," }),
        }
        .into_bytes()
    };
    Ok(Parted { before: (0..requests).map(before).collect(), parts, behind: behind.into_bytes() })
}

/// Writes one request after its boundary or its id.
fn one(form: BatchForm, request: &Outgoing<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let front = match form {
        BatchForm::Multipart | BatchForm::ChangeSet => {
            multipart::RequestWriter::new(&mut out, BOUNDARY).request(request);
            format!("--{BOUNDARY}\r\n")
        }
        BatchForm::Json => {
            json::RequestWriter::new(&mut out).request(&Outgoing { id: Some(""), ..*request });
            "{\"requests\":[{\"id\":\"\"".to_owned()
        }
    };
    debug_assert!(out.starts_with(front.as_bytes()), "the wire writes its frame first");
    out.split_off(front.len())
}

/// Counts the answers in the answer to a batch by their status.
///
/// # Errors
/// The first unwanted status, or fewer or more answers than requests.
pub(crate) fn judge(
    form: BatchForm,
    body: &[u8],
    requests: usize,
    statuses: &Statuses,
    counts: &mut BTreeMap<u16, u64>,
) -> Result<(), Failure> {
    let mut first = None;
    let answered = each_answer(form == BatchForm::Json, body, |place, answer| {
        *counts.entry(answer.status).or_default() += 1;
        if !statuses.contains(answer.status) {
            first.get_or_insert_with(|| {
                let Failure { class, text } = Failure::refusal(answer.status, answer.body);
                Failure { class, text: format!("part {} of {requests}: {text}", place + 1) }
            });
        }
    })?;
    complete(first, answered, requests)
}

/// Passes each answer in a batch to `each` with its position, and returns their number.
///
/// # Errors
/// A batch that cannot be read.
pub(in crate::load) fn each_answer<'b>(
    is_json: bool,
    body: &'b [u8],
    each: impl FnMut(usize, &Response<'b>),
) -> Result<usize, Failure> {
    if is_json {
        return read_all(json::responses(body), each);
    }
    // Its first line that begins with two hyphens has the boundary.
    let line = body.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"--"));
    let boundary = line.and_then(|line| std::str::from_utf8(line).ok()).map(str::trim_end);
    let boundary = boundary.filter(|boundary| !boundary.is_empty());
    let boundary = boundary.ok_or_else(|| Failure::content("the answer to a batch has no boundary"))?;
    read_all(multipart::responses(body, boundary), each)
}

fn read_all<'b, E: Display>(
    answers: impl Iterator<Item = Result<Response<'b>, E>>,
    mut each: impl FnMut(usize, &Response<'b>),
) -> Result<usize, Failure> {
    let mut answered = 0;
    for answer in answers {
        let broken = |error: E| Failure::content(format!("the answer to a batch cannot be read: {error}"));
        each(answered, &answer.map_err(broken)?);
        answered += 1;
    }
    Ok(answered)
}

/// Returns the first failure of a batch, or an error if answers are missing or extra.
pub(in crate::load) fn complete(first: Option<Failure>, answered: usize, requests: usize) -> Result<(), Failure> {
    match first {
        Some(failure) => Err(failure),
        None if answered != requests => {
            Err(Failure::content(format!("{answered} answers to a batch of {requests} requests")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tollgate_wire::batch::{Requests, Step};

    use super::*;
    use crate::traffic::feed::csv::Table;
    use crate::traffic::feed::{FeedEnd, Order};

    const FORMS: [BatchForm; 3] = [BatchForm::Multipart, BatchForm::ChangeSet, BatchForm::Json];

    #[test]
    fn what_is_written_is_read_as_so_many_requests() {
        let table = Arc::new(Table::parse(b"id,name\n1,\"a\"\"b\"\n2,long name\n").unwrap());
        let feed = Feed { table, order: Order::InOrder, end: FeedEnd::Again, seed: 0 };
        let headers = [("Content-Type", "application/json")];
        let (target, body) = ("Set({{id}})", b"{\"n\":\"{{name}}\"}");
        let part = Outgoing { method: "POST", target, headers: &headers, body, ..Outgoing::default() };
        for form in FORMS {
            let parted = write(form, 3, &part, Some(&feed)).unwrap();
            let mut body = Vec::new();
            for (place, before) in parted.before.iter().enumerate() {
                body.extend_from_slice(before);
                body.extend_from_slice(&parted.parts[place % 2]);
            }
            body.extend_from_slice(&parted.behind);
            let mut requests = match form {
                BatchForm::Json => Requests::json(&body, 10),
                _ => Requests::multipart(&body, BOUNDARY, 10),
            };
            let mut found = Vec::new();
            loop {
                match requests.next().unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body))) {
                    Step::Request => {
                        let request = requests.request();
                        found.push((request.target.to_string(), String::from_utf8_lossy(&request.body).into_owned()));
                    }
                    Step::End => break,
                    Step::GroupBegin | Step::GroupEnd => assert_eq!(form, BatchForm::ChangeSet),
                }
            }
            let expected = [("Set(1)", "{\"n\":\"a\\\"b\"}"), ("Set(2)", "{\"n\":\"long name\"}")];
            let expected =
                [expected[0], expected[1], expected[0]].map(|(target, body)| (target.to_owned(), body.to_owned()));
            assert_eq!(found, expected, "{form:?}");
        }
    }

    #[test]
    fn every_part_of_an_answer_is_counted() {
        let part = |id: u32, status: u16| format!("{{\"id\":\"{id}\",\"status\":{status},\"body\":{{}}}}");
        let check = |parts: &[String], requests: usize, expected: Result<(), &str>, counted: &[(u16, u64)]| {
            let (body, mut counts) = (format!("{{\"responses\":[{}]}}", parts.join(",")), BTreeMap::new());
            let judged = judge(BatchForm::Json, body.as_bytes(), requests, &Statuses::default(), &mut counts);
            assert_eq!(judged.map_err(|failure| failure.text), expected.map_err(str::to_owned), "{body}");
            assert_eq!(counts.into_iter().collect::<Vec<_>>(), counted, "{body}");
        };
        check(&[part(0, 200), part(1, 204)], 2, Ok(()), &[(200, 1), (204, 1)]);
        let two_fail = [part(0, 201), part(1, 409), part(2, 503), part(3, 201)];
        check(&two_fail, 4, Err("part 2 of 4: 409 Conflict"), &[(201, 2), (409, 1), (503, 1)]);
        check(&[part(0, 200)], 2, Err("1 answers to a batch of 2 requests"), &[(200, 1)]);
        let mut counts = BTreeMap::new();
        let broken = judge(BatchForm::Multipart, b"no", 1, &Statuses::default(), &mut counts).unwrap_err();
        assert_eq!(broken.text, "the answer to a batch has no boundary");
    }
}
