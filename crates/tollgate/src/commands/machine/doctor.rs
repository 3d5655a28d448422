//! `tollgate doctor`: properties of this machine that make figures imprecise or false, and their remedies.
//!
//! The checks and their verdicts are in `tollgate_lab::check::doctor`. It changes nothing itself.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use tollgate_lab::check::doctor::{Finding, System, Verdict, examine};
use tollgate_report::Colour;

use crate::commands::output;
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate doctor                        every setting, and the command that mends it
  tollgate doctor --json                 the same for a script

Nothing is changed: the commands are there to be read first. It takes a second, in which the hypervisor is watched.

Exit codes: 0 figures of this machine are true, 3 something makes them false or a run fail.";

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print the findings as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The output of `--json`.
#[derive(Debug, Serialize)]
struct Findings<'a> {
    /// The worst verdict.
    verdict: Verdict,
    findings: &'a [Finding],
}

/// Examines the machine and prints the findings.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let findings = examine(&System::here());
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
    if arguments.json {
        let findings = Findings { verdict, findings: &findings };
        serde_json::to_writer_pretty(&mut *out, &findings).map_err(|error| Failure::output(error.into()))?;
        writeln!(out).map_err(Failure::output)?;
    } else {
        write(&findings, output::render_options().colour, out).map_err(Failure::output)?;
    }
    Ok(if verdict == Verdict::Bad { Exit::Refused } else { Exit::Done })
}

fn write(findings: &[Finding], colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
    for finding in findings {
        let (code, word) = word(finding.verdict);
        match colour {
            Colour::Ansi => write!(out, "\x1b[{code}m{word:5}\x1b[0m")?,
            Colour::Plain => write!(out, "{word:5}")?,
        }
        writeln!(out, "  {:width$}  {}", finding.name, finding.found)?;
        for (label, text) in [("costs", &finding.costs), ("mend", &finding.mend)] {
            if let Some(text) = text {
                writeln!(out, "{:5}  {:width$}  {label}: {text}", "", "")?;
            }
        }
    }
    let count = |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    writeln!(out, "\n{} ok, {} warn, {} bad", count(Verdict::Ok), count(Verdict::Warns), count(Verdict::Bad))
}

/// The colour and the word of a verdict.
fn word(verdict: Verdict) -> (u8, &'static str) {
    match verdict {
        Verdict::Ok => (32, "ok"),
        Verdict::Warns => (33, "warns"),
        Verdict::Bad => (31, "bad"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_a_line_and_what_it_costs_and_mends_below_it() {
        let finding = |name, verdict, costs: Option<&str>| Finding {
            name,
            verdict,
            found: format!("{name} as it is"),
            costs: costs.map(str::to_owned),
            mend: costs.map(|_| "sysctl -w a=1".to_owned()),
        };
        let findings = [finding("steal", Verdict::Ok, None), finding("turbo", Verdict::Bad, Some("calm"))];
        let written = |colour| {
            let mut out = Vec::new();
            write(&findings, colour, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = "ok     steal  steal as it is\n\
                        bad    turbo  turbo as it is\n              costs: calm\n              mend: sysctl -w a=1\n\n\
                        1 ok, 0 warn, 1 bad\n";
        assert_eq!(written(Colour::Plain), expected);
        assert!(written(Colour::Ansi).contains("\x1b[31mbad  \x1b[0m  turbo"));
    }
}
