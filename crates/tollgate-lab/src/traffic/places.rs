//! Where an `insert` sends its records: the OData service, its entity set, and the two custom paths beside it.
//!
//! What it deliberately does not do: say how records are sent (that is a variant's [`crate::traffic::mode::Mode`]).

use crate::traffic::mode::Mode;

/// The places of an insert, each a path without a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertPlaces {
    /// Root of the OData V4 service, with a slash at its end.
    pub service: String,
    /// The entity set.
    pub entity_set: String,
    /// Takes all records in one array.
    pub insert_all: String,
    /// Empties the table when it is posted to.
    pub delete_all: String,
}

impl InsertPlaces {
    /// The path that requests of a mode go to.
    pub fn path(&self, mode: Mode) -> String {
        match mode {
            Mode::Single { .. } => self.entity_path(),
            Mode::Batch { .. } => format!("{}$batch", self.service),
            Mode::CustomRest => self.insert_all.clone(),
        }
    }

    /// The path of the entity set.
    pub fn entity_path(&self) -> String {
        format!("{}{}", self.service, self.entity_set)
    }

    /// The path at which its rows are counted.
    pub(crate) fn count_path(&self) -> String {
        format!("{}/$count", self.entity_path())
    }
}
