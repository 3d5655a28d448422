//! Where an `insert` sends its records: the OData service, its entity set, and the two custom paths beside it.
//!
//! What it deliberately does not do: say how records are sent (that is a variant's [`super::Mode`]).

use super::mode::{BatchForm, Mode};

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
}

/// A few words for people about a mode.
pub(super) fn title(mode: Mode) -> String {
    match mode {
        Mode::Single { connections: 1 } => "one request a record, one after another".to_owned(),
        Mode::Single { connections } => format!("one request a record, over {connections} connections"),
        Mode::Batch { form: BatchForm::Json, records } => format!("JSON batches of {records} independent requests"),
        Mode::Batch { form: BatchForm::Changeset, records } => format!("JSON batches of one change set of {records}"),
        Mode::Batch { form: BatchForm::Multipart, records } => {
            format!("multipart batches of {records} independent requests")
        }
        Mode::CustomRest => "all records in one array to a REST endpoint".to_owned(),
    }
}
