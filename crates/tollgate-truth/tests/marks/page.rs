//! The page of the method says of every rule what it does, and which test has provoked it.

use std::fs;
use std::path::Path;

use tollgate_facts::rules;

/// The names of the tests in all sources below a folder.
fn tests_below(folder: &Path, found: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_method_page_names_every_rule_with_a_remedy_and_a_test_that_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(crates.parent().unwrap().join("docs/method.md")).unwrap();
    let mut sources = String::new();
    for folder in ["tollgate-facts/src", "tollgate-lab/src", "tollgate-truth/tests", "tollgate/src", "tollgate/tests"] {
        tests_below(&crates.join(folder), &mut sources);
    }
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    for rule in rules::names() {
        let row = rows.iter().find(|row| row[0].starts_with(&format!("`{rule}`")));
        let row = row.unwrap_or_else(|| panic!("docs/method.md does not name `{rule}`"));
        let [_, _, _, remedy, tests] = row[..] else { panic!("`{rule}` has {} columns", row.len()) };
        assert!(!remedy.is_empty(), "{rule}");
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "`{rule}` names no test");
        for test in named {
            assert!(sources.contains(&format!("fn {test}(")), "`{rule}` names `{test}`, which is nowhere");
        }
    }
}
