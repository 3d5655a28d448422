//! The cookies of one user: all go to the one host that is asked, whatever path they are for (RFC 6265, section 5).
//!
//! What it deliberately does not do: let a cookie go whose time comes while it is kept; a trial is shorter than that.

use std::time::SystemTime;

/// Cookies of a user.
const COOKIES_MAX: usize = 64;
/// Seconds of a day.
const DAY_S: i64 = 86_400;
/// Names of months, in their order, as far as they are looked at.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// What servers asked a user to keep.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    kept: Vec<(Vec<u8>, Vec<u8>)>,
    /// The same as they are sent.
    text: Vec<u8>,
}

impl Cookies {
    /// The value of the `Cookie` field; empty if there are none.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Takes the value of a `Set-Cookie` field: a cookie of the same name is replaced, one whose age is over goes.
    pub(super) fn keep(&mut self, field: &[u8], now: SystemTime) {
        let mut parts = field.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        self.kept.retain(|(known, _)| known != name);
        if !is_over(parts, now) && self.kept.len() < COOKIES_MAX {
            self.kept.push((name.to_vec(), value.to_vec()));
        }
        self.text.clear();
        for (name, value) in &self.kept {
            let between: &[u8] = if self.text.is_empty() { b"" } else { b"; " };
            [between, name, b"=", value].iter().for_each(|part| self.text.extend_from_slice(part));
        }
    }
}

/// Whether the attributes say that the cookie is to go: `Max-Age` says it before `Expires` (section 5.3, step 3).
fn is_over<'p>(attributes: impl Iterator<Item = &'p [u8]>, now: SystemTime) -> bool {
    let (mut by_age, mut by_date) = (None, None);
    for attribute in attributes {
        let Ok(attribute) = std::str::from_utf8(attribute) else { continue };
        let Some((name, value)) = attribute.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        if name.eq_ignore_ascii_case("max-age") {
            let digits = value.strip_prefix('-').unwrap_or(value);
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if is_number {
                by_age = Some(value.starts_with('-') || digits.bytes().all(|byte| byte == b'0'));
            }
        } else if name.eq_ignore_ascii_case("expires") {
            let now_s = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
            by_date = date_s(value).map(|date_s| date_s <= now_s).or(by_date);
        }
    }
    by_age.or(by_date).unwrap_or(false)
}

/// Seconds since 1970 of a date as servers write it, in any of their ways (section 5.1.1); absent if it is none.
fn date_s(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_part = |byte: char| byte.is_ascii_alphanumeric() || byte == ':';
    for part in text.split(|byte| !is_part(byte)).filter(|part| !part.is_empty()) {
        let digits = || part.chars().take_while(char::is_ascii_digit).count();
        let number = |least: usize, most: usize| {
            let count = digits();
            (least..=most).contains(&count).then(|| part[..count].parse::<i64>().ok()).flatten()
        };
        if time.is_none()
            && let Some(found) = clock_s(part)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(1, 2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = MONTHS
                .iter()
                .position(|name| part.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
        {
            month = Some(found as i64 + 1);
        } else if year.is_none()
            && let Some(found) = number(2, 4)
        {
            year = Some(match found {
                70..=99 => found + 1900,
                0..=69 => found + 2000,
                _ => found,
            });
        }
    }
    let (day, year) = (day.filter(|day| (1..=31).contains(day))?, year.filter(|year| *year >= 1601)?);
    Some(days_since_1970(year, month?, day) * DAY_S + time?)
}

/// Seconds of a day, as `hh:mm:ss`.
fn clock_s(part: &str) -> Option<i64> {
    let mut fields = part.split(':');
    let mut field = |most: i64| -> Option<i64> {
        let text = fields.next()?;
        let is_short = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|value| is_short && *value <= most)
    };
    let (hours, minutes, seconds) = (field(23)?, field(59)?, field(59)?);
    fields.next().is_none().then_some((hours * 60 + minutes) * 60 + seconds)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar, whose years begin in March here: a leap day is then the last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// 2026-11-22, noon.
    const NOW_S: u64 = 1_795_348_800;

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_S)
    }

    #[test]
    fn a_cookie_replaces_the_one_of_its_name_and_goes_when_its_age_is_over() {
        let mut cookies = Cookies::default();
        let mut check = |field: &str, expected: &str| {
            cookies.keep(field.as_bytes(), now());
            assert_eq!(String::from_utf8_lossy(cookies.text()), expected, "{field}");
        };
        check("a=1; Path=/; HttpOnly", "a=1");
        check("b = x=y ;Secure", "a=1; b=x=y");
        check("a=2", "b=x=y; a=2");
        check("b=; Max-Age=0", "a=2");
        check("nonsense", "a=2");
        check("sid=7; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "a=2; sid=7");
        check("sid=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "a=2");
        check("sid=8; expires=Thu, 01-Jan-1970 00:00:01 GMT; max-age=60", "a=2; sid=8");
        check("sid=8; Max-Age=-1; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "a=2");
        check("a=3; Max-Age=soon; Expires=whenever", "a=3");
    }

    #[test]
    fn dates_are_read_in_all_ways_in_which_servers_write_them() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(date_s(text), expected, "{text}");
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Sun, 22 Nov 2026 12:00:00 GMT", Some(NOW_S as i64));
        check("Sunday, 22-Nov-26 12:00:00 GMT", Some(NOW_S as i64));
        check("Sun Nov 22 12:00:00 2026", Some(NOW_S as i64));
        check("Tue, 29-Feb-2000 23:59:59 GMT", Some(951_868_799));
        check("Thu, 01 Jan 1970", None);
        check("Thu, 41 Jan 1970 00:00:00", None);
        check("Thu, 01 Jan 1970 24:00:00", None);
        check("01 Jän 1970 00:00:00 GMT", None);
        check("0", None);
    }
}
