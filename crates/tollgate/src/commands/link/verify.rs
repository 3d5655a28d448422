//! `tollgate link verify`: a table of round trips asked and got, with a verdict each.
//!
//! Deliberately not here: the measuring and the bounds of the verdicts, which stand in the network crate.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use tollgate_net::link::{Effort, LinkSpec, Verified, through, verify};

use super::{Nature, Place, place};
use crate::failure::{Exit, Failure};
use crate::values::delay;

const NOTES: &str = "\
For each round trip a link is started before an echo of its own; 64 bytes go there and back every millisecond, then a stream. A median that is off by more than 60 us and 5 % of what was asked is not kept, nor is a rate that is off by more than 10 %: then the exit code is 3. `direct` is the same echo without a link: on a busy machine it grows, and the rest with it.";

/// Arguments of `link verify`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct Arguments {
    /// The round trips to ask for
    #[arg(long, value_name = "TIME,…", value_parser = delay, value_delimiter = ',', default_value = "1ms,5ms,20ms")]
    rtt: Vec<Duration>,

    #[command(flatten)]
    nature: Nature,

    /// Measure this running link instead, which leads to an echo and was asked for the one --rtt
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    through: Option<Place>,

    /// A fifth of a second for each round trip: no p99, no throughput
    #[arg(long)]
    quick: bool,

    /// A host off this machine that you are allowed to load
    #[arg(long = "i-may-load", value_name = "HOST")]
    may_load: Vec<String>,
}

/// Measures every round trip and prints the table, line by line.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let specs =
        arguments.rtt.iter().map(|rtt| arguments.nature.spec(*rtt)).collect::<Result<Vec<LinkSpec>, Failure>>()?;
    let place = match &arguments.through {
        Some(_) if specs.len() != 1 => {
            return Err(Failure::usage("a running link has one round trip, but --rtt names several")
                .hint("say which one it was asked for, such as `--rtt 20ms`"));
        }
        Some(place) => Some(place.address(&arguments.may_load)?),
        None => None,
    };
    let effort = if arguments.quick { Effort::Short } else { Effort::Whole };
    let mut exit = Exit::Done;
    writeln!(out, "{HEADING}").map_err(Failure::output)?;
    for spec in &specs {
        let verified = match place {
            Some(address) => through(address, spec, effort),
            None => verify(spec, effort),
        };
        let verified =
            verified.map_err(|error| Failure::failed(format_args!("the link cannot be measured: {error}")))?;
        if !(verified.keeps_its_round_trip() && verified.keeps_its_rate()) {
            exit = Exit::Refused;
        }
        write(&verified, out).and_then(|()| out.flush()).map_err(Failure::output)?;
    }
    Ok(exit)
}

const HEADING: &str =
    "      asked      median         p99      direct       off   allowed      n       stream  verdict";

fn write(verified: &Verified, out: &mut dyn Write) -> io::Result<()> {
    let median = verified.got.median();
    let off_us = micros(median) - micros(verified.asked);
    let stream = verified.bytes_per_s.map_or("-".to_owned(), |rate| format!("{:.1} MB/s", rate / 1e6));
    let verdict = match (verified.keeps_its_round_trip(), verified.keeps_its_rate()) {
        (true, true) => "kept",
        (false, _) => "the round trip is not kept",
        (true, false) => "the rate is not kept",
    };
    writeln!(
        out,
        "{:>11}{:>12}{:>12}{:>12}{:>10}{:>10}{:>7}{stream:>13}  {verdict}",
        milliseconds(verified.asked),
        milliseconds(median),
        verified.got.p99().map_or("-".to_owned(), milliseconds),
        milliseconds(verified.direct.median()),
        format!("{off_us:+.0} us"),
        format!("{:.0} us", micros(verified.tolerance())),
        verified.got.count(),
    )
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn milliseconds(time: Duration) -> String {
    format!("{:.3} ms", micros(time) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stands_below_its_heading() {
        let verified = verify(&LinkSpec::of_round_trip(Duration::from_millis(1)), Effort::Short).unwrap();
        let mut line = Vec::new();
        write(&verified, &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        let columns = HEADING.len() - "  verdict".len();
        let (figures, _) = line.split_at(columns);
        assert!(figures.ends_with('-') && figures.contains(" 1.000 ms") && figures.contains(" 200 "), "{line}");
    }
}
