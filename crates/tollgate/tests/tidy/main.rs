//! The house rules as code, so that reviewers need not repeat them.
//!
//! It reads the text of the repository and nothing else. It does not judge style, which rustfmt and clippy judge, or
//! whether code is good.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arrows;
mod documents;
mod floors;
mod graph;
mod look;
mod modules;
mod names;
mod planted;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Length limit of a file: a longer one has more than one duty.
const FILE_LINES_MAX: usize = 600;

/// Files that may be longer, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Our crates that each crate may know: the walls of the map in ARCHITECTURE.md.
const WALLS: &[(&str, &[&str])] = &[
    (
        "tollgate",
        &[
            "tollgate-facts",
            "tollgate-gateway",
            "tollgate-lab",
            "tollgate-net",
            "tollgate-report",
            "tollgate-wire",
            "tollgate-xml",
        ],
    ),
    ("tollgate-facts", &["tollgate-wire"]),
    ("tollgate-gateway", &["tollgate-net", "tollgate-store", "tollgate-wire", "tollgate-xml"]),
    ("tollgate-lab", &["tollgate-facts", "tollgate-net", "tollgate-page", "tollgate-wire", "tollgate-xml"]),
    ("tollgate-page", &["tollgate-facts"]),
    ("tollgate-report", &["tollgate-facts", "tollgate-page", "tollgate-wire"]),
    ("tollgate-store", &["tollgate-net", "tollgate-wire"]),
    ("tollgate-truth", &["tollgate-facts", "tollgate-lab", "tollgate-net", "tollgate-wire"]),
    ("tollgate-net", &[]),
    ("tollgate-wire", &["tollgate-xml"]),
    ("tollgate-xml", &[]),
];

/// Further crates that only the tests of a crate may know.
const WALLS_OF_TESTS: &[(&str, &str)] = &[("tollgate-lab", "tollgate-report")];

/// Names that reach the world outside a computation.
const OUTSIDE: &[&str] = &[
    "tokio",
    "std::net",
    "std::fs",
    "std::time",
    "std::thread",
    "std::process",
    "std::env",
    "stdin",
    "stdout",
    "stderr",
];

/// Names that are banned outside the tests of a crate, and the reasons.
const BANNED_IN: &[(&str, &[&str], &str)] = &[
    ("tollgate-wire", OUTSIDE, "formats do no input or output, and take the time as an argument"),
    ("tollgate-xml", OUTSIDE, "a library of XML does no input or output, and measures no time"),
    ("tollgate-facts", OUTSIDE, "what is computed from a result is a function of it"),
    ("tollgate-page", OUTSIDE, "a page is a function of a result"),
    ("tollgate-report", OUTSIDE, "a report is a function of a result"),
    ("tollgate-gateway", &["tokio::net", "TcpStream", "TcpListener", "rustls"], "sockets belong to tollgate-net"),
    (
        "tollgate-store",
        &[
            "tokio::net",
            "TcpStream",
            "TcpListener",
            "UnixStream",
            "rustls",
            "tollgate_net::http1",
            "tollgate_wire::json",
            "tollgate_wire::atom",
            "tollgate_wire::batch",
            "tollgate_wire::body",
            "tollgate_wire::rest",
        ],
        "a store is a database under a plan: sockets are its client's, and it knows no protocol and no format",
    ),
    ("tollgate-lab", &["tokio::net", "TcpStream", "TcpListener", "rustls"], "sockets belong to tollgate-net"),
    (
        "tollgate",
        &["tokio::net", "TcpStream", "TcpListener", "rustls", "rusqlite"],
        "the roof composes; it does no work",
    ),
];

/// Hosts that committed text may name: namespaces that formats prescribe, sources of specifications, and examples.
const HOSTS: &[&str] = &[
    "localhost",
    "example.com",
    "example.org",
    // Namespaces and vocabularies that OData, Atom, XML and JSON Schema prescribe.
    "docs.oasis-open.org",
    "json-schema.org",
    "oasis-tcs.github.io",
    "schemas.microsoft.com",
    "www.sap.com",
    "www.w3.org",
    // Namespaces of the common extensions of XSLT, of SOAP, and of the stock quotes that mediators have always been
    // shown with.
    "exslt.org",
    "schemas.xmlsoap.org",
    "services.samples",
    "quickstart.samples",
    // Namespaces of the files in which peers are configured.
    "camel.apache.org",
    "maven.apache.org",
    "ws.apache.org",
    // Specifications that comments and documents point to, and the licence's own address.
    "www.apache.org",
    "prometheus.io",
    "www.odata.org",
    "www.rfc-editor.org",
];

