//! `xslt`: the message, or the payload of its envelope, is replaced by a stylesheet's result.
//!
//! Messages without a body pass as they are; so do SOAP fault answers, if the payload is to be transformed, and answers
//! that are no XML. The stylesheet is compiled when the configuration is read, and loads nothing while it runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::soap;
use tollgate_xml::{
    Budget, Error, LoadNothing, Loaded, Loader, Method, Options, Parameter, RunOptions, Stylesheet, Transformed,
};
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::{Passing, Tools};
use crate::mediate::payload::Payload;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value, beside, read_file};
use crate::mediate::source::{SourceTable, ValueSource};
use crate::mediate::view::{Unreadable, View};
use crate::mediate::way::Way;

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "xslt", make, schema: |generator| generator.subschema_for::<Table>() };

/// Transforms the message by a stylesheet of XSLT 1.0.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Xslt")]
struct Table {
    /// The stylesheet's file, beside the configuration. The files it includes and imports are in its folder.
    #[schemars(with = "PathBuf")]
    xslt: Spanned<PathBuf>,
    /// Part to transform.
    #[schemars(with = "Option<TransformedPart>")]
    payload: Option<Spanned<TransformedPart>>,
    /// Parameters of the stylesheet by name, each with its value: a text, or its source in the message.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, SourceTable>")]
    parameters: BTreeMap<String, Spanned<SourceTable>>,
    /// The SOAP action of the new message: for requests, in `SOAPAction` or in the content type.
    #[schemars(with = "Option<String>")]
    action: Option<Spanned<String>>,
}

/// Part to transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Part")]
enum TransformedPart {
    /// The whole document.
    #[default]
    Document,
    /// The first element in the body of its SOAP envelope; the envelope is kept.
    Soap,
}

#[derive(Debug)]
struct Xslt {
    stylesheet: Stylesheet,
    /// Its name in the log.
    name: String,
    part: TransformedPart,
    parameters: Box<[(Box<str>, ValueSource)]>,
    action: Option<Box<str>>,
    log: Arc<Log>,
}

/// A new message.
struct NewMessage {
    /// Absent: it is in the spare buffer.
    body: Option<Vec<u8>>,
    /// Its content type, if changed.
    content_type: Option<Vec<u8>>,
    version: Option<soap::Version>,
}

/// Loads files from a stylesheet's folder.
struct Beside;

impl Loader for Beside {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        let path = beside(base, reference)
            .ok_or_else(|| format!("`{reference}` is not to be loaded: it leads out of the stylesheet's folder"))?;
        Ok(Loaded { bytes: read_file(&path)?, name: path.display().to_string() })
    }
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { xslt, payload, parameters, action } = reading.table(table)?;
    let (path, source) = reading.file(&xslt)?;
    let name = path.display().to_string();
    let stylesheet = Stylesheet::compile_with(&source, &name, &Beside, &Budget::default());
    let stylesheet =
        stylesheet.map_err(|error| reading.wrong(xslt.span(), &format!("this stylesheet cannot be used: {error}")))?;
    let part = payload.as_ref().map(|part| *part.as_ref()).unwrap_or_default();
    if let (TransformedPart::Soap, Some(wrong)) = (part, not_a_payload(&stylesheet)) {
        return Err(reading.wrong(xslt.span(), wrong));
    }
    if let Some(action) = &action
        && !action.as_ref().bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    {
        return Err(reading.wrong(action.span(), "expected a URI"));
    }
    let parameter = |(name, value)| Ok((String::into_boxed_str(name), ValueSource::read(value, reading)?));
    let parameters = parameters.into_iter().map(parameter).collect::<Result<_, ConfigError>>()?;
    let action = action.map(|action| action.into_inner().into());
    Ok(Box::new(Xslt { stylesheet, name, part, parameters, action, log: Arc::clone(reading.log) }))
}

/// Reason why an envelope cannot contain the results of a stylesheet.
fn not_a_payload(stylesheet: &Stylesheet) -> Option<&'static str> {
    let output = stylesheet.output();
    match () {
        () if !matches!(output.method, None | Some(Method::Xml)) => {
            Some("what stands in an envelope is XML: expected a stylesheet with `<xsl:output method=\"xml\"/>`")
        }
        () if !["UTF-8", "US-ASCII"].iter().any(|known| output.encoding().eq_ignore_ascii_case(known)) => {
            Some("what stands in an envelope is UTF-8: expected a stylesheet without another output encoding")
        }
        () if output.doctype_system.is_some() => {
            Some("what stands in an envelope has no document type: expected a stylesheet without `doctype-system`")
        }
        () => None,
    }
}

