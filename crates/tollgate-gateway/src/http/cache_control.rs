//! `Cache-Control` (RFC 9111, section 5.2): its directives, from any number of field lines.
//!
//! It decides nothing. Unreadable directives get their strictest possible meaning: a lifetime that is no number counts
//! as none, and a line with unclosed quotes forbids storing.

/// Longest time, in seconds; more counts as endless (RFC 9111, section 1.2.2).
const SECONDS_MAX: u64 = 1 << 31;

/// The directives of one message that matter to a shared cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheControl {
    /// `no-store`, or an unreadable directive.
    pub no_store: bool,
    /// `no-cache`, with field names or without.
    pub no_cache: bool,
    /// `private`, with field names or without.
    pub private: bool,
    /// `public`.
    pub public: bool,
    /// `must-revalidate`.
    pub must_revalidate: bool,
    /// `only-if-cached`, of a request.
    pub only_if_cached: bool,
    /// `max-age`, in seconds.
    pub max_age: Option<u64>,
    /// `s-maxage`, in seconds.
    pub s_maxage: Option<u64>,
    /// `min-fresh` of a request, in seconds.
    pub min_fresh: Option<u64>,
}

/// Directives allowed in an answer, and whether each has a number.
const STATED: &[(&str, Argument)] = &[
    ("public", Argument::None),
    ("private", Argument::None),
    ("no-cache", Argument::None),
    ("no-store", Argument::None),
    ("no-transform", Argument::None),
    ("must-revalidate", Argument::None),
    ("proxy-revalidate", Argument::None),
    ("must-understand", Argument::None),
    ("immutable", Argument::None),
    ("max-age", Argument::Seconds),
    ("s-maxage", Argument::Seconds),
    ("stale-while-revalidate", Argument::Seconds),
    ("stale-if-error", Argument::Seconds),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Argument {
    None,
    Seconds,
}

/// One directive as written in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Directive<'a> {
    name: &'a str,
    argument: Option<&'a str>,
    /// Whether it ended where its grammar requires.
    whole: bool,
}

impl CacheControl {
    /// Reads all field lines of a message together.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a str>) -> CacheControl {
        let mut control = CacheControl::default();
        for directive in lines.into_iter().flat_map(directives) {
            control.add(directive);
        }
        control
    }

    /// Parses the operator's directives for a service's answers.
    ///
    /// # Errors
    /// The directive that is unknown, or lacks its number.
    pub fn stated(text: &str) -> Result<CacheControl, String> {
        if text.trim().is_empty() || text.bytes().any(|byte| !matches!(byte, b' '..=b'~')) {
            return Err("expected directives such as `public, max-age=60`".to_owned());
        }
        for Directive { name, argument, whole } in directives(text) {
            let known = STATED.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
            match (known, argument) {
                (Some((_, Argument::None)), None) if whole => {}
                (Some((_, Argument::Seconds)), Some(argument)) if whole && delta_seconds(argument).is_some() => {}
                (Some((known, Argument::Seconds)), _) => {
                    return Err(format!("expected `{known}` with a number of seconds, such as `{known}=60`"));
                }
                (Some((known, Argument::None)), _) => return Err(format!("expected `{known}` without a value")),
                (None, _) => return Err(format!("`{name}` is no directive of an answer's Cache-Control")),
            }
        }
        Ok(CacheControl::of([text]))
    }

    fn add(&mut self, directive: Directive<'_>) {
        let Directive { name, argument, whole } = directive;
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        // What is no number ends the lifetime at once (section 4.2.1); of two numbers the stricter counts.
        let seconds = || argument.and_then(delta_seconds).unwrap_or(0);
        let shorter = |before: Option<u64>| Some(before.unwrap_or(u64::MAX).min(seconds()));
        self.no_store |= is("no-store") || !whole;
        self.no_cache |= is("no-cache");
        self.private |= is("private");
        self.public |= is("public");
        self.must_revalidate |= is("must-revalidate");
        self.only_if_cached |= is("only-if-cached");
        if is("max-age") {
            self.max_age = shorter(self.max_age);
        } else if is("s-maxage") {
            self.s_maxage = shorter(self.s_maxage);
        } else if is("min-fresh") {
            let asked = argument.and_then(delta_seconds).unwrap_or(SECONDS_MAX);
            self.min_fresh = Some(self.min_fresh.unwrap_or(0).max(asked));
        }
    }
}

/// Parses a number of seconds; one that is too large is the largest.
pub fn delta_seconds(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(SECONDS_MAX).min(SECONDS_MAX))
}

