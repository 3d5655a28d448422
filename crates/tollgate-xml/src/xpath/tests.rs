//! Expressions over one document, by the sections of the recommendation.

use super::*;
use crate::error::ErrorKind;
use crate::tree::place;
use crate::{Doctype, Options};

const SOURCE: &str = "<!DOCTYPE shop [<!ATTLIST item id ID #IMPLIED>]>\
<shop xmlns:p='urn:p' xml:lang='en-GB'>\
<!--stock--><?sort by name?>\
<item id='a' price='10'><name>Pen</name><tag>red</tag><tag>blue</tag></item>\
<item id='b' price='2.5'><name>Ink</name><p:tag>red</p:tag></item>\
<item id='c' price='x'><name lang='de'>Papier</name><item id='d' price='7'><name>Card</name></item></item>\
<empty/>\
</shop>";

fn document() -> Document<'static> {
    let options = Options { doctype: Doctype::InternalSubset, ..Options::default() };
    Document::parse_with(SOURCE, &options).unwrap()
}

fn found(document: &Document<'_>, expression: &str, node: NodeId) -> String {
    let compiled = XPath::compile(expression, &[("p", "urn:p"), ("q", "urn:q")])
        .unwrap_or_else(|error| panic!("{expression}: {error}"));
    match compiled.find(document, node).unwrap_or_else(|error| panic!("{expression}: {error}")) {
        Found::Boolean(value) => value.to_string(),
        Found::Number(value) => number::to_text(value).into_owned(),
        Found::String(text) => format!("{text:?}"),
        Found::Nodes(places) => {
            let shown = places.iter().map(|place| shown(document, *place));
            format!("[{}]", shown.collect::<Vec<_>>().join(" "))
        }
    }
}

/// A node as `name#id`, `@name`, `"text"` and so on.
fn shown(document: &Document<'_>, place: Place) -> String {
    use crate::tree::NodeKind;
    let name = place::qualified_name(document, place);
    if place.namespace != 0 {
        return format!("xmlns:{name}");
    }
    match document.kind(place.node) {
        NodeKind::Root => "/".to_owned(),
        NodeKind::Element => {
            let id = document.attributes(place.node).find(|node| document.local_name(*node) == "id");
            id.map_or_else(|| name.to_string(), |id| format!("{name}#{}", document.value(id)))
        }
        NodeKind::Attribute => format!("@{name}"),
        NodeKind::Text => format!("{:?}", document.value(place.node)),
        NodeKind::Comment => "!".to_owned(),
        NodeKind::ProcessingInstruction => format!("?{name}"),
    }
}

fn check(expression: &str, expected: &str) {
    let document = document();
    assert_eq!(found(&document, expression, NodeId::ROOT), expected, "{expression}");
}

/// Checks an expression from the item `b`.
fn check_from_b(expression: &str, expected: &str) {
    let document = document();
    let b = document.element_by_id("b").unwrap();
    assert_eq!(found(&document, expression, b), expected, "{expression}");
}

#[test]
fn steps_follow_every_axis() {
    check("/", "[/]");
    check("/shop/item", "[item#a item#b item#c]");
    check("//item", "[item#a item#b item#c item#d]");
    check("/shop/node()", "[! ?sort item#a item#b item#c empty]");
    check("//comment()|//processing-instruction('sort')", "[! ?sort]");
    check("//processing-instruction('x')", "[]");
    check("//@lang", "[@lang]");
    check("//@xml:lang", "[@xml:lang]");
    check("/shop/item/@*", "[@id @price @id @price @id @price]");
    check("//p:*", "[p:tag]");
    check("//q:tag", "[]");
    check("/*/namespace::*", "[xmlns:p xmlns:xml]");
    check("/*/namespace::p", "[xmlns:p]");
    check("string(/*/namespace::p)", "\"urn:p\"");
    check_from_b(".", "[item#b]");
    check_from_b("..", "[shop]");
    check_from_b("ancestor-or-self::node()", "[/ shop item#b]");
    check_from_b("following-sibling::*", "[item#c empty]");
    check_from_b("preceding-sibling::node()", "[! ?sort item#a]");
    check_from_b("following::name", "[name name]");
    check_from_b("preceding::*", "[item#a name tag tag]");
    check_from_b("descendant::text()", "[\"Ink\" \"red\"]");
    check_from_b("@id/following::*[1]", "[name]");
    check_from_b("@id/parent::*", "[item#b]");
    check_from_b("namespace::p/ancestor::*", "[shop item#b]");
    check_from_b("self::item", "[item#b]");
    check_from_b("self::shop", "[]");
}

