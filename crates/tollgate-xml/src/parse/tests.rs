//! Documents read, and refused with the place of what is wrong.

use super::*;
use crate::tree::Declaration;

/// The tree in one line: elements as `{uri}prefix:local[…]`, attributes `@…=…`, texts in quotes.
fn shown(document: &Document<'_>, node: NodeId) -> String {
    let name = |node: NodeId| {
        let (uri, prefix, local) = (document.namespace_uri(node), document.prefix(node), document.local_name(node));
        let uri = if uri.is_empty() { String::new() } else { format!("{{{uri}}}") };
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}:") };
        format!("{uri}{prefix}{local}")
    };
    let value = document.value(node);
    match document.kind(node) {
        NodeKind::Root | NodeKind::Element => {
            let attributes = document.attributes(node).map(|node| shown(document, node));
            let children = document.children(node).map(|node| shown(document, node));
            let content: Vec<String> = attributes.chain(children).collect();
            format!("{}[{}]", if node == NodeId::ROOT { String::new() } else { name(node) }, content.join(" "))
        }
        NodeKind::Attribute => format!("@{}={value:?}", name(node)),
        NodeKind::Text => format!("{value:?}"),
        NodeKind::Comment => format!("!{value:?}"),
        NodeKind::ProcessingInstruction => format!("?{}{value:?}", name(node)),
    }
}

fn check(source: &str, expected: &str) {
    let document = Document::parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(shown(&document, NodeId::ROOT), expected, "{source}");
}

fn refused(source: &str, place: usize, words: &str) {
    let options = Options { doctype: Doctype::InternalSubset, ..Options::default() };
    let error = Document::parse_with(source, &options).err().unwrap_or_else(|| panic!("{source} was read"));
    assert!(error.message().contains(words), "{source}: {error}");
    assert_eq!(error.position().map(|position| position.offset), Some(place), "{source}: {error}");
}

#[test]
fn every_kind_of_node_is_read() {
    check("<a/>", "[a[]]");
    check(
        "\u{FEFF}<?xml version=\"1.0\"?>\n<!--c--><a b='1' c=\"2\">x<b/>y</a>\n<?pi  data ?>",
        "[!\"c\" a[@b=\"1\" @c=\"2\" \"x\" b[] \"y\"] ?pi\"data \"]",
    );
    check("<a>1&lt;2<![CDATA[<&]]>&#x41;</a>", "[a[\"1<2<&A\"]]");
    check("<a>\r\n b\r</a>", "[a[\"\\n b\\n\"]]");
    check("<a b=' x\n\ty&#10;&quot;'/>", "[a[@b=\" x  y\\n\\\"\"]]");
    check("<a><![CDATA[]]></a>", "[a[]]");
    check("<a>]] > ]]</a >", "[a[\"]] > ]]\"]]");
}

#[test]
fn namespaces_are_resolved_where_they_are_declared() {
    check("<p:a xmlns:p='u' p:b='1' b='2'/>", "[{u}p:a[@{u}p:b=\"1\" @b=\"2\"]]");
    check("<a xmlns='u'><b xmlns=''><c/></b><d x='1'/></a>", "[{u}a[b[c[]] {u}d[@x=\"1\"]]]");
    check("<a xml:lang='de'/>", "[a[@{http://www.w3.org/XML/1998/namespace}xml:lang=\"de\"]]");
    let document = Document::parse("<a xmlns='u' xmlns:p='v'><b xmlns:p='w' xmlns=''/></a>").unwrap();
    let inner = document.children(document.document_element().unwrap()).next().unwrap();
    let in_scope: Vec<_> = document
        .namespaces_in_scope(inner)
        .map(|Declaration { prefix, namespace }| (document.prefix_text(prefix), document.namespace_text(namespace)))
        .collect();
    assert_eq!(in_scope, [("p", "w"), ("xml", XML_NAMESPACE)]);
}

