//! Tests of configured sequences and their effect on messages.

mod stylesheets;

use super::testing::{Message, compiled};

const GET_QUOTE: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
    <m:getQuote xmlns:m='http://services.samples'><m:request><m:symbol>IBM</m:symbol></m:request></m:getQuote>\
    </s:Body></s:Envelope>";

fn quote() -> Message {
    Message::post("/quotes?symbol=SUN", GET_QUOTE).with("Content-Type", "text/xml; charset=utf-8")
}

#[test]
fn the_first_case_that_holds_decides() {
    let check = |message: &Message, cases: &str, expected: Option<usize>| {
        let sequence = format!(
            "[{{ choose = [{cases}], otherwise = {{ endpoint = \"others\" }}, namespaces = {{ m = \"http://services.samples\" }} }}]"
        );
        let told = message.through(&sequence);
        assert_eq!(told.endpoint, expected, "{cases}: {}", told.outcome);
        let untouched = message.through("[]");
        assert_eq!((told.body, told.fields), (untouched.body, untouched.fields), "a condition changes nothing");
    };
    let (ibm, others) = (Some(0), Some(1));
    let xml = quote().with("X-Region", "eu");
    for (condition, expected) in [
        ("xpath = \"//m:symbol = 'IBM'\"", ibm),
        ("xpath = \"//m:symbol = 'SUN'\"", others),
        ("xpath = \"//m:symbol = 'SUN'\", exists = false", ibm),
        ("xpath = \"string(//m:symbol)\", equals = [\"SUN\", \"IBM\"]", ibm),
        ("xpath = \"//m:symbol\", matches = \"I*\"", ibm),
        ("xpath = \"count(//m:symbol) = 2\"", others),
        ("xpath = \"/soap11:Envelope/soap11:Body\"", ibm),
        ("path = \"/quotes\"", ibm),
        ("path = \"/quotes/*\"", others),
        ("query = \"symbol\", equals = \"SUN\"", ibm),
        ("query = \"none\"", others),
        ("query = \"none\", exists = false", ibm),
        ("header = \"x-region\", matches = \"e*\"", ibm),
        ("header = \"x-region\"", ibm),
        ("header = \"x-region\", equals = \"us\"", others),
        ("json = \"/symbol\"", others),
    ] {
        check(&xml, &format!("{{ {condition}, endpoint = \"ibm\" }}"), expected);
    }
    check(&xml, "{ path = \"/quotes\", endpoint = \"others\" }, { path = \"*\", endpoint = \"ibm\" }", others);
    let json = Message::post("/q?a=b%2Bc+d", r#"{"order": {"symbol": "IBM", "n": 3}}"#)
        .with("Content-Type", "application/json");
    for (condition, expected) in [
        ("json = \"/order/symbol\", equals = \"IBM\"", ibm),
        ("json = \"$.order.n\", equals = \"3\"", ibm),
        ("json = \"$.order\"", ibm),
        ("json = \"$.order\", equals = \"x\"", others),
        ("json = \"$.none\"", others),
        ("json = \"$.none\", exists = false", ibm),
        ("query = \"a\", equals = \"b+c d\"", ibm),
        ("xpath = \"//*\"", others),
        ("xpath = \"//*\", exists = false", ibm),
    ] {
        check(&json, &format!("{{ {condition}, endpoint = \"ibm\" }}"), expected);
    }
    let nothing = Message::get("/q");
    check(&nothing, "{ xpath = \"true()\", endpoint = \"ibm\" }", others);
    check(&nothing, "{ json = \"\", endpoint = \"ibm\" }", others);
}

#[test]
fn fields_are_set_removed_and_renamed() {
    let check = |sequence: &str, expected: &str| {
        let message = Message::post("/q?symbol=SUN", "<a><b>t</b></a>").with("X-One", "1").with("X-Two", "2");
        assert_eq!(message.through(sequence).fields, expected, "{sequence}");
    };
    check("[{ set-header = { x-one = \"new\" } }]", "X-Two: 2\nx-one: new\n");
    check("[{ set-header = { X-Three = { header = \"x-two\" } } }]", "X-One: 1\nX-Two: 2\nX-Three: 2\n");
    check("[{ set-header = { X-Three = { query = \"symbol\" } } }]", "X-One: 1\nX-Two: 2\nX-Three: SUN\n");
    check("[{ set-header = { X-Three = { xpath = \"//b\" } } }]", "X-One: 1\nX-Two: 2\nX-Three: t\n");
    check("[{ set-header = { X-Two = { header = \"X-None\" } } }]", "X-One: 1\nX-Two: 2\n");
    check("[{ remove-header = [\"x-one\", \"X-None\"] }, { remove-header = \"X-Two\" }]", "");
    check("[{ rename-header = { x-one = \"X-First\" } }]", "X-First: 1\nX-Two: 2\n");
    check("[{ rename-header = { x-one = \"X-Two\" } }, { remove-header = \"x-two\" }]", "");
    let message = Message::get("/q?a=x%0d%0aInjected:+1");
    let told = message.through("[{ set-header = { X-A = { query = \"a\" } } }]");
    assert!(told.outcome.contains("status: 400"), "{}", told.outcome);
}

#[test]
fn a_client_is_answered_at_once() {
    let told = quote().through("[{ set-header = { X-A = \"1\" } }, { respond = { status = 503, body = \"later\" } }, { remove-header = \"content-type\" }]");
    assert_eq!((told.outcome.as_str(), told.body.as_str()), ("503", "later"));
    assert_eq!(told.fields, "content-type: text/plain; charset=utf-8\n");
    let told = quote().through("[{ respond = { status = 204 } }]");
    assert_eq!((told.outcome.as_str(), told.body.as_str(), told.fields.as_str()), ("204", "", ""));
}

#[test]
fn a_fault_is_told_in_the_version_of_the_request() {
    let fault = "[{ fault = { code = \"sender\", reason = \"no <symbol>\", detail = \"<d/>\" } }]";
    let told = quote().through(fault);
    assert_eq!((told.outcome.as_str(), told.fields.as_str()), ("500", "content-type: text/xml; charset=utf-8\n"));
    assert!(
        told.body.contains("<faultcode>soap:Client</faultcode>") && told.body.contains("<detail><d/></detail>"),
        "{}",
        told.body
    );
    let told = quote().with("x", "y").answered(200).through(fault);
    assert_eq!(told.outcome, "500");
    let told = Message::post("/q", "").with("Content-Type", "application/soap+xml").through(fault);
    assert_eq!(told.outcome, "400");
    assert!(told.body.contains("soap:Sender"), "{}", told.body);
    assert_eq!(quote().through("[{ fault = { reason = \"closed\", status = 503 } }]").outcome, "503");
}

#[test]
fn cases_lead_to_sequences_of_their_own() {
    let sequence = "[{ choose = [{ path = \"/quotes\", then = [{ choose = [{ query = \"symbol\", \
        then = [{ respond = { body = \"inner\" } }] }] }] }] }, { respond = { status = 500 } }]";
    let told = quote().through(sequence);
    assert_eq!((told.outcome.as_str(), told.body.as_str()), ("200", "inner"));
    assert_eq!(Message::get("/quotes").through(sequence).outcome, "500");
}

#[test]
fn messages_that_cannot_be_read_are_refused() {
    let cases = "[{ choose = [{ xpath = \"//b = 'x'\", endpoint = \"ibm\" }] }]";
    let check = |message: Message, status: u16| {
        let told = message.through(cases);
        assert!(told.outcome.contains(&format!("status: {status},")), "{}", told.outcome);
    };
    check(Message::post("/q", "<a><b>y</a>"), 400);
    check(Message::post("/q", "<a><b>y</a>").answered(200), 502);
    check(Message::post("/q", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"), 400);
    check(Message::post("/q", &"<a>".repeat(100_000)), 400);
    check(Message::post("/q", "<a/>").with("Content-Encoding", "gzip"), 415);
    check(Message::post("/q", "<a/>").with("Content-Encoding", "gzip").answered(200), 502);
    check(Message::post("/q", "<a/>").with("Content-Type", "text/xml; charset=nonsense"), 400);
    let json = "[{ choose = [{ json = \"/a\", endpoint = \"ibm\" }] }]";
    let told = Message::post("/q", "{\"a\": ").with("Content-Type", "application/json").through(json);
    assert!(told.outcome.contains("status: 400,"), "{}", told.outcome);
}

#[test]
fn texts_are_read_in_their_charset() {
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>b\xFCro</a>";
    let check = |content_type: &str, body: &[u8]| {
        let message = Message::post("/q", "").with("Content-Type", content_type).with_bytes(body);
        let told = message.through("[{ choose = [{ xpath = \"/a = 'büro'\", endpoint = \"ibm\" }] }]");
        assert_eq!(told.endpoint, Some(0), "{content_type}: {}", told.outcome);
    };
    check("text/xml", latin);
    check("text/xml; charset=ISO-8859-1", latin);
    check("text/xml; charset=\"iso-8859-1\"", b"<a>b\xFCro</a>");
    check("text/xml; charset=utf-8", "<?xml version='1.0' encoding='ISO-8859-1'?><a>büro</a>".as_bytes());
    check("text/xml", "<a>büro</a>".as_bytes());
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let check = |sequence: &str, expected: &str| {
        let told = compiled(sequence).unwrap_err().to_string();
        assert!(told.contains(expected) && told.contains("gateway.toml:2:"), "{sequence}\n{told}");
    };
    check("[{ xslt = \"none.xsl\" }]", "cannot read none.xsl");
    check("[{ xlst = \"none.xsl\" }]", "did you mean `xslt`?");
    check("[{}]", "expected one of the mediators choose, xslt");
    check("[{ log = {}, respond = {} }]", "are two mediators");
    check("\"xslt\"", "expected an array of mediators");
    check("[{ choose = [] }]", "expected an array of 1 to 256 cases");
    check("[{ choose = [{ endpoint = \"ibm\" }] }]", "expected one of `path`, `query`, `header`, `xpath` and `json`");
    check("[{ choose = [{ path = \"*\", endpoint = \"ibn\" }] }]", "did you mean `ibm`?");
    check("[{ choose = [{ path = \"*\", header = \"a\" }] }]", "expected one of `path`");
    check(
        "[{ choose = [{ header = \"a\", equals = \"b\", matches = \"c\" }] }]",
        "expected one of `equals`, `matches`",
    );
    check("[{ choose = [{ xpath = \"//m:symbol\" }] }]", "prefixes are said in `namespaces`");
    check("[{ choose = [{ xpath = \"//a[\" }] }]", "this XPath cannot be used");
    check("[{ choose = [{ json = \"a\" }] }]", "expected a pointer such as");
    check("[{ choose = [{ path = \"*\", then = [{ respond = { status = 99 } }] }] }]", "expected a status");
    check("[{ choose = [{ path = \"*\" }], otherwise = { path = \"*\" } }]", "expected `endpoint` or `then`");
    check("[{ choose = [{ path = \"*\", sthen = [] }] }]", "unknown key `sthen`");
    check("[{ set-header = { \"a b\" = \"c\" } }]", "expected the name of a header field");
    check("[{ set-header = { Content-Length = \"1\" } }]", "is set by the proxy alone");
    check("[{ set-header = { A = \"b\\nc\" } }]", "without line ends");
    check("[{ set-header = { A = { heder = \"b\" } } }]", "did you mean `header`?");
    check("[{ remove-header = \"Host\" }]", "is set by the proxy alone");
    check("[{ fault = { reason = \"r\", code = \"client\" } }]", "unknown key `client`");
    check("[{ fault = { reason = \"r\", detail = \"<a>\" } }]", "expected elements of XML");
    check("[{ fault = { reason = \"r\", status = 200 } }]", "expected a status from 400");
    check("[{ respond = { body = \"a\", file = \"b\" } }]", "expected `body` or `file`");
    check("[{ respond = { status = 204, body = \"a\" } }]", "has no body");
    check("[{ log = { one_in = 0 } }]", "expected one in 1 or more");
    let deep = format!("{}{}{}", "[{ choose = [{ path = \"*\", then = ".repeat(9), "[]", " }] }]".repeat(9));
    check(&deep, "expected at most 8 sequences");
}
