//! An experiment's file as tables whose keys are taken by those who know them: all experiments some, and those of a kind
//! some of their own.
//!
//! What it deliberately does not do: know any kind.

use std::collections::BTreeSet;
use std::mem;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::checker::Checker;
use super::description::Heading;
use super::error::ExperimentError;
use super::file::{ExperimentFile, FactorFile, VariantFile, WorkloadFile};
use super::files::Files;
use super::values::At;
use tollgate_facts::names::did_you_mean;

/// The tables of an experiment's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableName {
    /// The file itself.
    Top,
    /// `[factor]`.
    Factor,
    /// `[workload]`.
    Workload,
    /// Each `[[variant]]`.
    Variant,
}

/// Keys of one of the tables.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub(super) table: TableName,
    /// Describes them as an object.
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// What all experiments say.
pub(super) const COMMON: &[Keys] = &[
    Keys::of::<ExperimentFile>(TableName::Top),
    Keys::of::<FactorFile>(TableName::Factor),
    Keys::of::<WorkloadFile>(TableName::Workload),
    Keys::of::<VariantFile>(TableName::Variant),
];

impl Keys {
    /// The keys of `T`.
    pub(crate) const fn of<T: JsonSchema>(table: TableName) -> Keys {
        Keys { table, schema: T::json_schema }
    }

    /// Their names.
    fn names(self) -> Vec<String> {
        let schema = (self.schema)(&mut SchemaGenerator::default());
        let properties = schema.get("properties").and_then(|properties| properties.as_object());
        properties.map_or_else(Vec::new, |properties| properties.keys().cloned().collect())
    }
}

/// A table of which keys are taken.
pub(super) struct Table<'a> {
    keys: DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Table<'a> {
    /// Takes out the table of this name.
    fn table(&mut self, name: &str, example: &str, checker: &Checker<'_>) -> Result<Table<'a>, ExperimentError> {
        match self.keys.remove(name) {
            Some(value) => Table::of(value, name, example, checker),
            None => Err(checker.fault(0..0, &format!("missing key `{name}`"), "add it: it has no default")),
        }
    }

    /// Takes out the tables of this name.
    fn tables(&mut self, name: &str, checker: &Checker<'_>) -> Result<Vec<Table<'a>>, ExperimentError> {
        let Some(value) = self.keys.remove(name) else { return Ok(Vec::new()) };
        let (span, help) = (value.span(), format!("write its heading as `[[{name}]]`"));
        match value.into_inner() {
            DeValue::Array(all) => all.into_iter().map(|one| Table::of(one, name, &help, checker)).collect(),
            _ => Err(checker.fault(span, &format!("`{name}` is no array of tables"), &help)),
        }
    }

    fn of(
        value: Spanned<DeValue<'a>>,
        name: &str,
        help: &str,
        checker: &Checker<'_>,
    ) -> Result<Table<'a>, ExperimentError> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(keys) => Ok(Table { keys, span }),
            other => {
                let message = format!("`{name}` is of type {}, expected a table", other.type_str());
                Err(checker.fault(span, &message, help))
            }
        }
    }

    /// Takes the keys of `T` out, and reads them.
    fn take<T: DeserializeOwned + JsonSchema>(&mut self, checker: &Checker<'_>) -> Result<T, ExperimentError> {
        let known = Keys::of::<T>(TableName::Top).names();
        let (taken, left) =
            mem::take(&mut self.keys).into_iter().partition(|(key, _)| known.iter().any(|known| known == key.as_ref()));
        self.keys = left;
        let taken = Deserializer::from(Spanned::new(self.span.clone(), taken));
        T::deserialize(taken).map_err(|error| ExperimentError::of_toml(&error, checker.text, checker.file))
    }

    /// Whether all of its keys were taken.
    pub(super) fn is_taken(&self) -> bool {
        self.keys.is_empty()
    }

    /// The first of its keys that is none of these.
    fn beyond(&self, known: &BTreeSet<String>) -> Option<(Range<usize>, String)> {
        let keys = self.keys.keys().filter(|key| !known.contains(key.as_ref().as_ref()));
        keys.map(|key| (key.span(), key.as_ref().to_string())).min_by_key(|(span, _)| span.start)
    }
}

