//! Preferences of a client (RFC 7240, Protocol 8.2.8), and the field that confirms the applied ones.
//!
//! Preferences are never a reason to refuse: unknown, misspelt or unsupported ones (`respond-async`, `track-changes`,
//! `callback` …) are ignored. Of a preference given twice the first counts. V2 has none.

use tollgate_wire::edm::Version;
use tollgate_wire::url::CustomOption;

use crate::error::Fault;
use crate::http::answer::Reply;
use crate::http::headers::{Headers, values};

/// The preferences of a request that have an effect here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Preferences {
    /// `return`.
    pub(crate) returning: Returning,
    /// `maxpagesize`.
    pub(crate) page_size: Option<Preferred<u64>>,
    /// `continue-on-error`.
    pub(crate) continue_on_error: Option<Preferred<bool>>,
    handling: Option<Handling>,
    /// `include-annotations`: there are none here, so that any choice among them is satisfied.
    include_annotations: Option<Preferred<String>>,
}

/// A preference of OData's own, in 4.0's spelling with `odata.` or in 4.01's without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preferred<T> {
    /// Preferred value.
    pub(crate) value: T,
    prefix: &'static str,
}

/// Preferred answer to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Returning {
    /// Unstated: the entity after it was created, nothing after a change.
    #[default]
    Unsaid,
    /// Only the header fields.
    Minimal,
    /// The entity.
    Representation,
}

/// Treatment of parts that the service would ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// Unknown parts are refused.
    Strict,
    /// Unknown parts are ignored, as without the preference.
    Lenient,
}

/// Prefix of query options that SAP's clients send everywhere: they are not misspelt names.
const TOLERATED_PREFIX: &str = "sap-";

impl Preferences {
    /// Reads the preferences of a request.
    pub(crate) fn of(version: Version, headers: &dyn Headers) -> Preferences {
        let mut found = Preferences::default();
        if version == Version::V2 {
            return found;
        }
        for preference in values(headers, "prefer").flat_map(|line| split(line, b',')) {
            // What stands behind a semicolon are parameters, of which none of these has any.
            let preference = split(preference, b';').next().unwrap_or_default();
            let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
            found.take(name.trim(), value.trim().trim_matches('"'));
        }
        found
    }

    fn take(&mut self, name: &str, value: &str) {
        let (prefix, name) = match name.split_at_checked(ODATA.len()) {
            Some((prefix, rest)) if prefix.eq_ignore_ascii_case(ODATA) => (ODATA, rest),
            _ => ("", name),
        };
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if prefix.is_empty() && is("return") && self.returning == Returning::Unsaid {
            self.returning = match value {
                _ if value.eq_ignore_ascii_case("minimal") => Returning::Minimal,
                _ if value.eq_ignore_ascii_case("representation") => Returning::Representation,
                _ => Returning::Unsaid,
            };
        } else if prefix.is_empty() && is("handling") && self.handling.is_none() {
            self.handling = match value {
                _ if value.eq_ignore_ascii_case("strict") => Some(Handling::Strict),
                _ if value.eq_ignore_ascii_case("lenient") => Some(Handling::Lenient),
                _ => None,
            };
        } else if is("maxpagesize") && self.page_size.is_none() {
            let size = value.parse().ok().filter(|size| *size > 0);
            self.page_size = size.map(|value| Preferred { value, prefix });
        } else if is("continue-on-error") && self.continue_on_error.is_none() {
            let value = match value {
                "" | "true" => Some(true),
                "false" => Some(false),
                _ => None,
            };
            self.continue_on_error = value.map(|value| Preferred { value, prefix });
        } else if is("include-annotations") && self.include_annotations.is_none() && !value.is_empty() {
            self.include_annotations = Some(Preferred { value: value.to_owned(), prefix });
        }
    }

    /// Checks that unknown query options may be ignored.
    ///
    /// # Errors
    /// 400 if strict handling is preferred and there is one.
    pub(crate) fn check(&self, unknown: &[CustomOption]) -> Result<(), Fault> {
        if self.handling != Some(Handling::Strict) {
            return Ok(());
        }
        match unknown.iter().find(|option| !option.name.starts_with(TOLERATED_PREFIX)) {
            None => Ok(()),
            Some(option) => {
                let shown: String = option.name.chars().filter(|character| !character.is_control()).take(60).collect();
                let message = format!("unknown query option `{shown}`, which strict handling does not pass over");
                Err(Fault::bad_request(&shown, message))
            }
        }
    }

    /// Writes `Preference-Applied` for an answer to a reading request; `page_size` is the largest page, where there are
    /// pages.
    pub(crate) fn say(&self, page_size: Option<u64>, reply: &mut impl Reply) {
        let page = self.page_size.as_ref().zip(page_size);
        let page = page.map(|(preferred, size)| format!("{}maxpagesize={size}", preferred.prefix));
        self.say_with([page, self.annotations()], reply);
    }

    /// The same for a writing request; `body` states whether its answer has one.
    pub(crate) fn say_written(&self, body: bool, reply: &mut impl Reply) {
        let returning = match self.returning {
            Returning::Unsaid => None,
            Returning::Minimal => Some("return=minimal".to_owned()),
            Returning::Representation => Some("return=representation".to_owned()),
        };
        self.say_with([returning, self.annotations().filter(|_| body)], reply);
    }

