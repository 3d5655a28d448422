//! Inserts into a table with scripted faults: all that it loses, doubles or alters is found, errors are found where
//! they begin, and times and counts are those of the server's own account.

use std::collections::BTreeSet;

use tempfile::TempDir;
use tollgate_facts::results::{Figure, GapKind, RunResult, Verdict};
use tollgate_lab::experiment::Experiment;
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::run::{RunError, RunOptions, StopFlag, run};

use crate::server::{TruthServer, truth_server};

const MODES: [&str; 6] = ["custom-rest", "sequential", "parallel-4", "batch-7", "changeset-10", "multipart-7"];

/// Every mode of `modes` into the table of one class, at these levels.
fn experiment(server: &TruthServer, class: &str, modes: &[&str], levels: &[u64], rest: &str) -> Experiment {
    let service = format!("/{class}/odata/");
    let mut text = format!(
        "name = \"truth\"\nquestion = \"Is it true?\"\n[factor]\nname = \"records\"\nlevels = {levels:?}\n\
         [workload]\nkind = \"insert\"\nservice = \"{service}\"\nentity_set = \"TestRecords\"\n\
         insert_all = \"/{class}/rest/insertAll\"\ndelete_all = \"/{class}/rest/deleteAll\"\n\
         [extent.quick]\nblocks = 2\nslice_ms = 2\n{rest}"
    );
    for mode in modes {
        let path = match mode.split('-').next() {
            Some("custom") => "rest/insertAll",
            Some("sequential" | "parallel") => "odata/TestRecords",
            _ => "odata/$batch",
        };
        let url = server.url(&format!("{class}/{path}"));
        let baseline = if *mode == modes[0] { String::new() } else { format!("baseline = \"{}\"\n", modes[0]) };
        text.push_str(&format!("[[variant]]\nname = \"{mode}\"\nmode = \"{mode}\"\nurl = \"{url}\"\n{baseline}"));
    }
    Experiment::parse(&text, "truth.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn measure(server: &TruthServer, experiment: Experiment) -> (RunResult, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let options = options(server, experiment, &folder);
    (run(&options, &(), &StopFlag::new()).unwrap().result, folder)
}

fn options(server: &TruthServer, experiment: Experiment, folder: &TempDir) -> RunOptions {
    let subject_pids = experiment.variants.iter().map(|variant| (variant.name.clone(), server.pid())).collect();
    RunOptions {
        plan: PlanOptions { extent: Extent::Quick, ..PlanOptions::default() },
        out: Some(folder.path().join("run")),
        subject_pids,
        seed: Some(1),
        version: "test".to_owned(),
        // Never started: every subject is a URL.
        ..RunOptions::of(experiment, "nothing".into())
    }
}

#[test]
fn every_mode_stores_what_it_sends_and_is_counted_as_the_server_counts() {
    let server = truth_server();
    let (result, _folder) = measure(&server, experiment(&server, "plain", &MODES, &[5, 23], ""));
    assert_eq!(result.cells.len(), 2 * MODES.len(), "{:?}", result.gaps);
    let blocks = BTreeSet::from([0, 1]);
    for cell in &result.cells {
        let inserted = cell.inserted.unwrap();
        let trials: Vec<_> =
            result.trials.iter().filter(|trial| trial.variant == cell.variant && trial.level == cell.level).collect();
        assert_eq!(trials.iter().map(|trial| trial.block).collect::<BTreeSet<u32>>(), blocks);
        let units: u64 = trials.iter().map(|trial| trial.units).sum();
        assert_eq!(inserted.records, units * cell.level);
        assert_eq!((inserted.settlement.counted, cell.errors.len()), (units + 1, 0), "{}", cell.variant);
        assert!(inserted.settlement.agrees() && inserted.settlement.compared == 5);
        let each = match cell.variant.as_str() {
            "custom-rest" => 1,
            "sequential" | "parallel-4" => cell.level,
            "changeset-10" => cell.level.div_ceil(10),
            _ => cell.level.div_ceil(7),
        };
        assert_eq!(cell.requests, units * each, "{}", cell.variant);
        assert!(inserted.ms_per_record.mean > 0.0);
        assert!(inserted.subject_cpu_us_per_record.unwrap().mean > 0.0);
        let connections = if cell.variant == "parallel-4" { 4 } else { 1 };
        assert_eq!(cell.connections, connections, "{}", cell.variant);
    }
    let refused: Vec<_> = result.validity.iter().filter(|doubt| doubt.verdict == Verdict::Refused).collect();
    assert!(refused.is_empty(), "{refused:?}");
    // 5 records fill neither a batch of 7 nor a change set of 10: those modes are compared at 23 alone.
    let times = |level: u64| {
        let own = result.tolls.iter().filter(|toll| toll.figure == Figure::UnitTime && toll.level == level);
        own.map(|toll| toll.variant.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(times(5), ["sequential", "parallel-4"]);
    assert_eq!(times(23).len(), MODES.len() - 1);
}

#[test]
fn a_table_that_holds_rows_is_emptied_only_where_its_owner_said_so() {
    let server = truth_server();
    let class = "constant-2";
    server.client().post(&format!("{class}/odata/TestRecords"), "{\"ID\":\"mine\"}");
    let count = || server.client().answer(&format!("{class}/odata/TestRecords/$count"));
    let folder = tempfile::tempdir().unwrap();
    let own = |host: &str| RunOptions {
        may_empty: vec![host.to_owned()],
        ..options(&server, experiment(&server, class, &["custom-rest", "sequential"], &[5], ""), &folder)
    };
    let refused = run(&own("other.example"), &(), &StopFlag::new()).unwrap_err();
    let table = server.url(&format!("{class}/odata/TestRecords"));
    let expected =
        format!("{table} holds 1 row, and this run empties that table: if they may go, say --i-may-empty 127.0.0.1");
    assert_eq!(refused, RunError::Usage(expected));
    assert!(count().ends_with("\r\n\r\n1"), "{}", count());
    assert!(!folder.path().join("run").exists());
    let result = run(&own("127.0.0.1"), &(), &StopFlag::new()).unwrap().result;
    assert_eq!(result.cells.len(), 2);
    assert!(count().ends_with("\r\n\r\n0"), "{}", count());
}

#[test]
fn a_record_that_is_lost_doubled_or_altered_refuses_its_cell() {
    let server = truth_server();
    let check = |class: &str, expected: &str| {
        let modes = ["custom-rest", "batch-7"];
        let (result, _folder) = measure(&server, experiment(&server, class, &modes, &[50], ""));
        for mode in modes {
            let found = result.validity.iter().find(|doubt| doubt.rule == "settlement" && doubt.variant == mode);
            let found = found.unwrap_or_else(|| panic!("{class} {mode}: {:?}", result.validity));
            assert_eq!(found.verdict, Verdict::Refused);
            assert!(found.reason.contains(expected) && !found.remedy.is_empty(), "{}", found.reason);
        }
        assert!(result.tolls.iter().all(|toll| !toll.is_shown()), "{class}");
    };
    check("lost-20", "was acknowledged and is not stored");
    check("doubled-20", "is stored 2 times");
    check("altered-20", "is stored with another content than was sent");
}

#[test]
fn as_many_faults_are_found_as_were_done() {
    let server = truth_server();
    let class = "lost-7,constant-1";
    let (result, _folder) = measure(&server, experiment(&server, class, &["custom-rest", "sequential"], &[40], ""));
    let lost: u64 = result.cells.iter().map(|cell| cell.inserted.unwrap().settlement.lost).sum();
    // The warm-up is settled, too, but stands in no cell.
    assert!(lost > 0 && lost <= server.faults(class), "{lost} of {}", server.faults(class));
}

#[test]
fn errors_are_found_where_they_begin_and_what_lies_above_stays_empty() {
    let server = truth_server();
    let modes = ["custom-rest", "sequential", "parallel-4", "batch-7", "changeset-10", "multipart-7"];
    let experiment = experiment(&server, "rows-30", &modes, &[5, 20, 31, 50], "");
    let (result, _folder) = measure(&server, experiment);
    let levels: BTreeSet<u64> = result.cells.iter().map(|cell| cell.level).collect();
    assert_eq!(levels, BTreeSet::from([5, 20]));
    for mode in modes {
        let gaps: Vec<_> =
            result.gaps.iter().filter(|gap| gap.variant == mode).map(|gap| (gap.level, gap.kind)).collect();
        assert_eq!(gaps, [(31, GapKind::ErrorOnset), (50, GapKind::AfterOnset)], "{mode}");
        let first = result.gaps.iter().find(|gap| gap.variant == mode).unwrap();
        let words = "503 Service Unavailable: no work process became free (";
        assert!(first.reason.starts_with(words) && first.reason.ends_with(")"), "{}", first.reason);
    }
    let unsettled: Vec<_> = result.validity.iter().filter(|doubt| doubt.rule == "settlement").collect();
    assert!(unsettled.is_empty(), "what was refused is not stored: {unsettled:?}");
}

#[test]
fn a_transfer_that_takes_too_long_for_its_cell_is_skipped_and_labelled() {
    let server = truth_server();
    let modes = ["custom-rest", "sequential"];
    let rest = "cell_ms = 1500\n";
    let (result, _folder) = measure(&server, experiment(&server, "constant-20000", &modes, &[5, 100], rest));
    let gap = &result.gaps[..];
    assert_eq!((gap.len(), gap[0].level, gap[0].kind), (1, 100, GapKind::TooLong), "{gap:?}");
    assert!(gap[0].reason.starts_with("skipped: a transfer would take at least "), "{}", gap[0].reason);
    let cell = |variant: &str, level: u64| {
        result.cells.iter().find(|cell| cell.variant == variant && cell.level == level).unwrap()
    };
    // Each request takes 20 ms and never less.
    assert!(cell("sequential", 5).unit_time_ms.mean >= 100.0 && cell("sequential", 5).response_time_ms.mean >= 20.0);
    assert!(cell("custom-rest", 100).inserted.unwrap().ms_per_record.mean >= 0.2);
}
