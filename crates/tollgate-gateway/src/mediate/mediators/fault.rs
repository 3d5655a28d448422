//! `fault`: the client gets a SOAP fault, in the version that it uses.

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_wire::soap;
use tollgate_xml::Document;
use toml::Spanned;

use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};
use crate::mediate::message::Passing;
use crate::mediate::reading::{MediatorKind, MediatorReader, Value};

pub(super) const KIND: MediatorKind =
    MediatorKind { name: "fault", make, schema: |generator| generator.subschema_for::<Table>() };

/// Answers the client with a fault of SOAP.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Fault")]
struct Table {
    /// The fault.
    fault: FaultTable,
}

/// A fault.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FaultAnswer")]
struct FaultTable {
    /// Side at fault.
    #[serde(default)]
    code: Code,
    /// Reason, for people.
    reason: String,
    /// Further details: elements of XML.
    #[schemars(with = "Option<String>")]
    detail: Option<Spanned<String>>,
    /// The status; absent: the SOAP version's status for the code.
    #[schemars(with = "Option<u16>", range(min = 400, max = 599))]
    status: Option<Spanned<u16>>,
}

/// Side at fault.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FaultCode")]
enum Code {
    /// The sender.
    Sender,
    /// The receiver.
    #[default]
    Receiver,
}

#[derive(Debug)]
struct SoapFault {
    code: soap::Code,
    reason: Box<str>,
    detail: Option<Box<str>>,
    status: Option<u16>,
}

fn make(table: Value<'_>, reading: &MediatorReader<'_>) -> Result<Box<dyn Mediator>, ConfigError> {
    let Table { fault: FaultTable { code, reason, detail, status } } = reading.table(table)?;
    if let Some(status) = status.as_ref().filter(|status| !(400..=599).contains(status.as_ref())) {
        return Err(reading.wrong(status.span(), "expected a status from 400 to 599"));
    }
    if let Some(detail) = &detail
        && let Err(error) = Document::parse(&format!("<detail>{}</detail>", detail.as_ref()))
    {
        return Err(reading.wrong(detail.span(), &format!("expected elements of XML: {error}")));
    }
    let code = match code {
        Code::Sender => soap::Code::Sender,
        Code::Receiver => soap::Code::Receiver,
    };
    Ok(Box::new(SoapFault {
        code,
        reason: reason.into(),
        detail: detail.map(|detail| detail.into_inner().into()),
        status: status.map(Spanned::into_inner),
    }))
}

impl Mediator for SoapFault {
    fn need(&self) -> Need {
        Need::Head
    }

    fn fields<'m>(&'m self, note: &mut dyn FnMut(Touches, &'m str)) {
        note(Touches::Reads, "content-type");
    }

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let version = passing.view().client_soap();
        let fault = soap::Fault { code: self.code, reason: &self.reason, detail: self.detail.as_deref() };
        let content_type = Some(version.content_type().as_bytes());
        passing.memory.respond(content_type, |body| soap::write_fault(body, version, &fault));
        Ok(Outcome::Respond { status: self.status.unwrap_or_else(|| version.status(self.code)) })
    }
}
