//! The shape of an experiment's TOML file, as a user writes it: what serde reads and `tollgate schema` describes.
//!
//! It deliberately does not judge: [`super::Experiment`] is made of it once every name and number is known to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::encryption::{KeyKind, TlsVersion};
use super::load::LoadFile;
use super::scenario::file::ScenarioFile;
use crate::traffic::request::ListFormat;
use tollgate_facts::results::Arrivals;

/// A tollgate experiment: the same work done in several ways, each held against its baseline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "tollgate experiment")]
pub(super) struct ExperimentFile {
    /// Short name: lower-case letters, digits and hyphens.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// The question that it answers, in one sentence.
    #[schemars(with = "String")]
    pub(super) question: Spanned<String>,
    /// What is swept.
    pub(super) factor: FactorFile,
    /// What is asked of the subjects.
    #[schemars(with = "WorkloadFile")]
    pub(super) workload: Spanned<WorkloadFile>,
    /// What all variants of a level are offered alike after the closed load: response times are compared there.
    #[schemars(with = "Option<EqualRateFile>")]
    pub(super) equal_rate: Option<Spanned<EqualRateFile>>,
    /// It is called no toll where the whole interval lies within so much around none, as a share: 0.015 is 1.5 %; absent:
    /// 0.03. `--equivalence` goes before it.
    #[schemars(with = "Option<f64>")]
    pub(super) equivalence: Option<Spanned<f64>>,
    /// For `rate` and `stages`: how a scenario is loaded.
    #[schemars(with = "Option<LoadFile>")]
    pub(super) load: Option<Spanned<LoadFile>>,
    /// How long each extent measures; what is absent has the defaults of `tollgate plan`.
    #[serde(default)]
    pub(super) extent: BTreeMap<ExtentName, ExtentFile>,
    /// That everything is done once more from afar, through an emulated link; each variant then stands twice, the
    /// second time with `-remote` behind its name.
    pub(super) remote: Option<RemoteFile>,
    /// For `work-processes`: the PostgreSQL behind every gateway, which is started for the run from the machine's
    /// packages.
    pub(super) database: Option<DistantFile>,
    /// How tollgate's own gateway is started.
    #[serde(default)]
    pub(super) subject: SubjectFile,
    /// Servers behind the subjects, each a `tollgate serve` of its own that is started before them.
    #[serde(default, rename = "backend")]
    pub(super) backends: Vec<BackendFile>,
    /// For `batch`: distances that are computed from what the variants cost, and then run.
    #[serde(default, rename = "preset")]
    pub(super) presets: Vec<PresetFile>,
    /// The ways of doing the work.
    #[serde(default, rename = "variant")]
    #[schemars(with = "Vec<VariantFile>", length(min = 1))]
    pub(super) variants: Vec<VariantFile>,
    /// What the users of a variant do, for `scenario`.
    #[serde(default, rename = "scenario")]
    pub(super) scenarios: Vec<ScenarioFile>,
    /// What is expected of the figures: a run of which it is not shown exits with 99.
    #[serde(default, rename = "threshold")]
    pub(super) thresholds: Vec<ThresholdFile>,
    /// Figures that others published for the same question.
    #[serde(default)]
    pub(super) published: Vec<PublishedFile>,
    /// A whole table that others published, by the name under which tollgate keeps it.
    pub(super) published_table: Option<PublishedTable>,
}

/// Published tables that tollgate keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedTable {
    /// Milliseconds per record of a CAP server, local and in the cloud, by mode, connections and records.
    CapMsPerRecord,
}

/// The emulated link of the variants from afar.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteFile {
    /// Its round trip in milliseconds; an extent may set its own.
    #[schemars(with = "u32")]
    pub(super) round_trip_ms: Spanned<u32>,
}

/// A database behind an emulated link.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DistantFile {
    /// The link's round trip in milliseconds; an extent may set its own.
    #[schemars(with = "u32")]
    pub(super) round_trip_ms: Spanned<u32>,
}

/// How tollgate's own gateway is started.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubjectFile {
    /// Further arguments of `tollgate serve`. `{folder}` in one of them is a folder of that process alone, which is
    /// removed when it ends.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// A file beside this one that becomes its configuration, as the last argument. A backend's name in braces in it
    /// stands for that backend's URL. All variants without a `backend` are then served by one process; but where
    /// `work-processes` are swept each variant has one at each level, and `{work-processes}`, `{connections}` and
    /// `{database}` stand for the level, the variant's limit and the URL of the database.
    #[schemars(with = "Option<String>")]
    pub(super) configuration: Option<Spanned<String>>,
    /// Files beside this one that the configuration names: they are laid beside it.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) files: Vec<Spanned<String>>,
}

