//! The stock quotes that mediators have always been shown with: figures for any symbol, made up on the spot.
//!
//! The same symbol has the same figures, in every process and at any time, so that answers can be compared byte by
//! byte. It knows no market, and no SOAP around the figures.

mod description;
mod figures;
mod write;

pub(crate) use self::description::write_description;
pub(crate) use self::figures::{History, Quote};
pub(crate) use self::write::{write_day, write_quote};

use tollgate_wire::date;

/// The namespace of all elements.
pub(crate) const NAMESPACE: &str = "http://services.samples";

// The table of limits.
/// Characters of the longest symbol.
pub(crate) const SYMBOL_CHARACTERS_MAX: usize = 32;
/// Days of a full quote: those on which exchanges trade in a year.
pub(crate) const DAYS: usize = 252;

/// The last day with figures: Friday, 2011-06-03, in days since 1970-01-01.
const LAST_DAY: i64 = 15_128;

/// Closing times of each day, the last one first: weekdays, in UTC (RFC 3339).
pub(crate) fn closing_times() -> Vec<String> {
    // 1970-01-01 was a Thursday.
    let is_weekday = |day: &i64| !matches!((day + 3).rem_euclid(7), 5 | 6);
    let days = (0..).map(|back| LAST_DAY - back).filter(is_weekday).take(DAYS);
    days.filter_map(date::date_from_days).map(|day| day + "T20:00:00Z").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_days_of_a_full_quote_are_the_weekdays_of_a_year() {
        let days = closing_times();
        assert_eq!(days.len(), DAYS);
        assert_eq!(days[..2], ["2011-06-03T20:00:00Z", "2011-06-02T20:00:00Z"]);
        // A weekend lies between Monday and Friday.
        assert_eq!(days[4..6], ["2011-05-30T20:00:00Z", "2011-05-27T20:00:00Z"]);
        assert_eq!(days[DAYS - 1], "2010-06-17T20:00:00Z");
    }
}
