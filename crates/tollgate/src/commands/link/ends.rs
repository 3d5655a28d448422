//! The programs at the two ends of a line: started where they belong, watched, and stopped.
//!
//! Deliberately not here: what the line is, and what its user is told.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Acquire};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tollgate_net::link::Door;

/// The far program has so long to end when it is asked to.
const END_WITHIN: Duration = Duration::from_secs(5);

/// What happens while programs run.
#[derive(Debug)]
pub(super) enum Event {
    /// The user wants an end.
    Stop,
    /// The near program has ended.
    NearEnded(io::Result<ExitStatus>),
    /// The far program has ended.
    FarEnded(io::Result<ExitStatus>),
}

/// A program at one end.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    /// Its number while it runs; 0 before and afterwards.
    number: Arc<AtomicU32>,
}

/// Who is told of events, and hears them.
pub(super) fn events() -> (Sender<Event>, Receiver<Event>) {
    mpsc::channel()
}

impl Program {
    /// Starts the user's command at the near end, with our own standard streams.
    pub(super) fn near(door: &Door, words: &[String], tell: Sender<Event>) -> io::Result<Program> {
        let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("there is no command"))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Program::start(door, command, move |ended| tell.send(Event::NearEnded(ended)).unwrap_or_default())
    }

    /// Starts a line of shell at the far end, in a process group of its own, so that all of it can be stopped. What it
    /// prints goes to our stderr: stdout is the near command's.
    pub(super) fn far(door: &Door, line: &str, tell: Sender<Event>) -> io::Result<Program> {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("sh");
        command.args(["-c", line]).process_group(0).stdin(Stdio::null()).stdout(io::stderr());
        Program::start(door, command, move |ended| tell.send(Event::FarEnded(ended)).unwrap_or_default())
    }

    fn start(
        door: &Door,
        mut command: Command,
        ended: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> io::Result<Program> {
        let (door, program) = (door.clone(), Program::default());
        let number = Arc::clone(&program.number);
        // The thread lives as long as the program: the kernel ends the program with it.
        std::thread::Builder::new().name("program".to_owned()).spawn(move || {
            let status = door.run(&mut command, |started| number.store(started, std::sync::atomic::Ordering::Release));
            number.swap(0, AcqRel);
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
