//! Conditions answered while reading, compared with the full engine.

use proptest::prelude::*;

use super::*;
use crate::{Document, XPath, tree::NodeId};

const PREFIXES: &[(&str, &str)] = &[("p", "urn:p"), ("q", "urn:q")];

/// Compares an answer with the full engine: the same, or the message is broken behind the part that was read.
fn hold(condition: &str, source: &[u8]) -> Option<Answer> {
    let compiled = XPath::compile(condition, PREFIXES).unwrap_or_else(|error| panic!("{condition}: {error}"));
    let answer = compiled.stream()?.test(source, &Options::default())?;
    let text = String::from_utf8_lossy(source);
    match Document::parse_bytes(source, &Options::default()) {
        Ok(document) => {
            let expected = compiled.boolean(&document, NodeId::ROOT).unwrap();
            assert_eq!(answer.holds, expected, "{condition} of {text:?}");
        }
        Err(error) => {
            let place = error.position().map_or(0, |position| position.offset);
            assert!(place >= answer.read_bytes, "{condition} of {text:?}: {answer:?}, but {error}");
        }
    }
    Some(answer)
}

#[test]
fn conditions_are_answered_while_reading() {
    let check = |condition: &str, source: &str, expected: Option<bool>| {
        assert_eq!(hold(condition, source.as_bytes()).map(|answer| answer.holds), expected, "{condition} of {source}");
    };
    check("//a = 'x'", "<r><a>y</a><a>x</a></r>", Some(true));
    check("//a != 'x'", "<r><a>x</a></r>", Some(false));
    check("/r/a", "<r><b><a/></b></r>", Some(false));
    check("r//a", "<r><b><a/></b></r>", Some(true));
    check("/r/*/a/@k = 'v'", "<r><b><a k='u'/><a k=\"v\"/></b></r>", Some(true));
    check("//@k", "<r><b k=''/></r>", Some(true));
    check("//@*", "<r xmlns='urn:p'><b/></r>", Some(false));
    check("//p:a/@q:k", "<r xmlns='urn:p'><b xmlns:z='urn:q'><a z:k=''/></b></r>", Some(true));
    check("//p:a", "<r xmlns='urn:p'><b xmlns=''><a/></b></r>", Some(false));
    check("//p:*", "<r xmlns:x='urn:p'><x:b/></r>", Some(true));
    check("//text() = 'x'", "<r>y<!--c-->x<b/></r>", Some(true));
    check("r/text()", "<r><b>x</b></r>", Some(false));
    check("contains(//a, 'BM') and not(//b)", "<r><a>IBM</a></r>", Some(true));
    check("contains(//a, 'x')", "<r><a>y</a><a>x</a></r>", Some(false));
    check("contains(//a, '')", "<r/>", Some(true));
    check("string(//a) = ''", "<r/>", Some(true));
    check("starts-with(string(//a), 'I') or //b", "<r><b/><a>x</a></r>", Some(true));
    check("//a = 'ä'", "<r><a>ä</a></r>", Some(true));
    check("'x' = //a", "<?xml version='1.0' encoding='utf-8'?><r><a >x</a ></r >", Some(true));
    check("//a/b = 'x'", "<r><a><b><b>y</b></b></a></r>", None);
    check("//a = ''", "<r><a/></r>", Some(true));
    check("true()", "<r/>", Some(true));
}

#[test]
fn what_is_doubtful_is_left_to_the_full_engine() {
    for source in [
        "<r><a>x&amp;</a></r>",
        "<r><a><![CDATA[x]]></a></r>",
        "<r><a>x<!--c--></a></r>",
        "<r><a>x\r</a></r>",
        "<r><?pi?><a>x</a></r>",
        "<!DOCTYPE r><r><a>x</a></r>",
        "<?xml version='1.0' encoding='latin1'?><r><a>x</a></r>",
        "<?xml version='1.0' standalone='x'?><r><a>x</a></r>",
        "<r>]]><a>x</a></r>",
        "<r>\u{1}<a>x</a></r>",
        "<r b='1' b='2'><a>x</a></r>",
        "<r b='<'><a>x</a></r>",
        "<r b='1'c='2'><a>x</a></r>",
        "<z:r><a>x</a></z:r>",
        "<r z:b=''><a>x</a></r>",
        "<r xmlns:z=''><a>x</a></r>",
        "<r><b></c><a>x</a></r>",
        "<r/><a>x</a>",
        "<r><a>y</a>",
        "<1r><a>x</a></1r>",
        "<ä><a>x</a></ä>",
        "x<r><a>x</a></r>",
        "",
    ] {
        assert_eq!(hold("//a = 'x'", source.as_bytes()), None, "{source}");
    }
    assert_eq!(hold("//a = 'x'", b"<r>\xff<a>x</a></r>"), None);
    let deep = "<r>".repeat(40) + "<a>x</a>" + &"</r>".repeat(40);
    assert_eq!(hold("//a = 'x'", deep.as_bytes()), None);
}

#[test]
fn reading_ends_with_the_answer() {
    let answer = hold("//a = 'x'", b"<r><a>x</a><b></c>").unwrap();
    assert_eq!(answer, Answer { holds: true, read_bytes: "<r><a>x</a>".len() });
    assert_eq!(hold("//a = 'x'", b"<r><a>y</a><b></c>"), None);
    assert_eq!(hold("/r/a", b"<r><a>").unwrap().read_bytes, "<r><a>".len());
}

