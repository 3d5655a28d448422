//! `tollgate serve`: reads the configuration, lays the flags over it, and runs the gateway until it is told to stop.
//!
//! Deliberately not here: what a configuration may say (the gateway refuses what is wrong, with file and line).

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use clap::{Args, value_parser};
use tollgate_gateway::config::{self, Location};
use tollgate_gateway::{Config, Gateway};
use tollgate_net::http1::server::Shutdown;

use crate::failure::{Exit, Failure};
use crate::signals;

const EXAMPLES: &str = "\
Examples:
  tollgate serve                                     the flight service on 127.0.0.1:8080
  tollgate serve --listen 127.0.0.1:0 --admin 127.0.0.1:0
  tollgate serve gateway.toml --work-processes 4

One line is printed for each listener as soon as it is ready: `listening http://…` and `admin http://…`; port 0 takes any free port. SIGTERM and Ctrl-C let the exchanges in flight finish.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The gateway's configuration (`tollgate schema config`); the flags below come before what stands in it
    #[arg(value_name = "CONFIG.toml")]
    pub(super) config: Option<PathBuf>,

    /// Where to listen [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<SocketAddr>,

    /// Where the operator looks: /metrics, /healthz, /readyz [default: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS", value_parser = admin)]
    pub(super) admin: Option<SocketAddr>,

    /// Most requests that work at the same time; the rest queues, and the queue is bounded
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=config::WORK_PROCESSES_MAX))]
    pub(super) work_processes: Option<u32>,

    /// Event loops, one for each core that may be used
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=config::THREADS_MAX))]
    pub(super) threads: Option<u16>,

    /// Keep the flights in this SQLite file, which is made if it does not exist [default: in memory]
    #[arg(long, value_name = "FILE")]
    pub(super) database: Option<PathBuf>,
}

/// The largest configuration file that is read; a file beyond it is not one.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

fn admin(text: &str) -> Result<SocketAddr, String> {
    config::checked_admin(text.parse().map_err(|error| format!("{error}, such as 127.0.0.1:9090"))?)
}

/// Serves until SIGTERM or SIGINT.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let config = overlaid(read(arguments.config.as_deref())?, arguments);
    let shutdown = Shutdown::new();
    let asked = shutdown.clone();
    // Before the first line is printed: whoever reads it may send a signal at once.
    signals::on_stop(move || asked.begin())?;
    let gateway = Gateway::start(config).map_err(Failure::failed)?;
    let addresses = gateway.addresses().clone();
    for address in &addresses.public {
        writeln!(out, "listening http://{address}").map_err(Failure::output)?;
    }
    writeln!(out, "admin http://{}", addresses.admin).map_err(Failure::output)?;
    out.flush().map_err(Failure::output)?;
    gateway.run(&shutdown).map_err(Failure::failed)?;
    Ok(Exit::Done)
}

fn read(path: Option<&Path>) -> Result<Config, Failure> {
    let Some(path) = path else { return Ok(Config::default()) };
    let text = super::input::text(path, CONFIG_BYTES_MAX)?;
    Config::parse(&text, &path.display().to_string()).map_err(Failure::usage)
}

/// The flags come before what stands in the file.
fn overlaid(mut config: Config, arguments: &Arguments) -> Config {
    if let Some(address) = arguments.listen {
        config.listen.addresses = vec![address];
    }
    if let Some(address) = arguments.admin {
        config.admin.address = address;
    }
    if let Some(limit) = arguments.work_processes {
        config.work_processes.limit = limit;
    }
    if let Some(threads) = arguments.threads {
        config.listen.threads = Some(threads);
    }
    if let Some(file) = &arguments.database {
        config.database.location = Location::File(file.clone());
    }
    config
}