    /// The same for a batch.
    pub(crate) fn say_of_batch(&self, reply: &mut impl Reply) {
        let going_on = self.continue_on_error.as_ref();
        let going_on = going_on.map(|preferred| format!("{}continue-on-error={}", preferred.prefix, preferred.value));
        self.say_with([going_on, None], reply);
    }

    fn annotations(&self) -> Option<String> {
        let Preferred { value, prefix } = self.include_annotations.as_ref()?;
        Some(format!("{prefix}include-annotations=\"{value}\""))
    }

    fn say_with(&self, applied: [Option<String>; 2], reply: &mut impl Reply) {
        let handling = self.handling.map(|handling| match handling {
            Handling::Strict => "handling=strict".to_owned(),
            Handling::Lenient => "handling=lenient".to_owned(),
        });
        let applied: Vec<String> = applied.into_iter().chain([handling]).flatten().collect();
        if !applied.is_empty() {
            reply.field("preference-applied", applied.join(", ").as_bytes());
        }
    }
}

/// Prefix of the names in 4.0.
const ODATA: &str = "odata.";

/// The parts of a field between separators outside of quotes.
fn split(line: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut quoted = false;
        let end = text.bytes().position(|byte| {
            quoted ^= byte == b'"';
            byte == separator && !quoted
        });
        rest = end.map(|end| &text[end + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::answer::Answer;
    use crate::http::headers::Fields;

    fn of(version: Version, lines: &[&str]) -> Preferences {
        let fields: Vec<_> = lines.iter().map(|line| ("Prefer", *line)).collect();
        Preferences::of(version, &Fields(&fields))
    }

    #[test]
    fn the_first_preference_about_the_answer_counts_in_v4_only() {
        let check = |version, lines: &[&str], expected| assert_eq!(of(version, lines).returning, expected, "{lines:?}");
        check(Version::V4, &[], Returning::Unsaid);
        check(Version::V4, &["return=minimal"], Returning::Minimal);
        check(Version::V4, &["respond-async, Return=\"representation\"; foo"], Returning::Representation);
        check(Version::V4, &["odata.continue-on-error", "return=minimal, return=representation"], Returning::Minimal);
        check(Version::V4, &["return=everything"], Returning::Unsaid);
        check(Version::V2, &["return=minimal"], Returning::Unsaid);
    }

    #[test]
    fn a_preferred_page_size_is_found_among_other_preferences() {
        for (lines, expected) in [
            (vec![], None),
            (vec!["odata.maxpagesize=50"], Some(50)),
            (vec!["respond-async, Odata.MaxPageSize=7; wait=10"], Some(7)),
            (vec!["maxpagesize=\"3\""], Some(3)),
            (vec!["odata.maxpagesize=0"], None),
            (vec!["odata.maxpagesize=many"], None),
            (vec!["odata.include-annotations=\"a,maxpagesize=3\", maxpagesize=4"], Some(4)),
            (vec!["return=minimal", "odata.maxpagesize=7"], Some(7)),
        ] {
            let found = of(Version::V4, &lines).page_size.map(|preferred| preferred.value);
            assert_eq!(found, expected, "{lines:?}");
        }
    }

    #[test]
    fn what_was_done_is_said_in_the_spelling_of_the_client() {
        let check = |lines: &[&str], read: Option<&str>, written: Option<&str>, batch: Option<&str>| {
            let preferences = of(Version::V4, lines);
            let said = |say: &dyn Fn(&mut Answer)| {
                let mut answer = Answer::default();
                say(&mut answer);
                answer.headers().next().map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            };
            assert_eq!(said(&|answer| preferences.say(Some(5), answer)).as_deref(), read, "{lines:?}");
            assert_eq!(said(&|answer| preferences.say_written(true, answer)).as_deref(), written, "{lines:?}");
            assert_eq!(said(&|answer| preferences.say_of_batch(answer)).as_deref(), batch, "{lines:?}");
        };
        check(&[], None, None, None);
        check(&["respond-async, wait=10, track-changes"], None, None, None);
        check(&["odata.maxpagesize=50"], Some("odata.maxpagesize=5"), None, None);
        check(&["maxpagesize=50;x"], Some("maxpagesize=5"), None, None);
        check(&["return=representation"], None, Some("return=representation"), None);
        check(&["odata.continue-on-error"], None, None, Some("odata.continue-on-error=true"));
        check(&["continue-on-error=\"false\""], None, None, Some("continue-on-error=false"));
        check(&["continue-on-error=maybe"], None, None, None);
        let handled = Some("handling=lenient");
        check(&["handling=lenient, handling=strict"], handled, handled, handled);
        let annotated = Some("odata.include-annotations=\"-*,display.x\"");
        check(&["odata.include-annotations=\"-*,display.x\""], annotated, annotated, None);
        let both = Some("maxpagesize=5, include-annotations=\"*\", handling=strict");
        check(
            &["handling=strict", "include-annotations=\"*\", maxpagesize=9"],
            both,
            Some("include-annotations=\"*\", handling=strict"),
            Some("handling=strict"),
        );
    }

    #[test]
    fn strict_handling_refuses_options_that_nobody_knows() {
        let option = |name: &str| CustomOption { name: name.to_owned(), value: String::new() };
        for (prefer, name, accepted) in [
            ("handling=lenient", "foo", true),
            ("handling=strict", "foo", false),
            ("handling=strict", "sap-client", true),
            ("", "foo", true),
        ] {
            assert_eq!(of(Version::V4, &[prefer]).check(&[option(name)]).is_ok(), accepted, "{prefer} {name}");
        }
    }
}
