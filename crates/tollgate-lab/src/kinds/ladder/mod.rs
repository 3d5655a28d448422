//! How many work processes a gateway needs before a database that is far away: a process of its own on each rung.
//!
//! What it deliberately does not do: warm a link, which does not become warm.

mod afar;
mod file;
mod page;
mod plan;

use super::http;
use super::listed::Listed;
use crate::experiment::Factor;
use afar::Afar;

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "work-processes",
    workload: "walk",
    factors: &[Factor {
        name: "work-processes",
        unit: "work processes",
        about: "Work processes of the gateway, at so many users.",
    }],
    unit_of_work: http::PASS,
    keys: file::KEYS,
    read: file::read,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    ..http::kind::<Afar>()
};
