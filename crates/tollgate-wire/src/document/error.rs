//! Errors in each format: OData V2 and V4, problem details (RFC 9457) for plain REST, and faults of SOAP.
//!
//! It deliberately does not choose status codes or wording; those come with the error.

use crate::escape;
use crate::format::Format;
use crate::number::write_integer;
use crate::soap::{self, fault};
use crate::syntax::tag;

/// The content of an error for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorBody<'a> {
    /// The status of the answer; problem details repeat it.
    pub status: u16,
    /// The status's own phrase: the title of a problem of type `about:blank` (RFC 9457, section 4.2.1).
    pub title: &'a str,
    /// A word for programs, such as `UnknownProperty`.
    pub code: &'a str,
    /// A sentence for people.
    pub message: &'a str,
    /// The subject of the error, such as `$filter` or a property; in V4 and problem details only.
    pub target: Option<&'a str>,
    /// More about it: places, hints. V4 and problem details show them; V2 has no place for them.
    pub details: &'a [ErrorDetail<'a>],
}

/// One more thing about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorDetail<'a> {
    /// A word for programs.
    pub code: &'a str,
    /// A sentence for people.
    pub message: &'a str,
    /// The subject of this detail.
    pub target: Option<&'a str>,
}

const METADATA_NAMESPACE: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";

/// Writes the error as a document of the format.
pub fn write(out: &mut Vec<u8>, format: Format, error: &ErrorBody<'_>) {
    match format {
        Format::V2Atom => write_v2_xml(out, error),
        Format::V2Json => write_v2_json(out, error),
        Format::V4Json { .. } => write_v4_json(out, error),
        Format::RestJson => write_problem_json(out, error),
        Format::RestXml { .. } => write_problem_xml(out, error),
    }
}

/// Namespace of the element in the detail of a fault that describes a gateway error to a program.
const DETAIL_NAMESPACE: &str = "urn:tollgate:error";

/// Writes the error as a message of SOAP: a fault of the sender below status 500, else of the receiver. Its detail
/// contains the code, the target and the status.
pub fn write_soap(out: &mut Vec<u8>, version: soap::Version, error: &ErrorBody<'_>) {
    let code = if error.status < 500 { soap::Code::Sender } else { soap::Code::Receiver };
    fault::begin(out, version, code, error.message);
    fault::detailed(out, version, |out| {
        tag::open(out, "error", &[("xmlns", DETAIL_NAMESPACE)]);
        tag::text_element(out, "code", error.code);
        tag::open(out, "status", &[]);
        write_integer(out, i64::from(error.status));
        tag::close(out, "status");
        if let Some(target) = error.target {
            tag::text_element(out, "target", target);
        }
        tag::close(out, "error");
    });
    fault::end(out);
}

fn write_v2_xml(out: &mut Vec<u8>, error: &ErrorBody<'_>) {
    out.extend_from_slice(tag::DECLARATION.as_bytes());
    tag::open(out, "error", &[("xmlns", METADATA_NAMESPACE)]);
    tag::text_element(out, "code", error.code);
    tag::open(out, "message", &[("xml:lang", "en")]);
    escape::xml_text(out, error.message.as_bytes());
    tag::close(out, "message");
    tag::close(out, "error");
}

fn write_v2_json(out: &mut Vec<u8>, error: &ErrorBody<'_>) {
    out.extend_from_slice(b"{\"error\":{\"code\":");
    json_string(out, error.code);
    out.extend_from_slice(b",\"message\":{\"lang\":\"en\",\"value\":");
    json_string(out, error.message);
    out.extend_from_slice(b"}}}");
}

fn write_v4_json(out: &mut Vec<u8>, error: &ErrorBody<'_>) {
    out.extend_from_slice(b"{\"error\":");
    let ErrorBody { code, message, target, .. } = *error;
    write_v4_members(out, &ErrorDetail { code, message, target });
    write_details(out, error.details);
    out.extend_from_slice(b"}}");
}

/// An error or detail without its closing brace.
fn write_v4_members(out: &mut Vec<u8>, detail: &ErrorDetail<'_>) {
    out.extend_from_slice(b"{\"code\":");
    json_string(out, detail.code);
    out.extend_from_slice(b",\"message\":");
    json_string(out, detail.message);
    if let Some(target) = detail.target {
        out.extend_from_slice(b",\"target\":");
        json_string(out, target);
    }
}

