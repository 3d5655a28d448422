//! Changing an entity: merging into it or replacing it, and creating it where a V4 client may not know if it exists
//! (upsert).
//!
//! It runs inside the caller's transaction and undoes nothing: after an error the caller does.

use std::mem;

use tollgate_wire::edm::{EntityType, LeafId, NavigationId, SetId, Version};
use tollgate_wire::entry::{Entry, Link};
use tollgate_wire::plan::{Key, Options, Plan, Shape};

use super::create::Creation;
use super::target::{self, Presence};
use super::{provide, relation, subtype};
use crate::auth::Verb;
use crate::error::Fault;
use crate::http::headers::Conditions;
use crate::store::Store;

/// Treatment of properties that are missing from the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Missing properties stay (PATCH, MERGE).
    Merge,
    /// Missing properties get their defaults, or become null (PUT).
    Replace,
}

/// Action if there is no such entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The entity is created.
    Create,
    /// The request fails.
    Fail,
}

/// Result of a change.
#[derive(Debug)]
pub(crate) enum Changed {
    /// The entity was changed.
    Updated(SetId, Key),
    /// There is no such entity: the entry, with its key set, must be created.
    Missing(SetId),
}

impl Creation<'_> {
    /// Changes the entity that `plan` leads to.
    ///
    /// # Errors
    /// 404, 412, 428; 400 for another key in the body in V2 (V4 ignores it: Protocol 11.4.3) or for a null where none
    /// is allowed; and errors of the store.
    pub(crate) fn change(
        &mut self,
        version: Version,
        plan: Plan,
        entry: &mut Entry,
        (how, absent): (How, Absent),
        conditions: &Conditions,
    ) -> Result<Changed, Fault> {
        let model = &*self.service.model;
        let addressed = plan.steps.is_empty();
        let cast = plan.options.subtype;
        let Some((set, key)) = target::locate(self.service, self.connection, plan)? else {
            return Err(not_there());
        };
        let entity_type = model.type_of(set);
        if version == Version::V4 {
            // Ignored; what stands there below comes of links.
            unset_key(entity_type, entry);
        }
        let links = mem::take(&mut entry.links);
        let pointing_here = self.refer_to_links(set, entry, links)?;
        check_key(entity_type, entry, &key)?;
        unset_key(entity_type, entry);
        let held = entity_type.etag.is_some() || !conditions.is_empty() || !pointing_here.is_empty();
        let mut presence = Presence::Present;
        if held {
            presence = target::hold(self.service, self.connection, version, (set, &key), conditions)?;
        }
        if presence == Presence::Present && entity_type.hierarchy.is_some() {
            match self.subtype_of(set, &key)? {
                Some(is) if entity_type.is_a(is, cast) => subtype::check_change(entity_type, is, entry)?,
                Some(_) => return Err(not_there()),
                None => presence = Presence::Missing,
            }
        }
        if presence == Presence::Present {
            match how {
                How::Merge => provide::for_change(entity_type, entry, self.author),
                How::Replace => provide::for_replacement(version, entity_type, entry, self.author),
            }
            provide::check_nulls(entity_type, entry)?;
            let updated = self.connection.update(model, set, &key, entry);
            if updated.map_err(|error| relation::refused(model, set, entry, error))? {
                self.point_at(set, &key, pointing_here)?;
                return Ok(Changed::Updated(set, key));
            }
        }
        entry.links = pointing_here.into_iter().map(|(navigation, key)| (navigation, Link::Key(key))).collect();
        // Nothing was there to be changed. With `If-Match` the client says that there was (Protocol 11.4.4).
        let may_create = model.entity_sets[set.0].changes.insert && self.author.access().permits(set, Verb::Post);
        let creatable = addressed && absent == Absent::Create && may_create;
        if version == Version::V2 || !creatable {
            return Err(not_there());
        }
        if !conditions.if_match.is_empty() {
            return Err(Fault::precondition_failed());
        }
        put_key_in(entity_type, entry, &key);
        Ok(Changed::Missing(set))
    }

    /// Sets the foreign keys of other entities to the one with this key.
    fn point_at(&mut self, set: SetId, key: &Key, links: Vec<(NavigationId, Key)>) -> Result<(), Fault> {
        if links.is_empty() {
            return Ok(());
        }
        let model = &*self.service.model;
        let entity_type = model.type_of(set);
        let (key, options) = (Some(key.clone()), Options::default());
        let plan = Plan { root: set, key, steps: Vec::new(), shape: Shape::Entity, options };
        let all: Vec<LeafId> = (0..entity_type.leaves.len()).map(LeafId).collect();
        let values = target::fetch(self.service, self.connection, plan, &all)?.ok_or_else(not_there)?;
        self.point_here(set, &Entry::of_values(&values), links)
    }

    /// Deletes the entity that `plan` leads to.
    ///
    /// # Errors
    /// 404, 412, 428, and errors of the store.
    pub(crate) fn delete(&mut self, version: Version, plan: Plan, conditions: &Conditions) -> Result<(), Fault> {
        let model = &*self.service.model;
        let Some((set, key)) = target::locate(self.service, self.connection, plan)? else {
            return Err(not_there());
        };
        if model.type_of(set).etag.is_some() || !conditions.is_empty() {
            target::hold(self.service, self.connection, version, (set, &key), conditions)?;
        }
        match self.connection.delete(model, set, &key).map_err(relation::deletion_refused)? {
            true => Ok(()),
            false => Err(not_there()),
        }
    }
}

/// Checks that a key in the body is unchanged: a key never changes.
///
/// # Errors
/// It is another key.
pub(crate) fn check_key(entity_type: &EntityType, entry: &Entry, key: &Key) -> Result<(), Fault> {
    for (leaf, value) in entity_type.key.iter().zip(&key.0) {
        if entry.cell_of(*leaf).is_some_and(|given| given != value.cell()) {
            let path = &entity_type.leaves[leaf.0].path;
            let message = format!("expected {path} to be as in the URL, or absent: a key does not change");
            return Err(Fault::bad_request(path, message));
        }
    }
    Ok(())
}

fn unset_key(entity_type: &EntityType, entry: &mut Entry) {
    for leaf in &entity_type.key {
        entry.unset(*leaf);
    }
}

fn put_key_in(entity_type: &EntityType, entry: &mut Entry, key: &Key) {
    for (leaf, value) in entity_type.key.iter().zip(&key.0) {
        entry.set(*leaf, value.cell());
    }
}

fn not_there() -> Fault {
    Fault::not_found("there is no entity with this key")
}
