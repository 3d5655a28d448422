//! The bench of a batch: a database, a link to it for each distance, and an echo beside it that measures how long each
//! link is.
//!
//! It does not decide which distances are measured, or judge how accurate the links are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command};
use std::time::Duration;

use tollgate_net::link::{Echo, FarEcho, Link, LinkMode, LinkSpec, Side, Tun, TunSpec, round_trips};

use super::place::DatabaseUrl;
use crate::conduct::options::{RunError, RunOptions};
use crate::cores::Cores;
use crate::subject::{Postgres, PostgresError, end_with_this_thread};

/// Messages with which a link is measured, and the time between them.
const MESSAGES: usize = 15;
const SPACING: Duration = Duration::from_micros(300);

/// Settings with which a commit waits for the network only: waits for a disk would hide 100 µs.
const SETTINGS: [(&str, &str); 2] = [("synchronous_commit", "off"), ("shared_buffers", "64MB")];

/// A database and the links before it.
#[derive(Debug)]
pub(crate) struct Bench {
    /// The server started for the run; absent if the database is the user's.
    ours: Option<Postgres>,
    database: DatabaseUrl,
    address: SocketAddr,
    links: Links,
}

#[derive(Debug)]
enum Links {
    None,
    /// Proxies, by their delay.
    Proxies {
        echo: Echo,
        of: HashMap<Duration, Proxied>,
    },
    Line(Line),
}

/// A line of packets; it has one length at a time.
#[derive(Debug)]
struct Line {
    echo: FarEcho,
    tun: Tun,
}

/// A distance: a proxy to the database and one to the echo.
#[derive(Debug)]
struct Proxied {
    database: Link,
    echo: Link,
}

impl Bench {
    /// Starts a database, or connects to the user's, and prepares for links.
    pub(crate) fn start(options: &RunOptions, cores: &Cores) -> Result<Bench, RunError> {
        let links = match options.link {
            None => Links::None,
            Some(LinkMode::Tun) => Links::Line(Line::lay()?),
            Some(LinkMode::Proxy) => {
                let echo = Echo::start(any_port()).map_err(|error| RunError::Failed(format!("no echo: {error}")))?;
                Links::Proxies { echo, of: HashMap::new() }
            }
        };
        let (ours, database, address) = match &options.database {
            Some(url) => {
                let place = DatabaseUrl::parse(url).map_err(|error| RunError::Usage(format!("--database: {error}")))?;
                let address = place.reached().map_err(|error| RunError::Failed(format!("--database: {error}")))?;
                (None, place, address)
            }
            None => {
                let start = |address: Ipv4Addr| Postgres::start(address.into(), &SETTINGS, cores);
                let ours = match &links {
                    Links::None | Links::Proxies { .. } => start(Ipv4Addr::LOCALHOST)?,
                    Links::Line(line) => {
                        let started = line.tun.door(Side::Far).within(|| start(Side::Far.address()));
                        started.map_err(|error| PostgresError::Failed(error.to_string()))??
                    }
                };
                let (place, address) = (DatabaseUrl::parse(&ours.url()), ours.address());
                (Some(ours), place.expect("a server of our own has a URL with its host"), address)
            }
        };
        Ok(Bench { ours, database, address, links })
    }

    /// The database's URL through a link of this delay, which is made on first use.
    pub(crate) fn url(&mut self, away: Duration) -> Result<String, String> {
        let address = self.address;
        let by = match &mut self.links {
            Links::None => address,
            Links::Proxies { echo, of } => {
                let link = match of.entry(away) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(place) => {
                        place.insert(Proxied { database: link(away, address)?, echo: link(away, echo.address())? })
                    }
                };
                link.database.address()
            }
            Links::Line(line) => {
                line.change(away)?;
                address
            }
        };
        Ok(self.database.by(by))
    }

    /// Starts a process on the batch's side of the link.
    pub(crate) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        match &self.links {
            Links::None | Links::Proxies { .. } => {
                end_with_this_thread(command);
                command.spawn()
            }
            // Over there it ends once the line is gone with us; the thread that starts it is gone at once.
            Links::Line(line) => line.tun.door(Side::Near).within(|| command.spawn())?,
        }
    }

    /// The median round trip over a link of this delay; absent without a link.
    pub(crate) fn ask(&mut self, away: Duration) -> Result<Option<Duration>, String> {
        let asked = match &mut self.links {
            Links::None => return Ok(None),
            Links::Proxies { of, .. } => {
                let Some(link) = of.get(&away) else { return Ok(None) };
                round_trips(link.echo.address(), MESSAGES, SPACING)
            }
            Links::Line(line) => {
                line.change(away)?;
                line.echo.round_trips(&line.tun, MESSAGES, SPACING)
            }
        };
        asked.map(|found| Some(found.median())).map_err(|error| format!("the link cannot be asked: {error}"))
    }

    /// CPU time of the whole database so far, in microseconds; absent for a database of the user's.
    pub(crate) fn database_cpu_us(&self) -> Option<f64> {
        self.ours.as_ref().and_then(Postgres::cpu_us)
    }

    /// Describes the database in a few words without secrets.
    pub(crate) fn words(&self) -> String {
        match &self.ours {
            Some(Postgres { version, .. }) => {
                format!("PostgreSQL {version}, a cluster of its own whose commits do not wait for the disk")
            }
            None => format!("a PostgreSQL at {}", self.database.host),
        }
    }

    /// Whether the database was started for the run.
    pub(crate) fn is_ours(&self) -> bool {
        self.ours.is_some()
    }
}

impl Line {
    /// Lays a line without delay, with an echo at its far end.
    fn lay() -> Result<Line, RunError> {
        let why = |error: io::Error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
                RunError::Usage(format!("--link tun needs root and TUN devices ({error}): --link proxy needs neither"))
            }
            _ => RunError::Failed(format!("no line of packets: {error}")),
        };
        let tun = Tun::open(&TunSpec::of_round_trip(Duration::ZERO)).map_err(why)?;
        let echo = FarEcho::start(&tun).map_err(why)?;
        Ok(Line { echo, tun })
    }

    fn change(&self, away: Duration) -> Result<(), String> {
        let changed = self.tun.change(&TunSpec::of_round_trip(away));
        changed.map_err(|error| format!("no line of {away:?}: {error}"))
    }
}

fn link(away: Duration, target: SocketAddr) -> Result<Link, String> {
    let started = Link::start(any_port(), target, &LinkSpec::of_round_trip(away));
    started.map_err(|error| format!("no link of {away:?}: {error}"))
}

fn any_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}