/// What a file may say of one kind of experiment.
pub(crate) struct FileFormat {
    /// Name of the workload.
    pub(crate) workload: &'static str,
    /// What it is, in a sentence.
    pub(crate) about: &'static str,
    /// What is swept, and what follows from the kind.
    pub(crate) heading: Heading,
    /// What is said here in the place of keys that other kinds have; empty: nothing.
    pub(crate) instead: &'static str,
    /// All that it may say beyond what all experiments say.
    pub(crate) keys: &'static [&'static [Keys]],
}

impl FileFormat {
    /// The keys of a table: what all experiments say, and what this kind does.
    fn keys(&self, table: TableName) -> Vec<String> {
        let parts = COMMON.iter().chain(self.keys.iter().copied().flatten());
        parts.filter(|part| part.table == table).flat_map(|part| part.names()).collect()
    }
}

/// An experiment's file of which all tables are there, and all that every experiment says is taken.
pub(crate) struct Document<'a> {
    pub(crate) checker: Checker<'a>,
    pub(super) top: Table<'a>,
    pub(super) factor: Table<'a>,
    pub(super) workload: Table<'a>,
    pub(super) variants: Vec<Table<'a>>,
    pub(super) own: ExperimentFile,
    /// What is swept.
    pub(crate) swept: FactorFile,
    /// The ways of doing the work.
    pub(crate) ways: Vec<VariantFile>,
    /// Of which kind it is.
    pub(crate) heading: Heading,
}

impl<'a> Document<'a> {
    /// Reads the text, which is of one of these kinds.
    pub(crate) fn read(
        text: &'a str,
        file: &'a str,
        files: &'a Files,
        kinds: &[FileFormat],
    ) -> Result<Document<'a>, ExperimentError> {
        let checker = Checker { text, file, files };
        let parsed = DeTable::parse(text).map_err(|error| ExperimentError::of_toml(&error, text, file))?;
        let mut top = Table { span: parsed.span(), keys: parsed.into_inner() };
        let mut all = keys(kinds, TableName::Top);
        all.extend(["factor", "workload", "variant"].map(str::to_owned));
        refuse_beyond(&top, &all, &checker)?;
        let example = "such as `factor = { name = \"concurrency\", levels = [1, 20] }`";
        let mut factor = top.table("factor", example, &checker)?;
        let mut workload = top.table("workload", "such as `workload = { kind = \"scenario\" }`", &checker)?;
        let mut variants = top.tables("variant", &checker)?;
        for (of, table) in [(TableName::Factor, &factor), (TableName::Workload, &workload)] {
            refuse_beyond(table, &keys(kinds, of), &checker)?;
        }
        let swept: FactorFile = factor.take(&checker)?;
        let named: WorkloadFile = workload.take(&checker)?;
        let kind = chosen(&swept.name, &named.kind, workload.span.clone(), &checker, kinds)?;
        let tables = [(TableName::Top, &top), (TableName::Factor, &factor), (TableName::Workload, &workload)];
        let variants_too = variants.iter().map(|variant| (TableName::Variant, variant));
        for (of, table) in tables.into_iter().chain(variants_too) {
            only_known(of, table, &checker, kinds, kind)?;
        }
        let own = top.take(&checker)?;
        let ways = variants.iter_mut().map(|table| table.take(&checker)).collect::<Result<_, _>>()?;
        let heading = kinds[kind].heading;
        Ok(Document { checker, top, factor, workload, variants, own, swept, ways, heading })
    }

    /// The keys of `T` in a table of which there is one.
    pub(crate) fn take<T: DeserializeOwned + JsonSchema>(&mut self, table: TableName) -> Result<T, ExperimentError> {
        let table = match table {
            TableName::Factor => &mut self.factor,
            TableName::Workload => &mut self.workload,
            TableName::Top | TableName::Variant => &mut self.top,
        };
        table.take(&self.checker)
    }

    /// The keys of `T` of each variant.
    pub(crate) fn each<T: DeserializeOwned + JsonSchema>(&mut self) -> Result<Vec<T>, ExperimentError> {
        self.variants.iter_mut().map(|table| table.take(&self.checker)).collect()
    }

    /// Where the workload stands.
    pub(crate) fn workload_span(&self) -> Range<usize> {
        self.workload.span.clone()
    }

    /// Where the factor is named.
    pub(crate) fn factor_span(&self) -> Range<usize> {
        self.swept.name.span()
    }
}

