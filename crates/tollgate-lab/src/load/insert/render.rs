//! The requests of one transfer, rendered before time counts into one buffer: the records in the form of each mode.

use std::ops::Range;

use tollgate_wire::batch::{Outgoing, json, multipart};

use tollgate_wire::edm::Version;

use super::{Beside, Transfer};
use crate::load::target::LoadTarget;
use crate::traffic::mode::{BatchForm, Mode};
use crate::traffic::places::InsertPlaces;

/// Boundary between the parts of a multipart batch; no record contains it, since records have no adjacent hyphens.
const BOUNDARY: &str = "batch--of--records";
/// The field that allows any state of an entity (RFC 9110, section 13.1.1).
pub(crate) const ANY_STATE: (&str, &str) = ("If-Match", "*");
/// Name of the only atomic group of a change set.
const GROUP: &str = "g";

/// Requests in sequence.
#[derive(Debug, Clone, Default)]
pub(in crate::load) struct Rendered {
    text: Vec<u8>,
    requests: Vec<Rendering>,
    body: Vec<u8>,
}

/// One request.
#[derive(Debug, Clone)]
struct Rendering {
    text: Range<usize>,
    records: Range<usize>,
}

impl Rendered {
    /// Renders a transfer; replaces the previous one and reuses its memory.
    pub(super) fn render(&mut self, target: &LoadTarget, transfer: &Transfer) {
        let Rendered { text, requests, body } = self;
        text.clear();
        requests.clear();
        let head =
            head(target, target.target.path_and_query(), content_type(transfer.mode, transfer.records.version()));
        let count = transfer.count;
        let step = usize::try_from(transfer.mode.records_per_request(count as u64)).unwrap_or(usize::MAX).max(1);
        for first in (0..count).step_by(step) {
            let records = first..count.min(first.saturating_add(step));
            body.clear();
            write_body(transfer, records.clone(), body);
            let start = text.len();
            text.extend_from_slice(&head);
            text.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            text.extend_from_slice(body);
            requests.push(Rendering { text: start..text.len(), records });
        }
    }

    /// Number of requests.
    pub(super) fn count(&self) -> usize {
        self.requests.len()
    }

    /// A request.
    pub(super) fn request(&self, index: usize) -> &[u8] {
        &self.text[self.requests[index].text.clone()]
    }

    /// Serial numbers of its records.
    pub(super) fn records(&self, index: usize) -> Range<usize> {
        self.requests[index].records.clone()
    }
}

/// Whether a batch and its answer are JSON. OData V2 has no JSON batch: its change sets are parts of a multipart batch.
pub(super) fn is_json(form: BatchForm, version: Version) -> bool {
    match form {
        BatchForm::Json => true,
        BatchForm::Changeset => version == Version::V4,
        BatchForm::Multipart => false,
    }
}

/// Renders a multipart batch that deletes the entities with these keys, all or none, with `If-Match: *` if that is
/// required.
pub(super) fn deleting(target: &LoadTarget, places: &InsertPlaces, keys: &[&str], wants_match: bool) -> Vec<u8> {
    let headers: &[(&str, &str)] = if wants_match { &[ANY_STATE] } else { &[] };
    let mut body = Vec::new();
    let mut writer = multipart::RequestWriter::new(&mut body, BOUNDARY);
    writer.begin_change_set();
    for (id, key) in keys.iter().enumerate() {
        let (id, target) = (id.to_string(), format!("{}{key}", places.entity_set));
        writer.request(&Outgoing { id: Some(&id), method: "DELETE", target: &target, headers, ..Outgoing::default() });
    }
    writer.end_change_set();
    writer.finish();
    let mut request = head(target, &places.batch_path(), multipart_type());
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(&body);
    request
}

fn content_type(mode: Mode, version: Version) -> String {
    match mode {
        Mode::Batch { form, .. } if !is_json(form, version) => multipart_type(),
        Mode::Single { .. } | Mode::Batch { .. } | Mode::CustomRest => "application/json".to_owned(),
    }
}

fn multipart_type() -> String {
    format!("{};boundary={BOUNDARY}", multipart::MEDIA_TYPE)
}

/// Renders a request's head without its length, which differs.
fn head(target: &LoadTarget, path: &str, content_type: String) -> Vec<u8> {
    let mut head = Vec::new();
    target.render(path, &mut head);
    // The template has an empty body: its length and the empty line go.
    let marker = b"Content-Length: 0\r\n\r\n";
    debug_assert!(head.ends_with(marker), "an insert's request is rendered without a body");
    head.truncate(head.len().saturating_sub(marker.len()));
    head.extend_from_slice(format!("Content-Type: {content_type}\r\n").as_bytes());
    head
}

fn write_body(transfer: &Transfer, range: Range<usize>, out: &mut Vec<u8>) {
    let Transfer { mode, records, beside: Beside { places, .. }, .. } = transfer;
    let group = matches!(mode, Mode::Batch { form: BatchForm::Changeset, .. }).then_some(GROUP);
    let each = range.clone().map(|serial| (serial.to_string(), records.json(serial)));
    match mode {
        Mode::Single { .. } => out.extend_from_slice(records.json(range.start)),
        Mode::CustomRest => {
            let all: Vec<&[u8]> = range.map(|serial| records.json(serial)).collect();
            let begin = format!("{{\"insEntity\":\"{}\",\"insArray\":[", places.entity_set);
            [begin.as_bytes(), &all.join(&b','), b"]}"].iter().for_each(|part| out.extend_from_slice(part));
        }
        Mode::Batch { form, .. } if !is_json(*form, records.version()) => {
            let mut writer = multipart::RequestWriter::new(out, BOUNDARY);
            // In V2 whatever changes something is in a change set, and if it is the only one there.
            let is_each_alone = group.is_none() && records.version() == Version::V2;
            if group.is_some() {
                writer.begin_change_set();
            }
            each.for_each(|(id, body)| {
                if is_each_alone {
                    writer.begin_change_set();
                }
                writer.request(&outgoing(places, &id, body, None));
                if is_each_alone {
                    writer.end_change_set();
                }
            });
            if group.is_some() {
                writer.end_change_set();
            }
            writer.finish();
        }
        Mode::Batch { .. } => {
            let mut writer = json::RequestWriter::new(out);
            each.for_each(|(id, body)| writer.request(&outgoing(places, &id, body, group)));
            writer.finish();
        }
    }
}

/// Returns the request for one record; its id is its serial number.
fn outgoing<'a>(places: &'a InsertPlaces, id: &'a str, body: &'a [u8], group: Option<&'a str>) -> Outgoing<'a> {
    let headers = &[("content-type", "application/json")];
    Outgoing { id: Some(id), method: "POST", target: &places.entity_set, headers, body, group, depends_on: &[] }
}
