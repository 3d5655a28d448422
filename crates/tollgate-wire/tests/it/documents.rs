//! What must hold for every document: the bodies of the fuzz targets of the readers, and the replay of their corpus.

use tollgate_wire::content;
use tollgate_wire::document::{self, Entity, Extent, Related, Scalar};
use tollgate_wire::edm::{Primitive, Version};
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding};
use tollgate_wire::json::reader::{Event, Limits, Reader};
use tollgate_wire::links::{self, Search, Template};

/// More than what the readers allow, far less than what a stack holds.
const HEIGHT_MAX: usize = 100;

pub(crate) const V4: Format = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number };

/// A document in Atom, or any XML.
pub(crate) fn xml(bytes: &[u8]) {
    read(Format::V2Atom, bytes);
    read(Format::RestXml { padding: Padding::Without }, bytes);
}

/// JSON by itself: what can be read event by event can be skipped as a whole, to the same place.
pub(crate) fn json(bytes: &[u8]) {
    let Ok(mut reader) = Reader::new(bytes, Limits::default()) else { return };
    let mut events = 0;
    let end = loop {
        match reader.next() {
            Ok(Event::End) => break reader.position(),
            Ok(_) => events += 1,
            Err(error) => return assert!(error.position <= bytes.len(), "{error}"),
        }
        assert!(reader.depth() <= 64 && events <= bytes.len());
    };
    let mut skipper = Reader::new(bytes, Limits::default()).expect("the same bytes were read before");
    skipper.skip_value().expect("what was read can be skipped");
    assert_eq!(skipper.next().expect("the end was read before"), Event::End);
    assert_eq!(skipper.position(), end);
}

/// A document in the format: it is read or refused with a place, its entities are known again by what they show.
pub(crate) fn read(format: Format, bytes: &[u8]) {
    let template = Template::parse("/e/{ID}").expect("the braces are paired");
    let search = Search { template: Some(&template), properties: &["ID"] };
    let followed = links::follow(bytes, format, &search);
    let found = match document::read(bytes, format, None) {
        Ok(found) => found,
        Err(error) => return assert!(error.position <= bytes.len() && !error.message.is_empty(), "{error}"),
    };
    found.entities.iter().for_each(check_entity);
    if let (Extent::Single, [entity]) = (found.extent, &found.entities[..]) {
        for (name, value) in &entity.properties {
            if let (Some(text), true) = (value.text(), entity.property(name) == Some(value)) {
                assert!(content::check(bytes, format, &[(name, text)]), "{name} is {text}");
            }
        }
    }
    if let (Ok(followed), Extent::Collection) = (followed, found.extent) {
        assert!(followed.links.iter().all(|link| link.url.starts_with("/e/") && link.url.is_ascii()));
    }
}

fn check_entity(entity: &Entity) {
    assert!(height(entity) < HEIGHT_MAX);
    for (_, value) in &entity.properties {
        for version in [Version::V2, Version::V4] {
            for primitive in PRIMITIVES {
                let typed = value.value(version, primitive);
                assert!(typed.is_some() || *value != Scalar::Null);
            }
        }
    }
}

fn height(entity: &Entity) -> usize {
    let related = entity.expanded.iter().map(|(_, related)| match related {
        Related::Many(entities) => entities.iter().map(height).max().unwrap_or(0),
        Related::One(entity) => entity.as_deref().map_or(0, height),
    });
    1 + related.max().unwrap_or(0)
}

const PRIMITIVES: [Primitive; 17] = [
    Primitive::Boolean,
    Primitive::Byte,
    Primitive::SByte,
    Primitive::Int16,
    Primitive::Int32,
    Primitive::Int64,
    Primitive::Single,
    Primitive::Double,
    Primitive::Decimal { precision: 0, scale: 0 },
    Primitive::String { length_max: 0 },
    Primitive::Binary { length_max: 0 },
    Primitive::Guid,
    Primitive::Date,
    Primitive::DateTime { precision: 0 },
    Primitive::DateTimeOffset { precision: 0 },
    Primitive::TimeOfDay { precision: 0 },
    Primitive::Duration,
];

#[cfg(test)]
mod replay {
    use super::*;
    use proptest::prelude::*;

    fn corpus(target: &str) -> Vec<Vec<u8>> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!files.is_empty(), "{} is empty", folder.display());
        files.iter().map(|file| std::fs::read(file).unwrap()).collect()
    }

    fn run(target: &str) -> fn(&[u8]) {
        match target {
            "atom" => xml,
            "json" => json,
            "v2_json" => |bytes| read(Format::V2Json, bytes),
            "v4_json" => |bytes| [V4, Format::RestJson].into_iter().for_each(|format| read(format, bytes)),
            _ => panic!("no target {target}"),
        }
    }

    #[test]
    fn the_corpus_of_documents_holds() {
        for target in ["atom", "json", "v2_json", "v4_json"] {
            corpus(target).iter().for_each(|bytes| run(target)(bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn damaged_documents_are_read_or_refused(
            target in proptest::sample::select(vec!["atom", "json", "v2_json", "v4_json"]),
            file in any::<proptest::sample::Index>(),
            changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0..4u8), 1..4),
        ) {
            let corpus = corpus(target);
            let mut bytes = corpus[file.index(corpus.len())].clone();
            for (at, byte, change) in changes {
                if bytes.is_empty() {
                    break;
                }
                let at = at.index(bytes.len());
                match change {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, byte),
                    2 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at),
                }
            }
            run(target)(&bytes);
        }
    }
}