#[test]
fn predicates_count_along_their_axis() {
    check("//item[2]", "[item#b]");
    check("(//item)[4]", "[item#d]");
    check("//item[last()]", "[item#c item#d]");
    check("//tag[2]", "[tag]");
    check("string(//tag[2])", "\"blue\"");
    check("/shop/item[position() > 1][1]", "[item#b]");
    check("/shop/item[@price > 3]", "[item#a]");
    check("/shop/item[name = 'Ink']/@id", "[@id]");
    check("/shop/item[tag][last()]", "[item#a]");
    check("/shop/item[0]", "[]");
    check("/shop/item[1.5]", "[]");
    check("/shop/item[position() = last() - 1]", "[item#b]");
    check("/shop/item[count(*) = 2]/@id", "[@id @id]");
    check("/shop/item['x']", "[item#a item#b item#c]");
    check("/shop/item[-1]", "[]");
    check_from_b("preceding-sibling::*[1]", "[item#a]");
    check_from_b("preceding::node()[1]", "[\"blue\"]");
    check_from_b("ancestor::*[last()]", "[shop]");
    check("//name[../@price = 7]", "[name]");
    check("//item[.//item]", "[item#c]");
}

#[test]
fn sets_of_nodes_are_in_order_and_without_doubles() {
    check("//name/..", "[item#a item#b item#c item#d]");
    check("//item//name", "[name name name name]");
    check("//item/ancestor::*", "[shop item#c]");
    check("//tag | //name | //item[1]", "[item#a name tag tag name name item#d name]");
    check("count(//item/descendant-or-self::*)", "11");
    check("id('b d zz')", "[item#b item#d]");
    check("id('c')/item", "[item#d]");
    check("id(//item/@id)[2]", "[item#b]");
}

#[test]
fn steps_that_meet_nodes_again_and_again_take_no_time_that_explodes() {
    let source = format!("{}{}", "<a>".repeat(400), "</a>".repeat(400));
    let document = Document::parse(&source).unwrap();
    let find = |expression: &str| found(&document, expression, NodeId::ROOT);
    assert_eq!(find("count(//a//a//a//a//a)"), "396");
    assert_eq!(find("//a//a//a//a//a = 'x'"), "false");
    assert_eq!(find("count(//a/ancestor::a/descendant::a/..)"), "399");
}

#[test]
fn values_are_converted_as_the_recommendation_says() {
    check("1 + 2 * 3 - -4", "11");
    check("7 mod -3", "1");
    check("-7 mod 3", "-1");
    check("1.5 mod 0.5", "0");
    check("1 div 0", "Infinity");
    check("0 div 0", "NaN");
    check("'5' * true()", "5");
    check("--'5'", "5");
    check("number('x') = number('x')", "false");
    check("sum(//item[@id != 'c']/@price)", "19.5");
    check("sum(//@price)", "NaN");
    check("string(1 div 3)", "\"0.3333333333333333\"");
    check("boolean(//none)", "false");
    check("not(0 div 0)", "true");
    check("string(true())", "\"true\"");
    check("floor(-1.5)", "-2");
    check("ceiling(1.2)", "2");
    check("round(-0.5)", "0");
}

