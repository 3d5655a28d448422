//! An experiment as it is understood: what is compared with what, over which levels, by which work.
//!
//! What it deliberately does not do: read a file (see [`super::check`]).

use std::time::Duration;

use tollgate_facts::names::did_you_mean;
use tollgate_facts::results::{Connecting, NamedLevel, Piece};

use super::batch::Preset;
use super::encryption::{Encrypting, EncryptionLevel, KeyKind, TlsVersion};
use super::file::{ConnectionsName as Connections, FactorName, PublishedTable, WorkloadKind};
use super::ladder::Ladder;
use super::load::LoadShape;
use super::mediation::{Backend, Configuration};
use crate::traffic::mode::Mode;
use crate::traffic::places::InsertPlaces;
use crate::traffic::request::RequestShape;
use crate::traffic::scenario::Played;

/// The subject that is tollgate itself, among those of `--subjects`.
pub const TOLLGATE: &str = "tollgate";

/// An experiment in which every name is known and every number is in range.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Short name.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// What is swept.
    pub factor: FactorName,
    /// Its levels, ascending, none twice.
    pub levels: Vec<u64>,
    /// What the levels mean and all of them share where encryption is swept; absent for other factors.
    pub encrypting: Option<Encrypting>,
    /// What all levels share where work processes are swept; absent for other factors.
    pub ladder: Option<Ladder>,
    /// What is asked.
    pub workload: WorkloadKind,
    /// How a scenario is loaded where its users do not simply wait; absent for other factors.
    pub load: Option<LoadShape>,
    /// Half the width of the band of "no toll", in millionths; absent: the usual one.
    pub equivalence_ppm: Option<u32>,
    /// Where records are inserted; absent for other workloads.
    pub places: Option<InsertPlaces>,
    /// Round trip of the link of remote variants in milliseconds, where an extent does not say otherwise; absent where
    /// there are none.
    pub round_trip_ms: Option<u32>,
    /// Further arguments of `tollgate serve`; `{folder}` in one is a folder of that process alone.
    pub subject_arguments: Vec<String>,
    /// Its configuration; absent where it needs none of ours.
    pub configuration: Option<Configuration>,
    /// Distances with names, of a batch.
    pub presets: Vec<Preset>,
    /// Servers behind the subjects.
    pub backends: Vec<Backend>,
    /// How long the connections of users stay open.
    pub connections: Connections,
    /// The ways of doing it, in the order of the file.
    pub variants: Vec<Variant>,
    /// What the file says of `--quick`.
    pub quick: ExtentOverride,
    /// What the file says of a run without either flag.
    pub default: ExtentOverride,
    /// What the file says of `--full`.
    pub full: ExtentOverride,
    /// What is expected of the figures; each names what is there.
    pub thresholds: Vec<tollgate_facts::threshold::Threshold>,
    /// Figures that others published.
    pub published: Vec<tollgate_facts::results::Published>,
    /// A whole table that others published.
    pub published_table: Option<PublishedTable>,
}

/// What a file says about one extent; absent values have the defaults of [`crate::plan`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtentOverride {
    /// Levels to measure, each one of the experiment's.
    pub levels: Option<Vec<u64>>,
    /// Blocks for each level.
    pub blocks: Option<u32>,
    /// Least length of a trial in milliseconds.
    pub slice_ms: Option<u32>,
    /// Starts of each subject.
    pub starts: Option<u32>,
    /// Positions of the variants to measure, baselines among them.
    pub variants: Option<Vec<usize>>,
    /// Time for the trials of one cell in milliseconds.
    pub cell_ms: Option<u32>,
    /// Round trip of the emulated link in milliseconds.
    pub round_trip_ms: Option<u32>,
    /// Time before a trial that opens connections in which nothing counts, in milliseconds.
    pub settle_ms: Option<u32>,
    /// Blocks for each level at equal rate.
    pub rate_blocks: Option<u32>,
    /// Length of a trial at equal rate in milliseconds.
    pub rate_slice_ms: Option<u32>,
}

