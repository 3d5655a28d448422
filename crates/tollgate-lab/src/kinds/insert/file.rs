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
    let places = checked(&places, document)?;
    let mut experiment = document.experiment(document.levels_of_users()?)?;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(modes.iter().zip(&document.ways)) {
        let Some(mode) = &file.mode else {
            let help = "add `mode`, such as `mode = \"batch-100\"`";
            return Err(document.checker.unsaid(way, "how it sends its records", help));
        };
        let parsed: Result<Mode, String> = mode.as_ref().parse();
        let parsed = parsed
            .map_err(|message| document.checker.fault(mode.span(), &message, "such as `mode = \"batch-100\"`"))?;
        if way.title.is_none() {
            variant.title = parsed.title();
        }
        variant.request.method = "POST".to_owned();
        variant.own = Own::new(parsed);
    }
    let of_mode = |mode: &Mode| Ok(Location::Gateway(places.path(*mode)));
    experiment.own = Own::new(places.clone());
    served.fill(document, experiment, |variant| variant.own().map(of_mode))
}

fn checked(file: &PlacesFile, document: &Document<'_>) -> Result<InsertPlaces, ExperimentError> {
    let checker = &document.checker;
    let path = |value: &Option<At<String>>, key: &str, example: &str| match value {
        None => Err(checker.fault(
            document.workload_span(),
            &format!("an insert needs `{key}`"),
            &format!("add `{key} = \"{example}\"`"),
        )),
        Some(path) if !path.as_ref().starts_with('/') => Err(checker.fault(
            path.span(),
            &format!("`{}` is no path", path.as_ref()),
            &format!("write a path such as `{example}`"),
        )),
        Some(path) => Ok(path.as_ref().clone()),
    };
    let mut service = path(&file.service, "service", "/odata/v4/refsvc/")?;
    if !service.ends_with('/') {
        service.push('/');
    }
    let entity_set = match &file.entity_set {
        Some(name) if is_identifier(name.as_ref()) => name.as_ref().clone(),
        Some(name) => {
            let message = format!("`{}` is no entity set", name.as_ref());
            return Err(checker.fault(name.span(), &message, "write a name such as `TestRecords`"));
        }
        None => {
            let help = "add `entity_set = \"TestRecords\"`";
            return Err(checker.fault(document.workload_span(), "an insert needs `entity_set`", help));
        }
    };
    Ok(InsertPlaces {
        service,
        entity_set,
        insert_all: path(&file.insert_all, "insert_all", "/rest/mass-change/insertAll")?,
        delete_all: path(&file.delete_all, "delete_all", "/rest/mass-change/deleteAllRecs")?,
    })
}

/// Whether it can be the name of an entity set (OData CSDL, simple identifier, in ASCII).
fn is_identifier(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= 128 && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}
