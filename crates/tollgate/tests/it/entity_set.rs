//! `tollgate run batching --entity-set`: records into a service that describes itself, beside rows of others.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::helper::{get, serving, tollgate, tollgate_by};
use crate::shelf::{Deleting, Shelf};

/// The service of records; the experiment here knows only its `$metadata`.
const SETS: [(&str, &str); 2] =
    [("/odata/v4/refsvc/TestRecords", "the V4 service"), ("/sap/opu/odata/refsvc/TestRecords", "the V2 service")];

#[test]
fn records_go_into_any_entity_set_and_out_of_it_again() {
    let gateway = serving(&[]);
    for (path, what) in SETS {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("{}{path}", gateway.url);
        let before = get(&format!("{url}/$count"));
        let line =
            ["run", "batching", "--quick", "--blocks", "2", "--level", "5", "--entity-set", &url, "--out", "run"];
        let modes = ["--only", "sequential,parallel-10,changeset-100,multipart-100,batch-100"];
        let run = tollgate(line.into_iter().chain(modes)).within(folder.path()).finish();
        assert!(matches!(run.code, 0 | 3), "{what}: {run:#?}");
        let text = fs::read_to_string(folder.path().join("run/result.json")).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&result["state"], &result["reason"]), (&"complete".into(), &Value::Null), "{what}");
        let cells = result["cells"].as_array().unwrap();
        for cell in cells {
            let settlement = &cell["inserted"]["settlement"];
            assert!(settlement["compared"].as_u64() > Some(0), "{what}: {cell:#}");
            for wrong in ["lost", "surplus", "wrong"] {
                assert_eq!(settlement[wrong], 0, "{what}: {settlement}");
            }
            assert!(cell["errors"].as_object().unwrap().is_empty(), "{what}: {cell:#}");
        }
        // What is neither measured nor said to be unsupported would be missing.
        let gaps = result["gaps"].as_array().unwrap();
        let unsupported = |gap: &&Value| gap["kind"] == "unsupported";
        assert_eq!(cells.len() + gaps.iter().filter(unsupported).count(), 5, "{what}: {gaps:?}");
        assert!(cells.len() >= 4, "{what}: {gaps:?}");
        assert_eq!(get(&format!("{url}/$count")), before, "{what}");
    }
}

#[test]
fn what_is_no_entity_set_is_told_before_anything_is_inserted() {
    let gateway = serving(&[]);
    let folder = tempfile::tempdir().unwrap();
    let check = |url: &str, code: i32, expected: &str| {
        let line = ["run", "batching", "--quick", "--level", "5", "--only", "sequential", "--entity-set", url];
        tollgate(line).within(folder.path()).finish().check(code, "", expected);
    };
    let at = |path: &str| format!("{}{path}", gateway.url);
    check(&at("/odata/v4/refsvc/TestRecord"), 1, "there is no entity set `TestRecord`: did you mean `TestRecords`?");
    check(&at("/nothing/TestRecords"), 1, "404");
    check("http://192.0.2.1/s/Books", 2, "--i-may-load");
    check(&at("/"), 2, "is no URL of an entity set");
}

/// The result of the run in the subfolder `run`.
fn result(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("run/result.json")).unwrap()).unwrap()
}

/// An experiment with two variants on two services; each service knows one key only.
fn on_two(one: &str, other: &str) -> String {
    let service = one.strip_suffix("Books").unwrap();
    format!(
        "name = \"mine\"\nquestion = \"?\"\n[factor]\nname = \"records\"\nlevels = [5]\n[workload]\nkind = \"insert\"\n\
         service = \"{service}\"\nentity_set = \"Books\"\nrecords = \"books.csv\"\n\
         [extent.quick]\nblocks = 2\nslice_ms = 15\ncell_ms = 600000\n\
         [[variant]]\nname = \"one\"\nmode = \"sequential\"\naccess = {{ headers_env = {{ X-Key = \"KEY_ONE\" }} }}\n\
         [[variant]]\nname = \"other\"\nmode = \"parallel-2\"\nbaseline = \"one\"\nurl = \"{other}\"\n\
         access = {{ headers_env = {{ Cookie = \"COOKIE_OTHER\" }} }}\n"
    )
}

