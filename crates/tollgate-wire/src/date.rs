//! Dates and times as texts: civil-date arithmetic, the canonical forms of [`crate::value`], and the forms in which V2
//! writes them (`/Date(…)/`, `PT11H00M00S`).
//!
//! What it deliberately does not do: read a clock, know time zones by name, or know leap seconds (a second of 60 in a
//! `DateTimeOffset` is the first of the next minute).

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar. `month` is 1 to 12.
///
/// The arithmetic is that of Howard Hinnant's `days_from_civil` (chrono-compatible low-level date algorithms).
pub fn days_from_civil(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date (year, month, day) that lies `days` after 1970-01-01.
pub fn civil_from_days(days: i64) -> (i32, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as i32, month as u32, day as u32)
}

/// How many days a month has.
pub fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Milliseconds since 1970-01-01T00:00:00 of a Date, DateTime or DateTimeOffset text; finer fractions are cut off.
pub fn epoch_ms(text: impl AsRef<[u8]>) -> Option<i64> {
    let moment = Moment::parse(text.as_ref(), Zone::Maybe)?;
    Some(moment.epoch_s() * 1_000 + (moment.fraction_ps / 1_000_000_000) as i64)
}

/// The canonical DateTime text of milliseconds since 1970-01-01T00:00:00; `None` beyond the years that are accepted.
pub fn from_epoch_ms(epoch_ms: i64) -> Option<String> {
    let moment = Moment::from_epoch(epoch_ms.div_euclid(1_000), epoch_ms.rem_euclid(1_000) as u64 * 1_000_000_000)?;
    let mut out = Vec::with_capacity(24);
    moment.write(&mut out);
    Some(text_of(out))
}

/// The canonical Date text of days since 1970-01-01; `None` beyond the years that are accepted.
pub fn date_from_days(days: i64) -> Option<String> {
    let moment = Moment::from_epoch(days.checked_mul(86_400)?, 0)?;
    let mut out = Vec::with_capacity(10);
    moment.write_date(&mut out);
    Some(text_of(out))
}

/// The canonical form of a Date: `2013-09-25`.
pub fn date(text: &str) -> Option<String> {
    let (moment, rest) = Moment::date(text.as_bytes())?;
    let mut out = Vec::with_capacity(10);
    moment.write_date(&mut out);
    rest.is_empty().then(|| text_of(out))
}

/// Whether a canonical Date, DateTime or DateTimeOffset lies in the years 0001 to 9999: their texts sort as the times do,
/// those of other years do not.
pub fn sorts_as_text(canonical: &str) -> bool {
    canonical.as_bytes().get(4) == Some(&b'-') && !canonical.starts_with("0000")
}

/// The canonical form of a DateTime without zone; seconds may be missing.
pub fn date_time(text: &str) -> Option<String> {
    let moment = Moment::parse(text.as_bytes(), Zone::None)?;
    let mut out = Vec::with_capacity(24);
    moment.write(&mut out);
    Some(text_of(out))
}

/// The canonical form of a DateTimeOffset: moved to UTC.
pub fn date_time_offset(text: &str) -> Option<String> {
    let moment = Moment::parse(text.as_bytes(), Zone::Needed)?;
    let mut out = Vec::with_capacity(25);
    Moment::from_epoch(moment.epoch_s(), moment.fraction_ps)?.write(&mut out);
    out.push(b'Z');
    Some(text_of(out))
}

/// The canonical form of a time of day: `11:00:00`; seconds may be missing.
pub fn time_of_day(text: &str) -> Option<String> {
    let (moment, rest) = Moment::default().time(text.as_bytes(), 59)?;
    let mut out = Vec::with_capacity(12);
    moment.write_time(&mut out);
    rest.is_empty().then(|| text_of(out))
}

