//! A run's result as it is stored in `result.json`: every report is rendered from this alone.
//!
//! Times carry their unit in the name. `format` is raised when a field changes its meaning or goes away.

mod batch;
mod encryption;
mod figure;
mod gap;
mod insert;
mod instructions;
mod ladder;
mod link;
pub mod load;
mod looks;
mod mediation;
mod network;
mod scenario;
mod tail;
mod threshold;
mod toll;
mod trial;
mod unwatched;

pub use crate::stats::Estimate;
pub use batch::{BatchFound, Batched, Bound, Distances, Hinge, PresetFound, PresetVerdict, Slope};
pub use encryption::{
    Arrivals, Connecting, ConnectionUse, CryptoSpeed, Encryption, EqualRate, FirstRequest, Flow, FlowSide, FlowStep,
    Linear, NamedLevel, Negotiated, Peak, Phases, RateGroup, RoundTripCost, Segments, distance_words,
};
pub use figure::{
    DELAY_SHARE_MAX, Figure, GeneratorUse, PercentileIntervals, Percentiles, Rank, SocketCounts, SubjectUse, TcpCounts,
    Within, is_delayed,
};
pub use gap::{Gap, GapKind};
pub use insert::{Fit, Inserted, Inserting, Settlement};
pub use instructions::{Counted, Instructions};
pub use ladder::{Binding, FULL_SHARE_MIN, Occupancy};
pub use link::{LinkCheck, Moment};
pub use looks::Looks;
pub use mediation::{BackendUse, Scaling, WarmUp};
pub use network::{CONGESTION_CONTROL_USUAL, KernelNetwork, PacketHandling};
pub use scenario::{
    CLOSED, InteractiveLaw, IterationsOffered, OpenModel, OpenRate, Played, StageFound, StageUnit, Staged, StagedPoint,
    StepFound,
};
pub use tail::{TAIL_SHARE_MAX, Tail};
pub use threshold::{Outcome, ThresholdFinding, ThresholdResult};
pub use toll::{BetweenStarts, ByRanks, Comparison, Drift, Peer, Theft, Toll, TollVerdict};
pub use trial::Trial;
pub use unwatched::Unwatched;

use crate::names::singular;
use crate::stats::sequential::Looking;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of this format.
pub const FORMAT: u32 = 2;
/// The oldest version that can still be read: missing fields have their defaults.
pub const FORMAT_OLDEST: u32 = 1;

/// Default for half the width of the band around 1 inside which the whole interval must lie for "no toll": 3 %.
pub const NO_TOLL_BAND: f64 = 0.03;

