//! Content of an answer on the entities of a path: themselves, or references to them (V4 `$ref`, V2 `$links`).
//!
//! Paging and empty results are elsewhere, since they are the same for both.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tollgate_wire::date;
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Plan, Select};
use tollgate_wire::stencil::Stencil;

use crate::hosted::Hosted;

/// Form in which entities are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Their selected properties.
    Entities,
    /// Their addresses.
    References,
}

/// Stencil that writes the target of `plan`; for references only the key is read.
pub(crate) fn stencil(service: &Hosted, plan: &mut Plan, content: Content, format: Format) -> Arc<Stencil> {
    let (model, set) = (&*service.model, plan.set());
    match content {
        Content::Entities => service.stencils.of(model, set, plan.shape, format, &plan.options),
        Content::References => {
            plan.options.select = Select::key_of(model.type_of(set));
            service.stencils.of_references(model, set, format)
        }
    }
}

/// The time as Atom writes it; the other formats do not have it.
pub(crate) fn updated(format: Format) -> String {
    if format != Format::V2Atom {
        return String::new();
    }
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let whole_seconds_ms = i64::try_from(since_epoch.as_secs()).unwrap_or_default().saturating_mul(1000);
    let mut updated = date::from_epoch_ms(whole_seconds_ms).unwrap_or_default();
    updated.push('Z');
    updated
}
