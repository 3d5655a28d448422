//! A batch that loses a document: the lab does not believe its figures more than the count of its documents.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tollgate_facts::results::Verdict;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::run::{RunError, RunOptions, StopFlag, run};

use crate::burning::measuring;
use crate::runs::doubt;

/// Takes the command line of a batch, `generate --json --processes 1 --sample DOCUMENTS`, and stores one document less.
const LOSING: &str = r#"#!/bin/sh
printf '{"documents":%d,"stored":%d,"set_aside":0,"batch_ms":5,"connect_ms":1,' "$6" "$(($6 - 1))"
printf '"round_trips":9,"compute_us":1,"database_us":1,"waiting_us":1,"cpu_us":1}'
"#;

const EXPERIMENT: &str = r#"
    name = "mine"
    question = "Is it marked?"
    [factor]
    name = "processes"
    levels = [1]
    [workload]
    kind = "batch"
    [extent.quick]
    blocks = 2
    slice_ms = 20
    [[variant]]
    name = "rtt-0"
    round_trip_us = 0
"#;

#[test]
fn a_batch_that_loses_a_document_of_each_trial_is_refused() {
    let _measuring = measuring();
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("losing");
    fs::write(&program, LOSING).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let options = RunOptions {
        plan: PlanOptions { extent: Extent::Quick, ..PlanOptions::default() },
        out: Some(folder.path().join("run")),
        ..RunOptions::of(Experiment::parse(EXPERIMENT, "mine.toml").unwrap(), program)
    };
    let outcome = match run(&options, &(), &StopFlag::new()) {
        Ok(outcome) => outcome,
        Err(RunError::Usage(why)) if why.starts_with("PostgreSQL is not installed") => {
            return println!("skipped: {why}");
        }
        Err(error) => panic!("{error}"),
    };
    let lost = doubt(&outcome.result, "documents");
    let trials = f64::from(outcome.result.cells[0].trials);
    assert_eq!((lost.verdict, lost.bound - lost.value), (Verdict::Refused, trials), "{lost:?}");
}
