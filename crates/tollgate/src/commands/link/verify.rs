//! `tollgate link verify`: the requested and the measured properties of a link, with a verdict each, for both kinds of
//! link.
//!
//! Measuring and the bounds of the verdicts are in the network crate; printing is in `verdicts`.

use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use clap::Args;
use tollgate_net::link::{Effort, LinkMode, LinkSpec, accuracy, through, verify, verify_tun};

use super::tun::{Packets, impossible};
use super::verdicts::{LinkVerdict, ModeVerdict, Verdicts};
use super::{Nature, Place, place};
use crate::failure::{Exit, Failure};
use crate::values::delay;

const NOTES: &str = "\
For each round trip a link is started before an echo of its own; 64 bytes go there and back every millisecond, then a stream. A median that is off by more than 60 µs and 5 % of what was asked is not kept, nor is a rate that is off by more than 10 %: then the exit code is 3. `direct` is the same echo without a link: on a busy machine it grows, and the rest with it. Of a line of packets (tun) also: a connection has to be there after one round trip; 100 kB on a fresh one have to take the four round trips that TCP's initial window asks for, and at most two more; losses have to be as many as chance allows. At the end stands the shortest round trip from which on what a link adds to one without delay is within 10 % of what was asked.";

/// Arguments of `link verify`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct Arguments {
    /// Round trips to verify
    #[arg(long, value_name = "TIME,…", value_parser = delay, value_delimiter = ',', default_value = "1ms,5ms,20ms")]
    rtt: Vec<Duration>,

    /// Kind of link: proxy or tun [default: both; tun only with the rights for it]
    #[arg(long, value_name = "MODE")]
    mode: Option<LinkMode>,

    #[command(flatten)]
    nature: Nature,

    #[command(flatten)]
    packets: Packets,

    /// Verify this running link instead; it must lead to an echo and have the given --rtt
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    through: Option<Place>,

    /// Measure 0.2 s per round trip: no p99, no throughput, less accuracy for short ones
    #[arg(long)]
    quick: bool,

    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,

    /// Allow load on this remote host; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST")]
    may_load: Vec<String>,
}

/// Measures every round trip and prints it, line by line.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let specs =
        arguments.rtt.iter().map(|rtt| arguments.nature.spec(*rtt)).collect::<Result<Vec<LinkSpec>, Failure>>()?;
    let mut verdicts = Verdicts::default();
    for mode in modes(arguments, specs.len())? {
        let measured = match mode {
            LinkMode::Proxy => proxy(arguments, &specs, out)?,
            LinkMode::Tun => tun(arguments, &specs, out)?,
        };
        verdicts.modes.push(measured);
    }
    if arguments.json {
        let written = serde_json::to_writer_pretty(&mut *out, &verdicts).map_err(io::Error::from);
        written.and_then(|()| writeln!(out)).map_err(Failure::output)?;
    }
    Ok(if verdicts.is_kept() { Exit::Done } else { Exit::Refused })
}

/// The kinds of link that are measured.
fn modes(arguments: &Arguments, round_trips: usize) -> Result<Vec<LinkMode>, Failure> {
    let only_packets = arguments.packets.is_asked();
    match (arguments.mode, &arguments.through) {
        (Some(LinkMode::Tun), Some(_)) => {
            Err(Failure::usage("a running link that is reached by its address is a proxy")
                .hint("leave `--through` or `--mode` out"))
        }
        (_, Some(_)) if round_trips != 1 => {
            Err(Failure::usage("a running link has one round trip, but --rtt names several")
                .hint("say which one it was asked for, such as `--rtt 20ms`"))
        }
        (Some(LinkMode::Proxy), _) | (_, Some(_)) if only_packets => {
            Err(Failure::usage("a proxy loses no bytes and changes no order").hint("add `--mode tun`"))
        }
        (_, Some(_)) => Ok(vec![LinkMode::Proxy]),
        (Some(mode), None) => Ok(vec![mode]),
        (None, None) if only_packets => Ok(vec![LinkMode::Tun]),
        (None, None) => Ok(vec![LinkMode::Proxy, LinkMode::Tun]),
    }
}

fn proxy(arguments: &Arguments, specs: &[LinkSpec], out: &mut dyn Write) -> Result<ModeVerdict, Failure> {
    let place = arguments.through.as_ref().map(|place| place.address(&arguments.may_load)).transpose()?;
    let mut verdict = ModeVerdict::new(LinkMode::Proxy);
    let mut table = arguments.table(out);
    write!(table, "{}", verdict.heading()).map_err(Failure::output)?;
    for spec in specs {
        let verified = match place {
            Some(address) => through(address, spec, arguments.effort()),
            None => verify(spec, arguments.effort()),
        };
        let link = LinkVerdict::of_proxy(&verified.map_err(unmeasured)?);
        write!(table, "{link}").and_then(|()| table.flush()).map_err(Failure::output)?;
        verdict.links.push(link);
    }
    if place.is_none() {
        arguments.find_least(&mut verdict, &mut *table)?;
    }
    Ok(verdict)
}

fn tun(arguments: &Arguments, specs: &[LinkSpec], out: &mut dyn Write) -> Result<ModeVerdict, Failure> {
    let mut verdict = ModeVerdict::new(LinkMode::Tun);
    let mut table = arguments.table(out);
    for (position, spec) in specs.iter().enumerate() {
        let verified = match verify_tun(&arguments.packets.spec(spec.clone())?, arguments.effort()) {
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported) => {
                if arguments.mode.is_some() || arguments.packets.is_asked() {
                    return Err(impossible(&error));
                }
                writeln!(table, "tun: not measured, since it {error}").map_err(Failure::output)?;
                verdict.unavailable = Some(error.to_string());
                return Ok(verdict);
            }
            verified => verified.map_err(unmeasured)?,
        };
        if position == 0 {
            write!(table, "{}", verdict.heading()).map_err(Failure::output)?;
        }
        let link = LinkVerdict::of_tun(&verified);
        write!(table, "{link}").and_then(|()| table.flush()).map_err(Failure::output)?;
        verdict.links.push(link);
    }
    arguments.find_least(&mut verdict, &mut *table)?;
    Ok(verdict)
}

fn unmeasured(error: io::Error) -> Failure {
    Failure::failed(format_args!("the link cannot be measured: {error}"))
}

impl Arguments {
    fn effort(&self) -> Effort {
        if self.quick { Effort::Short } else { Effort::Whole }
    }

    /// The output of tables: none where JSON is requested.
    fn table<'a>(&self, out: &'a mut dyn Write) -> Box<dyn Write + 'a> {
        if self.json { Box::new(io::sink()) } else { Box::new(out) }
    }

    /// Finds the shortest round trip that is accurate.
    fn find_least(&self, verdict: &mut ModeVerdict, table: &mut dyn Write) -> Result<(), Failure> {
        if self.quick {
            return Ok(());
        }
        let found = accuracy(verdict.mode()).map_err(unmeasured)?;
        verdict.accuracy = Some((&found).into());
        write!(table, "{}", verdict.least_in_words()).and_then(|()| table.flush()).map_err(Failure::output)
    }
}
