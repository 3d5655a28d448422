//! Round trips: random rows through every format and its reader, and addresses through the URL parser.

use crate::body;
use crate::document::{self, Extent, Schema};
use crate::edm::{LeafId, Primitive, Version};
use crate::entry::Entry;
use crate::format::{Format, Ieee754, Metadata, Padding, Release};
use crate::links::{self, Search};
use crate::plan::{Expand, Resource, Select, Shape};
use crate::stencil::{Base, FeedHead, Stencil};
use crate::testing::{self, FLIGHTS, SAMPLES};
use crate::value::{Cell, Row, Value};
use crate::{content, date, url};
use proptest::prelude::*;
use std::sync::Arc;

const ROOT: &str = "http://localhost/service/";

fn formats() -> Vec<Format> {
    let mut formats = vec![Format::V2Atom, Format::V2Json, Format::RestJson];
    formats.extend([Padding::Without, Padding::AtomSize].map(|padding| Format::RestXml { padding }));
    for metadata in [Metadata::None, Metadata::Minimal, Metadata::Full] {
        for release in [Release::V40, Release::V401] {
            let of = |ieee754| Format::V4Json { metadata, ieee754, release };
            formats.extend([Ieee754::Number, Ieee754::String].map(of));
        }
    }
    formats
}

/// Any text, with more of what needs escaping than chance would bring.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,20}",
        "[a-z '\"<>&%/\\\\+]{0,40}",
        "[\u{0}-\u{20}\u{7f}-\u{a0}\u{d7ff}\u{e000}\u{fffd}-\u{ffff}🛫]{0,10}",
    ]
}

fn any_value(primitive: Primitive) -> BoxedStrategy<Value> {
    let text = move |text: String| Value::Text(primitive, text);
    match primitive {
        Primitive::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        Primitive::Byte => any::<u8>().prop_map(|value| Value::Integer(value.into())).boxed(),
        Primitive::SByte => any::<i8>().prop_map(|value| Value::Integer(value.into())).boxed(),
        Primitive::Int16 => any::<i16>().prop_map(|value| Value::Integer(value.into())).boxed(),
        Primitive::Int32 => any::<i32>().prop_map(|value| Value::Integer(value.into())).boxed(),
        Primitive::Int64 => {
            let edges = proptest::sample::select(vec![0, i64::MIN, i64::MAX, (1 << 53) + 1]);
            prop_oneof![any::<i64>(), edges].prop_map(Value::Integer).boxed()
        }
        Primitive::Single => any::<f32>().prop_map(|value| Value::Real(value.into())).boxed(),
        Primitive::Double => any::<f64>().prop_map(Value::Real).boxed(),
        Primitive::Decimal { .. } => {
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{0,13}[1-9])?".prop_map(|text| match text.as_str() {
                "-0" => Value::Decimal("0".to_owned()),
                _ => Value::Decimal(text),
            })
        }
        .boxed(),
        Primitive::String { .. } => any_text().prop_map(Value::String).boxed(),
        Primitive::Binary { .. } => proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::Binary).boxed(),
        Primitive::Guid => "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}".prop_map(text).boxed(),
        Primitive::Date => (-700_000i64..2_900_000)
            .prop_map(move |days| Value::Text(primitive, date::date_from_days(days).unwrap()))
            .boxed(),
        Primitive::DateTime { .. } => (-60_000_000_000_000i64..250_000_000_000_000)
            .prop_map(move |ms| Value::Text(primitive, date::from_epoch_ms(ms).unwrap()))
            .boxed(),
        Primitive::DateTimeOffset { .. } => (-60_000_000_000_000i64..250_000_000_000_000)
            .prop_map(move |ms| Value::Text(primitive, date::from_epoch_ms(ms).unwrap() + "Z"))
            .boxed(),
        Primitive::TimeOfDay { .. } => (0..24u32, 0..60u32, 0..60u32)
            .prop_map(move |(h, m, s)| Value::Text(primitive, format!("{h:02}:{m:02}:{s:02}")))
            .boxed(),
        Primitive::Duration => {
            (1..1000u32, 1..60u32).prop_map(move |(h, s)| Value::Text(primitive, format!("PT{h}H{s}S"))).boxed()
        }
        // Its documents have a round trip of their own.
        Primitive::Collection(_) => Just(Value::Text(primitive, "[]".to_owned())).boxed(),
    }
}

/// A row of the set that has every type. Keys are not null.
fn any_row() -> impl Strategy<Value = Vec<Value>> {
    let model = testing::model();
    let entity_type = model.type_of(SAMPLES);
    let leaves = entity_type.leaves.iter().map(|leaf| {
        let value = any_value(leaf.primitive);
        if leaf.nullable { prop_oneof![8 => value, 1 => Just(Value::Null)].boxed() } else { value }
    });
    leaves.collect::<Vec<_>>()
}

fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Null => Cell::Null,
        Value::Boolean(value) => Cell::Integer((*value).into()),
        Value::Integer(value) => Cell::Integer(*value),
        Value::Real(value) => Cell::Real(*value),
        Value::Decimal(text) | Value::String(text) | Value::Text(_, text) => Cell::Text(text.as_bytes()),
        Value::Binary(bytes) => Cell::Bytes(bytes),
    }
}

