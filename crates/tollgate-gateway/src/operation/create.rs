//! Creating an entity, with those that its body brings along (deep insert) and the requested relations: the entity with
//! the foreign key comes second.
//!
//! It runs inside the caller's transaction and undoes nothing: after an error the caller does.

use std::mem;

use tollgate_wire::edm::{EntityType, LeafId, NavigationId, SetId};
use tollgate_wire::entry::{Entry, Link};
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::value::{Cell, Row, Value};

use super::author::Author;
use super::relation::{self, Holder};
use super::{provide, subtype, target};
use crate::auth::Verb;
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::store::{Connection, Flow, RowSink, Store};

/// Nesting limit of entities within entities: each level is a call within a call.
const DEPTH_MAX: usize = 8;

/// Context of creating an entity.
pub(crate) struct Creation<'a> {
    pub(crate) service: &'a Hosted,
    pub(crate) connection: &'a mut Connection,
    pub(crate) author: &'a Author,
}

/// A new entity as the database stored it.
pub(crate) struct Created {
    stored: Entry,
}

impl Created {
    /// Its key.
    pub(crate) fn key(&self, entity_type: &EntityType) -> Key {
        let value = |leaf: &LeafId| Value::of(self.stored.cell(leaf.0), entity_type.leaves[leaf.0].primitive);
        Key(entity_type.key.iter().map(value).collect())
    }
}

impl RowSink for Created {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        for leaf in 0..self.stored.leaves() {
            self.stored.set(LeafId(leaf), row.cell(leaf));
        }
        Flow::Continue
    }
}

/// Whether an entity comes alone, so that the database's answer can be shown unchanged.
pub(crate) fn is_alone(entry: &Entry) -> bool {
    entry.children.is_empty() && entry.links.is_empty()
}

