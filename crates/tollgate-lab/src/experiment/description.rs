//! An experiment as it is understood: what is compared with what, over which levels, by which work.
//!
//! What it deliberately does not do: read a file (see [`super::document`]), or know what a kind of experiment has of its
//! own.

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

/// The subject that is tollgate itself, among those of `--subjects`.
pub const TOLLGATE: &str = "tollgate";

/// What the list of kinds says of all experiments of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heading {
    /// Name of the kind.
    pub kind: &'static str,
    /// What is swept.
    pub factor: Factor,
    /// The unit of work in words.
    pub unit_of_work: &'static str,
    /// What its figures are told of.
    pub piece: Piece,
}

/// What can be swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Factor {
    /// Its name in files and results.
    pub name: &'static str,
    /// The unit of its levels; empty where they have none.
    pub unit: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
}

/// An experiment in which every name is known and every number is in range. The default is one without variants, of no kind.
#[derive(Debug, Clone, Default)]
pub struct Experiment {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// Who wrote it.
    pub author: Author,
    /// Of which kind it is.
    pub heading: Heading,
    /// Its levels, ascending, none twice.
    pub levels: Vec<u64>,
    /// What the levels mean where they are more than numbers; then there are no others.
    pub named_levels: Vec<NamedLevel>,
    /// Users at each level.
    pub users: Users,
    /// How long the connections of users stay open.
    pub connections: Connections,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
    /// Round trip of the link of remote variants in milliseconds, where an extent does not say otherwise; absent where
    /// there are none.
    pub round_trip_ms: Option<u32>,
    /// Further arguments of `tollgate serve`; `{folder}` in one is a folder of that process alone.
    pub subject_arguments: Vec<String>,
    /// Its configuration; absent where it needs none of ours.
    pub configuration: Option<Configuration>,
    /// Servers behind the subjects.
    pub backends: Vec<Backend>,
    /// The ways of doing it, in the order of the file.
    pub variants: Vec<Variant>,
    /// What the file says of each extent; absent where it says nothing.
    pub(crate) extents: BTreeMap<Extent, ExtentFile>,
    /// What is expected of the figures; each names what is there.
    pub thresholds: Vec<tollgate_facts::threshold::Threshold>,
    /// Figures that others published.
    pub published: Vec<tollgate_facts::results::Published>,
    /// A whole table that others published.
    pub published_table: Option<PublishedTable>,
    /// What the first sentence of a report is about; absent: its variants in their order.
    pub answer: Option<results::Answering>,
    /// What only its kind knows.
    pub(crate) own: Own,
}

/// Who wrote an experiment: what a built-in one says of answers is said of our own subjects and of peers, not of a server
/// that stands in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Author {
    /// The user.
    #[default]
    User,
    /// It is built in.
    Tollgate,
}

/// What only a kind of experiment knows: a value of a type of its own.
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

/// Users who ask at a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Users {
    /// As many as the level says.
    #[default]
    OfLevel,
    /// The same number at every level.
    Same(u32),
    /// At a rate: so many at most.
    AtMost(u32),
}

/// How long the connections of users stay open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "kebab-case")]
pub enum Connections {
    /// For a block: both trials of a variant have the same ones, and the next block has others. They are opened, and asked
    /// once, before anything counts. What connections differ by is then in every interval.
    PerBlock,
    /// From one start of the subjects to the next one, also where these are servers that were there before.
    PerStart,
    /// From trial to trial, as long as the server lives.
    Kept,
    /// For one trial: they are opened in the settling time before it, and closed behind it, so that a subject never has
    /// others than those of the level at which it is measured. For `request` alone.
    PerTrial,
    /// As its kind of work has them: nothing else can be asked of it.
    #[default]
    #[serde(skip)]
    OfKind,
}