/// The directives of one line. Commas inside of quotes do not separate.
fn directives(line: &str) -> impl Iterator<Item = Directive<'_>> {
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(['=', ',']).unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches([' ', '\t']);
        rest = &rest[end..];
        let Some(behind) = rest.strip_prefix('=') else {
            return Some(Directive { name, argument: None, whole: true });
        };
        let behind = behind.trim_start_matches([' ', '\t']);
        let Some(quoted) = behind.strip_prefix('"') else {
            let end = behind.find(',').unwrap_or(behind.len());
            rest = &behind[end..];
            let argument = behind[..end].trim_end_matches([' ', '\t']);
            return Some(Directive { name, argument: Some(argument), whole: !argument.contains('"') });
        };
        let Some(end) = closing_quote(quoted) else {
            rest = "";
            return Some(Directive { name, argument: Some(quoted), whole: false });
        };
        let argument = &quoted[..end];
        rest = quoted[end + 1..].trim_start_matches([' ', '\t']);
        let whole = rest.is_empty() || rest.starts_with(',');
        if !whole {
            rest = rest.find(',').map_or("", |comma| &rest[comma..]);
        }
        Some(Directive { name, argument: Some(argument), whole })
    })
}

/// End of a quoted string; a character after a backslash does not end it.
fn closing_quote(quoted: &str) -> Option<usize> {
    let mut escaped = false;
    quoted.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(lines: &[&str], expected: CacheControl) {
        assert_eq!(CacheControl::of(lines.iter().copied()), expected, "{lines:?}");
    }

    const NOTHING: CacheControl = CacheControl {
        no_store: false,
        no_cache: false,
        private: false,
        public: false,
        must_revalidate: false,
        only_if_cached: false,
        max_age: None,
        s_maxage: None,
        min_fresh: None,
    };

    #[test]
    fn directives_are_read_in_any_case_and_from_any_number_of_lines() {
        check(&[], NOTHING);
        check(&["", " , ,"], NOTHING);
        check(&["public, max-age=60"], CacheControl { public: true, max_age: Some(60), ..NOTHING });
        check(&["PUBLIC", "Max-Age=60"], CacheControl { public: true, max_age: Some(60), ..NOTHING });
        check(&["max-age=\"60\""], CacheControl { max_age: Some(60), ..NOTHING });
        check(&["no-cache=\"set-cookie, x\", private"], CacheControl { no_cache: true, private: true, ..NOTHING });
        check(
            &["s-maxage=1,must-revalidate,no-store"],
            CacheControl { s_maxage: Some(1), must_revalidate: true, no_store: true, ..NOTHING },
        );
        check(&["only-if-cached, min-fresh=5"], CacheControl { only_if_cached: true, min_fresh: Some(5), ..NOTHING });
        check(&["x=\"no-store, \\\" private\", y"], NOTHING);
    }

    #[test]
    fn what_cannot_be_read_is_read_strictly() {
        check(&["max-age=abc"], CacheControl { max_age: Some(0), ..NOTHING });
        check(&["max-age"], CacheControl { max_age: Some(0), ..NOTHING });
        check(&["max-age=-1"], CacheControl { max_age: Some(0), ..NOTHING });
        check(&["max-age=60, max-age=10"], CacheControl { max_age: Some(10), ..NOTHING });
        check(&["max-age=99999999999999999999999"], CacheControl { max_age: Some(SECONDS_MAX), ..NOTHING });
        check(&["min-fresh=x"], CacheControl { min_fresh: Some(SECONDS_MAX), ..NOTHING });
        check(&["x=\"unclosed, max-age=60"], CacheControl { no_store: true, ..NOTHING });
        check(&["x=\"a\"b, public"], CacheControl { no_store: true, public: true, ..NOTHING });
    }

    #[test]
    fn what_an_operator_states_is_checked() {
        for text in ["public, max-age=60", "s-maxage=5, must-revalidate", "no-store", "Private", "max-age=1, immutable"]
        {
            assert_eq!(CacheControl::stated(text), Ok(CacheControl::of([text])), "{text}");
        }
        for (text, expected) in [
            ("", "such as `public, max-age=60`"),
            ("public\r\nset-cookie: a", "such as `public, max-age=60`"),
            ("max-age", "such as `max-age=60`"),
            ("max-age=1m", "such as `max-age=60`"),
            ("public=1", "`public` without a value"),
            ("only-if-cached", "no directive of an answer's"),
            ("max_age=60", "`max_age` is no directive"),
        ] {
            let error = CacheControl::stated(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(seconds in 0..SECONDS_MAX, more in "[a-z-]{0,12}", quoted: bool) {
            let argument = if quoted { format!("\"{seconds}\"") } else { seconds.to_string() };
            let control = CacheControl::of([format!("x{more}=\"a,b\" , s-maxage={argument}").as_str()]);
            prop_assert_eq!(control, CacheControl { s_maxage: Some(seconds), ..NOTHING });
        }
    }
}
