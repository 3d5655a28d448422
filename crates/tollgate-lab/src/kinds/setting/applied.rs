//! The setting of the user's servers: its command runs before each level, and whoever listens then is watched.
//!
//! It does not know what the setting is.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tollgate_net::http1::client::Target;

use super::file::Apply;
use crate::conduct::conductor::{Beginning, Halt};
use crate::conduct::options::RunError;
use crate::conduct::stop::{Broken, StopFlag};
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::sites::{Origin, Processes, Site};
use crate::kinds::http::trial::Asking;
use crate::kinds::http::way::Way;
use crate::load::scenario::Conduct;
use crate::probe::{listener, process};
use crate::subject::{ended, reached};

/// Interval at which it is checked whether a command has ended and a server listens.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Most characters quoted from the end of a command's words.
const WORDS_MAX: usize = 600;
/// Name of the file in the run's folder with what the commands said.
const SAID: &str = "apply.log";

/// Servers whose setting is applied: of walks, or of single requests.
pub(super) struct Applied<const WALKS: bool> {
    apply: Apply,
}

impl<const WALKS: bool> Way for Applied<WALKS> {
    const ASKING: fn(Conduct) -> Asking = if WALKS { |_| Asking::Walk } else { |_| Asking::Request };

    const PROCESSES: Processes = Processes::OfEachLevel;

    const LEARNS: bool = !WALKS;

    fn begin(beginning: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Self, RunError> {
        let apply: &Apply =
            beginning.options.experiment.own.get().expect("its file is checked to say how it is applied");
        Ok(Applied { apply: apply.clone() })
    }

    /// Applies the level's setting, and waits until every server listens.
    fn set(run: &mut Session<'_, '_, Self>) -> Result<(), Halt> {
        let (apply, level) = (&run.kind.way.apply, run.kind.at);
        let words = apply.words(level);
        let deadline = Instant::now() + apply.within;
        let place = run.kind.sites[0].variant;
        let applied = carry_out(apply, &words, run.store.directory(), (deadline, run.stop));
        let failed = |variant: usize, broken: Broken| match broken {
            Broken::Failed(how) => run.failed_at(variant, level, format!("is not at setting {level}: {how}")),
            stopped @ Broken::Stopped => run.broken(variant, level, stopped),
        };
        applied.map_err(|broken| failed(place, broken))?;
        for site in run.kind.sites {
            let Origin::There(target) = &site.place else { continue };
            listens(target, (deadline, run.stop)).map_err(|broken| failed(site.variant, broken))?;
        }
        Ok(())
    }

    /// The processes that were named, or those that listen now where the command restarted the server.
    fn processes(&self, site: &Site) -> Vec<u32> {
        let Origin::There(target) = &site.place else { return Vec::new() };
        let is_gone = |known: &u32| process::stat(*known).is_none_or(|stat| stat.is_ended());
        match site.processes.is_empty() || site.processes.iter().any(is_gone) {
            true => listener::listening_at(target).into_iter().map(|found| found.process).collect(),
            false => site.processes.clone(),
        }
    }

    fn ended(run: &mut Session<'_, '_, Self>) {
        let apply = &run.kind.way.apply;
        let Some(words) = apply.restoring() else { return };
        // Whoever stopped the run wants the setting back all the same.
        let within = (Instant::now() + apply.within, &StopFlag::new());
        if let Err(Broken::Failed(how)) = carry_out(apply, words, run.store.directory(), within) {
            run.result.reason.get_or_insert_with(|| format!("the setting is not restored: {how}"));
        }
    }
}

/// Runs a command until it ends. What it leaves running goes on: it may be the server.
fn carry_out(apply: &Apply, words: &[String], run: &Path, within: (Instant, &StopFlag)) -> Result<(), Broken> {
    let told = words.join(" ");
    let failed = |how: String| Broken::Failed(format!("`{told}` {how}"));
    let said = run.join(SAID);
    let spawned = || -> io::Result<Child> {
        fs::create_dir_all(run)?;
        // A server that it leaves behind may write here for longer than the lab would read a pipe.
        let log = File::create(&said)?;
        let mut command = apply.command(words);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0).spawn()
    };
    let mut process = spawned().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let waited = wait(&process, within).map_err(|broken| match broken {
        Broken::Failed(how) => failed(how),
        Broken::Stopped => Broken::Stopped,
    });
    if waited.is_err() {
        // There may be nobody left.
        let _ = kill_process_group(Pid::from_child(&process), Signal::KILL);
    }
    let status = process.wait().map_err(|error| failed(format!("cannot be waited for: {error}")))?;
    waited?;
    if status.success() {
        return Ok(());
    }
    let last = String::from_utf8_lossy(&fs::read(&said).unwrap_or_default()).trim().replace('\n', " | ");
    let first = last.char_indices().rev().nth(WORDS_MAX - 1).map_or(0, |(at, _)| at);
    let last = if last.is_empty() { "none" } else { &last[first..] };
    Err(failed(format!("ended with {status}; its last words: {last}")))
}

/// Waits until a process has ended.
fn wait(process: &Child, (deadline, stop): (Instant, &StopFlag)) -> Result<(), Broken> {
    let failed = |error| Broken::Failed(format!("cannot be watched: {error}"));
    let pidfd = pidfd_open(Pid::from_child(process), PidfdFlags::empty()).map_err(failed)?;
    while !ended(&pidfd, LOOK_EVERY).map_err(failed)? {
        goes_on(deadline, stop, || "did not end in time; `seconds_max` allows more".to_owned())?;
    }
    Ok(())
}

/// Waits until a server accepts connections.
fn listens(target: &Target, (deadline, stop): (Instant, &StopFlag)) -> Result<(), Broken> {
    loop {
        let Err(how) = reached(target.host().trim_matches(['[', ']']), target.port()) else { return Ok(()) };
        goes_on(deadline, stop, || format!("after the command {how}"))?;
        // Nobody tells when a server begins to listen.
        thread::park_timeout(LOOK_EVERY);
    }
}

/// Fails with `how` beyond the deadline, and where the run is stopped.
fn goes_on(deadline: Instant, stop: &StopFlag, how: impl FnOnce() -> String) -> Result<(), Broken> {
    match (stop.is_stopped(), Instant::now() < deadline) {
        (true, _) => Err(Broken::Stopped),
        (false, true) => Ok(()),
        (false, false) => Err(Broken::Failed(how())),
    }
}
