//! `tollgate serve`: reads the configuration, applies the flags on top, and runs the gateway until it is stopped.
//!
//! The keys of a configuration are not here (the gateway refuses wrong ones, with file and line).

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use clap::{Args, ValueEnum, value_parser};
use tollgate_gateway::config::{self, Kind, Location, Service, TlsListener};
use tollgate_gateway::{Config, Gateway, StartError};
use tollgate_net::http1::server::Shutdown;
use tollgate_net::memory;
use tollgate_net::tls::server::Settings;

use crate::commands::input;
use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::listening;

const EXAMPLES: &str = "\
Examples:
  tollgate serve                                     the flights, the records and Fibonacci on 127.0.0.1:8080
  tollgate serve --database postgres://me@localhost/shop
  tollgate serve --database sqlite:shop.db
  tollgate serve --listen 127.0.0.1:0 --admin 127.0.0.1:0
  tollgate serve --tls-listen 127.0.0.1:8443 --certificate server.pem --key server.key
  tollgate serve gateway.toml --work-processes 4
  tollgate serve --records sqlite:records.db --pool 1 --pool-wait-ms 50
  tollgate serve --service echo --service stock-quote   what stands behind a mediator, and nothing else

One line is printed for each listener as soon as it is ready: `listening http://…`, `listening https://…` and `admin http://…`; port 0 takes any free port. SIGTERM and Ctrl-C let the exchanges in flight finish; SIGHUP has the configuration read again, with all files that it names: what is wrong with it changes nothing, and what needs a restart is said.";

/// Arguments of `serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Configuration file (`tollgate schema config`); flags take precedence
    #[arg(value_name = "CONFIG.toml")]
    pub(super) config: Option<PathBuf>,

    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS", value_parser = listening)]
    pub(super) listen: Option<SocketAddr>,

    /// Address to listen on with TLS, in addition
    #[arg(long, value_name = "ADDRESS", value_parser = listening, requires_all = ["certificate", "key"])]
    pub(super) tls_listen: Option<SocketAddr>,

    /// Certificate for --tls-listen (PEM, with intermediates; `tollgate cert` makes one for tests)
    #[arg(long, value_name = "FILE", requires = "tls_listen")]
    pub(super) certificate: Option<PathBuf>,

    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_listen")]
    pub(super) key: Option<PathBuf>,

    /// Address of the operator's page (/) and of /status.json, /metrics, /healthz and /readyz [default: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS", value_parser = listening)]
    pub(super) admin: Option<SocketAddr>,

    /// Work processes per service: requests handled at the same time, each with a database connection. Others wait in a
    /// bounded queue [default: 20]
    #[arg(long, visible_alias = "pool", value_name = "N", value_parser = value_parser!(u32).range(1..=config::WORK_PROCESSES_MAX))]
    pub(super) work_processes: Option<u32>,

    /// Longest wait for a work process before the answer is 503, in milliseconds [default: 10000]
    #[arg(long, visible_alias = "pool-wait-ms", value_name = "MS", value_parser = value_parser!(u32).range(1..=config::WAIT_MS_MAX))]
    pub(super) wait_ms: Option<u32>,

    /// Number of event loops [default: one per available core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=config::THREADS_MAX))]
    pub(super) threads: Option<u16>,

    /// Serve only the tables of this database, as OData V2, V4 and REST: sqlite:FILE or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "URL", conflicts_with_all = ["flights", "records"])]
    pub(super) database: Option<String>,

    /// Name of the database's service in URLs [default: the database's]
    #[arg(long, value_name = "NAME", requires = "database")]
    pub(super) name: Option<String>,

    /// Mapping file that renames, hides and restricts what --database serves
    #[arg(long, value_name = "FILE", requires = "database")]
    pub(super) mapping: Option<PathBuf>,

    /// Serve only this built-in service; may be repeated
    #[arg(long, value_name = "NAME", value_enum, conflicts_with = "database")]
    pub(super) service: Vec<Name>,

    /// Database of the flights; created if missing [default: sqlite::memory:]
    #[arg(long, value_name = "URL")]
    pub(super) flights: Option<String>,

    /// Database of the records; created if missing [default: sqlite::memory:]
    #[arg(long, value_name = "URL")]
    pub(super) records: Option<String>,

    /// Allow only the users of this file (`tollgate password` prints its lines)
    #[arg(long, value_name = "FILE")]
    pub(super) users: Option<PathBuf>,

    /// Refuse every change of the services; routes still forward all methods
    #[arg(long)]
    pub(super) read_only: bool,

    /// Listen beyond this machine although nobody is asked who they are
    #[arg(long = "i-may-expose")]
    pub(super) may_expose: bool,

    /// User name stored as creator and changer of entities if the client is not signed in, in managed columns [default:
    /// anonymous]
    #[arg(long, value_name = "NAME")]
    pub(super) user: Option<String>,
}

/// A built-in service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Name {
    /// Carriers, flights, bookings and travel agencies: OData V2, V4 and REST
    Flights,
    /// One set with a property of every common type: OData V2, V4 and REST
    Records,
    /// A number that is computed badly on purpose: /fibonacci?n=30
    Fibonacci,
    /// What was sent, or so many bytes: /echo?bytes=1024
    Echo,
    /// Made-up stock quotes over SOAP: /services/SimpleStockQuoteService?wsdl
    StockQuote,
}

