//! Documents against the code: the verbs, flags, names and numbers that they list, and their links.
//!
//! Both ways: an undocumented thing fails, and so does a row whose thing is gone. Whether a text is true beyond its
//! names is not judged.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use tollgate_facts::quantity::QUANTITIES;
use tollgate_facts::rules;
use tollgate_wire::query::rest::{OPERATORS, RESERVED};

use super::{check, files, root, rust_files};

/// The limits of a query in docs/odata.md, each with its constant.
const QUERY_LIMITS: &[(&str, &str)] = &[
    ("nesting of parentheses", "NESTING_MAX"),
    ("height of an expression", "HEIGHT_MAX"),
    ("literals, names and operators", "NODES_MAX"),
    ("to-one navigation in a path", "NAVIGATION_MAX"),
    ("questions about related entities", "QUESTIONS_MAX"),
    ("keys of an order", "ORDER_KEYS_MAX"),
    ("words and phrases of a search", "SEARCH_TERMS_MAX"),
    ("expansions of a request", "EXPANSIONS_MAX"),
    ("levels of expansion", "EXPAND_LEVELS_MAX"),
    ("transformations of `$apply`", "TRANSFORMATIONS_MAX"),
    ("columns of what it makes", "COLUMNS_MAX"),
    ("segments of a path", "SEGMENTS_MAX"),
    ("bytes of a URL", "target_bytes_max"),
];

/// Tables of an endpoint in its configuration that limit nothing.
const NO_LIMITS: &[&str] = &["balance", "ca", "name", "urls"];

type Names = BTreeSet<String>;

fn documents() -> Vec<(String, String)> {
    files().into_iter().filter(|(path, _)| path.ends_with(".md")).collect()
}

fn tollgate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tollgate")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = tollgate(arguments);
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The verbs that a help text lists.
fn verbs(help: &str) -> Names {
    // Groups of verbs stand between the usage and the options.
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let entries = listed
        .take_while(|line| !line.starts_with("Options:"))
        .filter(|line| line.strip_prefix("  ").is_some_and(|line| line.starts_with(|c: char| c.is_ascii_lowercase())));
    entries.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// The texts between backticks.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The rows of the first table below a heading of a document.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let rows = rows(&std::fs::read_to_string(root().join(document)).unwrap(), heading);
    assert!(!rows.is_empty(), "{document} has no table below `{heading}`");
    rows
}

/// The same of a text, as cells; the table's head is no row.
fn rows(text: &str, heading: &str) -> Vec<Vec<String>> {
    let is_heading = |line: &&str| line.starts_with('#') && line.trim_start_matches('#').trim() == heading;
    let below = text.lines().skip_while(|line| !is_heading(line));
    let lines = below.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    lines.skip(2).map(cells).collect()
}

fn cells(row: &str) -> Vec<String> {
    // `\|` is no end of a cell.
    let row = row.trim().trim_start_matches('|').trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// The code in the first cells of the rows.
fn listed(rows: &[Vec<String>]) -> Names {
    rows.iter().flat_map(|row| codes(&row[0])).map(str::to_owned).collect()
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_owned).collect()
}

/// The names that are in only one of the two.
fn held_both_ways(document: &str, documented: &Names, there: &Names) -> Vec<String> {
    let missing = there.difference(documented).map(|name| format!("{document} says nothing of `{name}`"));
    let gone = documented.difference(there).map(|name| format!("{document} lists `{name}`, which is not there"));
    missing.chain(gone).collect()
}

#[test]
fn a_row_that_is_missing_and_one_too_many_are_found() {
    let text = "# One\n\n| a | b |\n|---|---|\n| `other` | |\n\n## Two\n\nText.\n\n| a | b |\n|---|---|\n\
                | `kept`, `gone` (`x\\|y`) | `no` |\n\n| `behind` | |\n";
    let documented = listed(&rows(text, "Two"));
    assert_eq!(documented, names(["kept", "gone", "x|y"]));
    let found = held_both_ways("d.md", &documented, &names(["kept", "x|y", "new"]));
    assert_eq!(found, ["d.md says nothing of `new`", "d.md lists `gone`, which is not there"]);
    assert_eq!(held_both_ways("d.md", &documented, &documented), [""; 0]);
}

