//! The description of a service (`?wsdl`, and the schemas that it imports): the addresses in it become those by which
//! the client reached us, so that its readers call through the gateway.
//!
//! They are found in the tree, and replaced in the text: all else stays as it was. An unreadable description passes
//! unchanged.

use std::borrow::Cow;
use std::ops::Range;

use tollgate_net::http1::{Method, RequestHead};
use tollgate_wire::escape;
use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::{Document, Options};

use super::message::{ClientOrigin, Passing};
use super::payload::write_from;
use super::way::Way;
use crate::error::Fault;
use crate::mediate::mediator::{Mediator, Need, Outcome, Touches};

/// Query options that ask for a description.
const QUERIES: [&str; 4] = ["wsdl", "singlewsdl", "wsdl2", "xsd"];

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const WSDL_SOAP_11: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
const WSDL_SOAP_12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
const WSDL_HTTP: &str = "http://schemas.xmlsoap.org/wsdl/http/";
const WSDL_20: &str = "http://www.w3.org/ns/wsdl";
const SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";

/// Rewrites descriptions for one route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Description {
    /// The route's path, without a slash at its end.
    path: Box<str>,
    /// The route's path at the backend.
    there: Box<str>,
}

/// Meaning of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Address of the service.
    Address,
    /// Address of another part of the description.
    Reference,
}

/// Attributes with addresses: namespace and name of the element, name of the attribute.
const ATTRIBUTES: [(&str, &str, &str, Meaning); 10] = [
    (WSDL_SOAP_11, "address", "location", Meaning::Address),
    (WSDL_SOAP_12, "address", "location", Meaning::Address),
    (WSDL_HTTP, "address", "location", Meaning::Address),
    (WSDL_20, "endpoint", "address", Meaning::Address),
    (WSDL, "import", "location", Meaning::Reference),
    (WSDL_20, "import", "location", Meaning::Reference),
    (WSDL_20, "include", "location", Meaning::Reference),
    (SCHEMA, "import", "schemaLocation", Meaning::Reference),
    (SCHEMA, "include", "schemaLocation", Meaning::Reference),
    (SCHEMA, "redefine", "schemaLocation", Meaning::Reference),
];

impl Description {
    /// Creates one for a route of this path, and its path at the backend.
    pub(super) fn new(path: &str, there: &str) -> Description {
        Description { path: path.trim_end_matches('/').into(), there: there.trim_end_matches('/').into() }
    }

    /// Whether a request asks for a description.
    pub(super) fn is_asked(request: &RequestHead) -> bool {
        let first = request.query().and_then(|query| query.split(['&', '=']).next()).unwrap_or_default();
        matches!(request.method(), Method::Get | Method::Head)
            && QUERIES.iter().any(|query| query.eq_ignore_ascii_case(first))
    }

    /// The new text of an attribute; `None` if unchanged.
    fn rewritten(&self, meaning: Meaning, value: &str, origin: ClientOrigin<'_>, asked: &str) -> Option<String> {
        let absolute = |path: &str| format!("{}://{}{path}", origin.scheme, origin.authority);
        let (scheme, rest) = match value.split_once(':') {
            Some((scheme, rest))
                if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
            {
                (Some(scheme), rest.strip_prefix("//").unwrap_or(rest))
            }
            _ => (None, value),
        };
        let path_of = |rest: &'_ str| rest.find(['/', '?']).map_or(String::new(), |at| rest[at..].to_owned());
        match (meaning, scheme) {
            (_, Some(scheme)) if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") => None,
            // A service is where it was asked for its description, unless its address says which part of it is meant.
            (Meaning::Address, Some(_)) => {
                Some(absolute(&self.here(&path_of(rest)).unwrap_or_else(|| asked.to_owned())))
            }
            (Meaning::Address, None) => Some(absolute(asked)),
            (Meaning::Reference, Some(_)) => self.here(&path_of(rest)).map(|path| absolute(&path)),
            (Meaning::Reference, None) if value.is_empty() || value.starts_with(['?', '#']) => None,
            (Meaning::Reference, None) if value.starts_with('/') => self.here(value),
            (Meaning::Reference, None) => {
                // Relative to the document, whose place at the backend is another one.
                let there = format!("{}{}", self.there, asked.strip_prefix(&*self.path).unwrap_or_default());
                let folder = there.rfind('/').map_or("/", |at| &there[..=at]);
                let target = format!("{folder}{}", value.strip_prefix("./").unwrap_or(value));
                (!target.contains("/../")).then(|| self.here(&target)).flatten()
            }
        }
    }

    /// Our path for a path of the backend, if there is one.
    fn here(&self, there: &str) -> Option<String> {
        let rest = there.strip_prefix(&*self.there)?;
        (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then(|| format!("{}{rest}", self.path))
    }

    /// The text with its addresses rewritten; `None` if unchanged.
    fn rewrite(&self, text: &str, document: &Document<'_>, origin: ClientOrigin<'_>, asked: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut written = 0;
        let elements = document.descendants(NodeId::ROOT).filter(|node| document.kind(*node) == NodeKind::Element);
        for element in elements {
            let (namespace, local) = (document.namespace_uri(element), document.local_name(element));
            let known = ATTRIBUTES.iter().find(|(uri, name, _, _)| *uri == namespace && *name == local);
            let Some((_, _, name, meaning)) = known else { continue };
            let attribute = document.attributes(element).find(|attribute| {
                document.local_name(*attribute) == *name && document.namespace_uri(*attribute).is_empty()
            });
            let (Some(attribute), Some(span)) = (attribute, document.source_span(element)) else { continue };
            let value = document.value(attribute);
            let Some(new) = self.rewritten(*meaning, value.trim(), origin, asked) else { continue };
            let Some(place) = value_span(text, span.start, name) else { continue };
            write_from(&mut out, text, written..place.start);
            escape::xml_attribute(&mut out, new.as_bytes());
            written = place.end;
        }
        (written > 0).then(|| {
            write_from(&mut out, text, written..text.len());
            out
        })
    }
}

impl Mediator for Description {
    fn need(&self) -> Need {
        Need::WholeBody
    }