/// A distance with a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFile {
    /// Short name, unique among variants and presets.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// A few words for people.
    pub(super) title: Option<String>,
    /// The overhead over no distance that it is to have, as a share: 0.15 is 15 %.
    #[schemars(with = "f64")]
    pub(super) overhead: Spanned<f64>,
}

/// A server behind the subjects.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BackendFile {
    /// Short name, unique in the file.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// Further arguments of `tollgate serve`.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
}

/// The three extents of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ExtentName {
    /// `--quick`.
    Quick,
    /// Neither `--quick` nor `--full`.
    Default,
    /// `--full`.
    Full,
}

/// What is swept over levels.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `factor = { name = \"concurrency\", levels = [1, 20] }`")]
pub(super) struct FactorFile {
    /// Which factor.
    #[schemars(with = "FactorName")]
    pub(super) name: Spanned<FactorName>,
    /// Its levels, ascending; of `encryption` they are tables instead.
    #[schemars(with = "Option<Vec<u64>>", length(min = 1))]
    pub(super) levels: Option<Spanned<Vec<Spanned<u64>>>>,
    /// The levels of `encryption`; the first one is level 1.
    #[serde(default, rename = "level")]
    pub(super) ways: Vec<LevelFile>,
}

/// One way of encrypting.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a way of encrypting; did you mean `levels`?")]
pub(super) struct LevelFile {
    /// A few words for people.
    #[schemars(with = "String")]
    pub(super) title: Spanned<String>,
    /// The version of TLS.
    pub(super) tls: TlsVersion,
    /// The kind of the server's key.
    pub(super) key: KeyKind,
    /// Certificates that the server sends; absent: 1.
    #[schemars(with = "Option<u32>")]
    pub(super) chain: Option<Spanned<u32>>,
    /// How far away the subject is, in milliseconds there and back, over a line of packets (root); in every level or in
    /// none.
    #[schemars(with = "Option<f64>")]
    pub(super) round_trip_ms: Option<Spanned<f64>>,
}

/// What all variants of a level are offered alike.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EqualRateFile {
    /// The rate as a share of the least throughput that the closed load found among the variants of the level.
    #[schemars(with = "f64")]
    pub(super) share: Spanned<f64>,
    /// How the intended starts lie; absent: equally far apart.
    pub(super) arrivals: Option<Arrivals>,
}

/// The factors that can be swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactorName {
    /// Users who ask at the same time, each waiting for its answer before it asks again.
    Concurrency,
    /// Iterations of a scenario that begin in a second, whatever the subject does.
    Rate,
    /// Users or rate of a scenario, changing while a trial lasts, as `load` says.
    Stages,
    /// Records that one unit of work inserts.
    Records,
    /// Ways of encrypting.
    Encryption,
    /// Work processes of the gateway, at so many users.
    WorkProcesses,
    /// Work processes of a batch.
    Processes,
}

/// What is asked of the subjects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table; such as `workload = { kind = \"scenario\" }`")]
pub(super) struct WorkloadFile {
    /// Its kind.
    pub(super) kind: WorkloadKind,
    /// For `insert`: the root of the OData V4 service, such as `/odata/v4/refsvc/`.
    #[schemars(with = "Option<String>")]
    pub(super) service: Option<Spanned<String>>,
    /// For `insert`: the entity set, such as `TestRecords`.
    #[schemars(with = "Option<String>")]
    pub(super) entity_set: Option<Spanned<String>>,
    /// For `insert`: the path that takes all records in one array.
    #[schemars(with = "Option<String>")]
    pub(super) insert_all: Option<Spanned<String>>,
    /// For `insert`: the path that empties the table when it is posted to.
    #[schemars(with = "Option<String>")]
    pub(super) delete_all: Option<Spanned<String>>,
    /// Where a variant without `url` begins: a path on tollgate's own gateway.
    #[schemars(with = "Option<String>")]
    pub(super) path: Option<Spanned<String>>,
    /// What every valid answer contains, of variants that do not say it themselves.
    pub(super) contains: Option<String>,
    /// Users at every level of `encryption` (absent: 50) and of `work-processes` (absent: 20).
    #[schemars(with = "Option<u32>")]
    pub(super) users: Option<Spanned<u32>>,
    /// Milliseconds over which the users come before anything counts; absent: all at once.
    #[schemars(with = "Option<u32>")]
    pub(super) ramp_up_ms: Option<Spanned<u32>>,
    /// Whether users say who they are. For tollgate's own gateway a user is made for the run; for yours say `--basic`.
    #[schemars(with = "Option<AuthenticationName>")]
    pub(super) authentication: Option<Spanned<AuthenticationName>>,
    /// For `request` over `concurrency`: how long connections stay open; absent: `"kept"`.
    #[schemars(with = "Option<ConnectionsName>")]
    pub(super) connections: Option<Spanned<ConnectionsName>>,
}

