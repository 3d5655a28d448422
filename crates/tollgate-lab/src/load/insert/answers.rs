//! Answers to the requests of a transfer: the records that each acknowledges, and the first failure among the others.

use std::ops::Range;

use crate::load::answer::failure::{ErrorClass, Failure};
use crate::load::answer::odata_batch::{complete, each_answer};
use crate::load::insert::render::is_json;
use crate::traffic::mode::{BatchForm, Mode};
use tollgate_wire::edm::Version;

/// State of a record after a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Standing {
    /// Not sent, or refused: it must not be in the table.
    #[default]
    Absent,
    /// No complete answer: it may be in the table.
    Uncertain,
    /// Acknowledged: it must be in the table.
    Acknowledged,
}

/// Reads a complete answer with a 2xx status. A record that it does not mention may be in the table or not.
///
/// # Errors
/// The first failure of a part, or an answer that lacks parts; acknowledged records are marked all the same.
pub(super) fn acknowledge(
    (mode, version): (Mode, Version),
    body: &[u8],
    records: Range<usize>,
    standing: &mut [Standing],
) -> Result<(), Failure> {
    let sent = records.len();
    if let Mode::Batch { form, .. } = mode {
        standing[records.clone()].fill(Standing::Uncertain);
        let answered = parts(is_json(form, version), body, records.clone(), standing);
        let is_refused = answered.as_ref().is_err_and(|failure| matches!(failure.class, ErrorClass::Status(_)));
        let standing = &mut standing[records];
        if form == BatchForm::Changeset && is_refused && !standing.contains(&Standing::Acknowledged) {
            // A change set is refused as a whole, and one answer may say so for all of it.
            standing.fill(Standing::Absent);
        }
        return answered;
    }
    let stated = if mode == Mode::CustomRest { stated_count(body) } else { None };
    if let Some(count) = stated.filter(|count| *count != sent as u64) {
        standing[records].fill(Standing::Uncertain);
        return Err(Failure::content(format!("{count} records are said to be inserted, where {sent} were sent")));
    }
    standing[records].fill(Standing::Acknowledged);
    Ok(())
}

/// Returns the number of records stated in the answer to an array: a bare number as in CAP's REST, an OData `value`, or
/// `inserted`.
fn stated_count(body: &[u8]) -> Option<u64> {
    let answer: serde_json::Value = serde_json::from_slice(body).ok()?;
    ["inserted", "value"].iter().find_map(|name| answer.get(name)).unwrap_or(&answer).as_u64()
}

fn parts(is_json: bool, body: &[u8], records: Range<usize>, standing: &mut [Standing]) -> Result<(), Failure> {
    let mut first: Option<Failure> = None;
    let answered = each_answer(is_json, body, |position, answer| {
        let serial = match answer.id.as_deref() {
            Some(id) => id.parse().ok(),
            None => Some(records.start + position),
        };
        match (serial.filter(|serial| records.contains(serial)), answer.status) {
            (Some(serial), 200..=299) => standing[serial] = Standing::Acknowledged,
            (serial, status @ 300..) => {
                if let Some(serial) = serial {
                    standing[serial] = Standing::Absent;
                }
                first.get_or_insert_with(|| Failure::refusal(status, answer.body));
            }
            (None, _) => {
                first.get_or_insert_with(|| Failure::content("an answer of a batch belongs to no request"));
            }
            (Some(_), status) => {
                first.get_or_insert_with(|| Failure::content(format!("an answer of a batch has status {status}")));
            }
        }
    })?;
    complete(first, answered, records.len())
}

#[cfg(test)]
mod tests {
    use tollgate_wire::batch::multipart;

    use super::*;

    fn check(mode: &str, body: &str, expected: Result<(), &str>, acknowledged: &[usize]) {
        let mut standing = [Standing::Absent; 6];
        let outcome = acknowledge((mode.parse().unwrap(), Version::V4), body.as_bytes(), 2..5, &mut standing);
        assert_eq!(outcome.map_err(|failure| failure.text), expected.map_err(str::to_owned), "{body}");
        let found: Vec<usize> = (0..6).filter(|serial| standing[*serial] == Standing::Acknowledged).collect();
        assert_eq!(found, acknowledged, "{body}");
    }

    #[test]
    fn an_array_is_acknowledged_as_a_whole_and_a_batch_part_by_part() {
        check("custom-rest", "", Ok(()), &[2, 3, 4]);
        check("custom-rest", "3", Ok(()), &[2, 3, 4]);
        let part = |id: u32, status: u16| format!("{{\"id\":\"{id}\",\"status\":{status},\"body\":{{}}}}");
        let batch = |parts: &[String]| format!("{{\"responses\":[{}]}}", parts.join(","));
        check("batch-3", &batch(&[part(2, 201), part(4, 201), part(3, 204)]), Ok(()), &[2, 3, 4]);
        check("batch-3", &batch(&[part(2, 201), part(3, 503), part(4, 201)]), Err("503 Service Unavailable"), &[2, 4]);
        check("batch-3", &batch(&[part(2, 201)]), Err("1 answers to a batch of 3 requests"), &[2]);
        check(
            "batch-3",
            &batch(&[part(2, 201), part(3, 201), part(9, 201)]),
            Err("an answer of a batch belongs to no request"),
            &[2, 3],
        );
        let refused = "{\"responses\":[{\"id\":\"2\",\"status\":400,\"body\":{\"error\":{\"code\":\"x\",\"message\":\"too long\"}}}]}";
        check("changeset-3", refused, Err("400 Bad Request: too long"), &[]);
    }

    #[test]
    fn a_record_of_which_an_answer_says_nothing_is_uncertain() {
        use Standing::{Absent, Acknowledged, Uncertain};
        let check = |mode: &str, body: &str, expected: [Standing; 3]| {
            let mut standing = [Absent; 3];
            acknowledge((mode.parse().unwrap(), Version::V4), body.as_bytes(), 0..3, &mut standing).unwrap_err();
            assert_eq!(standing, expected, "{mode} {body}");
        };
        let part = |id: u32, status: u16| format!("{{\"id\":\"{id}\",\"status\":{status}}}");
        let batch = |parts: &[String]| format!("{{\"responses\":[{}]}}", parts.join(","));
        check("batch-3", &batch(&[part(0, 201), part(1, 400)]), [Acknowledged, Absent, Uncertain]);
        check("batch-3", "{\"responses\":[", [Uncertain; 3]);
        check("multipart-3", "nothing", [Uncertain; 3]);
        check("changeset-3", &batch(&[part(0, 400)]), [Absent; 3]);
        check("custom-rest", "2", [Uncertain; 3]);
        check("custom-rest", "{\"value\":4}", [Uncertain; 3]);
        check("custom-rest", "{\"inserted\":2}", [Uncertain; 3]);
    }

    #[test]
    fn answers_without_an_id_are_those_of_the_requests_in_their_order() {
        let mut body = Vec::new();
        let mut writer = multipart::ResponseWriter::new("b");
        for status in [201, 201, 409] {
            writer.response(&mut body, None, (status, "x"), [], b"");
        }
        writer.finish(&mut body);
        check("multipart-3", std::str::from_utf8(&body).unwrap(), Err("409 Conflict"), &[2, 3]);
    }
}
