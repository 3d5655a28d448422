//! A program that ends by itself: starts it on the subjects' cores, waits for it, and reports its status, output, time
//! and the kernel's account of its resources.
//!
//! It does not know what the program does.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::stop::{Broken, StopFlag};
use crate::cores::Cores;
use crate::probe;
use crate::subject::ended;

/// Interval at which it is checked while it runs.
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// The most bytes of its output that are read.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;
/// Time limit for reading its output after its end.
const READ_WITHIN: Duration = Duration::from_secs(1);
/// Maximum number of characters quoted from the end of its output.
const WORDS_MAX: usize = 600;

/// A program's memory is reported if it exceeds that of this process by at least one part in this many.
const OWN_PART: u64 = 8;

/// The command and what is expected of it.
pub(crate) struct Finite<'a> {
    pub(crate) command: Command,
    pub(crate) cores: &'a Cores,
    pub(crate) stop: &'a StopFlag,
    /// Time limit, after which it is killed.
    pub(crate) longest: Duration,
    /// The exit status that counts as success.
    pub(crate) status: i32,
}

/// The result of one execution.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its output.
    pub(crate) output: String,
    /// Time from its start until its end was seen.
    pub(crate) wall: Duration,
    /// CPU time of it and of all its children that it waited for.
    pub(crate) cpu: Duration,
    /// The largest resident memory of one of them, in bytes. Absent where it hardly exceeds this process's own when it
    /// started it, since the kernel counts that for a new process, too.
    pub(crate) memory_bytes_max: Option<u64>,
}

impl Finite<'_> {
    /// Runs it by a process that `spawn` starts, and passes its process id to `look` now and then.
    ///
    /// # Errors
    /// It was stopped, or failed.
    pub(crate) fn run(
        mut self,
        spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
        look: impl FnMut(u32),
    ) -> Result<Finished, Broken> {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Of a group of its own: a terminal's interrupt is for the lab, which then ends it itself.
        self.command.process_group(0);
        let failed = |what: &str, error: &dyn fmt::Display| Broken::Failed(format!("cannot be {what}: {error}"));
        let began = Instant::now();
        let started = self.cores.as_subject(|| spawn(&mut self.command));
        let mut process = started.map_err(|error| failed("started", &error))?;
        // It can only have grown since the new process was one of its own.
        let own_bytes = probe::memory::most_of_own();
        let (output, words) = (read(process.stdout.take()), read(process.stderr.take()));
        let waited = self.wait(&process, began, look);
        let wall = began.elapsed();
        // It, if it goes on, and what it left behind: that would take from the next run. There may be nobody left.
        let _ = kill_process_group(Pid::from_child(&process), Signal::KILL);
        let (status, cpu, memory_bytes) = reap(&process).map_err(|error| failed("waited for", &error))?;
        // Readers end with the pipes, which who left the group may hold open.
        let said = |read: &Receiver<String>| read.recv_timeout(READ_WITHIN).unwrap_or_default();
        let (output, words) = (said(&output), said(&words));
        waited?;
        if status.code() != Some(self.status) {
            let words = words.trim().replace('\n', " | ");
            let first = words.char_indices().rev().nth(WORDS_MAX - 1).map_or(0, |(at, _)| at);
            let words = &words[first..];
            let words = if words.is_empty() { "none" } else { words };
            return Err(Broken::Failed(format!("ended with {status}; its last words: {words}")));
        }
        let memory_bytes_max = own_bytes.filter(|own| memory_bytes > own + own / OWN_PART).map(|_| memory_bytes);
        Ok(Finished { output, wall, cpu, memory_bytes_max })
    }

    /// Waits until it has ended, and calls `look` now and then.
    fn wait(&self, process: &Child, began: Instant, mut look: impl FnMut(u32)) -> Result<(), Broken> {
        let failed = |error: Errno| Broken::Failed(format!("cannot be watched: {error}"));
        let pidfd = pidfd_open(Pid::from_child(process), PidfdFlags::empty()).map_err(failed)?;
        // A signal may be the one that stops the run.
        while !ended(&pidfd, LOOK_EVERY).map_err(failed)? {
            if self.stop.is_stopped() {
                return Err(Broken::Stopped);
            }
            if began.elapsed() > self.longest {
                return Err(Broken::Failed(format!("did not end within {} s", self.longest.as_secs())));
            }
            look(process.id());
        }
        Ok(())
    }
}

