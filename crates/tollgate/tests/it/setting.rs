//! A setting of a server that is not the lab's: a command restarts it for each level.

use std::fs;
use std::path::Path;
use std::process::id;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::helper::{Finished, tollgate};

/// Restarts the server with so many work processes; `stop` only ends it, and level 7 cannot be applied.
const SET: &str = r#"
echo "$1" >> applied
while [ -s pid ] && kill "$(cat pid)" 2>/dev/null && grep -qs '^State:.[^Z]' "/proc/$(cat pid)/status"; do sleep 0.02; done
[ "$1" != stop ] || exit 0
[ "$1" != 7 ] || { echo "no seven workers" >&2; exit 3; }
"$PROGRAM" serve --listen "$ADDRESS" --work-processes "$1" > out 2> err &
echo $! > pid
"#;

/// A folder with the experiment and its script. The server has an address of this test alone, so that nobody takes its
/// port while it is restarted.
fn folder(network: u8) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let [.., high, low] = id().to_be_bytes();
    let address = format!("127.{network}.{high}.{low}:8080");
    let program = env!("CARGO_BIN_EXE_tollgate");
    let set = format!("PROGRAM='{program}'\nADDRESS={address}\n{SET}");
    fs::write(folder.path().join("set.sh"), set).unwrap();
    let experiment = format!(
        r#"
name = "workers"
question = "How many work processes?"
factor = {{ name = "setting", levels = [1, 3, 7] }}
workload = {{ kind = "request", users = 4 }}
apply = {{ command = ["sh", "set.sh", "{{level}}"], restore = ["sh", "set.sh", "stop"] }}
extent.quick = {{ blocks = 2, slice_ms = 20 }}
[[variant]]
name = "flights"
url = "http://{address}/rest/flights"
"#
    );
    fs::write(folder.path().join("workers.toml"), experiment).unwrap();
    folder
}

fn run(folder: &Path, levels: &str, out: &str) -> Finished {
    tollgate(["run", "workers.toml", "--quick", "--level", levels, "--out", out]).within(folder).finish()
}

#[test]
fn each_setting_is_applied_before_its_level_and_the_new_process_is_watched() {
    let folder = folder(88);
    let finished = run(folder.path(), "1,3", "run");
    assert!([0, 3].contains(&finished.code), "{finished:?}");
    assert!(finished.out.contains("requests a second at setting 1"), "{}", finished.out);
    assert_eq!(fs::read_to_string(folder.path().join("applied")).unwrap(), "1\n3\nstop\n");
    let result: Value = serde_json::from_slice(&fs::read(folder.path().join("run/result.json")).unwrap()).unwrap();
    let cells = result["cells"].as_array().unwrap();
    assert_eq!(cells.iter().map(|cell| cell["level"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 3]);
    assert!(cells.iter().all(|cell| cell["subject"]["resident_memory_bytes_max"].as_u64() > Some(0)), "{cells:?}");
}

#[test]
fn a_setting_that_cannot_be_applied_ends_the_run_with_the_commands_words_and_keeps_the_others() {
    let folder = folder(89);
    let refused = run(folder.path(), "7", "refused");
    let why = "is not at setting 7: `sh set.sh 7` ended with exit status: 3; its last words: no seven workers";
    refused.check(1, "", why);
    let partial = run(folder.path(), "1,7", "partial");
    partial.check(1, "", why);
    let result: Value = serde_json::from_slice(&fs::read(folder.path().join("partial/result.json")).unwrap()).unwrap();
    assert_eq!((result["state"].as_str(), result["trials"].as_array().map(Vec::len)), (Some("partial"), Some(4)));
    let said = fs::read_to_string(folder.path().join("partial/apply-7.log")).unwrap();
    assert_eq!(said, "no seven workers\n");
    let applied = fs::read_to_string(folder.path().join("applied")).unwrap();
    assert_eq!(applied, "7\nstop\n1\n7\nstop\n", "whatever happened, the setting is restored");
}

#[test]
fn a_setting_that_is_not_restored_is_told_behind_the_figures() {
    let folder = folder(90);
    let file = folder.path().join("workers.toml");
    // It ends the server first.
    let failing = r#"restore = ["sh", "-c", "sh set.sh stop; echo away >&2; exit 5"]"#;
    let text = fs::read_to_string(&file).unwrap().replace(r#"restore = ["sh", "set.sh", "stop"]"#, failing);
    fs::write(&file, text).unwrap();
    let finished = run(folder.path(), "1", "run");
    finished.check(1, "Every figure", "the setting is not restored: ");
    finished.check(1, "", "ended with exit status: 5; its last words: away");
}

#[test]
fn a_command_that_takes_too_long_is_ended_and_not_what_it_started() {
    let folder = folder(91);
    let file = folder.path().join("workers.toml");
    let slow = r#"command = ["sh", "-c", "sleep 600 & echo $! > left; wait #{level}"], seconds_max = 1"#;
    let text = fs::read_to_string(&file).unwrap().replace(r#"command = ["sh", "set.sh", "{level}"]"#, slow);
    fs::write(&file, text).unwrap();
    let finished = run(folder.path(), "1", "run");
    let left = fs::read_to_string(folder.path().join("left")).unwrap();
    let left = Pid::from_raw(left.trim().parse().unwrap()).unwrap();
    // It may be a server, so it goes on.
    kill_process(left, Signal::KILL).unwrap();
    finished.check(1, "", "did not end in time");
}
