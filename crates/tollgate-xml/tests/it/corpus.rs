//! The corpus: every case against what is written beside it, and against `xsltproc` where it is installed.

use std::fmt::Write;

use tollgate_xml::{Budget, Doctype, Error, Loaded, Loader, Options, Parameter, RunOptions, Stylesheet, Transformed};

use super::canonical;
use super::cases::{self, Case, Compared};
use super::xsltproc;

const FILES: [(&str, &str); 11] = [
    ("xpath", include_str!("cases/xpath.txt")),
    ("templates", include_str!("cases/templates.txt")),
    ("instructions", include_str!("cases/instructions.txt")),
    ("names", include_str!("cases/names.txt")),
    ("variables", include_str!("cases/variables.txt")),
    ("numbers", include_str!("cases/numbers.txt")),
    ("functions", include_str!("cases/functions.txt")),
    ("output", include_str!("cases/output.txt")),
    ("versions", include_str!("cases/versions.txt")),
    ("mixed", include_str!("cases/mixed.txt")),
    ("errors", include_str!("cases/errors.txt")),
];

pub(crate) fn all() -> Vec<Case> {
    FILES.iter().flat_map(|(file, text)| cases::read(file, text)).collect()
}

/// Loads the other files of a case.
struct Files<'c>(&'c Case);

impl Loader for Files<'_> {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        // A reference is relative to the folder of who makes it.
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        let reference = if folder.is_empty() { reference.to_owned() } else { format!("{folder}/{reference}") };
        let reference = &*reference;
        let loaded = |text: &str| Loaded { name: reference.to_owned(), bytes: text.as_bytes().to_vec() };
        if reference == "input.xml" {
            return Ok(loaded(&self.0.input));
        }
        let found = self.0.files.iter().find(|(name, _)| name == reference);
        found.map(|(_, text)| loaded(text)).ok_or_else(|| format!("`{reference}` is not there"))
    }

    fn input_name(&self) -> Option<&str> {
        Some("input.xml")
    }
}

fn transformed(case: &Case) -> Result<Transformed, Error> {
    let loader = Files(case);
    let stylesheet = Stylesheet::compile_with(case.stylesheet.as_bytes(), "sheet.xsl", &loader, &Budget::default())?;
    let doctype = if case.reads_doctype { Doctype::InternalSubset } else { Doctype::Refuse };
    let document = stylesheet.parse_with(&case.input, &Options { doctype, ..Options::default() })?;
    let parameters: Vec<(&str, Parameter<'_>)> =
        case.parameters.iter().map(|(name, value)| (&**name, Parameter::String(value))).collect();
    stylesheet.run(&document, &RunOptions { parameters: &parameters, loader: &loader, budget: None })
}

fn canonical_form(case: &Case, bytes: &[u8]) -> Result<String, String> {
    match case.compared {
        Compared::Xml(blanks) => canonical::xml(bytes, blanks),
        Compared::Html => Ok(canonical::html(bytes)),
        Compared::Bytes => Ok(canonical::printable(bytes)),
    }
}

/// The difference between a case's result and its expectation.
fn difference(case: &Case) -> Option<String> {
    match (transformed(case), &case.error) {
        (Err(error), Some(words)) if error.to_string().contains(&**words) => None,
        (Err(error), _) => Some(format!("failed: {error}")),
        (Ok(transformed), Some(words)) => {
            let text = String::from_utf8_lossy(&transformed.bytes).into_owned();
            Some(format!("did not fail with `{words}`:\n{text}"))
        }
        (Ok(transformed), None) => {
            let Some(expected) = &case.expected else { return Some("nothing is expected".to_owned()) };
            if transformed.messages != case.messages {
                return Some(format!("messages: {:?}", transformed.messages));
            }
            let ours = canonical_form(case, &transformed.bytes);
            let expected = canonical_form(case, expected.as_bytes());
            (ours != expected || ours.is_err()).then(|| {
                let raw = canonical::printable(&transformed.bytes);
                format!("ours     {ours:?}\nexpected {expected:?}\nraw {raw}")
            })
        }
    }
}

/// The oracle's objection to a case.
fn objection(case: &Case, folder: &std::path::Path) -> Option<String> {
    let answer = xsltproc::ask(case, folder);
    match (&answer.failure, &case.error) {
        (Some(_), Some(_)) => return None,
        (Some(failure), None) => return Some(format!("xsltproc failed: {failure}")),
        (None, Some(words)) => return Some(format!("xsltproc did not fail, with `{words}` or otherwise")),
        (None, None) => {}
    }
    if case.messages.iter().any(|message| !answer.said.contains(&**message)) {
        return Some(format!("xsltproc said {}", answer.said));
    }
    let theirs = canonical_form(case, &answer.bytes);
    let expected = canonical_form(case, case.expected.as_deref().unwrap_or_default().as_bytes());
    (theirs != expected).then(|| format!("xsltproc {theirs:?}\nexpected {expected:?}"))
}

/// Fails with every complaint at once.
fn none(complaints: &[(String, String)]) {
    let mut text = String::new();
    for (name, complaint) in complaints {
        writeln!(text, "--- {name}\n{complaint}").unwrap();
    }
    assert!(complaints.is_empty(), "{} cases:\n{text}", complaints.len());
}

#[test]
fn every_case_comes_to_what_is_written_beside_it() {
    let cases = all();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    let complaints: Vec<_> =
        cases.iter().filter_map(|case| difference(case).map(|what| (case.name.clone(), what))).collect();
    none(&complaints);
}

#[test]
fn xsltproc_agrees_with_every_case_that_does_not_say_otherwise() {
    if !xsltproc::is_there() {
        eprintln!("skipped: xsltproc is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let asked = all().into_iter().filter(|case| case.departs.is_none());
    let complaints: Vec<_> =
        asked.filter_map(|case| objection(&case, folder.path()).map(|what| (case.name.clone(), what))).collect();
    none(&complaints);
}
