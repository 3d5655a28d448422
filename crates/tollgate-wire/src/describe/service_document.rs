//! The service document: which entity sets there are.

use crate::edm::Model;
use crate::escape;
use crate::format::{Format, Metadata, Release};
use crate::stencil::Base;
use crate::syntax::tag;

const APP: &str = "http://www.w3.org/2007/app";
const ATOM: &str = "http://www.w3.org/2005/Atom";
const SAP: &str = "http://www.sap.com/Protocols/SAPData";

/// Writes the service document in that format.
pub fn write(out: &mut Vec<u8>, model: &Model, format: Format, base: &Base<'_>) {
    match format {
        Format::V2Atom => write_v2_atom(out, model, base),
        Format::V2Json => {
            out.extend_from_slice(b"{\"d\":{\"EntitySets\":[");
            write_list(out, model, json_string);
            out.extend_from_slice(b"]}}");
        }
        Format::V4Json { metadata, release, .. } => {
            out.push(b'{');
            if metadata != Metadata::None {
                out.extend_from_slice(match release {
                    Release::V40 => b"\"@odata.context\":\"",
                    Release::V401 => b"\"@context\":\"",
                });
                out.extend_from_slice(base.service_root().as_bytes());
                out.extend_from_slice(b"$metadata\",");
            }
            out.extend_from_slice(b"\"value\":[");
            write_list(out, model, |out, name| {
                out.extend_from_slice(b"{\"name\":");
                json_string(out, name);
                out.extend_from_slice(b",\"kind\":\"EntitySet\",\"url\":");
                json_string(out, name);
                out.push(b'}');
            });
            for (position, singleton) in model.singletons.iter().enumerate() {
                if position > 0 || !model.entity_sets.is_empty() {
                    out.push(b',');
                }
                out.extend_from_slice(b"{\"name\":");
                json_string(out, &singleton.name);
                out.extend_from_slice(b",\"kind\":\"Singleton\",\"url\":");
                json_string(out, &singleton.name);
                out.push(b'}');
            }
            out.extend_from_slice(b"]}");
        }
        Format::RestJson => {
            out.extend_from_slice(b"{\"items\":[");
            write_list(out, model, json_string);
            out.extend_from_slice(b"]}");
        }
        Format::RestXml { .. } => {
            out.extend_from_slice(tag::DECLARATION.as_bytes());
            tag::open(out, "service", &[]);
            for set in &model.entity_sets {
                tag::text_element(out, "collection", &set.name);
            }
            tag::close(out, "service");
        }
    }
}

fn write_v2_atom(out: &mut Vec<u8>, model: &Model, base: &Base<'_>) {
    out.extend_from_slice(tag::DECLARATION.as_bytes());
    let namespaces = [
        ("xml:lang", "en"),
        ("xml:base", base.service_root()),
        ("xmlns:app", APP),
        ("xmlns:atom", ATOM),
        ("xmlns:sap", SAP),
    ];
    tag::open(out, "app:service", &namespaces);
    tag::open(out, "app:workspace", &[]);
    title(out, "Data");
    for set in &model.entity_sets {
        tag::open(out, "app:collection", &[("sap:content-version", "1"), ("href", &set.name)]);
        title(out, &set.name);
        tag::text_element(out, "sap:member-title", &model.entity_types[set.entity_type.0].name);
        tag::close(out, "app:collection");
    }
    tag::close(out, "app:workspace");
    tag::close(out, "app:service");
}

fn title(out: &mut Vec<u8>, text: &str) {
    tag::open(out, "atom:title", &[("type", "text")]);
    escape::xml_text(out, text.as_bytes());
    tag::close(out, "atom:title");
}

fn write_list(out: &mut Vec<u8>, model: &Model, item: impl Fn(&mut Vec<u8>, &str)) {
    for (position, set) in model.entity_sets.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        item(out, &set.name);
    }
}

fn json_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape::json_text(out, text.as_bytes());
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Ieee754;
    use crate::testing;
    use insta::assert_snapshot;

    #[test]
    fn service_documents_name_every_set() {
        let written = |format| {
            let mut out = Vec::new();
            write(&mut out, &testing::model(), format, &Base::new("http://localhost/s/", "2013-09-25T00:00:00Z"));
            String::from_utf8(out).unwrap()
        };
        assert_snapshot!(written(Format::V2Atom), @r#"<?xml version="1.0" encoding="utf-8"?><app:service xml:lang="en" xml:base="http://localhost/s/" xmlns:app="http://www.w3.org/2007/app" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:sap="http://www.sap.com/Protocols/SAPData"><app:workspace><atom:title type="text">Data</atom:title><app:collection sap:content-version="1" href="FlightCollection"><atom:title type="text">FlightCollection</atom:title><sap:member-title>Flight</sap:member-title></app:collection><app:collection sap:content-version="1" href="CarrierCollection"><atom:title type="text">CarrierCollection</atom:title><sap:member-title>Carrier</sap:member-title></app:collection><app:collection sap:content-version="1" href="BookingCollection"><atom:title type="text">BookingCollection</atom:title><sap:member-title>Booking</sap:member-title></app:collection><app:collection sap:content-version="1" href="SampleCollection"><atom:title type="text">SampleCollection</atom:title><sap:member-title>Sample</sap:member-title></app:collection></app:workspace></app:service>"#);
        assert_snapshot!(written(Format::V2Json), @r#"{"d":{"EntitySets":["FlightCollection","CarrierCollection","BookingCollection","SampleCollection"]}}"#);
        let v4 = |metadata| Format::V4Json { metadata, ieee754: Ieee754::Number, release: Release::V40 };
        assert_snapshot!(written(v4(Metadata::Minimal)), @r#"{"@odata.context":"http://localhost/s/$metadata","value":[{"name":"FlightCollection","kind":"EntitySet","url":"FlightCollection"},{"name":"CarrierCollection","kind":"EntitySet","url":"CarrierCollection"},{"name":"BookingCollection","kind":"EntitySet","url":"BookingCollection"},{"name":"SampleCollection","kind":"EntitySet","url":"SampleCollection"}]}"#);
        assert_snapshot!(written(v4(Metadata::None)), @r#"{"value":[{"name":"FlightCollection","kind":"EntitySet","url":"FlightCollection"},{"name":"CarrierCollection","kind":"EntitySet","url":"CarrierCollection"},{"name":"BookingCollection","kind":"EntitySet","url":"BookingCollection"},{"name":"SampleCollection","kind":"EntitySet","url":"SampleCollection"}]}"#);
        assert_snapshot!(written(Format::RestJson), @r#"{"items":["FlightCollection","CarrierCollection","BookingCollection","SampleCollection"]}"#);
        assert_snapshot!(written(Format::RestXml { padding: crate::format::Padding::Without }), @r#"<?xml version="1.0" encoding="utf-8"?><service><collection>FlightCollection</collection><collection>CarrierCollection</collection><collection>BookingCollection</collection><collection>SampleCollection</collection></service>"#);
    }
}
