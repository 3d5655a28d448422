//! Expected statuses of HTTP, as they are written on a command line or in a file.
//!
//! It does not look at a response.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Expected statuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses(Vec<RangeInclusive<u16>>);

impl Default for Statuses {
    fn default() -> Statuses {
        Statuses(vec![200..=299])
    }
}

impl Statuses {
    /// Whether this status is expected.
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
}
