//! The shape of a scenario in an experiment's TOML file, as a user writes it.
//!
//! It deliberately does not judge: see [`super::played`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::load::LoadFile;
use super::model::ModelFile;
use crate::experiment::At;
use crate::traffic::feed::{FeedEnd, Order};
use crate::traffic::scenario::Think;

/// What variants play, and how they are loaded.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ScenariosFile {
    /// For `rate` and `stages`: how a scenario is loaded.
    pub(super) load: Option<At<LoadFile>>,
    /// What the users of a variant do, for `scenario`.
    #[serde(default, rename = "scenario")]
    pub(super) scenarios: Vec<ScenarioFile>,
}

/// What a variant plays.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PlayedFile {
    /// For `scenario`: the name of the one that its users play, where there are several.
    pub(super) scenario: Option<At<String>>,
    /// For `scenario`: variables and what they are for this variant.
    #[serde(default)]
    pub(super) variables: BTreeMap<String, At<String>>,
    /// For `scenario` over users: iterations of this variant begin at a rate, whatever it answers; absent: users wait.
    pub(super) model: Option<At<ModelFile>>,
}

/// A sequence of requests that each user goes through again and again: one iteration is one unit of work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    /// Short name: a variant says by it which scenario is its own, where there are several.
    pub(super) name: At<String>,
    /// Prefixes of its XPath expressions, and their namespaces.
    #[serde(default)]
    pub(super) namespaces: BTreeMap<String, String>,
    /// How long a user thinks behind each step that does not say it itself; absent: not at all.
    pub(super) think: Option<At<Think>>,
    /// Files of values: each iteration takes a row of each, whose columns are variables.
    #[serde(default, rename = "feed")]
    pub(super) feeds: Vec<FeedFile>,
    /// What each user does once before anything counts.
    #[serde(default)]
    pub(super) setup: Vec<StepFile>,
    /// What each user does again and again.
    #[serde(default, rename = "step")]
    pub(super) steps: Vec<StepFile>,
    /// What each user does once when nothing counts any more.
    #[serde(default)]
    pub(super) teardown: Vec<StepFile>,
}

/// One request and what is done with its answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StepFile {
    /// Short name, unique in the scenario: its figures stand under it.
    pub(super) name: At<String>,
    /// The method; absent: GET, or POST where there is a body.
    pub(super) method: Option<At<String>>,
    /// Path and query: with a slash in front from the host on, else beside the variant's `url`. `{{name}}` stands for a
    /// variable, here as in headers, bodies and assertions.
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
    /// The statuses that are wanted, such as `201` or `"2xx,404"`; absent: 2xx.
    pub(super) status: Option<At<StatusFile>>,
    /// How long the user thinks behind it.
    pub(super) think: Option<At<Think>>,
    /// Variables, and where in the answer their values stand.
    #[serde(default)]
    pub(super) extract: BTreeMap<String, At<SourceFile>>,
    /// What holds of every valid answer.
    #[serde(default)]
    pub(super) assert: Vec<At<AssertFile>>,
}

/// Statuses that are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected statuses, such as `201` or `\"2xx,404\"`")]
pub(super) enum StatusFile {
    /// This one.
    One(u16),
    /// Several, or a class of them.
    Text(String),
}

/// What a step does about forged requests.
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
    /// In which order rows are taken; absent: `"in-order"`, by each user for itself.
    #[serde(default)]
    pub(super) order: Order,
    /// What comes behind the last row; absent: `"again"`.
    #[serde(default)]
    pub(super) end: FeedEnd,
}

/// Where in an answer a text stands: at one of `json`, `xpath` and `header`, else in the whole body; `regex` then takes its
/// first group, or all that it matches, out of that.
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

/// What holds of a text of an answer; with none of `equals`, `contains`, `matches` and the lengths that it is there, and of
/// an XPath condition that it is true.
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
    /// What it is.
    pub(super) equals: Option<String>,
    /// What stands in it.
    pub(super) contains: Option<String>,
    /// A regular expression that it matches somewhere.
    pub(super) matches: Option<String>,
    /// How many bytes it has at least.
    pub(super) bytes_min: Option<u64>,
    /// How many bytes it has at most.
    pub(super) bytes_max: Option<u64>,
}
