//! An experiment's file as tables. Each part takes its own keys: the common part of all experiments, and each kind.
//!
//! It does not know any kind.

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

impl TableName {
    /// The place of its keys, in words.
    fn place(self) -> &'static str {
        match self {
            TableName::Top => "at the top of the file",
            TableName::Factor => "below `[factor]`",
            TableName::Workload => "below `[workload]`",
            TableName::Variant => "below a `[[variant]]`",
        }
    }
}

/// Keys of one of the tables.
#[derive(Clone, Copy)]
pub(crate) struct Keys {
    pub(super) table: TableName,
    /// The schema of the keys as one object.
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Keys of all experiments.
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

/// A table whose keys are taken out one type at a time.
pub(super) struct Table<'a> {
    checker: Checker<'a>,
    name: TableName,
    keys: DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Table<'a> {
    /// Takes out the table of this name.
    fn table(&mut self, name: TableName, key: &str, example: &str) -> Result<Table<'a>, ExperimentError> {
        match self.keys.remove(key) {
            Some(value) => self.of(value, name, key, example),
            None => Err(self.checker.fault(0..0, &format!("missing key `{key}`"), "add it: it has no default")),
        }
    }

    /// Takes out the tables of this name.
    fn tables(&mut self, name: TableName, key: &str) -> Result<Vec<Table<'a>>, ExperimentError> {
        let Some(value) = self.keys.remove(key) else { return Ok(Vec::new()) };
        let (span, help) = (value.span(), format!("write its heading as `[[{key}]]`"));
        match value.into_inner() {
            DeValue::Array(all) => all.into_iter().map(|one| self.of(one, name, key, &help)).collect(),
            _ => Err(self.checker.fault(span, &format!("`{key}` is no array of tables"), &help)),
        }
    }

    fn of(
        &self,
        value: Spanned<DeValue<'a>>,
        name: TableName,
        key: &str,
        help: &str,
    ) -> Result<Table<'a>, ExperimentError> {
        let (span, checker) = (value.span(), self.checker);
        match value.into_inner() {
            DeValue::Table(keys) => Ok(Table { checker, name, keys, span }),
            other => {
                let message = format!("`{key}` is of type {}, expected a table", other.type_str());
                Err(checker.fault(span, &message, help))
            }
        }
    }

    /// Takes the keys of `T` out, and reads them.
    fn take<T: DeserializeOwned + JsonSchema>(&mut self) -> Result<T, ExperimentError> {
        let known = Keys::of::<T>(self.name).names();
        let (taken, left) =
            mem::take(&mut self.keys).into_iter().partition(|(key, _)| known.iter().any(|known| known == key.as_ref()));
        self.keys = left;
        let taken = Deserializer::from(Spanned::new(self.span.clone(), taken));
        T::deserialize(taken).map_err(|error| ExperimentError::of_toml(&error, self.checker.text, self.checker.file))
    }

    /// Whether all of its keys were taken.
    pub(super) fn is_taken(&self) -> bool {
        self.keys.is_empty()
    }

    /// The first of its keys that is not in `known`.
    fn beyond(&self, known: &BTreeSet<String>) -> Option<(Range<usize>, String)> {
        let keys = self.keys.keys().filter(|key| !known.contains(key.as_ref().as_ref()));
        keys.map(|key| (key.span(), key.as_ref().to_string())).min_by_key(|(span, _)| span.start)
    }

    /// Refuses a key that is not in `known`.
    fn refuse_beyond(&self, known: &BTreeSet<String>) -> Result<(), ExperimentError> {
        let Some((span, key)) = self.beyond(known) else { return Ok(()) };
        let help = did_you_mean(&key, known.iter().map(String::as_str));
        Err(self.checker.fault(span, &format!("unknown key `{key}`"), &help))
    }

    /// Refuses a key that has no meaning for this kind, and names the places where it has.
    fn refuse_others(&self, kind: &FileFormat, kinds: &[FileFormat]) -> Result<(), ExperimentError> {
        let known: BTreeSet<String> = kind.keys(self.name).into_iter().collect();
        let Some((span, key)) = self.beyond(&known) else { return Ok(()) };
        let tables = [TableName::Top, TableName::Factor, TableName::Workload, TableName::Variant];
        if let Some(table) = tables.into_iter().find(|table| kind.keys(*table).contains(&key)) {
            let help = format!("write it {}", table.place());
            return Err(self.checker.fault(span, &format!("`{key}` has no meaning here"), &help));
        }
        let others: Vec<&FileFormat> = kinds.iter().filter(|other| other.keys(self.name).contains(&key)).collect();
        if others.is_empty() {
            return self.refuse_beyond(&known);
        }
        let nearest = did_you_mean(&key, known.iter().map(String::as_str));
        let help = match nearest.starts_with("did you mean") {
            true => nearest,
            false => format!("it goes with {}{}", goes_with(&others, kind.workload), kind.instead),
        };
        Err(self.checker.fault(span, &format!("`{key}` has no meaning here"), &help))
    }
}

/// The file format of one kind of experiment.
pub(crate) struct FileFormat {
    /// Name of the workload.
    pub(crate) workload: &'static str,
    /// Its description, a sentence.
    pub(crate) about: &'static str,
    /// The swept factor, and the other properties of the kind.
    pub(crate) heading: Heading,
    /// A hint about the keys used here instead of other kinds' keys; empty: none.
    pub(crate) instead: &'static str,
    /// All keys beyond those of every experiment.
    pub(crate) keys: &'static [&'static [Keys]],
}