#[test]
fn records_of_a_file_go_to_two_services_with_access_and_tokens_of_their_own() {
    let shelves = [Shelf::start("k1", Deleting::WithMatch), Shelf::start("k2", Deleting::WithMatch)];
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("books.csv"), "title,price\nOne,12.50\nTwo,\n").unwrap();
    let run = |text: &str, out: &str| {
        fs::write(folder.path().join("mine.toml"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.env("KEY_ONE", "k1").env("COOKIE_OTHER", "key=k2");
        tollgate_by(command, ["run", "mine.toml", "--quick", "--out", out]).within(folder.path()).finish()
    };
    let text = on_two(&shelves[0].url, &shelves[1].url);
    let ran = run(&text, "run");
    assert!(matches!(ran.code, 0 | 3), "{ran:#?}");
    let result = result(folder.path());
    assert_eq!((&result["state"], &result["gaps"]), (&"complete".into(), &Value::Array(Vec::new())), "{result:#}");
    for cell in result["cells"].as_array().unwrap() {
        assert!(cell["errors"].as_object().unwrap().is_empty(), "{cell:#}");
    }
    for shelf in &shelves {
        assert_eq!(shelf.count(), 1);
        let posted = shelf.posted();
        assert!(!posted.is_empty() && posted.len().is_multiple_of(5), "{}", posted.len());
        for (number, book) in posted.iter().take(5).enumerate() {
            let title = if number % 2 == 0 { "One" } else { "Two" };
            assert_eq!(posted.iter().filter(|other| other["ID"] == book["ID"]).count(), posted.len() / 5);
            assert!(posted[..5].iter().any(|book| book["title"] == title), "{posted:?}");
            assert_eq!(book.get("price").is_some(), book["title"] == "One", "{book}");
            assert_eq!(book.get("stock"), None);
        }
    }
    let elsewhere = text.replace("/s/Books\"", "/s/Others\"");
    assert_ne!(elsewhere, text);
    let told = "variant `other` inserts at /s/Others, where rows of /s/Books are counted and deleted";
    run(&elsewhere, "elsewhere").check(2, "", told);
    fs::write(folder.path().join("books.csv"), "title,price\nOne,12.50\nTwo,\"12,50\"\n").unwrap();
    run(&text, "wrong").check(1, "", "books.csv, line 3, column 2: `price`: `12,50` is no number such as 12.50");
}

#[test]
fn what_cannot_be_deleted_again_is_told() {
    let shelf = Shelf::start("k1", Deleting::Never);
    let folder = tempfile::tempdir().unwrap();
    let line = ["run", "batching", "--quick", "--level", "5", "--only", "sequential", "--header", "X-Key: k1"];
    let line = line.into_iter().chain(["--entity-set", &shelf.url]);
    let told = "tollgate: up to 5 records may be left in 127.0.0.1:";
    tollgate(line.clone()).within(folder.path()).finish().check(1, "", told).check(1, "", "books stay");
    assert_eq!(shelf.count(), 6);
    let flags = |more: &[&str]| tollgate(line.clone().chain(more.iter().copied())).within(folder.path()).finish();
    flags(&["--records", "none.csv"]).check(2, "", "--records: none.csv: No such file");
    fs::write(folder.path().join("books.json"), "{\"titel\": \"One\"}").unwrap();
    flags(&["--records", "books.json"]).check(1, "", "books.json: `Books` has no property `titel`");
}

#[test]
fn rows_of_others_are_safe_from_keys_that_could_be_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let run = |shelf: &Shelf, more: &[&str]| {
        let line = ["run", "batching", "--quick", "--level", "5", "--only", "sequential", "--header", "X-Key: k1"];
        let line = line.into_iter().chain(["--entity-set", &shelf.url]).chain(more.iter().copied());
        tollgate(line).within(folder.path()).finish()
    };
    let (shelf, unseen) = (Shelf::start("k1", Deleting::WithMatch), Shelf::start("k1", Deleting::Unseen));
    fs::write(folder.path().join("books.csv"), "title,ID\nOne,2\n").unwrap();
    fs::write(folder.path().join("books.json"), "[{}, {\"ID\": \"{{unique}}\"}]").unwrap();
    let told = "`ID` is part of the key, which is drawn for each record: leave it out";
    for (file, place) in [("books.csv", "books.csv, line 1, column 2"), ("books.json", "books.json, record 2")] {
        run(&shelf, &["--records", file]).check(1, "", &format!("{place}: {told}"));
    }
    run(&unseen, &[]).check(1, "", "$count says 1 rows, and the list of them ends after 0 without a link to more");
    for shelf in [&shelf, &unseen] {
        assert_eq!((shelf.count(), shelf.posted().len()), (1, 0));
    }
}
