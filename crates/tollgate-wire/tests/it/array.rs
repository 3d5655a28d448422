//! Arrays of entities that arrive in parts.

use crate::body::{FLIGHTS, describe, model};
use tollgate_wire::body::{ArrayStep, ENVELOPE_TEXT_BYTES_MAX, Envelope, RECORD_BYTES_MAX, Reader};
use tollgate_wire::entry::Entry;

fn envelope() -> Option<Envelope> {
    Some(Envelope { array: "insArray".to_owned(), texts: vec!["insEntity".to_owned()] })
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
                Ok(ArrayStep::Entry) => found.push(describe(&model, set, &entry)),
                Ok(ArrayStep::NeedMore | ArrayStep::End) => break,
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
    for (document, envelope, expected) in [
        (r#" [ {"carrid":"{\"}"} , {"PRICE":12.5,"flightDetails":{}}] "#, None, &["carrid='{\"}'", "PRICE='12.5'"][..]),
        (r#"[]"#, None, &[]),
        (r#"{"carrid":"AA"}"#, None, &["carrid='AA'"]),
        (r#"{"carrid":"AA"}"#, envelope(), &["carrid='AA'"]),
        (r#"{"insEntity":"T\u0065st","insArray":[{"carrid":"AA"}]}"#, envelope(), &["carrid='AA'", "insEntity: Test"]),
        (r#"{"insArray":[{"carrid":"AA"},{}],"insEntity":"X"}"#, envelope(), &["carrid='AA'", "", "insEntity: X"]),
        (r#"{"insArray":[]}"#, envelope(), &[]),
        ("\u{feff}[{\"carrid\":\"AA\"}]", None, &["carrid='AA'"]),
        ("\u{feff} {\"carrid\":\"AA\"}", None, &["carrid='AA'"]),
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
fn errors_name_the_record_and_the_place_in_the_whole() {
    for (document, envelope, expected) in [
        ("7", None, "expected an array of entities, or one entity (at byte 0)"),
        (r#"[{},{"PRICE":"x"}]"#, None, "[1].PRICE: expected Edm.Decimal, found 'x' (at byte 13)"),
        (
            r#"[{},{},{"flightDetails":{"cityFrom":1}}]"#,
            None,
            "[2].flightDetails/cityFrom: expected Edm.String, found '1' (at byte 36)",
        ),
        (
            r#"[{"flightBookings":[{"bookid":1}]}]"#,
            None,
            "[0].flightBookings[0]/bookid: expected Edm.String, found '1' (at byte 30)",
        ),
        ("[{},7]", None, "[1]: expected an entity (at byte 4)"),
        ("[{},]", None, "[1]: expected an entity (at byte 4)"),
        ("[{} {}]", None, "expected ',' or ']' behind an entity (at byte 4)"),
        ("[{}] x", None, "the document goes on behind its value (at byte 5)"),
        ("[{}", None, "the document ends before it is complete (at byte 3)"),
        (r#"[{"PRICE":1"#, None, "[0]: expected ',' or '}' (at byte 11)"),
        (r#"{"insEntity":"x"}"#, envelope(), "the member 'insArray' is missing (at byte 16)"),
        (
            r#"{"insEntity":"x","insArry":[]}"#,
            envelope(),
            "unknown member 'insArry'; did you mean insArray? (at byte 17)",
        ),
        (r#"{"insEntity":7,"insArray":[]}"#, envelope(), "insEntity: expected a text (at byte 13)"),
        (r#"{"insArray":{}}"#, envelope(), "insArray: expected an array of entities (at byte 12)"),
        (r#"{"insArray":[],"insArray":[]}"#, envelope(), "insArray: the member stands twice (at byte 15)"),
        (
            r#"{"insArray":[{"PRYCE":1}]}"#,
            envelope(),
            "[0].PRYCE: RMTSAMPLEFLIGHT.Flight has no property 'PRYCE'; did you mean PRICE? (at byte 14)",
        ),
    ] {
        for part in [1, 2, 3, document.len()] {
            let parts: Vec<&[u8]> = document.as_bytes().chunks(part).collect();
            let (_, error) = records(&parts, envelope.clone());
            assert_eq!(error.as_deref(), Some(expected), "{document} in parts of {part}");
        }
    }
}

#[test]
fn a_record_and_a_text_have_their_limits() {
    let check = |document: &str, part: usize, expected: Option<&str>| {
        let parts: Vec<&[u8]> = document.as_bytes().chunks(part).collect();
        let (_, error) = records(&parts, envelope());
        assert_eq!(error.as_deref(), expected, "{} bytes in parts of {part}", document.len());
    };
    let record = |bytes: usize| format!("[{{}},{{{}\"PRICE\":1}}]", " ".repeat(bytes - "{\"PRICE\":1}".len()));
    let text = |bytes: usize| {
        format!("{{\"insEntity\":\"{}\",\"insArray\":[]}}", "x".repeat(bytes - "\"insEntity\":\"\"".len()))
    };
    for part in [4096, usize::MAX] {
        check(&record(RECORD_BYTES_MAX), part, None);
        let error = "[1]: a record has more than 1048576 bytes (at byte 4)";
        check(&record(RECORD_BYTES_MAX + 1), part, Some(error));
        check(&format!("[{{}},{{{}", " ".repeat(RECORD_BYTES_MAX)), part, Some(error));
    }
    for part in [1, usize::MAX] {
        check(&text(ENVELOPE_TEXT_BYTES_MAX), part, None);
        let error = "a member beside the array has more than 1024 bytes (at byte 1)";
        check(&text(ENVELOPE_TEXT_BYTES_MAX + 1), part, Some(error));
        check(
            &format!("{{\"{}", "x".repeat(2 * ENVELOPE_TEXT_BYTES_MAX)),
            part,
            Some(&error.replace("at byte 1", "at byte 0")),
        );
    }
}
