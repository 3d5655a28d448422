//! Checks whether an answer is the requested entity: each named property has the expected value.
//!
//! It runs on every answer of a load, so a [`Checker`] looks for the properties by substring search and compares in
//! place. It confirms only if it is sure; the full reader settles every doubt (a repeated name, another way of
//! escaping), so a "no" is never the scanner's. It does not check anything else of the document.

use crate::document::{self, Extent, Scalar};
use crate::escape;
use crate::format::Format;
use memchr::memmem;

/// Checks answers of one format for one list of properties.
#[derive(Debug, Clone)]
pub struct Checker {
    format: Format,
    names: Vec<String>,
    finders: Vec<memmem::Finder<'static>>,
}

/// The values that one answer must have, rendered for comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    values: Vec<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Value {
    text: String,
    /// The text as the document has it with as few escapes as possible.
    escaped: Vec<u8>,
}

/// Whether `body` is the entity that has these values. Prefer a [`Checker`] for more than one.
pub fn check(body: &[u8], format: Format, expected: &[(&str, &str)]) -> bool {
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    let checker = Checker::new(format, &names);
    let expected = checker.expect(expected.iter().map(|(_, value)| *value));
    checker.check(body, &expected)
}

impl Checker {
    /// A checker for properties of these paths.
    pub fn new(format: Format, names: &[&str]) -> Checker {
        let needle = |name: &&str| match syntax(format) {
            Syntax::Json => format!("\"{name}\":"),
            Syntax::Atom => format!("<d:{name}>"),
            Syntax::Xml => format!("<{name}>"),
        };
        let finders = names.iter().map(|name| memmem::Finder::new(&needle(name)).into_owned()).collect();
        Checker { format, names: names.iter().map(|name| (*name).to_owned()).collect(), finders }
    }

    /// Renders the values that an answer must have, in the order of the names: texts as [`crate::links::Link::values`]
    /// has them.
    pub fn expect<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> Expected {
        let render = |text: &str| {
            let mut escaped = Vec::new();
            match syntax(self.format) {
                Syntax::Json => escape::json_text(&mut escaped, text.as_bytes()),
                Syntax::Atom | Syntax::Xml => escape::xml_text(&mut escaped, text.as_bytes()),
            }
            Value { text: text.to_owned(), escaped }
        };
        Expected { values: values.into_iter().map(render).collect() }
    }

    /// Whether `body` is one entity, or a collection of one, with these values.
    #[inline]
    pub fn check(&self, body: &[u8], expected: &Expected) -> bool {
        self.is_sure(body, expected) || self.reads(body, expected)
    }

    fn is_sure(&self, body: &[u8], expected: &Expected) -> bool {
        let json = syntax(self.format) == Syntax::Json;
        // Comments, sections and declarations could hide the property that is found.
        if !json && memmem::find(body, b"<!").is_some() {
            return false;
        }
        self.finders.len() == expected.values.len()
            && self.finders.iter().zip(&expected.values).all(|(finder, value)| {
                let mut places = finder.find_iter(body);
                let (Some(at), None) = (places.next(), places.next()) else { return false };
                let found = &body[at + finder.needle().len()..];
                if json { is_json_value(found, value) } else { is_element_text(found, value) }
            })
    }

