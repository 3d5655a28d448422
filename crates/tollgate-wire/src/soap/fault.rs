//! Faults (1.1, section 4.4; 1.2 part 1, section 5.4), written without a tree in between.
//!
//! It deliberately chooses no wording, and sends nothing.

use super::{BEHIND_PAYLOAD, BETWEEN_HEADERS_AND_PAYLOAD, NAMESPACE_V11, NAMESPACE_V12, Version};
use crate::escape;

/// The party at fault, or the subject of the fault. The names are those of 1.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The message is wrong: `Client` in 1.1.
    Sender,
    /// The message may be right, and could not be worked on: `Server` in 1.1.
    Receiver,
    /// A header that must be understood is not.
    MustUnderstand,
    /// The envelope is of another version.
    VersionMismatch,
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The party at fault.
    pub code: Code,
    /// The reason in English, for people.
    pub reason: &'a str,
    /// Further detail: elements, well-formed by themselves, which are copied as they are. 1.1 wants them where the
    /// payload could not be worked on, and nowhere else.
    pub detail: Option<&'a str>,
}

impl Code {
    /// Its name in that version, without a prefix.
    pub fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Code::Sender, Version::V11) => "Client",
            (Code::Sender, Version::V12) => "Sender",
            (Code::Receiver, Version::V11) => "Server",
            (Code::Receiver, Version::V12) => "Receiver",
            (Code::MustUnderstand, _) => "MustUnderstand",
            (Code::VersionMismatch, _) => "VersionMismatch",
        }
    }
}

/// Writes a message whose payload is the fault. One of a wrong version names those that are understood, where its version
/// of SOAP has a place for that (1.2 part 1, section 5.4.7).
pub fn write_fault(out: &mut Vec<u8>, version: Version, fault: &Fault<'_>) {
    begin(out, version, fault.code, fault.reason);
    if let Some(detail) = fault.detail {
        detailed(out, version, |out| out.extend_from_slice(detail.as_bytes()));
    }
    end(out);
}

/// Writes the message about a header that had to be understood, and was not; 1.2 also names it (part 1, section 5.4.8).
pub fn write_not_understood(out: &mut Vec<u8>, version: Version, namespace: &str, local: &str) {
    if version == Version::V12 {
        out.extend_from_slice(version.before_headers().as_bytes());
        out.extend_from_slice(b"<soap:NotUnderstood qname=\"not:");
        escape::xml_attribute(out, local.as_bytes());
        out.extend_from_slice(b"\" xmlns:not=\"");
        escape::xml_attribute(out, namespace.as_bytes());
        out.extend_from_slice(b"\"/>");
        out.extend_from_slice(BETWEEN_HEADERS_AND_PAYLOAD.as_bytes());
    } else {
        out.extend_from_slice(version.before_payload().as_bytes());
    }
    begin_element(out, version, Code::MustUnderstand);
    out.extend_from_slice(b"header {");
    escape::xml_text(out, namespace.as_bytes());
    out.push(b'}');
    escape::xml_text(out, local.as_bytes());
    out.extend_from_slice(b" had to be understood, and is not");
    end_reason(out, version);
    end(out);
}

/// Writes everything up to the end of the reason.
pub(crate) fn begin(out: &mut Vec<u8>, version: Version, code: Code, reason: &str) {
    if code == Code::VersionMismatch && version == Version::V12 {
        out.extend_from_slice(version.before_headers().as_bytes());
        out.extend_from_slice(b"<soap:Upgrade>");
        for namespace in [NAMESPACE_V12, NAMESPACE_V11] {
            out.extend_from_slice(b"<soap:SupportedEnvelope qname=\"its:Envelope\" xmlns:its=\"");
            out.extend_from_slice(namespace.as_bytes());
            out.extend_from_slice(b"\"/>");
        }
        out.extend_from_slice(b"</soap:Upgrade>");
        out.extend_from_slice(BETWEEN_HEADERS_AND_PAYLOAD.as_bytes());
    } else {
        out.extend_from_slice(version.before_payload().as_bytes());
    }
    begin_element(out, version, code);
    escape::xml_text(out, reason.as_bytes());
    end_reason(out, version);
}

/// Writes the further detail.
pub(crate) fn detailed(out: &mut Vec<u8>, version: Version, write: impl FnOnce(&mut Vec<u8>)) {
    let (open, close): (&[u8], &[u8]) = match version {
        Version::V11 => (b"<detail>", b"</detail>"),
        Version::V12 => (b"<soap:Detail>", b"</soap:Detail>"),
    };
    out.extend_from_slice(open);
    write(out);
    out.extend_from_slice(close);
}

