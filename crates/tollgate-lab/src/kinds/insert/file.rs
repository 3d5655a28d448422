//! The file of an insert: the target of records, and the mode in which each variant sends them.
//!
//! It does not send them (see [`crate::load::insert`]).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tollgate_net::http1::client::Target;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, CELL_MS_MAX, Experiment, ExperimentError, Files, Location, Own, Variant};
use crate::kinds::http::file::served::{self, Served};
use crate::secret;
use crate::traffic::given::GivenRecords;
use crate::traffic::mode::Mode;
use crate::traffic::places::{InsertPlaces, OwnRecord, Record};
use tollgate_facts::results::Distance;

/// Factor by which a cell may last longer at another service than at ours: its speed is unknown.
const OTHERS_CELL: u32 = 6;

/// The keys.
pub(super) const KEYS: &[&[Keys]] =
    &[served::KEYS, &[Keys::of::<PlacesFile>(TableName::Workload), Keys::of::<ModeFile>(TableName::Variant)]];

/// The target of records.
#[derive(Debug, Deserialize, JsonSchema)]
struct PlacesFile {
    /// For `insert`: the root of the OData service: a path on tollgate's own gateway such as `/odata/v4/refsvc/`, or a whole
    /// URL of a service of V4 or V2 that is there already.
    service: Option<At<String>>,
    /// For `insert`: the entity set, such as `TestRecords`.
    entity_set: Option<At<String>>,
    /// For `insert`: the path that takes all records in one array, for the mode `custom-rest`.
    insert_all: Option<At<String>>,
    /// For `insert`: the path that empties the table on a POST. Absent: inserted rows are deleted by their keys, and
    /// all other rows stay.
    delete_all: Option<At<String>>,
    /// For `insert`: the format of a record. Absent: usually `published` with a `delete_all`, else `described`.
    record: Option<At<RecordFile>>,
    /// For `insert`: values of properties that all records have, by their names; the others are drawn from the run's seed.
    #[serde(default)]
    values: Map<String, Value>,
    /// For `insert`: a file beside this one with records of yours, sent in turn and then again. A CSV's first row has
    /// names of properties; an empty value is not sent. In JSON, one object or a list of them, `{{number}}` in a text
    /// is replaced by the record's number, and `{{unique}}` by a random number that no other record has. The key, which
    /// the file must leave out, and mandatory properties that no record names have random values.
    records: Option<At<String>>,
}

/// The format of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RecordFile {
    /// The format of the published measurement, with eleven columns.
    Published,
    /// The format of the entity set in the service's `$metadata`.
    Described,
}

/// The mode of a variant.
#[derive(Debug, Deserialize, JsonSchema)]
struct ModeFile {
    /// The mode in which an `insert` sends its records: `sequential`, `parallel-N` (single requests over N
    /// connections), `batch-N` (N independent requests in a JSON batch), `changeset-N` (N requests in one atomic
    /// group), `multipart-N` (N independent requests in a multipart batch) or `custom-rest` (all in one array).
    mode: Option<At<String>>,
}

/// Reads the experiment.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let (served, places) = (Served::take(document)?, document.take(TableName::Workload)?);
    let modes: Vec<ModeFile> = document.each()?;
    let checker = &document.checker;
    let (origin, places) = checked(places, document)?;
    let mut experiment = document.experiment(document.levels_of_users()?)?;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(modes.iter().zip(&document.ways)) {
        let help = "add `mode`, such as `mode = \"batch-100\"`";
        let written = file.mode.as_ref().ok_or_else(|| checker.unsaid(way, "how it sends its records", help))?;
        let fault = |message: String| checker.fault(written.span(), &message, "such as `mode = \"batch-100\"`");
        let mode: Mode = written.as_ref().parse().map_err(fault)?;
        if mode == Mode::CustomRest && places.insert_all.is_none() {
            let help =
                "add `insert_all = \"/rest/mass-change/insertAll\"` below `[workload]`, or leave this variant out";
            return Err(checker.fault(written.span(), "`custom-rest` needs `insert_all`", help));
        }
        if way.title.is_none() {
            variant.title = mode.title();
        }
        variant.request.method = "POST".to_owned();
        variant.own = Own::new(mode);
    }
    let of_mode = |mode: &Mode| Ok(location(origin.as_deref(), places.path(*mode)));
    experiment.own = Own::new(places.clone());
    let mut experiment = served.fill(document, experiment, |variant| variant.own().map(of_mode))?;
    // Variants from afar stand behind all others, in the same order.
    for (variant, way) in experiment.variants.iter_mut().zip(document.ways.iter().cycle()) {
        let (Location::Url(url), Some(mode)) = (&variant.at, variant.own::<Mode>()) else { continue };
        let (origin, path) = split(url);
        if matches!(path, "" | "/") {
            variant.at = location(Some(origin), places.path(*mode));
        } else if let Some(why) = elsewhere(&places, variant, path) {
            return Err(document.checker.fault(
                way.name.span(),
                &why,
                "leave its path out, or write a file for each set",
            ));
        }
    }
    Ok(experiment)
}