impl Connections {
    /// As results have it.
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

/// One way of doing the work.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Short name.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// Name of its baseline, which is another variant.
    pub baseline: Option<String>,
    /// Where the work begins.
    pub at: Location,
    /// How it is asked and understood.
    pub request: RequestShape,
    /// With which credentials it is asked, and how TLS is spoken with it.
    pub access: Access,
    /// From how far away it is asked.
    pub distance: Distance,
    /// The peer that does the work instead of what the file names, as its subject file is called.
    pub peer: Option<String>,
    /// The backend that does the work, past any subject.
    pub backend: Option<String>,
    /// At which rate it is asked, beside variants whose users wait; absent: as the levels say.
    pub model: Option<OpenModel>,
    /// The extents that do not measure it.
    pub(crate) left_out_of: BTreeSet<Extent>,
    /// What only its kind knows.
    pub(crate) own: Own,
}

/// Credentials and TLS of a variant's own. Secrets are named, and read when it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Access {
    /// The variable of the environment that holds user and password, with `:` between them.
    pub basic: Option<String>,
    /// Header fields, each with the variable of the environment that holds its value.
    pub headers: Vec<(String, String)>,
    /// A PEM file of authorities that are trusted, too.
    pub authorities: Option<PathBuf>,
    /// How certificates are judged, if the command line does not say otherwise.
    pub choice: TlsChoice,
}

/// Where a variant's work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path (and query) on tollgate's own gateway, started for the run.
    Gateway(String),
    /// A whole URL of a server that is already there.
    Url(String),
    /// On this machine and no server: what is done, in words.
    Here(String),
}

impl Experiment {
    /// The same experiment on several subjects at once: `tollgate` is what the file names, any other a peer, whose
    /// variants have its name before their own. What a backend does past any subject stands once, before all of them.
    /// The order is kept.
    ///
    /// # Errors
    /// A subject that stands twice.
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

    /// The same with connections that stay open for so long.
    ///
    /// # Errors
    /// That its kind of work has none that could.
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

    /// The same without the variants that `refuses` takes out, and without those that are compared with them.
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

    /// Position of a variant, of its baseline, and so on: baselines lead in no circle.
    pub(crate) fn lineage(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(position), |position| self.baseline(*position))
    }

    /// Users who ask at a level.
    pub fn users(&self, level: u64) -> u64 {
        match self.users {
            Users::OfLevel => level,
            Users::Same(users) | Users::AtMost(users) => users.into(),
        }
    }

    /// Users who ask at a level in the way of a variant: at a rate the most that may.
    pub fn users_of(&self, variant: &Variant, level: u64) -> u64 {
        variant.model.as_ref().map_or(self.users(level), |model| model.users_max.into())
    }

    /// Users who ask at each level alike; absent where levels are users, or say otherwise how many there are.
    pub fn fixed_users(&self) -> Option<u32> {
        if let Users::Same(users) = self.users { Some(users) } else { None }
    }

    /// What its kind knows of it, if that is of this type.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        self.own.get()
    }

    /// Positions of all variants that a name means: itself, and for the name that the file gives also those of other
    /// subjects and from afar.
    ///
    /// # Errors
    /// The sentence that says which names there are.
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
    /// The sentence that says which names there are.
    pub(crate) fn with_baselines(&self, name: &str) -> Result<Vec<usize>, String> {
        Ok(self.variants_named(name)?.into_iter().flat_map(|position| self.lineage(position)).collect())
    }

    /// Position of a variant.
    ///
    /// # Errors
    /// The sentence that says which names there are.
    pub fn variant(&self, name: &str) -> Result<usize, String> {
        self.variants.iter().position(|variant| variant.name == name).ok_or_else(|| {
            let help = did_you_mean(name, self.variants.iter().map(|variant| variant.name.as_str()));
            format!("experiment `{}` has no variant `{name}`: {help}", self.name)
        })
    }
}

impl Variant {
    /// What its kind knows of it, if that is of this type.
    pub(crate) fn own<T: Any>(&self) -> Option<&T> {
        self.own.get()
    }

    /// As results have it that is measured on this subject, without what only its kind knows.
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

    /// Its name in the file, without the peer before it and the distance behind it.
    pub fn base_name(&self) -> &str {
        let of_peer = |peer: &String| self.name.strip_prefix(peer.as_str())?.strip_prefix('-');
        let name = self.peer.as_ref().and_then(of_peer).unwrap_or(&self.name);
        match self.distance {
            Distance::Local => name,
            Distance::Remote => name.strip_suffix("-remote").unwrap_or(name),
        }
    }
}