/// The largest configuration file that is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// Serves until SIGTERM or SIGINT.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    memory::return_large_blocks();
    let config = overlaid(read(arguments.config.as_deref())?, arguments)?;
    let (access, memory) = (config.access(), config.memory());
    let shutdown = Shutdown::new();
    let asked = shutdown.clone();
    // Before the first line is printed: whoever reads it may send a signal at once.
    signals::on_stop(move || asked.begin())?;
    let gateway = Gateway::start(config).map_err(|error| match error {
        StartError::Mapping(_)
        | StartError::MappingFile { .. }
        | StartError::Config(_)
        | StartError::Tls(_)
        | StartError::Users(_)
        | StartError::IdleRule { .. }
        | StartError::Exposed { .. }
        | StartError::PlainBasic { .. } => Failure::usage(error),
        StartError::Listen { .. } | StartError::Database { .. } => Failure::failed(error),
    })?;
    for remark in access.iter().chain([&memory.to_string()]).chain(gateway.remarks()) {
        // Where nobody reads stderr, there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "tollgate: {remark}");
    }
    let (reloader, again) = (gateway.reloader(), arguments.clone());
    signals::on_hangup(move || {
        let read = read(again.config.as_deref()).and_then(|config| overlaid(config, &again));
        // The log has been told what is wrong.
        let _ = reloader.reload(read.map_err(|failure| failure.to_string()));
    })?;
    let addresses = gateway.addresses().clone();
    for address in &addresses.public {
        writeln!(out, "listening http://{address}").map_err(Failure::output)?;
    }
    for address in &addresses.tls {
        writeln!(out, "listening https://{address}").map_err(Failure::output)?;
    }
    writeln!(out, "admin http://{}", addresses.admin).map_err(Failure::output)?;
    out.flush().map_err(Failure::output)?;
    gateway.run(&shutdown).map_err(Failure::failed)?;
    Ok(Exit::Done)
}

fn read(path: Option<&Path>) -> Result<Config, Failure> {
    let Some(path) = path else { return Ok(Config::default()) };
    let text = input::text(path, CONFIG_BYTES_MAX)?;
    Config::parse(&text, &path.display().to_string()).map_err(Failure::usage)
}

/// Applies the flags, which override the file.
fn overlaid(mut config: Config, arguments: &Arguments) -> Result<Config, Failure> {
    if let Some(address) = arguments.listen {
        config.listen.addresses = vec![address];
    }
    if let (Some(address), Some(certificate), Some(key)) =
        (arguments.tls_listen, &arguments.certificate, &arguments.key)
    {
        config.tls = vec![TlsListener::new(vec![address], Settings::new(certificate, key))];
    }
    if let Some(address) = arguments.admin {
        config.admin.address = address;
    }
    if let Some(users) = &arguments.users {
        config.authentication.admit_users_of(users.clone());
    }
    config.admin.check(&config.authentication).map_err(|wrong| refused("--admin", &wrong))?;
    config.listen.may_expose |= arguments.may_expose;
    if let Some(threads) = arguments.threads {
        config.listen.threads = Some(threads);
    }
    if let Some(url) = &arguments.database {
        let service = database_service(url, arguments)?;
        config.serve_database(service);
    }
    if !arguments.service.is_empty() {
        let names = arguments.service.iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        config.serve_only(&names);
    }
    for (flag, url, service) in [
        ("--flights", &arguments.flights, Service::flights as fn() -> Service),
        ("--records", &arguments.records, Service::records),
    ] {
        let Some(url) = url else { continue };
        let location = Location::parse(url).map_err(|wrong| refused(flag, &wrong))?;
        let service = service();
        match config.services.iter_mut().find(|configured| configured.name == service.name) {
            Some(configured) => configured.location = location,
            None => config.services.push(Service { location, ..service }),
        }
    }
    for work_processes in config.work_processes_mut() {
        work_processes.limit = arguments.work_processes.unwrap_or(work_processes.limit);
        work_processes.wait_ms_max = arguments.wait_ms.unwrap_or(work_processes.wait_ms_max);
    }
    for service in &mut config.services {
        if let Some(user) = &arguments.user {
            service.rules.user = user.as_str().into();
        }
        service.read_only |= arguments.read_only;
    }
    Ok(config)
}

fn database_service(url: &str, arguments: &Arguments) -> Result<Service, Failure> {
    let location = Location::parse(url).map_err(|wrong| refused("--database", &wrong))?;
    let mut service = match &arguments.name {
        // A database in memory is no name's fault.
        Some(name) if location != Location::Memory => {
            Service::named_database(name, location).map_err(|wrong| refused("--name", &wrong))?
        }
        _ => {
            Service::of_database(location).map_err(|wrong| refused("--database", &format!("{wrong}; or say --name")))?
        }
    };
    service.kind = Kind::Database { mapping: arguments.mapping.clone() };
    Ok(service)
}

/// An error in clap's words, without the value: it may contain a password.
fn refused(flag: &str, wrong: &str) -> Failure {
    Failure::usage(format_args!("{flag}: {wrong}"))
}
