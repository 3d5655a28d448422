//! Methods of a resource, as its set allows them: for `Allow`, and for the text of a 405.
//!
//! It refuses nothing itself.

use tollgate_wire::edm::{FunctionImport, FunctionMethod, Model, Multiplicity, NavigationProperty, SetId, Version};
use tollgate_wire::plan::{Plan, Resource, Shape};

use crate::http::READING;

/// The methods of a resource.
pub(crate) fn allowed(model: &Model, version: Version, resource: &Resource) -> &'static str {
    match resource {
        Resource::Batch => "OPTIONS, POST",
        Resource::ServiceDocument | Resource::Metadata | Resource::Function(_) => READING,
        // What a function has found can only be read.
        Resource::Read(plan) | Resource::References(plan) if plan.options.called.is_some() => READING,
        Resource::Read(plan) => of_data(model, version, plan),
        Resource::References(plan) => allowed_of_references(model, version, plan),
        Resource::Act(act) => allowed_of_action(version, &model.function_imports[act.action]),
    }
}

/// The methods of an action: in V2 the one that its metadata names.
pub(crate) fn allowed_of_action(version: Version, action: &FunctionImport) -> &'static str {
    match (version, action.method) {
        (Version::V2, FunctionMethod::Put) => "OPTIONS, PUT",
        (Version::V2 | Version::V4, _) => "OPTIONS, POST",
    }
}

/// The navigation property at the end of a path to references, and the set that it comes from.
pub(crate) fn declared<'m>(model: &'m Model, plan: &Plan) -> Option<(SetId, &'m NavigationProperty)> {
    let (last, before) = plan.steps.split_last()?;
    let from = before.last().map_or(plan.root, |step| step.target);
    Some((from, &model.type_of(from).navigation[last.navigation.0]))
}

/// The methods of a reference.
fn allowed_of_references(model: &Model, version: Version, plan: &Plan) -> &'static str {
    match (declared(model, plan).map(|(_, declared)| declared.multiplicity), plan.shape, version) {
        // References to entities by themselves are no relation.
        (None, ..) => READING,
        (Some(Multiplicity::Many), Shape::Collection, Version::V2) => "GET, HEAD, OPTIONS, POST",
        (Some(Multiplicity::Many), Shape::Collection, Version::V4) => "DELETE, GET, HEAD, OPTIONS, POST",
        (Some(Multiplicity::Many), ..) => "DELETE, GET, HEAD, OPTIONS",
        (Some(Multiplicity::ZeroOrOne | Multiplicity::One), ..) => "DELETE, GET, HEAD, OPTIONS, PUT",
    }
}

/// Whether the path names the number of values in a collection, which cannot be changed directly.
pub(crate) fn counts_values(model: &Model, plan: &Plan) -> bool {
    let Shape::RawValue(leaf) = plan.shape else { return false };
    model.type_of(plan.set()).leaves[leaf.0].primitive.item().is_some()
}

fn of_data(model: &Model, version: Version, plan: &Plan) -> &'static str {
    let mut changes = model.entity_sets[plan.set().0].changes;
    // A singleton is always there.
    changes.delete &= plan.options.singleton.is_none();
    if counts_values(model, plan) {
        return READING;
    }
    let can_be_null = can_be_null(model, plan);
    match (plan.shape, version) {
        (Shape::Collection, _) if changes.insert => "GET, HEAD, OPTIONS, POST",
        (Shape::Collection | Shape::Count | Shape::Stream, _) => READING,
        (Shape::Entity, Version::V2) => match (changes.update, changes.delete) {
            (true, true) => "DELETE, GET, HEAD, MERGE, OPTIONS, PATCH, PUT",
            (true, false) => "GET, HEAD, MERGE, OPTIONS, PATCH, PUT",
            (false, true) => "DELETE, GET, HEAD, OPTIONS",
            (false, false) => READING,
        },
        (Shape::Entity, Version::V4) => match (changes.update, changes.delete) {
            (true, true) => "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
            (true, false) => "GET, HEAD, OPTIONS, PATCH, PUT",
            (false, true) => "DELETE, GET, HEAD, OPTIONS",
            (false, false) => READING,
        },
        (Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_), _) if !changes.update => READING,
        (Shape::Property(_) | Shape::Leaf(_), Version::V2) if !can_be_null => "GET, HEAD, MERGE, OPTIONS, PATCH, PUT",
        (Shape::Property(_) | Shape::Leaf(_), Version::V4) if !can_be_null => "GET, HEAD, OPTIONS, PATCH, PUT",
        (Shape::RawValue(_), _) if !can_be_null => "GET, HEAD, OPTIONS, PUT",
        (Shape::Property(_) | Shape::Leaf(_), Version::V2) => "DELETE, GET, HEAD, MERGE, OPTIONS, PATCH, PUT",
        (Shape::Property(_) | Shape::Leaf(_), Version::V4) => "DELETE, GET, HEAD, OPTIONS, PATCH, PUT",
        (Shape::RawValue(_), _) => "DELETE, GET, HEAD, OPTIONS, PUT",
    }
}

/// Whether the path's target can be null, as `DELETE` would leave it (V4.01 protocol, section 11.4.9.2).
fn can_be_null(model: &Model, plan: &Plan) -> bool {
    let entity_type = model.type_of(plan.set());
    match plan.shape {
        Shape::Leaf(leaf) | Shape::RawValue(leaf) => {
            let declared = &entity_type.leaves[leaf.0];
            declared.nullable && declared.primitive.item().is_none()
        }
        Shape::Property(property) => entity_type.properties[property].nullable,
        Shape::Collection | Shape::Entity | Shape::Count | Shape::Stream => true,
    }
}
