//! Peers: subjects that tollgate did not make and can start itself, each described by a file
//! `subjects/<name>/subject.toml`.
//!
//! What this module deliberately does not do: install anything (that is one line, by hand), or start it (see
//! [`super::Child`]).

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
/// A file beyond it describes no subject.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Stands for the folder of the file.
const FOLDER_PLACE: &str = "{folder}";
/// Stands for a free port.
const PORT_PLACE: &str = "{port}";
/// Stands for the ways of encrypting, each an argument of its own.
const TLS_PLACE: &str = "{tls}";
/// Stand for whom it is to know.
const USER_PLACE: &str = "{user}";
const PASSWORD_PLACE: &str = "{password}";
/// Stand for the backends of `mediation`, also where an experiment has none.
const BACKEND_PLACES: [&str; 2] = ["{echo}", "{quote}"];
/// Stands for where it serves.
const URL_PLACE: &str = "{url}";

/// A subject that can be started, as its file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// Short name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// The line that installs it.
    pub install: String,
    /// The folder in which it stands and runs.
    pub folder: PathBuf,
    installed: Vec<PathBuf>,
    pub(super) command: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) watch: Watch,
    pub(super) ready: Ready,
    pub(super) ready_within: Duration,
    /// For how long it is loaded at least before a figure counts, by each variant; zero: as our own.
    pub(crate) warm_up: Duration,
    experiments: BTreeMap<String, Served>,
}

/// What an experiment wants of a subject beside its plain port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The ways of encrypting, each with a port.
    pub listeners: Vec<TlsListener>,
    /// Name and password of whom it is to know.
    pub user: Option<(String, String)>,
    /// Names and URLs of the servers behind it.
    pub backends: Vec<(String, String)>,
}

/// A port with TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsListener {
    /// The one version that it speaks, such as `1.3`.
    pub version: String,
    /// Its certificate and those between it and the authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// How a subject shows that it is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ready {
    /// By a line on standard output that holds this text; it serves at the port that it was given.
    Line(String),
    /// By a line on standard output that also says where it serves: what stands before the URL, and what behind it.
    LineWithUrl(String, String),
    /// By answering this URL.
    Url(String),
}

impl Peer {
    /// The peer of this name that comes with tollgate, or that of a file whose name ends in `.toml`.
    ///
    /// # Errors
    /// That there is none, with the nearest name, or what is wrong with its file.
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

    /// All that come with tollgate.
    ///
    /// # Errors
    /// What is wrong with a file that stands where one of them is looked for.
    pub fn known() -> Result<Vec<Peer>, ExperimentError> {
        BUILT_IN.iter().map(|(name, _)| Peer::find(name)).collect()
    }

    /// The first file that would be there if it were installed.
    pub fn missing(&self) -> Option<&Path> {
        self.installed.iter().map(PathBuf::as_path).find(|file| !file.exists())
    }

    /// The experiments that it can be the subject of.
    pub fn experiments(&self) -> impl Iterator<Item = &str> {
        self.experiments.keys().map(String::as_str)
    }

    /// Where it serves what an experiment has at `path`; `None` where it cannot be that experiment's subject.
    pub fn path(&self, experiment: &str, path: &str) -> Option<String> {
        let served = self.experiments.get(experiment)?;
        let fits = served.paths.iter().filter(|(theirs, _)| path.starts_with(theirs.as_str()));
        Some(match fits.max_by_key(|(theirs, _)| theirs.len()) {
            Some((theirs, own)) => format!("{}{}", own.as_ref(), &path[theirs.len()..]),
            None => path.to_owned(),
        })
    }

    /// Whether it can do a variant of an experiment, by the name that the file gives it.
    pub fn can_do(&self, experiment: &str, variant: &str) -> bool {
        let variants = self.experiments.get(experiment).and_then(|served| served.variants.as_ref());
        variants.is_none_or(|variants| variants.iter().any(|known| known == variant))
    }

    /// Whether it is to have a port of our choice, since it does not say which one it took.
    pub(super) fn is_told_its_port(&self) -> bool {
        !matches!(self.ready, Ready::LineWithUrl(..)) || self.is_told_listeners()
    }

    /// Whether it is told the ways of encrypting, and so all of its ports.
    pub(super) fn is_told_listeners(&self) -> bool {
        self.command.iter().any(|argument| argument == TLS_PLACE)
    }
}

/// A text of the file with the backends filled in; those that an experiment does not have are nothing.
pub(super) fn with_backends(text: &str, backends: &[(String, String)]) -> String {
    let known = backends.iter().fold(text.to_owned(), |text, (name, url)| text.replace(&place(name), url));
    BACKEND_PLACES.iter().fold(known, |text, place| text.replace(place, ""))
}

/// A text of the file with the port filled in.
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

/// Where peers that come with tollgate are looked for: here, and above the program, which in a checkout is built below
/// it.
fn folders() -> impl Iterator<Item = PathBuf> {
    let program = std::env::current_exe().unwrap_or_default();
    let above: Vec<PathBuf> = program.ancestors().skip(1).map(|folder| folder.join(FOLDER)).collect();
    std::iter::once(PathBuf::from(FOLDER)).chain(above)
}

/// The JSON Schema of a subject's file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(file::SubjectFile)
}

#[cfg(test)]
mod tests;
