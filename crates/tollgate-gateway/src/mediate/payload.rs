//! The payload of a SOAP message: found in its tree, and replaced in its text. The envelope stays byte for byte, with
//! all its headers.

use std::ops::Range;

use tollgate_wire::soap;
use tollgate_xml::Document;
use tollgate_xml::tree::{NodeId, NodeKind};

/// Location of a message's payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payload {
    /// The first element in the body.
    pub(super) element: NodeId,
    /// Its bytes in the source.
    pub(super) span: Range<usize>,
    /// The version of the envelope.
    pub(super) version: soap::Version,
    /// Whether it is a fault.
    pub(super) is_fault: bool,
    /// Meaning of names without a prefix in the body.
    default_namespace: DefaultNamespace,
}

/// Meaning of a name without a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefaultNamespace {
    /// No namespace.
    None,
    /// Some namespace.
    Some,
}

/// The XML declaration of our texts.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

impl Payload {
    /// Finds the payload; `None` if the body is empty.
    ///
    /// # Errors
    /// The reason why it is no SOAP message.
    pub(super) fn of(document: &Document<'_>) -> Result<Option<Payload>, &'static str> {
        let elements = |parent| document.children(parent).filter(|node| document.kind(*node) == NodeKind::Element);
        let envelope = document.document_element().filter(|root| document.local_name(*root) == "Envelope");
        let envelope = envelope.ok_or("expected an envelope of SOAP")?;
        let namespace = document.namespace_uri(envelope);
        let version = soap::Version::of_namespace(namespace).ok_or("expected an envelope of SOAP 1.1 or 1.2")?;
        let is_soap =
            |node, local: &str| document.local_name(node) == local && document.namespace_uri(node) == namespace;
        let body = elements(envelope).find(|node| is_soap(*node, "Body")).ok_or("expected a body in the envelope")?;
        let Some(element) = elements(body).next() else { return Ok(None) };
        let default_namespace = match document.lookup(body, "") {
            None | Some("") => DefaultNamespace::None,
            Some(_) => DefaultNamespace::Some,
        };
        Ok(document.source_span(element).map(|span| Payload {
            element,
            span,
            version,
            is_fault: is_soap(element, "Fault"),
            default_namespace,
        }))
    }

    /// Writes the message of `text` with `result`, a document of its own, in the payload's place.
    pub(super) fn replace(&self, out: &mut Vec<u8>, text: &str, result: &[u8]) {
        write_from(out, text, 0..self.span.start);
        let result = without_declaration(result);
        match (self.default_namespace, start_name_end(result)) {
            // A name without prefix in the result is in no namespace, and must stay so in the body.
            (DefaultNamespace::Some, Some(end)) if !declares_default(result) => {
                out.extend_from_slice(&result[..end]);
                out.extend_from_slice(b" xmlns=\"\"");
                out.extend_from_slice(&result[end..]);
            }
            _ => out.extend_from_slice(result),
        }
        out.extend_from_slice(&text.as_bytes()[self.span.end..]);
    }
}

/// Writes a part of a document's text as UTF-8: a declaration of another encoding at its beginning is replaced.
pub(super) fn write_from(out: &mut Vec<u8>, text: &str, part: Range<usize>) {
    let declared = if part.start == 0 { declaration_length(text) } else { None };
    match declared.filter(|length| *length <= part.end && names_another_encoding(&text[..*length])) {
        Some(length) => {
            out.extend_from_slice(DECLARATION.as_bytes());
            out.extend_from_slice(&text.as_bytes()[length..part.end]);
        }
        None => out.extend_from_slice(&text.as_bytes()[part]),
    }
}

/// The length of an XML declaration at the beginning, with a byte order mark.
fn declaration_length(text: &str) -> Option<usize> {
    let unmarked = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let marked = text.len() - unmarked.len();
    (unmarked.starts_with("<?xml") && !unmarked.starts_with("<?xml-"))
        .then(|| unmarked.find("?>"))?
        .map(|at| marked + at + 2)
}

fn names_another_encoding(declaration: &str) -> bool {
    let lower = declaration.to_ascii_lowercase();
    lower.contains("encoding") && !lower.contains("utf-8")
}

/// The result of a transformation without its declaration.
fn without_declaration(result: &[u8]) -> &[u8] {
    if !result.starts_with(b"<?xml ") {
        return result;
    }
    let end = result.windows(2).position(|pair| pair == b"?>").map_or(0, |at| at + 2);
    result[end..].strip_prefix(b"\n").unwrap_or(&result[end..])
}

/// End of the name in the first start tag.
fn start_name_end(result: &[u8]) -> Option<usize> {
    let begin = first_tag(result)?;
    let ends = |byte: &u8| matches!(byte, b' ' | b'>' | b'/' | b'\n' | b'\t' | b'\r');
    result[begin..].iter().position(ends).map(|length| begin + length)
}

/// Whether the first start tag declares a default namespace.
fn declares_default(result: &[u8]) -> bool {
    let Some(begin) = first_tag(result) else { return false };
    let mut quote = None;
    let end = result[begin..].iter().position(|byte| match (quote, byte) {
        (None, b'>') => true,
        (None, b'"' | b'\'') => {
            quote = Some(*byte);
            false
        }
        (Some(open), byte) if open == *byte => {
            quote = None;
            false
        }
        _ => false,
    });
    let tag = &result[begin..end.map_or(result.len(), |length| begin + length)];
    tag.windows(b" xmlns=".len()).any(|bytes| bytes == b" xmlns=")
}

/// Begin of the first start tag: not a comment, and not an instruction.
fn first_tag(result: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += result[at..].iter().position(|byte| *byte == b'<')?;
        let rest = &result[at..];
        let skipped: &[u8] = match () {
            () if rest.starts_with(b"<!--") => b"-->",
            () if rest.starts_with(b"<?") => b"?>",
            () => return Some(at),
        };
        at += rest.windows(skipped.len()).position(|bytes| bytes == skipped)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &str, result: &str, expected: &str) {
        let document = Document::parse(message).unwrap();
        let payload = Payload::of(&document).unwrap().unwrap();
        let mut out = Vec::new();
        payload.replace(&mut out, message, result.as_bytes());
        let told = String::from_utf8(out).unwrap();
        assert_eq!(told, expected);
        Document::parse(&told).unwrap();
    }

