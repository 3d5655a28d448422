//! Dates as HTTP writes them (RFC 9110, section 5.6.7), all three forms, read as seconds since 1970.
//!
//! It writes none: the engine does.

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_SECONDS: i64 = 24 * 3600;

/// Parses a date. `now_s` is the current time: a year of two digits that would be more than 50 years ahead is in the
/// past.
///
/// The name of the day is not compared with the date.
pub(crate) fn parse(text: &str, now_s: i64) -> Option<i64> {
    let (day_name, rest) = text.split_once([',', ' '])?;
    if day_name.len() < 3 || !day_name.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let mut words = rest.split([' ', '-']).filter(|word| !word.is_empty());
    if text.contains(',') {
        // Sun, 06 Nov 1994 08:49:37 GMT, or Sunday, 06-Nov-94 08:49:37 GMT
        let (day, month, year, time) = (words.next()?, words.next()?, words.next()?, words.next()?);
        if words.next()? != "GMT" || words.next().is_some() {
            return None;
        }
        let year = match year.len() {
            4 => number(year)?,
            2 => of_two_digits(number(year)?, now_s),
            _ => return None,
        };
        return seconds(year, month, day, time);
    }
    // Sun Nov  6 08:49:37 1994
    let (month, day, time, year) = (words.next()?, words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || year.len() != 4 {
        return None;
    }
    seconds(number(year)?, month, day, time)
}

fn seconds(year: i64, month: &str, day: &str, time: &str) -> Option<i64> {
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as i64;
    let day = number(day).filter(|day| (1..=days_in(year, month)).contains(day))?;
    let mut parts = time.split(':');
    let mut part = |below: i64| {
        let text = parts.next().filter(|text| text.len() == 2)?;
        number(text).filter(|value| *value < below)
    };
    // 60: a leap second.
    let (hour, minute, second) = (part(24)?, part(60)?, part(61)?);
    if parts.next().is_some() {
        return None;
    }
    Some(days_since_1970(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second)
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

fn of_two_digits(year: i64, now_s: i64) -> i64 {
    // The average year is exact enough to choose a century by.
    let this_year = 1970 + now_s / (365 * DAY_SECONDS + DAY_SECONDS / 4);
    let year = this_year - this_year.rem_euclid(100) + year;
    if year > this_year + 50 { year - 100 } else { year }
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the proleptic Gregorian calendar, counted by years that begin in March.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day in 2024.
    const NOW_S: i64 = 1_710_000_000;

    #[test]
    fn all_three_forms_are_read_and_nothing_else() {
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(784_111_777)),
            ("Sun Nov  6 08:49:37 1994", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:60 GMT", Some(1_709_251_200)),
            ("Friday, 01-Jan-70 00:00:00 GMT", Some(3_155_760_000)),
            ("Friday, 01-Jan-80 00:00:00 GMT", Some(315_532_800)),
            ("Wed, 29 Feb 2023 00:00:00 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994 8:49:37 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            ("Sun, 00 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 NOV 1994 08:49:37 GMT", None),
            ("0", None),
            ("-1", None),
            ("", None),
            ("é, 06 Nov 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(parse(text, NOW_S), expected, "{text}");
        }
    }

    #[test]
    fn days_are_counted_without_a_gap() {
        let mut expected = days_since_1970(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    assert_eq!(days_since_1970(year, month, day), expected, "{year}-{month}-{day}");
                    expected += 1;
                }
            }
        }
    }
}