/// A whole run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Version of the format: [`FORMAT`].
    pub format: u32,
    /// The experiment that was requested.
    pub experiment: Experiment,
    /// Version of tollgate.
    pub version: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// End of the run, RFC 3339 in UTC; absent while it goes on.
    pub finished: Option<String>,
    /// Whether everything planned was measured.
    pub state: State,
    /// The reason why it is partial, in one sentence.
    pub reason: Option<String>,
    /// The machine on which it ran.
    pub machine: Machine,
    /// The command line, secrets removed.
    pub command: Vec<String>,
    /// Seed of every order and choice.
    pub seed: u64,
    /// The settings of the measurement.
    pub settings: Settings,
    /// The results, one for each variant and level.
    pub cells: Vec<Cell>,
    /// Overheads over the baseline.
    pub tolls: Vec<Toll>,
    /// Doubts, each with the number that decided.
    pub validity: Vec<Validity>,
    /// Every trial in the order in which it ran.
    pub trials: Vec<Trial>,
    /// Values that were watched over time.
    pub series: Vec<Series>,
    /// Figures that others published for the same question.
    pub published: Vec<Published>,
    /// Planned cells that have no figures, and why.
    #[serde(default)]
    pub gaps: Vec<Gap>,
    /// Time of a unit of work over the levels as a fixed part and one for each record, one for each variant.
    #[serde(default)]
    pub fits: Vec<Fit>,
    /// Measurements of the emulated link, before the first trial and after the last.
    #[serde(default)]
    pub links: Vec<LinkCheck>,
    /// Messages of one exchange on a fresh connection, as they were seen, one for each kind of handshake.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// Speed of each part of the encryption library on this machine.
    #[serde(default)]
    pub crypto: Vec<CryptoSpeed>,
    /// Cost of requests on fresh connections over a line, if the levels have distances to the subject.
    #[serde(default)]
    pub round_trips: Vec<RoundTripCost>,
    /// The highest observed use of each limited resource of a subject.
    #[serde(default)]
    pub peaks: Vec<Peak>,
    /// The peers that were measured beside tollgate.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// Growth of throughput with the users, one for each variant, if there are users to sweep.
    #[serde(default)]
    pub scalings: Vec<Scaling>,
    /// Throughput of subjects while they were warmed up.
    #[serde(default)]
    pub warm_ups: Vec<WarmUp>,
    /// Each peer's figures divided by tollgate's, if both were measured in the same blocks.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// Thresholds for the figures, with their outcomes.
    #[serde(default)]
    pub thresholds: Vec<ThresholdResult>,
    /// Results about the network before a database; absent for other workloads.
    pub distance: Option<Distances>,
    /// Whether instructions of the subjects were counted; absent if no process of theirs was watched over trials, and
    /// in results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Instructions>,
    /// Processes that a subject's processes asked while it was warmed up, and whose CPU time nobody watches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<Unwatched>,
}

impl RunResult {
    /// The results of a variant at a level.
    pub fn cell(&self, variant: &str, level: u64) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.variant == variant && cell.level == level)
    }

    /// The toll of a variant on one figure at a level.
    pub fn toll(&self, variant: &str, level: u64, figure: Figure) -> Option<&Toll> {
        self.tolls.iter().find(|toll| toll.variant == variant && toll.level == level && toll.figure == figure)
    }

    /// Fills in, for each named level, the parameters that are not set and that all its connections negotiated.
    pub fn fill_named_levels(&mut self) {
        for named in &mut self.experiment.named_levels {
            let own = self.cells.iter().filter(|cell| cell.level == named.level);
            let all: Vec<&Negotiated> = own.flat_map(Cell::all_negotiated).collect();
            named.fill(&all);
        }
    }

    /// The findings about the validity of that cell.
    pub fn findings<'r>(&'r self, variant: &str, level: u64) -> impl Iterator<Item = &'r Validity> {
        self.validity.iter().filter(move |found| found.variant == variant && found.level == level)
    }

    /// The names of the rules that found just this of it.
    pub fn rules_of<'r>(&'r self, variant: &str, level: u64, verdict: Verdict) -> impl Iterator<Item = &'r str> {
        let found = self.findings(variant, level).filter(move |found| found.verdict == verdict);
        found.map(|found| found.rule.as_str())
    }

    /// Its trials.
    pub fn trials_of(&self, variant: &str, level: u64) -> Vec<&Trial> {
        self.trials.iter().filter(|trial| trial.variant == variant && trial.level == level).collect()
    }
}

/// Whether a run is complete; shown in a word or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum State {
    /// Still running, or stopped so abruptly that nothing more could be written.
    #[default]
    #[display("not ended")]
    Running,
    /// Everything planned was measured.
    Complete,
    /// Interrupted, or a subject failed: the measured part is kept.
    Partial,
}

/// The experiment as it was run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Short name, as on the command line.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// The kind of levels, such as `concurrency`.
    pub factor: String,
    /// Unit of the levels, such as `users`; empty if none.
    pub factor_unit: String,
    /// The levels in order.
    pub levels: Vec<u64>,
    /// The meaning of levels that are more than numbers; else empty.
    #[serde(default)]
    pub named_levels: Vec<NamedLevel>,
    /// Users at every level, where the levels do not say how many.
    pub users: Option<u32>,
    /// The variants in order, baselines first.
    pub variants: Vec<Variant>,
    /// The unit of work that a trial repeats, such as `pass of 401 requests`.
    pub unit_of_work: String,
    /// The unit by which the subject's CPU time is divided.
    #[serde(default)]
    pub piece: Piece,
    /// Name of a whole published table that a report may put beside the figures.
    pub published_table: Option<String>,
    /// The subject of a report's first sentence; absent if the file has none, and in results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answering>,
}

