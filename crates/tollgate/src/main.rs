//! The `tollgate` binary: it reads the command line, passes it to the verb, and ends with the verb's exit code.
//!
//! Nothing else is here: the work of a verb is in `commands/`, its components are in the two halves.

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
