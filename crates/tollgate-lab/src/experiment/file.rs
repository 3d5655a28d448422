//! The shape of an experiment's TOML file, as a user writes it: what serde reads and `tollgate schema` describes.
//!
//! It deliberately does not judge: [`super::Experiment`] is made of it once every name and number is known to be right.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

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
    /// How long each extent measures; what is absent has the defaults of `tollgate plan`.
    #[serde(default)]
    pub(super) extent: BTreeMap<ExtentName, ExtentFile>,
    /// That everything is done once more from afar, through an emulated link; each variant then stands twice, the second
    /// time with `-remote` behind its name.
    pub(super) remote: Option<RemoteFile>,
    /// How tollgate's own gateway is started.
    #[serde(default)]
    pub(super) subject: SubjectFile,
    /// The ways of doing the work.
    #[serde(default, rename = "variant")]
    #[schemars(with = "Vec<VariantFile>", length(min = 1))]
    pub(super) variants: Vec<VariantFile>,
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

/// How tollgate's own gateway is started.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubjectFile {
    /// Further arguments of `tollgate serve`. `{folder}` in one of them is a folder of that process alone, which is
    /// removed when it ends.
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
#[serde(deny_unknown_fields)]
pub(super) struct FactorFile {
    /// Which factor.
    pub(super) name: FactorName,
    /// Its levels, ascending.
    #[schemars(with = "Vec<u64>", length(min = 1))]
    pub(super) levels: Spanned<Vec<Spanned<u64>>>,
}

/// The factors that can be swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FactorName {
    /// Users who ask at the same time, each waiting for its answer before it asks again.
    Concurrency,
    /// Records that one unit of work inserts.
    Records,
}

/// What is asked of the subjects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
}

/// The kinds of workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// Get a collection, then every entity that its answer names, shared by all users: one pass.
    Walk,
    /// The same request again and again.
    Request,
    /// Insert as many records as the level says into an empty table, in the variant's mode; then count and compare what
    /// is stored, and empty the table.
    Insert,
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
    /// that would not fit with two is skipped, and labelled so.
    #[schemars(with = "Option<u32>")]
    pub(super) cell_ms: Option<Spanned<u32>>,
    /// Round trip of the emulated link in milliseconds.
    #[schemars(with = "Option<u32>")]
    pub(super) round_trip_ms: Option<Spanned<u32>>,
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
    /// (`http://127.0.0.1:8080/flights`). Absent for `insert`, whose workload says where.
    #[schemars(with = "Option<String>")]
    pub(super) url: Option<Spanned<String>>,
    /// How an `insert` sends its records: `sequential`, `parallel-N` (single requests over N connections), `batch-N`
    /// (N independent requests in a JSON batch), `changeset-N` (N requests in one atomic group), `multipart-N` (N
    /// independent requests in a multipart batch) or `custom-rest` (all in one array).
    #[schemars(with = "Option<String>")]
    pub(super) mode: Option<Spanned<String>>,
    /// How a walk reads the collection's answer.
    #[schemars(with = "Option<ListFormat>")]
    pub(super) format: Option<Spanned<ListFormat>>,
    /// Where an entity is, relative to `url`, with its properties in braces: `flights/{carrid}/{connid}`. Absent: at the
    /// links of the collection's answer.
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
}

/// How the answers of a walk are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// An Atom feed of OData V2.
    OdataV2Atom,
    /// Verbose JSON of OData V2.
    OdataV2Json,
    /// JSON of OData V4, at any level of metadata.
    OdataV4Json,
    /// Plain JSON: an array of objects, alone or as a member of the outermost object.
    Json,
    /// Plain XML: the children of the outermost element.
    Xml,
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