/// The subject of a report's first sentence.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answering {
    /// The variant of the usual case: the sentence begins with it.
    pub usual: String,
    /// Further variants that answer the question, the most important one first. All others are controls.
    #[serde(default)]
    pub also: Vec<String>,
    /// The level of the usual case; absent: the one at which most can be said.
    pub level: Option<u64>,
    /// Whether it is about CPU time if that was measured, and not about time: as a part of a core if the variants were
    /// measured at a rate, too.
    #[serde(default)]
    pub cpu: bool,
    /// The sentence's names for variants, baselines among them, whose titles do not fit into one.
    #[serde(default)]
    pub words: std::collections::BTreeMap<String, String>,
}

/// A part of a unit of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Piece {
    /// A valid answer.
    #[default]
    Request,
    /// A record that was inserted.
    Record,
    /// A document of a batch.
    Document,
    /// The unit of work itself, whose parts do not matter.
    Unit,
}

/// One way of doing the same thing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Short name, unique in the experiment.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// The variant without the layer, for all but the bottom one.
    pub baseline: Option<String>,
    /// The measured subject: a built-in one or the user's URL.
    pub subject: String,
    /// The way in which it inserts records; absent for other workloads.
    pub inserting: Option<Inserting>,
    /// The client's distance.
    #[serde(default)]
    pub distance: Distance,
    /// The peer that did the work, by the name of its subject file; absent where tollgate or a given URL did.
    pub peer: Option<String>,
    /// The way in which its users connect; absent if connections are kept and no part of the question.
    pub connecting: Option<Connecting>,
    /// The backend that did the work, past any subject; absent where there was none to be past of.
    pub backend: Option<String>,
    /// Requirements on its answers if its subject's first ones are the model; absent if the experiment states them, and
    /// in results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_answers: Option<FirstAnswers>,
    /// Rate at which its iterations began, beside variants whose users wait; absent if it is loaded as all are, and in
    /// results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<OpenModel>,
}

/// Requirements on answers of a user's server beside their status (2xx): as its first two answers were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstAnswers {
    /// Their length in bytes; absent if they differ in it, or any was requested.
    pub bytes: Option<u64>,
    /// Whether each had to contain a text given on the command line.
    pub has_text: bool,
}

impl Experiment {
    /// The variant of this name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// A level that has a name.
    pub fn named_level(&self, level: u64) -> Option<&NamedLevel> {
        self.named_levels.iter().find(|named| named.level == level)
    }

    /// Title of a level, with its unit if it is a number.
    pub fn level_title(&self, level: u64) -> String {
        match self.named_level(level) {
            Some(named) => named.title.clone(),
            None if self.factor_unit.is_empty() => level.to_string(),
            None if level == 1 => format!("1 {}", singular(&self.factor_unit)),
            None => format!("{level} {}", self.factor_unit),
        }
    }
}

impl Variant {
    /// Whether its mode is in effect at this level: there are enough records to fill one request and give every
    /// connection its own; with fewer, it is the same as another mode. Always so if nothing is inserted.
    pub fn is_whole_at(&self, level: u64) -> bool {
        self.inserting.as_ref().is_none_or(|Inserting { connections, records_per_request, .. }| {
            level >= u64::from(*connections).max(records_per_request.unwrap_or(0))
        })
    }
}

/// The client's distance from a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, derive_more::Display, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[display(rename_all = "lowercase")]
pub enum Distance {
    /// From the same machine.
    #[default]
    Local,
    /// Through an emulated link, whose round trip the settings say.
    Remote,
}

