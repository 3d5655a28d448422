//! Author and time of a change: values for managed fields, and the author's permissions.
//!
//! It checks no password: without authentication, a name is only noted. The time is passed in.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tollgate_wire::base64;
use tollgate_wire::date;
use tollgate_wire::edm::Primitive;

use crate::auth::Access;
use crate::config::rules::Rules;
use crate::hosted::Hosted;
use crate::http::headers::Headers;
use crate::visit::Visit;

/// Longest noted name, in characters; the rest is cut off.
const USER_CHARACTERS_MAX: usize = 255;

/// Author and time of a change.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    user: Arc<str>,
    stamp: Stamp,
    access: Access,
}

impl Author {
    /// Creates the author of this name, with all permissions.
    pub(crate) fn new(user: Arc<str>, now: SystemTime) -> Author {
        Author { user, stamp: Stamp::of(now), access: Access::default() }
    }

    /// Author named by the request, unverified, or else the user that the rules name.
    pub(crate) fn noted(rules: &Rules, headers: &dyn Headers, now: SystemTime) -> Author {
        let named = headers.value("authorization", 0).and_then(basic_user);
        Author::new(named.unwrap_or_else(|| Arc::clone(&rules.user)), now)
    }

    /// Author of a change: the caller. Without authentication, a name that the request states is noted.
    pub(crate) fn of(visit: &Visit<'_>, service: &Hosted, headers: &dyn Headers) -> Author {
        let now = visit.common.clock.wall();
        let user = match visit.access.caller().name() {
            Some(name) => Arc::clone(name),
            None if visit.common.authentication.is_on() => Arc::clone(&service.rules.user),
            None => return Author::noted(&service.rules, headers, now).with_access(visit.access.clone()),
        };
        Author::new(user, now).with_access(visit.access.clone())
    }

    /// The same author, limited to these permissions.
    pub(crate) fn with_access(self, access: Access) -> Author {
        Author { access, ..self }
    }

    /// Permissions of the author.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// Name of the author.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Time of the change.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }
}

fn basic_user(authorization: &str) -> Option<Arc<str>> {
    let (scheme, credentials) = authorization.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(base64::decode(credentials.trim())?).ok()?;
    let (user, _) = decoded.split_once(':')?;
    let end = user.char_indices().nth(USER_CHARACTERS_MAX).map_or(user.len(), |(at, _)| at);
    (end > 0).then(|| user[..end].into())
}

/// A point of time as text in UTC, `2013-09-25T11:00:00.123456`, written once for all the leaves that get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp([u8; 26]);

const DATE_LENGTH: usize = 10;
const TIME_AT: usize = 11;
const SECONDS_END: usize = 19;
const FRACTION_AT: usize = 20;

/// Longest text of [`Stamp::canonical`].
const CANONICAL_LENGTH_MAX: usize = 27;

impl Stamp {
    /// Writes the text of `time`, cut off after the microsecond.
    pub(crate) fn of(time: SystemTime) -> Stamp {
        // A clock that stands before 1970 was never set.
        let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let seconds = since_epoch.as_secs();
        let (year, month, day) = date::civil_from_days(i64::try_from(seconds / 86_400).unwrap_or_default());
        let of_day = (seconds % 86_400) as u32;
        let mut text = *b"0000-00-00T00:00:00.000000";
        let mut put = |at: usize, digits: usize, mut value: u32| {
            for place in text[at..at + digits].iter_mut().rev() {
                *place = b'0' + (value % 10) as u8;
                value /= 10;
            }
        };
        put(0, 4, year.unsigned_abs());
        put(5, 2, month);
        put(8, 2, day);
        put(TIME_AT, 2, of_day / 3600);
        put(14, 2, of_day / 60 % 60);
        put(17, 2, of_day % 60);
        put(FRACTION_AT, 6, since_epoch.subsec_micros());
        Stamp(text)
    }

