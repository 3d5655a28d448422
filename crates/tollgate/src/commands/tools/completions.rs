//! `tollgate completions SHELL`: made from the same definition as `--help`, so they cannot disagree.

use std::collections::BTreeSet;
use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::Shell;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::kinds::BUILT_IN;

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
    pub(super) shell: Shell,
}

/// Prints the script of a command line.
pub(crate) fn run(arguments: &Arguments, command: Command, out: &mut dyn Write) -> Result<Exit, Failure> {
    let mut variants = BTreeSet::new();
    for (name, _) in BUILT_IN {
        let experiment = Experiment::builtin(name).map_err(Failure::failed)?;
        variants.extend(experiment.variants.into_iter().map(|variant| variant.name));
    }
    // zsh offers either values or files, and an experiment may be a file.
    let has_names = arguments.shell != Shell::Zsh;
    let with_names = |verb: Command| {
        let verb = verb.mut_arg("only", |only| only.value_parser(PossibleValuesParser::new(&variants)));
        if !has_names {
            return verb;
        }
        let names = BUILT_IN.iter().map(|(name, _)| *name);
        verb.mut_arg("experiment", |experiment| experiment.value_parser(PossibleValuesParser::new(names)))
    };
    let mut command = command.mut_subcommand("run", with_names).mut_subcommand("plan", with_names);
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "tollgate", &mut script);
    out.write_all(&script).map_err(Failure::output)?;
    Ok(Exit::Done)
}