/// XML 1.0 has no way to write some characters.
fn as_xml_has_it(value: &Value) -> Value {
    let allowed = |character: char| match character {
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    match value {
        Value::String(text) => Value::String(text.chars().map(allowed).collect()),
        other => other.clone(),
    }
}

/// Removes the character U+0000, which no body may contain.
fn storable(mut row: Vec<Value>) -> Vec<Value> {
    for value in &mut row {
        if let Value::String(text) = value {
            *text = text.replace('\0', "");
        }
    }
    row
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Real(left), Value::Real(right)) => left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan(),
        (left, right) => left == right,
    }
}

fn write_feed(format: Format, rows: &[Vec<Value>]) -> Vec<u8> {
    let stencil = Stencil::compile(&testing::model(), SAMPLES, format, &Select::All, &[]);
    let mut writer = stencil.writer(Base::new(ROOT, "2013-09-25T00:00:00Z"));
    let mut out = Vec::new();
    writer.feed_begin(&mut out, &FeedHead { path: "SampleCollection", count: Some(rows.len() as u64) });
    for row in rows {
        let cells: Vec<_> = row.iter().map(cell).collect();
        writer.entry(&mut out, &cells[..]);
    }
    writer.feed_end(&mut out, Some("SampleCollection?$skiptoken='<&\"'"));
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_reads_back_what_it_wrote(rows in proptest::collection::vec(any_row(), 1..4)) {
        let model = testing::model();
        let leaves = &model.type_of(SAMPLES).leaves;
        for format in formats() {
            let written = write_feed(format, &rows);
            let schema = Some(Schema { model: &model, set: SAMPLES });
            let read = document::read(&written, format, schema);
            let read = read.map_err(|error| TestCaseError::fail(format!("{format:?}: {error}")))?;
            prop_assert_eq!(read.extent, Extent::Collection);
            prop_assert_eq!(read.count, Some(rows.len() as u64));
            prop_assert_eq!(read.next.as_deref(), Some("SampleCollection?$skiptoken='<&\"'"));
            prop_assert_eq!(read.entities.len(), rows.len());
            for (entity, row) in read.entities.iter().zip(&rows) {
                for (leaf, value) in leaves.iter().zip(row) {
                    let found = entity.property(&leaf.path);
                    let version = format.version().unwrap_or(Version::V4);
                    let found = found.and_then(|found| found.value(version, leaf.primitive));
                    let expected = match format {
                        Format::V2Atom | Format::RestXml { .. } => as_xml_has_it(value),
                        _ => value.clone(),
                    };
                    let is_same = found.as_ref().is_some_and(|found| same(found, &expected));
                    prop_assert!(is_same, "{:?} {}: {:?}, expected {:?}", format, leaf.path, found, expected);
                }
            }
        }
    }

    #[test]
    fn the_address_of_an_entity_is_read_back_as_its_key(row in any_row()) {
        // No text of a database has it, so no URL may.
        prop_assume!(!matches!(&row[1], Value::String(name) if name.contains('\0')));
        let model = testing::model();
        let cells: Vec<_> = row.iter().map(cell).collect();
        for (version, format) in [(Version::V2, Format::V2Json), (Version::V4, formats()[6])] {
            let stencil = Stencil::compile(&model, SAMPLES, format, &Select::All, &[]);
            let mut address = Vec::new();
            stencil.write_address(&mut address, &cells[..]);
            let address = String::from_utf8(address).unwrap();
            let parsed = url::parse(&model, version, &address, None);
            let parsed = parsed.map_err(|error| TestCaseError::fail(format!("{address}: {error:?}")))?;
            let (Resource::Read(plan), _) = parsed else { return Err(TestCaseError::fail(address)) };
            prop_assert_eq!(plan.key.map(|key| key.0), Some(row[..2].to_vec()), "{}", address);
        }
    }

    #[test]
    fn an_entry_is_written_and_read_back_as_a_body(row in any_row().prop_map(storable)) {
        let model = Arc::new(testing::model());
        let leaves = &model.type_of(SAMPLES).leaves;
        let reader = body::Reader::new(model.clone());
        let entry = Entry::of_values(&row);
        let mut found = Entry::default();
        for format in formats() {
            let stencil = Stencil::compile(&model, SAMPLES, format, &Select::All, &[]);
            let mut writer = stencil.writer(Base::new(ROOT, "2013-09-25T00:00:00Z"));
            let mut written = Vec::new();
            writer.document_begin(&mut written);
            writer.entry(&mut written, &entry);
            writer.document_end(&mut written);
            let read = reader.read(&written, format, SAMPLES, ROOT, &mut found);
            read.map_err(|error| TestCaseError::fail(format!("{format:?}: {error}")))?;
            prop_assert!(found.children.is_empty() && found.links.is_empty());
            for (leaf, value) in row.iter().enumerate() {
                let expected = match format {
                    Format::V2Atom | Format::RestXml { .. } => as_xml_has_it(value),
                    _ => value.clone(),
                };
                let cell = found.cell_of(LeafId(leaf));
                let is_same = match (cell, expected.cell()) {
                    (Some(Cell::Real(left)), Cell::Real(right)) if left.is_nan() => right.is_nan(),
                    (cell, expected) => cell == Some(expected),
                };
                prop_assert!(is_same, "{:?} {}: {:?}, expected {:?}", format, leaves[leaf].path, cell, expected);
                let shape = Shape::Leaf(LeafId(leaf));
                let stencil = Stencil::compile_property(&model, SAMPLES, format, &Select::All, shape);
                let mut writer = stencil.writer(Base::new(ROOT, ""));
                let mut written = Vec::new();
                writer.document_begin(&mut written);
                writer.entry(&mut written, &entry);
                writer.document_end(&mut written);
                let mut alone = Entry::default();
                let read = reader.read_property(&written, format, SAMPLES, shape, &mut alone);
                if leaves[leaf].nullable || value != &Value::Null {
                    read.map_err(|error| TestCaseError::fail(format!("{format:?}: {error}")))?;
                    prop_assert_eq!(format!("{:?}", alone.cell_of(LeafId(leaf))), format!("{cell:?}"));
                }
            }
        }
    }

    #[test]
    fn links_and_content_agree_with_the_document(rows in proptest::collection::vec(any_row(), 1..4)) {
        let model = testing::model();
        let template = links::Template::parse("/rest/samples/{id}/{name}").unwrap();
        for format in formats() {
            let written = write_feed(format, &rows);
            let search = Search { template: Some(&template), properties: &["id", "name"] };
            let found = links::follow(&written, format, &search);
            let found = found.map_err(|error| TestCaseError::fail(format!("{format:?}: {error}")))?;
            prop_assert_eq!(found.next.is_some(), true);
            let checker = content::Checker::new(format, search.properties);
            let stencil = Stencil::compile(&model, SAMPLES, format, &Select::All, &[]);
            for (link, row) in found.links.iter().zip(&rows) {
                let cells: Vec<_> = row.iter().map(cell).collect();
                let mut detail = Vec::new();
                let mut writer = stencil.writer(Base::new(ROOT, "2013-09-25T00:00:00Z"));
                writer.document_begin(&mut detail);
                writer.entry(&mut detail, &cells[..]);
                writer.document_end(&mut detail);
                let right = checker.expect(link.values.iter().map(String::as_str));
                prop_assert!(checker.check(&detail, &right), "{:?} {:?}", format, link);
                let wrong = checker.expect(["0x", &link.values[1]]);
                prop_assert!(!checker.check(&detail, &wrong), "{:?} {:?}", format, link);
            }
        }
    }
}

