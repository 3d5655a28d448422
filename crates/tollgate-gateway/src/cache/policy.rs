//! Rules for a shared cache, its lifetimes and audience: RFC 9111, as functions of message heads and the time.
//!
//! It stores nothing and fetches nothing. Where the standard leaves a choice, the stricter is made: no lifetime is
//! guessed, nothing stale is served, and an answer that needs revalidation before each use is not stored: revalidation
//! happens only after the lifetime.

use std::time::Duration;

use tollgate_net::http1::Method;

use super::http_date;
use crate::http::cache_control::{CacheControl, delta_seconds};

/// Properties of a request that count for caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestTerms {
    /// Its directives.
    pub(crate) control: CacheControl,
    /// Whether it names its caller.
    pub(crate) identity: Identity,
}

/// Whether a request names its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Identity {
    /// The request names no caller.
    #[default]
    Unsaid,
    /// The request names its caller: by `Authorization`, or by a certificate.
    Said,
}

/// Properties of an answer that count for caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Answered<'a> {
    /// Its status.
    pub(crate) status: u16,
    /// Its directives.
    pub(crate) control: CacheControl,
    /// `Expires` as received.
    pub(crate) expires: Option<&'a str>,
    /// `Date` as received.
    pub(crate) date: Option<&'a str>,
    /// `Age` as received.
    pub(crate) age: Option<&'a str>,
    /// `Vary: *`: it matches no other request.
    pub(crate) varies_by_all: bool,
    /// `Set-Cookie`: the answer is meant for one client, whatever its other fields.
    pub(crate) sets_cookie: bool,
}

/// Age and lifetime of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Freshness {
    /// Its age when it arrived.
    pub(crate) age: Duration,
    /// Its largest age.
    pub(crate) lifetime: Duration,
}

/// Whether a stored answer may be used for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// It may be used.
    Serve,
    /// Another one must be fetched.
    Fetch,
    /// It has outlived its lifetime, for any caller.
    Stale,
}

/// Statuses of answers that may be stored: all of them final, and none an error.
const KEPT: [u16; 6] = [200, 203, 204, 300, 301, 308];

/// How long the answer to a GET may be stored, which took `delay` and arrived at `now_s` (seconds since 1970); `None`
/// where it may not (section 3).
pub(crate) fn storing(asked: &RequestTerms, answered: &Answered<'_>, delay: Duration, now_s: i64) -> Option<Freshness> {
    let control = &answered.control;
    let forbidden = asked.control.no_store || control.no_store || control.private || control.no_cache;
    if forbidden || answered.varies_by_all || answered.sets_cookie || !KEPT.contains(&answered.status) {
        return None;
    }
    // Section 3.5.
    let is_for_all = control.public || control.must_revalidate || control.s_maxage.is_some();
    if asked.identity == Identity::Said && !is_for_all {
        return None;
    }
    let date_s = answered.date.and_then(|date| http_date::parse(date, now_s)).unwrap_or(now_s);
    let lifetime = lifetime(answered, date_s, now_s)?;
    let age = age(answered, date_s, delay, now_s);
    (lifetime > age).then_some(Freshness { age, lifetime })
}

/// Lifetime by section 4.2.1, without a guess if none is stated.
fn lifetime(answered: &Answered<'_>, date_s: i64, now_s: i64) -> Option<Duration> {
    let control = &answered.control;
    if let Some(seconds) = control.s_maxage.or(control.max_age) {
        return Some(Duration::from_secs(seconds));
    }
    // What is no date, such as `0`, is in the past (section 5.3).
    let expires_s = http_date::parse(answered.expires?, now_s)?;
    u64::try_from(expires_s.saturating_sub(date_s)).ok().map(Duration::from_secs)
}

/// Corrected initial age by section 4.2.3.
fn age(answered: &Answered<'_>, date_s: i64, delay: Duration, now_s: i64) -> Duration {
    let apparent = Duration::from_secs(u64::try_from(now_s.saturating_sub(date_s)).unwrap_or_default());
    let said = answered.age.map(|age| delta_seconds(age.trim()).unwrap_or_default()).unwrap_or_default();
    apparent.max(Duration::from_secs(said) + delay)
}

/// Decides if an answer of this age may be used (sections 4.2 and 5.2.1).
pub(crate) fn reuse(control: &CacheControl, age: Duration, lifetime: Duration) -> Reuse {
    if age >= lifetime {
        return Reuse::Stale;
    }
    let too_old = control.max_age.is_some_and(|seconds| age > Duration::from_secs(seconds));
    let too_soon_stale = control.min_fresh.is_some_and(|seconds| lifetime - age < Duration::from_secs(seconds));
    match control.no_cache || too_old || too_soon_stale {
        true => Reuse::Fetch,
        false => Reuse::Serve,
    }
}

/// Whether a request with this status makes stored answers wrong (section 4.4).
pub(crate) fn invalidates(method: Method, status: u16) -> bool {
    may_change(method) && (200..400).contains(&status)
}