/// The machine that the run used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Cores that this process could use.
    pub cores: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Operating system and kernel.
    pub system: String,
    /// Frequency governor of the first core, if the kernel reports it.
    pub governor: Option<String>,
    /// Hypervisor, if the kernel reports it.
    pub virtualized: Option<String>,
    /// TCP settings of its kernel; absent in results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<KernelNetwork>,
}

/// The settings of a measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// `quick`, `default` or `full`.
    pub extent: String,
    /// Planned blocks per level.
    pub blocks: u32,
    /// Shortest trial.
    pub slice_ms: f64,
    /// Cores of the generator; empty if not pinned.
    pub generator_cores: Vec<usize>,
    /// Cores of the subjects; empty if not pinned.
    pub subject_cores: Vec<usize>,
    /// Number of starts of each subject process; 0 if all were there already. In results of earlier versions, the
    /// planned number.
    pub starts: u32,
    /// Lifetime of connections that the server would keep open: `per-block`, `per-start`, `per-trial` or `kept`; empty
    /// if the work determines it, and in results of earlier versions, which kept them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub connections: String,
    /// The network between generator and subject, such as `loopback`.
    pub network: String,
    /// Half the width of the band around 1 inside which a whole interval must lie for "no toll", as a share.
    #[serde(default = "no_toll_band")]
    pub equivalence_share: f64,
    /// Whether server certificates were not verified.
    pub insecure: bool,
    /// Share of answers whose content was checked, 0 to 1; of inserts, of the transfers whose records were read back
    /// and compared one by one.
    pub content_checked_share: f64,
    /// Round trip that the link of remote variants adds; absent where none is remote.
    pub round_trip_ms: Option<f64>,
    /// Time over which the users of a trial came, before anything counted; absent where all came at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_ms: Option<f64>,
    /// Time for the trials of one cell, after which it gets no more blocks; absent where there is no bound.
    pub cell_ms: Option<f64>,
    /// The looks that decided whether the run could stop; absent if its number of blocks was given.
    pub looks: Option<Looks>,
}

impl Settings {
    /// Whether the blocks were looked at once or often.
    pub fn looking(&self) -> Looking {
        if self.looks.is_some() { Looking::Often } else { Looking::Once }
    }
}

/// The band of results that do not have it.
fn no_toll_band() -> f64 {
    NO_TOLL_BAND
}

