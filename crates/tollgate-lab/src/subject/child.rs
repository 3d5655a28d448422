//! A subject that the run starts itself: `PROGRAM serve --listen 127.0.0.1:0 --admin 127.0.0.1:0`, or a peer (see
//! [`super::peer`]).
//!
//! It is ready when it has announced its URLs. It is ended by SIGTERM, then by SIGKILL, with all that it started, at
//! the latest when this value is dropped. The end of its standard error is kept, in case it dies.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::cores::Cores;

/// Time within which a subject must announce its URLs.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// Time for a subject to drain after SIGTERM.
const DRAIN_WITHIN: Duration = Duration::from_secs(2);
/// Lines of its standard error that are kept.
const LAST_LINES: usize = 12;
/// Bytes of a line that are read and kept.
const LINE_BYTES_MAX: u64 = 4096;

/// A running child.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    pidfd: OwnedFd,
    pub(super) watched: Vec<u32>,
    last_lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed when its standard error is closed.
    silent: Receiver<()>,
    /// Its URL, such as `http://127.0.0.1:41234`.
    pub url: String,
    /// Its further URLs, in the order of announcement.
    pub further_urls: Vec<String>,
    /// The URL of its `/metrics`.
    pub admin_url: Option<String>,
}

impl Child {
    /// Starts `program` with `serve` and `arguments` on the subjects' cores, and waits until it listens at a port of
    /// `address`.
    ///
    /// # Errors
    /// Its last words.
    pub fn start(address: Ipv4Addr, program: &Path, arguments: &[String], cores: &Cores) -> Result<Child, String> {
        let mut command = Command::new(program);
        let address = format!("{address}:0");
        command.args(["serve", "--listen", &address, "--admin", "127.0.0.1:0"]).args(arguments);
        let (child, announced) = Child::spawn(command, cores, announcement)?;
        child
            .once_ready(|child| child.wait_until_announced(&announced))
            .map_err(|error| format!("{} {error}", program.display()))
    }

