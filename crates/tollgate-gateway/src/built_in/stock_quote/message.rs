//! A message to the stock quotes: its envelope, the headers that must be understood, and the requested operation.
//!
//! Names are read by their namespaces and never by prefixes. `SOAPAction` is ignored: the payload names the operation.

use std::borrow::Cow;

use tollgate_wire::soap::{ADDRESSING_NAMESPACE, Code, Version};
use tollgate_xml::Document;
use tollgate_xml::tree::{NodeId, NodeKind};

use crate::built_in::stock_quote::data::{NAMESPACE, SYMBOL_CHARACTERS_MAX};

/// Default address of an answer.
const ANONYMOUS: &str = "http://www.w3.org/2005/08/addressing/anonymous";

/// Operations of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    GetQuote,
    GetFullQuote,
    PlaceOrder,
}

/// Operation requested by a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QuoteRequest<'d> {
    pub(super) operation: Operation,
    pub(super) symbol: Cow<'d, str>,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message<'d> {
    /// Message id, if given by WS-Addressing.
    pub(super) id: Option<Cow<'d, str>>,
    pub(super) asked: QuoteRequest<'d>,
}

/// Reason why a message is not processed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal<'d> {
    Fault {
        code: Code,
        reason: Cow<'static, str>,
    },
    /// A header block must be understood, and is not.
    NotUnderstood {
        namespace: &'d str,
        local: &'d str,
    },
}

impl Operation {
    const ALL: [Operation; 3] = [Operation::GetQuote, Operation::GetFullQuote, Operation::PlaceOrder];

    /// The name of the element that requests it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::GetQuote => "getQuote",
            Operation::GetFullQuote => "getFullQuote",
            Operation::PlaceOrder => "placeOrder",
        }
    }
}

impl Refusal<'_> {
    /// The message is wrong.
    pub(super) fn of_sender(reason: impl Into<Cow<'static, str>>) -> Self {
        Refusal::Fault { code: Code::Sender, reason: reason.into() }
    }
}

impl<'d> Message<'d> {
    /// Parses a message that was declared as `version`.
    ///
    /// # Errors
    /// The reason why it is not processed.
    pub(super) fn read(document: &'d Document<'_>, version: Version) -> Result<Message<'d>, Refusal<'d>> {
        let envelope = document.document_element().filter(|root| document.local_name(*root) == "Envelope");
        let envelope = envelope.ok_or_else(|| Refusal::of_sender("expected an envelope of SOAP"))?;
        if Version::of_namespace(document.namespace_uri(envelope)) != Some(version) {
            let reason = match version {
                Version::V11 => "expected an envelope of SOAP 1.1, as text/xml says; 1.2 is application/soap+xml",
                Version::V12 => "expected an envelope of SOAP 1.2, as application/soap+xml says; 1.1 is text/xml",
            };
            return Err(Refusal::Fault { code: Code::VersionMismatch, reason: reason.into() });
        }
        let id = match child(document, envelope, version.namespace(), "Header") {
            Some(header) => headers(document, header, version)?,
            None => None,
        };
        let body = child(document, envelope, version.namespace(), "Body")
            .ok_or_else(|| Refusal::of_sender("the envelope has no body"))?;
        let payload = elements(document, body).next().ok_or_else(|| Refusal::of_sender("the body is empty"))?;
        Ok(Message { id, asked: asked(document, payload)? })
    }
}

/// Checks the header blocks; returns the message id.
fn headers<'d>(
    document: &'d Document<'_>,
    header: NodeId,
    version: Version,
) -> Result<Option<Cow<'d, str>>, Refusal<'d>> {
    let mut id = None;
    for block in elements(document, header) {
        let (namespace, local) = (document.namespace_uri(block), document.local_name(block));
        let role = attribute(document, block, version, version.role_attribute()).unwrap_or_default();
        if !version.role_is_receivers(role.trim()) {
            continue;
        }
        if namespace != ADDRESSING_NAMESPACE {
            let must = attribute(document, block, version, "mustUnderstand").unwrap_or_default();
            if matches!((must.trim(), version), ("1", _) | ("true", Version::V12)) {
                return Err(Refusal::NotUnderstood { namespace, local });
            }
            continue;
        }
        match local {
            "MessageID" => id = Some(trimmed(document.string_value(block))),
            "ReplyTo" | "FaultTo" => {
                let address = child(document, block, ADDRESSING_NAMESPACE, "Address");
                if address.is_some_and(|address| trimmed(document.string_value(address)) != ANONYMOUS) {
                    return Err(Refusal::of_sender("only who asks is answered: expected an anonymous address"));
                }
            }
            _ => {}
        }
    }
    Ok(id)
}

/// Reads the request from a payload.
fn asked<'d>(document: &'d Document<'_>, payload: NodeId) -> Result<QuoteRequest<'d>, Refusal<'d>> {
    let local = document.local_name(payload);
    let operation = Operation::ALL.into_iter().find(|operation| operation.name() == local);
    let operation = operation.filter(|_| document.namespace_uri(payload) == NAMESPACE).ok_or_else(|| {
        let known = "getQuote, getFullQuote and placeOrder";
        Refusal::of_sender(format!("expected {known} in the namespace {NAMESPACE}, found {local:.40}"))
    })?;
    let holder = match operation {
        Operation::GetQuote | Operation::GetFullQuote => "request",
        Operation::PlaceOrder => "order",
    };
    let arguments = child(document, payload, NAMESPACE, holder)
        .ok_or_else(|| Refusal::of_sender(format!("{} has no {holder}", operation.name())))?;
    let text =
        |name: &str| child(document, arguments, NAMESPACE, name).map(|node| trimmed(document.string_value(node)));
    let symbol = text("symbol").filter(|symbol| !symbol.is_empty());
    let symbol = symbol.ok_or_else(|| Refusal::of_sender(format!("the {holder} has no symbol")))?;
    if symbol.chars().count() > SYMBOL_CHARACTERS_MAX {
        return Err(Refusal::of_sender(format!("a symbol has at most {SYMBOL_CHARACTERS_MAX} characters")));
    }
    if operation == Operation::PlaceOrder {
        text("price").filter(|price| is_decimal(price)).ok_or_else(|| Refusal::of_sender("the order has no price"))?;
        let quantity = text("quantity").and_then(|quantity| quantity.parse::<i32>().ok());
        quantity.ok_or_else(|| Refusal::of_sender("the order has no quantity"))?;
    }
    Ok(QuoteRequest { operation, symbol })
}

/// Whether a text is of the type `decimal` of XML Schema.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    whole.len() + fraction.len() > 0 && whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
}

fn elements(document: &Document<'_>, parent: NodeId) -> impl Iterator<Item = NodeId> {
    document.children(parent).filter(|node| document.kind(*node) == NodeKind::Element)
}

fn child(document: &Document<'_>, parent: NodeId, namespace: &str, local: &str) -> Option<NodeId> {
    let is_it = |node: &NodeId| document.local_name(*node) == local && document.namespace_uri(*node) == namespace;
    elements(document, parent).find(is_it)
}

/// The value of an attribute of SOAP's own.
fn attribute<'d>(document: &'d Document<'_>, element: NodeId, version: Version, local: &str) -> Option<&'d str> {
    let is_it =
        |node: &NodeId| document.local_name(*node) == local && document.namespace_uri(*node) == version.namespace();
    document.attributes(element).find(is_it).map(|attribute| document.value(attribute))
}

/// The text without the white space around it.
fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
