//! What an answer shows of the entities that a path leads to: themselves, or references to them (V4 `$ref`, V2 `$links`).
//!
//! It deliberately knows neither pages nor what is said where there is nothing: both are the same for both.

use std::sync::Arc;

use tollgate_wire::format::Format;
use tollgate_wire::plan::{Plan, Select};
use tollgate_wire::stencil::Stencil;

use crate::hosted::Hosted;

/// What is shown of entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// What was selected of them.
    Entities,
    /// Where they are.
    References,
}

/// How what `plan` leads to is written; of references nothing but the key is read.
pub(super) fn stencil(service: &Hosted, plan: &mut Plan, content: Content, format: Format) -> Arc<Stencil> {
    let (model, set) = (&*service.model, plan.set());
    match content {
        Content::Entities => service.stencils.of(model, set, plan.shape, format, &plan.options),
        Content::References => {
            plan.options.select = Select::key_of(model.type_of(set));
            service.stencils.of_references(model, set, format)
        }
    }
}
