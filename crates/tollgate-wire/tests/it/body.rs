//! Bodies: what is read of them, and what is said where they are wrong.

use crate::documents::V4;
use crate::fixture;
use std::sync::Arc;
use tollgate_wire::body::{self, Envelope, Reader, Step};
use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::Format;
use tollgate_wire::value::Cell;

const FLIGHTS: &str = "FlightCollection";
const EVERYTHING: &str = "EverythingSet";
const ROOT: &str = "http://localhost:8080/odata/v4/flights/";

fn model() -> Arc<Model> {
    Arc::new(fixture::model())
}

/// What was said of each leaf, and of related entities, as text.
pub(crate) fn describe(model: &Model, set: SetId, entry: &Entry) -> String {
    let entity_type = model.type_of(set);
    let mut parts = Vec::new();
    for (id, leaf) in entity_type.leaves.iter().enumerate() {
        let text = match entry.cell_of(tollgate_wire::edm::LeafId(id)) {
            None => continue,
            Some(Cell::Null) => "null".to_owned(),
            Some(Cell::Integer(value)) => value.to_string(),
            Some(Cell::Real(value)) => format!("{value:?}"),
            Some(Cell::Text(text)) => format!("'{}'", std::str::from_utf8(text).unwrap()),
            Some(Cell::Bytes(bytes)) => format!("{bytes:02x?}"),
        };
        parts.push(format!("{}={text}", leaf.path));
    }
    for (navigation, children) in &entry.children {
        let navigation = &entity_type.navigation[navigation.0];
        let children: Vec<String> = children.iter().map(|child| describe(model, navigation.target, child)).collect();
        parts.push(format!("{}=[{}]", navigation.name, children.join("; ")));
    }
    for (navigation, link) in &entry.links {
        parts.push(format!("{}->{link:?}", entity_type.navigation[navigation.0].name));
    }
    parts.join(" ")
}

/// The body as text, or its error.
fn read(format: Format, set: &str, document: &str) -> String {
    let model = model();
    let set = model.set(set).unwrap();
    let mut entry = Entry::default();
    match Reader::new(model.clone()).read(document.as_bytes(), format, set, ROOT, &mut entry) {
        Ok(()) => describe(&model, set, &entry),
        Err(error) => format!("{error}"),
    }
}

#[test]
fn members_of_v4_json_come_in_any_order() {
    let check = |document: &str, expected: &str| assert_eq!(read(V4, FLIGHTS, document), expected, "{document}");
    check(
        r#"{"carrid":"AA","connid":"0017","fldate":"2013-09-25","PRICE":422.94,"CURRENCY":"USD"}"#,
        "carrid='AA' connid='0017' fldate='2013-09-25' PRICE='422.94' CURRENCY='USD'",
    );
    check(
        r#" { "PRICE" : "1.5e2" , "flightDetails":{"distance":2573.0000,"cityFrom":"new\u0020york"},"carrid":null }"#,
        "carrid=null flightDetails/cityFrom='new york' flightDetails/distance='2573.0000' PRICE='150'",
    );
    check("{}", "");
    check("[]", "expected an entity, found an array (at byte 0)");
    check(r#"{"PRYCE":1}"#, "PRYCE: RMTSAMPLEFLIGHT.Flight has no property 'PRYCE'; did you mean PRICE? (at byte 1)");
}

fn records(chunks: &[&[u8]], envelope: Option<Envelope>) -> (Vec<String>, Option<String>) {
    let model = model();
    let set = model.set(FLIGHTS).unwrap();
    let mut array = Reader::new(model.clone()).array(set, "", envelope);
    let mut entry = Entry::default();
    let mut found = Vec::new();
    for chunk in chunks {
        array.feed(chunk);
        loop {
            match array.next(&mut entry) {
                Ok(Step::Entry) => found.push(describe(&model, set, &entry)),
                Ok(Step::NeedMore | Step::End) => break,
                Err(error) => return (found, Some(error.to_string())),
            }
        }
    }
    let error = array.finish(&mut entry).err().map(|error| error.to_string());
    found.extend(["insEntity"].iter().filter_map(|name| Some(format!("{name}: {}", array.text(name)?))));
    (found, error)
}

#[test]
fn arrays_may_be_cut_anywhere() {
    let envelope = || Some(Envelope { array: "insArray".to_owned(), texts: vec!["insEntity".to_owned()] });
    for (document, envelope, expected) in [
        (r#" [ {"carrid":"{\"}"} , {"PRICE":12.5,"flightDetails":{}}] "#, None, &["carrid='{\"}'", "PRICE='12.5'"][..]),
        (r#"[]"#, None, &[]),
        (r#"{"carrid":"AA"}"#, None, &["carrid='AA'"]),
        (r#"{"carrid":"AA"}"#, envelope(), &["carrid='AA'"]),
        (r#"{"insEntity":"T\u0065st","insArray":[{"carrid":"AA"}]}"#, envelope(), &["carrid='AA'", "insEntity: Test"]),
        (r#"{"insArray":[{"carrid":"AA"},{}],"insEntity":"X"}"#, envelope(), &["carrid='AA'", "", "insEntity: X"]),
        (r#"{"insArray":[]}"#, envelope(), &[]),
    ] {
        let bytes = document.as_bytes();
        let whole = records(&[bytes], envelope.clone());
        assert_eq!((whole.0.iter().map(String::as_str).collect::<Vec<_>>(), whole.1), (expected.to_vec(), None));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(records(&single, envelope.clone()), (expected.iter().map(|s| (*s).to_owned()).collect(), None));
        for cut in 0..bytes.len() {
            let (found, error) = records(&[&bytes[..cut], &bytes[cut..]], envelope.clone());
            assert_eq!((found.iter().map(String::as_str).collect::<Vec<_>>(), error), (expected.to_vec(), None));
            assert!(records(&[&bytes[..cut]], envelope.clone()).1.is_some() || bytes[cut..].trim_ascii().is_empty());
        }
    }
}

#[test]
fn the_free_function_reads_as_the_reader_does() {
    let model = fixture::model();
    let schema = tollgate_wire::document::Schema { model: &model, set: model.set(EVERYTHING).unwrap() };
    let mut entry = Entry::default();
    body::read(br#"{"id":9007199254740993}"#, V4, schema, &mut entry).unwrap();
    assert_eq!(describe(&model, schema.set, &entry), "id=9007199254740993");
}
