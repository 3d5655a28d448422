//! The command line: the list of verbs. Each verb has a file in `commands/` with its flags and its work.
//!
//! The flags and their meanings are not here.

use std::io::Write;

use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::experiment::{compare, list, plan, report, run, versus};
use crate::commands::gateway::{cert, generate, password, serve};
use crate::commands::machine::{doctor, probe, selfcheck};
use crate::commands::tools::{completions, schema, xpath, xslt};
use crate::commands::{link, load};
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate run protocol                      what does OData cost over plain REST, on this machine?
  tollgate run protocol --quick              the same in well under a minute, with wider intervals
  tollgate run protocol --subject odata-v2-atom=https://sap.example/sap/opu/odata/x/Y/Things \\
      --i-may-load sap.example --basic user:password
                                             your own system in the place of one variant
  tollgate serve                             the built-in services, to look at with a browser or curl
  tollgate load -n 10000 -c 20 -k http://127.0.0.1:8080/

Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 a figure was refused, 99 a threshold
does not hold, 130 interrupted.";

/// The verbs in groups, as `--help` lists them; a test checks that each verb is in one.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Measure",
        &["load", "versus", "run", "plan", "list", "compare", "report", "probe", "doctor", "selfcheck", "link"],
    ),
    ("Serve", &["serve", "generate", "password", "cert"]),
    ("Tools", &["xslt", "xpath", "schema", "completions"]),
];

/// What does each layer cost? Measure it, with an interval and n, or see the figure refused.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Arguments {
    /// The command line for parsing: verbs in groups, and a short help of `load`.
    fn grouped() -> Command {
        let command = Arguments::command();
        let about = |verb: &str| {
            let found = command.find_subcommand(verb).and_then(Command::get_about);
            found.map(ToString::to_string).unwrap_or_default()
        };
        let mut verbs = String::new();
        for (group, names) in GROUPS {
            let lines = names.iter().map(|name| format!("  {name:<12} {}\n", about(name)));
            verbs.push_str(&format!("{group}:\n{}\n", lines.collect::<String>()));
        }
        let template = format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}Options:\n{{options}}{{after-help}}"
        );
        command.help_template(template).mut_subcommand("load", load::with_short_help)
    }

    /// Reads the command line. A mistake in it, or a call for help, ends the process.
    pub(crate) fn read() -> Arguments {
        let matches = Arguments::grouped().get_matches();
        Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut Arguments::grouped()).exit())
    }
}

/// Every verb.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run an experiment and write its table, tolls and report
    Run(Box<run::Arguments>),
    /// Compare URLs or commands: which is faster, and by how much?
    Versus(Box<versus::Arguments>),
    /// Show what an experiment would do and how long it would take
    Plan(Box<plan::Arguments>),
    /// List experiments with their variants and levels, and the subjects that can be compared
    List(list::Arguments),
    /// Compare stored runs, such as those of two machines or two days
    Compare(compare::Arguments),
    /// Render a stored run in another format
    Report(report::Arguments),
    /// Load one URL, with ApacheBench's letters
    Load(Box<load::Arguments>),
    /// Serve a database as OData V2, OData V4 and REST, and forward requests; without a database, sample services
    Serve(Box<serve::Arguments>),
    /// Transform the documents of a database table in a batch, each exactly once
    Generate(generate::Arguments),
    /// Hash a password from stdin for a users file
    Password(password::Arguments),
    /// Make certificates for development: authority, server, client
    Cert(cert::Arguments),
    /// Transform an XML document with an XSLT 1.0 stylesheet
    Xslt(xslt::Arguments),
    /// Evaluate an XPath 1.0 expression on an XML document
    Xpath(xpath::Arguments),
    /// Check this machine for settings that make figures false or imprecise
    Doctor(doctor::Arguments),
    /// Compare a server with itself: which tolls can this machine show?
    Selfcheck(selfcheck::Arguments),
    /// Watch a process every second: CPU, memory, threads, context switches, open files
    Probe(probe::Arguments),
    /// Emulate network distance before a server, and verify it
    Link(Box<link::Arguments>),
    /// Print the JSON Schema of a file or a result
    Schema(schema::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

impl Verb {
    /// Runs the verb. The result goes to `out`, progress to stderr.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<Exit, Failure> {
        match self {
            Verb::Run(arguments) => run::run(arguments, out),
            Verb::Versus(arguments) => versus::run(arguments, out),
            Verb::Plan(arguments) => plan::run(arguments, out),
            Verb::List(arguments) => list::run(arguments, out),
            Verb::Compare(arguments) => compare::run(arguments, out),
            Verb::Report(arguments) => report::run(arguments, out),
            Verb::Load(arguments) => load::run(arguments, out),
            Verb::Serve(arguments) => serve::run(arguments, out),
            Verb::Generate(arguments) => generate::run(arguments, out),
            Verb::Password(arguments) => password::run(arguments, out),
            Verb::Cert(arguments) => cert::run(arguments, out),
            Verb::Xslt(arguments) => xslt::run(arguments, out),
            Verb::Xpath(arguments) => xpath::run(arguments, out),
            Verb::Doctor(arguments) => doctor::run(arguments, out),
            Verb::Selfcheck(arguments) => selfcheck::run(arguments, out),
            Verb::Probe(arguments) => probe::run(arguments, out),
            Verb::Link(arguments) => link::run(arguments, out),
            Verb::Schema(arguments) => schema::run(arguments, out),
            Verb::Completions(arguments) => completions::run(arguments, Arguments::grouped(), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        Arguments::grouped().debug_assert();
    }

    #[test]
    fn every_verb_is_in_one_group() {
        let command = Arguments::command();
        let mut known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_short_help_of_load_has_at_most_35_flags() {
        let mut command = Arguments::grouped();
        let load = command.find_subcommand_mut("load").unwrap();
        let shown = load.get_arguments().filter(|flag| !flag.is_positional() && !flag.is_hide_short_help_set());
        let shown = shown.filter(|flag| !flag.is_hide_set()).count();
        assert!((20..=35).contains(&shown), "{shown}");
    }
}
