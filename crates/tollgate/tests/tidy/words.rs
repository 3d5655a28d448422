//! Words that users read: unidiomatic phrases, the number of a noun, one spelling of a unit, and sentences short enough
//! to read once.
//!
//! It judges shipped sources and the documents. Dated reports and the changelog stay as they were written.

use super::{check, crate_of, files};

/// A phrase to avoid, and its replacement.
type Phrase = (&'static str, &'static str);

const BANNED: &[Phrase] = &[
    ("at their limit together", "competed for the same cores"),
    ("joint figure", "not attributable (shared CPU)"),
    ("imes the baseline: 1", "Ratio to the baseline; 1 means no extra cost"),
    ("are no claims", "are inconclusive"),
    ("slowest answer in a hundred", "p99"),
    ("generator's heartbeat was", "the load generator stalled for"),
    ("May it be read", "Can these figures be trusted?"),
    ("says nothing of itself", "not disclosed"),
    ("be told of so short", "too few requests to check"),
    ("for ab's sake", "Accepted for ab compatibility; no effect"),
    ("Of which of its", "The subtype named by the client"),
    ("That is in force", "Creates the holder of the active configuration"),
    ("nor its absence", "inconclusive"),
    ("Made room", "Evicted"),
    ("Waited for another", "Coalesced"),
    ("moods of the machine", "changes of the machine"),
    ("answered as it was wanted", "every request failed"),
    ("charges it in full", "avoids coordinated omission"),
];

/// Nouns that are counted.
const COUNTED: &[&str] = &[
    "answers",
    "blocks",
    "cells",
    "connections",
    "cores",
    "documents",
    "entities",
    "errors",
    "factors",
    "failures",
    "files",
    "handshakes",
    "iterations",
    "levels",
    "loads",
    "passes",
    "processes",
    "records",
    "requests",
    "rows",
    "runs",
    "samples",
    "seconds",
    "segments",
    "starts",
    "steps",
    "threads",
    "trials",
    "users",
    "variants",
];

/// Maximum number of words of a sentence in the first document that anybody reads …
const README_WORDS_MAX: usize = 25;
/// … and in the others.
const WORDS_MAX: usize = 40;

/// Whether users read a file, by path: shipped sources, snapshots of output, examples and documents.
fn is_for_users(path: &str) -> bool {
    let is_of_then = path.starts_with("docs/reports/") || path.starts_with("docs/decisions/") || path == "CHANGELOG.md";
    let is_text = path.ends_with(".md") || path.starts_with("examples/");
    let ships = crate_of(path).is_some_and(|(_, ships)| ships) && path.ends_with(".rs");
    (is_text || ships || path.ends_with(".snap")) && !is_of_then
}

fn lines(is_one: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let read = files().into_iter().filter(|(path, _)| is_for_users(path) && is_one(path));
    let numbered = |(path, text): (String, String)| {
        let line = |(index, line): (usize, &str)| (format!("{path}:{}", index + 1), line.to_owned());
        text.lines().enumerate().map(line).collect::<Vec<_>>()
    };
    read.flat_map(numbered).collect()
}

/// The phrases to avoid in a line.
fn unwritten(line: &str) -> impl Iterator<Item = &'static Phrase> {
    BANNED.iter().filter(move |(phrase, _)| line.contains(phrase))
}

/// A plural noun after the number 1.
fn plural(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || ".,-_/%".contains(c))).collect();
    let is_wrong = |pair: &[&str]| pair[0] == "1" && COUNTED.contains(&pair[1].trim_end_matches(['.', ',']));
    words.windows(2).find(|pair| is_wrong(pair)).map(|pair| pair.join(" "))
}

/// Whether a microsecond after a number, a placeholder or a column's name is spelled as in code.
fn is_misspelled(line: &str) -> bool {
    let number = |before: &str| before.ends_with(|c: char| c.is_ascii_digit() || c == '}');
    line.match_indices(" us").any(|(at, _)| {
        let ends = line[at + 3..].chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        ends && number(&line[..at])
    })
}

