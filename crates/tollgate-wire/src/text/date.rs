//! Dates and times as texts: civil-date arithmetic, the canonical forms of [`crate::value`], and the forms in which V2
//! writes them (`/Date(…)/`, `PT11H00M00S`).
//!
//! It deliberately reads no clock, and knows no time zones by name and no leap seconds (a second of 60 in a
//! `DateTimeOffset` is the first of the next minute).

pub mod arithmetic;

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

/// Number of days in a month.
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
    let mut out = Vec::with_capacity(24);
    Moment::from_epoch_ms(epoch_ms)?.write(&mut out);
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
    owned(append_date, text)
}

/// Whether a canonical Date, DateTime or DateTimeOffset lies in the years 0001 to 9999: only their texts sort as the
/// times do.
pub fn sorts_as_text(canonical: &str) -> bool {
    canonical.as_bytes().get(4) == Some(&b'-') && !canonical.starts_with("0000")
}

/// The canonical form of a DateTime without zone; seconds may be missing.
pub fn date_time(text: &str) -> Option<String> {
    owned(append_date_time, text)
}

/// The canonical form of a DateTimeOffset: moved to UTC.
pub fn date_time_offset(text: &str) -> Option<String> {
    owned(append_date_time_offset, text)
}

/// The canonical form of a time of day: `11:00:00`; seconds may be missing.
pub fn time_of_day(text: &str) -> Option<String> {
    owned(append_time_of_day, text)
}

/// The canonical form of a Duration (`P1DT2H3M4.5S`): the V4 value space, days to seconds, with at most 12 digits of
/// fraction. Components are kept as they came, except for a plus sign, leading zeros and empty components.
pub fn duration(text: &str) -> Option<String> {
    owned(append_duration, text)
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
    owned(append_v2_time, text)
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
    owned(append_v2_json, text)
}

/// Writes the canonical form of a Date. These writers leave `out` as it was if the text is none.
pub(crate) fn append_date(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let (moment, rest) = Moment::date(text.as_bytes())?;
    rest.is_empty().then(|| moment.write_date(out))
}

/// Writes the canonical form of a DateTime without zone.
pub(crate) fn append_date_time(out: &mut Vec<u8>, text: &str) -> Option<()> {
    Moment::parse(text.as_bytes(), Zone::None)?.write(out);
    Some(())
}

/// Writes the canonical form of a DateTimeOffset.
pub(crate) fn append_date_time_offset(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let moment = Moment::parse(text.as_bytes(), Zone::Needed)?;
    if moment.offset_minutes == 0 && moment.second < 60 {
        moment.write(out);
    } else {
        Moment::from_epoch(moment.epoch_s(), moment.fraction_ps)?.write(out);
    }
    out.push(b'Z');
    Some(())
}

/// Writes the canonical form of a time of day.
pub(crate) fn append_time_of_day(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let (moment, rest) = Moment::default().time(text.as_bytes(), 59)?;
    rest.is_empty().then(|| moment.write_time(out))
}

/// Writes the canonical form of a Duration.
pub(crate) fn append_duration(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let start = out.len();
    let written = write_duration(out, text);
    if written.is_none() {
        out.truncate(start);
    }
    written
}

/// Writes the canonical time of day of a V2 `Edm.Time`.
pub(crate) fn append_v2_time(out: &mut Vec<u8>, text: &str) -> Option<()> {
    // Clients that write a duration of any length say that it has no days: OpenUI5's V2 model sends `P00DT11H00M00S`.
    let (days, mut rest) = text.strip_prefix('P')?.split_once('T')?;
    let no_days = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte == b'0');
    if !days.is_empty() && !no_days(days.strip_suffix('D')?) {
        return None;
    }
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
    moment.write_time(out);
    Some(())
}

/// Writes the canonical DateTime or DateTimeOffset of `/Date(…)/`.
pub(crate) fn append_v2_json(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let inner = text.strip_prefix("/Date(")?.strip_suffix(")/")?;
    let sign_at = inner.bytes().skip(1).position(|byte| byte == b'+' || byte == b'-').map(|at| at + 1);
    let ms: i64 = inner[..sign_at.unwrap_or(inner.len())].parse().ok()?;
    if let Some(at) = sign_at {
        // The milliseconds are UTC already: the offset only tells how a display would show them.
        let offset = &inner[at + 1..];
        if offset.len() > 4 || offset.is_empty() || !offset.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    Moment::from_epoch_ms(ms)?.write(out);
    if sign_at.is_some() {
        out.push(b'Z');
    }
    Some(())
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

    fn from_epoch_ms(epoch_ms: i64) -> Option<Moment> {
        Moment::from_epoch(epoch_ms.div_euclid(1_000), epoch_ms.rem_euclid(1_000) as u64 * 1_000_000_000)
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

fn write_duration(out: &mut Vec<u8>, text: &str) -> Option<()> {
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
    let start = out.len();
    out.extend_from_slice(sign.as_bytes());
    out.push(b'P');
    let mut components = 0;
    let rest = component(out, days, 'D', &mut components)?;
    if !rest.is_empty() {
        return None;
    }
    let before_time = out.len();
    out.push(b'T');
    let rest = component(out, time, 'H', &mut components)?;
    let rest = component(out, rest, 'M', &mut components)?;
    let rest = component(out, rest, 'S', &mut components)?;
    if !rest.is_empty() || components == 0 {
        return None;
    }
    if out.len() == before_time + 1 {
        out.pop();
    }
    if out.ends_with(b"P") {
        out.truncate(start);
        out.extend_from_slice(b"PT0S");
    }
    Some(())
}

/// Takes one component of a duration (`12H`, `4.5S`) from the front of `text`, if there is one, and writes it.
fn component<'t>(out: &mut Vec<u8>, text: &'t str, unit: char, components: &mut u32) -> Option<&'t str> {
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
        out.extend_from_slice(if whole.is_empty() { b"0" } else { whole.as_bytes() });
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction.as_bytes());
        }
        out.push(unit as u8);
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

fn owned(append: fn(&mut Vec<u8>, &str) -> Option<()>, text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(25);
    append(&mut out, text)?;
    Some(text_of(out))
}

fn text_of(ascii: Vec<u8>) -> String {
    String::from_utf8(ascii).expect("dates are written in ASCII")
}

#[cfg(test)]
mod tests;