#[test]
fn documents_name_every_verb_and_none_that_does_not_exist() {
    let verbs = verbs(&printed(&["--help"]));
    assert!(verbs.contains("run"), "the verbs cannot be read from --help");
    let (mut broken, mut named) = (Vec::new(), Names::new());
    for (path, text) in files().into_iter().filter(|(path, _)| path.ends_with(".md") || path == ".ci/run") {
        for (number, line) in code_lines(&text) {
            for before in ["tollgate ", "--release -- ", "--locked -- "] {
                for (at, _) in line.match_indices(before) {
                    let rest = &line[at + before.len()..];
                    let word: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
                    if !word.is_empty() && !verbs.contains(word.as_str()) {
                        broken.push(format!("{path}:{number}: there is no `tollgate {word}`"));
                    }
                    named.insert(word);
                }
            }
        }
    }
    // One that help lists by itself, or that a text names alone.
    let texts = documents();
    named.extend(texts.iter().flat_map(|(_, text)| codes(text)).map(str::to_owned));
    named.insert("help".to_owned());
    broken.extend(verbs.difference(&named).map(|verb| format!("no document shows `tollgate {verb}`")));
    check("a document promises what is not there", broken);
}

/// Every flag of a verb, and of the verbs below it.
fn flags(verb: &str) -> Names {
    let help = printed(&[verb, if verb == "load" { "--help-all" } else { "--help" }]);
    let below =
        verbs(&help).into_iter().filter(|below| below != "help").map(|below| printed(&[verb, &below, "--help"]));
    let texts: String = below.chain([help]).collect();
    let words = texts.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
}

#[test]
fn documents_name_only_flags_that_exist() {
    let verbs: BTreeMap<String, Names> = verbs(&printed(&["--help"]))
        .into_iter()
        .filter(|verb| verb != "help")
        .map(|verb| (verb.clone(), flags(&verb)))
        .collect();
    let mut broken = Vec::new();
    for (path, text) in documents() {
        for (number, line) in code_lines(&text) {
            for call in line.split("tollgate ").skip(1) {
                let mut words = call.split_whitespace();
                let Some(known) = words.next().and_then(|verb| verbs.get(verb)) else { continue };
                let mut quotes = 0;
                let own = words.take_while(|word| {
                    quotes += word.matches('\'').count();
                    // What stands behind these is another program's, and so it is where the call itself was quoted.
                    !(["--", "|", "&&", "#", ";", "&"].contains(word) || quotes % 2 == 1 && word.ends_with('\''))
                });
                for flag in own.filter(|word| word.starts_with("--")) {
                    let flag = flag.split('=').next().unwrap_or_default();
                    if !known.contains(flag) {
                        broken.push(format!("{path}:{number}: `tollgate {}` has no {flag}", call.trim()));
                    }
                }
            }
        }
    }
    check("a document promises what is not there", broken);
}

/// The code in a Markdown text, with line numbers from 1: whole fenced blocks, and texts between backticks of other
/// lines.
fn code_lines(text: &str) -> Vec<(usize, String)> {
    let (mut lines, mut fenced) = (Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            lines.push((index + 1, line.to_owned()));
        } else {
            lines.extend(line.split('`').skip(1).step_by(2).map(|code| (index + 1, code.to_owned())));
        }
    }
    lines
}

#[test]
fn every_rule_of_validity_is_explained_with_the_test_that_breaks_it() {
    let rows = table("docs/method.md", "What refuses or marks a figure");
    let mut broken = held_both_ways("docs/method.md", &listed(&rows), &names(rules::names()));
    let tests: String = rust_files().into_iter().map(|(_, text)| text).collect();
    for row in &rows {
        let named = codes(row.last().expect("a row has cells")).filter(|code| code.contains('_'));
        let gone = named.filter(|test| !tests.contains(&format!("fn {test}(")));
        broken.extend(gone.map(|test| format!("{}: there is no test `{test}`", row[0])));
    }
    check("rules and their explanations", broken);
}