    fn fields<'m>(&'m self, _: &mut dyn FnMut(Touches, &'m str)) {}

    fn mediate(&self, passing: &mut Passing<'_>) -> Result<Outcome, Fault> {
        let origin = passing.origin;
        let is_answer = matches!(passing.way, Way::Answer(head) if head.status() == 200);
        let (view, tools) = passing.split();
        if !is_answer || view.body.is_empty() || !view.may_be_xml() {
            return Ok(Outcome::Continue);
        }
        let Ok(text) = view.xml_text() else { return Ok(Outcome::Continue) };
        let limits = view.budget();
        let options = Options { budget: Some(&limits), ..Options::default() };
        let Ok(document) = tools.workspace.parse(&text, &options) else { return Ok(Outcome::Continue) };
        let rewritten = self.rewrite(&text, &document, origin, view.request.path());
        tools.workspace.recycle(document);
        let was_recoded = matches!(text, Cow::Owned(_)) || !view.is_utf8();
        if let Some(body) = rewritten {
            passing.memory.replace(body);
            if was_recoded {
                passing.memory.edits.set("content-type", b"text/xml; charset=utf-8");
            }
        }
        Ok(Outcome::Continue)
    }
}

/// Span of the value of an attribute without prefix, in the start tag at `start` of a well-formed text.
fn value_span(text: &str, start: usize, wanted: &str) -> Option<Range<usize>> {
    let mut at = start + text[start..].find([' ', '\t', '\r', '\n', '>', '/'])?;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let equals = at + text[at..].find(['=', '>'])?;
        let name = text.get(at..equals)?.trim_end();
        let behind = text[equals..].strip_prefix('=')?;
        let open = equals + 1 + behind.find(['"', '\''])?;
        let quote = text[open..].chars().next()?;
        let close = open + 1 + text[open + 1..].find(quote)?;
        if name == wanted {
            return Some(open + 1..close);
        }
        at = close + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediate::Sequence;
    use crate::mediate::testing::Message;

    fn rewritten(path: &str, there: &str, asked: &str, description: &str) -> String {
        let sequence = Sequence::new(vec![Box::new(Description::new(path, there))]);
        let message = Message::get(asked).with("Content-Type", "text/xml").with_bytes(description.as_bytes());
        message.answered(200).through_sequence(&sequence).body
    }

    #[test]
    fn addresses_become_those_by_which_the_client_reached_us() {
        let check = |element: &str, attribute: &str, expected: &str| {
            let of = |value: &str| {
                format!(
                    "<d xmlns:s='{WSDL_SOAP_11}' xmlns:t='{WSDL_SOAP_12}' xmlns:h='{WSDL_HTTP}' xmlns:w='{WSDL}' xmlns:x='{SCHEMA}'>\
                     <w:documentation>http://back:9/services/S</w:documentation>\
                     <{element} namespace = 'http://back:9/services/S'  {}='{value}'\n/></d>",
                    if element.starts_with("x:") { "schemaLocation" } else { "location" }
                )
            };
            let told = rewritten("/quote", "/services/S", "/quote?wsdl", &of(attribute));
            assert_eq!(told, of(expected), "{element} {attribute}");
        };
        for element in ["s:address", "t:address", "h:address"] {
            check(element, "http://back:9/services/S", "https://here.example/quote");
            check(element, "http://back:9/services/S.Port12?a=1&amp;b=2", "https://here.example/quote");
            check(element, "http://back:9/services/S/12?a=1&amp;b=2", "https://here.example/quote/12?a=1&amp;b=2");
            check(element, "https://other/elsewhere", "https://here.example/quote");
            check(element, "REPLACE_ME", "https://here.example/quote");
            check(element, "jms:queue", "jms:queue");
            check(element, "jms://queue", "jms://queue");
        }
        for element in ["w:import", "x:import", "x:include"] {
            check(element, "http://back:9/services/S?xsd=1", "https://here.example/quote?xsd=1");
            check(element, "http://www.w3.org/2001/xml.xsd", "http://www.w3.org/2001/xml.xsd");
            check(element, "/services/S?xsd=1", "/quote?xsd=1");
            check(element, "S?xsd=1", "/quote?xsd=1");
            check(element, "./S?xsd=1", "/quote?xsd=1");
            check(element, "other.xsd", "other.xsd");
            check(element, "../S?xsd=1", "../S?xsd=1");
            check(element, "?xsd=1", "?xsd=1");
        }
    }

    #[test]
    fn what_is_no_description_stays_as_it_is() {
        for text in ["<a/>", "<a>", "", "no XML", "<address location='http://back/'/>"] {
            assert_eq!(rewritten("/quote", "/quote", "/quote?wsdl", text), text);
        }
    }

    #[test]
    fn descriptions_are_asked_for_by_the_first_option() {
        let check = |target: &str, expected: bool| {
            let told = Message::get(target).passing(|passing| Description::is_asked(passing.request));
            assert_eq!(told, expected, "{target}");
        };
        for target in ["/q?wsdl", "/q?WSDL", "/q?xsd=xsd0", "/q?singleWsdl&x=y"] {
            check(target, true);
        }
        for target in ["/q", "/q?symbol=wsdl", "/wsdl"] {
            check(target, false);
        }
        assert!(!Message::post("/q?wsdl", "").passing(|passing| Description::is_asked(passing.request)));
    }
}
