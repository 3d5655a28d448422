//! An array of entities of any size, inserted in one transaction: all of them or none.
//!
//! The loop hands the bytes on as they come ([`super::intake`]); one thread under one work process reads, checks,
//! completes and inserts them, with one entry and one statement for all of them.

use std::sync::Arc;

use tollgate_net::http1::server::Exchange;
use tollgate_wire::body::{ArrayStep, Envelope};
use tollgate_wire::edm::SetId;
use tollgate_wire::entry::Entry;

use super::intake::{Ahead, BodySource};
use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::operation::{Author, Creation, is_alone, provide, refused, spare, subtype};
use crate::store::{Connection, Discard, Store};
use crate::visit::Visit;
use crate::work::pool::Writing;
use crate::work::weight::WorkPlace;

/// Largest array inserted on the loop: about a dozen records, which take SQLite 50 µs.
const LOOP_BYTES_MAX: u64 = 8 * 1024;

/// An array to be inserted.
pub(super) struct Insertion {
    /// The service.
    pub(super) service: Arc<Hosted>,
    /// The set of the service.
    pub(super) set: SetId,
    /// Form around the array.
    pub(super) framing: Framing,
    /// Recorded creator of the entities.
    pub(super) author: Author,
}

/// Form around an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// The bare array.
    Bare,
    /// An object that names the entity beside the array: the seed's `{"insEntity": "TestRecords", "insArray": […]}`.
    Named,
}

/// The members of [`Framing::Named`].
const ENTITY: &str = "insEntity";
const ARRAY: &str = "insArray";

impl Insertion {
    /// Inserts the array whose beginning is `ahead`, the rest as it comes from `exchange`; returns the number of
    /// entities.
    ///
    /// # Errors
    /// 400 for an error in an entity, with its index; 413 for too many; errors of the store, and of reading the body.
    /// Nothing is inserted then.
    pub(super) async fn run(
        self,
        visit: &Visit<'_>,
        exchange: &mut Exchange<'_>,
        ahead: Ahead,
    ) -> Result<u64, Failure> {
        let pool = &self.service.pool;
        let place = match pool.place_of_writes() {
            WorkPlace::Loop if ahead.is_whole_within(LOOP_BYTES_MAX) => WorkPlace::Loop,
            _ => WorkPlace::Away,
        };
        let writing = pool.acquire_to_write(&visit.task(exchange.request())).await.map_err(Fault::from)?;
        let (source, rest) = ahead.split();
        if place == WorkPlace::Loop {
            return Ok(self.insert(writing, source)?);
        }
        let job = tokio::task::spawn_blocking(move || self.insert(writing, source));
        let sent = match rest {
            Some(rest) => rest.send(exchange).await,
            None => Ok(()),
        };
        // Whatever befell the body: the transaction has ended before anybody is told.
        let inserted = job.await;
        let inserted =
            inserted.map_err(|panic| Fault::internal(format!("work away from the loop ended badly: {panic}")))?;
        sent?;
        Ok(inserted?)
    }

    fn insert(self, mut writing: Writing, mut source: BodySource) -> Result<u64, Fault> {
        source.read_within(self.service.rules.array_ms_max);
        let mut entry = spare::entry();
        let inserted = writing.transaction(|connection| self.insert_all(connection, &mut source, &mut entry));
        spare::give_back(entry);
        inserted
    }

    fn insert_all(
        &self,
        connection: &mut Connection,
        source: &mut BodySource,
        entry: &mut Entry,
    ) -> Result<u64, Fault> {
        let envelope = match self.framing {
            Framing::Bare => None,
            Framing::Named => Some(Envelope { array: ARRAY.to_owned(), texts: vec![ENTITY.to_owned()] }),
        };
        let rows_max = self.service.rules.array_rows_max;
        let mut reader = self.service.bodies.array(self.set, "", envelope);
        loop {
            match reader.next(entry)? {
                ArrayStep::Entry if reader.records() > rows_max => return Err(Fault::too_many_entities(rows_max)),
                ArrayStep::Entry => {
                    let index = reader.records() - 1;
                    if index == 0 {
                        self.check_name(reader.text(ENTITY))?;
                    }
                    self.insert_one(connection, entry).map_err(|fault| fault.of_entity(index))?;
                }
                ArrayStep::NeedMore | ArrayStep::End => {
                    if !source.next(|bytes| reader.feed(bytes))? {
                        reader.finish(entry)?;
                        break;
                    }
                }
            }
        }
        if self.framing == Framing::Named && reader.text(ENTITY).is_none() {
            return Err(Fault::bad_request(ENTITY, format!("expected {ENTITY} to name the entity")));
        }
        self.check_name(reader.text(ENTITY))?;
        self.service.rows.inserted(self.set, reader.records());
        Ok(reader.records())
    }

    fn insert_one(&self, connection: &mut Connection, entry: &mut Entry) -> Result<(), Fault> {
        let service = &*self.service;
        let model = &*service.model;
        if !is_alone(entry) {
            return Creation { service, connection, author: &self.author }.with_related(self.set, entry).map(|_| ());
        }
        let entity_type = model.type_of(self.set);
        subtype::settle(entity_type, entry)?;
        provide::for_creation(entity_type, entry, &self.author);
        provide::check_complete(entity_type, entry)?;
        let inserted = connection.insert(model, self.set, entry, None::<&mut Discard>);
        inserted.map_err(|error| refused(model, self.set, entry, error))
    }

    /// Checks the name of the array. It may come before the array or behind it.
    fn check_name(&self, name: Option<&str>) -> Result<(), Fault> {
        let model = &*self.service.model;
        let (set, entity_type) = (&model.entity_sets[self.set.0].name, &model.type_of(self.set).name);
        let Some(name) = name else { return Ok(()) };
        let own = name.strip_prefix(&*model.namespace).and_then(|name| name.strip_prefix('.')).unwrap_or(name);
        if own == set || own == entity_type {
            return Ok(());
        }
        Err(Fault::bad_request(ENTITY, format!("expected {ENTITY} to be {set}, found `{name}`")))
    }
}
