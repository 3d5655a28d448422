//! Peers: subjects that tollgate did not make and can start itself, each described by a file
//! `subjects/<name>/subject.toml`.
//!
//! This module does not install anything (that is one line, by hand), and does not start it (see [`super::Child`]).

mod check;
mod file;
mod start;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::experiment::{ExperimentError, TOLLGATE, place};
use file::{Served, Watch};

/// The peers that come with tollgate: name and file.
const BUILT_IN: &[(&str, &str)] = &[
    ("camel", include_str!("../../../../../subjects/camel/subject.toml")),
    ("cap", include_str!("../../../../../subjects/cap/subject.toml")),
    ("haproxy", include_str!("../../../../../subjects/haproxy/subject.toml")),
    ("nginx", include_str!("../../../../../subjects/nginx/subject.toml")),
    ("nginx-xslt", include_str!("../../../../../subjects/nginx-xslt/subject.toml")),
    ("synapse", include_str!("../../../../../subjects/synapse/subject.toml")),
];
/// The folder of the peers that come with tollgate.
const FOLDER: &str = "subjects";
/// The file in each of its folders.
const FILE: &str = "subject.toml";
/// Size of a subject's file in bytes, at most.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Placeholder for the folder of the file.
const FOLDER_PLACE: &str = "{folder}";
/// Placeholder for a free port.
const PORT_PLACE: &str = "{port}";
/// Placeholder for the ways of encrypting, each an argument of its own.
const TLS_PLACE: &str = "{tls}";
/// Placeholders for the account that it accepts.
const USER_PLACE: &str = "{user}";
const PASSWORD_PLACE: &str = "{password}";
/// Placeholders for the backends of `mediation`, also where an experiment has none.
const BACKEND_PLACES: [&str; 2] = ["{echo}", "{quote}"];
/// Placeholder for its URL.
const URL_PLACE: &str = "{url}";

/// A subject that can be started, as described by its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Short name.
    pub name: String,
    /// Short description.
    pub title: String,
    /// The line that installs it.
    pub install: String,
    /// The folder of its file, in which it runs.
    pub folder: PathBuf,
    installed: Vec<PathBuf>,
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) watch: Watch,
    pub(super) ready: Ready,
    pub(super) ready_within: Duration,
    /// Shortest time for which each variant loads it before a figure counts; zero: as our own.
    pub(crate) warm_up: Duration,
    experiments: BTreeMap<String, Served>,
}

/// Requirements of an experiment beyond a plain port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The ways of encrypting, each with a port.
    pub listeners: Vec<TlsListener>,
    /// Name and password of the account to accept.
    pub user: Option<(String, String)>,
    /// Names and URLs of the servers behind it.
    pub backends: Vec<(String, String)>,
}

/// A port with TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsListener {
    /// The one version that it speaks, such as `1.3`.
    pub version: String,
    /// Its certificate and the intermediate ones.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Condition for a subject to be ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ready {
    /// A line on standard output contains this text; the subject serves at the port that it was given.
    Line(String),
    /// A line on standard output contains its URL, between these two texts.
    LineWithUrl(String, String),
    /// This URL is answered.
    Url(String),
}

impl Peer {
    /// Returns the built-in peer of this name, or reads a file whose name ends in `.toml`.
    ///
    /// # Errors
    /// An unknown name, with the nearest one, or the fault in its file.
    pub fn find(name: &str) -> Result<Peer, ExperimentError> {
        if name.ends_with(".toml") {
            return read(Path::new(name));
        }
        let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            let known = std::iter::once(TOLLGATE).chain(BUILT_IN.iter().map(|(known, _)| *known));
            return Err(ExperimentError::unknown("subject", name, known));
        };
        match folders().map(|folder| folder.join(name).join(FILE)).find(|file| file.is_file()) {
            Some(file) => read(&file),
            None => Peer::parse(text, &Path::new(FOLDER).join(name).join(FILE)),
        }
    }

    /// Returns all built-in peers.
    ///
    /// # Errors
    /// The fault in a file found in place of a built-in one.
    pub fn known() -> Result<Vec<Peer>, ExperimentError> {
        BUILT_IN.iter().map(|(name, _)| Peer::find(name)).collect()
    }

    /// Returns the first file that is missing because it is not installed.
    pub fn missing(&self) -> Option<&Path> {
        self.installed.iter().map(PathBuf::as_path).find(|file| !file.exists())
    }

    /// The experiments in which it can be the subject.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.experiments.keys().map(String::as_str)
    }

    /// Returns its path for an experiment's `path`; `None` if it cannot be that experiment's subject.
    pub fn path(&self, experiment: &str, path: &str) -> Option<String> {
        let served = self.experiments.get(experiment)?;
        let fits = served.paths.iter().filter(|(theirs, _)| path.starts_with(theirs.as_str()));
        Some(match fits.max_by_key(|(theirs, _)| theirs.len()) {
            Some((theirs, own)) => format!("{}{}", own.as_ref(), &path[theirs.len()..]),
            None => path.to_owned(),
        })
    }

    /// Whether it supports a variant of an experiment, by the name in its file.
    pub fn can_do(&self, experiment: &str, variant: &str) -> bool {
        let variants = self.experiments.get(experiment).and_then(|served| served.variants.as_ref());
        variants.is_none_or(|variants| variants.iter().any(|known| known == variant))
    }

    /// Whether it gets a port of our choice, since it does not report its own.
    pub(super) fn is_told_its_port(&self) -> bool {
        !matches!(self.ready, Ready::LineWithUrl(..)) || self.is_told_listeners()
    }

    /// Whether it gets the ways of encrypting, and so all of its ports.
    pub(super) fn is_told_listeners(&self) -> bool {
        self.command.iter().any(|argument| argument == TLS_PLACE)
    }
}

/// Fills the backends into a text of the file; missing ones become empty.
pub(super) fn with_backends(text: &str, backends: &[(String, String)]) -> String {
    let known = backends.iter().fold(text.to_owned(), |text, (name, url)| text.replace(&place(name), url));
    BACKEND_PLACES.iter().fold(known, |text, place| text.replace(place, ""))
}

/// Fills the port into a text of the file.
pub(super) fn filled(text: &str, port: u16) -> String {
    text.replace(PORT_PLACE, &port.to_string())
}

fn read(file: &Path) -> Result<Peer, ExperimentError> {
    let refused = |message| ExperimentError::whole(&file.display().to_string(), message);
    let length = std::fs::metadata(file).map_err(|error| refused(format!("cannot be read: {error}")))?.len();
    if length > FILE_BYTES_MAX {
        return Err(refused(format!("has {length} bytes, at most {FILE_BYTES_MAX} describe a subject")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| refused(format!("cannot be read: {error}")))?;
    Peer::parse(&text, file)
}

/// Returns the folders searched for built-in peers: here, and above the program, which in a checkout is built below it.
fn folders() -> impl Iterator<Item = PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let above: Vec<PathBuf> = program.ancestors().skip(1).map(|folder| folder.join(FOLDER)).collect();
    std::iter::once(PathBuf::from(FOLDER)).chain(above)
}

/// Returns the JSON Schema of a subject's file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::SubjectFile)
}

#[cfg(test)]
mod tests;
