//! Speed of a mediator's messages: parsing, an XPath for routing, transformations of a request and a response, and a
//! document of 10,000 records sorted and grouped; microseconds of CPU for each, parsing and writing included.
//!
//! `cargo run --release -p tollgate-xml --example speed [SECONDS PER FIGURE]` prints a line for each figure; `…
//! --example speed write FOLDER` writes the messages instead, for `bench/xslt/compare.py`, which compares libxslt; `…
//! --example speed count NAME N` does one of them so many times, for a profiler.
//!
//! Figures of one machine and minute: compare only what one run prints. It deliberately asserts no time.
#![allow(clippy::print_stdout, reason = "the table is the result")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use tollgate_xml::{Document, Options, Stylesheet, Workspace, XPath, tree::NodeId};

const GET_QUOTE: &str = include_str!("../../../bench/xslt/messages/get-quote.xml");
const CHECK_PRICE: &str = include_str!("../../../bench/xslt/messages/check-price.xml");
const QUOTE: &str = include_str!("../../../bench/xslt/messages/quote.xml");
const REQUEST: &str = include_str!("../../../bench/xslt/messages/request.xsl");
const RESPONSE: &str = include_str!("../../../bench/xslt/messages/response.xsl");
const GROUPING: &str = include_str!("../../../bench/xslt/messages/records.xsl");
const ROUTE: &str = "//m0:getQuote/m0:request/m0:symbol = 'IBM'";

const RECORDS: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &arguments[..] {
        ["write", folder] => {
            let records = records();
            for (name, text) in [
                ("get-quote.xml", GET_QUOTE),
                ("check-price.xml", CHECK_PRICE),
                ("quote.xml", QUOTE),
                ("request.xsl", REQUEST),
                ("response.xsl", RESPONSE),
                ("records.xsl", GROUPING),
                ("records.xml", &records),
            ] {
                std::fs::write(std::path::Path::new(folder).join(name), text).expect("the folder can be written");
            }
        }
        ["count", name, count] => {
            let count: usize = count.parse().expect("a number of times");
            let records = if *name == "records" { records() } else { String::new() };
            for (_, mut work) in works(&records).into_iter().filter(|(known, _)| known == name) {
                (0..count).for_each(|_| work());
            }
        }
        others => {
            let records = records();
            let seconds = others.first().and_then(|text| text.parse().ok()).unwrap_or(0.5);
            for (name, mut work) in works(&records) {
                println!("{name} {:.3}", measure(Duration::from_secs_f64(seconds), &mut work) * 1e6);
            }
            let document = Document::parse(&records).expect("the records are well-formed");
            let memory = document.memory_bytes() as f64 / records.len() as f64;
            println!("memory {memory:.2} bytes of tree for each byte of the {} of the records", records.len());
        }
    }
}

/// The measured works, by name.
type Work<'r> = (&'static str, Box<dyn FnMut() + 'r>);

fn works(records: &str) -> Vec<Work<'_>> {
    let compile = |source: &str, name| Stylesheet::compile(source.as_bytes(), name).expect("the stylesheet is right");
    let (request, response) = (compile(REQUEST, "request.xsl"), compile(RESPONSE, "response.xsl"));
    let grouping = compile(GROUPING, "records.xsl");
    let route = XPath::compile(ROUTE, &[("m0", "http://services.samples")]).expect("the expression is right");
    let (streaming, options) = (route.clone(), Options::default());
    // One workspace for each work, as each work process of a mediator would have it.
    let (mut parsing, mut routing) = (Workspace::default(), Workspace::default());
    let (mut requests, mut responses, mut groupings) =
        (Workspace::default(), Workspace::default(), Workspace::default());
    vec![
        (
            "parse",
            Box::new(move || {
                let document = parsing.parse_bytes(black_box(GET_QUOTE.as_bytes()), &options);
                parsing.recycle(black_box(document).expect("it is well-formed"));
            }),
        ),
        (
            "xpath",
            Box::new(move || {
                let document = routing.parse_bytes(black_box(GET_QUOTE.as_bytes()), &options);
                let document = document.expect("it is well-formed");
                assert_eq!(route.boolean(&document, NodeId::ROOT), Ok(true));
                routing.recycle(document);
            }),
        ),
        ("stream", Box::new(move || assert_eq!(streaming.test(black_box(GET_QUOTE.as_bytes()), &options), Ok(true)))),
        ("request", Box::new(move || transform(&request, black_box(CHECK_PRICE), &mut requests))),
        ("response", Box::new(move || transform(&response, black_box(QUOTE), &mut responses))),
        ("records", Box::new(move || transform(&grouping, black_box(records), &mut groupings))),
    ]
}

fn transform(stylesheet: &Stylesheet, message: &str, workspace: &mut Workspace) {
    let options = stylesheet.reading(&Options::default());
    let document = workspace.parse_bytes(message.as_bytes(), &options).expect("it is well-formed");
    black_box(stylesheet.transform(&document)).expect("it can be transformed");
    workspace.recycle(document);
}

/// 10,000 records of 40 cities, about a megabyte.
fn records() -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n");
    let mut state = 1_u32;
    for id in 0..RECORDS {
        // A linear congruential generator: the same records everywhere.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (city, amount) = ((state >> 16) % 40, (state >> 8) % 100_000);
        let record = format_args!(
            "<record id=\"r{id}\"><name>Customer {:05}</name><city>City {city:02}</city><amount>{}.{:02}</amount></record>\n",
            (id * 7919) % RECORDS,
            amount / 100,
            amount % 100
        );
        text.write_fmt(record).expect("a text takes all");
    }
    text.push_str("</records>\n");
    text
}

/// Seconds of CPU that one call takes.
fn measure(time: Duration, work: &mut dyn FnMut()) -> f64 {
    work();
    let begin = cpu_time();
    let mut count = 0_u32;
    loop {
        work();
        count += 1;
        let passed = cpu_time().saturating_sub(begin);
        if passed >= time {
            return passed.as_secs_f64() / f64::from(count);
        }
    }
}

/// CPU time of this process: others that run meanwhile do not count.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).expect("CPU time only grows from zero")
}
