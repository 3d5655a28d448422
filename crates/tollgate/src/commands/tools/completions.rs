//! `tollgate completions SHELL`: made from the same definition as `--help`, so they cannot disagree.

use std::io::Write;

use clap::{Args, Command};

use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  source <(tollgate completions bash)
  tollgate completions fish > ~/.config/fish/completions/tollgate.fish";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// For which shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

/// Prints the script of a command line.
pub(crate) fn run(arguments: &Arguments, mut command: Command, out: &mut dyn Write) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tollgate", &mut script);
    out.write_all(&script).map_err(Failure::output)?;
    Ok(Exit::Done)
}
