//! `tollgate link tun`: two network namespaces and packets between them; a command runs at the near end, a server at
//! the far one.
//!
//! The line itself is in the network crate; programs are started and stopped in `ends`.

use std::io::{self, ErrorKind, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;
use tollgate_net::link::{Link, LinkSpec, Listening, Side, Tun, TunCounters, TunSpec, TunSpecError, WayCounters};
use tollgate_net::listen::{ListenOptions, listen};

use super::away::Away;
use super::ends::{Event, Program, events};
use super::{Nature, Place, place, refused};
use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::share;

const NOTES: &str = "\
Examples:
  tollgate link tun --rtt 20ms --far 'tollgate serve --listen 127.77.0.2:8080' --ready 8080 -- \\
    tollgate load -n 100 -k http://127.77.0.2:8080/rest/flights
  tollgate link tun --rtt 20ms --to 127.0.0.1:5432 -- psql -h 127.77.0.2       a server outside, 20 ms away
  tollgate link tun --rtt 40ms --loss 1% --rate 10Mbit/s -- sh                 a shell that is near
  unshare -Ur tollgate link tun --rtt 20ms -- sh                               without root, where users may have namespaces

The near end is 127.77.0.1, the far one 127.77.0.2; each has its own 127.0.0.1, its own ports and nothing else, so what serves at the far end has to listen at 127.77.0.2 or 0.0.0.0. Ends with the exit code of the command. Without a command it prints how to get in (`nsenter --net=FILE`) and runs until SIGINT or SIGTERM. Namespaces, devices and addresses go with it, however it ends.";

/// Time limit for the far server to listen.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// Interval at which its listening is checked.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Base of the exit code of a program that a signal has ended, as in shells.
const ENDED_BY_SIGNAL: i32 = 128;

/// Arguments of `link tun`.
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(super) struct Arguments {
    #[command(flatten)]
    away: Away,

    #[command(flatten)]
    nature: Nature,

    #[command(flatten)]
    packets: Packets,

    /// Shell command to start at the far end; stopped when the main command ends
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,

    /// Start the main command once this port of the far end accepts connections
    #[arg(long, value_name = "PORT", requires = "far", value_parser = clap::value_parser!(u16).range(1..))]
    ready: Option<u16>,

    /// Forward the same port of the far end to this server outside
    #[arg(long, value_name = "HOST:PORT", value_parser = place)]
    to: Option<Place>,

    /// Print statistics to stderr at the end: packets carried and lost, lateness
    #[arg(long)]
    counts: bool,

    /// Allow load on this remote host; may be repeated
    #[arg(long = "i-may-load", value_name = "HOST")]
    may_load: Vec<String>,

    /// Command to run at the near end
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What only packets have.
#[derive(Debug, Args)]
pub(super) struct Packets {
    /// Packet loss of each direction, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    loss: f64,

    /// Share of packets delayed by half as much again, so that later ones overtake them
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0%")]
    reorder: f64,
}

impl Packets {
    /// The line of these packets over a link.
    pub(super) fn spec(&self, link: LinkSpec) -> Result<TunSpec, Failure> {
        let spec = TunSpec { link, loss: self.loss, reorder: self.reorder };
        spec.check().map_err(|error| match error {
            TunSpecError::Link(error) => refused(error),
            TunSpecError::Loss(_) => Failure::usage(error).hint("give a smaller `--loss`"),
            TunSpecError::Reorder(_) => Failure::usage(error).hint("give a smaller `--reorder`"),
            _ => Failure::usage(error).hint("give an `--rtt`, or leave `--reorder` out"),
        })?;
        Ok(spec)
    }

    /// Whether any property of packets only is requested.
    pub(super) fn is_asked(&self) -> bool {
        self.loss > 0.0 || self.reorder > 0.0
    }
}

/// The reason that there is no line here: one message, and an alternative.
pub(super) fn impossible(error: &io::Error) -> Failure {
    let failure = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::Unsupported => {
            Failure::usage(format_args!("a line of packets {error}"))
        }
        _ => Failure::failed(format_args!("a line of packets cannot be made: {error}")),
    };
    failure.hint("`tollgate link proxy` needs no rights, but shows no handshake, slow start or loss; where users may have namespaces, `unshare -Ur` before the command gives the rights")
}

/// Runs the command, or keeps the line until SIGTERM or SIGINT.
pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let spec = arguments.packets.spec(arguments.nature.spec(arguments.away.round_trip()?)?)?;
    let target = arguments.to.as_ref().map(|to| to.address(&arguments.may_load)).transpose()?;
    let line = Tun::open(&spec).map_err(|error| impossible(&error))?;
    let splice = match target {
        Some(target) => Some(lead_on(&line, target)?),
        None => None,
    };
    let (tell, told) = events();
    let stop = tell.clone();
    signals::on_stop(move || {
        // It is received below, whatever else happens.
        let _ = stop.send(Event::Stop);
    })?;
    let started = |side: Side, error: io::Error| {
        Failure::failed(format_args!("the {} command cannot be started: {error}", side.name()))
    };
    let far = match &arguments.far {
        Some(command) => Program::far(line.door(Side::Far), command, tell.clone()),
        None => Ok(Program::default()),
    };
    let far = far.map_err(|error| started(Side::Far, error))?;
    let ended = (|| {
        if let Some(port) = arguments.ready
            && let Some(exit) = wait_until_ready(&line, port, &told)?
        {
            return Ok(exit);
        }
        let near = if arguments.command.is_empty() {
            write_doors(&line, out).and_then(|()| out.flush()).map_err(Failure::output)?;
            None
        } else {
            let near = Program::near(line.door(Side::Near), &arguments.command, tell);
            Some(near.map_err(|error| started(Side::Near, error))?)
        };
        watch(near.as_ref(), &told)
    })();
    far.stop_group(&told);
    drop(splice);
    if arguments.counts {
        let mut stderr = io::stderr().lock();
        // Nobody is left to tell if stderr itself is closed.
        let _ = write_counts(line.counters(), &mut stderr);
    }
    ended
}