/// Writes what is left of the message.
pub(crate) fn end(out: &mut Vec<u8>) {
    out.extend_from_slice(b"</soap:Fault>");
    out.extend_from_slice(BEHIND_PAYLOAD.as_bytes());
}

fn begin_element(out: &mut Vec<u8>, version: Version, code: Code) {
    let (before, behind): (&[u8], &[u8]) = match version {
        // Its own elements stand in no namespace.
        Version::V11 => (b"<soap:Fault><faultcode>soap:", b"</faultcode><faultstring>"),
        Version::V12 => (
            b"<soap:Fault><soap:Code><soap:Value>soap:",
            b"</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang=\"en\">",
        ),
    };
    out.extend_from_slice(before);
    out.extend_from_slice(code.name(version).as_bytes());
    out.extend_from_slice(behind);
}

fn end_reason(out: &mut Vec<u8>, version: Version) {
    out.extend_from_slice(match version {
        Version::V11 => b"</faultstring>",
        Version::V12 => b"</soap:Text></soap:Reason>",
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn written(version: Version, code: Code, reason: &str, detail: Option<&str>) -> String {
        let mut out = Vec::new();
        write_fault(&mut out, version, &Fault { code, reason, detail });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_fault_of_1_1_is_as_its_section_4_4_has_it() {
        let detail = Some("<e:x xmlns:e=\"urn:e\">1</e:x>");
        assert_snapshot!(written(Version::V11, Code::Sender, "a < b & \u{1}", detail), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:Client</faultcode><faultstring>a &lt; b &amp; �</faultstring><detail><e:x xmlns:e="urn:e">1</e:x></detail></soap:Fault></soap:Body></soap:Envelope>"#);
        assert_snapshot!(written(Version::V11, Code::Receiver, "later", None), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:Server</faultcode><faultstring>later</faultstring></soap:Fault></soap:Body></soap:Envelope>"#);
    }

    #[test]
    fn a_fault_of_1_2_is_as_its_section_5_4_has_it() {
        let detail = Some("<e:x xmlns:e=\"urn:e\">1</e:x>");
        assert_snapshot!(written(Version::V12, Code::Sender, "a < b & \u{1}", detail), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><soap:Fault><soap:Code><soap:Value>soap:Sender</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">a &lt; b &amp; �</soap:Text></soap:Reason><soap:Detail><e:x xmlns:e="urn:e">1</e:x></soap:Detail></soap:Fault></soap:Body></soap:Envelope>"#);
        assert_snapshot!(written(Version::V12, Code::Receiver, "later", None), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><soap:Fault><soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">later</soap:Text></soap:Reason></soap:Fault></soap:Body></soap:Envelope>"#);
    }

    #[test]
    fn who_speaks_another_version_is_told_which_are_understood() {
        assert_snapshot!(written(Version::V12, Code::VersionMismatch, "no", None), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Header><soap:Upgrade><soap:SupportedEnvelope qname="its:Envelope" xmlns:its="http://www.w3.org/2003/05/soap-envelope"/><soap:SupportedEnvelope qname="its:Envelope" xmlns:its="http://schemas.xmlsoap.org/soap/envelope/"/></soap:Upgrade></soap:Header><soap:Body><soap:Fault><soap:Code><soap:Value>soap:VersionMismatch</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">no</soap:Text></soap:Reason></soap:Fault></soap:Body></soap:Envelope>"#);
        assert_snapshot!(written(Version::V11, Code::VersionMismatch, "no", None), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:VersionMismatch</faultcode><faultstring>no</faultstring></soap:Fault></soap:Body></soap:Envelope>"#);
    }

    #[test]
    fn a_header_that_is_not_understood_is_named() {
        let told = |version| {
            let mut out = Vec::new();
            write_not_understood(&mut out, version, "urn:a&b", "Security");
            String::from_utf8(out).unwrap()
        };
        assert_snapshot!(told(Version::V11), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:MustUnderstand</faultcode><faultstring>header {urn:a&amp;b}Security had to be understood, and is not</faultstring></soap:Fault></soap:Body></soap:Envelope>"#);
        assert_snapshot!(told(Version::V12), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Header><soap:NotUnderstood qname="not:Security" xmlns:not="urn:a&amp;b"/></soap:Header><soap:Body><soap:Fault><soap:Code><soap:Value>soap:MustUnderstand</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">header {urn:a&amp;b}Security had to be understood, and is not</soap:Text></soap:Reason></soap:Fault></soap:Body></soap:Envelope>"#);
    }
}
