//! Answers as a whole, for every protocol: one entity, property, raw value or number.
//!
//! It is gathered, not sent in parts: its ETag goes into the head, which is sent before the body.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::{Enumeration, Primitive, Version};
use tollgate_wire::plan::{Columns, Expand, Plan, Shape, SkipToken};
use tollgate_wire::query::skip_token;
use tollgate_wire::stencil::{Base, Stencil, Writer, raw};
use tollgate_wire::value::{Cell, Row};

use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::http::answer::Reply;
use crate::http::conditions::{self, Verdict};
use crate::http::headers::{Headers, values};
use crate::store::{Connection, Flow, RowSink, Store};
use crate::visit::Visit;
use crate::work::allowance::{Meter, Spent};
use crate::work::attempts::HELD_UP_MAX;
use crate::work::parts::{Output, Whole};
use crate::work::weight::ReadPlace;

/// A read of a single item; it owns all its data, so that it can leave the loop.
#[derive(Debug)]
pub(crate) struct Single {
    /// Plan of the read.
    pub(crate) plan: Plan,
    /// Stencil that writes it, unless it is a raw value or a number.
    pub(crate) stencil: Option<Arc<Stencil>>,
    /// The version whose literals raw values use.
    pub(crate) version: Version,
    /// The absolute URL of the service.
    pub(crate) root: String,
    /// Time of the request, as Atom writes it.
    pub(crate) updated: String,
}

/// Result of the read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The answer is written, or is not modified.
    Answered,
    /// The path exists, but there is nothing: no related entity, or a null.
    Nothing,
    /// The path does not exist.
    Missing,
}

/// Data collected by the sink.
#[derive(Debug, Default)]
struct Seen {
    body: Whole,
    etag: Vec<u8>,
    /// If given by the entity and not by the format.
    content_type: Option<String>,
    rows: u64,
    null: bool,
}

impl Single {
    /// Fills in the answer of `exchange`, whose other fields are already set.
    ///
    /// # Errors
    /// 412 if `If-Match` fails, 413 if the answer is larger than one may be, errors of the store, and 503 if no work process was available.
    pub(crate) async fn answer(
        self,
        visit: &Visit<'_>,
        service: &Arc<Hosted>,
        exchange: &mut Exchange<'_>,
    ) -> Result<Found, Failure> {
        let place = service.place_of_read(&self.plan, visit.common.page_size);
        let task = visit.task(exchange.request());
        let acquired = match place {
            ReadPlace::Loop | ReadPlace::Attempt(_) => service.pool.acquire(&task).await,
            ReadPlace::Away => service.pool.acquire_long(&task).await,
        };
        let mut work_process = acquired.map_err(Fault::from)?;
        let mut body = std::mem::take(&mut exchange.respond().body);
        let here = match place {
            ReadPlace::Loop => Some(self.read(service, &mut work_process, std::mem::take(&mut body))),
            ReadPlace::Attempt(form) => {
                let attempt = |connection: &mut Connection| self.read(service, connection, std::mem::take(&mut body));
                let read = work_process.briefly(HELD_UP_MAX, attempt);
                if read.is_none() {
                    service.rows.attempt_failed(form);
                    drop(work_process);
                    let task = visit.task(exchange.request());
                    work_process = service.pool.acquire_long(&task).await.map_err(Fault::from)?;
                }
                read
            }
            ReadPlace::Away => None,
        };
        let (seen, found) = match here {
            Some(read) => {
                drop(work_process);
                visit.memory.give_text(self.root);
                read?
            }
            None => {
                let hosted = Arc::clone(service);
                let job = move || self.read(&hosted, &mut work_process, body);
                let ended = tokio::task::spawn_blocking(job).await;
                ended.map_err(|panic| Fault::internal(format!("work away from the loop ended badly: {panic}")))??
            }
        };
        let (request, response) = exchange.split();
        Ok(answer_seen(seen, found, request, response)?)
    }

    /// Fills in the answer on the connection of the caller; its other fields are already set.
    ///
    /// # Errors
    /// As [`answer`](Single::answer).
    pub(crate) fn answer_on(
        &self,
        service: &Hosted,
        connection: &mut Connection,
        headers: &dyn Headers,
        reply: &mut impl Reply,
    ) -> Result<Found, Fault> {
        let body = std::mem::take(reply.body());
        let (seen, found) = self.read(service, connection, body)?;
        answer_seen(seen, found, headers, reply)
    }

