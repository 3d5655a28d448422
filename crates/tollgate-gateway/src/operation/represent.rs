//! Answer about an entity that was created or changed: its address, its ETag and, if wanted, its representation.
//!
//! It decides neither status nor format.

use tollgate_wire::edm::SetId;
use tollgate_wire::format::{DocumentKind, Format};
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::stencil::{Base, Stencil, Writer};
use tollgate_wire::value::Row;

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Answer;
use crate::store::{Connection, Flow, RowSink, Store};
use crate::work::allowance::{Meter, Spent};
use crate::work::answer_room::AnswerShare;
use crate::work::parts::Lent;

/// Requested part of the entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Its address and ETag.
    Fields,
    /// Its document too, or that of the stencil's property.
    Body,
}

/// Writes one entity into an answer.
pub(super) struct Represent<'a> {
    writer: Writer<'a>,
    kind: DocumentKind,
    wanted: Wanted,
    answer: &'a mut Answer,
    seen: bool,
    /// Counts what it expands.
    meter: Option<Meter<'a>>,
    share: AnswerShare,
}

impl<'a> Represent<'a> {
    /// Creates a writer that adds the fields `content-type` and `etag` to the answer, and fills in body and address.
    pub(super) fn new(stencil: &'a Stencil, base: Base<'a>, wanted: Wanted, answer: &'a mut Answer) -> Represent<'a> {
        let (writer, share) = (stencil.writer(base), AnswerShare::default());
        Represent { writer, kind: DocumentKind::Entry, wanted, answer, seen: false, meter: None, share }
    }

    /// Counts an entity that is written.
    fn count(&mut self) -> Flow {
        let mut body = Lent { bytes: &mut self.answer.body, share: &mut self.share };
        self.meter.as_mut().map_or(Flow::Continue, |meter| meter.entity(&mut body))
    }

    /// Ends counting.
    fn end(&mut self) -> Result<(), Fault> {
        let mut body = Lent { bytes: &mut self.answer.body, share: &mut self.share };
        self.meter.as_mut().map_or(Ok(()), |meter| meter.end(&mut body).map(|_| ()).map_err(Fault::from))
    }
}

impl RowSink for Represent<'_> {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        self.seen = true;
        let stencil = self.writer.stencil();
        self.answer.address.clear();
        stencil.write_address(&mut self.answer.address, row);
        self.answer.header_with("etag", |value| stencil.write_etag(value, row));
        if self.wanted == Wanted::Body {
            self.answer.header("content-type", stencil.format().content_type(self.kind));
            let body = &mut self.answer.body;
            self.writer.document_begin(body);
            if stencil.expansions() == 0 {
                self.writer.entry(body, row);
                self.writer.document_end(body);
            } else {
                self.writer.entry_begin(body, row);
            }
        }
        self.count()
    }

    fn expand_total(&mut self, _index: usize, count: u64) -> Flow {
        self.writer.expand_total(count);
        Flow::Continue
    }

    fn expand_begin<R: Row>(&mut self, index: usize, parent: &R) -> Flow {
        if self.wanted == Wanted::Body {
            self.writer.expand_begin(&mut self.answer.body, index, parent);
        }
        Flow::Continue
    }

    fn expand_entity<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        if self.wanted == Wanted::Body {
            self.writer.expand_entity(&mut self.answer.body, row);
        }
        self.count()
    }

    fn expand_entity_end<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        if self.wanted == Wanted::Body {
            self.writer.expand_entity_end(&mut self.answer.body, row);
        }
        Flow::Continue
    }

    fn expand_end<R: Row>(&mut self, _index: usize, _parent: &R) -> Flow {
        if self.wanted == Wanted::Body {
            self.writer.expand_end(&mut self.answer.body);
        }
        Flow::Continue
    }

    fn entity_end<R: Row>(&mut self, row: &R) -> Flow {
        if self.wanted == Wanted::Body && self.writer.stencil().expansions() > 0 {
            self.writer.entry_end(&mut self.answer.body, row);
            self.writer.document_end(&mut self.answer.body);
        }
        Flow::Continue
    }
}

/// Settings for writing an entity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner<'a> {
    pub(super) format: Format,
    /// The absolute URL of the service.
    pub(super) root: &'a str,
    /// The time, as Atom writes it.
    pub(super) updated: &'a str,
}

/// Writes the entity with this key, or the property of it that `shape` names, as it is now in the database, into the
/// answer.
pub(super) fn as_stored(
    service: &Hosted,
    connection: &mut Connection,
    (set, key): (SetId, Key),
    (shape, options): (Shape, Options),
    manner: Manner<'_>,
    wanted: Wanted,
    answer: &mut Answer,
) -> Result<(), Fault> {
    let model = &*service.model;
    let plan = Plan { root: set, key: Some(key), steps: Vec::new(), shape: Shape::Entity, options };
    let stencil = service.stencils.of(model, set, shape, manner.format, &plan.options);
    let mut sink = Represent::new(&stencil, Base::new(manner.root, manner.updated), wanted, answer);
    if shape != Shape::Entity {
        sink.kind = DocumentKind::Property;
    }
    sink.meter = Some(service.answers.meter(Spent::default()));
    connection.read(model, &plan, None, &mut sink)?;
    sink.end()?;
    match sink.seen {
        true => Ok(()),
        false => Err(Fault::internal("an entity that was just written is not there")),
    }
}
