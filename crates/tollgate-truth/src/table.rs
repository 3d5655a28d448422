//! A table for inserting records, with stated faults: the acknowledged and the stored records may differ on purpose.
//!
//! `CLASS/odata/TestRecords` takes a record, `CLASS/odata/$batch` many of them as JSON or multipart,
//! `CLASS/rest/insertAll` an array; `CLASS/rest/deleteAll` empties the table. `CLASS/odata/TestRecords/$count` and
//! `CLASS/odata/TestRecords` return the stored records, the latter in pages. It deliberately does not check a record.

use tollgate_wire::batch::{Requests, Step, json, multipart};

use crate::behaviour::{Behaviour, is_hit};

/// Rows of one page.
const PAGE_ROWS: usize = 1000;
/// Requests of one batch.
const BATCH_REQUESTS_MAX: usize = 100_000;
/// Between the parts of an answer.
const BOUNDARY: &str = "answers";

/// The records of one class, as JSON objects.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<String>,
    /// Records that were ever taken, by which faults are dealt out.
    taken: u64,
    /// Faults that were made: the truth for a settlement.
    faults: u64,
}

/// The answer to a request for a table.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

impl Table {
    /// Faults that were done by now.
    pub(crate) fn faults(&self) -> u64 {
        self.faults
    }

    /// Answers a request for `path` below the class; `None` where no table is asked for.
    pub(crate) fn answer(&mut self, behaviour: &Behaviour, path: &str, query: &str, body: &[u8]) -> Option<Answer> {
        Some(match path {
            "odata/TestRecords/$count" => plain(200, "text/plain", self.rows.len().to_string()),
            "odata/TestRecords" if body.is_empty() => self.page(query),
            "odata/TestRecords" => match self.insert(behaviour, &[body]) {
                Ok(()) => plain(201, "application/json", String::from_utf8_lossy(body).into_owned()),
                Err(full) => full,
            },
            "odata/$batch" => self.batch(behaviour, body),
            "rest/insertAll" => {
                let all: Result<serde_json::Value, _> = serde_json::from_slice(body);
                let records = all.ok().and_then(|all| Some(all.get("insArray")?.as_array()?.clone()));
                let Some(records) = records else {
                    return Some(plain(400, "text/plain", "expected {insEntity, insArray}".to_owned()));
                };
                let texts: Vec<String> = records.iter().map(ToString::to_string).collect();
                let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
                match self.insert(behaviour, &texts) {
                    Ok(()) => plain(200, "application/json", "{}".to_owned()),
                    Err(full) => full,
                }
            }
            "rest/deleteAll" => {
                self.rows.clear();
                plain(200, "application/json", "{}".to_owned())
            }
            _ => return None,
        })
    }

    /// Takes records that belong together, and does the stated faults to them.
    fn insert(&mut self, behaviour: &Behaviour, records: &[&[u8]]) -> Result<(), Answer> {
        if behaviour.rows_max > 0 && (self.rows.len() + records.len()) as u64 > behaviour.rows_max {
            let body = "{\"error\":{\"code\":\"full\",\"message\":\"no work process became free\"}}";
            return Err(plain(503, "application/json", body.to_owned()));
        }
        for record in records {
            let position = self.taken;
            self.taken += 1;
            let mut row = String::from_utf8_lossy(record).into_owned();
            if is_hit(position, behaviour.altered_per_mille) {
                self.faults += 1;
                row = row.replacen("\"stringField\":\"", "\"stringField\":\"not ", 1);
            }
            if is_hit(position, behaviour.lost_per_mille) {
                self.faults += 1;
                continue;
            }
            if is_hit(position, behaviour.doubled_per_mille) {
                self.faults += 1;
                self.rows.push(row.clone());
            }
            self.rows.push(row);
        }
        Ok(())
    }

    fn page(&self, query: &str) -> Answer {
        let skip: usize = query.strip_prefix("$skiptoken=").and_then(|skip| skip.parse().ok()).unwrap_or(0);
        let rest = &self.rows[skip.min(self.rows.len())..];
        let (rows, next) = match rest.get(..PAGE_ROWS) {
            Some(page) if rest.len() > PAGE_ROWS => {
                (page, format!(",\"@odata.nextLink\":\"TestRecords?$skiptoken={}\"", skip + PAGE_ROWS))
            }
            _ => (rest, String::new()),
        };
        plain(200, "application/json", format!("{{\"value\":[{}]{next}}}", rows.join(",")))
    }

    fn batch(&mut self, behaviour: &Behaviour, body: &[u8]) -> Answer {
        let boundary = body.strip_prefix(b"--").and_then(|rest| rest.split(|byte| *byte == b'\r').next());
        let boundary = boundary.and_then(|boundary| std::str::from_utf8(boundary).ok());
        let mut requests = match boundary {
            Some(boundary) => Requests::multipart(body, boundary, BATCH_REQUESTS_MAX),
            None => Requests::json(body, BATCH_REQUESTS_MAX),
        };
        // Each answer: the id of its request, its status, and its body.
        let mut answers: Vec<(Option<String>, u16, String)> = Vec::new();
        let mut group: Option<Vec<(Option<String>, Vec<u8>)>> = None;
        loop {
            match requests.next() {
                Ok(Step::GroupBegin) => group = Some(Vec::new()),
                Ok(Step::Request) => {
                    let request = requests.request();
                    let id = request.id.as_deref().map(str::to_owned);
                    match &mut group {
                        Some(group) => group.push((id, request.body.to_vec())),
                        None => {
                            let (status, body) = match self.insert(behaviour, &[&request.body]) {
                                Ok(()) => (201, "{}".to_owned()),
                                Err(full) => (full.status, full.body),
                            };
                            answers.push((id, status, body));
                        }
                    }
                }
                Ok(Step::GroupEnd) => {
                    let members = group.take().unwrap_or_default();
                    let records: Vec<&[u8]> = members.iter().map(|(_, body)| &body[..]).collect();
                    match self.insert(behaviour, &records) {
                        Ok(()) => answers.extend(members.into_iter().map(|(id, _)| (id, 201, "{}".to_owned()))),
                        Err(full) => answers.push((members.into_iter().find_map(|(id, _)| id), full.status, full.body)),
                    }
                }
                Ok(Step::End) => break,
                Err(error) => return plain(400, "text/plain", error.to_string()),
            }
        }
        written(&answers, boundary.is_some())
    }
}

fn written(answers: &[(Option<String>, u16, String)], is_multipart: bool) -> Answer {
    let headers = [("content-type", &b"application/json"[..])];
    let mut body = Vec::new();
    if is_multipart {
        let mut writer = multipart::ResponseWriter::new(BOUNDARY);
        for (id, status, text) in answers {
            writer.response(&mut body, id.as_deref(), (*status, "as scripted"), headers, text.as_bytes());
        }
        writer.finish(&mut body);
    } else {
        let mut writer = json::ResponseWriter::new(&mut body);
        for (id, status, text) in answers {
            writer.response(&mut body, id.as_deref(), None, *status, headers.into_iter(), text.as_bytes());
        }
        writer.finish(&mut body);
    }
    let content_type = if is_multipart { "multipart/mixed;boundary=answers" } else { "application/json" };
    plain(200, content_type, String::from_utf8_lossy(&body).into_owned())
}

fn plain(status: u16, content_type: &'static str, body: String) -> Answer {
    Answer { status, content_type, body }
}
