//! The shape of a scenario in an experiment's TOML file, as a user writes it.
//!
//! It does not check values: see [`super::played`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::load::LoadFile;
use super::model::ModelFile;
use crate::experiment::At;
use crate::traffic::feed::{FeedEnd, Order};
use crate::traffic::scenario::Think;

/// The scenarios of variants, and their load.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ScenariosFile {
    /// For `rate` and `stages`: the load of a scenario.
    pub(super) load: Option<At<LoadFile>>,
    /// The steps of a variant's users, for `scenario`.
    #[serde(default, rename = "scenario")]
    pub(super) scenarios: Vec<ScenarioFile>,
}

/// The scenario of a variant.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PlayedFile {
    /// For `scenario`: the name of the scenario that its users play, if there are several.
    pub(super) scenario: Option<At<String>>,
    /// For `scenario`: variables and their values for this variant.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, At<String>>,
    /// For `scenario` over users: iterations of this variant begin at a rate, regardless of its answers; absent: users
    /// wait.
    pub(super) model: Option<At<ModelFile>>,
}

/// A sequence of requests that each user repeats: one iteration is one unit of work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    /// Short name, by which a variant names its scenario if there are several.
    pub(super) name: At<String>,
    /// Prefixes of its XPath expressions, and their namespaces.
    #[serde(default)]
    pub(super) namespaces: BTreeMap<String, String>,
    /// Think time of a user after each step without its own; absent: none.
    pub(super) think: Option<At<Think>>,
    /// Files of values: each iteration takes a row of each, whose columns are variables.
    #[serde(default, rename = "feed")]
    pub(super) feeds: Vec<FeedFile>,
    /// Steps of each user once before anything counts.
    #[serde(default)]
    pub(super) setup: Vec<StepFile>,
    /// Steps that each user repeats.
    #[serde(default, rename = "step")]
    pub(super) steps: Vec<StepFile>,
    /// Steps of each user once when nothing counts any more.
    #[serde(default)]
    pub(super) teardown: Vec<StepFile>,
}

/// One request, and the use of its answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepFile {
    /// Short name, unique in the scenario, for its figures.
    pub(super) name: At<String>,
    /// The method; absent: GET, or POST with a body.
    pub(super) method: Option<At<String>>,
    /// Path and query: with a leading slash relative to the host, else relative to the variant's `url`. `{{name}}` is
    /// replaced by a variable, here as in headers, bodies and assertions.
    pub(super) path: At<String>,
    /// `"fetch"`: it asks for a token against forged requests (`X-CSRF-Token: Fetch`), which all later steps that write
    /// send along.
    pub(super) csrf: Option<CsrfName>,
    /// Header fields.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, At<String>>,
    /// The body; its variables are escaped as the `Content-Type` demands.
    pub(super) body: Option<At<String>>,
    /// A file beside this one that is the body.
    pub(super) body_file: Option<At<String>>,
    /// The expected statuses, such as `201` or `"2xx,404"`; absent: 2xx.
    pub(super) status: Option<At<StatusFile>>,
    /// Think time of the user after it.
    pub(super) think: Option<At<Think>>,
    /// Variables, each with the place of its value in the answer.
    #[serde(default)]
    pub(super) extract: BTreeMap<String, At<SourceFile>>,
    /// Assertions on every valid answer.
    #[serde(default)]
    pub(super) assert: Vec<At<AssertFile>>,
}

/// Expected statuses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected statuses, such as `201` or `\"2xx,404\"`")]
pub(super) enum StatusFile {
    /// This one.
    One(u16),
    /// Several, or a class of them.
    Text(String),
}

/// Use of a token against forged requests in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CsrfName {
    /// Asks for a token.
    Fetch,
}

/// A file of values.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `feed = [{ file = \"names.csv\" }]`")]
pub(super) struct FeedFile {
    /// A CSV file beside this one, whose first row names the columns.
    pub(super) file: At<String>,
    /// The order in which rows are taken; absent: `"in-order"`, by each user separately.
    #[serde(default)]
    pub(super) order: Order,
    /// Behavior after the last row; absent: `"again"`.
    #[serde(default)]
    pub(super) end: FeedEnd,
}

/// The place of a text in an answer: at one of `json`, `xpath` and `header`, else the whole body; `regex` then takes
/// its first group, or the whole match, from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "where the value stands; such as `{ json = \"/value/0/id\" }`")]
pub(super) struct SourceFile {
    /// A JSON pointer (RFC 6901), such as `/d/results/0/carrid`.
    pub(super) json: Option<String>,
    /// An XPath expression.
    pub(super) xpath: Option<String>,
    /// A header field.
    pub(super) header: Option<String>,
    /// A regular expression.
    pub(super) regex: Option<String>,
}

/// An assertion on a text of an answer. Without `equals`, `contains`, `matches` and the lengths the text must exist,
/// and an XPath condition must be true.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `assert = [{ json = \"/value/0/id\", equals = \"1\" }]`")]
pub(super) struct AssertFile {
    /// A JSON pointer (RFC 6901).
    pub(super) json: Option<String>,
    /// An XPath expression.
    pub(super) xpath: Option<String>,
    /// A header field.
    pub(super) header: Option<String>,
    /// A regular expression.
    pub(super) regex: Option<String>,
    /// Its value.
    pub(super) equals: Option<String>,
    /// A part of it.
    pub(super) contains: Option<String>,
    /// A regular expression that matches a part of it.
    pub(super) matches: Option<String>,
    /// Its least length in bytes.
    pub(super) bytes_min: Option<u64>,
    /// Its largest length in bytes.
    pub(super) bytes_max: Option<u64>,
}
