//! What failed before a load counted.
//!
//! It deliberately does not judge it.

use std::collections::BTreeMap;

use crate::load::record::recorder::Tally;

/// What failed before trials, in the time in which their connections are opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settling {
    /// Valid answers.
    answered: u64,
    /// Failed requests by class.
    failed: BTreeMap<String, u64>,
    /// The first failure.
    example: Option<String>,
}

impl Settling {
    /// Nothing was asked.
    pub const NONE: Settling = Settling { answered: 0, failed: BTreeMap::new(), example: None };

    /// What was counted before a single load.
    pub(crate) fn of(tally: &Tally) -> Settling {
        let mut settling = Settling::NONE;
        settling.add(tally);
        settling
    }

    /// How many failed, in a sentence that says when, and by itself; absent where none did.
    pub(crate) fn told(&self, when: &str) -> Option<(String, u64)> {
        let Settling { answered, failed, example } = self;
        let count: u64 = failed.values().sum();
        let (classes, first) = (classes(failed), example.as_deref().unwrap_or_default());
        let all = answered + count;
        (count > 0).then(|| (format!("{count} of {all} requests failed {when} ({classes}); the first: {first}"), count))
    }

    /// Adds what was counted before one trial.
    pub fn add(&mut self, tally: &Tally) {
        self.answered += tally.requests;
        for error in &tally.errors {
            *self.failed.entry(error.class.name()).or_default() += error.count;
            self.example.get_or_insert_with(|| error.example.clone());
        }
    }
}

/// Failures by class, in words.
pub(super) fn classes(errors: &BTreeMap<String, u64>) -> String {
    errors.iter().map(|(class, count)| format!("{class}: {count}")).collect::<Vec<_>>().join(", ")
}