/// Forwards the same port of the far end to `target`, which is reached from here.
fn lead_on(line: &Tun, target: std::net::SocketAddr) -> Result<Link, Failure> {
    let address = std::net::SocketAddr::from((Side::Far.address(), target.port()));
    let listening = line.door(Side::Far).within(|| listen(&ListenOptions::new(address)));
    let led = listening.and_then(|listeners| {
        let listener = listeners?.pop().expect("one thread has one listener");
        Link::start_with(listener, target, &LinkSpec::of_round_trip(Duration::ZERO), || ())
    });
    led.map_err(|error| Failure::failed(format_args!("cannot listen at the far end's {address}: {error}")))
}

/// Waits for the far server; returns an exit code if the user stopped it.
fn wait_until_ready(line: &Tun, port: u16, told: &Receiver<Event>) -> Result<Option<Exit>, Failure> {
    let (door, address) = (line.door(Side::Far), Side::Far.address());
    let deadline = Instant::now() + READY_WITHIN;
    loop {
        let found = door.listening(address, port);
        let found = found.map_err(|error| Failure::failed(format_args!("cannot see who listens: {error}")))?;
        match found {
            Listening::Reachable => return Ok(None),
            Listening::Elsewhere(own) => {
                let message = format_args!("the far command listens at {own}:{port}, which nobody near reaches");
                return Err(Failure::failed(message).hint(format_args!("let it listen at {address} or 0.0.0.0")));
            }
            Listening::Nobody => {}
        }
        match told.recv_timeout(LOOK_EVERY) {
            Ok(Event::Stop) => return Ok(Some(Exit::Interrupted)),
            Ok(Event::FarEnded(status) | Event::NearEnded(status)) => {
                let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                return Err(Failure::failed(format_args!("the far command ended before it listened ({status})")));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => {
                let message = format_args!("nobody listens at the far end's port {port} after {READY_WITHIN:?}");
                return Err(Failure::failed(message));
            }
        }
    }
}

/// Waits for the end of the command (of the far one if there is none near) or for a stop by the user.
fn watch(near: Option<&Program>, told: &Receiver<Event>) -> Result<Exit, Failure> {
    loop {
        // Senders live in the signal handler, which is never dropped.
        match (told.recv(), near) {
            (Ok(Event::Stop), Some(near)) => near.terminate(),
            (Ok(Event::NearEnded(status)), _) | (Ok(Event::FarEnded(status)), None) => return exit_of(status),
            (Ok(Event::FarEnded(_)), Some(_)) => {}
            (Ok(Event::Stop) | Err(_), _) => return Ok(Exit::Done),
        }
    }
}

fn exit_of(status: io::Result<ExitStatus>) -> Result<Exit, Failure> {
    let status = status.map_err(|error| Failure::failed(format_args!("the command cannot be started: {error}")))?;
    let code = status.code().or_else(|| status.signal().map(|signal| ENDED_BY_SIGNAL + signal));
    Ok(Exit::As(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}

fn write_doors(line: &Tun, out: &mut dyn Write) -> io::Result<()> {
    for side in [Side::Near, Side::Far] {
        writeln!(out, "{} {} nsenter --net={}", side.name(), side.address(), line.door(side).file())?;
    }
    Ok(())
}

fn write_counts(counters: &TunCounters, out: &mut dyn Write) -> io::Result<()> {
    let mut way = |name: &str, counts: &WayCounters| {
        writeln!(
            out,
            "{name}: {} packets, {} bytes; {} lost and {} overtaken as asked, {} dropped for want of room, {} refused; at most {} bytes under way",
            counts.packets(),
            counts.bytes(),
            counts.lost(),
            counts.overtaken(),
            counts.dropped(),
            counts.refused(),
            counts.held_bytes_max(),
        )
    };
    way("there", &counters.there)?;
    way("back", &counters.back)?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    writeln!(
        out,
        "late by {:.1} µs (median), {:.1} µs (p99), {:.0} µs (most)",
        micros(counters.lateness_median()),
        micros(counters.lateness_p99()),
        micros(counters.lateness_max()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_as_the_command_did() {
        let check = |status: i32, expected: u8| {
            assert_eq!(exit_of(Ok(ExitStatus::from_raw(status))).unwrap(), Exit::As(expected));
        };
        check(0, 0);
        check(7 << 8, 7);
        check(15, 143);
        let failure = exit_of(Err(io::Error::from(ErrorKind::NotFound))).unwrap_err();
        assert_eq!(failure.to_string(), "the command cannot be started: entity not found");
    }

    #[test]
    fn counts_are_three_lines() {
        let mut text = Vec::new();
        write_counts(&TunCounters::default(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with("there: 0 packets, 0 bytes; 0 lost and 0 overtaken as asked"), "{text}");
    }
}
