//! A parsed experiment: the variants compared, the levels, and the work.
//!
//! It does not read a file (see [`super::document`]) or know the parts that only one kind has.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use derive_more::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_facts::names::did_you_mean;
use tollgate_facts::results::{self, Distance, NamedLevel, OpenModel, OpenRate, Piece};
use tollgate_net::tls::TlsChoice;

use super::file::{Extent, ExtentFile, PublishedTable};
use super::values::At;
use crate::traffic::request::RequestShape;

/// The name of tollgate itself among the subjects of `--subjects`.
pub const TOLLGATE: &str = "tollgate";

/// The properties that all experiments of a kind share, from the list of kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heading {
    /// Name of the kind.
    pub kind: &'static str,
    /// The swept factor.
    pub factor: Factor,
    /// The unit of work in words.
    pub unit_of_work: &'static str,
    /// The piece of work that its figures refer to.
    pub piece: Piece,
}

/// A factor that can be swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Factor {
    /// Its name in files and results.
    pub name: &'static str,
    /// The unit of its levels; empty where they have none.
    pub unit: &'static str,
    /// Its description, a sentence.
    pub about: &'static str,
}

/// An experiment in which every name is known and every number is in range. The default is one without variants, of no kind.
#[derive(Debug, Clone, Default)]
pub struct Experiment {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// Its author.
    pub author: Author,
    /// The properties of its kind.
    pub heading: Heading,
    /// Its levels, ascending, none twice.
    pub levels: Vec<u64>,
    /// Names of the levels where they are more than numbers; then there are no other levels.
    pub named_levels: Vec<NamedLevel>,
    /// Users at each level.
    pub users: Users,
    /// The lifetime of the users' connections.
    pub connections: Connections,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
    /// Round trip of the link of remote variants in milliseconds, where an extent does not say otherwise; absent where
    /// there are none.
    pub round_trip_ms: Option<u32>,
    /// Further arguments of `tollgate serve`; `{folder}` in one is replaced by that process's own folder.
    pub subject_arguments: Vec<String>,
    /// Its configuration; absent where it needs none from us.
    pub configuration: Option<Configuration>,
    /// Servers behind the subjects.
    pub backends: Vec<Backend>,
    /// The ways of doing it, in the order of the file.
    pub variants: Vec<Variant>,
    /// The file's settings of each extent; absent where it has none.
    pub(crate) extents: BTreeMap<Extent, ExtentFile>,
    /// Thresholds of the figures; each names existing variants and levels.
    pub thresholds: Vec<tollgate_facts::threshold::Threshold>,
    /// Figures that others published.
    pub published: Vec<tollgate_facts::results::Published>,
    /// A whole table that others published.
    pub published_table: Option<PublishedTable>,
    /// The subject of a report's headline; absent: its variants in their order.
    pub answer: Option<results::Answering>,
    /// The part that only its kind knows.
    pub(crate) own: Own,
}

/// The author of an experiment: what a built-in one expects of responses applies to our own subjects and peers, not to
/// a server that replaces them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Author {
    /// The user.
    #[default]
    User,
    /// It is built in.
    Tollgate,
}

/// The part that only a kind of experiment knows: a value of a type of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own(Option<Arc<dyn Any + Send + Sync>>);

impl Own {
    pub(crate) fn new<T: Any + Send + Sync>(value: T) -> Own {
        Own(Some(Arc::new(value)))
    }

    /// The value, if it is of this type.
    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }
}

/// Concurrent users at a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Users {
    /// The number given by the level.
    #[default]
    OfLevel,
    /// The same number at every level.
    Same(u32),
    /// At a rate: this maximum.
    AtMost(u32),
}

/// The lifetime of the users' connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum Connections {
    /// For a block: both trials of a variant have the same ones, and the next block has others. They are opened, and
    /// asked once, before anything counts. Every interval then includes the differences between connections.
    PerBlock,
    /// From one start of the subjects to the next, also where these are servers that were running before.
    PerStart,
    /// From trial to trial, as long as the server lives.
    Kept,
    /// For one trial: they are opened in the settling time before it and closed after it, so that a subject has only
    /// connections of the measured level. Only for `request`.
    PerTrial,
    /// As its kind of work requires: no other lifetime can be set.
    #[default]
    #[serde(skip)]
    OfKind,
}

impl Connections {
    /// The name in results.
    pub(crate) fn stored(self) -> String {
        if self == Connections::OfKind { String::new() } else { self.to_string() }
    }
}

impl FromStr for Connections {
    type Err = String;