/// How long the connections of users stay open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConnectionsName {
    /// From trial to trial: those of all variants are open all the time.
    #[default]
    Kept,
    /// For one trial: they are opened in the settling time before it, and closed behind it, so that a subject never has
    /// others than those of the level at which it is measured.
    PerTrial,
}

/// How users say who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AuthenticationName {
    /// By name and password with every request, without being asked.
    Basic,
}

/// The kinds of workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// Get a collection, then every entity that its answer names, shared by all users: one pass.
    Walk,
    /// The same request again and again.
    Request,
    /// Steps that each user goes through again and again: a scenario.
    Scenario,
    /// Insert as many records as the level says into an empty table, in the variant's mode; then count and compare what
    /// is stored, and empty the table.
    Insert,
    /// Generate documents out of a PostgreSQL and back into it, by as many work processes as the level says.
    Batch,
}

/// How long one extent measures.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExtentFile {
    /// The levels that it measures; absent: all.
    #[schemars(with = "Option<Vec<u64>>")]
    pub(super) levels: Option<Vec<Spanned<u64>>>,
    /// Blocks for each level: every variant runs twice in each.
    #[schemars(with = "Option<u32>")]
    pub(super) blocks: Option<Spanned<u32>>,
    /// Least length of a trial in milliseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) slice_ms: Option<Spanned<u32>>,
    /// How often each subject is started.
    #[schemars(with = "Option<u32>")]
    pub(super) starts: Option<Spanned<u32>>,
    /// The variants that it measures, their baselines with them; absent: all.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) variants: Option<Vec<Spanned<String>>>,
    /// For `insert`: time for the trials of one cell in milliseconds. A cell gets fewer blocks to fit into it, and one
    /// that would not fit with two is skipped, and labelled so. For `work-processes` the same, but with two none is skipped.
    #[schemars(with = "Option<u32>")]
    pub(super) cell_ms: Option<Spanned<u32>>,
    /// Round trip of the emulated link in milliseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) round_trip_ms: Option<Spanned<u32>>,
    /// Time before a trial in milliseconds in which its users are at it already and nothing counts, for variants that
    /// open connections while they are measured.
    #[schemars(with = "Option<u32>")]
    pub(super) settle_ms: Option<Spanned<u32>>,
    /// Blocks for each level at equal rate; absent: as many as at the closed load.
    #[schemars(with = "Option<u32>")]
    pub(super) rate_blocks: Option<Spanned<u32>>,
    /// Length of a trial at equal rate in milliseconds; absent: as at the closed load.
    #[schemars(with = "Option<u32>")]
    pub(super) rate_slice_ms: Option<Spanned<u32>>,
}

impl ExtentFile {
    /// Where it says how long a trial lasts.
    pub(super) fn slice_span(&self) -> Option<std::ops::Range<usize>> {
        self.slice_ms.as_ref().map(Spanned::span)
    }
}

