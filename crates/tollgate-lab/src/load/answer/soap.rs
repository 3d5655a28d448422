//! SOAP as a load client uses it: a payload in an envelope, the header fields of its version, and faults in answers.
//!
//! Namespaces and frames come from `tollgate-wire`. It does not judge the rest of an envelope.

pub use tollgate_wire::soap::Version;
use tollgate_wire::soap::{BEHIND_PAYLOAD, write_content_type};
use tollgate_xml::pull::{Event, PullReader};

use super::content::{contains, find_in, readable};
use super::failure::{ErrorClass, Failure};

/// Characters of a fault's words that are kept.
const WORDS_LENGTH_MAX: usize = 160;

/// Wraps a payload in an envelope, unless it has one already. Anything before the first element of a bare payload (an
/// XML declaration) is left out.
pub fn enveloped(payload: &[u8], version: Version) -> Vec<u8> {
    if version_of(payload).is_some() {
        return payload.to_vec();
    }
    let declared = payload.strip_prefix(b"<?xml").and_then(|rest| rest.windows(2).position(|end| end == b"?>"));
    let payload = declared.map_or(payload, |end| &payload[b"<?xml".len() + end + 2..]).trim_ascii();
    [version.before_payload().as_bytes(), payload, BEHIND_PAYLOAD.as_bytes()].concat()
}

/// Returns the SOAP version of a message that has an envelope already.
pub fn version_of(message: &[u8]) -> Option<Version> {
    let mut reader = PullReader::new(readable(message), 1).passing_document_type();
    // Nothing but an element can come first.
    match reader.event().ok()?? {
        Event::Begin(tag) if tag.name() == "Envelope" => Version::of_namespace(&reader.namespace()?),
        _ => None,
    }
}

/// Returns the header fields of a message for `action`.
pub fn fields(version: Version, action: &str) -> Vec<(String, String)> {
    let mut content_type = Vec::new();
    write_content_type(&mut content_type, version, Some(action));
    let mut fields = vec![("Content-Type".to_owned(), String::from_utf8_lossy(&content_type).into_owned())];
    if version == Version::V11 {
        fields.push(("SOAPAction".to_owned(), format!("\"{action}\"")));
    }
    fields
}

/// Accepts an envelope without a fault, or an empty answer as of a one-way operation.
///
/// # Errors
/// No envelope, or the fault's message.
pub(crate) fn judge(document: &[u8]) -> Result<(), Failure> {
    if document.is_empty() {
        return Ok(());
    }
    if version_of(document).is_none() {
        return Err(Failure::content("the answer is no envelope of SOAP"));
    }
    refuse_fault(document)
}

/// Refuses an answer that is a fault.
///
/// # Errors
/// The fault's message, or invalid XML before a fault is found.
pub(crate) fn refuse_fault(document: &[u8]) -> Result<(), Failure> {
    // Nothing is a fault without this name in it, and few other answers have it.
    if !contains(document, b"Fault") {
        return Ok(());
    }
    match fault(document).map_err(Failure::content)? {
        Some(words) => {
            Err(Failure::new(ErrorClass::SoapFault, words.chars().take(WORDS_LENGTH_MAX).collect::<String>()))
        }
        None => Ok(()),
    }
}

