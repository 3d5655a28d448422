//! Targets of an `insert`: the OData service, its entity set, and the two custom paths beside it; and the kind of its
//! records.
//!
//! It does not say how records are sent (that is a variant's [`crate::traffic::mode::Mode`]).

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::traffic::given::GivenRecords;
use crate::traffic::mode::Mode;

/// The paths of an insert, without a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertPlaces {
    /// Root of the OData service, with a slash at its end.
    pub service: String,
    /// The entity set.
    pub entity_set: String,
    /// Path that accepts all records in one array; absent where no variant sends them so.
    pub insert_all: Option<String>,
    /// Path to which a POST empties the table; absent: records are deleted by their keys.
    pub delete_all: Option<String>,
    /// The kind of record.
    pub record: Record,
}

/// The kind of record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The record of the published measurement, with eleven columns.
    Published,
    /// A record described by the service's `$metadata` and the user's values, which come first.
    Described(OwnRecord),
}

/// The user's values of records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnRecord {
    /// Values that all records have.
    pub(crate) values: Map<String, Value>,
    /// The records of a file.
    pub(crate) file: Option<Arc<GivenRecords>>,
}

impl InsertPlaces {
    /// The path that requests of a mode go to.
    ///
    /// # Panics
    /// The mode sends all records in one array, and there is no path for it.
    pub fn path(&self, mode: Mode) -> String {
        match mode {
            Mode::Single { .. } => self.entity_path(),
            Mode::Batch { .. } => self.batch_path(),
            Mode::CustomRest => self.insert_all.clone().expect("a mode whose path is missing is refused"),
        }
    }

    /// The path of the entity set.
    pub fn entity_path(&self) -> String {
        format!("{}{}", self.service, self.entity_set)
    }

    /// The path of batches.
    pub(crate) fn batch_path(&self) -> String {
        format!("{}$batch", self.service)
    }

    /// The path for counting rows.
    pub(crate) fn count_path(&self) -> String {
        format!("{}/$count", self.entity_path())
    }
}