/// One way of doing the work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantFile {
    /// Short name, unique in the file.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// A few words for people.
    pub(super) title: Option<String>,
    /// The variant without the layer in question; absent for the bottom one.
    #[schemars(with = "Option<String>")]
    pub(super) baseline: Option<Spanned<String>>,
    /// Where the work begins: a path on tollgate's own gateway (`/rest/flights`), or a whole URL
    /// (`http://127.0.0.1:8080/flights`). Absent where the workload says where.
    #[schemars(with = "Option<String>")]
    pub(super) url: Option<Spanned<String>>,
    /// For `batch`: by how much a round trip to the database is longer than without delay, in microseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) round_trip_us: Option<Spanned<u32>>,
    /// How an `insert` sends its records: `sequential`, `parallel-N` (single requests over N connections), `batch-N`
    /// (N independent requests in a JSON batch), `changeset-N` (N requests in one atomic group), `multipart-N` (N
    /// independent requests in a multipart batch) or `custom-rest` (all in one array).
    #[schemars(with = "Option<String>")]
    pub(super) mode: Option<Spanned<String>>,
    /// For `encryption`: how long connections live: `"keep-alive"` (as the server keeps them), `{ requests = 10 }`, or
    /// `"new"` (one request each); absent: `"keep-alive"`.
    #[schemars(with = "Option<ConnectionFile>")]
    pub(super) connection: Option<Spanned<ConnectionFile>>,
    /// For `encryption`: whether connections are encrypted, and by which handshake; absent: `"off"`.
    #[schemars(with = "Option<TlsName>")]
    pub(super) tls: Option<Spanned<TlsName>>,
    /// For `work-processes`: connections that the gateway has open at once; those beyond wait.
    #[schemars(with = "Option<u32>")]
    pub(super) connections: Option<Spanned<u32>>,
    /// How a walk reads the collection's answer.
    #[schemars(with = "Option<ListFormat>")]
    pub(super) format: Option<Spanned<ListFormat>>,
    /// Where an entity is, relative to `url`, with its properties in braces: `flights/{carrid}/{connid}`. Absent: at
    /// the links of the collection's answer.
    #[schemars(with = "Option<String>")]
    pub(super) detail: Option<Spanned<String>>,
    /// The properties that say which entity an answer is.
    #[serde(default)]
    pub(super) key: Vec<String>,
    /// The `Accept` header.
    pub(super) accept: Option<String>,
    /// Further header fields of every request.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) headers: BTreeMap<String, Spanned<String>>,
    /// Text that every valid answer of a `request` workload contains.
    pub(super) contains: Option<String>,
    /// The method of a `request` workload; absent: GET.
    #[schemars(with = "Option<String>")]
    pub(super) method: Option<Spanned<String>>,
    /// The body of a `request` workload.
    pub(super) body: Option<String>,
    /// A file beside this one that is the body of a `request` workload.
    #[schemars(with = "Option<String>")]
    pub(super) body_file: Option<Spanned<String>>,
    /// What every valid answer of a `request` workload is, beyond what it contains.
    #[serde(default)]
    pub(super) answer: AnswerFile,
    /// For `scenario`: the name of the one that its users play, where there are several.
    #[schemars(with = "Option<String>")]
    pub(super) scenario: Option<Spanned<String>>,
    /// For `scenario`: variables and what they are for this variant.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) variables: BTreeMap<String, Spanned<String>>,
    /// The backend that serves it, past any subject.
    #[schemars(with = "Option<String>")]
    pub(super) backend: Option<Spanned<String>>,
}

/// What a valid answer is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerFile {
    /// Its length.
    pub(super) bytes: Option<u64>,
    /// An element that it has as XML, and what stands in it.
    #[schemars(with = "Option<ElementFile>")]
    pub(super) element: Option<Spanned<ElementFile>>,
}

/// An element of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ElementFile {
    /// Local names from the outermost element on, such as `Envelope/Body/getQuoteResponse/return/symbol`.
    pub(super) path: String,
    /// Namespace of the innermost one.
    pub(super) namespace: String,
    /// Its text.
    pub(super) text: String,
}

/// How long connections live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected `\"keep-alive\"`, `\"new\"` or `{ requests = N }`")]
pub(super) enum ConnectionFile {
    /// By a name.
    Named(ConnectionName),
    /// So many requests.
    Counted(ConnectionCounted),
}

/// How long connections live, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ConnectionName {
    /// As long as the server keeps them.
    KeepAlive,
    /// One request each.
    New,
}

impl ConnectionName {
    /// Requests on one connection; `None`: as many as the server keeps it for.
    pub(super) fn requests(self) -> Option<u32> {
        match self {
            ConnectionName::KeepAlive => None,
            ConnectionName::New => Some(1),
        }
    }
}

/// How long connections live, by requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectionCounted {
    /// Requests on one connection.
    pub(super) requests: u32,
}

/// Whether connections are encrypted, and by which handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TlsName {
    /// Not at all.
    Off,
    /// By a full handshake on each connection.
    Full,
    /// By resuming an earlier session on each connection.
    Resumed,
}

/// What is expected of figures.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ThresholdFile {
    /// Such as `p99(https, 20) < 5 ms`, `toll(https).cpu < 1.3` or `errors == 0`.
    #[schemars(with = "String")]
    pub(super) expect: Spanned<String>,
    /// What it is good for: it stands beside the result.
    pub(super) why: Option<String>,
}

/// A published figure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedFile {
    /// Who and when.
    pub(super) source: String,
    /// What was measured.
    pub(super) subject: String,
    /// Our variant that corresponds.
    #[schemars(with = "Option<String>")]
    pub(super) variant: Option<Spanned<String>>,
    /// The level.
    pub(super) level: Option<u64>,
    /// Name of the figure, such as `pass time`.
    pub(super) figure: String,
    /// The value.
    pub(super) value: f64,
    /// Its unit.
    pub(super) unit: String,
    /// What a reader must know to compare.
    pub(super) note: Option<String>,
}