impl FileFormat {
    /// The keys of a table: those of all experiments, and those of this kind.
    fn keys(&self, table: TableName) -> Vec<String> {
        let parts = COMMON.iter().chain(self.keys.iter().copied().flatten());
        parts.filter(|part| part.table == table).flat_map(|part| part.names()).collect()
    }
}

/// An experiment's file with all its tables; the keys of every experiment are taken out.
pub(crate) struct Document<'a> {
    pub(crate) checker: Checker<'a>,
    pub(super) top: Table<'a>,
    pub(super) factor: Table<'a>,
    pub(super) workload: Table<'a>,
    pub(super) variants: Vec<Table<'a>>,
    pub(super) own: ExperimentFile,
    /// The swept factor.
    pub(crate) swept: FactorFile,
    /// The variants.
    pub(crate) ways: Vec<VariantFile>,
    /// The properties of its kind.
    pub(crate) heading: Heading,
}

impl<'a> Document<'a> {
    /// Reads the text of a file of one of these kinds.
    pub(crate) fn read(
        text: &'a str,
        file: &'a str,
        files: &'a Files,
        kinds: &[FileFormat],
    ) -> Result<Document<'a>, ExperimentError> {
        let checker = Checker { text, file, files };
        let parsed = DeTable::parse(text).map_err(|error| ExperimentError::of_toml(&error, text, file))?;
        let mut top = Table { checker, name: TableName::Top, span: parsed.span(), keys: parsed.into_inner() };
        let mut all = keys(kinds, TableName::Top);
        all.extend(["factor", "workload", "variant"].map(str::to_owned));
        top.refuse_beyond(&all)?;
        let example = "such as `factor = { name = \"concurrency\", levels = [1, 20] }`";
        let mut factor = top.table(TableName::Factor, "factor", example)?;
        let mut workload =
            top.table(TableName::Workload, "workload", "such as `workload = { kind = \"scenario\" }`")?;
        let mut variants = top.tables(TableName::Variant, "variant")?;
        for table in [&factor, &workload] {
            table.refuse_beyond(&keys(kinds, table.name))?;
        }
        let swept: FactorFile = factor.take()?;
        let named: WorkloadFile = workload.take()?;
        let kind = chosen(&swept.name, &named.kind, &workload, kinds)?;
        for table in [&top, &factor, &workload].into_iter().chain(&variants) {
            table.refuse_others(kind, kinds)?;
        }
        let own = top.take()?;
        let ways = variants.iter_mut().map(Table::take).collect::<Result<_, _>>()?;
        Ok(Document { checker, top, factor, workload, variants, own, swept, ways, heading: kind.heading })
    }

    /// Takes the keys of `T` out of a table that exists once.
    pub(crate) fn take<T: DeserializeOwned + JsonSchema>(&mut self, table: TableName) -> Result<T, ExperimentError> {
        let table = match table {
            TableName::Factor => &mut self.factor,
            TableName::Workload => &mut self.workload,
            TableName::Top | TableName::Variant => &mut self.top,
        };
        table.take()
    }

    /// Takes the keys of `T` out of each variant.
    pub(crate) fn each<T: DeserializeOwned + JsonSchema>(&mut self) -> Result<Vec<T>, ExperimentError> {
        self.variants.iter_mut().map(Table::take).collect()
    }

    /// The place of the workload.
    pub(crate) fn workload_span(&self) -> Range<usize> {
        self.workload.span.clone()
    }

    /// The place of the factor's name.
    pub(crate) fn factor_span(&self) -> Range<usize> {
        self.swept.name.span()
    }
}

/// All keys of a table over all kinds.
fn keys(kinds: &[FileFormat], table: TableName) -> BTreeSet<String> {
    kinds.iter().flat_map(|kind| kind.keys(table)).collect()
}

/// The kind that a file is of.
fn chosen<'k>(
    factor: &At<String>,
    named: &At<String>,
    workload: &Table<'_>,
    kinds: &'k [FileFormat],
) -> Result<&'k FileFormat, ExperimentError> {
    let checker = &workload.checker;
    known_name(factor, kinds.iter().map(|kind| kind.heading.factor.name), checker)?;
    known_name(named, kinds.iter().map(|kind| kind.workload), checker)?;
    let of_workload = || kinds.iter().filter(|kind| kind.workload == named.as_ref());
    of_workload().find(|kind| kind.heading.factor.name == factor.as_ref()).ok_or_else(|| {
        let factors: Vec<String> = of_workload().map(|kind| format!("`{}`", kind.heading.factor.name)).collect();
        let help = format!("`{}` is swept over {}", named.as_ref(), factors.join(" or "));
        checker.fault(workload.span.clone(), "factor and workload do not fit", &help)
    })
}

/// Refuses a name that is not in the list.
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

/// The places where a key is allowed: other factors of the workload, else other workloads.
fn goes_with(others: &[&FileFormat], workload: &str) -> String {
    let factors = others.iter().filter(|other| other.workload == workload);
    let factors: BTreeSet<String> =
        factors.map(|other| format!("the factor `{}`", other.heading.factor.name)).collect();
    let workloads = others.iter().map(|other| format!("`kind = \"{}\"`", other.workload)).collect();
    let words = if factors.is_empty() { workloads } else { factors };
    words.into_iter().collect::<Vec<_>>().join(" or ")
}
