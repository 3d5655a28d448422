//! `respond`: answers the client at once, with a text or a file of the configuration.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value};

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "respond", make, schema: |generator| generator.subschema_for::<Table>() };

/// Answers the client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Respond")]
struct Table {
    /// The answer.
    #[schemars(with = "AnswerTable")]
    respond: Spanned<AnswerTable>,
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RespondAnswer")]
struct AnswerTable {
    /// Its status.
    #[serde(default = "ok")]
    #[schemars(with = "u16", range(min = 200, max = 599), default = "plain_ok")]
    status: Spanned<u16>,
    /// Its content type.
    #[schemars(with = "Option<String>")]
    content_type: Option<Spanned<String>>,
    /// Its body.
    #[schemars(with = "Option<String>")]
    body: Option<Spanned<String>>,
    /// The file that is its body.
    #[schemars(with = "Option<PathBuf>")]
    file: Option<Spanned<PathBuf>>,
}

#[derive(Debug)]
struct Respond {
    status: u16,
    content_type: Box<[u8]>,
    body: Box<[u8]>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { respond } = reading.table(table)?;
    let span = respond.span();
    let AnswerTable { status, content_type, body, file } = respond.into_inner();
    if !(200..=599).contains(status.as_ref()) {
        return Err(reading.wrong(status.span(), "expected a status from 200 to 599"));
    }
    let status = status.into_inner();
    let body: Box<[u8]> = match (body, file) {
        (None, None) => Box::default(),
        (Some(text), None) => text.into_inner().into_bytes().into(),
        (None, Some(path)) => reading.file(&path)?.1.into(),
        (Some(_), Some(path)) => return Err(reading.wrong(path.span(), "expected `body` or `file`, not both")),
    };
    if matches!(status, 204 | 304) && !body.is_empty() {
        return Err(reading.wrong(span, &format!("an answer of the status {status} has no body")));
    }
    let content_type = match content_type {
        Some(text) if !text.as_ref().is_empty() && text.as_ref().bytes().all(|byte| matches!(byte, b' '..=b'~')) => {
            text.into_inner()
        }
        Some(text) => return Err(reading.wrong(text.span(), "expected a content type such as \"text/plain\"")),
        None => "text/plain; charset=utf-8".to_owned(),
    };
    Ok(Box::new(Respond { status, content_type: content_type.into_bytes().into(), body }))
}

fn ok() -> Spanned<u16> {
    Spanned::new(0..0, plain_ok())
}

fn plain_ok() -> u16 {
    200
}

impl Mediator for Respond {
    fn need(&self) -> Need {
        Need::Head
    }

    fn fields<'m>(&'m self, _: &mut dyn FnMut(Touches, &'m str)) {}

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let content_type = (!self.body.is_empty()).then_some(&*self.content_type);
        passing.memory.respond(content_type, |body| body.extend_from_slice(&self.body));
        Ok(Outcome::Respond { status: self.status })
    }
}