#[test]
fn a_flight_with_its_links_and_bookings_is_read_back_from_every_format() {
    let model = Arc::new(testing::model());
    let reader = body::Reader::new(model.clone());
    let flights = model.type_of(FLIGHTS);
    let entry_of = |cells: &[Cell<'_>]| {
        let mut entry = Entry::new(cells.len());
        cells.iter().enumerate().for_each(|(leaf, cell)| entry.set(LeafId(leaf), *cell));
        entry
    };
    let (flight, booking, carrier) =
        (entry_of(&testing::flight()), entry_of(&testing::booking()), entry_of(&testing::carrier()));
    let said = |entry: &Entry| (0..entry.leaves()).map(|leaf| format!("{:?}", entry.cell(leaf))).collect::<Vec<_>>();
    let expand: Vec<Expand> = ["flightBookings", "FlightCarrier"]
        .iter()
        .map(|name| flights.navigation(name).unwrap())
        .map(|navigation| Expand::new(navigation, flights.navigation[navigation.0].target, Select::All))
        .collect();
    for format in formats() {
        for expand in [&expand[..], &[]] {
            let stencil = Stencil::compile(&model, FLIGHTS, format, &Select::All, expand);
            let mut writer = stencil.writer(Base::new(ROOT, "2013-09-25T00:00:00Z"));
            let mut written = Vec::new();
            writer.document_begin(&mut written);
            writer.entry_begin(&mut written, &flight);
            for index in 0..expand.len() {
                writer.expand_begin(&mut written, index, &flight);
                writer.expand_entity(&mut written, if index == 0 { &booking } else { &carrier });
                writer.expand_end(&mut written);
            }
            writer.entry_end(&mut written, &flight);
            writer.document_end(&mut written);
            let mut found = Entry::default();
            reader.read(&written, format, FLIGHTS, ROOT, &mut found).unwrap_or_else(|error| {
                panic!("{format:?}: {error} in {}", String::from_utf8_lossy(&written));
            });
            assert_eq!(said(&found), said(&flight), "{format:?}");
            let children = found.children.iter().map(|(id, children)| {
                (flights.navigation[id.0].name.as_str(), children.iter().map(said).collect::<Vec<_>>())
            });
            let expected = [("flightBookings", vec![said(&booking)]), ("FlightCarrier", vec![said(&carrier)])];
            assert_eq!(children.collect::<Vec<_>>(), expected[..expand.len()], "{format:?}");
            assert_eq!(found.links, []);
        }
    }
}