/// The canonical form of a Duration (`P1DT2H3M4.5S`): the V4 value space, days to seconds, with at most 12 digits of
/// fraction. Components are kept as they came, except for a plus sign, leading zeros and empty components.
pub fn duration(text: &str) -> Option<String> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let body = unsigned.strip_prefix('P')?;
    let (days, time) = match body.split_once('T') {
        Some((days, time)) if !time.is_empty() => (days, time),
        Some(_) => return None,
        None => (body, ""),
    };
    let mut out = format!("{sign}P");
    let mut components = 0;
    let rest = component(&mut out, days, 'D', &mut components)?;
    if !rest.is_empty() {
        return None;
    }
    out.push('T');
    let before_time = out.len();
    let rest = component(&mut out, time, 'H', &mut components)?;
    let rest = component(&mut out, rest, 'M', &mut components)?;
    let rest = component(&mut out, rest, 'S', &mut components)?;
    if !rest.is_empty() || components == 0 {
        return None;
    }
    if out.len() == before_time {
        out.pop();
    }
    if out.ends_with('P') {
        return Some("PT0S".to_owned());
    }
    Some(out)
}

/// Writes a time of day as V2's `Edm.Time`: `11:00:00` becomes `PT11H00M00S`. A text that is none is written as it is.
pub fn v2_time_from_text(out: &mut Vec<u8>, text: &[u8]) {
    match text {
        [h1, h2, b':', m1, m2, b':', seconds @ ..] => {
            out.extend_from_slice(&[b'P', b'T', *h1, *h2, b'H', *m1, *m2, b'M']);
            out.extend_from_slice(seconds);
            out.push(b'S');
        }
        _ => out.extend_from_slice(text),
    }
}

/// The canonical time of day of a V2 `Edm.Time` such as `PT11H00M00S` or `PT5M`; a day or more is none.
pub fn text_from_v2_time(text: &str) -> Option<String> {
    let mut rest = text.strip_prefix("PT")?;
    let mut fields = [""; 3];
    for (field, unit) in fields.iter_mut().zip(['H', 'M', 'S']) {
        if let Some((value, after)) = rest.split_once(unit) {
            (*field, rest) = (value, after);
        }
    }
    let [hours, minutes, seconds] = fields;
    if !rest.is_empty() || fields == ["", "", ""] {
        return None;
    }
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let mut moment =
        Moment { fraction_ps: if fraction.is_empty() { 0 } else { fraction_ps(fraction)? }, ..Moment::default() };
    for (target, digits, most) in
        [(&mut moment.hour, hours, 23), (&mut moment.minute, minutes, 59), (&mut moment.second, seconds, 59)]
    {
        if digits.len() > 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *target = if digits.is_empty() { 0 } else { digits.parse().ok().filter(|value| *value <= most)? };
    }
    let mut out = Vec::with_capacity(12);
    moment.write_time(&mut out);
    Some(text_of(out))
}

/// Writes a Date, DateTime or DateTimeOffset text as V2's JSON does: `/Date(1380067200000)/`, the offset form with
/// `+0000`. A text that is none of them is written as it is. (OData V2 JSON format, "Edm.DateTime".)
pub fn v2_json_from_text(out: &mut Vec<u8>, text: &[u8]) {
    let Some(epoch_ms) = epoch_ms(text) else {
        out.extend_from_slice(text);
        return;
    };
    out.extend_from_slice(b"/Date(");
    write_integer(out, epoch_ms);
    out.extend_from_slice(if text.ends_with(b"Z") { b"+0000)/".as_slice() } else { b")/".as_slice() });
}

/// The canonical DateTime (without offset) or DateTimeOffset (with one, in minutes) of `/Date(…)/`.
pub fn text_from_v2_json(text: &str) -> Option<String> {
    let inner = text.strip_prefix("/Date(")?.strip_suffix(")/")?;
    let sign_at = inner.bytes().skip(1).position(|byte| byte == b'+' || byte == b'-').map(|at| at + 1);
    let ms: i64 = inner[..sign_at.unwrap_or(inner.len())].parse().ok()?;
    let mut canonical = from_epoch_ms(ms)?;
    if let Some(at) = sign_at {
        // The milliseconds are UTC already: the offset only tells how a display would show them.
        let offset = &inner[at + 1..];
        if offset.len() > 4 || offset.is_empty() || !offset.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        canonical.push('Z');
    }
    Some(canonical)
}

/// Years that are accepted, either side of 0: beyond four digits texts no longer sort as dates do, which is the
/// client's wish then.
const YEAR_DIGITS_MAX: usize = 6;
/// Digits of a fraction of a second (OData V4 ABNF, `fractionalSeconds`).
const FRACTION_DIGITS_MAX: usize = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    None,
    Maybe,
    Needed,
}