    /// Starts a command on the subjects' cores. Each value that `hear` finds in a line of its standard output is sent
    /// to the receiver.
    ///
    /// # Errors
    /// The reason why it could not be started.
    pub(super) fn spawn<T: Send + 'static>(
        mut command: Command,
        cores: &Cores,
        hear: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> Result<(Child, Receiver<T>), String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Of a group of its own: a terminal's interrupt is for the lab, which then ends its subjects itself.
        command.process_group(0);
        end_with_this_thread(&mut command);
        let name = command.get_program().to_owned();
        let failed = |what: &str, error: io::Error| format!("{} cannot be {what}: {error}", name.display());
        let mut process = cores.as_subject(|| command.spawn()).map_err(|error| failed("started", error))?;
        let stdout = process.stdout.take().expect("standard output is piped");
        let stderr = process.stderr.take().expect("standard error is piped");
        let last_lines = Arc::new(Mutex::new(VecDeque::new()));
        let (say, said) = channel();
        std::thread::spawn(move || {
            // Nobody listens any more once it is ready.
            each_line(stdout, |line| drop(hear(line).map(|heard| say.send(heard))));
        });
        let (speaking, silent) = channel::<()>();
        let kept = Arc::clone(&last_lines);
        std::thread::spawn(move || {
            each_line(stderr, |line| keep_last(&kept, line));
            drop(speaking);
        });
        match pidfd_open(Pid::from_child(&process), PidfdFlags::empty()) {
            Ok(pidfd) => {
                let watched = vec![process.id()];
                let (url, further_urls, admin_url) = (String::new(), Vec::new(), None);
                Ok((Child { process, pidfd, watched, last_lines, silent, url, further_urls, admin_url }, said))
            }
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(failed("watched", error.into()))
            }
        }
    }

    /// Returns the child once `wait` succeeds.
    ///
    /// # Errors
    /// Its last words if it died, or the error of `wait`.
    pub(super) fn once_ready(mut self, wait: impl FnOnce(&mut Child) -> Result<(), String>) -> Result<Child, String> {
        let Err(message) = wait(&mut self) else { return Ok(self) };
        if !self.exited(Duration::ZERO) {
            return Err(message);
        }
        // Its last words are complete once the pipe is closed.
        let _ = self.silent.recv_timeout(DRAIN_WITHIN);
        let Some((status, words)) = self.end() else { return Err(message) };
        // A message that points into a file is readable only by line.
        let by_line = || format!("{status}; its last words:\n    {}", words.join("\n    "));
        Err(if words.len() > 1 { by_line() } else { in_line(&status, &words) })
    }

    /// Its process id.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Ids of the processes whose CPU time and memory count as its own.
    pub fn watched(&self) -> &[u32] {
        &self.watched
    }

    /// Returns how it ended, with the end of its standard error, if it has.
    pub fn death(&mut self) -> Option<String> {
        self.end().map(|(status, words)| in_line(&status, &words))
    }

    /// Returns exit status or signal, and its last lines.
    fn end(&mut self) -> Option<(String, Vec<String>)> {
        if self.exited(Duration::ZERO) {
            self.end_group(Signal::KILL);
        }
        let status = self.process.try_wait().ok().flatten()?;
        let last_lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        Some((describe(status), last_lines))
    }

    fn wait_until_announced(&mut self, announced: &Receiver<(Announcement, String)>) -> Result<(), String> {
        let deadline = Instant::now() + READY_WITHIN;
        while self.url.is_empty() || self.admin_url.is_none() {
            match self.hear(announced, deadline, "where it listens", &format!("{} s", READY_WITHIN.as_secs()))? {
                (Announcement::Listening, url) if self.url.is_empty() => self.url = url,
                (Announcement::Listening, url) => self.further_urls.push(url),
                (Announcement::Admin, url) => self.admin_url = Some(url),
            }
        }
        Ok(())
    }

    /// Waits for the next value until the deadline; otherwise the error says that `what` was missing after `within`.
    pub(super) fn hear<T>(&self, said: &Receiver<T>, deadline: Instant, what: &str, within: &str) -> Result<T, String> {
        said.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("did not say {what} within {within}"),
            RecvTimeoutError::Disconnected => {
                // The pipe closes a moment before the process can be waited for.
                self.exited(DRAIN_WITHIN);
                format!("closed its standard output before it said {what}")
            }
        })
    }

    /// Whether the process ended, after waiting at most `within`.
    pub(super) fn exited(&self, within: Duration) -> bool {
        ended(&self.pidfd, within).unwrap_or(false)
    }

    /// Signals the process group. Until the process is waited for, no other group can have its id.
    fn end_group(&self, signal: Signal) {
        // There may be nobody left.
        let _ = kill_process_group(Pid::from_child(&self.process), signal);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.process.try_wait().ok().flatten().is_some() {
            return;
        }
        // It may end by itself between the question and the signal; then the signal reaches nobody, as it is not yet
        // waited for.
        self.end_group(Signal::TERM);
        self.exited(DRAIN_WITHIN);
        // Also whom it left behind.
        self.end_group(Signal::KILL);
        let _ = self.process.wait();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announcement {
    Listening,
    Admin,
}

/// Makes the kernel end the child with the thread that starts it, so that even a killed lab leaves none behind.
#[expect(unsafe_code, reason = "std has no other way to ask the kernel for it between fork and exec")]
pub(crate) fn end_with_this_thread(command: &mut Command) {
    // SAFETY: between fork and exec only one system call is made, which neither allocates nor locks.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?));
    }
}

/// Makes the command begin a session of its own: no interrupt of the terminal reaches it, and nothing asks there.
#[expect(unsafe_code, reason = "std has no stable way to ask the kernel for it between fork and exec")]
pub(crate) fn in_a_session_of_its_own(command: &mut Command) {
    // SAFETY: between fork and exec only one system call is made, which neither allocates nor locks.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
}

/// Whether a process ended, after waiting at most `within`, or until a signal came.
pub(crate) fn ended(pidfd: &OwnedFd, within: Duration) -> Result<bool, Errno> {
    let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: i64::from(within.subsec_nanos()) };
    match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(&timeout)) {
        Err(Errno::INTR) => Ok(false),
        polled => polled.map(|ready| ready > 0),
    }
}

/// Passes on each line, and reads to the end, so that the child never writes into a closed pipe.
fn each_line(pipe: impl Read, mut take: impl FnMut(&str)) {
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        take(&String::from_utf8_lossy(&line));
        line.clear();
    }
}

