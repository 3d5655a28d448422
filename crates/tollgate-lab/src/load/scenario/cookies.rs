//! The cookies of one user. All are sent to the one host, whatever their path (RFC 6265, section 5).
//!
//! A cookie that expires later is not dropped; a trial is too short for that.

use std::time::SystemTime;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

/// Cookies of a user, at most.
const COOKIES_MAX: usize = 64;
/// Month names, in order, as far as they are compared.
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Cookies that servers have set for a user.
#[derive(Debug, Default)]
pub(in crate::load) struct Cookies {
    kept: Vec<(Vec<u8>, Vec<u8>)>,
    /// Value of the `Cookie` field.
    text: Vec<u8>,
}

impl Cookies {
    /// The value of the `Cookie` field; empty if there are none.
    pub(in crate::load) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Applies a `Set-Cookie` field: replaces a cookie of the same name, and removes one that has expired.
    pub(in crate::load) fn keep(&mut self, field: &[u8], now: SystemTime) {
        let mut parts = field.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
        let pair = parts.next().unwrap_or_default();
        let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
        self.kept.retain(|(known, _)| known != name);
        if !is_over(parts, now) && self.kept.len() < COOKIES_MAX {
            self.kept.push((name.to_vec(), value.to_vec()));
        }
        let pairs: Vec<Vec<u8>> = self.kept.iter().map(|(name, value)| [&name[..], value].join(&b'=')).collect();
        self.text = pairs.join(&b"; "[..]);
    }
}

/// Whether the attributes expire the cookie; `Max-Age` takes precedence over `Expires` (section 5.3, step 3).
fn is_over<'p>(attributes: impl Iterator<Item = &'p [u8]>, now: SystemTime) -> bool {
    let (mut by_age, mut by_date) = (None, None);
    for attribute in attributes {
        let Ok(attribute) = std::str::from_utf8(attribute) else { continue };
        let Some((name, value)) = attribute.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        if name.eq_ignore_ascii_case("max-age") {
            let digits = value.strip_prefix('-').unwrap_or(value);
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                by_age = Some(value.starts_with('-') || digits.bytes().all(|byte| byte == b'0'));
            }
        } else if name.eq_ignore_ascii_case("expires") {
            let now_s = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
            by_date = date_s(value).map(|date_s| date_s <= now_s).or(by_date);
        }
    }
    by_age.or(by_date).unwrap_or(false)
}

/// Returns a date as seconds since 1970, from any form that servers use (section 5.1.1); absent if it is none.
fn date_s(text: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_part = |byte: char| byte.is_ascii_alphanumeric() || byte == ':';
    for part in text.split(|byte| !is_part(byte)).filter(|part| !part.is_empty()) {
        let number = |least: usize, most: usize| {
            let count = part.bytes().take_while(u8::is_ascii_digit).count();
            (least..=most).contains(&count).then(|| part[..count].parse::<i16>().ok()).flatten()
        };
        let month_of = || {
            let is_it = |name: &&str| part.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(name));
            (1..).zip(MONTHS).find(|(_, name)| is_it(name)).map(|(month, _)| month)
        };
        let four_digits = |year: i16| match year {
            70..=99 => year + 1900,
            0..=69 => year + 2000,
            _ => year,
        };
        // Each part is the first of these that it can be and that is not there yet.
        let _is_taken = takes(&mut time, clock(part))
            || takes(&mut day, number(1, 2))
            || takes(&mut month, month_of())
            || takes(&mut year, number(2, 4).map(four_digits));
    }
    let date = Date::new(year.filter(|year| *year >= 1601)?, month?, i8::try_from(day?).ok()?).ok()?;
    Some(date.to_datetime(time?).to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

fn takes<T>(place: &mut Option<T>, found: Option<T>) -> bool {
    let is_taken = place.is_none() && found.is_some();
    if is_taken {
        *place = found;
    }
    is_taken
}

/// Parses a time of day, `hh:mm:ss`.
fn clock(part: &str) -> Option<Time> {
    let field = |text: &str| text.parse().ok().filter(|_| text.len() <= 2);
    let fields: Option<Vec<i8>> = part.split(':').map(field).collect();
    let [hour, minute, second] = fields?[..] else { return None };
    Time::new(hour, minute, second, 0).ok()
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
