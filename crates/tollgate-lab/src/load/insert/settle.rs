//! Verification of a transfer: the rows in the table are compared with the acknowledged records.

use super::answers::Standing;
use super::aside::Aside;
use serde_json::Value;

use super::records::Records;
use crate::load::answer::failure::Failure;
use tollgate_facts::results::Settlement;

/// Depth of the verification of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closeness {
    /// Rows are counted.
    Count,
    /// Rows are counted, read back and compared one by one.
    Compare,
}

/// Most foreign rows beside which records are compared, since all are read; with more, rows are only counted.
pub(super) const OTHERS_READ_MAX: u64 = 10_000;

/// Counts the rows, and compares them if wanted or if the count differs from the acknowledged records. `others` rows
/// are foreign and were there before. Returns the first disagreement, too.
///
/// # Errors
/// A table that cannot be read.
pub(super) async fn settle(
    aside: &mut Aside<'_>,
    (records, others): (&Records, u64),
    standing: &[Standing],
    closeness: Closeness,
) -> Result<(Settlement, Option<String>), Failure> {
    let count = |of: Standing| standing.iter().filter(|standing| **standing == of).count() as u64;
    let (acknowledged, uncertain) = (count(Standing::Acknowledged), count(Standing::Uncertain));
    let rows = aside.count().await?;
    let closeness = if others > OTHERS_READ_MAX { Closeness::Count } else { closeness };
    let expected = others + acknowledged..=others + acknowledged + uncertain;
    if closeness == Closeness::Count && expected.contains(&rows) {
        return Ok((Settlement { counted: 1, ..Settlement::default() }, None));
    }
    if others > OTHERS_READ_MAX {
        let fault =
            format!("{rows} rows are there, and {acknowledged} records were acknowledged beside {others} of others");
        let (lost, surplus) = (expected.start().saturating_sub(rows), rows.saturating_sub(*expected.end()));
        return Ok((Settlement { counted: 1, lost, surplus, ..Settlement::default() }, Some(fault)));
    }
    let mut found = Found { counts: vec![0; standing.len()], unknown: 0, others, wrong: Vec::new() };
    aside.read_all(|row| found.add(records, row)).await?;
    Ok(found.settled(standing, rows))
}

/// Rows that were read back.
struct Found {
    /// Number of rows for each serial number.
    counts: Vec<u32>,
    /// Rows with a serial number that was not sent.
    unknown: u64,
    /// Rows that were there before.
    others: u64,
    /// Serial numbers whose rows differ from what was sent.
    wrong: Vec<usize>,
}

impl Found {
    fn add(&mut self, records: &Records, row: &Value) {
        let found = records.is_same(row).filter(|(serial, _)| *serial < self.counts.len());
        let Some((serial, is_same)) = found else {
            self.unknown += 1;
            return;
        };
        self.counts[serial] += 1;
        self.wrong.extend((!is_same).then_some(serial));
    }

    fn settled(&self, standing: &[Standing], counted: u64) -> (Settlement, Option<String>) {
        let (unknown, missing) = (self.unknown.saturating_sub(self.others), self.others.saturating_sub(self.unknown));
        let (mut lost, mut surplus) = (missing, unknown);
        let mut fault = None;
        let mut say = |text: String| {
            fault.get_or_insert(text);
        };
        for (serial, (count, standing)) in self.counts.iter().zip(standing).enumerate() {
            match (standing, count) {
                (Standing::Acknowledged, 0) => {
                    lost += 1;
                    say(format!("record {serial} was acknowledged and is not stored"));
                }
                (Standing::Acknowledged, 1) | (Standing::Uncertain, 0 | 1) | (Standing::Absent, 0) => {}
                (Standing::Acknowledged | Standing::Uncertain, count) => {
                    surplus += u64::from(count - 1);
                    say(format!("record {serial} is stored {count} times"));
                }
                (Standing::Absent, count) => {
                    surplus += u64::from(*count);
                    say(format!("record {serial} is stored, though it was refused or never sent"));
                }
            }
        }
        let read: u64 = self.counts.iter().map(|count| u64::from(*count)).sum::<u64>() + self.unknown;
        if unknown > 0 {
            say(format!("{unknown} rows are no records of this run"));
        }
        if missing > 0 {
            say(format!("{missing} rows that stood there before are gone"));
        }
        if let Some(serial) = self.wrong.first() {
            say(format!("record {serial} is stored with another content than was sent"));
        }
        if read != counted && fault.is_none() {
            surplus += counted.saturating_sub(read);
            lost += read.saturating_sub(counted);
            fault = Some(format!("{counted} rows are counted and {read} are read"));
        }
        let wrong = self.wrong.len() as u64;
        (Settlement { counted: 1, compared: 1, lost, surplus, wrong }, fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Standing::{Absent, Acknowledged, Uncertain};

    fn check(
        standing: &[Standing],
        counts: &[u32],
        unknown: u64,
        wrong: &[usize],
        expected: (u64, u64, u64),
        fault: Option<&str>,
    ) {
        let found = Found { counts: counts.to_vec(), unknown: unknown + 5, others: 5, wrong: wrong.to_vec() };
        let rows = counts.iter().map(|count| u64::from(*count)).sum::<u64>() + unknown + 5;
        let (Settlement { lost, surplus, wrong, .. }, found) = found.settled(standing, rows);
        assert_eq!(((lost, surplus, wrong), found.as_deref()), (expected, fault), "{standing:?} {counts:?}");
    }

    #[test]
    fn what_was_acknowledged_stands_there_once_and_what_was_refused_does_not() {
        check(&[Acknowledged; 3], &[1, 1, 1], 0, &[], (0, 0, 0), None);
        check(&[Acknowledged, Uncertain, Uncertain, Absent], &[1, 0, 1, 0], 0, &[], (0, 0, 0), None);
        let lost = Some("record 1 was acknowledged and is not stored");
        check(&[Acknowledged; 3], &[1, 0, 1], 0, &[], (1, 0, 0), lost);
        check(&[Acknowledged; 3], &[1, 0, 2], 0, &[], (1, 1, 0), lost);
        check(&[Acknowledged; 2], &[1, 3], 0, &[], (0, 2, 0), Some("record 1 is stored 3 times"));
        check(&[Uncertain], &[2], 0, &[], (0, 1, 0), Some("record 0 is stored 2 times"));
        let refused = Some("record 0 is stored, though it was refused or never sent");
        check(&[Absent], &[1], 0, &[], (0, 1, 0), refused);
        check(&[Acknowledged], &[1], 2, &[], (0, 2, 0), Some("2 rows are no records of this run"));
        let wrong = Some("record 0 is stored with another content than was sent");
        check(&[Acknowledged], &[1], 0, &[0], (0, 0, 1), wrong);
    }

    #[test]
    fn a_count_that_the_rows_do_not_come_to_is_a_fault() {
        let found = Found { counts: vec![1], unknown: 0, others: 0, wrong: Vec::new() };
        let (settlement, fault) = found.settled(&[Acknowledged], 2);
        assert_eq!(fault.as_deref(), Some("2 rows are counted and 1 are read"));
        assert_eq!(settlement.surplus, 1);
        let found = Found { counts: vec![1], unknown: 3, others: 4, wrong: Vec::new() };
        let (settlement, fault) = found.settled(&[Acknowledged], 4);
        assert_eq!(fault.as_deref(), Some("1 rows that stood there before are gone"));
        assert_eq!(settlement.lost, 1);
    }
}