/// Whether such a request may make stored answers wrong, whatever its result.
pub(crate) fn may_change(method: Method) -> bool {
    !matches!(method, Method::Get | Method::Head | Method::Options | Method::Trace)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_S: i64 = 784_111_777;
    const NOW: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const AN_HOUR_AGO: &str = "Sun, 06 Nov 1994 07:49:37 GMT";
    const IN_AN_HOUR: &str = "Sun, 06 Nov 1994 09:49:37 GMT";

    fn answered(control: &'static str) -> Answered<'static> {
        Answered { status: 200, control: CacheControl::of([control]), ..Answered::default() }
    }

    fn check(request: &str, identity: Identity, answered: Answered<'_>, expected: Option<(u64, u64)>) {
        let asked = RequestTerms { control: CacheControl::of([request]), identity };
        let freshness = storing(&asked, &answered, Duration::ZERO, NOW_S);
        let seconds = freshness.map(|freshness| (freshness.age.as_secs(), freshness.lifetime.as_secs()));
        assert_eq!(seconds, expected, "{request} {identity:?} {answered:?}");
    }

    #[test]
    fn only_what_says_so_is_kept_and_as_long_as_it_says() {
        for (control, expected) in [
            ("", None),
            ("public", None),
            ("max-age=60", Some((0, 60))),
            ("max-age=0", None),
            ("max-age=60, s-maxage=5", Some((0, 5))),
            ("s-maxage=0, max-age=60", None),
            ("max-age=60, private", None),
            ("max-age=60, private=\"x\"", None),
            ("max-age=60, no-store", None),
            ("max-age=60, no-cache", None),
            ("max-age=60, must-revalidate", Some((0, 60))),
        ] {
            check("", Identity::Unsaid, answered(control), expected);
        }
        for (status, expected) in [
            (200, true),
            (203, true),
            (301, true),
            (206, false),
            (302, false),
            (304, false),
            (404, false),
            (500, false),
        ] {
            let answered = Answered { status, ..answered("max-age=60") };
            check("", Identity::Unsaid, answered, expected.then_some((0, 60)));
        }
        check("", Identity::Unsaid, Answered { varies_by_all: true, ..answered("max-age=60") }, None);
        check("", Identity::Unsaid, Answered { sets_cookie: true, ..answered("max-age=60") }, None);
        check("no-store", Identity::Unsaid, answered("max-age=60"), None);
        check("no-cache", Identity::Unsaid, answered("max-age=60"), Some((0, 60)));
    }

    #[test]
    fn an_answer_to_somebody_is_kept_only_where_it_is_said_to_be_for_all() {
        for (control, kept) in [
            ("max-age=60", false),
            ("max-age=60, public", true),
            ("max-age=60, must-revalidate", true),
            ("s-maxage=60", true),
            ("s-maxage=60, private", false),
        ] {
            check("", Identity::Said, answered(control), kept.then_some((0, 60)));
        }
    }

    #[test]
    fn expiry_counts_from_the_answers_date_and_age_from_the_eldest_hint() {
        let expires = |expires, date, age| Answered { expires: Some(expires), date, age, ..answered("") };
        check("", Identity::Unsaid, expires(IN_AN_HOUR, None, None), Some((0, 3600)));
        check("", Identity::Unsaid, expires(IN_AN_HOUR, Some(NOW), None), Some((0, 3600)));
        check("", Identity::Unsaid, expires(IN_AN_HOUR, Some(AN_HOUR_AGO), None), Some((3600, 7200)));
        check("", Identity::Unsaid, expires(NOW, Some(AN_HOUR_AGO), None), None);
        check("", Identity::Unsaid, expires(AN_HOUR_AGO, Some(NOW), None), None);
        check("", Identity::Unsaid, expires("0", None, None), None);
        let aged = |age| Answered { age: Some(age), ..answered("max-age=60") };
        check("", Identity::Unsaid, aged("59"), Some((59, 60)));
        check("", Identity::Unsaid, aged("60"), None);
        check("", Identity::Unsaid, aged("x"), Some((0, 60)));
        let old = Answered { date: Some(AN_HOUR_AGO), ..answered("max-age=4000") };
        check("", Identity::Unsaid, old, Some((3600, 4000)));
        let asked = RequestTerms { control: CacheControl::default(), identity: Identity::Unsaid };
        let slow = storing(&asked, &aged("10"), Duration::from_secs(5), NOW_S).unwrap();
        assert_eq!(slow.age, Duration::from_secs(15));
    }

    #[test]
    fn a_request_can_ask_for_something_fresher() {
        for (control, age_s, expected) in [
            ("", 0, Reuse::Serve),
            ("", 59, Reuse::Serve),
            ("", 60, Reuse::Stale),
            ("no-cache", 0, Reuse::Fetch),
            ("max-age=10", 10, Reuse::Serve),
            ("max-age=10", 11, Reuse::Fetch),
            ("min-fresh=10", 50, Reuse::Serve),
            ("min-fresh=10", 51, Reuse::Fetch),
            ("max-stale=100", 61, Reuse::Stale),
            ("only-if-cached", 1, Reuse::Serve),
        ] {
            let control = CacheControl::of([control]);
            let found = reuse(&control, Duration::from_secs(age_s), Duration::from_secs(60));
            assert_eq!(found, expected, "{control:?} {age_s}");
        }
    }

    #[test]
    fn what_changes_something_and_is_no_error_makes_stored_answers_wrong() {
        for (method, status, expected) in [
            (Method::Post, 201, true),
            (Method::Delete, 204, true),
            (Method::Patch, 303, true),
            (Method::Other, 200, true),
            (Method::Put, 412, false),
            (Method::Post, 500, false),
            (Method::Get, 200, false),
            (Method::Options, 204, false),
        ] {
            assert_eq!(invalidates(method, status), expected, "{method:?} {status}");
        }
    }
}