/// Waits for an ended process: its status, its CPU time and its largest resident memory in bytes.
#[expect(unsafe_code, reason = "neither std nor rustix tells what a child used")]
fn reap(process: &Child) -> io::Result<(ExitStatus, Duration, u64)> {
    let pid = libc::pid_t::try_from(process.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: a `rusage` is numbers only, of which zero is one.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both places are ours and live until it returns; the child is ours and nobody else waits for it.
        match unsafe { libc::wait4(pid, &mut status, 0, &mut used) } {
            found if found == pid => break,
            _ => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error => return Err(error),
            },
        }
    }
    let time = |of: libc::timeval| Duration::new(of.tv_sec as u64, of.tv_usec as u32 * 1000);
    // Linux counts it in KiB.
    let memory_bytes = used.ru_maxrss as u64 * 1024;
    Ok((ExitStatus::from_raw(status), time(used.ru_utime) + time(used.ru_stime), memory_bytes))
}

/// Reads to the end on a thread of its own, so that the caller does not wait for a reader.
fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is all that there is to tell.
            let _ = pipe.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
            let _ = io::copy(&mut pipe, &mut io::sink());
        }
        // Who waited long enough is gone.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, status: i32) -> Result<Finished, Broken> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let (cores, stop) = (Cores::default(), StopFlag::new());
        let finite = Finite { command, cores: &cores, stop: &stop, longest: Duration::from_secs(60), status };
        finite.run(Command::spawn, |_| {})
    }

    #[test]
    fn a_program_is_told_by_its_output_and_by_what_it_and_its_children_used() {
        let finished = run("echo done; sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'", 0).unwrap();
        assert_eq!(finished.output, "done\n");
        assert!(finished.cpu > Duration::from_micros(500) && finished.cpu <= finished.wall * 64, "{finished:?}");
    }

    #[test]
    fn memory_is_told_of_a_program_that_has_more_than_the_one_that_starts_it() {
        let small = run("true", 0).unwrap();
        assert_eq!(small.memory_bytes_max, None, "it would be that of this test");
        // A shell keeps what it read in a variable.
        let mebibytes = probe::memory::most_of_own().unwrap() / (1 << 20) * 2 + 8;
        let script = format!("x=$(head -c {} /dev/zero | tr '\\0' x); echo ${{#x}}", mebibytes << 20);
        let large = run(&script, 0).unwrap();
        assert_eq!(large.output.trim().parse(), Ok(mebibytes << 20));
        match large.memory_bytes_max {
            Some(most) => assert!(most > mebibytes << 20, "{most}"),
            // Another test made this process as large meanwhile.
            None => assert!(probe::memory::most_of_own().unwrap() * 2 > mebibytes << 20),
        }
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let finished = run("tail -f /dev/null & echo $!", 0).unwrap();
        let left: u32 = finished.output.trim().parse().unwrap();
        // It was told to end, and is gone or about to be.
        while std::fs::read_to_string(format!("/proc/{left}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
            thread::yield_now();
        }
    }

    #[test]
    fn a_status_that_was_not_expected_is_told_with_the_last_words() {
        assert!(run("exit 3", 3).is_ok());
        let check = |script: &str, status: i32, expected: &str| match run(script, status) {
            Err(Broken::Failed(how)) => assert!(how.contains(expected), "{how}"),
            other => panic!("{other:?}"),
        };
        check("echo 'no such thing' >&2; exit 3", 0, "exit status: 3; its last words: no such thing");
        check("true", 3, "ended with exit status: 0");
        check("kill -9 $$", 0, "signal: 9");
    }
}