    fn from_str(name: &str) -> Result<Connections, String> {
        let all = [Connections::PerBlock, Connections::PerStart, Connections::Kept, Connections::PerTrial];
        let found = all.into_iter().find(|connections| connections.to_string() == name);
        found.ok_or_else(|| format!("expected {}", all.map(|connections| connections.to_string()).join(", ")))
    }
}

/// A server behind the subjects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BackendFile")]
pub struct Backend {
    /// Short name, unique in the file.
    pub(crate) name: At<String>,
    /// Further arguments of `tollgate serve`.
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
}

/// The configuration of our own gateway before the backends' URLs are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// Path of its file, as the experiment's author writes it.
    pub source: PathBuf,
    /// Its text.
    pub text: String,
    /// Its parts: file names without folders, and texts.
    pub files: Vec<(String, String)>,
}

impl Configuration {
    /// The text with each name replaced by its value, such as a backend's URL.
    pub fn filled(&self, values: &[(String, String)]) -> String {
        values.iter().fold(self.text.clone(), |text, (name, value)| text.replace(&place(name), value))
    }
}

/// The placeholder of a backend's URL.
pub(crate) fn place(backend: &str) -> String {
    format!("{{{backend}}}")
}

/// One way of doing the work.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Short name.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// Name of its baseline, which is another variant.
    pub baseline: Option<String>,
    /// The place where the work begins.
    pub at: Location,
    /// The form of its requests and the reading of its responses.
    pub request: RequestShape,
    /// Credentials and TLS settings of its requests.
    pub access: Access,
    /// The distance from which it is requested.
    pub distance: Distance,
    /// The peer that does the work instead of the file's subject, by the name of its subject file.
    pub peer: Option<String>,
    /// The backend that does the work, past any subject.
    pub backend: Option<String>,
    /// The rate of its requests, beside variants whose users wait; absent: as the levels say.
    pub model: Option<OpenModel>,
    /// The extents that do not measure it.
    pub(crate) left_out_of: BTreeSet<Extent>,
    /// The part that only its kind knows.
    pub(crate) own: Own,
}

/// A variant's own credentials and TLS settings. Secrets are named, and read at its first request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// The environment variable with user and password, separated by `:`.
    pub basic: Option<String>,
    /// Header fields, each with the environment variable of its value.
    pub headers: Vec<(String, String)>,
    /// A PEM file of further trusted authorities.
    pub authorities: Option<PathBuf>,
    /// The check of certificates, if the command line does not override it.
    pub choice: TlsChoice,
}

/// The place where a variant's work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path (and query) on tollgate's own gateway, started for the run.
    Gateway(String),
    /// A whole URL of a server that is already running.
    Url(String),
    /// On this machine and no server: the work, in words.
    Here(String),
}

impl Experiment {
    /// The same experiment on several subjects at once: `tollgate` is the subject of the file, any other is a peer,
    /// whose variants have its name before their own. A direct backend variant appears once, before all of them. The
    /// order is kept.
    ///
    /// # Errors
    /// A subject that is named twice.
    pub fn on_subjects(mut self, subjects: &[String]) -> Result<Experiment, String> {
        if let Some((_, twice)) = (0..).zip(subjects).find(|(number, subject)| subjects[..*number].contains(subject)) {
            return Err(format!("subject `{twice}` stands twice"));
        }
        let all = std::mem::take(&mut self.variants);
        let (shared, own): (Vec<Variant>, Vec<Variant>) =
            all.into_iter().partition(|variant| variant.backend.is_some());
        let named = |subject: &str, name: &str| match own.iter().any(|variant| variant.name == name) {
            true if subject != TOLLGATE => format!("{subject}-{name}"),
            _ => name.to_owned(),
        };
        let on = |subject: &str, variant: &Variant| Variant {
            name: named(subject, &variant.name),
            baseline: variant.baseline.as_ref().map(|baseline| named(subject, baseline)),
            peer: (variant.backend.is_none() && subject != TOLLGATE).then(|| subject.to_owned()),
            model: variant.model.as_ref().map(|model| model.renamed(|name| named(subject, name))),
            ..variant.clone()
        };
        let last = subjects.last().map_or(TOLLGATE, String::as_str);
        self.variants = shared.iter().map(|variant| on(last, variant)).collect();
        self.variants.extend(subjects.iter().flat_map(|subject| own.iter().map(|variant| on(subject, variant))));
        Ok(self)
    }

