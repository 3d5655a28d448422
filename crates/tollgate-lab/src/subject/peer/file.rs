//! The shape of a subject's TOML file, as a user writes it: what serde reads and `tollgate schema subject` describes.
//!
//! It deliberately does not judge: [`super::Peer`] is made of it once everything in it is known to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::{At, UpTo};

/// A subject that tollgate did not make: how to install it, to start it, and to know that it is ready. `{folder}`
/// stands for the folder of this file, `{port}` for a free port of 127.0.0.1 (0 where the ready line says which one it
/// took). Where encryption is swept, an argument `{tls}` becomes one for each way of encrypting,
/// `PORT:VERSION:CERTIFICATE:KEY`, each with a ready line of its own behind the plain one's; in the environment
/// `{user}` and `{password}` stand for whom it is to know, and for nothing where nobody is asked. `{echo}` and `{quote}`
/// stand for the URLs of the backends of `mediation`, and for nothing elsewhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tollgate subject")]
pub(super) struct SubjectFile {
    /// Short name: lower-case letters, digits and hyphens.
    pub(super) name: At<String>,
    /// What it is, with its versions, in a few words.
    pub(super) title: At<String>,
    /// One line that installs it, to be run by hand.
    pub(super) install: At<String>,
    /// Files that are there once it is installed, relative to the folder of this file.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) installed: Vec<At<String>>,
    /// How it is started.
    pub(super) start: StartFile,
    /// It is loaded for so many seconds at least, by each variant, before a figure counts: what compiles its code while
    /// it runs needs longer. Absent: as long as our own.
    pub(super) warm_up_s: Option<UpTo<300, 0>>,
    /// When it is ready.
    pub(super) ready: At<ReadyFile>,
    /// The experiments that it can be the subject of.
    pub(super) experiment: BTreeMap<At<String>, Served>,
}

/// How a subject is started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartFile {
    /// The program and its arguments, run in the folder of this file. A program with a slash in it is looked for there.
    #[schemars(length(min = 1))]
    pub(super) command: At<Vec<String>>,
    /// Variables of its environment beside those of tollgate's own.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The process whose CPU time and memory are watched.
    #[serde(default)]
    pub(super) watch: Watch,
}

/// The process that is watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "WatchFile")]
pub(in super::super) enum Watch {
    /// The one that the command becomes.
    #[default]
    Child,
    /// Those that it starts and that have this name in /proc, such as `java` behind a shell script; all added up.
    Descendant(String),
}

/// When a subject is ready: one of `line` and `url`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadyFile {
    /// A text that a line on its standard output holds; `{url}` in it stands for the URL that it serves at.
    pub(super) line: Option<At<String>>,
    /// A URL that is answered with a status from 200 to 399.
    pub(super) url: Option<At<String>>,
    /// It has so many seconds; absent: 20.
    pub(super) within_s: Option<UpTo<600>>,
}

/// What differs for one experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ServedFile")]
pub(super) struct Served {
    /// For paths of the experiment, the paths that this subject has instead; the longest beginning that fits is
    /// replaced.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) paths: BTreeMap<String, At<String>>,
    /// The variants of the experiment that it can do; absent: all.
    pub(super) variants: Option<Vec<String>>,
}
