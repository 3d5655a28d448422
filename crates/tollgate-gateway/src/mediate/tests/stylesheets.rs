//! Messages through stylesheets: whole documents, payloads of envelopes, parameters, charsets, and errors.

use std::path::PathBuf;

use proptest::prelude::*;
use tollgate_xml::Document;
use tollgate_xml::tree::{NodeId, NodeKind};

use super::super::testing::{Message, Told, compiled_in};

/// The beginning and the end of a stylesheet.
const BEGIN: &str = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform' xmlns:m='http://services.samples' \
     exclude-result-prefixes='m'>";
const END: &str = "</xsl:stylesheet>";
const IDENTITY: &str =
    "<xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>";

/// A configuration in a folder of its own with these stylesheets.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new(stylesheets: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in stylesheets {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{BEGIN}{content}{END}")).unwrap();
        }
        World { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("gateway.toml")
    }

    fn through(&self, sequence: &str, message: &Message) -> Told {
        let sequence = compiled_in(&self.file(), sequence).unwrap_or_else(|error| panic!("{error}"));
        message.through_sequence(&sequence)
    }

    fn refusal(&self, sequence: &str) -> String {
        compiled_in(&self.file(), sequence).unwrap_err().to_string()
    }
}

fn envelope(version: &str, payload: &str) -> String {
    let namespace = match version {
        "1.1" => "http://schemas.xmlsoap.org/soap/envelope/",
        _ => "http://www.w3.org/2003/05/soap-envelope",
    };
    format!(
        "<s:Envelope xmlns:s='{namespace}'><s:Header><wsa:MessageID xmlns:wsa='http://www.w3.org/2005/08/addressing'>\
         urn:1</wsa:MessageID></s:Header>\n<s:Body>{payload}</s:Body></s:Envelope>"
    )
}

const CHECK_PRICE: &str =
    "<m0:CheckPriceRequest xmlns:m0='http://services.samples'><m0:Code>IBM</m0:Code></m0:CheckPriceRequest>";
const TO_QUOTE: &str = "<xsl:output omit-xml-declaration='yes'/><xsl:template match='/m:CheckPriceRequest'><m:getQuote>\
    <m:symbol><xsl:value-of select='m:Code'/></m:symbol></m:getQuote></xsl:template>";

#[test]
fn the_payload_is_transformed_and_the_envelope_kept() {
    let world = World::new(&[("request.xsl", TO_QUOTE)]);
    for (version, content_type) in
        [("1.1", "text/xml"), ("1.2", "application/soap+xml; charset=utf-8; action=\"urn:a\"")]
    {
        let message = Message::post("/q", &envelope(version, CHECK_PRICE)).with("Content-Type", content_type);
        let told = world.through("[{ xslt = \"request.xsl\", payload = \"soap\" }]", &message);
        assert_eq!(told.outcome, "");
        let payload = "<m:getQuote xmlns:m=\"http://services.samples\"><m:symbol>IBM</m:symbol></m:getQuote>";
        assert_eq!(told.body, envelope(version, payload));
        assert_eq!(told.fields, format!("Content-Type: {content_type}\n"));
    }
}

#[test]
fn the_action_is_that_of_the_new_message() {
    let world = World::new(&[("request.xsl", TO_QUOTE)]);
    let sequence = "[{ xslt = \"request.xsl\", payload = \"soap\", action = \"urn:getQuote\" }]";
    let check = |version: &str, content_type: &str, expected: &str| {
        let message = Message::post("/q", &envelope(version, CHECK_PRICE)).with("Content-Type", content_type);
        assert_eq!(world.through(sequence, &message).fields, expected);
    };
    check("1.1", "text/xml", "Content-Type: text/xml\nSOAPAction: \"urn:getQuote\"\n");
    check(
        "1.2",
        "application/soap+xml; action=\"urn:checkPrice\"",
        "content-type: application/soap+xml; charset=utf-8; action=\"urn:getQuote\"\n",
    );
}

