//! SimpleStockQuote: both versions of SOAP, all operations, and the faults for wrong messages.

use std::sync::OnceLock;

use super::client::{Answer, Running};
use tollgate_xml::tree::NodeId;
use tollgate_xml::{Document, XPath};

const PATH: &str = "/services/SimpleStockQuoteService";
const V11: &str = "http://schemas.xmlsoap.org/soap/envelope/";
const V12: &str = "http://www.w3.org/2003/05/soap-envelope";
const XML_11: &str = "text/xml; charset=utf-8";
const XML_12: &str = "application/soap+xml; charset=utf-8; action=\"urn:getQuote\"";

fn gateway() -> &'static Running {
    static GATEWAY: OnceLock<Running> = OnceLock::new();
    GATEWAY.get_or_init(|| Running::start("[[service]]\nkind = \"stock-quote\"\n"))
}

fn envelope(namespace: &str, header: &str, payload: &str) -> String {
    format!("<s:Envelope xmlns:s=\"{namespace}\"><s:Header>{header}</s:Header><s:Body>{payload}</s:Body></s:Envelope>")
}

fn get_quote(symbol: &str) -> String {
    let request = format!("<m:request><m:symbol>{symbol}</m:symbol></m:request>");
    format!("<m:getQuote xmlns:m=\"http://services.samples\">{request}</m:getQuote>")
}

fn post(content_type: &str, body: &str) -> Answer {
    gateway().connect().ask_with("POST", PATH, &[("Content-Type", content_type)], body)
}

/// Text of `path` in an answer: steps of local names, each anywhere below the one before.
fn found(answer: &Answer, path: &str) -> String {
    let text = answer.text();
    let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let steps: String = path.split('/').map(|step| format!("//*[local-name() = '{step}']")).collect();
    XPath::compile(&format!("string({steps})"), &[]).unwrap().string(&document, NodeId::ROOT).unwrap()
}

#[test]
fn a_quote_is_answered_in_the_version_of_the_request() {
    for (content_type, namespace, answered) in
        [(XML_11, V11, "text/xml; charset=utf-8"), (XML_12, V12, "application/soap+xml; charset=utf-8")]
    {
        let answer = post(content_type, &envelope(namespace, "", &get_quote("IBM")));
        answer.expect(200, &format!("<soap:Envelope xmlns:soap=\"{namespace}\">"));
        assert_eq!(answer.header("content-type"), Some(answered));
        assert_eq!(found(&answer, "getQuoteResponse/return/symbol"), "IBM");
        assert_eq!(found(&answer, "getQuoteResponse/return/name"), "IBM Company");
        assert_eq!(found(&answer, "return/date"), "2011-06-03T20:00:00Z");
        let figure = |name: &str| found(&answer, &format!("return/{name}")).parse::<f64>().unwrap();
        assert!(figure("low") <= figure("last") && figure("last") <= figure("high"));
        assert!((figure("last") - figure("prevClose") - figure("change")).abs() < 1e-6);
        assert!((800..900).contains(&answer.body.len()), "{} bytes", answer.body.len());
        let again = post(content_type, &envelope(namespace, "", &get_quote(" IBM\n")));
        assert_eq!(again.text(), answer.text(), "the same symbol, the same figures");
    }
}

#[test]
fn a_full_quote_has_the_days_of_a_year_and_begins_with_the_quote() {
    let request = get_quote("SUN").replace("getQuote", "getFullQuote");
    let answer = post(XML_11, &envelope(V11, "", &request));
    answer.expect(200, "<ns:day>251</ns:day>");
    let text = answer.text();
    assert_eq!(text.matches("<ns:tradeHistory>").count(), 252);
    let quote = post(XML_11, &envelope(V11, "", &get_quote("SUN"))).text();
    let inside = |text: &str, element: &str| {
        let begin = text.find(&format!("<ns:{element}>")).unwrap() + element.len() + "<ns:>".len();
        text[begin..begin + text[begin..].find(&format!("</ns:{element}>")).unwrap()].to_owned()
    };
    assert_eq!(inside(&text, "quote"), inside(&quote, "return"));
    Document::parse(&text).unwrap();
    // A client of HTTP/1.0 gets it without chunks.
    let mut connection = gateway().connect();
    let body = envelope(V11, "", &request);
    let length = body.len();
    connection.send_raw(&format!("POST {PATH} HTTP/1.0\r\nContent-Type: {XML_11}\r\nContent-Length: {length}\r\n\r\n"));
    connection.send_raw(&body);
    let whole = String::from_utf8(connection.read_to_end()).unwrap();
    assert!(whole.ends_with(&text), "{whole}");
}

