//! Texts in answers, found by JSON pointer, XPath, header field or regular expression.
//!
//! JSON is read no further than to the text.

use tollgate_xml::tree::NodeId;
use tollgate_xml::xpath::Found;
use tollgate_xml::{Document, Options, XPath};

use crate::load::answer::json;
use crate::traffic::scenario::{Place, Source};

/// Names of header fields and, for each, its value in the answer.
pub(super) type Fields<'f> = (&'f [String], &'f [Option<Vec<u8>>]);

/// Appends the text at `source`; `headers` has the fields that the step uses. `false` if there is none.
///
/// # Errors
/// The reason why the answer cannot be read.
pub(super) fn find(source: &Source, body: &[u8], headers: Fields<'_>, out: &mut Vec<u8>) -> Result<bool, String> {
    let Some(pattern) = &source.pattern else { return place(&source.place, body, headers, out) };
    let whole;
    let text = match &source.place {
        Place::Body => body,
        other => {
            let start = out.len();
            if !place(other, body, headers, out)? {
                return Ok(false);
            }
            whole = out.split_off(start);
            &whole
        }
    };
    let Some(captures) = pattern.captures(text) else { return Ok(false) };
    let found = captures.get(1).or(captures.get(0)).map_or(&[][..], |found| found.as_bytes());
    out.extend_from_slice(found);
    Ok(true)
}

fn place(place: &Place, body: &[u8], (names, values): Fields<'_>, out: &mut Vec<u8>) -> Result<bool, String> {
    match place {
        Place::Body => {
            out.extend_from_slice(body);
            Ok(true)
        }
        Place::Header(name) => {
            let field = names.iter().zip(values).find(|(known, _)| known.eq_ignore_ascii_case(name));
            let value = field.and_then(|(_, value)| value.as_deref());
            out.extend_from_slice(value.unwrap_or_default());
            Ok(value.is_some())
        }
        Place::Json(path) => json::find(body, path, out),
        Place::XPath(expression) => {
            xpath(body, expression, out).map_err(|error| format!("the answer is no XML that can be searched: {error}"))
        }
    }
}

/// Appends the text of the first node, or a computed value; a false condition counts as not found.
fn xpath(body: &[u8], expression: &XPath, out: &mut Vec<u8>) -> Result<bool, tollgate_xml::Error> {
    let document = Document::parse_bytes(body, &Options::default())?;
    match expression.find(&document, NodeId::ROOT)? {
        Found::Nodes(nodes) => {
            let Some(first) = nodes.first() else { return Ok(false) };
            out.extend_from_slice(document.place_value(*first).as_bytes());
        }
        Found::Boolean(false) => return Ok(false),
        Found::Boolean(true) | Found::Number(_) | Found::String(_) => {
            let text = expression.string(&document, NodeId::ROOT)?;
            out.extend_from_slice(text.as_bytes());
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn found(place: Place, pattern: Option<&str>, body: &str) -> Result<Option<String>, String> {
        let pattern = pattern.map(|pattern| regex::bytes::Regex::new(pattern).unwrap());
        let (names, values) = (["Location", "X"].map(str::to_owned), [Some(b"http://h/orders(17)".to_vec()), None]);
        let mut out = Vec::new();
        let is_there = find(&Source { place, pattern }, body.as_bytes(), (&names, &values), &mut out)?;
        Ok(is_there.then(|| String::from_utf8(out).unwrap()))
    }

    #[test]
    fn a_json_pointer_finds_what_stands_there_as_it_was_written() {
        let check = |path: &str, expected: Option<&str>| {
            let body = r#"{"a":{"b":[1.50,"x\"y",null,{"c":[true]}]},"":7}"#;
            let names = path.split('/').skip(1).map(str::to_owned).collect();
            assert_eq!(found(Place::Json(names), None, body).unwrap().as_deref(), expected, "{path}");
        };
        check("/a/b/0", Some("1.50"));
        check("/a/b/1", Some("x\"y"));
        check("/a/b/2", None);
        check("/a/b/3", Some("{\"c\":[true]}"));
        check("/a/b/3/c/0", Some("true"));
        check("/a/b/4", None);
        check("/a/x", None);
        check("/a/b/0/c", None);
        check("/", Some("7"));
        assert!(found(Place::Json(vec!["a".to_owned()]), None, "{a").unwrap_err().contains("is no JSON"));
    }

    #[test]
    fn xpath_fields_and_patterns_find_theirs() {
        let xpath = |text: &str| Place::XPath(Arc::new(XPath::compile(text, &[("n", "urn:n")]).unwrap()));
        let check = |place: Place, pattern: Option<&str>, expected: Option<&str>| {
            let body = "<a xmlns='urn:n'><b>1</b><b>2</b></a>";
            assert_eq!(found(place, pattern, body).unwrap().as_deref(), expected);
        };
        check(xpath("//n:b"), None, Some("1"));
        check(xpath("//n:c"), None, None);
        check(xpath("count(//n:b)"), None, Some("2"));
        check(xpath("count(//n:b) = 3"), None, None);
        check(Place::Header("location".to_owned()), Some(r"\((\d+)\)"), Some("17"));
        check(Place::Header("x".to_owned()), None, None);
        check(Place::Body, Some("<b>[0-9]</b>"), Some("<b>1</b>"));
        check(Place::Body, Some("<c>"), None);
    }
}