/// Ends of names that nobody can own (RFC 2606, RFC 6761).
const HOST_ENDS: &[&str] = &[".example", ".example.com", ".example.org", ".invalid", ".test", ".localhost"];

/// Files whose hosts are data: column values to which nothing connects.
const HOSTS_AS_DATA: &[&str] = &["crates/tollgate-gateway/src/services/flights/network.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate stands in the repository")
}

/// Every text file of the repository by its path from the root, in order.
fn files() -> Vec<(String, String)> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<(String, String)>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            // Made by builds and runs, not by us; corpora are bytes, not text. (`.git` is a file in a worktree.)
            let made = [".git", "target", "runs", "corpus", "artifacts", "coverage", "__pycache__", "node_modules"];
            if made.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                walk(&path, root, found);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((path.strip_prefix(root).unwrap().to_string_lossy().into_owned(), text));
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    walk(&root, &root, &mut found);
    found
}

fn rust_files() -> Vec<(String, String)> {
    files().into_iter().filter(|(path, _)| path.ends_with(".rs")).collect()
}

/// The crate that a file belongs to, and whether the file is shipped.
fn crate_of(path: &str) -> Option<(&str, bool)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let shipped = rest.starts_with("src/") && !rest.ends_with("/tests.rs") && !rest.contains("/tests/");
    Some((name, shipped))
}

/// The shipped lines of a file, numbered from 1. Tests are last in a file, and comments may name anything.
fn shipped_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]")
        .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
}

/// Whether `line` contains `word` as a whole path or identifier.
fn names(line: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(part) && !line[at + word.len()..].chars().next().is_some_and(part)
    })
}

fn check(rule: &str, broken: Vec<String>) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

fn manifest(name: &str) -> toml::Table {
    let path = root().join("crates").join(name).join("Cargo.toml");
    fs::read_to_string(path).unwrap().parse().unwrap()
}

fn tests_may_know(name: &str, other: &str) -> bool {
    WALLS_OF_TESTS.contains(&(name, other))
}

fn dependencies(manifest: &toml::Table, tables: &[&str]) -> BTreeSet<String> {
    let keys = |table: &&str| manifest.get(*table).and_then(toml::Value::as_table).map(|table| table.keys().cloned());
    tables.iter().filter_map(keys).flatten().collect()
}

#[test]
fn every_file_says_first_what_it_is_for() {
    let silent = |(path, text): (String, String)| {
        let said = text.lines().find(|line| !line.is_empty() && !line.starts_with("#!")).unwrap_or_default();
        (!said.starts_with("//!")).then_some(path)
    };
    check("a file opens with `//!`: what it is for", rust_files().into_iter().filter_map(silent).collect());
}

#[test]
fn a_file_has_one_duty() {
    let mut broken = Vec::new();
    for (path, text) in rust_files() {
        let (lines, listed) = (text.lines().count(), LONG_FILES.iter().any(|(long, _)| *long == path));
        match (lines > FILE_LINES_MAX, listed) {
            (true, false) => broken.push(format!("{path}: {lines} lines, at most {FILE_LINES_MAX}")),
            (false, true) => broken.push(format!("{path}: {lines} lines, so it needs no exception any more")),
            _ => {}
        }
    }
    check("split by duty", broken);
}

#[test]
fn crates_know_only_what_is_below_them() {
    let mut broken = Vec::new();
    for (name, allowed) in WALLS {
        let manifest = manifest(name);
        let shipped = dependencies(&manifest, &["dependencies", "build-dependencies"]);
        let all = [(shipped, false), (dependencies(&manifest, &["dev-dependencies"]), true)];
        for (dependency, of_tests) in all.iter().flat_map(|(known, of_tests)| known.iter().map(move |d| (d, *of_tests)))
        {
            let may = allowed.contains(&dependency.as_str()) || of_tests && tests_may_know(name, dependency);
            if dependency.starts_with("tollgate") && !may {
                broken.push(format!("{name} must not depend on {dependency}"));
            }
        }
    }
    for (path, text) in rust_files() {
        let Some((name, is_shipped)) = crate_of(&path) else { continue };
        let Some((_, allowed)) = WALLS.iter().find(|(wall, _)| *wall == name) else {
            broken.push(format!("{path}: its crate stands in no row of the table of walls"));
            continue;
        };
        let shipped = if is_shipped { shipped_lines(&text).count() } else { 0 };
        for (number, line) in text.lines().enumerate() {
            for (other, _) in WALLS.iter().filter(|(other, _)| *other != name && !allowed.contains(other)) {
                let may = number >= shipped && tests_may_know(name, other);
                if other.contains('-') && names(line, &other.replace('-', "_")) && !may {
                    broken.push(format!("{path}:{}: {name} must not name {other}", number + 1));
                }
            }
        }
    }
    check("arrows point downwards", broken);
}