#[test]
fn every_quantity_of_thresholds_is_documented() {
    let rows = table("docs/compare.md", "Thresholds");
    // Ratios of quantities are no quantities of their own.
    let documented: Names =
        listed(&rows).into_iter().filter(|code| !code.contains('(') && !code.starts_with('.')).collect();
    let there = names(QUANTITIES.iter().map(|quantity| quantity.name));
    check("what a threshold may ask for", held_both_ways("docs/compare.md", &documented, &there));
}

/// A schema that tollgate prints, with its definitions.
fn schema(name: &str) -> serde_json::Value {
    serde_json::from_str(&printed(&["schema", name])).unwrap()
}

#[test]
fn every_mediator_is_documented() {
    let schema = schema("config");
    let kinds = schema["$defs"]["Sequence"]["items"]["anyOf"].as_array().expect("a sequence is of one of several");
    // `SetHeader` is the table whose key `set-header` names it.
    let key = |kind: &serde_json::Value| {
        let name = kind["$ref"].as_str().and_then(|path| path.rsplit('/').next()).expect("a kind is a definition");
        let properties = schema["$defs"][name]["properties"].as_object().expect("a mediator is a table");
        let is_named = |key: &&String| key.replace('-', "").eq_ignore_ascii_case(name);
        properties.keys().find(is_named).expect("a mediator has the key that names it").clone()
    };
    let documented = listed(&table("docs/esb.md", "What mediators there are"));
    check("mediators", held_both_ways("docs/esb.md", &documented, &kinds.iter().map(key).collect()));
}

#[test]
fn every_limit_of_an_endpoint_is_documented() {
    let schema = schema("config");
    let endpoint = schema["$defs"]["Endpoint"]["properties"].as_object().expect("an endpoint has properties");
    let there: Names = endpoint.keys().filter(|key| !NO_LIMITS.contains(&key.as_str())).cloned().collect();
    let rows = table("docs/proxy.md", "Limits");
    // Other rows are of routes and of mediators. A table within an endpoint goes by its name.
    let own = rows.iter().filter(|row| row[0].starts_with('`') && !row[0].contains("of a route"));
    let firsts = own.filter_map(|row| codes(&row[0]).next());
    let documented: Names = firsts.map(|key| key.split('.').next().unwrap_or(key).to_owned()).collect();
    check("limits of an endpoint", held_both_ways("docs/proxy.md", &documented, &there));
}

#[test]
fn every_limit_of_a_query_is_documented_as_it_is() {
    let sources = rust_files().into_iter().filter(|(path, _)| {
        path.starts_with("crates/tollgate-wire/src/") || path == "crates/tollgate-net/src/limits.rs"
    });
    let source: String = sources.map(|(_, text)| text).collect();
    let number = |constant: &str| {
        let declared = source.split(&format!("{constant}: usize = ")).nth(1)?;
        let factors =
            declared.split([';', ',']).next()?.split(" * ").map(|factor| factor.replace('_', "").parse::<u64>());
        factors.map(Result::ok).product::<Option<u64>>()
    };
    let mut broken = Vec::new();
    let rows = table("docs/odata.md", "Limits of a query");
    for (words, constant) in QUERY_LIMITS {
        let documented = rows.iter().find(|row| row[0].starts_with(words));
        let digits = |row: &Vec<String>| {
            let digits = row[1].chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(char::is_ascii_digit);
            digits.collect::<String>().parse::<u64>().ok()
        };
        let documented = documented.and_then(digits);
        if documented.is_none() || documented != number(constant) {
            broken.push(format!("`{words}` is documented as {documented:?}, and {constant} is {:?}", number(constant)));
        }
    }
    let strange = rows.iter().filter(|row| !QUERY_LIMITS.iter().any(|(words, _)| row[0].starts_with(words)));
    broken.extend(strange.map(|row| format!("`{}` is no limit that is known here", row[0])));
    check("limits of a query", broken);
}

