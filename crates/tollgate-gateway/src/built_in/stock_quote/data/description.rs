//! The service described in WSDL 1.1, with bindings for SOAP 1.1 and 1.2.
//!
//! The text is a file beside this one; only the address is inserted, as the client used it.

use tollgate_wire::escape;

const DESCRIPTION: &str = include_str!("description.wsdl");

/// Placeholder for the address in the text.
const ADDRESS: &str = "{address}";

/// Writes the description of the service at `address`.
pub(crate) fn write_description(out: &mut Vec<u8>, address: &str) {
    for (position, piece) in DESCRIPTION.split(ADDRESS).enumerate() {
        if position > 0 {
            escape::xml_attribute(out, address.as_bytes());
        }
        out.extend_from_slice(piece.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_has_the_address_and_nothing_is_left_open() {
        let mut out = Vec::new();
        write_description(&mut out, "http://host/a?b&c");
        let description = String::from_utf8(out).unwrap();
        assert_eq!(description.matches("location=\"http://host/a?b&amp;c\"").count(), 2);
        assert!(!description.contains(['{', '}']));
        tollgate_xml::Document::parse(&description).unwrap();
    }
}