/// The same for an existing entity set at this URL: records are made by the service's description, and deleted by their
/// keys. The mode with all records in one array, which no such service takes, and the emulated link are left out: a
/// user's own file may have both.
///
/// # Errors
/// It is no URL of an entity set.
pub(in crate::kinds) fn of_entity_set(mut experiment: Experiment, url: &str) -> Result<Experiment, String> {
    let fault = |why: &str| Err(format!("`{}` is no URL of an entity set: {why}", secret::hide(url)));
    if let Err(error) = Target::parse(url) {
        return fault(&error.to_string());
    }
    let (origin, path) = split(url);
    if path.contains(['?', '#']) {
        return fault("leave out what begins with `?`, and send a client by --header 'sap-client: 100'");
    }
    let path = path.trim_end_matches('/');
    let (service, entity_set) = path.rsplit_once('/').unwrap_or_default();
    if !is_identifier(entity_set) {
        return fault("such as http://127.0.0.1:4004/odata/v4/admin/Books");
    }
    if experiment.own::<InsertPlaces>().is_none() {
        return Err(format!("`{}` inserts no records", experiment.name));
    }
    let places = InsertPlaces {
        service: format!("{service}/"),
        entity_set: entity_set.to_owned(),
        insert_all: None,
        delete_all: None,
        record: Record::Described(OwnRecord::default()),
    };
    let goes = |variant: &Variant| variant.own() == Some(&Mode::CustomRest) || variant.distance == Distance::Remote;
    let (gone, mut variants): (Vec<Variant>, Vec<Variant>) = experiment.variants.into_iter().partition(goes);
    let first = variants.first().map(|variant| variant.name.clone());
    for variant in &mut variants {
        let is_gone = |baseline: &String| gone.iter().any(|gone| gone.name == *baseline);
        if variant.baseline.as_ref().is_some_and(is_gone) {
            variant.baseline = first.clone().filter(|first| *first != variant.name);
        }
        let mode: &Mode = variant.own().expect("every variant of an insert has a mode");
        variant.at = location(Some(origin), places.path(*mode));
    }
    for cell_ms in experiment.extents.values_mut().filter_map(|extent| extent.cell_ms.as_mut()) {
        cell_ms.0 = cell_ms.0.saturating_mul(OTHERS_CELL).min(CELL_MS_MAX);
    }
    Ok(Experiment { variants, round_trip_ms: None, own: Own::new(places), ..experiment })
}

/// The same with the records of this file.
///
/// # Errors
/// It inserts no records of the user's, or the fault in the file.
pub(in crate::kinds) fn with_records(experiment: Experiment, file: &str) -> Result<Experiment, String> {
    let name = &experiment.name;
    let places: InsertPlaces = experiment.own().cloned().ok_or_else(|| format!("`{name}` inserts no records"))?;
    let Record::Described(mut own) = places.record else {
        return Err(format!("`{name}` inserts those of the published measurement: --entity-set names a set of yours"));
    };
    own.file = Some(read_records(file, Files::beside("").read(file)?, &own.values)?);
    let places = InsertPlaces { record: Record::Described(own), ..places };
    Ok(Experiment { own: Own::new(places), ..experiment })
}

/// Reads the records in a file's text, which may not set a property in `values`.
fn read_records(file: &str, text: String, values: &Map<String, Value>) -> Result<Arc<GivenRecords>, String> {
    let records = GivenRecords::parse(file, text)?;
    match records.names().into_iter().find(|property| values.contains_key(*property)) {
        None => Ok(Arc::new(records)),
        Some(twice) => Err(format!("{}: `{twice}` stands in `values`, too", records.place(twice, None))),
    }
}