#[derive(Clone, Copy, Default)]
struct Moment {
    year: i32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    fraction_ps: u64,
    offset_minutes: i64,
}

impl Moment {
    fn parse(text: &[u8], zone: Zone) -> Option<Moment> {
        let (moment, rest) = Moment::date(text)?;
        if rest.is_empty() && zone == Zone::Maybe {
            return Some(moment);
        }
        let (b'T' | b't', rest) = rest.split_first()? else { return None };
        let (mut moment, rest) = moment.time(rest, if zone == Zone::None { 59 } else { 60 })?;
        match rest {
            [] if zone != Zone::Needed => {}
            b"Z" | b"z" if zone != Zone::None => {}
            [sign @ (b'+' | b'-'), offset @ ..] if zone != Zone::None => {
                let (hours, rest) = two_digits(offset, 23)?;
                let (b':', rest) = rest.split_first()? else { return None };
                let (minutes, rest) = two_digits(rest, 59)?;
                if !rest.is_empty() {
                    return None;
                }
                let offset = i64::from(hours * 60 + minutes);
                moment.offset_minutes = if *sign == b'-' { -offset } else { offset };
            }
            _ => return None,
        }
        Some(moment)
    }

    fn date(text: &[u8]) -> Option<(Moment, &[u8])> {
        let (negative, unsigned) = match text.first()? {
            b'-' => (true, &text[1..]),
            _ => (false, text),
        };
        let digits = unsigned.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(4..=YEAR_DIGITS_MAX).contains(&digits) || (digits > 4 && unsigned[0] == b'0') {
            return None;
        }
        let year = unsigned[..digits].iter().fold(0, |year, digit| year * 10 + i32::from(digit - b'0'));
        let year = if negative { -year } else { year };
        let (b'-', rest) = unsigned[digits..].split_first()? else { return None };
        let (month, rest) = two_digits(rest, 12)?;
        let (b'-', rest) = rest.split_first()? else { return None };
        let (day, rest) = two_digits(rest, 31)?;
        if month == 0 || day == 0 || day > days_in_month(year, month) {
            return None;
        }
        Some((Moment { year, month, day, ..Moment::default() }, rest))
    }

    fn time(mut self, text: &[u8], second_max: u32) -> Option<(Moment, &[u8])> {
        let (hour, rest) = two_digits(text, 23)?;
        let (b':', rest) = rest.split_first()? else { return None };
        let (minute, mut rest) = two_digits(rest, 59)?;
        (self.hour, self.minute) = (hour, minute);
        if let [b':', after @ ..] = rest {
            (self.second, rest) = two_digits(after, second_max)?;
            if let [b'.', after @ ..] = rest {
                let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.fraction_ps = fraction_ps(std::str::from_utf8(&after[..digits]).ok()?)?;
                rest = &after[digits..];
            }
        }
        Some((self, rest))
    }

    fn epoch_s(&self) -> i64 {
        days_from_civil(self.year, self.month, self.day) * 86_400
            + i64::from(self.hour * 3_600 + self.minute * 60 + self.second)
            - self.offset_minutes * 60
    }

