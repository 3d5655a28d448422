//! Values of flags: each is read from its text into something that cannot be wrong any more, or says what was expected.
//!
//! Deliberately not here: which flag has which value; each verb knows its own.

use std::str::FromStr;
use std::time::Duration;

use tollgate_lab::load::check_header;

/// `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assignment<T> {
    /// Left of the first `=`.
    pub(crate) name: String,
    /// Right of it.
    pub(crate) value: T,
}

impl<T: FromStr> FromStr for Assignment<T>
where
    T::Err: std::fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("expected VARIANT=…, but `{text}` has no `=`"))?;
        if name.is_empty() {
            return Err("the variant before `=` is missing".to_owned());
        }
        if value.is_empty() {
            return Err(format!("the value after `{name}=` is missing"));
        }
        let value = value.parse().map_err(|error| format!("`{value}` for `{name}`: {error}"))?;
        Ok(Assignment { name: name.to_owned(), value })
    }
}

/// `Name: value`, safe to be written into a request as it is.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HeaderField {
    /// The field's name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
}

impl FromStr for HeaderField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("expected `Name: value`, but there is no `:`")?;
        let value = value.trim();
        check_header(name, value)?;
        Ok(HeaderField { name: name.to_owned(), value: value.to_owned() })
    }
}

// A header may be a secret, so its value is not shown even when the arguments are printed for debugging.
impl std::fmt::Debug for HeaderField {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: …", self.name)
    }
}

/// `user:password`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// Left of the first `:`.
    pub(crate) user: String,
    /// Right of it.
    pub(crate) password: String,
}

impl FromStr for Credentials {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (user, password) = text.split_once(':').ok_or("expected USER:PASSWORD, but there is no `:`")?;
        Ok(Credentials { user: user.to_owned(), password: password.to_owned() })
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:…", self.user)
    }
}

/// Longest time that can be asked for: a day.
const TIME_SECONDS_MAX: f64 = 86_400.0;

/// Seconds as ApacheBench takes them: a bare number.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= TIME_SECONDS_MAX => Ok(Duration::from_secs_f64(number)),
        _ => Err(format!("expected seconds above 0 and up to {TIME_SECONDS_MAX}")),
    }
}

/// A time with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number with its unit, such as 500ms, 10s or 2m".to_owned();
    let digits = text.find(|character: char| !character.is_ascii_digit() && character != '.').ok_or_else(expected)?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| expected())?;
    let scale = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(expected()),
    };
    seconds(&(number * scale).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_needs_its_unit() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(duration(text).ok().map(|time| time.as_millis() as u64), expected, "{text}");
        };
        check("500ms", Some(500));
        check("10s", Some(10_000));
        check("1.5m", Some(90_000));
        check("10", None);
        check("s", None);
        check("-1s", None);
        check("0s", None);
        check("1d", None);
    }

    #[test]
    fn an_assignment_names_what_is_missing() {
        let check = |text: &str, expected: Result<(&str, u32), &str>| {
            let found = text.parse::<Assignment<u32>>();
            let found = found.as_ref().map(|found| (found.name.as_str(), found.value)).map_err(String::as_str);
            assert_eq!(found, expected);
        };
        check("a=1", Ok(("a", 1)));
        check("a", Err("expected VARIANT=…, but `a` has no `=`"));
        check("=1", Err("the variant before `=` is missing"));
        check("a=", Err("the value after `a=` is missing"));
        check("a=x", Err("`x` for `a`: invalid digit found in string"));
    }

    #[test]
    fn a_header_field_cannot_smuggle_a_second_one() {
        let check = |text: &str, accepted: bool| assert_eq!(text.parse::<HeaderField>().is_ok(), accepted, "{text:?}");
        check("Accept: application/json", true);
        check("X-Empty:", true);
        check("Accept", false);
        check(": value", false);
        check("Two words: value", false);
        check("A: b\r\nHost: elsewhere", false);
    }

    #[test]
    fn secrets_are_not_shown_when_arguments_are_printed() {
        let (header, credentials) =
            ("Authorization: hidden".parse::<HeaderField>(), "me:hidden".parse::<Credentials>());
        assert_eq!(format!("{:?} {:?}", header.unwrap(), credentials.unwrap()), "Authorization: … me:…");
    }
}
