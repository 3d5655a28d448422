//! The `tollgate` binary: it reads the command line, hands it to the verb, and ends with the verb's exit code.
//!
//! Deliberately nothing else: what a verb does stands in `commands/`, what it composes in the two halves.

mod cli;
mod commands;
mod failure;
mod progress;
mod readable;
mod signals;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = cli::Arguments::read();
    let mut out = std::io::stdout().lock();
    match arguments.verb.run(&mut out) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