#[test]
fn every_parameter_of_a_list_is_documented() {
    let documented = listed(&table("docs/rest.md", "Parameters of a list"));
    let parameter = |code: &str| {
        let name = code.split('&').next().unwrap_or(code).split('=').next().unwrap_or(code).to_owned();
        name.split_once('.').map_or(name.clone(), |(_, operator)| format!(".{operator}"))
    };
    // A property's own name is none of them, and `.eq` is what it means without.
    let documented: Names = documented
        .iter()
        .map(|code| parameter(code))
        .filter(|name| !["carrid", "hubs"].contains(&name.as_str()))
        .collect();
    let operators = OPERATORS.iter().map(|operator| operator.suffix).filter(|suffix| !["", "eq"].contains(suffix));
    let there = operators.map(|suffix| format!(".{suffix}")).chain(RESERVED.map(str::to_owned)).collect();
    check("parameters of a list", held_both_ways("docs/rest.md", &documented, &there));
}

#[test]
fn every_letter_of_load_is_documented() {
    let documented: Names = table("docs/load.md", "The letters")
        .iter()
        .flat_map(|row| codes(&row[0]).flat_map(|code| code.split(' ').map(str::to_owned)).collect::<Vec<_>>())
        .collect();
    let help = printed(&["load", "--help-all"]);
    let letter = |line: &str| {
        let mut characters = line.trim_start().chars();
        let letter = (characters.next() == Some('-')).then(|| characters.next()).flatten();
        letter.filter(char::is_ascii_alphabetic).map(|letter| format!("-{letter}"))
    };
    let there: Names = help.lines().filter_map(letter).collect();
    // Some are taken only to be refused, and help does not list them.
    let is_taken = |flag: &&String| {
        let said = tollgate(&["load", flag]).stderr;
        !String::from_utf8_lossy(&said).contains("unexpected argument")
    };
    let taken: Names = documented.iter().filter(is_taken).cloned().chain(there).collect();
    check("letters of ab", held_both_ways("docs/load.md", &documented, &taken));
}

#[test]
fn every_experiment_is_named_and_none_that_does_not_exist() {
    let list = printed(&["list"]);
    let heads = list.lines().filter(|line| line.contains('?')).filter_map(|line| line.split_whitespace().next());
    let there = names(heads.filter(|word| !word.is_empty()));
    assert!(there.contains("protocol"), "the experiments cannot be read from `list`");
    let named: Names =
        documents().iter().flat_map(|(_, text)| codes(text).map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut broken: Vec<String> =
        there.difference(&named).map(|name| format!("no document names the experiment `{name}`")).collect();
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| `") && line.contains('?')).map(cells).collect::<Vec<_>>();
    broken.extend(listed(&rows).difference(&there).map(|name| format!("README.md: there is no experiment `{name}`")));
    check("experiments", broken);
}

#[test]
fn every_exit_code_is_documented() {
    let help = printed(&["--help"]);
    let said = help.split("Exit codes:").nth(1).expect("help ends with the exit codes");
    let number = |text: &str| text.trim().split(' ').next().and_then(|word| word.parse::<u8>().ok());
    let there: Names = said.split(',').filter_map(number).map(|code| code.to_string()).collect();
    let codes = |text: &str| -> Vec<Vec<String>> {
        let table = text.lines().skip_while(|line| !line.starts_with("| code |")).skip(2);
        table.take_while(|line| line.starts_with('|')).map(cells).collect()
    };
    let (path, rows) = documents()
        .iter()
        .map(|(path, text)| (path.clone(), codes(text)))
        .find(|(_, rows)| !rows.is_empty())
        .expect("a document has a table of the exit codes");
    let documented = rows.iter().map(|row| row[0].clone()).collect();
    check("exit codes", held_both_ways(&path, &documented, &there));
}

#[test]
fn every_place_of_the_repository_that_documents_name_exists() {
    let mut broken = Vec::new();
    for (path, text) in files().into_iter().filter(|(path, _)| path.ends_with(".md")) {
        let folder = root().join(&path).parent().expect("a file stands in a folder").to_owned();
        for (number, line) in text.lines().enumerate() {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = link.split('#').next().unwrap_or_default();
                if !file.is_empty() && !file.contains("://") && !folder.join(file).exists() {
                    broken.push(format!("{path}:{}: {link}", number + 1));
                }
            }
        }
    }
    check("a link leads nowhere", broken);
}
