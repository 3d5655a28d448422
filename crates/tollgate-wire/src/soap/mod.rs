//! SOAP 1.1 and 1.2 over HTTP: versions with their namespaces, content types, the action, envelopes and faults.
//!
//! It deliberately reads no message: the content of an envelope is read from a tree, which is another crate's.

mod content_type;
pub(crate) mod fault;

pub use self::content_type::{action, write_content_type};
pub use self::fault::{Code, Fault, write_fault, write_not_understood};

/// A version of SOAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// SOAP 1.1, the W3C's note of 2000: what most services speak.
    V11,
    /// SOAP 1.2, the W3C's recommendation of 2003, second edition 2007.
    V12,
}

/// The namespace of envelopes of SOAP 1.1.
pub const NAMESPACE_V11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
/// The namespace of envelopes of SOAP 1.2.
pub const NAMESPACE_V12: &str = "http://www.w3.org/2003/05/soap-envelope";
/// The namespace of the headers of WS-Addressing 1.0.
pub const ADDRESSING_NAMESPACE: &str = "http://www.w3.org/2005/08/addressing";

impl Version {
    /// Both, the older first.
    pub const ALL: [Version; 2] = [Version::V11, Version::V12];

    /// The version that a `Content-Type` announces: `text/xml` is 1.1, `application/soap+xml` is 1.2; `None` for all
    /// others, such as messages with attachments.
    ///
    /// ```
    /// use tollgate_wire::soap::Version;
    /// assert_eq!(Version::of_content_type("Text/XML; charset=utf-8"), Some(Version::V11));
    /// assert_eq!(Version::of_content_type("application/soap+xml;action=\"urn:a\""), Some(Version::V12));
    /// assert_eq!(Version::of_content_type("application/json"), None);
    /// ```
    pub fn of_content_type(content_type: &str) -> Option<Version> {
        content_type::version(content_type)
    }

    /// The version whose envelopes have this namespace.
    pub fn of_namespace(namespace: &str) -> Option<Version> {
        Version::ALL.into_iter().find(|version| version.namespace() == namespace)
    }

    /// The namespace of its envelopes.
    pub fn namespace(self) -> &'static str {
        match self {
            Version::V11 => NAMESPACE_V11,
            Version::V12 => NAMESPACE_V12,
        }
    }

    /// The `Content-Type` of its messages; in 1.2 without an action, which an answer needs none of.
    pub fn content_type(self) -> &'static str {
        match self {
            Version::V11 => "text/xml; charset=utf-8",
            Version::V12 => "application/soap+xml; charset=utf-8",
        }
    }

    /// The name of the attribute that says whom a header is for: `actor` in 1.1, `role` in 1.2.
    pub fn role_attribute(self) -> &'static str {
        match self {
            Version::V11 => "actor",
            Version::V12 => "role",
        }
    }

    /// Whether this value of [`role_attribute`](Version::role_attribute) means the receiver of a message (1.1, section
    /// 4.2.2; 1.2 part 1, section 2.2). Without the attribute, the last receiver is meant.
    pub fn role_is_receivers(self, role: &str) -> bool {
        match self {
            Version::V11 => matches!(role, "" | "http://schemas.xmlsoap.org/soap/actor/next"),
            Version::V12 => matches!(
                role,
                "" | "http://www.w3.org/2003/05/soap-envelope/role/next"
                    | "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver"
            ),
        }
    }

    /// The status of an answer that is a fault of this code. 1.1 has 500 for each (section 6.2); 1.2 says 400 where the
    /// sender is to blame (part 2, table 20).
    pub fn status(self, code: Code) -> u16 {
        match (self, code) {
            (Version::V12, Code::Sender) => 400,
            _ => 500,
        }
    }

    /// The text before the header blocks of a message; close it with `</soap:Header>`.
    pub fn before_headers(self) -> &'static str {
        match self {
            Version::V11 => concat!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
                "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Header>"
            ),
            Version::V12 => concat!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
                "<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Header>"
            ),
        }
    }

    /// The text before the payload of a message without headers.
    pub fn before_payload(self) -> &'static str {
        match self {
            Version::V11 => concat!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
                "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>"
            ),
            Version::V12 => concat!(
                "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
                "<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\"><soap:Body>"
            ),
        }
    }
}

/// The text between the last header block of a message and its payload.
pub const BETWEEN_HEADERS_AND_PAYLOAD: &str = "</soap:Header><soap:Body>";
/// The text behind the payload of a message.
pub const BEHIND_PAYLOAD: &str = "</soap:Body></soap:Envelope>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_payload_names_the_versions_namespace() {
        for version in Version::ALL {
            let root = format!("<soap:Envelope xmlns:soap=\"{}\">", version.namespace());
            assert!(version.before_payload().ends_with(&format!("{root}<soap:Body>")));
            assert!(version.before_headers().ends_with(&format!("{root}<soap:Header>")));
            assert_eq!(Version::of_namespace(version.namespace()), Some(version));
            assert_eq!(Version::of_content_type(version.content_type()), Some(version));
        }
        assert_eq!(Version::of_namespace("urn:another"), None);
    }

    #[test]
    fn a_fault_has_the_status_that_its_version_binds_it_to() {
        for code in [Code::Sender, Code::Receiver, Code::MustUnderstand, Code::VersionMismatch] {
            assert_eq!(Version::V11.status(code), 500);
            assert_eq!(Version::V12.status(code), if code == Code::Sender { 400 } else { 500 });
        }
    }

    #[test]
    fn a_header_is_the_receivers_where_its_role_says_so() {
        let check = |version: Version, role: &str, expected| {
            assert_eq!(version.role_is_receivers(role), expected, "{version:?} {role}");
        };
        check(Version::V11, "", true);
        check(Version::V11, "http://schemas.xmlsoap.org/soap/actor/next", true);
        check(Version::V11, "urn:somebody", false);
        check(Version::V12, "http://www.w3.org/2003/05/soap-envelope/role/next", true);
        check(Version::V12, "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver", true);
        check(Version::V12, "http://www.w3.org/2003/05/soap-envelope/role/none", false);
        check(Version::V12, "http://schemas.xmlsoap.org/soap/actor/next", false);
    }
}
