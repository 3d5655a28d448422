//! `tollgate completions SHELL`: made from the same definition as `--help`, so they cannot disagree.

use std::io::Write;

use clap::{Args, CommandFactory};

use crate::cli;
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

/// Prints the script.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::Arguments::command(), "tollgate", &mut script);
    out.write_all(&script).map_err(Failure::output)?;
    Ok(Exit::Done)
}
