//! The format of a subject's TOML file: the types that serde reads and `tollgate schema subject` describes.
//!
//! It checks no rules: a [`super::Peer`] is made from it once everything is known to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::{At, UpTo};

/// A subject that tollgate did not make: how to install it, to start it, and to know that it is ready. `{folder}` is
/// replaced by the folder of this file, `{port}` by a free port of 127.0.0.1 (0 if the ready line states the port).
/// Where encryption is swept, an argument `{tls}` becomes one for each way of encrypting,
/// `PORT:VERSION:CERTIFICATE:KEY`, each with a ready line of its own after the plain one's; in the environment `{user}`
/// and `{password}` are replaced by the account to accept, or by nothing where there is none. `{echo}` and `{quote}`
/// are replaced by the URLs of the backends of `mediation`, or by nothing elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tollgate subject")]
pub(super) struct SubjectFile {
    /// Short name: lower-case letters, digits and hyphens.
    pub(super) name: At<String>,
    /// Description in a few words, with versions.
    pub(super) title: At<String>,
    /// One command line that installs it, to be run by hand.
    pub(super) install: At<String>,
    /// Files that exist once it is installed, relative to the folder of this file.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) installed: Vec<At<String>>,
    /// Command that starts it.
    pub(super) start: StartFile,
    /// Shortest time for which each variant loads it before a figure counts, in seconds: a subject that compiles code
    /// at run time needs longer. Absent: as long as our own.
    pub(super) warm_up_s: Option<UpTo<300, 0>>,
    /// Condition for being ready.
    pub(super) ready: At<ReadyFile>,
    /// The experiments in which it can be the subject.
    pub(super) experiment: BTreeMap<At<String>, Served>,
}

/// The start of a subject.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartFile {
    /// The program and its arguments, run in the folder of this file. A program with a slash in it is looked for there.
    #[schemars(length(min = 1))]
    pub(super) command: At<Vec<String>>,
    /// Environment variables in addition to those of tollgate.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The processes whose CPU time and memory are watched.
    #[serde(default)]
    pub(super) watch: Watch,
}

/// The processes that are watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "WatchFile")]
pub(in super::super) enum Watch {
    /// The process of the command.
    #[default]
    Child,
    /// All processes that it starts with this name in /proc, such as `java` behind a shell script, added up.
    Descendant(String),
}

/// Condition for a subject to be ready: one of `line` and `url`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadyFile {
    /// A text contained in a line of its standard output; `{url}` in it matches its URL.
    pub(super) line: Option<At<String>>,
    /// A URL that is answered with a status from 200 to 399.
    pub(super) url: Option<At<String>>,
    /// Time limit in seconds; absent: 20.
    pub(super) within_s: Option<UpTo<600>>,
}

/// Differences for one experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServedFile")]
pub(super) struct Served {
    /// Replacements for paths of the experiment; the longest matching prefix is replaced.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) paths: BTreeMap<String, At<String>>,
    /// The variants of the experiment that it supports; absent: all.
    pub(super) variants: Option<Vec<String>>,
}