fn write_details(out: &mut Vec<u8>, details: &[ErrorDetail<'_>]) {
    for (position, detail) in details.iter().enumerate() {
        out.extend_from_slice(if position == 0 { b",\"details\":[".as_slice() } else { b",".as_slice() });
        write_v4_members(out, detail);
        out.push(b'}');
    }
    if !details.is_empty() {
        out.push(b']');
    }
}

fn write_problem_json(out: &mut Vec<u8>, error: &ErrorBody<'_>) {
    out.extend_from_slice(b"{\"type\":\"about:blank\",\"title\":");
    json_string(out, error.title);
    out.extend_from_slice(b",\"status\":");
    write_integer(out, i64::from(error.status));
    out.extend_from_slice(b",\"detail\":");
    json_string(out, error.message);
    out.extend_from_slice(b",\"code\":");
    json_string(out, error.code);
    if let Some(target) = error.target {
        out.extend_from_slice(b",\"target\":");
        json_string(out, target);
    }
    write_details(out, error.details);
    out.push(b'}');
}

fn write_problem_xml(out: &mut Vec<u8>, error: &ErrorBody<'_>) {
    out.extend_from_slice(tag::DECLARATION.as_bytes());
    tag::open(out, "problem", &[("xmlns", "urn:ietf:rfc:7807")]);
    tag::text_element(out, "type", "about:blank");
    tag::text_element(out, "title", error.title);
    tag::open(out, "status", &[]);
    write_integer(out, i64::from(error.status));
    tag::close(out, "status");
    tag::text_element(out, "detail", error.message);
    tag::text_element(out, "code", error.code);
    if let Some(target) = error.target {
        tag::text_element(out, "target", target);
    }
    tag::close(out, "problem");
}

fn json_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape::json_text(out, text.as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Ieee754, Metadata, Padding, Release};
    use insta::assert_snapshot;

    fn written(format: Format, details: &[ErrorDetail<'_>], target: Option<&str>) -> String {
        let error = ErrorBody {
            status: 404,
            title: "Not Found",
            code: "UnknownProperty",
            message: "no property \"PRIZE\" in <Flight>",
            target,
            details,
        };
        let mut out = Vec::new();
        write(&mut out, format, &error);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn v2_tells_code_and_message() {
        assert_snapshot!(written(Format::V2Atom, &[], None), @r#"<?xml version="1.0" encoding="utf-8"?><error xmlns="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><code>UnknownProperty</code><message xml:lang="en">no property "PRIZE" in &lt;Flight&gt;</message></error>"#);
        assert_snapshot!(written(Format::V2Json, &[], Some("$filter")), @r#"{"error":{"code":"UnknownProperty","message":{"lang":"en","value":"no property \"PRIZE\" in <Flight>"}}}"#);
    }

    #[test]
    fn v4_tells_target_and_details_too() {
        let v4 = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
        assert_snapshot!(written(v4, &[], None), @r#"{"error":{"code":"UnknownProperty","message":"no property \"PRIZE\" in <Flight>"}}"#);
        let details = [
            ErrorDetail { code: "Hint", message: "did you mean 'PRICE'?", target: None },
            ErrorDetail { code: "Place", message: "column 3", target: Some("$filter") },
        ];
        assert_snapshot!(written(v4, &details, Some("$filter")), @r#"{"error":{"code":"UnknownProperty","message":"no property \"PRIZE\" in <Flight>","target":"$filter","details":[{"code":"Hint","message":"did you mean 'PRICE'?"},{"code":"Place","message":"column 3","target":"$filter"}]}}"#);
    }

    #[test]
    fn plain_rest_tells_problem_details() {
        assert_snapshot!(written(Format::RestJson, &[], Some("fldate")), @r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no property \"PRIZE\" in <Flight>","code":"UnknownProperty","target":"fldate"}"#);
        assert_snapshot!(written(Format::RestXml { padding: Padding::Without }, &[], None), @r#"<?xml version="1.0" encoding="utf-8"?><problem xmlns="urn:ietf:rfc:7807"><type>about:blank</type><title>Not Found</title><status>404</status><detail>no property "PRIZE" in &lt;Flight&gt;</detail><code>UnknownProperty</code></problem>"#);
    }

    #[test]
    fn soap_tells_a_fault_with_its_code_in_the_detail() {
        let fault = |version, status| {
            let message = "no property \"PRIZE\" in <Flight>";
            let error =
                ErrorBody { status, title: "", code: "UnknownProperty", message, target: Some("a&b"), details: &[] };
            let mut out = Vec::new();
            write_soap(&mut out, version, &error);
            String::from_utf8(out).unwrap()
        };
        assert_snapshot!(fault(soap::Version::V11, 404), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><soap:Fault><faultcode>soap:Client</faultcode><faultstring>no property "PRIZE" in &lt;Flight&gt;</faultstring><detail><error xmlns="urn:tollgate:error"><code>UnknownProperty</code><status>404</status><target>a&amp;b</target></error></detail></soap:Fault></soap:Body></soap:Envelope>"#);
        assert_snapshot!(fault(soap::Version::V12, 503), @r#"<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><soap:Fault><soap:Code><soap:Value>soap:Receiver</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">no property "PRIZE" in &lt;Flight&gt;</soap:Text></soap:Reason><soap:Detail><error xmlns="urn:tollgate:error"><code>UnknownProperty</code><status>503</status><target>a&amp;b</target></error></soap:Detail></soap:Fault></soap:Body></soap:Envelope>"#);
    }
}
