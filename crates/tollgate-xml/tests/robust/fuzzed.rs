//! Invariants for any bytes: the bodies of the fuzz targets, which the corpus test replays.

use quick_xml::events::Event;
use tollgate_xml::pull::{self, PullReader};
use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::{Budget, Doctype, Document, Error, ErrorKind, Options, RunOptions, Stylesheet, XPath};

const IDENTITY: &[u8] = br#"<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:template match="@*|node()"><xsl:copy><xsl:apply-templates select="@*|node()"/></xsl:copy></xsl:template>
</xsl:stylesheet>"#;
const PREFIXES: &[(&str, &str)] = &[("p", "urn:p"), ("s", "http://services.samples")];

/// A document: read or refused with a place in it; what was read is written, and that is read and written the same again.
pub(crate) fn document(bytes: &[u8]) {
    let identity = Stylesheet::compile(IDENTITY, "identity").unwrap();
    for doctype in [Doctype::Refuse, Doctype::InternalSubset] {
        let options = Options { budget: Some(&budget()), doctype, ..Options::default() };
        let document = match Document::parse_bytes(bytes, &options) {
            Ok(document) => document,
            Err(error) => {
                is_placed(&error, bytes);
                continue;
            }
        };
        if doctype == Doctype::Refuse {
            assert_eq!(pieces(&document), pieces_by_another_reader(document.source()));
            assert_eq!(pulled(document.source()), Ok(outline(&document)));
        }
        let run = RunOptions { budget: Some(&budget()), ..RunOptions::default() };
        let Some(written) = within_budget(identity.run(&document, &run)) else { continue };
        let again = Document::parse_bytes(&written.bytes, &Options::default()).unwrap();
        assert_eq!(identity.transform(&again).unwrap(), written.bytes);
        assert_eq!(document.string_value(NodeId::ROOT), again.string_value(NodeId::ROOT));
        for node in document.descendants(NodeId::ROOT) {
            // The source of an element means what the tree holds.
            assert!(document.source_of(node).is_none_or(|source| source.starts_with('<') && source.ends_with('>')));
        }
    }
}

/// Elements, comments and processing instructions of a document.
fn pieces(document: &Document<'_>) -> [usize; 3] {
    let count = |kind| document.descendants(NodeId::ROOT).filter(|node| document.kind(*node) == kind).count();
    [count(NodeKind::Element), count(NodeKind::Comment), count(NodeKind::ProcessingInstruction)]
}

/// Elements by their local names, and the texts between their tags.
fn outline(document: &Document<'_>) -> String {
    fn within(document: &Document<'_>, node: NodeId, out: &mut String) {
        match document.kind(node) {
            NodeKind::Text => out.push_str(document.value(node)),
            NodeKind::Element => {
                out.push_str(&format!("<{}", document.local_name(node)));
                document.children(node).for_each(|child| within(document, child, out));
                out.push_str("/>");
            }
            NodeKind::Root => document.children(node).for_each(|child| within(document, child, out)),
            _ => {}
        }
    }
    let mut out = String::new();
    within(document, NodeId::ROOT, &mut out);
    out
}

/// The same as the pull reader finds them: what becomes a tree, it reads.
fn pulled(source: &str) -> Result<String, pull::Wrong> {
    let mut reader = PullReader::new(source, budget().depth_max);
    let mut out = String::new();
    while let Some(event) = reader.event()? {
        match event {
            pull::Event::Begin(tag) => out.push_str(&format!("<{}", tag.name())),
            pull::Event::Text(text) => out.push_str(&text),
            pull::Event::End => out.push_str("/>"),
        }
    }
    Ok(out)
}

/// The same as a reader finds them that somebody else wrote: what we read, it reads too.
fn pieces_by_another_reader(source: &str) -> [usize; 3] {
    let mut reader = quick_xml::Reader::from_str(source);
    reader.config_mut().check_comments = true;
    let mut counts = [0; 3];
    loop {
        match reader.read_event().unwrap() {
            Event::Start(_) | Event::Empty(_) => counts[0] += 1,
            Event::Comment(_) => counts[1] += 1,
            Event::PI(_) => counts[2] += 1,
            Event::Eof => return counts,
            _ => {}
        }
    }
}