/// Results of one variant at one level, over all its trials.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Name of the variant.
    pub variant: String,
    /// The level.
    pub level: u64,
    /// Blocks that were completed.
    pub rounds: u32,
    /// Trials that were completed.
    pub trials: u32,
    /// Valid answers.
    pub requests: u64,
    /// Failed requests by class, such as `status-503`, `reset`, `timeout`, `content`.
    pub errors: std::collections::BTreeMap<String, u64>,
    /// First failure's text for each class.
    pub error_examples: std::collections::BTreeMap<String, String>,
    /// Valid answers per second.
    pub requests_per_second: Estimate,
    /// Time of one unit of work (a pass).
    pub unit_time_ms: Estimate,
    /// From the intended start to the last byte, valid answers only.
    pub response_time_ms: Percentiles,
    /// The intervals of its percentiles; absent in results that do not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_interval_ms: Option<PercentileIntervals>,
    /// The same without the generator's own delay: for how long each answer lay unread, and how late its request was begun.
    /// Absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undelayed_ms: Option<Percentiles>,
    /// From the send to the last byte, valid answers only.
    pub service_time_ms: Percentiles,
    /// Time that users who wait spent beyond the highest percentile; absent at a rate, of few answers, and in results
    /// that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<Tail>,
    /// Points of the response time's distribution: share of requests (0 to 1) and the time in milliseconds.
    pub curve: Vec<(f64, f64)>,
    /// Head and body bytes received, all answers.
    pub bytes_received: u64,
    /// Head and body bytes sent.
    pub bytes_sent: u64,
    /// Bytes received for one unit of work, those of TLS with them, mean.
    pub bytes_per_unit: f64,
    /// Mean size of the list that a pass begins with, all its pages, bodies only; absent where no list is fetched.
    pub list_bytes: Option<f64>,
    /// Mean size of an entity's answer, bodies only; absent where no list is fetched.
    pub detail_bytes: Option<f64>,
    /// Mean response time of the list that a pass begins with, all its pages; absent where no list is fetched, and in
    /// results that do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_time_ms: Option<f64>,
    /// Mean response time of an entity's answer; absent likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail_time_ms: Option<f64>,
    /// Entities of a pass that were left out by their status, mean; absent where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out_per_unit: Option<f64>,
    /// Connections opened, those before the first trial included.
    pub connections: u64,
    /// The parameters that its connections negotiated; empty without TLS, and in results that do not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negotiated: Vec<Negotiated>,
    /// The process that was measured; absent where it could not be watched.
    pub subject: Option<SubjectUse>,
    /// The generator's own use.
    pub generator: GeneratorUse,
    /// The inserted records; absent for other workloads.
    pub inserted: Option<Inserted>,
    /// Its connections and their cost; absent if they are no part of the question.
    pub connected: Option<ConnectionUse>,
    /// Response times of the closed load in bins of one width; absent where connections are no part of the question.
    pub linear: Option<Linear>,
    /// Results at a rate that all variants of the level were offered alike; absent if none was offered.
    pub equal_rate: Option<EqualRate>,
    /// Resource use of the servers behind the subject; absent if there are none of ours.
    pub backend: Option<BackendUse>,
    /// Activity of the gateway's work processes and connections, and the limit that binds; absent if no limit is swept.
    pub occupancy: Option<Occupancy>,
    /// Results of a batch; absent for other workloads.
    pub batch: Option<BatchFound>,
    /// Results of a scenario's steps; absent for other workloads.
    pub played: Option<Played>,
    /// TCP counters of the kernel during its trials, all programs together; absent in results that do not have it.
    pub tcp: Option<TcpCounts>,
}

impl Cell {
    /// The parameters that its connections negotiated, including those at equal rate.
    pub fn all_negotiated(&self) -> impl Iterator<Item = &Negotiated> {
        self.negotiated.iter().chain(self.equal_rate.iter().flat_map(|rate| &rate.negotiated))
    }
}

/// A doubt about a cell, or the statement that there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validity {
    /// Variant of the cell.
    pub variant: String,
    /// Level of the cell.
    pub level: u64,
    /// Name of the rule, such as `errors`, `client-saturation`, `littles-law`.
    pub rule: String,
    /// The conclusion.
    pub verdict: Verdict,
    /// The finding, in one sentence with the number.
    pub reason: String,
    /// The remedy for the user.
    pub remedy: String,
    /// The number that decided.
    pub value: f64,
    /// The bound that it was compared with.
    pub bound: f64,
}

/// Whether a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Yes.
    Ok,
    /// Yes, with the reason beside it.
    Marked,
    /// No.
    Refused,
}

/// Values that were watched over time in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Variant.
    pub variant: String,
    /// Level.
    pub level: u64,
    /// The series: `subject-cpu-share`, `subject-resident-memory`, `subject-threads`, `work-processes-busy`,
    /// `work-processes-waiting`, `connections-open`, `response-time-max` ...
    pub name: String,
    /// Unit: `cores`, `bytes`, `threads`, `ms` ...
    pub unit: String,
    /// Milliseconds since the run's start, and the value. At most 400 points, peaks kept.
    pub points: Vec<(f64, f64)>,
}

/// A figure that others published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// Author and time, in a few words.
    pub source: String,
    /// The measured subject, in their words' sense.
    pub subject: String,
    /// Our variant that corresponds, if any.
    pub variant: Option<String>,
    /// The level, if it has one.
    pub level: Option<u64>,
    /// Name of the figure, such as `pass time`.
    pub figure: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// A note for readers who compare.
    pub note: Option<String>,
}

/// One value at one time, of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Name of the series, as in `result.json`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// The value.
    pub value: f64,
}
