//! Relations as foreign keys: the side of a navigation property that has one, and setting it.
//!
//! It does not check that the entity at the other end exists.

use tollgate_wire::edm::{EntityType, LeafId, Model, Multiplicity, NavigationId, NavigationProperty, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::value::Cell;

use crate::auth::{Access, Verb};
use crate::error::Fault;
use crate::store::{Rule, StoreError};

/// Side of a navigation property that has the foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// The entity that the navigation starts from: the other end must exist first.
    Here,
    /// The entity that it leads to.
    There,
}

/// Finds the side of a navigation property of the entities in `set` that has the foreign key.
///
/// # Errors
/// 501 if the model does not name the values that relate the two.
pub(super) fn holder(model: &Model, set: SetId, navigation: NavigationId) -> Result<Holder, Fault> {
    let declared = &model.type_of(set).navigation[navigation.0];
    if declared.on.is_empty() {
        return Err(Fault::not_implemented(&format!("writing over {}, whose foreign key is unknown,", declared.name)));
    }
    if declared.multiplicity == Multiplicity::Many {
        return Ok(Holder::There);
    }
    let association = model.associations.iter().find(|association| association.name == declared.association);
    if let Some(association) = association.filter(|association| !association.constraint.is_empty()) {
        // The constraint says (principal, dependent); a principal that leads to its dependent says the same.
        let leads_to_dependent = association.ends[1].set == declared.target && association.constraint == declared.on;
        return Ok(if leads_to_dependent { Holder::There } else { Holder::Here });
    }
    let target = model.type_of(declared.target);
    let names_key = target.key.iter().all(|part| declared.on.iter().any(|(_, there)| there == part));
    Ok(if names_key { Holder::Here } else { Holder::There })
}

/// Checks that entities written along with others may be created in their own set.
///
/// # Errors
/// 403 if entities of the set that `by` leads to cannot be created; 401 or 403 if the author may not.
pub(super) fn check_creatable(model: &Model, by: &NavigationProperty, access: &Access) -> Result<(), Fault> {
    access.check(by.target, Verb::Post)?;
    let set = &model.entity_sets[by.target.0];
    match set.changes.insert {
        true => Ok(()),
        false => Err(Fault::forbidden(&by.name, format!("entities of {} cannot be created", set.name))),
    }
}

/// The same for changes of the entity in `set` that has the foreign key of `by`.
///
/// # Errors
/// 403 if entities of the set cannot be changed; 401 or 403 if the author may not.
pub(super) fn check_changeable(
    model: &Model,
    set: SetId,
    by: &NavigationProperty,
    access: &Access,
) -> Result<(), Fault> {
    access.check(set, Verb::Patch)?;
    let set = &model.entity_sets[set.0];
    match set.changes.update {
        true => Ok(()),
        false => Err(Fault::forbidden(&by.name, format!("entities of {} cannot be changed", set.name))),
    }
}

/// Fault if the store refuses to insert or change `entry`: for a foreign key it names the property that contains it, or
/// the navigation property if the key has several parts.
pub(crate) fn refused(model: &Model, set: SetId, entry: &Entry, error: StoreError) -> Fault {
    if !matches!(error, StoreError::Constraint { rule: Rule::ForeignKey, .. }) {
        return error.into();
    }
    let entity_type = model.type_of(set);
    let is_given = |leaf: LeafId| entry.cell_of(leaf).is_some_and(|cell| cell != Cell::Null);
    let mut suspects = entity_type.navigation.iter().enumerate().filter(|(index, declared)| {
        declared.on.iter().any(|(here, _)| is_given(*here))
            && matches!(holder(model, set, NavigationId(*index)), Ok(Holder::Here))
    });
    // The database does not always tell which foreign key it is; where there is but one, it is that.
    match (suspects.next(), suspects.next()) {
        (Some((_, declared)), None) => Fault::unknown_reference(Some(match &declared.on[..] {
            [(here, _)] => &entity_type.leaves[here.0].path,
            _ => &declared.name,
        })),
        _ => Fault::unknown_reference(None),
    }
}

/// The same if the store refuses to delete.
pub(crate) fn deletion_refused(error: StoreError) -> Fault {
    match error {
        StoreError::Constraint { rule: Rule::ForeignKey, .. } => Fault::still_referred_to(),
        error => error.into(),
    }
}

/// Sets a part of a foreign key.
///
/// # Errors
/// 400 if the client gave the leaf another value.
pub(super) fn assign(
    entity_type: &EntityType,
    entry: &mut Entry,
    leaf: LeafId,
    value: Cell<'_>,
    by: &NavigationProperty,
) -> Result<(), Fault> {
    match entry.cell_of(leaf) {
        None => entry.set(leaf, value),
        Some(given) if given == value => {}
        Some(_) => {
            let path = &entity_type.leaves[leaf.0].path;
            let message = format!("expected {path} to be that of the entity which {} relates to, or absent", by.name);
            return Err(Fault::bad_request(path, message));
        }
    }
    Ok(())
}
