//! Checks that the corpus is complete: it contains every element, attribute and function of XSLT 1.0 and XPath 1.0,
//! every axis and operator.

const INSTRUCTIONS: &str = "apply-imports apply-templates attribute attribute-set call-template choose comment copy \
    copy-of decimal-format element fallback for-each if import include key message namespace-alias number otherwise \
    output param preserve-space processing-instruction sort strip-space stylesheet template text transform value-of \
    variable when with-param";

/// Attributes with each value that the recommendation names.
const ATTRIBUTES: &str = "match= name= select= mode= priority= test= href= use= elements= stylesheet-prefix= \
    result-prefix= namespace= use-attribute-sets= xsl:use-attribute-sets= exclude-result-prefixes= \
    extension-element-prefixes= xsl:version= xsl:exclude-result-prefixes= xsl:extension-element-prefixes= \
    disable-output-escaping=\"yes\" disable-output-escaping=\"no\" terminate=\"yes\" terminate=\"no\" \
    level=\"any\" level=\"multiple\" count= from= value= format= lang= letter-value=\"alphabetic\" \
    letter-value=\"traditional\" grouping-separator= grouping-size= data-type=\"text\" data-type=\"number\" \
    order=\"ascending\" order=\"descending\" case-order=\"upper-first\" case-order=\"lower-first\" method=\"xml\" \
    method=\"html\" method=\"text\" version= encoding= omit-xml-declaration=\"yes\" omit-xml-declaration=\"no\" \
    standalone=\"yes\" standalone=\"no\" doctype-public= doctype-system= cdata-section-elements= indent=\"yes\" \
    indent=\"no\" media-type= decimal-separator= infinity= minus-sign= NaN= percent= per-mille= zero-digit= digit= \
    pattern-separator= xml:space=";

const FUNCTIONS: &str = "last position count id local-name namespace-uri name string concat starts-with contains \
    substring-before substring-after substring string-length normalize-space translate boolean not true false lang \
    number sum floor ceiling round document key format-number current unparsed-entity-uri generate-id system-property \
    element-available function-available exsl:node-set exsl:object-type text comment processing-instruction node";

const AXES: &str = "ancestor ancestor-or-self attribute child descendant descendant-or-self following \
    following-sibling namespace parent preceding preceding-sibling self";

const OPERATORS: [&str; 15] =
    [" and ", " or ", " div ", " mod ", " + ", " - ", " * ", " = ", " != ", " < ", " <= ", " > ", " >= ", " | ", "//"];

/// Whether a text occurs in another and is no part of a longer name there.
fn stands_in(text: &str, wanted: &str) -> bool {
    let begins_name = wanted.starts_with(|first: char| first.is_ascii_alphabetic());
    text.match_indices(wanted).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !(begins_name && before.is_some_and(|before| before.is_ascii_alphanumeric() || "-:_.$@".contains(before)))
    })
}

#[test]
fn a_part_of_a_longer_name_is_not_taken_for_a_name() {
    for (text, wanted, expected) in [
        ("generate-id(", "id(", false),
        ("generate-id() or id(1)", "id(", true),
        ("ancestor-or-self::a", "self::", false),
        ("xml:lang='de'", "lang=", false),
        (" lang='de'", "lang=", true),
        ("a//b", "//", true),
    ] {
        assert_eq!(stands_in(text, wanted), expected, "{wanted} in {text}");
    }
}

#[test]
fn the_corpus_names_everything_that_the_recommendations_name() {
    // Stylesheets and what they load, and nothing else: what cases are called and what they expect is prose.
    let texts = super::corpus::all().into_iter().flat_map(|case| {
        let files = case.files.into_iter().map(|(_, text)| text);
        std::iter::once(case.stylesheet).chain(files)
    });
    let texts: Vec<String> = texts.map(|text| without_addresses(&text)).collect();
    let names = |list: &str, before: &str, behind: &str| {
        list.split_whitespace().map(|name| format!("{before}{name}{behind}")).collect::<Vec<_>>()
    };
    let mut wanted = names(INSTRUCTIONS, "<xsl:", "");
    wanted.extend(names(ATTRIBUTES, "", ""));
    wanted.extend(names(FUNCTIONS, "", "("));
    wanted.extend(names(AXES, "", "::"));
    wanted.extend(OPERATORS.map(|operator| operator.replace('<', "&lt;")));
    let is_there = |name: &String| texts.iter().any(|text| stands_in(text, name));
    let absent: Vec<_> = wanted.into_iter().filter(|name| !is_there(name)).collect();
    assert!(absent.is_empty(), "{absent:?}");
}

/// A stylesheet without the addresses of namespaces, in which `//` is no operator, and with its signs as the cases write
/// them.
fn without_addresses(stylesheet: &str) -> String {
    stylesheet.replace("://", ":").replace("&gt;", ">")
}
