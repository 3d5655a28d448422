//! Type in its hierarchy of an entity that is created or changed, and the check that it has the given properties.
//!
//! V4 names the type by `@odata.type` or by a cast in the path, V2 and plain REST by the value of the discriminator
//! property. It is settled when the entity is created, and never changes.

use tollgate_wire::edm::{EntityType, Hierarchy, LeafId, NavigationId, SetId, SubtypeId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Cast, Key, Options, Plan, Shape};
use tollgate_wire::value::Cell;

use super::create::Creation;
use super::target;
use crate::error::Fault;

/// Gives an entity in a body the type of the path's cast, unless the body names a type derived from it.
///
/// # Errors
/// 400 if the body names another one.
pub(super) fn cast(entity_type: &EntityType, to: SubtypeId, entry: &mut Entry) -> Result<(), Fault> {
    if to == SubtypeId::ROOT {
        return Ok(());
    }
    let said = *entry.subtype.get_or_insert(to);
    match entity_type.is_a(said, to) {
        true => Ok(()),
        false => Err(another_type(entity_type, to, said)),
    }
}

/// Removes the type casts of the path from the options: the entity is then read by its key.
pub(super) fn uncast(options: &mut Options) -> Vec<Cast> {
    options.subtype = SubtypeId::ROOT;
    std::mem::take(&mut options.casts)
}

/// Settles the type of an entity that is to be created.
///
/// # Errors
/// 400 if two types are given, the type is abstract or unknown, or lacks a property of the entity.
pub(crate) fn settle(entity_type: &EntityType, entry: &mut Entry) -> Result<(), Fault> {
    let Some(hierarchy) = &entity_type.hierarchy else { return Ok(()) };
    let stored = stored_type(entity_type, hierarchy, entry)?;
    let subtype = match (entry.subtype, stored) {
        (Some(said), Some(stored)) if said != stored => return Err(another_type(entity_type, said, stored)),
        (Some(subtype), _) | (None, Some(subtype)) => subtype,
        (None, None) => SubtypeId::ROOT,
    };
    let path = &entity_type.leaves[hierarchy.discriminator.0].path;
    let Some(stored) = &hierarchy.subtypes[subtype.0].stored else {
        let name = &hierarchy.subtypes[subtype.0].name;
        let message = format!("{name} is abstract: expected the type of the entity, by @odata.type or by {path}");
        return Err(Fault::bad_request(path, message));
    };
    entry.set(hierarchy.discriminator, stored.cell());
    entry.subtype = Some(subtype);
    check_has(entity_type, subtype, entry)
}

/// Checks changes of an entity of that type, and marks them with it.
///
/// # Errors
/// 400 if they are for another type, or would change the type.
pub(super) fn check_change(entity_type: &EntityType, is: SubtypeId, entry: &mut Entry) -> Result<(), Fault> {
    let Some(hierarchy) = &entity_type.hierarchy else { return Ok(()) };
    if let Some(said) = entry.subtype.filter(|said| !hierarchy.is_a(is, *said)) {
        return Err(another_type(entity_type, said, is));
    }
    if let Some(stored) = stored_type(entity_type, hierarchy, entry)?.filter(|stored| *stored != is) {
        return Err(another_type(entity_type, stored, is));
    }
    // Of the root it is no news: its rows may hold null.
    if is != SubtypeId::ROOT && entry.cell_of(hierarchy.discriminator) == Some(Cell::Null) {
        return Err(another_type(entity_type, SubtypeId::ROOT, is));
    }
    entry.unset(hierarchy.discriminator);
    entry.subtype = Some(is);
    check_has(entity_type, is, entry)
}

/// Whether an entity with that type, if known, has a leaf.
pub(super) fn has(entity_type: &EntityType, entry: &Entry, leaf: LeafId) -> bool {
    entry.subtype.is_none_or(|subtype| entity_type.has(subtype, leaf))
}

/// Type named by the discriminator property.
fn stored_type(entity_type: &EntityType, hierarchy: &Hierarchy, entry: &Entry) -> Result<Option<SubtypeId>, Fault> {
    let Some(cell) = entry.cell_of(hierarchy.discriminator).filter(|cell| *cell != Cell::Null) else {
        return Ok(None);
    };
    let path = &entity_type.leaves[hierarchy.discriminator.0].path;
    let unknown = || Fault::bad_request(path, format!("expected {path} to be the value of a type"));
    hierarchy.of_value(cell).map(Some).ok_or_else(unknown)
}

/// Checks that the type has all properties of an entry; nulls for properties of other types are dropped.
fn check_has(entity_type: &EntityType, subtype: SubtypeId, entry: &mut Entry) -> Result<(), Fault> {
    let name = |subtype: SubtypeId| {
        let hierarchy = entity_type.hierarchy.as_ref();
        hierarchy.map_or(entity_type.name.as_str(), |hierarchy| hierarchy.subtypes[subtype.0].name.as_str())
    };
    let wrong = |path: &str, of: SubtypeId| {
        let message = format!("{} has no {path}, which is a property of {}", name(subtype), name(of));
        Fault::bad_request(path, message)
    };
    for leaf in (0..entity_type.leaves.len()).map(LeafId).filter(|leaf| !entity_type.has(subtype, *leaf)) {
        match entry.cell_of(leaf) {
            None => {}
            Some(Cell::Null) => entry.unset(leaf),
            Some(_) => return Err(wrong(&entity_type.leaves[leaf.0].path, entity_type.declares(leaf))),
        }
    }
    let related = entry.children.iter().map(|(id, _)| *id).chain(entry.links.iter().map(|(id, _)| *id));
    let foreign = |id: &NavigationId| !entity_type.is_a(subtype, entity_type.declares_navigation(*id));
    match related.into_iter().find(foreign) {
        None => Ok(()),
        Some(id) => Err(wrong(&entity_type.navigation[id.0].name, entity_type.declares_navigation(id))),
    }
}

fn another_type(entity_type: &EntityType, expected: SubtypeId, found: SubtypeId) -> Fault {
    let hierarchy = entity_type.hierarchy.as_ref();
    let name = |subtype: SubtypeId| hierarchy.map_or("", |hierarchy| hierarchy.subtypes[subtype.0].name.as_str());
    let message =
        format!("expected an entity of type {}, found {}: a type does not change", name(expected), name(found));
    Fault::bad_request("@odata.type", message)
}

impl Creation<'_> {
    /// Type of an entity, which is locked from now on; `None` if there is none with this key.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn subtype_of(&mut self, set: SetId, key: &Key) -> Result<Option<SubtypeId>, Fault> {
        let Some(hierarchy) = &self.service.model.type_of(set).hierarchy else { return Ok(Some(SubtypeId::ROOT)) };
        let plan = Plan {
            root: set,
            key: Some(key.clone()),
            steps: Vec::new(),
            shape: Shape::Entity,
            options: Options::default(),
        };
        let values = target::fetch(self.service, self.connection, plan, &[hierarchy.discriminator])?;
        Ok(values.map(|values| hierarchy.of_value(values[0].cell()).unwrap_or_default()))
    }
}
