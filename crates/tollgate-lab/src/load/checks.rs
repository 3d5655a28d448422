//! What is asked of an answer beside its content: a status that was wanted, the length of the first one, no fault in a SOAP
//! envelope, every answer of a batch.
//!
//! What it deliberately does not do: read an answer; see [`super::content`].

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::failure::Failure;
use super::odata_batch::BatchForm;

/// What is asked of answers.
#[derive(Debug, Clone, Default)]
pub struct Checks {
    /// Which statuses are wanted.
    pub statuses: Statuses,
    /// How long they may be.
    pub length: LengthCheck,
    /// What they are.
    pub kind: AnswerKind,
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerKind {
    /// Nothing that would be read.
    #[default]
    Plain,
    /// A SOAP envelope, which may hold a fault.
    Soap,
    /// The answer to a batch of so many requests.
    Batch {
        /// Of this form.
        form: BatchForm,
        /// Requests in each batch.
        requests: usize,
    },
}

/// How long answers may be.
#[derive(Debug, Clone, Default)]
pub enum LengthCheck {
    /// As long as they are.
    #[default]
    Any,
    /// As long as the first valid one of all workers, as ApacheBench has it.
    AsFirst(FirstLength),
}

/// The length of the first valid answer. It is written once and then only read, so that workers share it for nothing.
#[derive(Debug, Clone)]
pub struct FirstLength(Arc<AtomicU64>);

const UNKNOWN: u64 = u64::MAX;

impl Default for FirstLength {
    fn default() -> FirstLength {
        FirstLength(Arc::new(AtomicU64::new(UNKNOWN)))
    }
}

impl FirstLength {
    pub(super) fn judge(&self, came_bytes: u64) -> Result<(), Failure> {
        let known = match self.0.load(Ordering::Relaxed) {
            UNKNOWN => match self.0.compare_exchange(UNKNOWN, came_bytes, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => came_bytes,
                Err(known) => known,
            },
            known => known,
        };
        if known == came_bytes { Ok(()) } else { Err(Failure::length(came_bytes, known)) }
    }
}

/// Statuses that are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses(Vec<RangeInclusive<u16>>);

impl Default for Statuses {
    fn default() -> Statuses {
        Statuses(vec![200..=299])
    }
}

impl Statuses {
    /// Whether this one is.
    #[inline]
    pub fn contains(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, range) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(formatter, "{comma}{first}")?,
                (first, last) if first % 100 == 0 && *last == first + 99 => {
                    write!(formatter, "{comma}{}xx", first / 100)?
                }
                (first, last) => write!(formatter, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

/// `200`, `2xx,304`, `200-299`, `any`.
impl FromStr for Statuses {
    type Err = String;

    fn from_str(text: &str) -> Result<Statuses, String> {
        let ranges: Option<Vec<RangeInclusive<u16>>> = text.split(',').map(|part| range(part.trim())).collect();
        ranges
            .map(Statuses)
            .ok_or_else(|| format!("`{text}` are no statuses: write such as 200, 2xx,304, 400-404 or any"))
    }
}

fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let status = |text: &str| text.parse::<u16>().ok().filter(|status| (100..600).contains(status));
    if text == "any" {
        return Some(100..=599);
    }
    if let Some(class) = text.strip_suffix("xx") {
        let first = status(&format!("{class}00"))?;
        return Some(first..=first + 99);
    }
    match text.split_once('-') {
        Some((first, last)) => Some(status(first)?..=status(last)?).filter(|range| !range.is_empty()),
        None => status(text).map(|status| status..=status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_read_and_written() {
        let check = |text: &str, wanted: &[u16], unwanted: &[u16]| {
            let statuses: Statuses = text.parse().unwrap();
            assert!(wanted.iter().all(|status| statuses.contains(*status)), "{text}");
            assert!(!unwanted.iter().any(|status| statuses.contains(*status)), "{text}");
            assert_eq!(statuses.to_string().parse(), Ok(statuses));
        };
        check("200", &[200], &[201]);
        check("2xx, 304", &[200, 299, 304], &[300, 303]);
        check("400-404", &[400, 404], &[405]);
        check("any", &[100, 599], &[]);
        assert_eq!(Statuses::default().to_string(), "2xx");
        for wrong in ["", "2x", "99", "600", "404-400", "2xx,"] {
            assert!(wrong.parse::<Statuses>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_length_is_held_against_the_first() {
        let first = FirstLength::default();
        assert_eq!(first.judge(5), Ok(()));
        assert_eq!(first.clone().judge(5), Ok(()));
        assert_eq!(first.judge(4).unwrap_err().text, "the answer has 4 bytes, the first one had 5");
    }
}
