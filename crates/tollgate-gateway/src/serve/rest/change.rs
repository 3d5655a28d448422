//! Creating, changing and deleting one entity by plain REST, and deleting all of a set.
//!
//! The change itself is the same as in OData ([`crate::operation`]); here is plain REST's answer to it.

use std::sync::Arc;

use tollgate_wire::edm::{Primitive, SetId, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::stencil::{Base, Writer, raw};
use tollgate_wire::value::Row;

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::hosted::rest::write_segment;
use crate::http::headers::Conditions;
use crate::operation::{Absent, Author, Changed, Creation, How, check_key, deletion_refused, is_alone};
use crate::store::{Connection, Flow, RowSink, Store};
use crate::work::board::Task;
use crate::work::weight::WorkPlace;

/// An entity in an answer.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Its key as segments of a path, percent-encoded.
    pub(super) key: Vec<u8>,
    /// Its ETag, if its type has one.
    pub(super) etag: Vec<u8>,
    /// Its document.
    pub(super) body: Vec<u8>,
}

/// Context of a change of one entity.
pub(super) struct Change {
    pub(super) author: Author,
    pub(super) conditions: Conditions,
    /// Format of the answered entity.
    pub(super) format: Format,
}

impl Change {
    /// Creates an entity.
    ///
    /// # Errors
    /// A missing value, and errors of the store.
    pub(super) fn create(
        &self,
        service: &Hosted,
        connection: &mut Connection,
        set: SetId,
        entry: &mut Entry,
    ) -> Result<Shown, Fault> {
        let mut creation = Creation { service, connection, author: &self.author };
        if !is_alone(entry) {
            let key = creation.with_related(set, entry)?.key(service.model.type_of(set));
            return self.show(service, connection, set, key);
        }
        let stencil = service.stencils.of(&service.model, set, Shape::Entity, self.format, &Options::default());
        let mut show = Show::new(service, set, stencil.writer(Base::new("", "")));
        creation.alone(set, entry, &mut show)?;
        Ok(show.shown)
    }

    /// Changes the entity that `plan` leads to.
    ///
    /// # Errors
    /// 404, 412, 428, and errors in the values.
    pub(super) fn change(
        &self,
        service: &Hosted,
        connection: &mut Connection,
        plan: Plan,
        entry: &mut Entry,
        how: How,
    ) -> Result<Shown, Fault> {
        if let Some(key) = &plan.key {
            check_key(service.model.type_of(plan.root), entry, key)?;
        }
        let mut creation = Creation { service, connection, author: &self.author };
        match creation.change(Version::V4, plan, entry, (how, Absent::Fail), &self.conditions)? {
            Changed::Updated(set, key) => self.show(service, connection, set, key),
            Changed::Missing(_) => Err(Fault::not_found("there is no entity with this key")),
        }
    }

    /// Deletes the entity that `plan` leads to.
    ///
    /// # Errors
    /// 404, 412, 428, and errors of the store.
    pub(super) fn delete(&self, service: &Hosted, connection: &mut Connection, plan: Plan) -> Result<(), Fault> {
        Creation { service, connection, author: &self.author }.delete(Version::V4, plan, &self.conditions)
    }

    fn show(&self, service: &Hosted, connection: &mut Connection, set: SetId, key: Key) -> Result<Shown, Fault> {
        let options = Options::default();
        let stencil = service.stencils.of(&service.model, set, Shape::Entity, self.format, &options);
        let plan = Plan { root: set, key: Some(key), steps: Vec::new(), shape: Shape::Entity, options };
        let mut show = Show::new(service, set, stencil.writer(Base::new("", "")));
        connection.read(&service.model, &plan, None, &mut show)?;
        Ok(show.shown)
    }
}

/// Deletes all entities of a set and returns their number.
///
/// # Errors
/// Errors of the store.
pub(super) fn delete_all(service: &Hosted, connection: &mut Connection, set: SetId) -> Result<u64, Fault> {
    connection.delete_all(&service.model, set).map_err(deletion_refused)
}

/// Extent of the work in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// One change, without reading.
    SingleChange,
    /// Any work.
    Any,
}

/// Runs `work`, of `task`, in a transaction of its own, at the place for the service's database.
///
/// # Errors
/// The work's fault, or no available work process.
pub(super) async fn in_transaction<T: Send + 'static>(
    service: &Arc<Hosted>,
    task: &Task<'_>,
    extent: Extent,
    work: impl FnOnce(&Hosted, &mut Connection) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let mut writing = service.pool.acquire_to_write(task).await?;
    let run = move |service: &Hosted| match extent {
        Extent::SingleChange => writing.single_change(|connection| work(service, connection)),
        Extent::Any => writing.transaction(|connection| work(service, connection)),
    };
    match service.pool.place_of_writes() {
        WorkPlace::Loop => run(service),
        WorkPlace::Away => {
            let service = Arc::clone(service);
            let job = move || run(&service);
            let ended = tokio::task::spawn_blocking(job).await;
            ended.map_err(|panic| Fault::internal(format!("work away from the loop ended badly: {panic}")))?
        }
    }
}

/// Writes one entity.
struct Show<'a> {
    writer: Writer<'a>,
    /// Columns of the key with their types.
    key: Vec<(usize, Primitive)>,
    shown: Shown,
}

impl<'a> Show<'a> {
    fn new(service: &Hosted, set: SetId, writer: Writer<'a>) -> Show<'a> {
        let entity_type = service.model.type_of(set);
        // All leaves are columns, in their order.
        let key = entity_type.key.iter().map(|leaf| (leaf.0, entity_type.leaves[leaf.0].primitive)).collect();
        Show { writer, key, shown: Shown::default() }
    }
}

impl RowSink for Show<'_> {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let Shown { key, etag, body } = &mut self.shown;
        let mut segment = Vec::new();
        for (column, primitive) in &self.key {
            segment.clear();
            raw::write(&mut segment, None, *primitive, row.cell(*column));
            key.push(b'/');
            write_segment(key, &segment);
        }
        self.writer.stencil().write_etag(etag, row);
        self.writer.document_begin(body);
        self.writer.entry(body, row);
        self.writer.document_end(body);
        Flow::Continue
    }
}
