//! The file of an experiment on servers: arguments of ours and the servers behind them, the URL of each variant, and
//! whether everything is repeated over a link.
//!
//! It does not start anything (see [`crate::kinds::http::subjects`]).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_net::http1::client::Target;
use tollgate_net::tls::TlsChoice;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{
    Access, At, Backend, Checker, Configuration, Experiment, ExperimentError, Location, ROUND_TRIP_MS_MAX, UpTo,
    Variant, place,
};
use crate::traffic::header::check_header;
use tollgate_facts::names::did_you_mean;
use tollgate_facts::results::Distance;

/// Most backends of one experiment: each is a process.
const BACKENDS_MAX: usize = 8;

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<ServedFile>(TableName::Top), Keys::of::<AskedFile>(TableName::Variant)];

/// Settings of all variants.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ServedFile {
    /// Repetition of all variants through an emulated link; each then occurs twice, the second time with `-remote`
    /// appended to its name.
    remote: Option<At<LinkFile>>,
    /// Settings of tollgate's own gateway.
    #[serde(default)]
    subject: SubjectFile,
    /// Servers behind the subjects, each a `tollgate serve` process that is started before them.
    #[serde(default, rename = "backend")]
    backends: Vec<Backend>,
}

/// URL and headers of a variant.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct AskedFile {
    /// Start of the work: a path on tollgate's own gateway (`/rest/flights`), or a whole URL
    /// (`http://127.0.0.1:8080/flights`). Absent if the workload names it.
    url: Option<At<String>>,
    /// The `Accept` header.
    accept: Option<String>,
    /// Further header fields of every request.
    #[serde(default)]
    headers: BTreeMap<String, At<String>>,
    /// The backend that serves it directly, without a subject.
    backend: Option<At<String>>,
    /// Credentials and TLS of its own, beside those of the command line, which apply to all.
    #[serde(default)]
    access: AccessFile,
}

/// Credentials and TLS. Secrets are in environment variables, which are named here; no secret is stored.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AccessFile {
    /// The environment variable with user and password of basic authentication, such as `me:secret`.
    basic_env: Option<String>,
    /// Header fields, each with the environment variable of its value: `{ X-Api-Key = "SHOP_KEY" }`.
    #[serde(default)]
    headers_env: BTreeMap<String, At<String>>,
    /// A PEM file beside this one with further trusted authorities.
    ca: Option<String>,
    /// Whether any certificate is accepted; the result says so.
    #[serde(default)]
    insecure: bool,
}

/// An emulated link.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkFile {
    /// Its round trip in milliseconds; an extent may set its own.
    pub(crate) round_trip_ms: UpTo<ROUND_TRIP_MS_MAX>,
}

/// Settings of tollgate's own gateway.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SubjectFile {
    /// Further arguments of `tollgate serve`. `{folder}` in an argument is a folder of that process alone, which is
    /// removed when it ends.
    #[serde(default)]
    arguments: Vec<String>,
    /// A file beside this one that becomes its configuration, as the last argument. In it, a backend's name in braces
    /// is replaced by that backend's URL. All variants without a `backend` are then served by one process; but if
    /// `work-processes` are swept, each variant has one at each level, and `{work-processes}`, `{connections}` and
    /// `{database}` are replaced by the level, the variant's limit and the URL of the database.
    configuration: Option<At<String>>,
    /// Files beside this one that the configuration names: they are copied beside it.
    #[serde(default)]
    files: Vec<At<String>>,
}

/// The servers in an experiment's file.
pub(crate) struct Served {
    file: ServedFile,
    asked: Vec<AskedFile>,
}

impl Served {
    /// Takes the keys.
    pub(crate) fn take(document: &mut Document<'_>) -> Result<Served, ExperimentError> {
        Ok(Served { file: document.take(TableName::Top)?, asked: document.each()? })
    }

