//! `tollgate run batching --entity-set`: records into a service that describes itself, beside rows of others.

use std::fs;

use serde_json::Value;

use crate::helper::{get, serving, tollgate};

/// The service of records, which knows nothing of the experiment here but its `$metadata`.
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