fn announcement(line: &str) -> Option<(Announcement, String)> {
    let (word, url) = line.trim().split_once(' ')?;
    let kind = match word {
        "listening" => Announcement::Listening,
        "admin" => Announcement::Admin,
        _ => return None,
    };
    url.starts_with("http").then(|| (kind, url.to_owned()))
}

fn keep_last(kept: &Mutex<VecDeque<String>>, line: &str) {
    let line = line.trim_end();
    if line.is_empty() {
        return;
    }
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() == LAST_LINES {
        kept.pop_front();
    }
    kept.push_back(line.to_owned());
}

fn in_line(status: &str, words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(|line| line.trim()).collect();
    if words.is_empty() { status.to_owned() } else { format!("{status}; its last words: {}", words.join(" | ")) }
}

fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit status {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn start(script: &str) -> Result<Child, String> {
        let mut file = tempfile::Builder::new().prefix("subject").suffix(".sh").tempfile().unwrap();
        write!(file, "#!/bin/sh\n{script}\n").unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = file.into_temp_path();
        loop {
            let started = Child::start(Ipv4Addr::LOCALHOST, &path, &[], &Cores::default());
            // Another test's fork may hold the file open for writing until its exec.
            if !matches!(&started, Err(error) if error.contains("busy")) {
                return started;
            }
        }
    }

    const READY: &str = "echo listening http://127.0.0.1:4001; echo admin http://127.0.0.1:4002";

    #[test]
    fn it_is_ready_when_it_has_said_where_it_listens() {
        let child = start(&format!("{READY}; exec tail -f /dev/null")).unwrap();
        assert_eq!(child.url, "http://127.0.0.1:4001");
        assert_eq!(child.admin_url.as_deref(), Some("http://127.0.0.1:4002"));
        assert!(child.further_urls.is_empty());
    }

    #[test]
    fn all_its_addresses_are_kept_in_their_order() {
        let further = "echo listening https://127.0.0.1:4003; echo listening https://127.0.0.1:4004";
        let child = start(&format!("echo listening http://127.0.0.1:4001; {further}; {READY}; exec tail -f /dev/null"));
        // The last line of those that are ready says where it listens, again.
        let expected = ["https://127.0.0.1:4003", "https://127.0.0.1:4004", "http://127.0.0.1:4001"];
        assert_eq!(child.unwrap().further_urls, expected);
    }

    #[test]
    fn it_is_ended_when_dropped_even_if_it_does_not_listen_to_terminate() {
        let child = start(&format!("trap '' TERM; {READY}; exec tail -f /dev/null")).unwrap();
        let process = child.process();
        drop(child);
        assert!(!Path::new(&format!("/proc/{process}")).exists());
    }

    #[test]
    fn one_that_fails_to_start_is_quoted() {
        let error = start("echo cannot open the database >&2; exit 3").unwrap_err();
        assert!(error.ends_with("ended with exit status 3; its last words: cannot open the database"), "{error}");
        let error = start("echo 'esb.toml:3:1' >&2; echo '  ^ no path' >&2; exit 2").unwrap_err();
        assert!(error.ends_with("its last words:\n    esb.toml:3:1\n      ^ no path"), "{error}");
    }

    #[test]
    fn one_that_is_not_there_is_named() {
        let nowhere = Path::new("/nowhere/tollgate");
        let error = Child::start(Ipv4Addr::LOCALHOST, nowhere, &[], &Cores::default()).unwrap_err();
        assert_eq!(error, "/nowhere/tollgate cannot be started: No such file or directory (os error 2)");
    }

    #[test]
    fn one_that_dies_later_leaves_status_and_last_words() {
        let mut child = start(&format!("{READY}; echo out of memory >&2; kill -9 $$")).unwrap();
        assert!(child.exited(DRAIN_WITHIN));
        let death = child.death().unwrap();
        assert!(death.starts_with("was ended by signal 9"), "{death}");
    }

    #[test]
    fn only_announcements_are_taken_from_its_output() {
        let check = |line: &str, expected: Option<Announcement>| {
            assert_eq!(announcement(line).map(|(kind, _)| kind), expected, "{line}");
        };
        check("listening http://127.0.0.1:80", Some(Announcement::Listening));
        check("admin http://127.0.0.1:81\r", Some(Announcement::Admin));
        check("listening soon", None);
        check("hello", None);
    }
}
