//! The programs at the two ends of a line: started at their end, watched, and stopped.
//!
//! The line itself and the messages to its user are not here.

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tollgate_net::link::Door;

/// Time limit for the far program to end after a request to.
const END_WITHIN: Duration = Duration::from_secs(5);

/// An event while programs run.
#[derive(Debug)]
pub(super) enum Event {
    /// The user stopped it.
    Stop,
    /// The near program has ended.
    NearEnded(io::Result<ExitStatus>),
    /// The far program has ended.
    FarEnded(io::Result<ExitStatus>),
}

/// A program at one end.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// Its process id while it runs; 0 before and afterwards.
    number: Arc<AtomicU32>,
}

/// Both ends of the channel of events.
pub(super) fn events() -> (Sender<Event>, Receiver<Event>) {
    mpsc::channel()
}

/// The processes that must not outlive us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// The program that we started.
    ItAlone,
    /// And all that it started.
    Group,
}

/// Ends a process group once we are gone, for whatever reason: the kernel closes the pipe that it reads.
#[derive(Debug)]
struct Keeper(Child);

impl Keeper {
    fn of(group: u32) -> io::Result<Keeper> {
        use std::os::unix::process::CommandExt as _;
        let line = "cat >/dev/null; kill -TERM \"-$1\"; sleep \"$2\"; kill -KILL \"-$1\"";
        let mut command = Command::new("sh");
        command.args(["-c", line, "sh", &group.to_string(), &END_WITHIN.as_secs().to_string()]);
        // Of a group of its own: a terminal's interrupt is for us, who then end the far program ourselves.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map(Keeper)
    }
}

/// Ends the keeper alone: its group has ended, and the group's number may be reused.
impl Drop for Keeper {
    fn drop(&mut self) {
        // Killed before its pipe is closed, so that it ends nobody; it is gone already only where somebody else did that.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    /// Starts the user's command at the near end, with our own standard streams.
    pub(super) fn near(door: &Door, words: &[String], tell: Sender<Event>) -> io::Result<Program> {
        let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Program::start(door, command, move |ended| tell.send(Event::NearEnded(ended)).unwrap_or_default())
    }

    /// Starts a line of shell at the far end, in a process group of its own, so that all of it can be stopped. Its
    /// output goes to our stderr: stdout is the near command's.
    pub(super) fn far(door: &Door, line: &str, tell: Sender<Event>) -> io::Result<Program> {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("sh");
        command.args(["-c", line]).process_group(0).stdin(Stdio::null()).stdout(io::stderr());
        Program::start_kept(door, command, Keeping::Group, move |ended| {
            tell.send(Event::FarEnded(ended)).unwrap_or_default();
        })
    }

    fn start(
        door: &Door,
        command: Command,
        ended: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> io::Result<Program> {
        Program::start_kept(door, command, Keeping::ItAlone, ended)
    }

    fn start_kept(
        door: &Door,
        mut command: Command,
        keeping: Keeping,
        ended: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> io::Result<Program> {
        let (door, program) = (door.clone(), Program::default());
        let number = Arc::clone(&program.number);
        // The thread lives as long as the program: the kernel ends the program with it.
        std::thread::Builder::new().name("program".to_owned()).spawn(move || {
            let mut keeper = None;
            let status = door.run(&mut command, |started| {
                number.store(started, std::sync::atomic::Ordering::Release);
                if keeping == Keeping::Group {
                    // Without one it is as safe as the near program: the kernel ends what we started, not what that did.
                    keeper = Keeper::of(started).ok();
                }
            });
            number.swap(0, AcqRel);
            drop(keeper);
            ended(status);
        })?;
        Ok(program)
    }

    /// Asks it to end.
    pub(super) fn terminate(&self) {
        if let Some(number) = self.number() {
            // It may have ended in this moment.
            let _ = kill_process(number, Signal::TERM);
        }
    }

    /// Ends the far program and all that it started, politely at first.
    pub(super) fn stop_group(&self, events: &Receiver<Event>) {
        let Some(number) = self.number() else { return };
        // Each of these fails only when nobody is left.
        let _ = kill_process_group(number, Signal::TERM);
        while let Ok(event) = events.recv_timeout(END_WITHIN) {
            if matches!(event, Event::FarEnded(_)) {
                break;
            }
        }
        let _ = kill_process_group(number, Signal::KILL);
    }

    fn number(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.number.load(Acquire)).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

    use super::*;

    /// A shell and its child, in a group of their own.
    fn group() -> Child {
        Command::new("sh").args(["-c", "sleep 1000 & wait"]).process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_group_ends_with_whoever_kept_it_and_not_before() {
        let mut kept = group();
        let mut keeper = Keeper::of(kept.id()).unwrap();
        // As the kernel does when we are killed.
        drop(keeper.0.stdin.take());
        assert_eq!(kept.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
        drop(keeper);
        let mut let_go = group();
        drop(Keeper::of(let_go.id()).unwrap());
        assert_eq!(let_go.try_wait().unwrap(), None);
        kill_process_group(Pid::from_child(&let_go), Signal::KILL).unwrap();
        let_go.wait().unwrap();
    }
}
