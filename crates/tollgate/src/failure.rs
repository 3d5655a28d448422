//! The end of a verb: its exit code, and the one place that turns a failure into the line that the user reads.
//!
//! The wording of other crates' errors is not here: they name the place and the cause themselves.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// The exit code of the process. The numbers are part of the interface: scripts read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything requested was done.
    Done,
    /// It could not be done: a subject, the network or this machine is the reason.
    Failed,
    /// The command line, an experiment or a configuration is wrong.
    Usage,
    /// It was done, but a figure is refused.
    Refused,
    /// It was done, but a threshold is not met.
    Threshold,
    /// The user stopped it; results so far are kept.
    Interrupted,
    /// The exit code of the program that was run for the user.
    As(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Threshold => 99,
            Exit::Interrupted => 130,
            Exit::As(code) => code,
        })
    }
}

/// The reason for a verb's failure.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl Failure {
    /// The command line or a file that the user wrote is wrong.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Usage, message: message.to_string(), hint: None }
    }

    /// The request is valid, but it could not be done.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Failed, message: message.to_string(), hint: None }
    }

    /// It was done, but a figure is refused.
    pub(crate) fn refused(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Refused, message: message.to_string(), hint: None }
    }

    /// Adds a hint at a remedy.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// An output error. A reader that closed the pipe early (`| head`) got all it wanted, so that is no failure.
    pub(crate) fn output(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure { exit: Exit::Done, message: String::new(), hint: None },
            _ => Failure::failed(format_args!("cannot write the result: {error}")),
        }
    }

    /// Handles errors of writing a result. A reader that closed the pipe early changes neither the result nor the exit
    /// code.
    pub(crate) fn unless_closed(written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(Failure::output),
        }
    }

    /// Writes the failure to stderr and returns the exit code.
    pub(crate) fn report(&self) -> Exit {
        let stderr = io::stderr();
        let coloured = stderr.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        // Nobody is left to tell if stderr itself is closed.
        let _ = self.write(&mut stderr.lock(), coloured);
        self.exit
    }

    fn write(&self, out: &mut dyn Write, coloured: bool) -> io::Result<()> {
        if self.message.is_empty() {
            return Ok(());
        }
        let (red, bold, plain) = if coloured { ("\x1b[31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        // Messages with an excerpt of the file bring their own heading.
        match self.message.strip_prefix("error: ") {
            Some(rest) => writeln!(out, "{red}error:{plain} {rest}")?,
            None => writeln!(out, "{red}error:{plain} {}", self.message)?,
        }
        match &self.hint {
            Some(hint) => writeln!(out, "{bold}help:{plain} {hint}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(failure: Failure, expected: &str) {
        let mut out = Vec::new();
        failure.write(&mut out, false).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_failure_is_one_line_and_its_hint() {
        check(
            Failure::failed("port 80 is taken").hint("try `--listen 127.0.0.1:0`"),
            "error: port 80 is taken\nhelp: try `--listen 127.0.0.1:0`\n",
        );
        check(Failure::usage("unknown experiment `x`"), "error: unknown experiment `x`\n");
        check(Failure::usage("error: unknown key"), "error: unknown key\n");
    }

    #[test]
    fn a_closed_pipe_is_silent() {
        check(Failure::output(io::ErrorKind::BrokenPipe.into()), "");
    }
}
