//! Describes failures before a load counts, while its connections are opened.
//!
//! It does not judge them.

use std::collections::BTreeMap;

use super::cells;
use crate::load::record::recorder::Tally;

/// Counts the failures and describes them in a sentence that says when they were; absent without any.
pub(crate) fn told(before: &Tally, when: &str) -> Option<(String, u64)> {
    let first = &before.errors.first()?.example;
    let count = before.failures();
    let (all, classes) = (before.requests + count, classes(&cells::errors(&before.errors)));
    Some((format!("{count} of {all} requests failed {when} ({classes}); the first: {first}"), count))
}

/// Failures by class, in words.
pub(super) fn classes(errors: &BTreeMap<String, u64>) -> String {
    errors.iter().map(|(class, count)| format!("{class}: {count}")).collect::<Vec<_>>().join(", ")
}