/// One way of doing the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Short name.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// Position of its baseline in [`Experiment::variants`].
    pub baseline: Option<usize>,
    /// Where the work begins.
    pub at: Location,
    /// How it is asked and understood.
    pub request: RequestShape,
    /// How an insert sends its records; absent for other workloads.
    pub mode: Option<Mode>,
    /// How its users connect; absent where that is no part of the question.
    pub connecting: Option<Connecting>,
    /// Connections that its gateway has open at once; absent where that is no part of the question.
    pub connections_max: Option<u32>,
    /// From how far away it is asked.
    pub distance: Distance,
    /// The peer that does the work instead of what the file names, as its subject file is called.
    pub peer: Option<String>,
    /// The backend that does the work, past any subject.
    pub backend: Option<String>,
    /// What its users play; absent for other workloads.
    pub played: Option<Played>,
}

/// From how far away a variant is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Distance {
    /// From the same machine.
    #[default]
    Local,
    /// Through an emulated link.
    Remote,
}

impl Distance {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Distance::Local => "local",
            Distance::Remote => "remote",
        }
    }
}

/// Where a variant's work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A path (and query) on tollgate's own gateway, started for the run.
    Gateway(String),
    /// A whole URL of a server that is already there.
    Url(String),
    /// The far end of a link whose round trips are so much longer than without delay: the database of a batch.
    Link(Duration),
}

impl Experiment {
    /// The same experiment on several subjects at once: `tollgate` is what the file names, any other a peer, whose
    /// variants have its name before their own. What a backend does past any subject stands once, before all of them.
    /// The order is kept.
    ///
    /// # Errors
    /// A subject that stands twice.
    pub fn on_subjects(mut self, subjects: &[String]) -> Result<Experiment, String> {
        let all = std::mem::take(&mut self.variants);
        // Of each position in the file its position on the subject at hand.
        let mut places: Vec<Option<usize>> = vec![None; all.len()];
        for (position, variant) in all.iter().enumerate().filter(|(_, variant)| variant.backend.is_some()) {
            places[position] = Some(self.variants.len());
            self.variants.push(variant.clone());
        }
        let shared = places.clone();
        let mut of_all: Vec<Vec<Option<usize>>> = Vec::with_capacity(subjects.len());
        for (number, subject) in subjects.iter().enumerate() {
            if subjects[..number].contains(subject) {
                return Err(format!("subject `{subject}` stands twice"));
            }
            let mut places = shared.clone();
            let own = (0..all.len()).filter(|position| shared[*position].is_none());
            own.zip(self.variants.len()..).for_each(|(position, place)| places[position] = Some(place));
            for variant in all.iter().filter(|variant| variant.backend.is_none()) {
                let is_own = subject == TOLLGATE;
                self.variants.push(Variant {
                    name: if is_own { variant.name.clone() } else { format!("{subject}-{}", variant.name) },
                    peer: (!is_own).then(|| subject.clone()),
                    ..variant.clone()
                });
            }
            of_all.push(places);
        }
        for (position, places) in
            (0..all.len()).flat_map(|position| of_all.iter().map(move |places| (position, places)))
        {
            let Some(place) = places[position] else { continue };
            self.variants[place].baseline = all[position].baseline.and_then(|baseline| places[baseline]);
        }
        for extent in [&mut self.quick, &mut self.default, &mut self.full] {
            if let Some(variants) = &mut extent.variants {
                let on_all = of_all.iter().flat_map(|places| variants.iter().filter_map(|position| places[*position]));
                let mut chosen: Vec<usize> = on_all.collect();
                chosen.sort_unstable();
                chosen.dedup();
                *variants = chosen;
            }
        }
        Ok(self)
    }

    /// The same without the variants that `refuses` takes out, and without those that are compared with them.
    #[must_use]
    pub fn without(mut self, refuses: impl Fn(&Variant) -> bool) -> Experiment {
        let all = std::mem::take(&mut self.variants);
        let is_out = |position: usize| {
            let mut next = Some(position);
            // Baselines lead in no circle.
            while let Some(at) = next.filter(|at| !refuses(&all[*at])) {
                next = all[at].baseline;
            }
            next.is_some()
        };
        let mut places = vec![None; all.len()];
        for position in (0..all.len()).filter(|position| !is_out(*position)) {
            places[position] = Some(self.variants.len());
            self.variants.push(all[position].clone());
        }
        for variant in &mut self.variants {
            variant.baseline = variant.baseline.and_then(|baseline| places[baseline]);
        }
        for extent in [&mut self.quick, &mut self.default, &mut self.full] {
            if let Some(variants) = &mut extent.variants {
                *variants = variants.iter().filter_map(|position| places[*position]).collect();
            }
        }
        self
    }

