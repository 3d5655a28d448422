//! What an experiment about mediation says beyond others: servers behind the subjects, the configuration of our own
//! mediator, bodies from files, and what a valid answer is.
//!
//! What it deliberately does not do: start anything, or read an answer (see [`crate::run`] and [`crate::load`]).

use std::path::{Path, PathBuf};

use toml::Spanned;

use super::checker::Checker;
use super::error::ExperimentError;
use super::file::{BackendFile, ConnectionsName, FactorName, SubjectFile, VariantFile, WorkloadFile, WorkloadKind};
use crate::traffic::request::{AnswerShape, Element};
use tollgate_facts::names::did_you_mean;

/// Most backends of one experiment: each is a process.
const BACKENDS_MAX: usize = 8;
/// Deepest element of an answer that can be named.
const DEPTH_MAX: usize = 64;

/// A server behind the subjects: `tollgate serve` with these further arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// Its name; in braces it stands for its URL.
    pub name: String,
    /// The arguments.
    pub arguments: Vec<String>,
}

/// The configuration of our own gateway before the backends' URLs are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Its file as the experiment's author knows it.
    pub source: PathBuf,
    /// Its text.
    pub text: String,
    /// What it names: file names without folders, and texts.
    pub files: Vec<(String, String)>,
}

impl Configuration {
    /// The text with each value, such as a backend's URL, in the place of its name.
    pub fn filled(&self, values: &[(String, String)]) -> String {
        values.iter().fold(self.text.clone(), |text, (name, value)| text.replace(&place(name), value))
    }
}

/// What stands for the URL of a backend.
pub(crate) fn place(backend: &str) -> String {
    format!("{{{backend}}}")
}

impl Checker<'_> {
    pub(super) fn backends(&self, files: &[BackendFile]) -> Result<Vec<Backend>, ExperimentError> {
        let mut backends: Vec<Backend> = Vec::with_capacity(files.len());
        for BackendFile { name, arguments } in files {
            self.name(name)?;
            let text = name.as_ref().as_str();
            if backends.len() == BACKENDS_MAX || backends.iter().any(|known| known.name == text) {
                let help = format!("give each a name of its own, and an experiment at most {BACKENDS_MAX}");
                return Err(self.fault(name.span(), &format!("backend `{text}` stands twice or is too many"), &help));
            }
            // These stand for something else in the files of subjects.
            if ["folder", "port", "tls", "user", "password", "url", "work-processes", "connections", "database"]
                .contains(&text)
            {
                return Err(self.fault(name.span(), &format!("`{text}` is taken"), "give it another name"));
            }
            backends.push(Backend { name: text.to_owned(), arguments: arguments.clone() });
        }
        Ok(backends)
    }

    pub(super) fn configuration(
        &self,
        subject: &SubjectFile,
        backends: &[Backend],
    ) -> Result<Option<Configuration>, ExperimentError> {
        let Some(configuration) = &subject.configuration else {
            return match subject.files.first() {
                Some(file) => Err(self.fault(file.span(), "no configuration names it", "add `configuration`")),
                None => Ok(None),
            };
        };
        let text = self.file(configuration)?;
        if let Some(unused) = backends.iter().find(|backend| !text.contains(&place(&backend.name))) {
            let message = format!("it names no backend `{}`", unused.name);
            let help = format!("`{}` stands for its URL", place(&unused.name));
            return Err(self.fault(configuration.span(), &message, &help));
        }
        let mut files = Vec::with_capacity(subject.files.len());
        for file in &subject.files {
            let name = Path::new(file.as_ref()).file_name().and_then(|name| name.to_str());
            let Some(name) = name else {
                return Err(self.fault(file.span(), "it is no file", "name a file beside this one"));
            };
            files.push((name.to_owned(), self.file(file)?));
        }
        Ok(Some(Configuration { source: self.files.path(configuration.as_ref()), text, files }))
    }

    pub(super) fn connections(
        &self,
        workload: &Spanned<WorkloadFile>,
        factor: FactorName,
    ) -> Result<ConnectionsName, ExperimentError> {
        let Some(connections) = &workload.as_ref().connections else { return Ok(ConnectionsName::default()) };
        if workload.as_ref().kind != WorkloadKind::Request || factor != FactorName::Concurrency {
            let help = "it goes with `kind = \"request\"` and the factor `concurrency`";
            return Err(self.fault(connections.span(), "`connections` has no meaning here", help));
        }
        Ok(*connections.as_ref())
    }

    /// The backend of a variant.
    pub(super) fn backend(
        &self,
        file: &VariantFile,
        backends: &[BackendFile],
    ) -> Result<Option<String>, ExperimentError> {
        let Some(backend) = &file.backend else { return Ok(None) };
        let name = backend.as_ref().as_str();
        if backends.iter().any(|known| known.name.as_ref() == name) {
            return Ok(Some(name.to_owned()));
        }
        let help = match backends.is_empty() {
            true => "add a `[[backend]]`".to_owned(),
            false => did_you_mean(name, backends.iter().map(|known| known.name.as_ref().as_str())),
        };
        Err(self.fault(backend.span(), &format!("there is no backend `{name}`"), &help))
    }

    /// The body of a variant's requests.
    pub(super) fn body(&self, file: &VariantFile, workload: &WorkloadFile) -> Result<Vec<u8>, ExperimentError> {
        let Some(name) = &file.body_file else { return Ok(file.body.clone().unwrap_or_default().into_bytes()) };
        if file.body.is_some() || workload.kind != WorkloadKind::Request {
            let help = "it goes with `kind = \"request\"`, in the place of `body`";
            return Err(self.fault(name.span(), "`body_file` has no meaning here", help));
        }
        Ok(self.file(name)?.into_bytes())
    }

    /// What a valid answer of a variant is.
    pub(super) fn answer(&self, file: &VariantFile) -> Result<AnswerShape, ExperimentError> {
        let element = match &file.answer.element {
            None => None,
            Some(element) => {
                let named = element.as_ref();
                let path: Vec<String> = named.path.split('/').map(str::to_owned).collect();
                let is_name = |name: &String| !name.is_empty() && !name.contains([':', ' ', '<', '@', '[']);
                if path.len() > DEPTH_MAX || !path.iter().all(is_name) {
                    let help = "write local names from the outermost element on, such as `Envelope/Body/answer`";
                    return Err(self.fault(element.span(), &format!("`{}` is no path", named.path), help));
                }
                Some(Element { path, namespace: named.namespace.clone(), text: named.text.clone() })
            }
        };
        Ok(AnswerShape { bytes: file.answer.bytes, element })
    }
}
