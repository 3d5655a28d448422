//! What the file of an insert says: where records go, and in which mode each variant sends them.
//!
//! What it deliberately does not do: send them (see [`crate::load::insert`]).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Experiment, ExperimentError, Location, Own};
use crate::kinds::http::file::served::{self, Served};
use crate::traffic::mode::Mode;
use crate::traffic::places::InsertPlaces;

/// The keys.
pub(super) const KEYS: &[&[Keys]] =
    &[served::KEYS, &[Keys::of::<PlacesFile>(TableName::Workload), Keys::of::<ModeFile>(TableName::Variant)]];

/// Where records go.
#[derive(Debug, Deserialize, JsonSchema)]
struct PlacesFile {
    /// For `insert`: the root of the OData V4 service, such as `/odata/v4/refsvc/`.
    service: Option<At<String>>,
    /// For `insert`: the entity set, such as `TestRecords`.
    entity_set: Option<At<String>>,
    /// For `insert`: the path that takes all records in one array.
    insert_all: Option<At<String>>,
    /// For `insert`: the path that empties the table when it is posted to.
    delete_all: Option<At<String>>,
}

/// How a variant sends them.
#[derive(Debug, Deserialize, JsonSchema)]
struct ModeFile {
    /// How an `insert` sends its records: `sequential`, `parallel-N` (single requests over N connections), `batch-N`
    /// (N independent requests in a JSON batch), `changeset-N` (N requests in one atomic group), `multipart-N` (N
    /// independent requests in a multipart batch) or `custom-rest` (all in one array).
    mode: Option<At<String>>,
}

/// Reads it.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let (served, places) = (Served::take(document)?, document.take(TableName::Workload)?);
    let modes: Vec<ModeFile> = document.each()?;
    let checker = &document.checker;
    let places = checked(places, document)?;
    let mut experiment = document.experiment(document.levels_of_users()?)?;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(modes.iter().zip(&document.ways)) {
        let help = "add `mode`, such as `mode = \"batch-100\"`";
        let written = file.mode.as_ref().ok_or_else(|| checker.unsaid(way, "how it sends its records", help))?;
        let fault = |message: String| checker.fault(written.span(), &message, "such as `mode = \"batch-100\"`");
        let mode: Mode = written.as_ref().parse().map_err(fault)?;
        if way.title.is_none() {
            variant.title = mode.title();
        }
        variant.request.method = "POST".to_owned();
        variant.own = Own::new(mode);
    }
    let of_mode = |mode: &Mode| Ok(Location::Gateway(places.path(*mode)));
    experiment.own = Own::new(places.clone());
    served.fill(document, experiment, |variant| variant.own().map(of_mode))
}

fn checked(file: PlacesFile, document: &Document<'_>) -> Result<InsertPlaces, ExperimentError> {
    let checker = &document.checker;
    let said = |value: Option<At<String>>, key: &str, example: &str| {
        let (message, help) = (format!("an insert needs `{key}`"), format!("add `{key} = \"{example}\"`"));
        value.ok_or_else(|| checker.fault(document.workload_span(), &message, &help))
    };
    let path = |value: Option<At<String>>, key: &str, example: &str| {
        let path = said(value, key, example)?;
        let (message, help) = (format!("`{}` is no path", path.as_ref()), format!("write a path such as `{example}`"));
        match path.as_ref().starts_with('/') {
            true => Ok(path.into_inner()),
            false => Err(checker.fault(path.span(), &message, &help)),
        }
    };
    let mut service = path(file.service, "service", "/odata/v4/refsvc/")?;
    if !service.ends_with('/') {
        service.push('/');
    }
    let entity_set = said(file.entity_set, "entity_set", "TestRecords")?;
    if !is_identifier(entity_set.as_ref()) {
        let message = format!("`{}` is no entity set", entity_set.as_ref());
        return Err(checker.fault(entity_set.span(), &message, "write a name such as `TestRecords`"));
    }
    Ok(InsertPlaces {
        service,
        entity_set: entity_set.into_inner(),
        insert_all: path(file.insert_all, "insert_all", "/rest/mass-change/insertAll")?,
        delete_all: path(file.delete_all, "delete_all", "/rest/mass-change/deleteAllRecs")?,
    })
}

/// Whether it can be the name of an entity set (OData CSDL, simple identifier, in ASCII).
fn is_identifier(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= 128 && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}
