//! `tollgate versus`: which is faster? Addresses or commands become an experiment without a file; the first of them is
//! the baseline of the others.
//!
//! Measuring (the lab) and printing (`run` prints the same) are not here.

use std::fmt::Write as _;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use tollgate_lab::experiment::Experiment;
use tollgate_lab::run::RunOptions;
use tollgate_lab::secret::hide;
use tollgate_lab::traffic::header::completed;

use super::expected::Expected;
use super::selection::{Amount, failure, serve_program};
use super::watched::{check_named, watch_local};
use super::{run, secrets};
use crate::commands::asking::{Answers, PLAIN, Request, Tls, with_scheme};
use crate::failure::{Exit, Failure};
use crate::progress::Shown;
use crate::values::{Assignment, count};

const EXAMPLES: &str = "\
Examples:
  tollgate versus http://127.0.0.1:8080/v1/items http://127.0.0.1:8080/v2/items
  tollgate versus -c 20 -A me:secret --i-may-load old.example --i-may-load new.example \\
      https://old.example/items https://new.example/items
  tollgate versus --command 'gzip -k -f big.log' 'xz -k -f big.log' 'zstd -k -f big.log'
  tollgate versus --until-width 1% --threshold 'toll(b).time < 1.05' http://127.0.0.1:8080/ http://127.0.0.1:8081/

The first is called a, the next b, and so on; a is what the others are held against.

Exit codes: as of `tollgate run`.";

/// Maximum number of things that are compared.
const THINGS_MAX: usize = 8;

/// Flags that have no meaning for commands.
const OF_ADDRESSES: [&str; 6] = ["concurrency", "pids", "may_load", "Request", "Answers", "Tls"];

/// Arguments of `versus`.
#[derive(Debug, Args)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// URLs to compare; with --command, commands
    #[arg(value_name = "URL", required = true, num_args = 2..=THINGS_MAX)]
    things: Vec<String>,

    /// Compare commands, each in quotes: a program and its arguments, run without a shell
    #[arg(long, conflicts_with_all = OF_ADDRESSES)]
    command: bool,

    /// Number of concurrent users, each with one connection
    #[arg(short = 'c', long, visible_alias = "users", value_name = "N", value_parser = count::<NonZeroU32>, default_value = "1", help_heading = "Load")]
    concurrency: NonZeroU32,

    #[command(flatten)]
    amount: Amount,

    /// Seed of the random order [default: random, stored with the result]
    #[arg(long, value_name = "N", help_heading = "How much")]
    seed: Option<u64>,

    /// Process whose CPU time and memory are measured, such as b=4711 [default: the local process that listens there]
    #[arg(long = "pid", value_name = "NAME=PID", help_heading = "Load")]
    pids: Vec<Assignment<u32>>,

    /// Allow load on this remote host; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST", help_heading = "Load")]
    may_load: Vec<String>,

    #[command(flatten)]
    request: Request,

    #[command(flatten)]
    answers: Answers,

    #[command(flatten)]
    tls: Tls,

    #[command(flatten)]
    expected: Expected,

    /// Also write the report to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    html: Option<PathBuf>,

    /// Folder for the result [default: runs/versus-<time>]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Print result.json to stdout instead of the table
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    shown: Shown,
}

/// Compares them.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    if arguments.request.said().iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        return Err(Failure::usage("each address is asked by its own name: leave -H Host out"));
    }
    arguments.expected.read()?;
    let experiment = Experiment::parse(&arguments.text()?, "versus").map_err(Failure::usage)?;
    let experiment = arguments.amount.connected(experiment)?;
    let mut options = RunOptions {
        plan: arguments.amount.plan(),
        out: arguments.out.clone(),
        seed: arguments.seed,
        may_load: arguments.may_load.clone(),
        headers: arguments.headers(),
        tls: arguments.tls.settings(),
        subject_pids: arguments.pids.iter().map(|pid| (pid.name.clone(), pid.value)).collect(),
        command_line: secrets::without_secrets(std::env::args()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunOptions::of(experiment, serve_program()?)
    };
    check_named(&options, "--pid")?;
    if !arguments.command {
        options.own_request = arguments.request.own(&arguments.answers)?;
        tollgate_lab::run::check(&options).map_err(failure)?;
        let things = arguments.things.iter().enumerate();
        watch_local(
            &mut options,
            things.map(|(place, thing)| (name(place), with_scheme(thing))),
            "--pid",
            arguments.shown.quiet,
        )?;
    }
    run::carried_out(options, &arguments.expected, arguments.html.as_deref(), (arguments.json, arguments.shown), out)
}

/// The name of the n-th.
fn name(place: usize) -> String {
    char::from(b'a' + place as u8).to_string()
}

/// A text quoted for TOML and JSON alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Arguments {
    /// The equivalent experiment file.
    fn text(&self) -> Result<String, Failure> {
        let kind = if self.command { "command" } else { "request" };
        let factor = if self.command { "argument" } else { "concurrency" };
        let level = if self.command { 1 } else { self.concurrency.get() };
        let mut text = format!(
            "name = \"versus\"\nquestion = \"Which is faster?\"\n[factor]\nname = \"{factor}\"\nlevels = [{level}]\n\
             [workload]\nkind = \"{kind}\"\n"
        );
        for (place, thing) in self.things.iter().enumerate() {
            let name = name(place);
            let thing = if self.command { thing.clone() } else { with_scheme(thing) };
            let title = quoted(&hide(&thing));
            let what = if self.command { words(&thing)? } else { format!("url = {}", quoted(&thing)) };
            let baseline = if place == 0 { "" } else { "baseline = \"a\"\n" };
            let variant = format!("[[variant]]\nname = \"{name}\"\ntitle = {title}\n{baseline}{what}\n");
            text.write_str(&variant).expect("a String takes whatever is written");
        }
        Ok(text)
    }

    /// The header fields of every request.
    fn headers(&self) -> Vec<(String, String)> {
        if self.command { Vec::new() } else { completed(self.request.said(), self.request.implied(Some(PLAIN))) }
    }
}

/// The words of a command, as a shell reads them.
fn words(command: &str) -> Result<String, Failure> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    let words =
        words.ok_or_else(|| Failure::usage(format_args!("`{command}` is no command: a quote is not closed")))?;
    if command.contains("{level}") {
        let hint = "a file of kind `command` gives it a meaning";
        return Err(Failure::usage(format_args!("`{command}`: {{level}} stands for nothing here")).hint(hint));
    }
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Ok(format!("command = [{}]", words.join(", ")))
}