    fn from_epoch(epoch_s: i64, fraction_ps: u64) -> Option<Moment> {
        // Six digits of year are less than 2^25 s * 2^20; the check keeps the arithmetic within its types.
        if epoch_s.unsigned_abs() > 1 << 45 {
            return None;
        }
        let (year, month, day) = civil_from_days(epoch_s.div_euclid(86_400));
        let second = epoch_s.rem_euclid(86_400) as u32;
        (year.unsigned_abs() < 10u32.pow(YEAR_DIGITS_MAX as u32)).then_some(Moment {
            year,
            month,
            day,
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            fraction_ps,
            offset_minutes: 0,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.write_date(out);
        out.push(b'T');
        self.write_time(out);
    }

    fn write_date(&self, out: &mut Vec<u8>) {
        if self.year < 0 {
            out.push(b'-');
        }
        let year = self.year.unsigned_abs();
        if year > 9_999 {
            write_integer(out, i64::from(year));
        } else {
            push_two(out, year / 100);
            push_two(out, year % 100);
        }
        out.push(b'-');
        push_two(out, self.month);
        out.push(b'-');
        push_two(out, self.day);
    }

    fn write_time(&self, out: &mut Vec<u8>) {
        push_two(out, self.hour);
        out.push(b':');
        push_two(out, self.minute);
        out.push(b':');
        push_two(out, self.second);
        if self.fraction_ps != 0 {
            out.push(b'.');
            let mut rest = self.fraction_ps;
            let mut unit = 10u64.pow(FRACTION_DIGITS_MAX as u32 - 1);
            while rest != 0 {
                out.push(b'0' + (rest / unit) as u8);
                rest %= unit;
                unit /= 10;
            }
        }
    }
}

fn two_digits(text: &[u8], most: u32) -> Option<(u32, &[u8])> {
    match text {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
            let value = u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
            (value <= most).then_some((value, rest))
        }
        _ => None,
    }
}

fn fraction_ps(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > FRACTION_DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: u64 = digits.parse().ok()?;
    Some(value * 10u64.pow((FRACTION_DIGITS_MAX - digits.len()) as u32))
}

/// Takes one component of a duration (`12H`, `4.5S`) from the front of `text`, if it stands there, and writes it.
fn component<'t>(out: &mut String, text: &'t str, unit: char, components: &mut u32) -> Option<&'t str> {
    let Some((value, rest)) = text.split_once(unit) else { return Some(text) };
    let (whole, fraction) = match value.split_once('.') {
        Some((whole, fraction)) if unit == 'S' => (whole, Some(fraction)),
        Some(_) => return None,
        None => (value, None),
    };
    if whole.is_empty() || whole.len() > 12 || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(fraction) = fraction {
        fraction_ps(fraction)?;
    }
    *components += 1;
    let whole = whole.trim_start_matches('0');
    let fraction = fraction.unwrap_or("").trim_end_matches('0');
    if !whole.is_empty() || !fraction.is_empty() {
        out.push_str(if whole.is_empty() { "0" } else { whole });
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
        out.push(unit);
    }
    Some(rest)
}

fn push_two(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&[b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]);
}