#[test]
fn comparisons_with_sets_mean_some_node() {
    check("//tag = 'blue'", "true");
    check("//tag != 'blue'", "true");
    check("//none = ''", "false");
    check("//none != ''", "false");
    check("//empty = ''", "true");
    check("//@price > 9", "true");
    check("//@price > 10", "false");
    check("10 <= //@price", "true");
    check("//tag = //p:tag", "true");
    check("//name = //tag", "false");
    check("//name != //name", "true");
    check("//empty != //empty", "false");
    check("//@price < //@price", "true");
    check("//none = false()", "true");
    check("//tag = true()", "true");
    check("//tag > 0 = false()", "true");
    check("1 < 2 < 3", "true");
    check("3 > 2 > 1", "false");
    check("'a' < 'b'", "false");
    check("'1' = 1.0", "true");
    check("true() = 'x'", "true");
    check("//tag = 'none' or //name = 'Pen' and not(//none)", "true");
}

#[test]
fn functions_of_texts_and_names() {
    check("concat('a', 1, true())", "\"a1true\"");
    check("string(/shop/item[2])", "\"Inkred\"");
    check("string-length('größe')", "5");
    check("normalize-space('  a  b ')", "\"a b\"");
    check("name(//p:tag)", "\"p:tag\"");
    check("local-name(//p:tag)", "\"tag\"");
    check("namespace-uri(//p:tag)", "\"urn:p\"");
    check("name(//none)", "\"\"");
    check("name(//processing-instruction())", "\"sort\"");
    check("string(//processing-instruction())", "\"by name\"");
    check("//name[lang('en')]", "[name name name name]");
    check("boolean(//name[lang('e')])", "false");
    check("starts-with('abc', '')", "true");
    check("contains('abc', 'bc')", "true");
    check("translate('bar', 'abc', 'AB')", "\"BAr\"");
    check("substring('12345', 2, 3)", "\"234\"");
    check_from_b("string()", "\"Inkred\"");
    check_from_b("name()", "\"item\"");
    check_from_b("string-length()", "6");
    check_from_b("number(@price)", "2.5");
}

#[test]
fn what_is_no_expression_is_refused_with_its_place() {
    for (expression, at) in [
        ("", 0),
        ("/shop/", 6),
        ("//", 2),
        ("a[1", 3),
        ("a]", 1),
        ("foo::a", 0),
        ("x:a", 0),
        ("$v", 0),
        ("f()", 0),
        ("count()", 0),
        ("count('a')", 0),
        ("true(1)", 0),
        ("1 | a", 0),
        ("'a'/b", 0),
        ("a = ", 4),
        ("text(", 5),
        ("..[1]", 2),
    ] {
        let error = XPath::compile(expression, &[]).err().unwrap_or_else(|| panic!("{expression} was compiled"));
        assert_eq!((error.kind(), error.position().unwrap().offset), (ErrorKind::Static, at), "{expression}: {error}");
    }
    let deep = "(".repeat(100) + "1" + &")".repeat(100);
    assert_eq!(XPath::compile(&deep, &[]).unwrap_err().kind(), ErrorKind::Budget);
}

#[test]
fn nodes_that_are_in_each_other_lead_to_each_node_once() {
    let document = Document::parse("<a><a><b/><a><b/></a></a><b/></a>").unwrap();
    for (expression, expected) in [
        ("count(//a/b)", 3.0),
        ("count(//a//b)", 3.0),
        ("count(//a/b/ancestor::a)", 3.0),
        ("count(//a/b/..)", 3.0),
        ("count(//a/@*/..)", 0.0),
        ("count(//b/preceding::b)", 2.0),
        ("count(/a/preceding-sibling::*/b | //a/following-sibling::b)", 1.0),
        ("count(//a/descendant-or-self::a/b)", 3.0),
    ] {
        let found = XPath::compile(expression, &[]).unwrap().number(&document, NodeId::ROOT);
        assert_eq!(found, Ok(expected), "{expression}");
    }
}