    /// The same at the one level of a server that is there already, which has the certificate and the versions that it
    /// has; an experiment that does not sweep encryption stays as it is.
    #[must_use]
    pub fn on_one_listener(mut self) -> Experiment {
        if let Some(encrypting) = &mut self.encrypting {
            encrypting.levels = vec![EncryptionLevel::of_server()];
            self.levels = vec![1];
            for extent in [&mut self.quick, &mut self.default, &mut self.full] {
                extent.levels = None;
            }
        }
        self
    }

    /// Users who ask at a level.
    pub fn users(&self, level: u64) -> u64 {
        if let Some(load) = &self.load {
            return load.users(level);
        }
        self.fixed_users().map_or(level, u64::from)
    }

    /// Users who ask at each level alike; absent where levels are users, or say otherwise how many there are.
    pub fn fixed_users(&self) -> Option<u32> {
        self.encrypting.as_ref().map(|own| own.users).or(self.ladder.map(|ladder| ladder.users))
    }

    /// What the levels mean where they are more than numbers.
    pub fn named_levels(&self) -> Vec<NamedLevel> {
        let ways = self.encrypting.iter().flat_map(|encrypting| &encrypting.levels);
        let named = |(level, way): (u64, &EncryptionLevel)| NamedLevel {
            level,
            title: way.title.clone(),
            tls: way.version.map_or("", TlsVersion::name).to_owned(),
            key: way.key.map_or("", KeyKind::name).to_owned(),
            chain: way.chain,
            round_trip_ms: way.round_trip.map(|round_trip| round_trip.as_secs_f64() * 1e3),
        };
        let staged = |title: String| NamedLevel {
            level: self.levels.first().copied().unwrap_or_default(),
            title,
            tls: String::new(),
            key: String::new(),
            chain: 0,
            round_trip_ms: None,
        };
        let staged = self.load.as_ref().and_then(LoadShape::title).map(staged);
        (1..).zip(ways).map(named).chain(staged).collect()
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
    /// Its name in the file, without the peer before it and the distance behind it.
    pub fn base_name(&self) -> &str {
        let name = self.name.as_str();
        let name = match &self.peer {
            Some(peer) => name.strip_prefix(peer.as_str()).and_then(|name| name.strip_prefix('-')).unwrap_or(name),
            None => name,
        };
        match self.distance {
            Distance::Local => name,
            Distance::Remote => name.strip_suffix("-remote").unwrap_or(name),
        }
    }
}

impl WorkloadKind {
    /// The unit of its work in words.
    pub fn unit(self) -> &'static str {
        match self {
            WorkloadKind::Walk => "pass over the list and every entity that it names",
            WorkloadKind::Request => "request",
            WorkloadKind::Scenario => "iteration of all steps",
            WorkloadKind::Insert => "transfer of as many records as the level says",
            WorkloadKind::Batch => "document",
        }
    }

    /// What its figures are told of.
    pub fn piece(self) -> Piece {
        match self {
            WorkloadKind::Insert => Piece::Record,
            WorkloadKind::Batch => Piece::Document,
            WorkloadKind::Walk | WorkloadKind::Request | WorkloadKind::Scenario => Piece::Request,
        }
    }
}

impl PublishedTable {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            PublishedTable::CapMsPerRecord => "cap-ms-per-record",
        }
    }
}

impl FactorName {
    /// The name as it is shown, and the unit of its levels.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            FactorName::Concurrency => ("concurrency", "users"),
            FactorName::Rate => ("rate", "per second"),
            FactorName::Stages => ("stages", ""),
            FactorName::Records => ("records", "records"),
            FactorName::Encryption => ("encryption", ""),
            FactorName::WorkProcesses => ("work-processes", "work processes"),
            FactorName::Processes => ("processes", "processes"),
        }
    }
}
