//! Stylesheets run over small documents, by the sections of the recommendation.

use super::*;
use crate::error::ErrorKind;

/// A stylesheet around top-level elements, without a declaration of XML in its result.
fn sheet(content: &str) -> Stylesheet {
    let source = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='{XSLT}' xmlns:p='urn:p' xmlns:exsl='http://exslt.org/common' \
         exclude-result-prefixes='p exsl'><xsl:output omit-xml-declaration='yes'/>{content}</xsl:stylesheet>"
    );
    Stylesheet::compile(source.as_bytes(), "test.xsl").unwrap_or_else(|error| panic!("{content}: {error}"))
}

fn check(content: &str, input: &str, expected: &str) {
    let stylesheet = sheet(content);
    let document = stylesheet.parse(input).unwrap();
    let result = stylesheet.transform(&document).unwrap_or_else(|error| panic!("{content}: {error}"));
    assert_eq!(String::from_utf8(result).unwrap(), expected, "{content}");
}

/// As [`check`], with the content of the template for the root.
fn check_root(body: &str, input: &str, expected: &str) {
    check(&format!("<xsl:template match='/'>{body}</xsl:template>"), input, expected);
}

#[test]
fn built_in_rules_copy_the_texts() {
    check("", "<a>1<b c='x'>2</b><!--n-->3</a>", "123");
}

#[test]
fn templates_are_chosen_by_precedence_priority_and_order() {
    let rules = "<xsl:template match='b'>b</xsl:template><xsl:template match='*'>*<xsl:apply-templates/></xsl:template>\
                 <xsl:template match='a/b'>ab</xsl:template><xsl:template match='b[@x]' priority='2'>x</xsl:template>";
    check(rules, "<a><b/><b x=''/><c><b/></c></a>", "*abx*b");
    check("<xsl:template match='b'>1</xsl:template><xsl:template match='b'>2</xsl:template>", "<a><b/></a>", "2");
}

#[test]
fn elements_attributes_and_texts_are_made() {
    check_root(
        "<r a='{1+1}' b='{{x}}'><xsl:value-of select='//b'/></r>",
        "<a><b>&lt;</b></a>",
        "<r a=\"2\" b=\"{x}\">&lt;</r>",
    );
    check_root(
        "<xsl:element name='p:e'><xsl:attribute name='p:a'>1</xsl:attribute><xsl:attribute name='n' namespace='urn:q'>2</xsl:attribute></xsl:element>",
        "<a/>",
        "<p:e xmlns:p=\"urn:p\" xmlns:ns0=\"urn:q\" p:a=\"1\" ns0:n=\"2\"/>",
    );
    check_root(
        "<xsl:comment>a--b-</xsl:comment><xsl:processing-instruction name='t'>x?></xsl:processing-instruction>",
        "<a/>",
        "<!--a- -b- --><?t x? >?>",
    );
}

#[test]
fn variables_parameters_and_calls() {
    let recursion = "<xsl:template match='/'><xsl:call-template name='count'><xsl:with-param name='n' select='3'/></xsl:call-template></xsl:template>\
                     <xsl:template name='count'><xsl:param name='n' select='9'/><xsl:value-of select='$n'/>\
                     <xsl:if test='$n &gt; 0'><xsl:call-template name='count'><xsl:with-param name='n' select='$n - 1'/></xsl:call-template></xsl:if></xsl:template>";
    check(recursion, "<a/>", "3210");
    check_root(
        "<xsl:variable name='v'><b>x</b></xsl:variable><xsl:copy-of select='$v'/><xsl:value-of select='exsl:node-set($v)/b'/>",
        "<a/>",
        "<b>x</b>x",
    );
    check(
        "<xsl:variable name='g' select='$h + 1'/><xsl:variable name='h' select='count(//b)'/><xsl:template match='/'><xsl:value-of select='$g'/></xsl:template>",
        "<a><b/><b/></a>",
        "3",
    );
}

#[test]
fn sorting_numbering_and_keys() {
    check_root(
        "<xsl:for-each select='//b'><xsl:sort select='.' data-type='number' order='descending'/><xsl:value-of select='.'/>,</xsl:for-each>",
        "<a><b>2</b><b>10</b><b>1</b></a>",
        "10,2,1,",
    );
    check(
        "<xsl:template match='b'><xsl:number level='multiple' count='a|b' format='1.a '/></xsl:template>",
        "<a><b/><b/></a>",
        "1.a 1.b ",
    );
    check(
        "<xsl:key name='k' match='b' use='@k'/><xsl:template match='/'><xsl:for-each select=\"//b[generate-id() = generate-id(key('k', @k)[1])]\"><xsl:value-of select='@k'/>=<xsl:value-of select=\"sum(key('k', @k))\"/>;</xsl:for-each></xsl:template>",
        "<a><b k='x'>1</b><b k='y'>2</b><b k='x'>3</b></a>",
        "x=4;y=2;",
    );
}

#[test]
fn what_is_wrong_is_refused_when_it_is_compiled_with_its_place() {
    let check = |content: &str, words: &str| {
        let source = format!("<xsl:stylesheet version='1.0' xmlns:xsl='{XSLT}'>\n{content}</xsl:stylesheet>");
        let error = Stylesheet::compile(source.as_bytes(), "test.xsl").err().unwrap_or_else(|| panic!("{content}"));
        assert_eq!(error.kind(), ErrorKind::Static, "{error}");
        assert!(error.to_string().contains(words), "{content}: {error}");
    };
    check(
        "<xsl:template match='/'><xsl:value-off select='.'/></xsl:template>",
        "did you mean `xsl:value-of`? (test.xsl:2:25)",
    );
    check("<xsl:template match='/'><xsl:value-of select='1 +'/></xsl:template>", "(test.xsl:2:50)");
    check("<xsl:template match='a/..'/>", "no pattern");
    check("<xsl:template match='/'><xsl:value-of select='$v'/></xsl:template>", "variable `$v` is not declared");
    check("<xsl:template match='/'><xsl:call-template name='t'/></xsl:template>", "no template of the name `t`");
    check("<xsl:template match='/'><xsl:sort/></xsl:template>", "no place in a template");
}
