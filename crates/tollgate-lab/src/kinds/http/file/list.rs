//! The file of a walk: the format of a list, and the URLs of the entities in it.
//!
//! It does not walk (see [`crate::load::walk`]).

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::links::Template;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Checker, Experiment, ExperimentError, UpTo};
use crate::traffic::request::ListFormat;

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<ListFile>(TableName::Variant)];

/// The format of a list.
#[derive(Debug, Deserialize, JsonSchema)]
struct ListFile {
    /// Format of the collection's answer to a walk.
    format: Option<At<ListFormat>>,
    /// URL of an entity, relative to `url`, with its properties in braces: `flights/{carrid}/{connid}`. Absent: the
    /// links of the collection's answer.
    detail: Option<At<String>>,
    /// The properties that identify the entity in an answer.
    #[serde(default)]
    key: Vec<String>,
    /// Statuses with which a listed entity is left out of the pass instead of failing, such as `[404, 410]`. The report
    /// gives their number.
    #[serde(default)]
    leave_out: Vec<UpTo<599, 400>>,
}

/// Takes the keys, and puts their values into an experiment.
pub(crate) fn fill(document: &mut Document<'_>, experiment: &mut Experiment) -> Result<(), ExperimentError> {
    let files: Vec<ListFile> = document.each()?;
    let checker = &document.checker;
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(files.into_iter().zip(&document.ways)) {
        let Some(format) = &file.format else {
            let help = "add `format`, such as `format = \"odata-v2-atom\"`";
            return Err(checker.unsaid(way, "how its list is read", help));
        };
        if matches!(format.as_ref(), ListFormat::Json | ListFormat::Xml) && file.detail.is_none() {
            let help =
                "plain JSON and XML have no links: add `detail`, such as `detail = \"flights/{carrid}/{connid}\"`";
            return Err(checker.unsaid(way, "where an entity is", help));
        }
        variant.request.format = Some(*format.as_ref());
        variant.request.detail = file.detail.as_ref().map(|detail| checker.template(detail)).transpose()?;
        variant.request.key = file.key;
        variant.request.leave_out = file.leave_out.iter().map(|UpTo(status)| *status as u16).collect();
    }
    Ok(())
}

impl Checker<'_> {
    fn template(&self, detail: &At<String>) -> Result<Template, ExperimentError> {
        let template = Template::parse(detail.as_ref())
            .map_err(|error| self.fault(detail.span(), &error.to_string(), "write `{property}`"))?;
        if template.names().next().is_none() {
            return Err(self.fault(detail.span(), "no property stands in braces", "write `{property}`"));
        }
        Ok(template)
    }
}
