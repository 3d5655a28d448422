//! The answer to a batch in each of its formats: the parts for single answers, and for a change set that failed.

use tollgate_net::http1::server::reason;
use tollgate_wire::batch::{json, multipart};

use crate::http::answer::Answer;

/// Writes the answers to the requests of a batch.
#[derive(Debug)]
pub(super) enum Output<'b> {
    /// Multipart for multipart: the same structure as the batch (Protocol 11.7.7.6).
    Mirrored(multipart::ResponseWriter<'b>),
    /// Multipart for JSON: one part after the other. The number is the position where the group began.
    Flat(multipart::ResponseWriter<'b>, usize),
    /// JSON.
    Json(json::ResponseWriter, Naming),
}

/// Names for change sets: those of a multipart batch have none, but those of a JSON answer need one (JSON Format 19.5).
/// Requests outside of change sets need none, but clients look for one all the same.
#[derive(Debug, Default)]
pub(super) struct Naming {
    begun: usize,
    told: usize,
    told_before_group: usize,
    name: Option<String>,
}

/// Form in which a failed change set is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// By one answer, to the request that failed.
    Once,
    /// By an answer to each of its requests.
    ToEach,
}

impl<'b> Output<'b> {
    /// Multipart with this boundary, to a multipart batch.
    pub(super) fn mirrored(boundary: &'b str) -> Output<'b> {
        Output::Mirrored(multipart::ResponseWriter::new(boundary))
    }

    /// Multipart with this boundary, to a JSON batch.
    pub(super) fn flat(boundary: &'b str) -> Output<'b> {
        Output::Flat(multipart::ResponseWriter::new(boundary), 0)
    }

    /// JSON, to either.
    pub(super) fn json(out: &mut Vec<u8>) -> Output<'b> {
        Output::Json(json::ResponseWriter::new(out), Naming::default())
    }

    /// Begins a change set.
    pub(super) fn begin_group(&mut self, out: &mut Vec<u8>) {
        match self {
            Output::Mirrored(writer) => writer.begin_change_set(out),
            Output::Flat(_, group_start) => *group_start = out.len(),
            Output::Json(writer, naming) => {
                writer.begin_group(out);
                naming.begun += 1;
                naming.told_before_group = naming.told;
                naming.name = Some(format!("changeset_{}", naming.begun));
            }
        }
    }

    /// Writes the answer to a request; `group` is the batch's name for its change set.
    pub(super) fn response(&mut self, out: &mut Vec<u8>, id: Option<&str>, group: Option<&str>, answer: &Answer) {
        match self {
            Output::Mirrored(writer) | Output::Flat(writer, _) => {
                writer.response(out, id, (answer.status, reason(answer.status)), answer.headers(), &answer.body);
            }
            Output::Json(writer, naming) => {
                naming.told += 1;
                let ordinal = id.is_none().then(|| format!("request_{}", naming.told));
                let group = group.or(naming.name.as_deref());
                writer.response(out, id.or(ordinal.as_deref()), group, answer.status, answer.headers(), &answer.body);
            }
        }
    }

    /// Ends a change set.
    pub(super) fn end_group(&mut self, out: &mut Vec<u8>) {
        match self {
            Output::Mirrored(writer) => writer.end_change_set(out),
            Output::Flat(..) => {}
            Output::Json(_, naming) => naming.name = None,
        }
    }

    /// Removes the output of the change set, which failed. The report of the failure follows; the end of the change set
    /// follows only if each of its requests is answered.
    pub(super) fn abandon_group(&mut self, out: &mut Vec<u8>) -> Telling {
        match self {
            Output::Mirrored(writer) => {
                writer.abandon_change_set(out);
                Telling::Once
            }
            Output::Flat(_, group_start) => {
                out.truncate(*group_start);
                Telling::ToEach
            }
            Output::Json(writer, naming) => {
                writer.abandon_group(out);
                naming.told = naming.told_before_group;
                Telling::ToEach
            }
        }
    }

    /// Completes the answer.
    pub(super) fn finish(self, out: &mut Vec<u8>) {
        match self {
            Output::Mirrored(writer) | Output::Flat(writer, _) => writer.finish(out),
            Output::Json(writer, _) => writer.finish(out),
        }
    }
}