/// The prose of a document, without code, tables and headings; each point of a list is separate.
fn prose(text: &str) -> Vec<String> {
    let (mut paragraphs, mut is_code) = (vec![String::new()], false);
    for line in text.lines() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            is_code = !is_code;
        }
        let is_prose =
            !is_code && !line.starts_with("    ") && !["#", "|", "```"].iter().any(|sign| bare.starts_with(sign));
        let begins = bare.is_empty() || !is_prose || ["- ", "* "].iter().any(|sign| bare.starts_with(sign));
        if begins {
            paragraphs.push(String::new());
        }
        if let Some(last) = paragraphs.last_mut().filter(|_| is_prose) {
            last.extend([bare, " "]);
        }
    }
    paragraphs
}

/// Its sentences; the part after a colon or a semicolon counts as one.
fn sentences(paragraph: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for word in paragraph.split_whitespace() {
        if let Some(last) = found.last_mut() {
            last.extend([word, " "]);
        }
        let bare = word.trim_end_matches(['`', '*', ')', '"', '\u{201d}']);
        if bare.ends_with(['.', '!', '?', ':', ';']) {
            found.push(String::new());
        }
    }
    found
}

/// The sentences with more words than `most`.
fn too_long(text: &str, most: usize) -> Vec<String> {
    let all = prose(text).into_iter().flat_map(|paragraph| sentences(&paragraph));
    let long = all.filter(|sentence| sentence.split_whitespace().count() > most);
    long.map(|sentence| sentence.trim_end().to_owned()).collect()
}

#[test]
fn what_is_wrong_is_found() {
    assert_eq!(unwritten("a joint figure of two").count(), 1);
    assert_eq!(plural("in 1 requests").as_deref(), Some("1 requests"));
    assert_eq!(plural("in 11 requests, 0.1 requests, 1 request"), None);
    assert!(is_misspelled("took 5 us.") && is_misspelled("{us:.0} us") && !is_misspelled("let us, 5 users"));
    let text =
        "# A heading of many words\n\nOne two. Three four\nfive six.\n\n```sh\na b c d e f g\n```\n- one two\n- three";
    assert_eq!(too_long(text, 3), ["Three four five six."]);
    assert_eq!(too_long(text, 4), [""; 0]);
}

#[test]
fn nobody_reads_a_phrase_that_nobody_says() {
    let line = |(place, line): &(String, String)| {
        unwritten(line)
            .map(|(phrase, better)| format!("{place}: \u{201c}{phrase}\u{201d}, rather \u{201c}{better}\u{201d}"))
            .collect()
    };
    check(
        "phrases that PLAIN English has better ones for",
        lines(|_| true).iter().flat_map::<Vec<_>, _>(line).collect(),
    );
}

#[test]
fn one_is_singular() {
    let wrong = |(place, line): &(String, String)| Some(format!("{place}: {}", plural(line)?));
    let printed = lines(|path| path.ends_with(".snap") || path.ends_with(".md"));
    check("a noun of which there is one", printed.iter().filter_map(wrong).collect());
}

#[test]
fn microseconds_have_one_spelling() {
    let printed = lines(|path| path.ends_with(".snap") || path.ends_with(".rs"));
    let wrong = printed.iter().filter(|(_, line)| is_misspelled(line));
    check(
        "microseconds that are not \u{b5}s",
        wrong.map(|(place, line)| format!("{place}: {}", line.trim())).collect(),
    );
}

#[test]
fn sentences_of_documents_can_be_read_once() {
    let documents = files().into_iter().filter(|(path, _)| is_for_users(path) && path.ends_with(".md"));
    let long = documents.flat_map(|(path, text)| {
        let most = if path == "README.md" { README_WORDS_MAX } else { WORDS_MAX };
        too_long(&text, most).into_iter().map(move |sentence| format!("{path}: {sentence}"))
    });
    check("sentences of too many words", long.collect());
}