#[test]
fn the_whole_document_is_transformed_and_its_content_type_follows_the_method() {
    let world = World::new(&[
        ("xml.xsl", &format!("<xsl:output omit-xml-declaration='yes'/>{IDENTITY}")),
        ("text.xsl", "<xsl:output method='text'/><xsl:template match='/'><xsl:value-of select='//b'/></xsl:template>"),
        ("html.xsl", "<xsl:template match='/'><html><body><xsl:value-of select='//b'/></body></html></xsl:template>"),
        (
            "latin.xsl",
            "<xsl:output encoding='ISO-8859-1'/><xsl:template match='/'><a><xsl:value-of select='//b'/></a></xsl:template>",
        ),
        (
            "own.xsl",
            "<xsl:output media-type='application/vnd.own+xml' omit-xml-declaration='yes'/><xsl:template match='/'><own/></xsl:template>",
        ),
    ]);
    let check = |stylesheet: &str, said: &str, fields: &str, body: &str| {
        let message = Message::post("/q", "<a><b>t</b></a>").with("Content-Type", said);
        let told = world.through(&format!("[{{ xslt = \"{stylesheet}\" }}]"), &message);
        assert_eq!((told.fields.as_str(), told.body.as_str()), (fields, body), "{stylesheet}");
    };
    check(
        "xml.xsl",
        "application/soap+xml; action=\"a\"",
        "Content-Type: application/soap+xml; action=\"a\"\n",
        "<a><b>t</b></a>",
    );
    check("text.xsl", "text/xml", "content-type: text/plain; charset=utf-8\n", "t");
    let message = Message::post("/q", "<a><b>t</b></a>").with("Content-Type", "text/xml");
    let told = world.through("[{ xslt = \"html.xsl\" }]", &message);
    assert_eq!(told.fields, "content-type: text/html; charset=utf-8\n");
    assert!(told.body.starts_with("<html>"), "{}", told.body);
    check(
        "latin.xsl",
        "application/xml; charset=utf-8; x=y",
        "content-type: application/xml; x=y; charset=iso-8859-1\n",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<a>t</a>",
    );
    check("own.xsl", "text/xml", "content-type: application/vnd.own+xml; charset=utf-8\n", "<own/>");
}

#[test]
fn parameters_come_from_the_configuration_and_from_the_message() {
    let content = "<xsl:output omit-xml-declaration='yes'/><xsl:param name='a' select=\"'none'\"/><xsl:param name='b'/>\
        <xsl:param name='c'/><xsl:param name='d'/>\
        <xsl:template match='/'><r a='{$a}' b='{$b}' c='{$c}' d='{$d}'/></xsl:template>";
    let world = World::new(&[("p.xsl", content)]);
    let sequence = "[{ xslt = \"p.xsl\", parameters = { a = { header = \"X-None\" }, b = \"text\", \
        c = { query = \"c\" }, d = { xpath = \"//y\" } } }]";
    let message = Message::post("/q?c=%3C", "<x><y>in</y></x>");
    assert_eq!(world.through(sequence, &message).body, "<r a=\"none\" b=\"text\" c=\"&lt;\" d=\"in\"/>");
}

