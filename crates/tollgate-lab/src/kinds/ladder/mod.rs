//! The number of work processes that a gateway needs for a distant database: a gateway process for each number.
//!
//! It does not warm up the link, which would not change it.

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