/// All keys of a table that some kind has.
fn keys(kinds: &[FileFormat], table: TableName) -> BTreeSet<String> {
    kinds.iter().flat_map(|kind| kind.keys(table)).collect()
}

/// Which of the kinds a file is of.
fn chosen(
    factor: &At<String>,
    workload: &At<String>,
    span: Range<usize>,
    checker: &Checker<'_>,
    kinds: &[FileFormat],
) -> Result<usize, ExperimentError> {
    known_name(factor, kinds.iter().map(|kind| kind.heading.factor.name), checker)?;
    known_name(workload, kinds.iter().map(|kind| kind.workload), checker)?;
    let of_workload = || kinds.iter().enumerate().filter(|(_, kind)| kind.workload == workload.as_ref());
    let mut fitting = of_workload().filter(|(_, kind)| kind.heading.factor.name == factor.as_ref());
    fitting.next().map(|(number, _)| number).ok_or_else(|| {
        let factors: Vec<String> = of_workload().map(|(_, kind)| format!("`{}`", kind.heading.factor.name)).collect();
        let help = format!("`{}` is swept over {}", workload.as_ref(), factors.join(" or "));
        checker.fault(span, "factor and workload do not fit", &help)
    })
}

/// Refuses a name that is none of these.
fn known_name(
    name: &At<String>,
    known: impl Iterator<Item = &'static str>,
    checker: &Checker<'_>,
) -> Result<(), ExperimentError> {
    let distinct = distinct(known);
    if distinct.contains(&name.as_ref().as_str()) {
        return Ok(());
    }
    let message = format!("unknown name `{}`", name.as_ref());
    Err(checker.fault(name.span(), &message, &did_you_mean(name.as_ref(), distinct)))
}

/// Names in their order, each once.
pub(super) fn distinct<T: Copy + Ord>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

/// Refuses a key that means nothing to this kind, and says to which it would.
fn only_known(
    of: TableName,
    table: &Table<'_>,
    checker: &Checker<'_>,
    kinds: &[FileFormat],
    kind: usize,
) -> Result<(), ExperimentError> {
    let known: BTreeSet<String> = kinds[kind].keys(of).into_iter().collect();
    let beyond = table.beyond(&known);
    let Some((span, key)) = beyond else { return Ok(()) };
    let others: Vec<&FileFormat> = kinds.iter().filter(|other| other.keys(of).contains(&key)).collect();
    if others.is_empty() {
        return refuse_beyond(table, &known, checker);
    }
    let nearest = did_you_mean(&key, known.iter().map(String::as_str));
    let help = match nearest.starts_with("did you mean") {
        true => nearest,
        false => format!("it goes with {}{}", goes_with(&others, kinds[kind].workload), kinds[kind].instead),
    };
    Err(checker.fault(span, &format!("`{key}` has no meaning here"), &help))
}

/// With what a key goes: other factors of the workload, else other workloads.
fn goes_with(others: &[&FileFormat], workload: &str) -> String {
    let factors = others.iter().filter(|other| other.workload == workload);
    let factors: BTreeSet<String> =
        factors.map(|other| format!("the factor `{}`", other.heading.factor.name)).collect();
    let workloads = others.iter().map(|other| format!("`kind = \"{}\"`", other.workload)).collect();
    let words = if factors.is_empty() { workloads } else { factors };
    words.into_iter().collect::<Vec<_>>().join(" or ")
}

/// Refuses a key that is none of these.
fn refuse_beyond(table: &Table<'_>, known: &BTreeSet<String>, checker: &Checker<'_>) -> Result<(), ExperimentError> {
    let Some((span, key)) = table.beyond(known) else { return Ok(()) };
    let help = did_you_mean(&key, known.iter().map(String::as_str));
    Err(checker.fault(span, &format!("unknown key `{key}`"), &help))
}