fn write_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn text_of(ascii: Vec<u8>) -> String {
    String::from_utf8(ascii).expect("dates are written in ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn days_count_from_1970() {
        for (date, days) in [
            ((1970, 1, 1), 0),
            ((1969, 12, 31), -1),
            ((2000, 2, 29), 11_016),
            ((2013, 9, 25), 15_973),
            ((0, 3, 1), -719_468),
            ((-10_000, 4, 1), -4_371_862),
        ] {
            assert_eq!(days_from_civil(date.0, date.1, date.2), days, "{date:?}");
            assert_eq!(civil_from_days(days), date, "{days}");
        }
    }

    #[test]
    fn canonical_forms_of_dates_and_times() {
        fn check(form: fn(&str) -> Option<String>, text: &str, expected: Option<&str>) {
            assert_eq!(form(text).as_deref(), expected, "{text}");
        }
        check(date, "2013-09-25", Some("2013-09-25"));
        check(date, "-10000-04-01", Some("-10000-04-01"));
        check(date, "2013-02-29", None);
        check(date, "2013-13-01", None);
        check(date, "02013-01-01", None);
        check(date, "2013-9-25", None);
        check(date, "2013-09-25T00:00", None);
        check(date_time, "2013-09-25T00:00:00", Some("2013-09-25T00:00:00"));
        check(date_time, "2013-09-25T12:30", Some("2013-09-25T12:30:00"));
        check(date_time, "2013-09-25T12:30:15.2500000", Some("2013-09-25T12:30:15.25"));
        check(date_time, "2013-09-25T12:30:15Z", None);
        check(date_time, "2013-09-25T24:00", None);
        check(date_time_offset, "2012-09-03T13:52Z", Some("2012-09-03T13:52:00Z"));
        check(date_time_offset, "2012-09-03T23:59+01:00", Some("2012-09-03T22:59:00Z"));
        check(date_time_offset, "2012-12-31T23:59:59.5-00:01", Some("2013-01-01T00:00:59.5Z"));
        check(date_time_offset, "1972-06-30T23:59:60Z", Some("1972-07-01T00:00:00Z"));
        check(date_time_offset, "-10000-04-01T00:00Z", Some("-10000-04-01T00:00:00Z"));
        check(date_time_offset, "2012-09-03T13:52", None);
        check(time_of_day, "11:22:33.4444444", Some("11:22:33.4444444"));
        check(time_of_day, "11:22", Some("11:22:00"));
        check(time_of_day, "11:22:33.", None);
        check(time_of_day, "25:00", None);
        check(duration, "P6DT23H59M59.9999S", Some("P6DT23H59M59.9999S"));
        check(duration, "-PT036H", Some("-PT36H"));
        check(duration, "PT0.50S", Some("PT0.5S"));
        check(duration, "P1D", Some("P1D"));
        check(duration, "P0DT0S", Some("PT0S"));
        check(duration, "P", None);
        check(duration, "PT", None);
        check(duration, "P1DT", None);
        check(duration, "P1Y", None);
        check(duration, "PT1S1M", None);
        check(text_from_v2_time, "PT11H00M00S", Some("11:00:00"));
        check(text_from_v2_time, "PT5M", Some("00:05:00"));
        check(text_from_v2_time, "PT1H2M3.50S", Some("01:02:03.5"));
        check(text_from_v2_time, "PT24H", None);
        check(text_from_v2_time, "PT", None);
        check(text_from_v2_time, "P1DT1H", None);
        check(text_from_v2_json, "/Date(1380067200000)/", Some("2013-09-25T00:00:00"));
        check(text_from_v2_json, "/Date(-1)/", Some("1969-12-31T23:59:59.999"));
        check(text_from_v2_json, "/Date(1380067200000+0120)/", Some("2013-09-25T00:00:00Z"));
        check(text_from_v2_json, "/Date(x)/", None);
        check(text_from_v2_json, "/Date()/", None);
    }

    #[test]
    fn v2_forms_are_written_from_canonical_texts() {
        let written = |write: fn(&mut Vec<u8>, &[u8]), text: &str| {
            let mut out = Vec::new();
            write(&mut out, text.as_bytes());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(v2_time_from_text, "11:00:00"), "PT11H00M00S");
        assert_eq!(written(v2_time_from_text, "01:02:03.5"), "PT01H02M03.5S");
        assert_eq!(written(v2_json_from_text, "2013-09-25"), "/Date(1380067200000)/");
        assert_eq!(written(v2_json_from_text, "2013-09-25T00:00:00.25"), "/Date(1380067200250)/");
        assert_eq!(written(v2_json_from_text, "2013-09-25T00:00:00Z"), "/Date(1380067200000+0000)/");
        assert_eq!(written(v2_json_from_text, "soon"), "soon");
    }

    proptest! {
        #[test]
        fn days_and_civil_dates_are_inverse(days in -40_000_000i64..40_000_000) {
            let (year, month, day) = civil_from_days(days);
            prop_assert!(day >= 1 && day <= days_in_month(year, month));
            prop_assert_eq!(days_from_civil(year, month, day), days);
        }

        #[test]
        fn milliseconds_round_trip(ms in -62_000_000_000_000i64..250_000_000_000_000) {
            let text = from_epoch_ms(ms).unwrap();
            prop_assert_eq!(epoch_ms(&text), Some(ms));
            prop_assert_eq!(date_time(&text), Some(text.clone()));
            let mut json = Vec::new();
            v2_json_from_text(&mut json, text.as_bytes());
            prop_assert_eq!(text_from_v2_json(std::str::from_utf8(&json).unwrap()), Some(text));
        }

        #[test]
        fn times_round_trip(second in 0u32..86_400, fraction in proptest::option::of(1u32..1000)) {
            let fraction = fraction.map_or(String::new(), |digits| format!(".{digits:03}"));
            let text = format!("{:02}:{:02}:{:02}{fraction}", second / 3600, second / 60 % 60, second % 60);
            let canonical = time_of_day(&text).unwrap();
            let mut v2 = Vec::new();
            v2_time_from_text(&mut v2, canonical.as_bytes());
            prop_assert_eq!(text_from_v2_time(std::str::from_utf8(&v2).unwrap()), Some(canonical));
        }

        #[test]
        fn no_text_panics(text in "[-+PTDHMSZ0-9:./()]{0,30}|\\PC{0,20}", ms in any::<i64>()) {
            for form in [date, date_time, date_time_offset, time_of_day, duration, text_from_v2_time, text_from_v2_json] {
                let _ = form(&text);
            }
            let _ = (epoch_ms(&text), from_epoch_ms(ms), date_from_days(ms));
        }
    }
}
