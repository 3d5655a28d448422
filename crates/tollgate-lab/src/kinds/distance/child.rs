//! One run of the batch: a child process of its own, and the figures that it prints as JSON when it is done.
//!
//! It deliberately knows of the batch only what stands on its command line and in that document.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::Deserialize;

use crate::conduct::stop::{Broken, StopFlag};
use crate::cores::Cores;
use crate::probe::memory;
use crate::subject::ended;
use tollgate_facts::results::Reading;

/// A batch that lasts longer is ended.
const LONGEST: Duration = Duration::from_secs(120);
/// So often it is looked at while it lasts.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Bytes of what it prints that are read.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Characters of its last words that are quoted.
const WORDS_MAX: usize = 600;

/// What the batch says of itself; what else it says is not looked at.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Report {
    pub(crate) documents: u64,
    pub(crate) stored: u64,
    pub(crate) set_aside: u64,
    pub(crate) batch_ms: f64,
    pub(crate) connect_ms: f64,
    pub(crate) round_trips: u64,
    pub(crate) compute_us: f64,
    pub(crate) database_us: f64,
    pub(crate) waiting_us: f64,
    pub(crate) cpu_us: f64,
}

/// What one run of the batch was.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) report: Report,
    /// What was seen of its process.
    pub(crate) readings: Vec<Reading>,
}

/// What is asked of the batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) program: &'a Path,
    /// Where its database is; may hold a password.
    pub(crate) database: &'a str,
    pub(crate) processes: u64,
    pub(crate) documents: u64,
}

/// Runs the batch on the subjects' cores, by a process that `spawn` starts, and waits for it.
pub(crate) fn run(
    asked: &Asked<'_>,
    cores: &Cores,
    stop: &StopFlag,
    spawn: impl FnOnce(&mut Command) -> io::Result<std::process::Child>,
) -> Result<Ran, Broken> {
    let mut command = Command::new(asked.program);
    // With a password in it, it is for nobody who looks at command lines.
    command.arg("generate").env("TOLLGATE_DATABASE", asked.database).arg("--json");
    command.args(["--processes", &asked.processes.to_string(), "--sample", &asked.documents.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Of a group of its own: a terminal's interrupt is for the lab, which then ends the batch itself.
    command.process_group(0);
    let failed = |what: &str, error: &dyn fmt::Display| Broken::Failed(format!("cannot be {what}: {error}"));
    let mut process = cores.as_subject(|| spawn(&mut command)).map_err(|error| failed("started", &error))?;
    let output = read(process.stdout.take());
    let words = read(process.stderr.take());
    let mut readings = Vec::new();
    let ended = wait(&process, stop, &mut readings);
    if ended.is_err() {
        // There may be nobody left.
        let _ = kill_process_group(Pid::from_child(&process), Signal::KILL);
    }
    let status = process.wait().map_err(|error| failed("waited for", &error))?;
    // Readers end with the pipes.
    let (output, words) = (output.join().unwrap_or_default(), words.join().unwrap_or_default());
    ended?;
    if !status.success() {
        let words: String = words.trim().replace('\n', " | ").chars().take(WORDS_MAX).collect();
        return Err(Broken::Failed(format!("ended with {status}; its last words: {words}")));
    }
    let report: Report = serde_json::from_str(&output)
        .map_err(|error| Broken::Failed(format!("printed no figures that can be read: {error}")))?;
    if !(report.batch_ms > 0.0 && report.batch_ms.is_finite()) {
        return Err(Broken::Failed(format!("says that it took {} ms", report.batch_ms)));
    }
    Ok(Ran { report, readings })
}

/// Waits until it has ended, and looks at it now and then.
fn wait(process: &std::process::Child, stop: &StopFlag, readings: &mut Vec<Reading>) -> Result<(), Broken> {
    let failed = |error: Errno| Broken::Failed(format!("cannot be watched: {error}"));
    let pidfd = pidfd_open(Pid::from_child(process), PidfdFlags::empty()).map_err(failed)?;
    let began = Instant::now();
    // A signal may be the one that stops the run.
    while !ended(&pidfd, LOOK_EVERY).map_err(failed)? {
        if stop.is_stopped() {
            return Err(Broken::Stopped);
        }
        if began.elapsed() > LONGEST {
            return Err(Broken::Failed(format!("did not end within {} s", LONGEST.as_secs())));
        }
        readings.extend(memory::sample(&[process.id()]));
    }
    Ok(())
}

/// Reads to the end on a thread of its own, so that the batch never waits for a reader.
fn read(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that there is to tell.
            let _ = pipe.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
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
        let asked = Asked { program: &path, database: "postgres://me@h/d", processes: 2, documents: 12 };
        loop {
            let ran = run(&asked, &Cores::default(), stop, Command::spawn);
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
        let report = ran(&script, &StopFlag::new()).unwrap().report;
        assert_eq!((report.documents, report.stored, report.set_aside, report.round_trips), (12, 11, 1, 120));
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