    #[cold]
    fn reads(&self, body: &[u8], expected: &Expected) -> bool {
        let Ok(document) = document::read(body, self.format, None) else { return false };
        let entity = match (document.extent, &document.entities[..]) {
            (Extent::Single | Extent::Collection, [entity]) => entity,
            _ => return false,
        };
        self.names.len() == expected.values.len()
            && self.names.iter().zip(&expected.values).all(|(name, value)| {
                entity.property(name).and_then(Scalar::text).is_some_and(|text| text == value.text)
            })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Json,
    Atom,
    Xml,
}

fn syntax(format: Format) -> Syntax {
    match format {
        Format::V2Json | Format::V4Json { .. } | Format::RestJson => Syntax::Json,
        Format::V2Atom => Syntax::Atom,
        Format::RestXml { .. } => Syntax::Xml,
    }
}

fn is_element_text(found: &[u8], value: &Value) -> bool {
    found.strip_prefix(value.escaped.as_slice()).is_some_and(|rest| rest.starts_with(b"</"))
}

fn is_json_value(found: &[u8], value: &Value) -> bool {
    match found {
        [b'"', text @ ..] => is_json_text(text, &value.escaped),
        _ => found
            .strip_prefix(value.text.as_bytes())
            .and_then(|rest| rest.first())
            .is_some_and(|end| matches!(end, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t')),
    }
}

/// Whether the text up to the quote is the escaped one; V2 also escapes slashes.
fn is_json_text(found: &[u8], escaped: &[u8]) -> bool {
    if let Some(rest) = found.strip_prefix(escaped) {
        return rest.first() == Some(&b'"');
    }
    let mut rest = found;
    for byte in escaped {
        if *byte == b'/' && rest.starts_with(b"\\/") {
            rest = &rest[1..];
        }
        match rest.split_first() {
            Some((first, behind)) if first == byte => rest = behind,
            _ => return false,
        }
    }
    rest.first() == Some(&b'"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Ieee754, Metadata, Padding, Release};

    const V4: Format = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
    const XML: Format = Format::RestXml { padding: Padding::Without };
    const KEY: &[(&str, &str)] = &[("k", "A&B"), ("n", "17"), ("d", "/Date(1)/")];

    #[test]
    fn the_entity_asked_for_is_known_in_each_format() {
        for (format, body) in [
            (V4, r#"{"@odata.context":"x","k":"A&B","kk":1,"n":17,"d":"/Date(1)/"}"#),
            (V4, r#"{ "k" : "A\u0026B" , "n" : 17 , "d":"\/Date(1)\/" , "x":{"k":"C"}}"#),
            (V4, r#"{"value":[{"k":"A&B","n":"17","d":"/Date(1)/"}]}"#),
            (Format::V2Json, r#"{"d":{"__metadata":{"uri":"x"},"d":"\/Date(1)\/","k":"A&B","n":17}}"#),
            (Format::RestJson, r#"{"n":17,"d":"/Date(1)/","k":"A&B"}"#),
            (
                Format::V2Atom,
                "<entry><content><m:properties><d:k>A&amp;B</d:k><d:n>17</d:n><d:d>/Date(1)/</d:d></m:properties></content></entry>",
            ),
            (
                Format::V2Atom,
                "<entry><content><m:properties><d:k m:type='x'>A&#38;B</d:k><d:n>17</d:n><d:d><![CDATA[/Date(1)/]]></d:d></m:properties></content></entry>",
            ),
            (XML, "<e><k>A&amp;B</k><n>17</n><d>/Date(1)/</d></e>"),
        ] {
            assert!(check(body.as_bytes(), format, KEY), "{body}");
        }
    }

    #[test]
    fn another_entity_is_not_taken_for_it() {
        for (format, body) in [
            (V4, ""),
            (V4, "{}"),
            (V4, r#"{"k":"A&B","n":17}"#),
            (V4, r#"{"k":"A&B","n":170,"d":"/Date(1)/"}"#),
            (V4, r#"{"k":"A&BC","n":17,"d":"/Date(1)/"}"#),
            (V4, r#"{"k":"C","n":17,"d":"/Date(1)/","x":{"k":"A&B"}}"#),
            (V4, r#"{"t":"\"k\":\"A&B\"","n":17,"d":"/Date(1)/"}"#),
            (V4, r#"{"value":[{"k":"A&B","n":17,"d":"/Date(1)/"},{"k":"A&B","n":17,"d":"/Date(1)/"}]}"#),
            (Format::V2Json, r#"{"error":{"code":"404"}}"#),
            (
                Format::V2Atom,
                "<entry><content><m:properties><d:k>A&amp;B</d:k><d:n>17</d:n><!--<d:d>/Date(1)/</d:d>--></m:properties></content></entry>",
            ),
            (Format::V2Atom, "<feed><entry><d:k>A&amp;B</d:k></entry></feed>"),
            (XML, "<e><k>A&amp;B</k><n>17</n><d null='true'/></e>"),
        ] {
            assert!(!check(body.as_bytes(), format, KEY), "{body}");
        }
    }
}