    /// The same with connections of this lifetime.
    ///
    /// # Errors
    /// Its kind of work does not allow another lifetime.
    pub fn on_connections(mut self, connections: Connections) -> Result<Experiment, String> {
        let kind = self.heading.kind;
        match connections {
            _ if self.connections == Connections::OfKind => {
                Err(format!("of `{kind}` connections live as its work has them"))
            }
            Connections::PerTrial if !["request", "walk"].contains(&kind) => {
                Err(format!("`{connections}` goes with `request` and `walk`, not with `{kind}`"))
            }
            _ => {
                self.connections = connections;
                Ok(self)
            }
        }
    }

    /// The same without the variants that `refuses` selects, and without those compared with them.
    #[must_use]
    pub fn without(mut self, refuses: impl Fn(&Variant) -> bool) -> Experiment {
        let stays = |position: &usize| !self.lineage(*position).any(|position| refuses(&self.variants[position]));
        self.variants =
            (0..self.variants.len()).filter(stays).map(|position| self.variants[position].clone()).collect();
        self
    }

    /// Position of a variant's baseline.
    pub fn baseline(&self, variant: usize) -> Option<usize> {
        let name = self.variants[variant].baseline.as_ref()?;
        self.variants.iter().position(|known| known.name == *name)
    }

    /// Positions of a variant, of its baseline, and so on; baselines form no circle.
    pub(crate) fn lineage(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |position| self.baseline(*position))
    }

    /// Concurrent users at a level.
    pub fn users(&self, level: u64) -> u64 {
        match self.users {
            Users::OfLevel => level,
            Users::Same(users) | Users::AtMost(users) => users.into(),
        }
    }

    /// Concurrent users of a variant at a level; at a rate, the maximum.
    pub fn users_of(&self, variant: &Variant, level: u64) -> u64 {
        variant.model.as_ref().map_or(self.users(level), |model| model.users_max.into())
    }

    /// Number of users at every level; absent where levels are users, or define their number otherwise.
    pub fn fixed_users(&self) -> Option<u32> {
        if let Users::Same(users) = self.users { Some(users) } else { None }
    }

    /// The part that only its kind knows, if it is of this type.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        self.own.get()
    }

    /// Positions of all variants with a name: the variant itself, and for a name in the file also those of other
    /// subjects and remote ones.
    ///
    /// # Errors
    /// A sentence with the known names.
    pub fn variants_named(&self, name: &str) -> Result<Vec<usize>, String> {
        let means = |variant: &Variant| variant.name == name || variant.base_name() == name;
        let found: Vec<usize> = (0..self.variants.len()).filter(|position| means(&self.variants[*position])).collect();
        match found.is_empty() {
            true => self.variant(name).map(|position| vec![position]),
            false => Ok(found),
        }
    }

    /// The same with their baselines, and those of these.
    ///
    /// # Errors
    /// A sentence with the known names.
    pub(crate) fn with_baselines(&self, name: &str) -> Result<Vec<usize>, String> {
        Ok(self.variants_named(name)?.into_iter().flat_map(|position| self.lineage(position)).collect())
    }

    /// Position of a variant.
    ///
    /// # Errors
    /// A sentence with the known names.
    pub fn variant(&self, name: &str) -> Result<usize, String> {
        self.variants.iter().position(|variant| variant.name == name).ok_or_else(|| {
            let help = did_you_mean(name, self.variants.iter().map(|variant| variant.name.as_str()));
            format!("experiment `{}` has no variant `{name}`: {help}", self.name)
        })
    }
}

impl Variant {
    /// The part that only its kind knows, if it is of this type.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        self.own.get()
    }

    /// The variant as stored in results, measured on this subject, without the part that only its kind knows.
    pub(crate) fn stored(&self, subject: String) -> results::Variant {
        let Variant { name, title, baseline, distance, peer, backend, model, .. } = self.clone();
        let variant =
            results::Variant { name, title, baseline, subject, distance, peer, backend, ..Default::default() };
        results::Variant { model, ..variant }
    }

    /// The variant whose throughput it is offered.
    pub(crate) fn follows(&self) -> Option<&str> {
        match &self.model.as_ref()?.rate {
            OpenRate::Of(variant) => Some(variant),
            OpenRate::PerSecond(_) => None,
        }
    }

    /// Its name in the file, without the peer before it and the distance after it.
    pub fn base_name(&self) -> &str {
        let of_peer = |peer: &String| self.name.strip_prefix(peer.as_str())?.strip_prefix('-');
        let name = self.peer.as_ref().and_then(of_peer).unwrap_or(&self.name);
        match self.distance {
            Distance::Local => name,
            Distance::Remote => name.strip_suffix("-remote").unwrap_or(name),
        }
    }
}