    #[test]
    fn a_result_stands_in_the_payloads_place_and_all_else_stays() {
        let soap = "http://schemas.xmlsoap.org/soap/envelope/";
        let message = |payload: &str| {
            format!(
                "<s:Envelope xmlns:s='{soap}'> <s:Header><a xmlns='u'>&lt;</a></s:Header><s:Body>\n{payload} </s:Body><!-- c --></s:Envelope>"
            )
        };
        check(&message("<p><q/></p>"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<r>1</r>", &message("<r>1</r>"));
        check(&message("<p/>"), "<r/>", &message("<r/>"));
        check(&message("<p/><second/>"), "", &message("<second/>"));
        let other = format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", message("<p/>"));
        check(&other, "<r>é</r>", &format!("{DECLARATION}{}", message("<r>é</r>")));
        let usual = format!("<?xml version='1.0' encoding='utf-8'?>\n{}", message("<p/>"));
        check(&usual, "<r/>", &usual.replace("<p/>", "<r/>"));
    }

    #[test]
    fn names_without_a_prefix_do_not_fall_into_the_envelopes_namespace() {
        let soap = "http://www.w3.org/2003/05/soap-envelope";
        let message = |payload: &str| format!("<Envelope xmlns='{soap}'><Body>{payload}</Body></Envelope>");
        for (result, expected) in [
            ("<r a='>'><t/></r>", "<r xmlns=\"\" a='>'><t/></r>"),
            ("<r/>", "<r xmlns=\"\"/>"),
            ("<r xmlns='u'/>", "<r xmlns='u'/>"),
            ("<!-- <x> --><p:r xmlns:p='u'><t/></p:r>", "<!-- <x> --><p:r xmlns=\"\" xmlns:p='u'><t/></p:r>"),
        ] {
            check(&message("<p xmlns=''/>"), result, &message(expected));
        }
    }

    #[test]
    fn what_is_no_message_of_soap_is_told_so() {
        for (text, expected) in [
            ("<a/>", "expected an envelope of SOAP"),
            ("<Envelope/>", "expected an envelope of SOAP 1.1 or 1.2"),
            ("<Envelope xmlns='http://www.w3.org/2003/05/soap-envelope'/>", "expected a body in the envelope"),
        ] {
            assert_eq!(Payload::of(&Document::parse(text).unwrap()), Err(expected));
        }
        let empty = "<Envelope xmlns='http://www.w3.org/2003/05/soap-envelope'><Body> </Body></Envelope>";
        assert_eq!(Payload::of(&Document::parse(empty).unwrap()), Ok(None));
    }
}