#[test]
fn an_order_is_counted_and_not_answered() {
    let gateway = Running::start("[[service]]\nkind = \"stock-quote\"\n");
    let order = |content: &str| {
        let order = format!("<placeOrder xmlns=\"http://services.samples\"><order>{content}</order></placeOrder>");
        let headers = [("Content-Type", XML_11), ("SOAPAction", "\"urn:placeOrder\"")];
        gateway.connect().ask_with("POST", PATH, &headers, envelope(V11, "", &order))
    };
    let taken = order("<price>141.50</price><quantity>1000</quantity><symbol>IBM</symbol>");
    assert_eq!((taken.status, taken.body.len(), taken.header("content-type")), (202, 0, None));
    for (content, reason) in [
        ("<price>1</price><quantity>1</quantity>", "no symbol"),
        ("<quantity>1</quantity><symbol>IBM</symbol>", "no price"),
        ("<price>.</price><quantity>1</quantity><symbol>IBM</symbol>", "no price"),
        ("<price>1e3</price><quantity>1</quantity><symbol>IBM</symbol>", "no price"),
        ("<price>1</price><quantity>1.5</quantity><symbol>IBM</symbol>", "no quantity"),
        ("<price>1</price><quantity>3000000000</quantity><symbol>IBM</symbol>", "no quantity"),
    ] {
        order(content).expect(500, reason);
    }
    assert_eq!(order("<symbol>IBM</symbol><price>-.5</price><quantity> 7 </quantity>").status, 202, "in any order");
    assert_eq!(gateway.metric("tollgate_stock_orders_total"), 2);
}

#[test]
fn what_is_wrong_with_a_message_is_a_fault_of_its_sender() {
    let long = "x".repeat(33);
    for (payload, reason) in [
        (String::new(), "the body is empty"),
        ("<getPrice xmlns='http://services.samples'/>".to_owned(), "found getPrice"),
        ("<getQuote/>".to_owned(), "in the namespace http://services.samples"),
        ("<getQuote xmlns='http://services.samples'/>".to_owned(), "getQuote has no request"),
        ("<getQuote xmlns='http://services.samples'><request/></getQuote>".to_owned(), "the request has no symbol"),
        (get_quote(""), "the request has no symbol"),
        (get_quote(" "), "the request has no symbol"),
        (get_quote(&long), "at most 32 characters"),
    ] {
        let old = post(XML_11, &envelope(V11, "", &payload));
        old.expect(500, reason);
        assert_eq!(found(&old, "Body/Fault/faultcode"), "soap:Client");
        let new = post(XML_12, &envelope(V12, "", &payload));
        new.expect(400, reason);
        assert_eq!(found(&new, "Body/Fault/Code/Value"), "soap:Sender");
    }
    let escaped = post(XML_11, &envelope(V11, "", &get_quote("A&amp;B&lt;")));
    assert_eq!(found(&escaped, "return/symbol"), "A&B<");
}

#[test]
fn what_is_no_envelope_is_a_fault_too() {
    let deep = format!("{}{}", "<a>".repeat(70), "</a>".repeat(70));
    let laughs = "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
    for (body, reason) in [
        ("", "expected an envelope"),
        ("symbol=IBM", "expected an envelope"),
        ("<a>", "expected an envelope"),
        ("<Envelope/>", "an envelope of SOAP 1.1"),
        ("<Quote/>", "expected an envelope of SOAP"),
        ("\u{feff}<a\u{0}/>", "expected an envelope"),
        (&deep, "64"),
        (laughs, "expected an envelope"),
    ] {
        post(XML_11, body).expect(500, reason);
    }
    let no_body = format!("<s:Envelope xmlns:s='{V12}'><s:Header/></s:Envelope>");
    post(XML_12, &no_body).expect(400, "the envelope has no body");
}

#[test]
fn an_envelope_of_another_version_is_a_mismatch() {
    for (content_type, namespace) in [(XML_11, V12), (XML_11, "urn:soap"), (XML_12, V11), (XML_12, "urn:soap")] {
        let answer = post(content_type, &envelope(namespace, "", &get_quote("IBM")));
        answer.expect(500, "soap:VersionMismatch");
        let told = if content_type == XML_11 { V11 } else { V12 };
        answer.expect(500, &format!("<soap:Envelope xmlns:soap=\"{told}\">"));
    }
    post(XML_12, &envelope(V11, "", "")).expect(500, "<soap:SupportedEnvelope qname=\"its:Envelope\"");
}

