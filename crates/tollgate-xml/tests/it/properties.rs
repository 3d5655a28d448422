//! Properties: XPath finds what its definitions say, and a document that is written and read again is the same.

use proptest::prelude::*;
use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::xpath::Found;
use tollgate_xml::{Document, Stylesheet, XPath};

use super::canonical::{self, Blanks};
use super::generated::{Choices, source};
use super::naive::{Tree, Value, written};

/// All nodes in the order of the document: their places are their numbers in the naive tree.
fn in_order(document: &Document<'_>) -> Vec<NodeId> {
    fn push(document: &Document<'_>, node: NodeId, nodes: &mut Vec<NodeId>) {
        nodes.push(node);
        if document.kind(node) == NodeKind::Element {
            nodes.extend(document.attributes(node));
        }
        document.children(node).for_each(|child| push(document, child, nodes));
    }
    let mut nodes = Vec::new();
    push(document, NodeId::ROOT, &mut nodes);
    nodes
}

fn is_same(found: &Found, value: &Value, order: &[NodeId]) -> bool {
    match (found, value) {
        (Found::Number(found), Value::Number(number)) => {
            found.total_cmp(number).is_eq() || (found.is_nan() && number.is_nan()) || (*found == 0.0 && *number == 0.0)
        }
        (Found::Boolean(found), Value::Boolean(value)) => found == value,
        (Found::String(found), Value::Text(text)) => found == text,
        (Found::Nodes(found), Value::Nodes(nodes)) => {
            found.iter().map(|place| place.node()).eq(nodes.iter().map(|node| order[*node]))
        }
        _ => false,
    }
}

fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut choices = Choices::new(bytes);
    let tree: Tree = choices.tree();
    let text = source(&tree, 0);
    let document = Document::parse(&text).unwrap();
    let order = in_order(&document);
    prop_assert_eq!(order.len(), tree.0.len());
    for _ in 0..4 {
        let expression = choices.expression(3);
        let compiled = XPath::compile(&written(&expression), &[]).unwrap();
        for (number, node) in order.iter().enumerate() {
            let found = compiled.find(&document, *node).unwrap();
            let value = tree.evaluate(&expression, number);
            let same = is_same(&found, &value, &order);
            prop_assert!(same, "{} at node {number} of {text}: {found:?}, expected {value:?}", written(&expression));
            // Each way of asking stops as early as it can, and has to come to the same.
            let boolean = match &value {
                Value::Nodes(nodes) => !nodes.is_empty(),
                Value::Number(number) => *number != 0.0 && !number.is_nan(),
                Value::Boolean(value) => *value,
                Value::Text(text) => !text.is_empty(),
            };
            prop_assert_eq!(compiled.boolean(&document, *node).unwrap(), boolean, "{}", written(&expression));
            if let Value::Nodes(nodes) = &value {
                let first = nodes.first().map(|first| document.string_value(order[*first])).unwrap_or_default();
                prop_assert_eq!(compiled.string(&document, *node).unwrap(), first, "{}", written(&expression));
            }
        }
    }
    Ok(())
}

/// Content of a document: elements, texts with what must be escaped, comments, instructions, namespaces.
fn content() -> impl Strategy<Value = String> {
    let text = "[a-z &<>\"'\\]\\r\\n\\tä€]{1,6}"
        .prop_map(|text| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;"));
    let value = "[a-z <>&'\\n\\tä€]{0,5}"
        .prop_map(|text| text.replace('&', "&amp;").replace('<', "&lt;").replace('\n', "&#10;").replace('\t', "&#9;"));
    let leaf = prop_oneof![
        text,
        "[a-z <&]{0,6}".prop_map(|text| format!("<!--{text}-->")),
        "[a-z <&]{0,6}".prop_map(|text| format!("<?pi {text}?>")),
        "[a-z <&>]{0,6}".prop_map(|text| format!("<![CDATA[{text}]]>")),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let name = prop_oneof![Just("a"), Just("b"), Just("p:a"), Just("q:b")];
        let namespace = prop_oneof![Just(""), Just(" xmlns='urn:d'"), Just(" xmlns:p='urn:other'"), Just(" xmlns=''")];
        (name, namespace, value.clone(), value.clone(), prop::collection::vec(inner, 0..4)).prop_map(
            |(name, namespace, one, two, children)| {
                format!("<{name}{namespace} x=\"{one}\" p:x=\"{two}\">{}</{name}>", children.concat())
            },
        )
    })
}

fn identity(rules: &str) -> Stylesheet {
    let sheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{rules}</xsl:stylesheet>"
    );
    Stylesheet::compile(sheet.as_bytes(), "identity.xsl").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_find_what_their_definitions_say(bytes in prop::collection::vec(any::<u8>(), 20..120)) {
        check(&bytes)?;
    }

    #[test]
    fn a_document_that_is_written_and_read_again_is_the_same(content in content(), outer in content()) {
        let text = format!("<r xmlns:p='urn:p' xmlns:q='urn:q'>{content}{outer}</r>");
        let expected = canonical::xml(text.as_bytes(), Blanks::Count).unwrap();
        for rules in [
            "<xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>",
            "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>",
            // Through a tree in the place of bytes of the source.
            "<xsl:template match='/'><xsl:variable name='v'><xsl:copy-of select='.'/></xsl:variable><xsl:copy-of select='$v'/></xsl:template>",
            "<xsl:output encoding='US-ASCII'/><xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>",
            "<xsl:output encoding='UTF-16'/><xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>",
            "<xsl:output cdata-section-elements='a b'/><xsl:template match='/'><xsl:copy-of select='.'/></xsl:template>",
        ] {
            let stylesheet = identity(rules);
            let bytes = stylesheet.transform(&stylesheet.parse(&text).unwrap()).unwrap();
            let again = canonical::xml(&bytes, Blanks::Count);
            prop_assert_eq!(again.as_ref(), Ok(&expected), "{} of {}: {}", rules, text, String::from_utf8_lossy(&bytes));
        }
    }
}