    fn read(&self, service: &Hosted, connection: &mut Connection, body: Vec<u8>) -> Result<(Seen, bool), Fault> {
        let seen = Seen { body: Whole::of(body), ..Seen::default() };
        let model = &*service.model;
        let meter = service.answers.meter(Spent::default());
        match (self.plan.shape, &self.stencil) {
            (Shape::Count, _) => {
                let mut sink = CountSink { seen };
                let outcome = connection.read(model, &self.plan, None, &mut sink)?;
                Ok((sink.seen, outcome.found))
            }
            (Shape::RawValue(leaf), _) => {
                let entity_type = model.type_of(self.plan.set());
                let columns = Columns::new(entity_type, &self.plan.options.select, &[]);
                let column = columns.of(leaf).ok_or_else(|| Fault::internal("a raw value was not selected"))?;
                let declared = &entity_type.leaves[leaf.0];
                let enumeration = declared.enumeration.map(|id| &*model.enumerations[id.0]);
                let enumeration = enumeration.filter(|_| self.version == Version::V4);
                let (primitive, version) = (declared.primitive, self.version);
                let mut sink = RawSink { column, primitive, enumeration, version, meter, seen };
                let outcome = connection.read(model, &self.plan, None, &mut sink)?;
                sink.meter.end(&mut sink.seen.body)?;
                Ok((sink.seen, outcome.found))
            }
            (Shape::Stream, _) => {
                let entity_type = model.type_of(self.plan.set());
                let columns = Columns::new(entity_type, &self.plan.options.select, &[]);
                let media_type = entity_type.media_type.and_then(|leaf| columns.of(leaf));
                let mut sink = StreamSink { column: columns.leaves.len(), media_type, meter, seen };
                let outcome = connection.read(model, &self.plan, None, &mut sink)?;
                sink.meter.end(&mut sink.seen.body)?;
                Ok((sink.seen, outcome.found))
            }
            (shape, Some(stencil)) => {
                let null_columns = self.null_columns(service, shape);
                let writer = stencil.writer(Base::new(&self.root, &self.updated));
                let expand = &self.plan.options.expand[..];
                let mut sink = DocumentSink { writer, expand, null_columns, meter, seen };
                let outcome = connection.read(model, &self.plan, None, &mut sink)?;
                let mut seen = sink.seen;
                if seen.rows > 0 && !sink.meter.is_over() {
                    sink.writer.document_end(seen.body.buffer());
                }
                sink.meter.end(&mut seen.body)?;
                Ok((seen, outcome.found))
            }
            (_, None) => Err(Fault::internal("a document has no stencil")),
        }
    }

    /// The columns that are all null if the property is: V4 then answers nothing, V2 a document with null.
    fn null_columns(&self, service: &Hosted, shape: Shape) -> Vec<usize> {
        let entity_type = service.model.type_of(self.plan.set());
        let leaf_is_in = |leaf: usize| match shape {
            Shape::Leaf(asked) => asked.0 == leaf,
            // What is never null is told with its members, even if all of them are.
            Shape::Property(asked) => {
                entity_type.properties[asked].nullable && entity_type.leaves[leaf].property == asked
            }
            Shape::Entity | Shape::Collection | Shape::Count | Shape::RawValue(_) | Shape::Stream => false,
        };
        if self.version == Version::V2 || !matches!(shape, Shape::Leaf(_) | Shape::Property(_)) {
            return Vec::new();
        }
        // Without a selection the columns are the leaves. A collection is empty and never null.
        let may_be_null = |leaf: &usize| entity_type.leaves[*leaf].primitive.item().is_none();
        (0..entity_type.leaves.len()).filter(|leaf| leaf_is_in(*leaf)).filter(may_be_null).collect()
    }
}

/// Completes the answer from the collected data, by the conditions of the request.
fn answer_seen(mut seen: Seen, found: bool, headers: &dyn Headers, reply: &mut impl Reply) -> Result<Found, Fault> {
    let found = match (found, seen.rows, seen.null) {
        (true, 1.., false) => Found::Answered,
        (true, _, _) => Found::Nothing,
        (false, _, _) => Found::Missing,
    };
    if found != Found::Answered {
        seen.body.buffer().clear();
    }
    *reply.body() = seen.body.into_bytes();
    if found == Found::Answered
        && let Some(content_type) = seen.content_type
    {
        reply.field("content-type", content_type.as_bytes());
    }
    if found == Found::Answered && !seen.etag.is_empty() {
        reply.field("etag", &seen.etag);
        // Made of a URL's literal, so it is ASCII.
        let etag = String::from_utf8_lossy(&seen.etag);
        match conditions::judge(values(headers, "if-match"), values(headers, "if-none-match"), &etag) {
            Verdict::Answer => {}
            Verdict::Failed => return Err(Fault::precondition_failed()),
            Verdict::NotModified => {
                reply.status(304);
                reply.body().clear();
            }
        }
    }
    Ok(found)
}

struct DocumentSink<'a> {
    writer: Writer<'a>,
    expand: &'a [Expand],
    null_columns: Vec<usize>,
    meter: Meter<'a>,
    seen: Seen,
}

