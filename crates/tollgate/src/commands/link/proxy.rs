//! `tollgate link proxy`: makes a server appear far away, until it is stopped.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::time::Duration;

use clap::Args;
use tollgate_net::link::{Link, LinkCounters};

use super::away::Away;
use super::{Nature, Place, place};
use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::listening;

const NOTES: &str = "\
One line is printed as soon as it is ready: `listening ADDRESS`. The first SIGINT or SIGTERM ends listening and gives open connections 5 s to end, the second does not wait.";

/// Time limit for open connections to end by themselves.
const DRAIN_WITHIN: Duration = Duration::from_secs(5);

/// Arguments of `link proxy`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct Arguments {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", value_parser = listening, default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Server behind the link
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    to: Place,

    #[command(flatten)]
    away: Away,

    #[command(flatten)]
    nature: Nature,

    /// Allow load on this remote host; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST")]
    may_load: Vec<String>,
}

/// Serves until SIGTERM or SIGINT.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let spec = arguments.nature.spec(arguments.away.round_trip()?)?;
    let target = arguments.to.address(&arguments.may_load)?;
    let (tell, told) = channel();
    // Before the line is printed: whoever reads it may send a signal at once.
    signals::on_stop(move || {
        // It is received below, whatever else happens.
        let _ = tell.send(());
    })?;
    let link = Link::start(arguments.listen, target, &spec)
        .map_err(|error| Failure::failed(format_args!("cannot listen at {}: {error}", arguments.listen)))?;
    writeln!(out, "listening {}", link.address()).and_then(|()| out.flush()).map_err(Failure::output)?;
    // The sender lives until it has sent.
    let _ = told.recv();
    let counted = link.drain(DRAIN_WITHIN);
    write(&counted, out).and_then(|()| out.flush()).map_err(Failure::output)?;
    Ok(Exit::Done)
}

fn write(counted: &LinkCounters, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{} connections, {} of them reset, {} without a target; {} bytes there, {} back",
        counted.connections_accepted(),
        counted.connections_reset(),
        counted.targets_unreachable(),
        counted.bytes_there(),
        counted.bytes_back(),
    )?;
    writeln!(
        out,
        "{} releases, late by {:.0} µs on average and {:.0} µs at most",
        counted.releases(),
        counted.lateness_mean().as_secs_f64() * 1e6,
        counted.lateness_max().as_secs_f64() * 1e6,
    )
}
