//! Hostile XML messages, on routes that read them: refused, and no backend receives them.
//!
//! Their cost in processor time and memory is measured by `bench/reliability`.

use super::backend::{Backend, answer, script};
use super::before;

/// Mediators that read messages: a stylesheet, a condition on the way, one that has to read to the end.
const READERS: [&str; 3] = [
    "request = [{ xslt = \"src/tests/proxy/stylesheets/hostile.xsl\" }]",
    "request = [{ choose = [{ xpath = \"//symbol = 'IBM'\", then = [] }] }]",
    "request = [{ choose = [{ xpath = \"count(//symbol) = 2\", then = [] }] }]",
];

fn billion_laughs() -> String {
    let mut text = String::from("<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY l0 \"lol\">");
    for level in 1..10 {
        let references = format!("&l{};", level - 1).repeat(10);
        text.push_str(&format!("<!ENTITY l{level} \"{references}\">"));
    }
    text + "]><a>&l9;</a>"
}

fn check(reader: &str, message: &str) {
    let backend = Backend::start(vec![script(|peer| {
        let seen = peer.head();
        assert!(seen.starts_with("GET /passed/last "), "{seen}");
        peer.send(&answer("last"));
        peer.until_end();
    })]);
    let gateway = before(&[&backend], "", reader);
    let xml = [("Content-Type", "text/xml")];
    let told = gateway.connect().ask_with("POST", "/passed", &xml, message);
    let shown: String = message.chars().take(60).collect();
    assert_eq!(told.status, 400, "{reader} {shown}: {}", told.text());
    assert!(!told.text().contains("root:"), "nothing is read for a message");
    gateway.connect().ask_with("GET", "/passed/last", &[], "").expect(200, "last");
    drop(gateway);
    backend.join();
}

#[test]
fn documents_that_grow_point_elsewhere_or_never_end_are_refused_by_whatever_reads_them() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let attributes: String = (0..50_000).map(|number| format!(" a{number}=\"\"")).collect();
    for message in [
        billion_laughs(),
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>".to_owned(),
        "<!DOCTYPE a SYSTEM \"http://127.0.0.1:1/a.dtd\"><a/>".to_owned(),
        "<!DOCTYPE a [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]><a/>".to_owned(),
        deep,
        format!("<a{attributes}/>"),
        "<a".repeat(100_000),
        "<a><b></a></b>".to_owned(),
    ] {
        for reader in READERS {
            check(reader, &message);
        }
    }
}

#[test]
fn a_stylesheet_that_never_ends_is_ended() {
    for message in ["<endless/>", "<writing/>", "<doubling/>"] {
        check(READERS[0], message);
    }
}