    /// Passes the canonical text of this time as a value of that type to `take`: with the type's digits, and without
    /// zeros at the fraction's end. Types without a time get nothing.
    pub(crate) fn canonical(&self, primitive: Primitive, take: impl FnOnce(&str)) {
        let (begin, precision, zone) = match primitive {
            Primitive::Date => return take(ascii(&self.0[..DATE_LENGTH])),
            Primitive::DateTimeOffset { precision } => (0, precision, "Z"),
            Primitive::DateTime { precision } => (0, precision, ""),
            Primitive::TimeOfDay { precision } => (TIME_AT, precision, ""),
            Primitive::String { .. } => (0, 6, "Z"),
            _ => return,
        };
        let mut end = (FRACTION_AT + usize::from(precision)).min(self.0.len());
        while end > FRACTION_AT && self.0[end - 1] == b'0' {
            end -= 1;
        }
        let text = &self.0[begin..if end > FRACTION_AT { end } else { SECONDS_END }];
        let mut canonical = [0; CANONICAL_LENGTH_MAX];
        let length = text.len() + zone.len();
        canonical[..text.len()].copy_from_slice(text);
        canonical[text.len()..length].copy_from_slice(zone.as_bytes());
        take(ascii(&canonical[..length]));
    }

    /// The time to the second, as Atom writes it.
    pub(crate) fn atom(&self) -> String {
        [ascii(&self.0[..SECONDS_END]), "Z"].concat()
    }
}

fn ascii(text: &[u8]) -> &str {
    std::str::from_utf8(text).expect("digits and what stands between them are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_has_the_digits_of_its_type_and_no_zeros_at_its_end() {
        let check = |micros: u64, primitive, expected: &str| {
            let stamp = Stamp::of(UNIX_EPOCH + Duration::from_micros(micros));
            let mut found = String::new();
            stamp.canonical(primitive, |text| found.push_str(text));
            assert_eq!(found, expected, "{micros} {primitive:?}");
        };
        let instant = |precision| Primitive::DateTimeOffset { precision };
        let noon = 1_380_110_400_000_000;
        check(noon, instant(7), "2013-09-25T12:00:00Z");
        check(noon + 123_456, instant(7), "2013-09-25T12:00:00.123456Z");
        check(noon + 123_456, instant(6), "2013-09-25T12:00:00.123456Z");
        check(noon + 123_456, instant(3), "2013-09-25T12:00:00.123Z");
        check(noon + 100_456, instant(3), "2013-09-25T12:00:00.1Z");
        check(noon + 456, instant(3), "2013-09-25T12:00:00Z");
        check(noon + 999_999, instant(0), "2013-09-25T12:00:00Z");
        check(noon + 5, Primitive::DateTime { precision: 6 }, "2013-09-25T12:00:00.000005");
        check(noon + 500_000, Primitive::TimeOfDay { precision: 1 }, "12:00:00.5");
        check(noon, Primitive::Date, "2013-09-25");
        check(noon, Primitive::String { length_max: 0 }, "2013-09-25T12:00:00Z");
        check(noon, Primitive::Boolean, "");
        check(0, instant(0), "1970-01-01T00:00:00Z");
        check(951_782_399_000_000, instant(0), "2000-02-28T23:59:59Z");
    }

    #[test]
    fn the_user_is_that_of_basic_authentication() {
        let check = |authorization: &str, expected: Option<&str>| {
            assert_eq!(basic_user(authorization).as_deref(), expected, "{authorization}");
        };
        check("Basic YWxhZGRpbjpvcGVuc2VzYW1l", Some("aladdin"));
        check("basic YWxhZGRpbjpvcGVuc2VzYW1l", Some("aladdin"));
        check("Basic OnNlY3JldA==", None);
        check("Basic %%%", None);
        check("Bearer YWxhZGRpbjpvcGVuc2VzYW1l", None);
        check("Basic", None);
    }
}
