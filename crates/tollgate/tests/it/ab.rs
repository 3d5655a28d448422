//! `tollgate load` for users of `ab`: its letters, its text and the calls in their scripts.

use std::fs;
use std::process::Command;

use crate::helper::{serving, tollgate};
use crate::load::FLIGHT;

/// Parses ab's text as scripts do: each label with its numbers, in order.
fn read_as_ab(text: &str) -> Vec<(String, Vec<f64>)> {
    let is_label = |word: &str| word.ends_with(':') || word.ends_with('%');
    let numbers = |rest: &str| rest.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
    let line = |line: &str| {
        let end = match line.trim_start().split(' ').next() {
            Some(first) if is_label(first) => line.find(first)? + first.len(),
            _ => line.find(": ")? + 1,
        };
        let (label, rest) = line.split_at(end);
        // ab warns where its mean and its median lie apart, and calls it an error where they lie far
        // apart, which is the machine's doing.
        if matches!(label.trim(), "WARNING:" | "ERROR:") {
            return None;
        }
        // Two lines have the same label, and are told apart by what stands in brackets.
        let across = if rest.contains("across") { " across" } else { "" };
        Some((format!("{}{across}", label.trim()), numbers(rest)))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn what_reads_ab_reads_this() {
    let gateway = serving(&[]);
    let line = ["-n", "3000", "-c", "3", "-k", &format!("{}{FLIGHT}", gateway.url)];
    let ours = read_as_ab(&tollgate([&["load", "--ab"], line.as_slice()].concat()).finish().check(0, "", "").out);
    let value = |read: &[(String, Vec<f64>)], label: &str| {
        read.iter().find(|(known, _)| known == label).unwrap_or_else(|| panic!("no {label} in {read:?}")).1.clone()
    };
    assert_eq!(value(&ours, "Complete requests:"), [3000.0]);
    let Ok(ab) = Command::new("ab").args(line).output() else {
        println!("skipped: no ab (apache2-utils) to hold the text against");
        return;
    };
    let theirs = read_as_ab(&String::from_utf8_lossy(&ab.stdout));
    // The head has names and addresses, which hold no numbers that mean anything.
    let labels = |read: &[(String, Vec<f64>)]| -> Vec<String> {
        let from = read.iter().position(|(label, _)| label == "Server Software:").unwrap();
        read[from..].iter().map(|(label, _)| label.clone()).collect()
    };
    let wanted = labels(&theirs);
    let found: Vec<String> = labels(&ours).into_iter().filter(|label| wanted.contains(label)).collect();
    assert_eq!(found, wanted, "the same labels in the same order");
    for label in [
        "Server Port:",
        "Document Length:",
        "Concurrency Level:",
        "Complete requests:",
        "Failed requests:",
        "Keep-Alive requests:",
        "HTML transferred:",
    ] {
        assert_eq!(value(&ours, label), value(&theirs, label), "{label}");
    }
    for row in ["Connect:", "Processing:", "Waiting:", "Total:", "50%", "100%"] {
        assert_eq!(value(&ours, row).len(), value(&theirs, row).len(), "{row}");
    }
}

#[test]
fn every_letter_of_ab_is_taken_or_refused_by_name() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (csv, gnuplot) = (file("served.csv"), file("requests.tsv"));
    let url = format!("{}{FLIGHT}", gateway.url);
    let line = [
        "-n200",
        "-c2",
        "-k",
        "-l",
        "-d",
        "-S",
        "-q",
        "-r",
        "-I",
        "-s5",
        "-b8192",
        "-B127.0.0.7",
        "-v2",
        "-CA=b",
        "-HCookie: c=d",
        "-HX-A: 1",
        "-Hx-a: 2",
        "-HAccept: application/json",
        "-mGET",
        "-fALL",
        "-A",
        "reader:secret",
        "-e",
        &csv,
        "-g",
        &gnuplot,
        &url,
    ];
    let load = tollgate([&["load"], line.as_slice()].concat()).finish();
    load.check(0, "Document Length:        Variable", "> Cookie: …\n> Cookie: …\n> X-A: 1\n> x-a: 2\n")
        .check(0, "", "< (");
    // As ab does it, who asks is said, and that anything may come, unless an -H says something else.
    load.check(0, "", "> User-Agent: tollgate/");
    assert!(!load.err.contains("*/*") && load.err.contains("> Accept: application/json"), "{load:#?}");
    tollgate(["load", "-v2", "-Huser-agent: b", &url]).finish().check(0, "", "> Accept: */*\n> user-agent: b\n");
    assert!(!load.out.contains("Percentage of") && !load.err.contains("secret"), "{load:#?}");
    let csv = fs::read_to_string(csv).unwrap();
    assert!(csv.starts_with("Percentage served,Time in ms\n0,") && csv.lines().count() == 102, "{csv}");
    let gnuplot = fs::read_to_string(gnuplot).unwrap();
    assert_eq!(gnuplot.lines().count(), 201);
    assert!(gnuplot.lines().skip(1).all(|line| line.split('\t').count() == 6), "{gnuplot}");
    for letters in [["-w", "-q"], ["-x", "a"], ["-y", "a"], ["-z", "a"]] {
        tollgate([["load"].as_slice(), &letters, &[url.as_str()]].concat()).finish().check(2, "", "--html FILE");
    }
    tollgate(["load", "-fSSL3", &url]).finish().check(2, "", "SSL3 is broken");
    tollgate(["load", "-Z", "RC4-SHA", &url]).finish().check(2, "", "RC4-SHA");
    tollgate(["load", "-V"]).finish().check(0, "tollgate", "");
}

#[test]
fn the_call_that_users_of_ab_make_on_a_soap_service_works_as_it_is_written() {
    let gateway = serving(&["--service", "stock-quote"]);
    let folder = tempfile::tempdir().unwrap();
    let payload =
        "<q:getQuote xmlns:q=\"http://services.samples\"><q:request><q:symbol>IBM</q:symbol></q:request></q:getQuote>";
    let envelope = format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\"><soapenv:Body>{payload}\
         </soapenv:Body></soapenv:Envelope>"
    );
    fs::write(folder.path().join("request.xml"), envelope).unwrap();
    fs::write(folder.path().join("payload.xml"), payload).unwrap();
    let url = format!("{}/services/SimpleStockQuoteService", gateway.url);
    let fields = ["-H", "SOAPAction: urn:getQuote", "-T", "text/xml; charset=UTF-8"];
    let call = ["load", "--ab", "-p", "request.xml", "-n", "10000", "-c", "20", "-k"];
    let load = tollgate([call.as_slice(), &fields, &[url.as_str()]].concat()).within(folder.path()).finish();
    load.check(0, "Complete requests:      10000", "").check(0, "Failed requests:        0", "");
    // The same from a bare payload, on stdin, in both versions; what is no symbol is a fault, and a failure.
    for version in ["1.1", "1.2"] {
        let line =
            ["load", "--ab", "-p", "-", "-n", "20", "-k", "--soap", "urn:getQuote", "--soap-version", version, &url];
        tollgate(line).fed(payload).finish().check(0, "Failed requests:        0", "");
        let wrong = payload.replace("getQuote", "getNothing");
        tollgate(line).fed(&wrong).finish().check(1, "Failed as soap-fault", "most as `soap-fault`");
    }
    tollgate(["load", "--soap", "urn:a", &url]).finish().check(2, "", "--soap needs a payload");
}

#[test]
fn the_text_is_laid_out_as_abs() {
    let gateway = serving(&[]);
    let load = tollgate(["load", "--ab", "-n", "200", "-k", &format!("{}{FLIGHT}", gateway.url)]).finish();
    for line in ["Requests per second:", "Failed requests:        0", "50%", "99%", "100%", "Little's law"] {
        load.check(0, line, "");
    }
}