#[test]
fn sockets_clocks_and_files_stay_where_they_belong() {
    let mut broken = Vec::new();
    for (path, text) in rust_files() {
        let Some((name, true)) = crate_of(&path) else { continue };
        for (_, banned, reason) in BANNED_IN.iter().filter(|(wall, ..)| *wall == name) {
            for (number, line) in shipped_lines(&text) {
                if let Some(word) = banned.iter().find(|word| names(line, word)) {
                    broken.push(format!("{path}:{number}: `{word}`: {reason}"));
                }
            }
        }
    }
    check("a wall is broken", broken);
}

#[test]
fn nothing_stays_half_done() {
    // Put together here, so that this file does not find itself.
    let words = ["to", "unimple", "FIX", "X", "db"].iter().zip(["do!", "mented!", "ME", "XX", "g!("]);
    let words: Vec<String> = words.map(|(start, end)| format!("{start}{end}")).collect();
    let mut broken = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(word.as_str())) {
                broken.push(format!("{path}:{}: {word}", number + 1));
            }
            if path.ends_with(".rs") && line.trim() == concat!("#[", "ignore]") {
                broken.push(format!("{path}:{}: a test is left out without a reason", number + 1));
            }
        }
    }
    check("left-overs", broken);
}

#[test]
fn no_text_names_a_path_of_somebodys_machine() {
    let folders = ["work", "farm", "root", "home", "Users"].map(|folder| format!("/{folder}/"));
    let mut broken = Vec::new();
    for (path, text) in files() {
        for (number, line) in text.lines().enumerate() {
            let found = folders.iter().any(|folder| {
                line.match_indices(folder.as_str())
                    .any(|(at, _)| !line[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric()))
            });
            if found {
                broken.push(format!("{path}:{}: {}", number + 1, line.trim()));
            }
        }
    }
    check("a path that exists on one machine only", broken);
}

#[test]
fn no_text_names_a_foreign_host() {
    let mut broken = Vec::new();
    for (path, text) in files() {
        if path.ends_with("Cargo.lock") || HOSTS_AS_DATA.contains(&path.as_str()) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for scheme in ["http://", "https://"] {
                for (at, _) in line.match_indices(scheme) {
                    let rest = &line[at + scheme.len()..];
                    let host: String =
                        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect();
                    // Loopback, a single made-up label such as `host`, or nothing readable (a format's placeholder).
                    let ours = host.starts_with("127.") || !host.contains('.') || !host.ends_with(char::is_alphabetic);
                    if !ours && !HOSTS.contains(&host.as_str()) && !HOST_ENDS.iter().any(|end| host.ends_with(end)) {
                        broken.push(format!("{path}:{}: {scheme}{host}", number + 1));
                    }
                }
            }
        }
    }
    check("add the host to the table with its reason, or use one of RFC 2606", broken);
}

#[test]
fn every_dependency_has_a_reason_beside_it() {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = text.split("[workspace.dependencies]").nth(1).expect("the workspace lists its dependencies");
    let section = section.split("\n[").next().unwrap_or_default();
    let unexplained = |line: &&str| {
        let name = line.split([' ', '=']).next().unwrap_or_default();
        !name.is_empty() && !line.starts_with('#') && !name.starts_with("tollgate-") && !line.contains(" # ")
    };
    let mut broken: Vec<String> = section.lines().filter(unexplained).map(str::to_owned).collect();
    for (name, _) in WALLS {
        let text = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        let tables = text.split("dependencies]").skip(1).flat_map(|table| {
            table.lines().skip(1).take_while(|line| !line.starts_with('[')).filter(|line| line.contains('='))
        });
        let strange = tables.filter(|line| !line.contains("workspace = true") && !line.contains(" # "));
        broken.extend(strange.map(|line| format!("{name}: {line}")));
    }
    check("why do we depend on it?", broken);
}

#[test]
fn every_dependency_is_used() {
    let mut text_of: BTreeMap<String, String> = BTreeMap::new();
    for (path, text) in rust_files() {
        if let Some((name, _)) = crate_of(&path) {
            text_of.entry(name.to_owned()).or_default().push_str(&text);
        }
    }
    let mut broken = Vec::new();
    for (name, _) in WALLS {
        for dependency in dependencies(&manifest(name), &["dependencies", "dev-dependencies"]) {
            if !text_of[*name].lines().any(|line| names(line, &dependency.replace('-', "_"))) {
                broken.push(format!("{name} does not use {dependency}"));
            }
        }
    }
    check("take it out of Cargo.toml", broken);
}