impl Creation<'_> {
    /// Sets the entity's foreign key to the parent in `plan`, a path that ends in a collection.
    ///
    /// # Errors
    /// 404 if the parent does not exist, 400 if the body names another.
    pub(crate) fn relate_to_parent(&mut self, mut plan: Plan, entry: &mut Entry) -> Result<(), Fault> {
        let model = &*self.service.model;
        let Some(step) = plan.steps.pop() else { return Ok(()) };
        plan.shape = Shape::Entity;
        let set = plan.set();
        let declared = &model.type_of(set).navigation[step.navigation.0];
        relation::holder(model, set, step.navigation)?;
        let here: Vec<LeafId> = declared.on.iter().map(|pair| pair.0).collect();
        let values = target::fetch(self.service, self.connection, plan, &here)?;
        let values = values.ok_or_else(|| Fault::not_found("the path leads through an entity that does not exist"))?;
        let target_type = model.type_of(step.target);
        for ((_, there), value) in declared.on.iter().zip(&values) {
            relation::assign(target_type, entry, *there, value.cell(), declared)?;
        }
        Ok(())
    }

    /// Creates an entity that comes alone; `sink` receives the stored row.
    ///
    /// # Errors
    /// A missing value, and errors of the store.
    pub(crate) fn alone(&mut self, set: SetId, entry: &mut Entry, sink: &mut impl RowSink) -> Result<(), Fault> {
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        subtype::settle(entity_type, entry)?;
        provide::for_creation(entity_type, entry, self.author);
        provide::check_complete(entity_type, entry)?;
        let inserted = self.connection.insert(model, set, entry, Some(sink));
        inserted.map_err(|error| relation::refused(model, set, entry, error))?;
        self.service.rows.inserted(set, 1);
        Ok(())
    }

    /// Creates an entity with all related entities in its body.
    ///
    /// # Errors
    /// As [`alone`](Creation::alone); 400 if a link leads to no entity, 501 if a relation cannot be written.
    pub(crate) fn with_related(&mut self, set: SetId, entry: &mut Entry) -> Result<Created, Fault> {
        self.level(set, entry, 1)
    }

    fn level(&mut self, set: SetId, entry: &mut Entry, depth: usize) -> Result<Created, Fault> {
        if depth > DEPTH_MAX {
            let message = format!("entities within entities more than {DEPTH_MAX} deep");
            return Err(Fault::bad_request("body", message));
        }
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        subtype::settle(entity_type, entry)?;
        let (children, links) = (mem::take(&mut entry.children), mem::take(&mut entry.links));
        provide::for_creation(entity_type, entry, self.author);
        let mut later_children = Vec::new();
        for (navigation, mut related) in children {
            relation::check_creatable(model, &entity_type.navigation[navigation.0], self.author.access())?;
            match relation::holder(model, set, navigation)? {
                Holder::There => later_children.push((navigation, related)),
                Holder::Here => {
                    for child in &mut related {
                        let target = entity_type.navigation[navigation.0].target;
                        let created = self.level(target, child, depth + 1)?;
                        refer(entity_type, entry, navigation, |leaf| created.stored.cell(leaf.0))?;
                    }
                }
            }
        }
        let later_links = self.refer_to_links(set, entry, links)?;
        provide::check_complete(entity_type, entry)?;
        let mut created = Created { stored: Entry::new(entity_type.leaves.len()) };
        let inserted = self.connection.insert(model, set, entry, Some(&mut created));
        inserted.map_err(|error| relation::refused(model, set, entry, error))?;
        self.service.rows.inserted(set, 1);
        for (navigation, related) in later_children {
            let declared = &entity_type.navigation[navigation.0];
            let child_type = model.type_of(declared.target);
            for mut child in related {
                for (here, there) in &declared.on {
                    relation::assign(child_type, &mut child, *there, created.stored.cell(here.0), declared)?;
                }
                self.level(declared.target, &mut child, depth + 1)?;
            }
        }
        self.point_here(set, &created.stored, later_links)?;
        Ok(created)
    }

    /// Sets the foreign keys of `entry` for its links; returns the links whose other end has the foreign key.
    ///
    /// # Errors
    /// 400 if a link leads to no entity.
    pub(crate) fn refer_to_links(
        &mut self,
        set: SetId,
        entry: &mut Entry,
        links: Vec<(NavigationId, Link)>,
    ) -> Result<Vec<(NavigationId, Key)>, Fault> {
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        let mut pointing_here = Vec::new();
        for (navigation, link) in links {
            let declared = &entity_type.navigation[navigation.0];
            let Link::Key(key) = link else {
                return Err(Fault::internal("a Content-ID was not resolved before"));
            };
            match relation::holder(model, set, navigation)? {
                Holder::There => pointing_here.push((navigation, key)),
                Holder::Here => {
                    self.author.access().check(declared.target, Verb::Get)?;
                    let there: Vec<LeafId> = declared.on.iter().map(|pair| pair.1).collect();
                    let values = self.linked(declared.target, key, &there, &declared.name)?;
                    for ((here, _), value) in declared.on.iter().zip(&values) {
                        relation::assign(entity_type, entry, *here, value.cell(), declared)?;
                    }
                }
            }
        }
        Ok(pointing_here)
    }

    /// Sets the foreign keys of other entities to this one, whose values are in `stored`.
    ///
    /// # Errors
    /// 400 if a link leads to no entity, or if its foreign key is part of its key.
    pub(crate) fn point_here(
        &mut self,
        set: SetId,
        stored: &Entry,
        links: Vec<(NavigationId, Key)>,
    ) -> Result<(), Fault> {
        let model = &*self.service.model;
        for (navigation, key) in links {
            let declared = &model.type_of(set).navigation[navigation.0];
            relation::check_changeable(model, declared.target, declared, self.author.access())?;
            let target_type = model.type_of(declared.target);
            let mut changes = Entry::new(target_type.leaves.len());
            for (here, there) in &declared.on {
                let value = stored.cell(here.0);
                match target_type.key.iter().position(|part| part == there) {
                    None => changes.set(*there, value),
                    Some(part) if key.0[part].cell() == value => {}
                    Some(_) => {
                        let what = format!("{} holds the relation in its key, which cannot change", target_type.name);
                        return Err(Fault::bad_request(&declared.name, what));
                    }
                }
            }
            let subtype = self.subtype_of(declared.target, &key)?.ok_or_else(|| no_such_link(&declared.name))?;
            subtype::check_change(target_type, subtype, &mut changes)?;
            provide::check_nulls(target_type, &changes)?;
            provide::for_change(target_type, &mut changes, self.author);
            let updated = self.connection.update(model, declared.target, &key, &changes);
            if !updated.map_err(|error| relation::refused(model, declared.target, &changes, error))? {
                return Err(no_such_link(&declared.name));
            }
        }
        Ok(())
    }

    fn linked(&mut self, set: SetId, key: Key, leaves: &[LeafId], name: &str) -> Result<Vec<Value>, Fault> {
        let options = Options::default();
        let plan = Plan { root: set, key: Some(key), steps: Vec::new(), shape: Shape::Entity, options };
        target::fetch(self.service, self.connection, plan, leaves)?.ok_or_else(|| no_such_link(name))
    }
}

/// Sets the foreign key of `entry` to an entity that was created first.
fn refer<'c>(
    entity_type: &EntityType,
    entry: &mut Entry,
    navigation: NavigationId,
    value: impl Fn(LeafId) -> Cell<'c>,
) -> Result<(), Fault> {
    let declared = &entity_type.navigation[navigation.0];
    for (here, there) in &declared.on {
        relation::assign(entity_type, entry, *here, value(*there), declared)?;
    }
    Ok(())
}

fn no_such_link(name: &str) -> Fault {
    Fault::bad_request(name, format!("the entity that {name} is to lead to does not exist"))
}