#[test]
fn other_charsets_become_utf8_around_a_payload() {
    let world = World::new(&[("same.xsl", IDENTITY)]);
    let sequence = "[{ xslt = \"same.xsl\", payload = \"soap\" }]";
    let text = format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", envelope("1.1", "<p>büro</p>"));
    let latin: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
    let said = "text/xml; charset=ISO-8859-1";
    let told = world.through(sequence, &Message::post("/q", "").with("Content-Type", said).with_bytes(&latin));
    assert_eq!(told.fields, "content-type: text/xml; charset=utf-8\n");
    assert!(told.body.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?><s:Envelope"), "{}", told.body);
    assert!(told.body.contains(">büro</p>"), "{}", told.body);
}

#[test]
fn messages_that_are_not_meant_pass_as_they_are() {
    let world = World::new(&[("request.xsl", TO_QUOTE)]);
    let sequence = "[{ xslt = \"request.xsl\", payload = \"soap\" }]";
    let passes = |message: Message| {
        let told = world.through(sequence, &message);
        assert_eq!(told, message.through("[]"));
    };
    passes(Message::get("/q"));
    passes(Message::post("/q", &envelope("1.1", " ")));
    let fault = "<s:Fault><faultcode>s:Client</faultcode></s:Fault>";
    passes(Message::post("/q", &envelope("1.1", fault)).answered(500));
    passes(Message::post("/q", "<html><br></html>").with("Content-Type", "text/html").answered(503));
}

#[test]
fn messages_that_cannot_be_transformed_are_refused() {
    let world = World::new(&[
        ("request.xsl", TO_QUOTE),
        (
            "endless.xsl",
            "<xsl:template match='/'><xsl:call-template name='t'/></xsl:template><xsl:template name='t'><xsl:call-template name='t'/></xsl:template>",
        ),
        (
            "long.xsl",
            "<xsl:template match='/'><xsl:call-template name='t'><xsl:with-param name='s' select=\"'0123456789'\"/></xsl:call-template></xsl:template>\
            <xsl:template name='t'><xsl:param name='s'/><xsl:call-template name='t'><xsl:with-param name='s' select='concat($s, $s)'/></xsl:call-template></xsl:template>",
        ),
        ("stop.xsl", "<xsl:template match='/'><xsl:message terminate='yes'>no</xsl:message></xsl:template>"),
    ]);
    let check = |stylesheet: &str, part: &str, message: Message, expected: &str| {
        let told = world.through(&format!("[{{ xslt = \"{stylesheet}\", payload = \"{part}\" }}]"), &message);
        assert!(told.outcome.contains(expected), "{stylesheet}: {}", told.outcome);
    };
    let json = || Message::post("/q", "{}").with("Content-Type", "application/json");
    check("request.xsl", "soap", json(), "status: 415");
    check("request.xsl", "soap", Message::post("/q", "<a/>"), "expected an envelope of SOAP");
    check("request.xsl", "soap", Message::post("/q", "<a>"), "status: 400");
    check("request.xsl", "soap", Message::post("/q", "<a>").answered(200), "status: 502");
    check("endless.xsl", "document", Message::post("/q", "<a/>"), "status: 400");
    check("long.xsl", "document", Message::post("/q", "<a/>"), "status: 400");
    check("stop.xsl", "document", Message::post("/q", "<a/>"), "status: 500");
}

#[test]
fn stylesheets_that_cannot_be_used_are_refused_with_their_place() {
    let world = World::new(&[
        ("wrong.xsl", "\n<xsl:template match='a['/>"),
        ("text.xsl", "<xsl:output method='text'/>"),
        ("latin.xsl", "<xsl:output encoding='ISO-8859-1'/>"),
        ("typed.xsl", "<xsl:output doctype-system='a.dtd'/>"),
        ("outside.xsl", "<xsl:import href='../other.xsl'/>"),
        ("within.xsl", "<xsl:import href='parts/one.xsl'/>"),
        ("parts/one.xsl", "<xsl:include href='two.xsl'/>"),
        ("parts/two.xsl", IDENTITY),
    ]);
    let check = |sequence: &str, expected: &[&str]| {
        let told = world.refusal(sequence);
        for expected in expected.iter().chain(&["gateway.toml:2:"]) {
            assert!(told.contains(expected), "{told}");
        }
    };
    check("[{ xslt = \"wrong.xsl\" }]", &["this stylesheet cannot be used", "wrong.xsl:2:"]);
    check("[{ xslt = \"text.xsl\", payload = \"soap\" }]", &["what stands in an envelope is XML"]);
    check("[{ xslt = \"latin.xsl\", payload = \"soap\" }]", &["what stands in an envelope is UTF-8"]);
    check("[{ xslt = \"typed.xsl\", payload = \"soap\" }]", &["no document type"]);
    check("[{ xslt = \"outside.xsl\" }]", &["it leads out of the stylesheet's folder"]);
    check("[{ xslt = \"within.xsl\", action = \"a b\" }]", &["expected a URI"]);
    check("[{ xslt = \"within.xsl\", payload = \"saop\" }]", &["did you mean `soap`?"]);
    let told = world.through("[{ xslt = \"within.xsl\" }]", &Message::post("/q", "<a/>"));
    assert!(told.body.ends_with("<a/>"), "{}", told.body);
}

/// Content of a document, without irrelevant parts: prefixes, and where namespaces are declared.
fn meaning(text: &str) -> Vec<String> {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let told = |node: NodeId| {
        let name = format!("{}}}{}", document.namespace_uri(node), document.local_name(node));
        let mut attributes: Vec<String> = document
            .attributes(node)
            .map(|attribute| format!("{}={}", document.local_name(attribute), document.value(attribute)))
            .collect();
        attributes.sort();
        let value = if document.kind(node) == NodeKind::Element { "" } else { document.value(node) };
        format!("{:?} {name} {attributes:?} {value:?}", document.kind(node))
    };
    document.descendants(NodeId::ROOT).map(told).collect()
}

fn payload() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-z é&]{0,6}".prop_map(|text| text.replace('&', "&amp;")),
        Just("<e/>".to_owned()),
        Just("<q:e xmlns:q='urn:q' q:k='1'/>".to_owned()),
        Just("<e xmlns='urn:d'><f/></e>".to_owned()),
        Just("<!--c--><![CDATA[<]]>".to_owned()),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop::collection::vec(inner, 0..3).prop_map(|children| format!("<g k='v'>{}</g>", children.concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_identity_keeps_the_message(content in payload(), default in prop::bool::ANY) {
        let world = World::new(&[("same.xsl", IDENTITY)]);
        let sequence = "[{ xslt = \"same.xsl\", payload = \"soap\" }]";
        let whole = if default {
            let namespace = "http://www.w3.org/2003/05/soap-envelope";
            format!("<Envelope xmlns='{namespace}'><Header/><Body><p xmlns=''>{content}</p></Body></Envelope>")
        } else {
            envelope("1.1", &format!("<p>{content}</p>"))
        };
        let told = world.through(sequence, &Message::post("/q", &whole));
        prop_assert_eq!(&told.outcome, "");
        prop_assert_eq!(meaning(&told.body), meaning(&whole));
    }
}
