//! Applies a setting to the user's servers: runs its command before each level, then watches the processes that listen.
//!
//! It does not know what the setting is.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{io, thread};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
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
use crate::subject::{ended, in_a_session_of_its_own, reached};

/// Interval at which it is checked whether a command has ended and a server listens.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Most bytes quoted from the end of a command's words.
const WORDS_BYTES_MAX: u64 = 600;
/// Time within which a command ends that was asked to.
const ENDS_WITHIN: Duration = Duration::from_secs(2);

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
        let log = run.store.directory().join(format!("apply-{level}.log"));
        let applied = carry_out(apply, &words, &log, (deadline, run.stop));
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

    /// The named processes that are alive. If none is named, or one is gone, those that listen now are added: the command
    /// may have restarted the server.
    fn processes(&self, site: &Site) -> Vec<u32> {
        let Origin::There(target) = &site.place else { return Vec::new() };
        let is_there = |known: &u32| process::stat(*known).is_some_and(|stat| !stat.is_ended());
        let mut all: Vec<u32> = site.processes.iter().copied().filter(is_there).collect();
        if all.is_empty() || all.len() < site.processes.len() {
            let listening = listener::listening_at(target).into_iter().map(|found| found.process);
            let further: Vec<u32> = listening.filter(|process| !all.contains(process)).collect();
            all.extend(further);
        }
        all
    }

    fn patience(&self) -> Duration {
        self.apply.within
    }

    fn ended(run: &mut Session<'_, '_, Self>) {
        let apply = &run.kind.way.apply;
        let Some(words) = apply.restoring() else { return };
        // Whoever stopped the run wants the setting back all the same.
        let within = (Instant::now() + apply.within, &StopFlag::new());
        let log = run.store.directory().join("restore.log");
        if let Err(Broken::Failed(how)) = carry_out(apply, words, &log, within) {
            run.result.reason.get_or_insert_with(|| format!("the setting is not restored: {how}"));
        }
    }
}

/// Runs a command until it ends, with what it says in a file. What it leaves running goes on: it may be the server.
fn carry_out(apply: &Apply, words: &[String], log: &Path, within: (Instant, &StopFlag)) -> Result<(), Broken> {
    let told = words.join(" ");
    let failed = |how: String| Broken::Failed(format!("`{told}` {how}"));
    let spawned = || -> io::Result<Child> {
        log.parent().map_or(Ok(()), fs::create_dir_all)?;
        // A server that it leaves behind may write here for longer than the lab would read a pipe.
        let said = File::options().create(true).append(true).open(log)?;
        let mut command = apply.command(words);
        in_a_session_of_its_own(&mut command);
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said).spawn()
    };
    let mut process = spawned().map_err(|error| failed(format!("cannot be started: {error}")))?;
    let unwatched = |error: io::Error| failed(format!("cannot be watched: {error}"));
    let pidfd = pidfd_open(Pid::from_child(&process), PidfdFlags::empty()).map_err(|error| unwatched(error.into()))?;
    let (deadline, stop) = within;
    while !ended(&pidfd, LOOK_EVERY).map_err(|error| unwatched(error.into()))? {
        let late = || "did not end in time; `seconds_max` allows more".to_owned();
        let Err(broken) = goes_on(deadline, stop, late) else { continue };
        return Err(match (broken, is_stopped(&process, &pidfd)) {
            (Broken::Failed(how), true) => failed(how),
            (Broken::Failed(how), false) => failed(format!("{how}, and process {} goes on", process.id())),
            (Broken::Stopped, _) => Broken::Stopped,
        });
    }
    let status = process.wait().map_err(unwatched)?;
    if status.success() {
        return Ok(());
    }
    let last = last_words(log).unwrap_or_default().trim().replace('\n', " | ");
    let last = if last.is_empty() { "none" } else { &last };
    Err(failed(format!("ended with {status}; its last words: {last}")))
}

/// Stops a command, and not what it started; returns whether it has ended. That of another user cannot be stopped.
fn is_stopped(process: &Child, pidfd: &OwnedFd) -> bool {
    [Signal::TERM, Signal::KILL].into_iter().any(|signal| {
        // It may be gone by now.
        let _ = kill_process(Pid::from_child(process), signal);
        ended(pidfd, ENDS_WITHIN).unwrap_or(false)
    })
}

/// The end of what a command said.
fn last_words(log: &Path) -> io::Result<String> {
    let mut said = File::open(log)?;
    let from = said.metadata()?.len().saturating_sub(WORDS_BYTES_MAX);
    said.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    said.take(WORDS_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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
