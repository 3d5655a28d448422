//! Moments and durations added and subtracted, exactly: a day has 24 hours, as moments are in UTC.
//!
//! It deliberately gives no moment outside of the years 0001 to 9999, whose texts sort as they do.

use super::{Moment, Zone, fraction_ps, sorts_as_text, text_of};

/// Picoseconds of a second.
const SECOND_PS: i128 = 1_000_000_000_000;

/// The direction in which [`plus`] moves by the duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It is added.
    Forward,
    /// It is subtracted.
    Back,
}

/// A Date, DateTime or DateTimeOffset moved later or earlier by `duration`, in the same form; of a Date, the day of the
/// moment that its midnight becomes. `None` if a text has another form, or the year does not have four digits.
pub fn plus(moment: &str, direction: Direction, duration: &str) -> Option<String> {
    let seconds_ps = match direction {
        Direction::Forward => duration_ps(duration)?,
        Direction::Back => -duration_ps(duration)?,
    };
    let moved = epoch_ps(moment)?.checked_add(seconds_ps)?;
    let epoch_s = i64::try_from(moved.div_euclid(SECOND_PS)).ok()?;
    let moved = Moment::from_epoch(epoch_s, moved.rem_euclid(SECOND_PS) as u64)?;
    let mut out = Vec::with_capacity(moment.len() + 8);
    match moment.contains('T') {
        true => moved.write(&mut out),
        false => moved.write_date(&mut out),
    }
    if moment.ends_with('Z') {
        out.push(b'Z');
    }
    Some(text_of(out)).filter(|text| sorts_as_text(text))
}

/// The duration from one moment to a later one, negative if it is earlier. `None` where a text has another form.
pub fn between(earlier: &str, later: &str) -> Option<String> {
    let difference = epoch_ps(later)? - epoch_ps(earlier)?;
    let sign = if difference < 0 { "-" } else { "" };
    let (seconds, fraction) =
        (difference.unsigned_abs() / SECOND_PS as u128, difference.unsigned_abs() % SECOND_PS as u128);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let mut text = format!("{sign}P");
    if days > 0 {
        text += &format!("{days}D");
    }
    if rest > 0 || fraction > 0 || days == 0 {
        text.push('T');
        for (amount, unit) in [(rest / 3600, 'H'), (rest / 60 % 60, 'M')] {
            if amount > 0 {
                text += &format!("{amount}{unit}");
            }
        }
        let second = rest % 60;
        if fraction > 0 {
            let digits = format!("{fraction:012}");
            text += &format!("{second}.{}S", digits.trim_end_matches('0'));
        } else if second > 0 || text.ends_with('T') {
            text += &format!("{second}S");
        }
    }
    Some(text)
}

fn epoch_ps(moment: &str) -> Option<i128> {
    let moment = Moment::parse(moment.as_bytes(), Zone::Maybe)?;
    Some(i128::from(moment.epoch_s()) * SECOND_PS + i128::from(moment.fraction_ps))
}

/// The length of a canonical duration.
fn duration_ps(text: &str) -> Option<i128> {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let mut rest = unsigned.strip_prefix('P')?;
    let mut whole: i128 = 0;
    let mut found = false;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            rest = time;
            continue;
        }
        let end = rest.find(|character: char| character.is_ascii_alphabetic())?;
        let (number, unit) = (&rest[..end], rest.as_bytes()[end]);
        let unit_s = match unit {
            b'D' => 86_400,
            b'H' => 3_600,
            b'M' => 60,
            b'S' => 1,
            _ => return None,
        };
        let (digits, fraction) = number.split_once('.').unwrap_or((number, ""));
        let amount: i128 = digits.parse().ok().filter(|amount| (0..1 << 60).contains(amount))?;
        whole += amount * unit_s * SECOND_PS;
        if !fraction.is_empty() {
            whole += i128::from(fraction_ps(fraction)?) * unit_s;
        }
        found = true;
        rest = &rest[end + 1..];
    }
    found.then_some(if negative { -whole } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn moments_move_by_durations_in_their_own_form() {
        let check = |moment: &str, direction, duration: &str, expected: Option<&str>| {
            assert_eq!(plus(moment, direction, duration).as_deref(), expected, "{moment} {direction:?} {duration}");
        };
        let (forward, back) = (Direction::Forward, Direction::Back);
        check("2024-02-28T23:00:00Z", forward, "PT2H", Some("2024-02-29T01:00:00Z"));
        check("2024-03-01T00:00:00.5Z", back, "P1DT0.75S", Some("2024-02-28T23:59:59.75Z"));
        check("2024-03-01T00:00:00", back, "-PT1M", Some("2024-03-01T00:01:00"));
        check("2024-02-28", forward, "P1DT23H", Some("2024-02-29"));
        check("2024-03-01", back, "PT1S", Some("2024-02-29"));
        check("9999-12-31T23:59:59Z", forward, "PT1S", None);
        check("0001-01-01", back, "PT1S", None);
        check("2024-01-01", forward, "P99999999999999999999D", None);
        check("2024-01-01", forward, "P1Y", None);
        check("11:00:00", forward, "PT1S", None);
    }

    #[test]
    fn what_lies_between_moments_is_a_duration() {
        let check = |earlier: &str, later: &str, expected: &str| {
            assert_eq!(between(earlier, later).as_deref(), Some(expected), "{earlier} {later}");
        };
        check("2024-02-28", "2024-03-01", "P2D");
        check("2024-02-28T12:00:00Z", "2024-03-01T13:02:03.25Z", "P2DT1H2M3.25S");
        check("2024-02-28", "2024-02-28", "PT0S");
        check("2024-02-28T00:00:00.5Z", "2024-02-28T00:00:00Z", "-PT0.5S");
        check("2024-02-28T00:00:00Z", "2024-02-28T01:00:00Z", "PT1H");
    }

    proptest! {
        #[test]
        fn what_lies_between_leads_from_one_to_the_other(days in -700_000_i64..2_900_000, seconds in 0_i64..86_400) {
            let begin = "2013-09-25T11:00:00.123Z";
            let end = super::super::from_epoch_ms(days * 86_400_000 + seconds * 1000 + 7).unwrap() + "Z";
            let duration = between(begin, &end).unwrap();
            prop_assert_eq!(plus(begin, Direction::Forward, &duration), Some(end.clone()));
            prop_assert_eq!(plus(&end, Direction::Back, &duration), Some(begin.to_owned()));
        }
    }
}
