//! One run of the batch: a child process, and the figures that it prints as JSON when it is done.
//!
//! It knows only the batch's command line and that document.

use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use serde::Deserialize;

use crate::conduct::finite::Finite;
use crate::conduct::stop::{Broken, StopFlag};
use crate::cores::Cores;
use crate::probe::memory;
use tollgate_facts::results::{Batched, Reading};

/// Longest time of a batch; a longer one is ended.
const LONGEST: Duration = Duration::from_secs(120);

/// Figures that the batch reports; others are ignored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Report {
    /// The figures that results store, without those of the link, which the batch does not know.
    #[serde(flatten)]
    pub(crate) told: Batched,
    pub(crate) batch_ms: f64,
    pub(crate) cpu_us: f64,
}

/// The command of a batch with `processes` work processes over `documents` documents of a database whose URL may
/// contain a password.
pub(crate) fn command(program: &Path, database: &str, processes: u64, documents: u64) -> Command {
    let mut command = Command::new(program);
    // With a password in it, it is for nobody who looks at command lines.
    command.arg("generate").env("TOLLGATE_DATABASE", database).arg("--json");
    command.args(["--processes", &processes.to_string(), "--sample", &documents.to_string()]);
    command
}

/// The figures of a run of the batch, and the readings of its process.
pub(crate) type Ran = (Report, Vec<Reading>);

/// Runs the batch on the subjects' cores, by a process that `spawn` starts, and waits for it.
pub(crate) fn run(
    command: Command,
    cores: &Cores,
    stop: &StopFlag,
    spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
) -> Result<Ran, Broken> {
    let mut readings = Vec::new();
    let finite = Finite { command, cores, stop, longest: LONGEST, status: 0 };
    let finished = finite.run(spawn, |process| readings.extend(memory::sample(&[process])))?;
    let report: Report = serde_json::from_str(&finished.output)
        .map_err(|error| Broken::Failed(format!("printed no figures that can be read: {error}")))?;
    if !(report.batch_ms > 0.0 && report.batch_ms.is_finite()) {
        return Err(Broken::Failed(format!("says that it took {} ms", report.batch_ms)));
    }
    Ok((report, readings))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const FIGURES: &str = r#"{"documents":12,"stored":11,"set_aside":1,"processes":2,"batch_ms":24.5,"connect_ms":3.0,"round_trips":120,"compute_us":900,"database_us":9000,"waiting_us":30,"cpu_us":1500,"more":[]}"#;

    fn ran(script: &str, stop: &StopFlag) -> Result<Ran, Broken> {
        let mut file = tempfile::Builder::new().prefix("batch").suffix(".sh").tempfile().unwrap();
        write!(file, "#!/bin/sh\n{script}\n").unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = file.into_temp_path();
        loop {
            let ran = run(command(&path, "postgres://me@h/d", 2, 12), &Cores::default(), stop, Command::spawn);
            // Another test's fork may hold the file open for writing until its exec.
            if !matches!(&ran, Err(Broken::Failed(how)) if how.contains("busy")) {
                return ran;
            }
        }
    }

    #[test]
    fn figures_are_read_and_the_batch_is_asked_as_agreed() {
        let expected = "generate --json --processes 2 --sample 12 postgres://me@h/d";
        let script = format!("[ \"$* $TOLLGATE_DATABASE\" = '{expected}' ] || exit 9; echo '{FIGURES}'");
        let told = ran(&script, &StopFlag::new()).unwrap().0.told;
        assert_eq!((told.documents, told.stored, told.set_aside, told.round_trips), (12, 11, 1, 120));
    }

    #[test]
    fn a_batch_that_fails_is_quoted_and_one_without_figures_says_so() {
        let check = |script: &str, expected: &str| match ran(script, &StopFlag::new()) {
            Err(Broken::Failed(how)) => assert!(how.contains(expected), "{how}"),
            other => panic!("{other:?}"),
        };
        check("echo 'no database' >&2; exit 3", "exit status: 3; its last words: no database");
        check("echo done", "printed no figures that can be read");
        check(&format!("echo '{}'", FIGURES.replace("24.5", "0")), "says that it took 0 ms");
    }

    #[test]
    fn a_run_that_is_stopped_ends_the_batch() {
        let stop = StopFlag::new();
        stop.stop();
        assert_eq!(ran("exec tail -f /dev/null", &stop).unwrap_err(), Broken::Stopped);
    }
}