#[test]
fn other_conditions_are_not_streamed() {
    for condition in [
        "//a[1]",
        "count(//a) = 1",
        "//a = 1",
        "//a = //b",
        "//a/..",
        "//comment()",
        "/",
        "//a//.",
        "//a | //b",
        "string(//a)",
        "//a < 'x'",
        "id('x')",
        "/r/@a/b",
        "normalize-space(//a) = 'x'",
    ] {
        assert!(XPath::compile(condition, PREFIXES).unwrap().stream().is_none(), "{condition}");
    }
}

#[test]
fn budgets_and_white_space_are_kept() {
    let stream = XPath::compile("//a", &[]).unwrap();
    let stream = stream.stream().unwrap();
    let source = b"<r><a/></r>";
    let with = |budget: &crate::Budget| stream.test(source, &Options { budget: Some(budget), ..Options::default() });
    let budget = crate::Budget::default();
    assert!(with(&budget).is_some());
    assert!(with(&crate::Budget { document_bytes_max: 10, ..budget.clone() }).is_none());
    assert!(with(&crate::Budget { depth_max: 1, ..budget.clone() }).is_none());
    assert!(with(&crate::Budget { attributes_max: 0, ..budget.clone() }).is_none());
    assert!(with(&crate::Budget { nodes_max: 2, ..budget.clone() }).is_none());
    assert!(with(&crate::Budget { text_bytes_max: 2, ..budget }).is_none());
}

fn condition() -> impl Strategy<Value = String> {
    let name = || prop_oneof![4 => Just("a"), 4 => Just("b"), 2 => Just("p:a"), 2 => Just("q:b"), 1 => Just("*"), 1 => Just("p:*")];
    let first = prop_oneof![4 => Just("//"), 1 => Just("/r/"), 1 => Just("/*/"), 1 => Just("r//")];
    let rest = proptest::collection::vec((prop_oneof![Just("/"), Just("//")], name()), 0..3);
    let end = prop_oneof![
        6 => Just(""), 1 => Just("/@a"), 1 => Just("//@p:b"), 1 => Just("/@*"), 1 => Just("/text()"), 1 => Just("//text()"),
    ];
    let path = (first, name(), rest, end).prop_map(|(first, name, rest, end)| {
        let rest: String = rest.into_iter().map(|(separator, name)| format!("{separator}{name}")).collect();
        format!("{first}{name}{rest}{end}")
    });
    let literal = prop_oneof![Just("x"), Just("y"), Just(""), Just("xy")];
    let atom = (path, literal, 0..7_u8).prop_map(|(path, literal, form)| match form {
        0 => path,
        1 => format!("{path} = '{literal}'"),
        2 => format!("'{literal}' != {path}"),
        3 => format!("contains({path}, '{literal}')"),
        4 => format!("starts-with(string({path}), '{literal}')"),
        5 => format!("string({path}) != '{literal}'"),
        _ => format!("not({path})"),
    });
    atom.prop_recursive(2, 6, 2, |inner| {
        (inner.clone(), inner, any::<bool>())
            .prop_map(|(left, right, is_and)| format!("({left} {} {right})", if is_and { "and" } else { "or" }))
    })
}

/// Messages that are well-formed as long as they keep to the prefixes that are declared.
fn message() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        20 => Just("x"), 10 => Just("y"), 10 => Just(" \n"), 4 => Just("ä"), 4 => Just("<!--x-->"), 1 => Just("&lt;"),
        1 => Just("]]"), 1 => Just("<![CDATA[x]]>"), 1 => Just("<?x y?>"),
    ];
    let name = prop_oneof![4 => Just("a"), 4 => Just("b"), 2 => Just("p:a"), 2 => Just("z:b")];
    let attributes = prop_oneof![
        8 => Just(""), 1 => Just(" a='x'"), 1 => Just(" b=\"y\" a=''"), 1 => Just(" p:b='x'"), 3 => Just(" xmlns='urn:p'"),
        3 => Just(" xmlns=''"), 3 => Just(" xmlns:z='urn:p' z:a='x'"), 3 => Just(" xmlns:p='urn:q' p:b='y'"),
        1 => Just(" xmlns:p='urn:q' p:a='&amp;'"), 1 => Just(" a = 'x>' "),
    ];
    let inner = text.prop_map(str::to_owned).prop_recursive(5, 40, 4, move |inner| {
        let children = proptest::collection::vec(inner, 0..4);
        (name.clone(), attributes.clone(), children).prop_map(|(name, attributes, children)| match children.concat() {
            content if content.is_empty() => format!("<{name}{attributes}/>"),
            content => format!("<{name}{attributes}>{content}</{name}>"),
        })
    });
    proptest::collection::vec(inner, 1..6)
        .prop_map(|content| format!("<r xmlns:p='urn:p' xmlns:z='urn:q'>{}</r>", content.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_full_engine_answers_the_same(condition in condition(), message in message()) {
        prop_assert!(XPath::compile(&condition, PREFIXES).unwrap().stream().is_some());
        hold(&condition, message.as_bytes());
    }

    #[test]
    fn broken_messages_are_answered_only_before_the_break(
        condition in condition(), message in message(), at in 0..300_usize, byte in 0..=255_u8, cut in any::<bool>(),
    ) {
        let mut bytes = message.into_bytes();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        hold(&condition, &bytes);
    }
}