/// Returns the message of a fault in an envelope: its `faultstring` (1.1), or the first `Text` of its `Reason` (1.2).
fn fault(document: &[u8]) -> Result<Option<String>, String> {
    // How many elements are open where the fault's words stand.
    let (mut is_in_fault, mut words_depth, mut words) = (false, None, String::new());
    find_in(document, |reader, event| {
        let depth = reader.depth();
        match event {
            Event::Begin(tag) => {
                if depth == 3 && tag.name() == "Fault" {
                    is_in_fault |= reader.namespace().is_some_and(|of| Version::of_namespace(&of).is_some());
                }
                if is_in_fault && words_depth.is_none() && matches!(tag.name(), "faultstring" | "Text") {
                    words_depth = Some(depth);
                }
            }
            Event::Text(text) if words_depth.is_some() => words.push_str(&text),
            Event::Text(_) => {}
            Event::End => {
                if words_depth == Some(depth + 1) {
                    if !words.trim().is_empty() {
                        return Some(words.trim().to_owned());
                    }
                    words_depth = None;
                }
                if is_in_fault && depth == 2 {
                    return Some("a fault without words".to_owned());
                }
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_found_wherever_its_prefixes_come_from() {
        let check = |version: Version, payload: &str, expected: Result<(), &str>| {
            let envelope = String::from_utf8(enveloped(payload.as_bytes(), version)).unwrap();
            let found = judge(envelope.as_bytes()).map_err(|failure| failure.text);
            assert_eq!(found, expected.map_err(str::to_owned), "{envelope}");
        };
        let of_11 =
            "<soap:Fault><faultcode>soap:Server</faultcode><faultstring> no such symbol </faultstring></soap:Fault>";
        check(Version::V11, of_11, Err("no such symbol"));
        let of_12 =
            "<soap:Fault><soap:Code/><soap:Reason><soap:Text xml:lang='en'>busy</soap:Text></soap:Reason></soap:Fault>";
        check(Version::V12, of_12, Err("busy"));
        check(
            Version::V11,
            "<f:Fault xmlns:f='http://schemas.xmlsoap.org/soap/envelope/'/>",
            Err("a fault without words"),
        );
        check(Version::V11, "<soap:Fault><faultcode>x</faultcode></soap:Fault>", Err("a fault without words"));
        check(Version::V11, "<quote>1</quote>", Ok(()));
        check(Version::V11, "<Fault xmlns='urn:geology'>deep</Fault>", Ok(()));
        check(Version::V11, "<a><soap:Fault/></a>", Ok(()));
    }

    #[test]
    fn what_is_in_no_envelope_is_not_the_answer_of_an_operation() {
        let check = |document: &str, expected: bool| {
            assert_eq!(judge(document.as_bytes()).is_ok(), expected, "{document}");
            assert_eq!(refuse_fault(document.as_bytes()), Ok(()), "{document}");
        };
        check("", true);
        check("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body/></e:Envelope>", true);
        check("<html>We are down for maintenance</html>", false);
        check("down", false);
        check("<Envelope xmlns='urn:letters'/>", false);
    }

    #[test]
    fn a_fault_behind_what_is_no_xml_is_not_taken_for_an_answer() {
        let check = |payload: &str, class: ErrorClass, expected: &str| {
            let envelope = enveloped(payload.as_bytes(), Version::V11);
            let failure = judge(&envelope).unwrap_err();
            assert_eq!(failure.class, class, "{payload}");
            assert!(failure.text.starts_with(expected), "{}", failure.text);
        };
        let fault = "<soap:Fault><faultstring>no such symbol</faultstring></soap:Fault>";
        check(&format!("<a b=1/>{fault}"), ErrorClass::Content, "the answer is no XML: ");
        check(&format!("{fault}<a b=1/>"), ErrorClass::SoapFault, "no such symbol");
    }

    #[test]
    fn a_payload_gets_one_envelope() {
        let once = enveloped(b"<?xml version=\"1.0\"?>\n<q/>\n", Version::V12);
        let expected = format!("{}<q/>{BEHIND_PAYLOAD}", Version::V12.before_payload());
        assert_eq!(String::from_utf8(once.clone()).unwrap(), expected);
        assert_eq!(enveloped(&once, Version::V11), once);
        assert_eq!((version_of(&once), version_of(b"<Envelope/>"), version_of(b"")), (Some(Version::V12), None, None));
    }

    #[test]
    fn each_version_says_its_action_in_its_own_place() {
        let check = |version, expected: &[(&str, &str)]| {
            let expected: Vec<(String, String)> =
                expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(fields(version, "urn:a"), expected);
        };
        check(Version::V11, &[("Content-Type", "text/xml; charset=utf-8"), ("SOAPAction", "\"urn:a\"")]);
        check(Version::V12, &[("Content-Type", "application/soap+xml; charset=utf-8; action=\"urn:a\"")]);
    }
}