#[test]
fn what_is_not_well_formed_is_refused_with_its_place() {
    refused("", 0, "no element");
    refused("<a>", 3, "ends within `a`");
    refused("<a/><b/>", 4, "second document element");
    refused("<a/>x", 4, "outside");
    refused(" &amp;<a/>", 1, "outside");
    refused("<a></b>", 3, "expected");
    refused("<a b='1' b='2'/>", 9, "twice");
    refused("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", 35, "twice");
    refused("<a xmlns:p='u' xmlns:p='u'/>", 15, "twice");
    refused("<a b='<'/>", 6, "`<` in a value");
    refused("<a b='1'c='2'/>", 8, "white space");
    refused("<a b/>", 3, "no value");
    refused("<a b=1/>", 5, "no quotes");
    refused("<1a/>", 1, "no name of an element");
    refused("<p:a/>", 1, "prefix `p` is not declared");
    refused("<a p:b='1'/>", 3, "prefix `p` is not declared");
    refused("<a xmlns:p=''/>", 3, "declared to be no namespace");
    refused("<a xmlns:xmlns='u'/>", 3, "cannot be declared");
    refused("<a>&nbsp;</a>", 3, "not declared");
    refused("<a>&#0;</a>", 3, "no document");
    refused("<a>]]></a>", 3, "]]&gt;");
    refused("<a>\u{1}</a>", 3, "U+0001");
    refused("<a><!-- -- --></a>", 8, "--");
    refused("<a><?xml version='1.0'?></a>", 3, "very beginning");
    refused(" <?xml version='1.0'?><a/>", 1, "very beginning");
    refused("<a><?XML x?></a>", 5, "very beginning");
    refused("<!DOCTYPE a [<!ENTITY e '<b/>'>]><a>&e;</a>", 36, "markup");
}

#[test]
fn a_document_type_is_read_only_where_it_is_asked_for() {
    let source = "<!DOCTYPE a [<!ENTITY e 'x'><!ATTLIST b id ID #IMPLIED k CDATA 'd'>]><a>&e;<b id=' 7 '/></a>";
    assert!(Document::parse(source).unwrap_err().message().contains("document type"));
    let options = Options { doctype: Doctype::InternalSubset, ..Options::default() };
    let document = Document::parse_with(source, &options).unwrap();
    assert_eq!(shown(&document, NodeId::ROOT), "[a[\"x\" b[@id=\"7\" @k=\"d\"]]]");
    let found = document.element_by_id("7").unwrap();
    assert_eq!(document.local_name(found), "b");
    assert_eq!(document.source_of(found), None);
}

#[test]
fn limits_hold_at_the_limit_and_one_above() {
    let check = |budget: Budget, fits: &str, above: &str| {
        let options = Options { budget: Some(&budget), ..Options::default() };
        assert!(Document::parse_with(fits, &options).is_ok(), "{fits}");
        let error = Document::parse_with(above, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Budget, "{above}: {error}");
    };
    let budget = Budget::default();
    check(Budget { depth_max: 2, ..budget.clone() }, "<a><b/></a>", "<a><b><c/></b></a>");
    check(Budget { nodes_max: 4, ..budget.clone() }, "<a b='1'>x</a>", "<a b='1'>x<c/></a>");
    check(Budget { attributes_max: 2, ..budget.clone() }, "<a b='1' c=''/>", "<a b='1' c='' d=''/>");
    check(Budget { text_bytes_max: 3, ..budget.clone() }, "<a b='123'>123</a>", "<a>12&#51;4</a>");
    check(Budget { text_bytes_max: 3, ..budget.clone() }, "<a>123</a>", "<a b='1234'/>");
    check(Budget { document_bytes_max: 4, ..budget }, "<a/>", "<ab/>");
}

#[test]
fn white_space_is_left_out_where_it_is_asked_for() {
    struct Strips;
    impl Whitespace for Strips {
        fn strips(&self, _: &str, local: &str) -> bool {
            local != "keep"
        }
    }
    let options = Options { whitespace: Some(&Strips), ..Options::default() };
    let source = "<a> <keep> </keep> <b xml:space='preserve'> <c> <d xml:space='default'> </d></c></b> x </a>";
    let document = Document::parse_with(source, &options).unwrap();
    let space = "@{http://www.w3.org/XML/1998/namespace}xml:space";
    assert_eq!(
        shown(&document, NodeId::ROOT),
        format!("[a[keep[\" \"] b[{space}=\"preserve\" \" \" c[\" \" d[{space}=\"default\"]]] \" x \"]]")
    );
    let element = document.document_element().unwrap();
    assert_eq!(document.source_of(element), None);
    assert_eq!(document.source_of(document.children(element).next().unwrap()), Some("<keep> </keep>"));
}

#[test]
fn siblings_and_subtrees_are_found_both_ways() {
    let document = Document::parse("<a x='1'>t<b y='2'><c/></b><!--d--><e/></a>").unwrap();
    let element = document.document_element().unwrap();
    let children: Vec<NodeId> = document.children(element).collect();
    assert_eq!(children.len(), 4);
    let mut backwards = vec![children[3]];
    while let Some(before) = document.previous_sibling(backwards[backwards.len() - 1]) {
        backwards.push(before);
    }
    backwards.reverse();
    assert_eq!(backwards, children);
    assert_eq!(document.next_sibling(children[1]), Some(children[2]));
    assert_eq!(document.next_sibling(children[3]), None);
    assert_eq!(document.descendants(element).count(), 5);
    assert_eq!(document.string_value(element), "t");
    assert!(document.string_value_is(element, "t") && !document.string_value_is(element, "tt"));
}