/// An expression in the first line, a document behind it: all types of its value agree, and streaming answers the same or
/// nothing.
pub(crate) fn xpath(bytes: &[u8]) {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(text) = std::str::from_utf8(&bytes[..end]) else { return };
    let source = &bytes[end + 1..];
    let expression = match XPath::compile(text, PREFIXES) {
        Ok(expression) => expression,
        Err(error) => return is_placed(&error, text.as_bytes()),
    };
    let answer = expression.stream().and_then(|stream| stream.test(source, &Options::default()));
    let document = match Document::parse_bytes(source, &Options::default()) {
        Ok(document) => document,
        Err(error) => {
            // A message may be answered before it breaks, not behind that.
            let place = error.position().map_or(0, |position| position.offset);
            return assert!(answer.is_none_or(|answer| answer.read_bytes <= place), "{answer:?}, but {error}");
        }
    };
    let Some(holds) = within_budget(expression.boolean(&document, NodeId::ROOT)) else { return };
    assert!(answer.is_none_or(|answer| answer.holds == holds), "{answer:?}");
    let found = expression.find(&document, NodeId::ROOT).unwrap();
    let (number, string) =
        (expression.number(&document, NodeId::ROOT).unwrap(), expression.string(&document, NodeId::ROOT).unwrap());
    match found {
        tollgate_xml::xpath::Found::Boolean(value) => {
            assert_eq!((value, number), (holds, f64::from(u8::from(value))));
        }
        tollgate_xml::xpath::Found::Number(value) => {
            assert!(value.total_cmp(&number).is_eq() || (value.is_nan() && number.is_nan()));
            assert_eq!(holds, value != 0.0 && !value.is_nan());
        }
        tollgate_xml::xpath::Found::String(value) => assert_eq!((value.is_empty(), &value), (!holds, &string)),
        tollgate_xml::xpath::Found::Nodes(places) => {
            assert!(places.is_sorted() && places.windows(2).all(|pair| pair[0] != pair[1]));
            assert_eq!(places.is_empty(), !holds);
            let first = places.first().map_or_else(String::new, |place| document.place_value(*place).into_owned());
            assert_eq!(first, string);
        }
    }
}

/// A stylesheet: refused with its place, or run within its budget, twice to the same result.
pub(crate) fn stylesheet(bytes: &[u8]) {
    const INPUT: &str = "<r a='1'><b>x</b><!--c--><b k='v'>y<c/></b><?t d?></r>";
    let stylesheet = match Stylesheet::compile(bytes, "s.xsl") {
        Ok(stylesheet) => stylesheet,
        Err(error) => return is_placed(&error, bytes),
    };
    let document = stylesheet.parse(INPUT).unwrap();
    let run = || stylesheet.run(&document, &RunOptions { budget: Some(&budget()), ..RunOptions::default() });
    let first = run();
    assert_eq!(first, run());
    if let Ok(result) = first {
        assert!(result.bytes.len() <= budget().output_bytes_max * 2);
    }
}

/// Small enough that no input takes long.
fn budget() -> Budget {
    Budget {
        depth_max: 100,
        nodes_max: 100_000,
        output_bytes_max: 1 << 20,
        text_bytes_max: 1 << 18,
        entity_bytes_max: 1 << 16,
        instructions_max: 200_000,
        template_depth_max: 50,
        ..Budget::default()
    }
}

fn is_placed(error: &Error, bytes: &[u8]) {
    assert!(!error.message().is_empty());
    if let Some(position) = error.position() {
        // A text in another encoding has other places than its bytes.
        assert!(position.offset <= bytes.len() * 3 && position.line > 0 && position.column > 0, "{error}");
    }
}

fn within_budget<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Budget | ErrorKind::Dynamic), "{error}");
            None
        }
    }
}