/// The reason that a variant must not insert at this path: rows are counted and deleted only in the one set of the
/// experiment, and would remain elsewhere.
pub(super) fn elsewhere(places: &InsertPlaces, variant: &Variant, path: &str) -> Option<String> {
    let mode = variant.own::<Mode>().filter(|mode| **mode != Mode::CustomRest)?;
    let expected = places.path(*mode);
    let (name, set) = (&variant.name, places.entity_path());
    (variant.peer.is_none() && path != expected).then(|| {
        format!("variant `{name}` inserts at {path}, where rows of {set} are counted and deleted: expected {expected}")
    })
}

/// Splits a URL after its scheme and authority.
fn split(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + "://".len());
    url.split_at(url[authority..].find(['/', '?', '#']).map_or(url.len(), |at| authority + at))
}

/// A path on an existing service, or else on tollgate's own gateway.
fn location(origin: Option<&str>, path: String) -> Location {
    match origin {
        Some(origin) => Location::Url(format!("{origin}{path}")),
        None => Location::Gateway(path),
    }
}

/// The target of records, and the service's scheme and authority if it exists already.
fn checked(file: PlacesFile, document: &Document<'_>) -> Result<(Option<String>, InsertPlaces), ExperimentError> {
    let checker = &document.checker;
    let said = |value: Option<At<String>>, key: &str, example: &str| {
        let (message, help) = (format!("an insert needs `{key}`"), format!("add `{key} = \"{example}\"`"));
        value.ok_or_else(|| checker.fault(document.workload_span(), &message, &help))
    };
    let path = |path: At<String>, example: &str| {
        let (message, help) = (format!("`{}` is no path", path.as_ref()), format!("write a path such as `{example}`"));
        match path.as_ref().starts_with('/') {
            true => Ok(path.into_inner()),
            false => Err(checker.fault(path.span(), &message, &help)),
        }
    };
    let service = said(file.service, "service", "/odata/v4/refsvc/")?;
    let place = service.span();
    let (origin, mut service) = match checker.location(&service)? {
        Location::Url(url) => {
            let (origin, path) = split(&url);
            (Some(origin.to_owned()), path.to_owned())
        }
        Location::Gateway(path) | Location::Here(path) => (None, path),
    };
    if service.contains(['?', '#']) {
        let help = "leave out what begins with `?`, and send a client by --header 'sap-client: 100'";
        return Err(checker.fault(place, "a service has no query", help));
    }
    if !service.ends_with('/') {
        service.push('/');
    }
    let entity_set = said(file.entity_set, "entity_set", "TestRecords")?;
    if !is_identifier(entity_set.as_ref()) {
        let message = format!("`{}` is no entity set", entity_set.as_ref());
        return Err(checker.fault(entity_set.span(), &message, "write a name such as `TestRecords`"));
    }
    let insert_all = file.insert_all.map(|value| path(value, "/rest/mass-change/insertAll")).transpose()?;
    let delete_all = file.delete_all.map(|value| path(value, "/rest/mass-change/deleteAllRecs")).transpose()?;
    let record = match (&file.record, &delete_all) {
        (Some(record), _) if *record.as_ref() == RecordFile::Published && file.records.is_some() => {
            return Err(checker.fault(record.span(), "published records stand in no file", "leave `record` out"));
        }
        (Some(record), None) if *record.as_ref() == RecordFile::Published => {
            let help = "add `delete_all = \"/rest/mass-change/deleteAllRecs\"`, or write `record = \"described\"`";
            return Err(checker.fault(record.span(), "published records have no key to be deleted by", help));
        }
        (Some(record), _) => *record.as_ref(),
        (None, Some(_)) if file.values.is_empty() && file.records.is_none() => RecordFile::Published,
        (None, _) => RecordFile::Described,
    };
    let record = match record {
        RecordFile::Published => Record::Published,
        RecordFile::Described => {
            let read = |name: &At<String>| {
                let read = read_records(name.as_ref(), checker.file(name)?, &file.values);
                read.map_err(|why| checker.fault(name.span(), &why, "the first row of a CSV names properties"))
            };
            let records = file.records.as_ref().map(read).transpose()?;
            Record::Described(OwnRecord { values: file.values, file: records })
        }
    };
    Ok((origin, InsertPlaces { service, entity_set: entity_set.into_inner(), insert_all, delete_all, record }))
}

/// Whether it can be the name of an entity set (OData CSDL, simple identifier, in ASCII).
fn is_identifier(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && name.len() <= 128 && name.bytes().all(plain) && !name.as_bytes()[0].is_ascii_digit()
}
