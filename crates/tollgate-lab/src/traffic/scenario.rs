//! Scenarios: steps that each user repeats, with variables of its own. Every name in one is known, and every expression
//! compiled.
//!
//! This module does not send requests (see [`crate::load::scenario`]).

use std::sync::Arc;

use derive_more::Display;
use regex::bytes::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_xml::XPath;

use super::feed::Feed;
use super::feed::template::Escape;
use super::statuses::Statuses;

/// Variables that every scenario has: the user's number, the number of its iteration, and a number that no other iteration
/// on this machine has.
pub(crate) const BUILT_IN: [&str; 3] = ["user", "iteration", "unique"];
/// The variable of a fetched token against forged requests.
pub(crate) const CSRF_TOKEN: &str = "csrf-token";
/// The field in which the token is requested and sent.
pub(crate) const CSRF_FIELD: &str = "X-CSRF-Token";

/// A scenario with all its names resolved.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Names of all variables: first [`BUILT_IN`], then columns of feeds, constants of variants, and extracted values.
    pub variables: Vec<String>,
    /// Rows of values.
    pub feeds: Vec<Fed>,
    /// First steps of each user.
    pub setup: Vec<Step>,
    /// Repeated steps.
    pub steps: Vec<Step>,
    /// Last steps.
    pub teardown: Vec<Step>,
}

/// The scenario of a variant, and the initial values of some of its variables.
#[derive(Debug, Clone)]
pub struct Played {
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// Variables and their values.
    pub constants: Vec<(Variable, String)>,
}

impl Played {
    /// Whether any step has a think time.
    pub(crate) fn thinks(&self) -> bool {
        self.scenario.steps.iter().filter_map(|step| step.think).any(|think| think.ms > 0)
    }
}

/// Position of a variable in [`Scenario::variables`].
pub type Variable = usize;

/// A feed, and the variables of its columns.
#[derive(Debug, Clone)]
pub struct Fed {
    /// The feed.
    pub feed: Feed,
    /// The variable of its first column; the others follow.
    pub first: Variable,
}

/// One request and the handling of its response.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: Text,
    /// Header fields.
    pub headers: Vec<(String, Text)>,
    /// The body.
    pub body: Option<Text>,
    /// Expected statuses.
    pub statuses: Statuses,
    /// Think time of the user after it.
    pub think: Option<Think>,
    /// Values extracted from the response.
    pub extracts: Vec<Extract>,
    /// Assertions about the response.
    pub assertions: Vec<Assertion>,
}

/// A text with placeholders for variables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(pub Vec<Part>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Fixed text.
    Fixed(String),
    /// A variable's value, escaped.
    Value(Variable, Escape),
}

/// Think time of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `think = { ms = 500 }`")]
pub struct Think {
    /// Milliseconds; for `exponential`, the mean.
    pub ms: u32,
    /// The distribution of the times; absent: `"constant"`.
    #[serde(default)]
    pub distribution: Distribution,
}

/// The distribution of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// All times are equal.
    #[default]
    Constant,
    /// As between the calls of many independent people; at most ten times the mean.
    Exponential,
}

/// A variable that takes its value from the response.
#[derive(Debug, Clone)]
pub struct Extract {
    /// The variable.
    pub variable: Variable,
    /// The source of the value.
    pub source: Source,
}

/// The source of a text in a response.
#[derive(Debug, Clone, Display)]
#[display("{place}{}", pattern.as_ref().map(|of| format!(", regex `{of}`")).unwrap_or_default())]
pub struct Source {
    /// The part of the response.
    pub place: Place,
    /// The regular expression that selects a part of it.
    pub pattern: Option<Regex>,
}

/// A place in a response.
#[derive(Debug, Clone, Display)]
pub enum Place {
    /// The whole body.
    #[display("the body")]
    Body,
    /// A field.
    #[display("header `{_0}`")]
    Header(String),
    /// A value of JSON, by names and indices from the top.
    #[display("json `/{}`", _0.join("/"))]
    Json(Vec<String>),
    /// The text that an XPath expression selects.
    #[display("xpath `{}`", _0.text())]
    XPath(Arc<XPath>),
}

/// An assertion about a text of a response.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// The source of the text.
    pub source: Source,
    /// Its conditions; all must be met.
    pub conditions: Vec<Condition>,
}

/// A condition of an existing text.
#[derive(Debug, Clone)]
pub enum Condition {
    /// The text equals this.
    Equals(Text),
    /// The text contains this.
    Contains(Text),
    /// The expression matches somewhere in the text.
    Matches(Regex),
    /// Minimum length in bytes.
    BytesMin(u64),
    /// Maximum length in bytes.
    BytesMax(u64),
}

impl Text {
    /// The text itself, if it has no placeholders.
    pub(crate) fn fixed(&self) -> Option<&str> {
        match &self.0[..] {
            [] => Some(""),
            [Part::Fixed(text)] => Some(text),
            _ => None,
        }
    }

    /// Writes it with these values of all variables.
    pub(crate) fn write(&self, values: &[Vec<u8>], out: &mut Vec<u8>) {
        self.0.iter().for_each(|part| part.write(values, out));
    }
}

impl Part {
    /// Writes it with these values of all variables.
    pub(crate) fn write(&self, values: &[Vec<u8>], out: &mut Vec<u8>) {
        match self {
            Part::Fixed(text) => out.extend_from_slice(text.as_bytes()),
            Part::Value(variable, escape) => escape.write(&values[*variable], out),
        }
    }
}

/// Whether a path is a whole URL.
pub(crate) fn is_address(value: &[u8]) -> bool {
    let begins = |scheme: &[u8]| value.get(..scheme.len()).is_some_and(|front| front.eq_ignore_ascii_case(scheme));
    begins(b"http://") || begins(b"https://")
}
