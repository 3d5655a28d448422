//! Invariants of every body: those of the fuzz targets, and the replay of their corpus.

use crate::fixture;
use std::sync::Arc;
use tollgate_wire::body::{ArrayStep, BodyError, Envelope, Reader};
use tollgate_wire::edm::{LeafId, Model, Primitive, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding, Release};
use tollgate_wire::plan::Select;
use tollgate_wire::stencil::{Base, Stencil};
use tollgate_wire::value::{Cell, Row};

const ROOT: &str = "http://localhost/service/";

/// The formats, by the rest of the first byte; the set by its highest bit.
const FORMATS: [Format; 6] = [
    Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 },
    Format::V4Json { metadata: Metadata::Full, ieee754: Ieee754::String, release: Release::V40 },
    Format::V2Json,
    Format::V2Atom,
    Format::RestJson,
    Format::RestXml { padding: Padding::Without },
];

/// A body in the format that the first byte selects: what is read of it and written again is read again the same.
pub(crate) fn entity(bytes: &[u8]) {
    let Some((first, document)) = bytes.split_first() else { return };
    let model = Arc::new(fixture::model());
    let format = FORMATS[usize::from(first & 0x7f) % FORMATS.len()];
    let set = model.set(if first & 0x80 == 0 { "EverythingSet" } else { "FlightCollection" }).expect("the set exists");
    let reader = Reader::new(model.clone());
    let mut entry = Entry::default();
    match reader.read(document, format, set, ROOT, &mut entry) {
        Ok(()) => written_reads_back(&model, &reader, format, set, &entry),
        Err(error) => check_error(&error, document.len()),
    }
    // The same bytes as the reference to an entity.
    if let Err(error) = reader.read_reference(document, format, set, ROOT) {
        check_error(&error, document.len());
    }
}

fn written_reads_back(model: &Model, reader: &Reader, format: Format, set: SetId, entry: &Entry) {
    // Links of an entity without its key lead nowhere.
    if model.type_of(set).key.iter().any(|leaf| entry.cell(leaf.0) == Cell::Null) {
        return;
    }
    let stencil = Stencil::compile(model, set, format, &Select::All, &[]);
    let mut writer = stencil.writer(Base::new(ROOT, "2013-09-25T00:00:00Z"));
    let mut written = Vec::new();
    writer.document_begin(&mut written);
    writer.entry(&mut written, entry);
    writer.document_end(&mut written);
    let mut again = Entry::default();
    reader.read(&written, format, set, ROOT, &mut again).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&written));
    });
    for (leaf, declared) in model.type_of(set).leaves.iter().enumerate() {
        let (first, second) = (entry.cell(leaf), again.cell_of(LeafId(leaf)));
        if !is_cut(format, declared.primitive, first) {
            assert_eq!(format!("{second:?}"), format!("{:?}", Some(first)), "{}", declared.path);
        }
    }
}

/// Whether the format has no way to write the value: V2's JSON knows milliseconds only, XML not all characters.
fn is_cut(format: Format, primitive: Primitive, cell: Cell<'_>) -> bool {
    let Cell::Text(text) = cell else { return false };
    match (format, primitive) {
        (Format::V2Json, Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }) => text.contains(&b'.'),
        (Format::V2Atom | Format::RestXml { .. }, Primitive::String { .. }) => {
            let text = std::str::from_utf8(text).expect("texts of an entry are UTF-8");
            let other = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
            text.contains(|c: char| other(c) || matches!(c, '\u{fffe}' | '\u{ffff}'))
        }
        _ => false,
    }
}

/// An array that is cut into parts as long as the first byte says: it reads as the whole does.
pub(crate) fn array(bytes: &[u8]) {
    let Some((first, document)) = bytes.split_first() else { return };
    let envelope = || {
        (first & 0x80 != 0)
            .then(|| Envelope { array: "insArray".to_owned(), texts: vec!["insEntity".to_owned(), "x".to_owned()] })
    };
    let reader = Reader::new(Arc::new(fixture::model()));
    let whole = records(&reader, &[document], envelope());
    let parts: Vec<&[u8]> = document.chunks(usize::from(first & 0x7f) + 1).collect();
    assert_eq!(records(&reader, &parts, envelope()), whole);
    if let Some(error) = whole.1 {
        check_error(&error, document.len());
    }
}

/// The records and texts that were found, and the error behind them.
fn records(reader: &Reader, parts: &[&[u8]], envelope: Option<Envelope>) -> (Vec<String>, Option<BodyError>) {
    let mut array = reader.array(SetId(0), ROOT, envelope);
    let (mut entry, mut found) = (Entry::default(), Vec::new());
    for part in parts {
        array.feed(part);
        loop {
            match array.next(&mut entry) {
                Ok(ArrayStep::Entry) => found.push(said(&entry)),
                Ok(ArrayStep::NeedMore | ArrayStep::End) => break,
                Err(error) => return (found, Some(error)),
            }
        }
    }
    found.extend(["insEntity", "x"].iter().filter_map(|name| array.text(name).map(str::to_owned)));
    let error = array.finish(&mut entry).err();
    (found, error)
}

fn said(entry: &Entry) -> String {
    let cells: Vec<_> = (0..entry.leaves()).map(|leaf| entry.cell_of(LeafId(leaf))).collect();
    let children: Vec<String> = entry.children.iter().flat_map(|(_, children)| children).map(said).collect();
    format!("{cells:?} {children:?} {:?}", entry.links)
}

fn check_error(error: &BodyError, length: usize) {
    assert!(error.position <= length, "{error}");
    assert!(!error.message.is_empty() && error.to_string().len() < 2_000, "{error}");
}

#[cfg(test)]
mod replay {
    use super::*;
    use crate::corpus;
    use proptest::prelude::*;

    const TARGETS: &[&str] = &["entity_body", "array_body"];

    fn run(target: &str, bytes: &[u8]) {
        match target {
            "entity_body" => entity(bytes),
            "array_body" => array(bytes),
            _ => panic!("no target {target}"),
        }
    }

    #[test]
    fn the_corpus_of_bodies_holds() {
        for target in TARGETS {
            corpus::files(target).iter().for_each(|bytes| run(target, bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn damaged_bodies_are_read_or_refused((target, bytes) in corpus::damaged(TARGETS)) {
            run(target, &bytes);
        }
    }
}