impl Mediator for Xslt {
    fn need(&self) -> Need {
        Need::WholeBody
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        self.parameters.iter().for_each(|(_, source)| source.fields(note));
        for name in ["content-type", "content-encoding"] {
            note(Touches::Reads, name);
        }
        for name in ["content-type", "soapaction"] {
            note(Touches::Changes, name);
        }
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        if passing.view().body.is_empty() {
            return Ok(Outcome::Continue);
        }
        let Some(made) = self.transform(passing)? else { return Ok(Outcome::Continue) };
        let NewMessage { body, content_type, version } = made;
        let is_request = matches!(passing.way, Way::Request);
        let memory = &mut *passing.memory;
        match body {
            Some(body) => memory.replace(body),
            None => memory.replace_by_spare(),
        }
        if let Some(content_type) = content_type {
            memory.edits.set("content-type", &content_type);
        }
        if let (Some(action), true, Some(soap::Version::V11)) = (&self.action, is_request, version) {
            memory.edits.set("SOAPAction", format!("\"{action}\"").as_bytes());
        }
        Ok(Outcome::Continue)
    }
}

impl Xslt {
    fn transform(&self, passing: &mut Passing<'_>) -> Result<Option<NewMessage>, Fault> {
        let (view, Tools { workspace, spare }) = passing.split();
        if !view.may_be_xml() {
            return match view.way {
                Way::Request => Err(Fault::unsupported_media_type("a mediator has to read this message: expected XML")),
                // Such as a page that says that the backend is not there.
                Way::Answer(_) => Ok(None),
            };
        }
        let mut values = Vec::with_capacity(self.parameters.len());
        for (name, source) in &self.parameters {
            if let Some(value) = source.value(&view, workspace)? {
                values.push((&**name, value));
            }
        }
        let parameters: Vec<(&str, Parameter<'_>)> =
            values.iter().map(|(name, value)| (*name, Parameter::String(value))).collect();
        let text = view.xml_text().map_err(|why| view.refuse(why))?;
        let limits = view.budget();
        let options = self.stylesheet.reading(&Options { budget: Some(&limits), ..Options::default() });
        let refuse = |error: Error| view.refuse_xml(&error, &self.name);
        let mut document = workspace.parse(&text, &options).map_err(refuse)?;
        let payload = match self.part {
            TransformedPart::Document => None,
            TransformedPart::Soap => {
                match Payload::of(&document).map_err(|wrong| view.refuse(Unreadable::Wrong(wrong.to_owned())))? {
                    Some(payload) if payload.is_fault && matches!(view.way, Way::Answer(_)) => {
                        workspace.recycle(document);
                        return Ok(None);
                    }
                    Some(payload) => {
                        document.isolate(payload.element);
                        Some(payload)
                    }
                    None => {
                        workspace.recycle(document);
                        return Ok(None);
                    }
                }
            }
        };
        let run = RunOptions { parameters: &parameters, loader: &LoadNothing, budget: Some(&limits) };
        let transformed = self.stylesheet.run(&document, &run);
        workspace.recycle(document);
        let Transformed { bytes, method, messages } = transformed.map_err(refuse)?;
        for message in messages {
            self.log.line(format_args!(
                "{}: {}",
                self.name,
                crate::mediate::redact::body(message.as_bytes(), message.len())
            ));
        }
        Ok(Some(match payload {
            Some(payload) => {
                spare.clear();
                payload.replace(spare, &text, &bytes);
                let content_type = self.content_type_around(&view, payload.version);
                NewMessage { body: None, content_type, version: Some(payload.version) }
            }
            None => NewMessage {
                body: Some(bytes),
                content_type: self.content_type_of(&view, method),
                version: view.soap(),
            },
        }))
    }

    /// The content type of an envelope with a new payload; `None` if unchanged.
    fn content_type_around(&self, view: &View<'_>, version: soap::Version) -> Option<Vec<u8>> {
        let wanted =
            self.action.as_deref().filter(|_| version == soap::Version::V12 && matches!(view.way, Way::Request));
        if wanted.is_none() && view.is_utf8() {
            return None;
        }
        let action = wanted.or_else(|| soap::action(view.field("content-type"), None));
        let mut content_type = Vec::new();
        soap::write_content_type(&mut content_type, version, action);
        Some(content_type)
    }

    /// The content type of a new document; `None` if unchanged.
    fn content_type_of(&self, view: &View<'_>, method: Method) -> Option<Vec<u8>> {
        let output = self.stylesheet.output();
        let encoding = output.encoding().to_ascii_lowercase();
        let said = view.field("content-type").unwrap_or_default();
        let essence = said.split(';').next().unwrap_or_default().trim();
        if output.media_type.is_none() && method == Method::Xml && !essence.is_empty() {
            if let (Some(version), Some(_)) = (view.soap(), &self.action)
                && encoding == "utf-8"
            {
                return self.content_type_around(view, version);
            }
            // It was XML, and is XML of the same kind.
            let charset = view.charset().map_or(Cow::Borrowed("utf-8"), |charset| charset.to_ascii_lowercase().into());
            return (charset != encoding).then(|| with_charset(said, &encoding));
        }
        Some(format!("{}; charset={encoding}", output.media_type(method)).into_bytes())
    }
}

/// A content type with all its parameters and another charset.
fn with_charset(content_type: &str, charset: &str) -> Vec<u8> {
    let is_charset =
        |parameter: &&str| parameter.split('=').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("charset"));
    let kept: Vec<&str> = content_type.split(';').filter(|parameter| !is_charset(parameter)).collect();
    format!("{}; charset={charset}", kept.join(";").trim_end()).into_bytes()
}
