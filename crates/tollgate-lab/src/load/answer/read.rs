//! Reading answers for a walk: the links to a list's entities, and the key of an entity.
//!
//! The formats come from `tollgate-wire`; only the client's use of them is here.

use tollgate_wire::content::Checker;
use tollgate_wire::document;
use tollgate_wire::format::{Format, Ieee754, Metadata, Padding, Release};
use tollgate_wire::links::{self, Links, Search};

use super::Verdict;
use crate::traffic::request::{ListFormat, RequestShape};

/// Reads one page of a list.
///
/// # Errors
/// The fault in it.
pub(crate) fn list(shape: &RequestShape, body: &[u8]) -> Result<Links, String> {
    let properties: Vec<&str> = shape.key.iter().map(String::as_str).collect();
    let search = Search { template: shape.detail.as_ref(), properties: &properties };
    links::follow(body, format(shape)?, &search).map_err(|error| format!("the list cannot be read: {error}"))
}

/// Creates a checker that finds out in about 0.5 µs whether an answer of this shape is the requested entity, by
/// searching for the key only; absent if the shape has none.
pub(crate) fn checker(shape: &RequestShape) -> Option<Checker> {
    let names: Vec<&str> = shape.key.iter().map(String::as_str).collect();
    format(shape).ok().filter(|_| !names.is_empty()).map(|format| Checker::new(format, &names))
}

/// Reads an answer when a [`checker`] is not sure, and compares its key with the one in the list.
///
/// # Errors
/// What came instead.
pub(crate) fn entity(shape: &RequestShape, body: &[u8], key: &[String]) -> Result<Verdict, String> {
    let document =
        document::read(body, format(shape)?, None).map_err(|error| format!("the answer cannot be read: {error}"))?;
    let [entity] = &document.entities[..] else {
        return Err(format!("the answer has {} entities instead of one", document.entities.len()));
    };
    let value = |name: &String| {
        let text = entity.property(name).and_then(|scalar| scalar.text());
        text.ok_or_else(|| format!("the answer has no property `{name}`"))
    };
    let came = shape.key.iter().map(value).collect::<Result<Vec<&str>, String>>()?;
    if came != key {
        return Err(format!("asked for ({}), came ({})", key.join(", "), came.join(", ")));
    }
    // Without a key there is nothing by which to tell.
    Ok(if came.is_empty() { Verdict::Unknown } else { Verdict::Right })
}

fn format(shape: &RequestShape) -> Result<Format, String> {
    match shape.format {
        Some(ListFormat::OdataV2Atom) => Ok(Format::V2Atom),
        Some(ListFormat::OdataV2Json) => Ok(Format::V2Json),
        // How much metadata there is, and how numbers are written, shows itself when it is read.
        Some(ListFormat::OdataV4Json) => {
            Ok(Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 })
        }
        Some(ListFormat::Json) => Ok(Format::RestJson),
        Some(ListFormat::Xml) => Ok(Format::RestXml { padding: Padding::Without }),
        None => Err("the variant does not say how its list is read".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tollgate_wire::links::Template;

    use super::*;

    fn shape(format: ListFormat, detail: Option<&str>, key: &[&str]) -> RequestShape {
        RequestShape {
            format: Some(format),
            detail: detail.map(|text| Template::parse(text).unwrap()),
            key: key.iter().map(|name| (*name).to_owned()).collect(),
            ..crate::testing::get()
        }
    }

    #[test]
    fn each_format_gives_links_keys_and_the_next_page() {
        let check = |shape: RequestShape, body: &str, urls: &[&str], next: Option<&str>| {
            let listing = list(&shape, body.as_bytes()).unwrap_or_else(|error| panic!("{error} in {body}"));
            let found: Vec<&str> = listing.links.iter().map(|link| link.url.as_str()).collect();
            assert_eq!((found.as_slice(), listing.next.as_deref()), (urls, next), "{body}");
            assert!(listing.links.iter().all(|link| link.values == ["A"]), "{listing:?}");
        };
        check(
            shape(ListFormat::OdataV2Atom, None, &["id"]),
            r#"<feed xml:base="http://h/s/" xmlns:d="D" xmlns:m="M"><entry><id>http://h/s/F('A')</id><link rel="edit" href="F('A')"/>
                <content><m:properties><d:id>A</d:id></m:properties></content></entry><link rel="next" href="F?n=1"/></feed>"#,
            &["http://h/s/F('A')"],
            Some("http://h/s/F?n=1"),
        );
        check(
            shape(ListFormat::OdataV2Json, None, &["id"]),
            r#"{"d":{"results":[{"__metadata":{"uri":"http://h/F('A')"},"id":"A"}],"__next":"http://h/F?n=1"}}"#,
            &["http://h/F('A')"],
            Some("http://h/F?n=1"),
        );
        check(
            shape(ListFormat::OdataV4Json, Some("F(id='{id}')"), &["id"]),
            r#"{"@odata.context":"$metadata#F","value":[{"id":"A"}],"@odata.nextLink":"F?n=1"}"#,
            &["F(id='A')"],
            Some("F?n=1"),
        );
        check(shape(ListFormat::Json, Some("f/{id}"), &["id"]), r#"[{"id":"A"}]"#, &["f/A"], None);
        check(
            shape(ListFormat::Xml, Some("f/{id}"), &["id"]),
            "<flights><flight><id>A</id></flight></flights>",
            &["f/A"],
            None,
        );
    }

    #[test]
    fn an_answer_is_held_against_the_key_of_the_list() {
        let check = |format: ListFormat, key: &[&str], body: &str, expected: Result<Verdict, &str>| {
            let key: Vec<String> = key.iter().map(|value| (*value).to_owned()).collect();
            let names: &[&str] = if key.is_empty() { &[] } else { &["id"] };
            let shape = shape(format, None, names);
            let is_right = checker(&shape)
                .is_some_and(|checker| checker.check(body.as_bytes(), &checker.expect(key.iter().map(String::as_str))));
            let came = entity(&shape, body.as_bytes(), &key);
            assert!(!is_right || came == Ok(Verdict::Right), "{body}");
            assert_eq!(came, expected.map_err(str::to_owned), "{body}");
        };
        check(ListFormat::OdataV4Json, &["A"], r#"{"id":"A"}"#, Ok(Verdict::Right));
        check(ListFormat::Json, &["A"], r#"{"id":"B"}"#, Err("asked for (A), came (B)"));
        check(ListFormat::Json, &["A"], r#"{"x":"B"}"#, Err("the answer has no property `id`"));
        check(ListFormat::OdataV2Json, &["7"], r#"{"d":{"id":7}}"#, Ok(Verdict::Right));
        check(ListFormat::Xml, &["A"], "<flight><id>A</id></flight>", Ok(Verdict::Right));
        check(ListFormat::Json, &[], r#"{"x":"B"}"#, Ok(Verdict::Unknown));
        check(
            ListFormat::OdataV2Json,
            &["A"],
            r#"{"d":{"results":[]}}"#,
            Err("the answer has 0 entities instead of one"),
        );
    }
}
