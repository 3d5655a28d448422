//! Experiments: the variants compared, the levels, and the work. Read from TOML, checked once, and valid from then on.
//!
//! This module does not know the kinds of experiments (see [`crate::kinds`]), decide on orders and durations (see
//! [`crate::plan`] and [`crate::plan::schedule`]) or look at a network.

mod check;
mod checker;
mod description;
pub(crate) mod document;
mod error;
mod expected;
mod file;
mod files;
mod schema;
mod values;

pub(crate) use checker::Checker;
pub use checker::LEVEL_MAX;
pub use description::{
    Access, Author, Backend, Configuration, Connections, Experiment, Factor, Heading, Location, TOLLGATE, Users,
    Variant,
};
pub(crate) use description::{Own, place};
pub use error::ExperimentError;
pub(crate) use file::{CELL_MS_MAX, ExtentFile, ROUND_TRIP_MS_MAX, VariantFile};
pub use file::{Extent, PublishedTable};
pub use files::Files;
pub(crate) use schema::schema;
pub(crate) use values::{At, UpTo};