#[test]
fn a_header_that_must_be_understood_is_not_passed_over() {
    let block = |attributes: &str| format!("<h:Token xmlns:h='urn:h' {attributes}>x</h:Token>");
    for (version, attributes, status) in [
        (V11, "", 200),
        (V11, "s:mustUnderstand='0'", 200),
        (V11, "s:mustUnderstand='1'", 500),
        (V11, "mustUnderstand='1'", 200),
        (V11, "s:mustUnderstand='1' s:actor='urn:another'", 200),
        (V11, "s:mustUnderstand='1' s:actor='http://schemas.xmlsoap.org/soap/actor/next'", 500),
        (V12, "s:mustUnderstand='false'", 200),
        (V12, "s:mustUnderstand='true'", 500),
        (V12, "s:mustUnderstand='1' s:role='http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver'", 500),
        (V12, "s:mustUnderstand='1' s:role='http://www.w3.org/2003/05/soap-envelope/role/none'", 200),
    ] {
        let content_type = if version == V11 { XML_11 } else { XML_12 };
        let answer = post(content_type, &envelope(version, &block(attributes), &get_quote("IBM")));
        assert_eq!(answer.status, status, "{attributes}: {}", answer.text());
        if status == 500 {
            answer.expect(500, "soap:MustUnderstand").expect(500, "header {urn:h}Token");
        }
    }
    let named = post(XML_12, &envelope(V12, &block("s:mustUnderstand='1'"), &get_quote("IBM")));
    named.expect(500, "<soap:NotUnderstood qname=\"not:Token\" xmlns:not=\"urn:h\"/>");
}

#[test]
fn who_says_which_message_it_is_is_told_which_one_is_answered() {
    let wsa = "http://www.w3.org/2005/08/addressing";
    let header = |reply_to: &str| {
        format!(
            "<a:MessageID xmlns:a='{wsa}' s:mustUnderstand='1'> urn:uuid:1&amp;2 </a:MessageID>\
             <a:Action xmlns:a='{wsa}'>urn:getQuote</a:Action>\
             <a:ReplyTo xmlns:a='{wsa}'><a:Address>{reply_to}</a:Address></a:ReplyTo>"
        )
    };
    let anonymous = format!("{wsa}/anonymous");
    for (version, content_type) in [(V11, XML_11), (V12, XML_12)] {
        let answer = post(content_type, &envelope(version, &header(&anonymous), &get_quote("IBM")));
        assert_eq!(found(&answer, "Header/RelatesTo"), "urn:uuid:1&2");
        let action = "http://services.samples/SimpleStockQuoteServicePortType/getQuoteResponse";
        assert_eq!(found(&answer, "Header/Action"), action);
        assert_eq!(found(&answer, "Body/getQuoteResponse/return/symbol"), "IBM");
    }
    post(XML_11, &envelope(V11, &header("http://host/inbox"), &get_quote("IBM"))).expect(500, "an anonymous address");
}

#[test]
fn the_description_has_the_address_that_the_client_came_by() {
    for (query, host) in [("wsdl", "quotes.example:8080"), ("WSDL", "localhost")] {
        let headers = [("Host", host)];
        let answer = gateway().get_with(&format!("{PATH}?{query}"), &headers);
        answer.expect(200, &format!("<soap11:address location=\"http://{host}{PATH}\"/>"));
        answer.expect(200, &format!("<soap12:address location=\"http://{host}{PATH}\"/>"));
        assert_eq!(answer.header("content-type"), Some("text/xml; charset=utf-8"));
    }
}

#[test]
fn what_http_itself_is_asked_for_keeps_its_status_and_is_told_as_a_fault() {
    let large = "x".repeat(65_537);
    for (method, content_type, body, status, reason) in [
        ("GET", "", "", 400, "?wsdl"),
        ("PUT", XML_11, "", 405, "GET, HEAD, OPTIONS, POST"),
        ("POST", "application/json", "{}", 415, "text/xml"),
        ("POST", XML_11, &large, 413, "the body is too large"),
        ("get", XML_11, "", 501, "method get"),
    ] {
        let headers: &[_] = if content_type.is_empty() { &[] } else { &[("Content-Type", content_type)] };
        let answer = gateway().connect().ask_with(method, PATH, headers, body);
        answer.expect(status, reason);
        assert_eq!(answer.header("content-type"), Some("text/xml; charset=utf-8"));
        assert_eq!(found(&answer, "Fault/faultcode"), if status < 500 { "soap:Client" } else { "soap:Server" });
        assert_eq!(found(&answer, "Fault/detail/error/status"), status.to_string());
    }
    assert_eq!(gateway().ask("OPTIONS", PATH).header("allow"), Some("GET, HEAD, OPTIONS, POST"));
    gateway().connect().ask_with("PUT", PATH, &[("Content-Type", XML_12)], "").expect(405, "soap:Sender");
    gateway().get("/").expect(200, "{\"protocol\":\"SOAP\",\"url\":\"/services/SimpleStockQuoteService?wsdl\"}");
    Running::shared().get(PATH).expect(404, "no service");
}
