//! Invariants of every document: the bodies of the fuzz targets of the readers, and the replay of their corpus.

use tollgate_wire::content;
use tollgate_wire::document::{self, Entity, Extent, Related, Scalar};
use tollgate_wire::edm::{Primitive, Version};
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding, Release};
use tollgate_wire::json::reader::{Event, Limits, Reader};
use tollgate_wire::links::{self, Search, Template};

/// Above the readers' limits, far below a stack's.
const HEIGHT_MAX: usize = 100;

pub(crate) const V4: Format =
    Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };

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
    use crate::corpus;
    use proptest::prelude::*;

    const TARGETS: &[&str] = &["atom", "json", "v2_json", "v4_json"];

    fn run(target: &str, bytes: &[u8]) {
        match target {
            "atom" => xml(bytes),
            "json" => json(bytes),
            "v2_json" => read(Format::V2Json, bytes),
            "v4_json" => [V4, Format::RestJson].into_iter().for_each(|format| read(format, bytes)),
            _ => panic!("no target {target}"),
        }
    }

    #[test]
    fn the_corpus_of_documents_holds() {
        for target in TARGETS {
            corpus::files(target).iter().for_each(|bytes| run(target, bytes));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn damaged_documents_are_read_or_refused((target, bytes) in corpus::damaged(TARGETS)) {
            run(target, &bytes);
        }
    }
}