impl RowSink for DocumentSink<'_> {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let seen = &mut self.seen;
        seen.rows += 1;
        seen.null = !self.null_columns.is_empty() && self.null_columns.iter().all(|c| row.cell(*c) == Cell::Null);
        self.writer.stencil().write_etag(&mut seen.etag, row);
        self.writer.document_begin(seen.body.buffer());
        if self.writer.stencil().expansions() == 0 {
            self.writer.entry(seen.body.buffer(), row);
        } else {
            self.writer.entry_begin(seen.body.buffer(), row);
        }
        self.meter.entity(&mut seen.body)
    }

    fn expand_total(&mut self, _index: usize, count: u64) -> Flow {
        self.writer.expand_total(count);
        Flow::Continue
    }

    fn expand_begin<R: Row>(&mut self, index: usize, parent: &R) -> Flow {
        self.writer.expand_begin(self.seen.body.buffer(), index, parent);
        Flow::Continue
    }

    fn expand_entity<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        self.writer.expand_entity(self.seen.body.buffer(), row);
        self.meter.entity(&mut self.seen.body)
    }

    fn expand_entity_end<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        self.writer.expand_entity_end(self.seen.body.buffer(), row);
        Flow::Continue
    }

    fn expand_more<R: Row>(&mut self, _index: usize, parent: &R, next: &SkipToken) -> Flow {
        let expand = Expand::at(self.expand, self.writer.expand_positions());
        let query = expand.map_or("", |expand| expand.query.as_str());
        self.writer.expand_more(parent, query, &skip_token::write(next));
        Flow::Continue
    }

    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        self.writer.expand_end(self.seen.body.buffer());
        Flow::Continue
    }

    fn entity_end<R: Row>(&mut self, row: &R) -> Flow {
        if self.writer.stencil().expansions() > 0 {
            self.writer.entry_end(self.seen.body.buffer(), row);
        }
        Flow::Continue
    }
}

struct CountSink {
    seen: Seen,
}

impl RowSink for CountSink {
    fn total(&mut self, count: u64) -> Flow {
        self.seen.rows = 1;
        self.seen.body.buffer().extend_from_slice(count.to_string().as_bytes());
        Flow::Continue
    }

    fn entity<R: Row>(&mut self, _row: &R) -> Flow {
        Flow::Stop
    }
}

struct RawSink<'m> {
    column: usize,
    primitive: Primitive,
    enumeration: Option<&'m Enumeration>,
    version: Version,
    meter: Meter<'m>,
    seen: Seen,
}

impl RowSink for RawSink<'_> {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        self.seen.rows += 1;
        let out = self.seen.body.buffer();
        match row.cell(self.column) {
            Cell::Null if self.primitive.item().is_none() => self.seen.null = true,
            value if self.enumeration.is_some() && self.primitive.item().is_none() => {
                let mut names = String::new();
                self.enumeration.iter().for_each(|enumeration| enumeration.write_names(&mut names, value));
                out.extend_from_slice(names.as_bytes());
            }
            value => raw::write(out, Some(self.version), self.primitive, value),
        }
        self.meter.entity(&mut self.seen.body)
    }
}

/// Media type of a stream known only to be bytes (RFC 2046, section 4.5.1).
const ANY_MEDIA_TYPE: &str = "application/octet-stream";

struct StreamSink<'m> {
    column: usize,
    media_type: Option<usize>,
    meter: Meter<'m>,
    seen: Seen,
}

impl RowSink for StreamSink<'_> {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let seen = &mut self.seen;
        seen.rows += 1;
        match row.cell(self.column) {
            Cell::Text(bytes) | Cell::Bytes(bytes) => {
                // Before it is copied: one value may be larger than an answer.
                if self.meter.bytes(&mut seen.body, bytes.len()) == Flow::Stop {
                    return Flow::Stop;
                }
                seen.body.buffer().extend_from_slice(bytes);
            }
            _ => seen.null = true,
        }
        let said = match self.media_type.map(|column| row.cell(column)) {
            Some(Cell::Text(text)) => media_type(text),
            _ => None,
        };
        seen.content_type = Some(said.unwrap_or(ANY_MEDIA_TYPE).to_owned());
        self.meter.entity(&mut seen.body)
    }
}

/// The text as a media type, if it is valid in a field: clients may write it.
fn media_type(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let has_place = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    (text.bytes().all(has_place) && text.contains('/')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_stand_in_a_field_is_no_media_type() {
        for (text, expected) in [
            ("image/svg+xml", Some("image/svg+xml")),
            ("text/plain; charset=utf-8", Some("text/plain; charset=utf-8")),
            ("text/plain\r\nSet-Cookie: a=b", None),
            ("text", None),
            ("", None),
            ("bücher/x", None),
        ] {
            assert_eq!(media_type(text.as_bytes()), expected, "{text}");
        }
    }
}
