//! `tollgate link`: a network's distance on one machine, and the proof that it is as long as requested.
//!
//! The delay line and its measurement are in the network crate.

mod away;
mod echo;
mod ends;
mod proxy;
mod tun;
mod verdicts;
mod verify;

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;
use std::time::Duration;

use clap::{Args, Subcommand};
use tollgate_lab::subject::check_loadable;
use tollgate_net::link::{LinkSpec, SpecError};

use crate::failure::{Exit, Failure};
use crate::values::{delay, rate, size};

const EXAMPLES: &str = "\
Examples:
  tollgate link proxy --to 127.0.0.1:8080 --rtt 20ms          a server 20 ms away
  tollgate link proxy --to 127.0.0.1:5432 --preset standard --of runs/distance     as far as a run computed
  tollgate link proxy --to 127.0.0.1:5432 --rtt 500us --jitter 100us --rate 100Mbit/s
  tollgate link tun --rtt 20ms --to 127.0.0.1:8080 -- curl http://127.77.0.2:8080/     packets, as root
  tollgate link verify --rtt 1ms,5ms,20ms                     asked against got, on this machine
  tollgate link echo                                          for a link of yours to lead to
  tollgate link verify --rtt 20ms --through 127.0.0.1:41234   a proxy that runs, and leads to an echo

What a proxy cannot show: the handshake of TCP and its slow start. Bytes are delayed, connections are there at once. `tun` delays packets between two network namespaces: there they are real, and packets can get lost. It needs root.";

/// Arguments of `link`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

/// What is done with a link.
#[derive(Debug, Subcommand)]
enum Action {
    /// Stand before a server as if it were far away
    Proxy(proxy::Arguments),
    /// Run a command as if its servers were far away, packet by packet (root)
    Tun(tun::Arguments),
    /// Measure what a link does against what was asked of it
    Verify(verify::Arguments),
    /// Send back what comes: the far end of a link that is to be verified
    Echo(echo::Arguments),
}

/// Does the action.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    match &arguments.action {
        Action::Proxy(arguments) => proxy::run(arguments, out),
        Action::Tun(arguments) => tun::run(arguments, out),
        Action::Verify(arguments) => verify::run(arguments, out),
        Action::Echo(arguments) => echo::run(arguments, out),
    }
}

/// What a link may have beside its round trip.
#[derive(Debug, Args)]
struct Nature {
    /// Random variation of the round trip; order is kept
    #[arg(long, value_name = "TIME", value_parser = delay, default_value = "0ms")]
    jitter: Duration,

    /// Bandwidth of each direction, all connections together, such as 10MB/s or 100Mbit/s [default: unlimited]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    rate: Option<NonZeroU64>,

    /// What one way of a connection may hold, such as 4MiB [default: what the delay needs, so that it does not slow a
    /// stream down]; of packets (tun), what may wait for the rate before one is dropped [default: a round trip's worth]
    #[arg(long, value_name = "BYTES", value_parser = size)]
    window: Option<u64>,

    /// Seed of the jitter
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
}

impl Nature {
    /// The link of this nature and round trip.
    fn spec(&self, round_trip: Duration) -> Result<LinkSpec, Failure> {
        let spec = LinkSpec {
            jitter: self.jitter,
            rate_bytes_per_s: self.rate,
            window_bytes: self.window.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            seed: self.seed,
            ..LinkSpec::of_round_trip(round_trip)
        };
        spec.check().map_err(refused)?;
        Ok(spec)
    }
}

fn refused(error: SpecError) -> Failure {
    let hint = match error {
        SpecError::DelayTooLong(_) => "give a shorter `--rtt`",
        SpecError::JitterBeyondDelay { .. } => "give a `--jitter` of at most the `--rtt`",
        _ => "leave `--window` out: then the delay decides",
    };
    Failure::usage(error).hint(hint)
}

/// `HOST:PORT`, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: String,
    port: u16,
}

fn place(text: &str) -> Result<Place, String> {
    let (host, port) = text.rsplit_once(':').ok_or("expected HOST:PORT, but there is no `:`")?;
    let port = port.parse().map_err(|_| format!("`{port}` is not a port: it is from 1 to 65535"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err("the host before `:` is missing".to_owned());
    }
    if port == 0 {
        return Err("`0` is not a port: it is from 1 to 65535".to_owned());
    }
    Ok(Place { host: host.to_owned(), port })
}

impl Place {
    /// Its address, if it may be loaded.
    fn address(&self, allowed: &[String]) -> Result<SocketAddr, Failure> {
        let Place { host, port } = self;
        check_loadable(host, allowed).map_err(Failure::usage)?;
        let found = (host.as_str(), *port).to_socket_addrs();
        let mut addresses = found.map_err(|error| Failure::failed(format_args!("cannot find {host}: {error}")))?;
        addresses.next().ok_or_else(|| Failure::failed(format_args!("{host} has no address")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_host_and_a_port() {
        let check = |text: &str, expected: Result<(&str, u16), &str>| {
            let found = place(text);
            let found = found.as_ref().map(|place| (place.host.as_str(), place.port)).map_err(String::as_str);
            assert_eq!(found, expected, "{text}");
        };
        check("127.0.0.1:80", Ok(("127.0.0.1", 80)));
        check("[::1]:80", Ok(("::1", 80)));
        check("localhost:80", Ok(("localhost", 80)));
        check("localhost", Err("expected HOST:PORT, but there is no `:`"));
        check(":80", Err("the host before `:` is missing"));
        check("localhost:http", Err("`http` is not a port: it is from 1 to 65535"));
        check("localhost:0", Err("`0` is not a port: it is from 1 to 65535"));
    }
}