    /// Puts all of it into an otherwise complete experiment, and repeats the variants over a link if the file says so,
    /// each over the baseline at that distance. `usual` is the location of a variant without `url`.
    pub(crate) fn fill(
        self,
        document: &Document<'_>,
        mut experiment: Experiment,
        usual: impl Fn(&Variant) -> Option<Result<Location, ExperimentError>>,
    ) -> Result<Experiment, ExperimentError> {
        let checker = &document.checker;
        let backends = &self.file.backends;
        checker.backends(backends)?;
        experiment.backends.clone_from(backends);
        experiment.configuration = checker.configuration(&self.file.subject, backends)?;
        experiment.subject_arguments.clone_from(&self.file.subject.arguments);
        for (variant, (asked, way)) in experiment.variants.iter_mut().zip(self.asked.iter().zip(&document.ways)) {
            variant.at = match (&asked.url, usual(variant)) {
                (Some(url), _) => checker.location(url)?,
                (None, Some(usual)) => usual?,
                (None, None) => {
                    let help = "add `url`, such as `url = \"/rest/flights\"`";
                    return Err(checker.unsaid(way, "where its work begins", help));
                }
            };
            variant.request.headers = checker.headers(asked)?;
            variant.access = checker.access(&asked.access)?;
            variant.backend = checker.backend(asked, backends)?;
        }
        let Some(remote) = self.file.remote else { return Ok(experiment) };
        experiment.round_trip_ms = Some(remote.as_ref().round_trip_ms.0);
        let far = |variant: &Variant| Variant {
            name: format!("{}-remote", variant.name),
            baseline: variant.baseline.as_ref().map(|baseline| format!("{baseline}-remote")),
            distance: Distance::Remote,
            model: variant.model.as_ref().map(|model| model.renamed(|name| format!("{name}-remote"))),
            ..variant.clone()
        };
        experiment.variants.extend(experiment.variants.iter().map(far).collect::<Vec<_>>());
        Ok(experiment)
    }

    /// Whether each variant has a URL.
    pub(crate) fn has_all_urls(&self) -> bool {
        self.asked.iter().all(|asked| asked.url.is_some())
    }

    /// The place in the file that repeats everything over a link.
    pub(crate) fn remote_span(&self) -> Option<Range<usize>> {
        self.file.remote.as_ref().map(At::span)
    }

    /// The place in the file that names our gateway's configuration.
    pub(crate) fn configuration_span(&self) -> Option<Range<usize>> {
        self.file.subject.configuration.as_ref().map(At::span)
    }
}

impl Checker<'_> {
    fn backends(&self, backends: &[Backend]) -> Result<(), ExperimentError> {
        for (number, Backend { name, .. }) in backends.iter().enumerate() {
            self.name(name)?;
            let text = name.as_ref().as_str();
            if number == BACKENDS_MAX || backends[..number].iter().any(|known| known.name.as_ref() == text) {
                let help = format!("give each a name of its own, and an experiment at most {BACKENDS_MAX}");
                return Err(self.fault(name.span(), &format!("backend `{text}` stands twice or is too many"), &help));
            }
            // These stand for something else in the files of subjects.
            if ["folder", "port", "tls", "user", "password", "url", "work-processes", "connections", "database"]
                .contains(&text)
            {
                return Err(self.fault(name.span(), &format!("`{text}` is taken"), "give it another name"));
            }
        }
        Ok(())
    }

    fn configuration(
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
        if let Some(unused) =
            backends.iter().map(|backend| backend.name.as_ref()).find(|name| !text.contains(&place(name)))
        {
            let message = format!("it names no backend `{unused}`");
            let help = format!("`{}` stands for its URL", place(unused));
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

    /// The backend of a variant.
    fn backend(&self, file: &AskedFile, backends: &[Backend]) -> Result<Option<String>, ExperimentError> {
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

    pub(crate) fn location(&self, url: &At<String>) -> Result<Location, ExperimentError> {
        let text = url.as_ref().as_str();
        if text.starts_with('/') {
            return Ok(Location::Gateway(text.to_owned()));
        }
        match Target::parse(text) {
            Ok(_) => Ok(Location::Url(text.to_owned())),
            Err(error) => Err(self.fault(
                url.span(),
                &format!("`{text}` is neither a path nor a URL: {error}"),
                "write a path such as `/rest/flights`, or a URL such as `http://127.0.0.1:8080/flights`",
            )),
        }
    }

    fn access(&self, file: &AccessFile) -> Result<Access, ExperimentError> {
        let mut headers = Vec::with_capacity(file.headers_env.len());
        for (name, variable) in &file.headers_env {
            check_header(name, "").map_err(|message| {
                self.fault(variable.span(), &message, "write it as `headers_env = { Name = \"VARIABLE\" }`")
            })?;
            headers.push((name.clone(), variable.as_ref().clone()));
        }
        Ok(Access {
            basic: file.basic_env.clone(),
            headers,
            authorities: file.ca.as_ref().map(|name| self.files.path(name)),
            choice: if file.insecure { TlsChoice::Insecure } else { TlsChoice::Verify },
        })
    }

    fn headers(&self, file: &AskedFile) -> Result<Vec<(String, String)>, ExperimentError> {
        let mut headers: Vec<(String, String)> =
            file.accept.iter().map(|accept| ("Accept".to_owned(), accept.clone())).collect();
        for (name, value) in &file.headers {
            check_header(name, value.as_ref()).map_err(|message| {
                self.fault(value.span(), &message, "write it as `headers = { Name = \"value\" }`")
            })?;
            headers.push((name.clone(), value.as_ref().clone()));
        }
        Ok(headers)
    }
}
