//! A server with scripted behaviour that records its actions, so that the lab's figures can be compared with the truth.
//! It is a tool of tests and deliberately never a subject of an experiment that is published.

mod behaviour;
mod body;
mod burden;
mod deadlines;
mod draw;
mod gate;
mod ledger;
mod service;
mod table;

use std::error::Error;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::signal::unix::{SignalKind, signal};
use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Counters, Server, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;

use crate::burden::Burden;
use crate::ledger::Ledger;
use crate::service::Tables;

/// The request of the command line.
enum Asked {
    Help,
    Burden(Burden),
    Serve(SocketAddr, Burden),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match asked(&arguments) {
        Ok(Asked::Help) => io::stdout().write_all(help().as_bytes()).map_err(Into::into),
        Ok(Asked::Burden(burden)) => burden::carry_alone(burden),
        Ok(Asked::Serve(address, burden)) => serve(address, burden),
        Err(message) => {
            let _ = writeln!(io::stderr(), "{message}; see tollgate-truth --help");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    let address = |text: &str| text.parse().map_err(|error| format!("`{text}` is not an address: {error}"));
    match arguments.iter().map(String::as_str).collect::<Vec<&str>>()[..] {
        [] => Ok(Asked::Serve((Ipv4Addr::LOCALHOST, 0).into(), Burden::default())),
        ["--help" | "-h"] => Ok(Asked::Help),
        ["burden", list] => Burden::parse(list).map(Asked::Burden),
        [listens] => Ok(Asked::Serve(address(listens)?, Burden::default())),
        [listens, list] => Ok(Asked::Serve(address(listens)?, Burden::parse(list)?)),
        _ => Err("expected an address and a burden".to_owned()),
    }
}

fn help() -> String {
    let mut text = String::from(
        "Serves as it is told and writes down what it did.\n\n\
         tollgate-truth [ADDRESS [BURDEN]]   listens (on any free port of loopback), prints `listening http://…`; on\n\
         \x20                                   SIGTERM it ends and says on stderr how late its own answers were\n\
         tollgate-truth burden BURDEN        carries a burden until the standard input ends\n\n\
         The first segment of a path is a class, `plain` or a list such as constant-5000,errors-37:\n",
    );
    text += &listed(behaviour::NAMES);
    text += "\n/truth/counts, /truth/log/CLASS, /truth/cpu/CLASS and /truth/error tell what was done.\n\nA burden is a list of:\n";
    text += &listed(burden::NAMES);
    text
}

fn listed(names: &[(&str, u64, &str)]) -> String {
    names.iter().map(|(name, _, meaning)| format!("  {:<14}{meaning}\n", format!("{name}-N"))).collect()
}

fn serve(address: SocketAddr, burden: Burden) -> Result<(), Box<dyn Error>> {
    let ledger = Arc::new(Mutex::new(Ledger::new(Instant::now())));
    // One thread: what is dearer by 200 µs of CPU is then dearer by 200 µs of time at one connection, too.
    let server = Server::bind(&ListenOptions::new(address))?;
    let _carried = burden.carry()?;
    let shutdown = Shutdown::new();
    end_on_signal(shutdown.clone())?;
    let mut out = io::stdout();
    writeln!(out, "listening http://{}", server.local_addr())?;
    out.flush()?;
    let counters = Arc::new(Counters::new(server.threads()));
    let tables = Tables::default();
    let service = |_| service::Truth::new(Arc::clone(&ledger), Arc::clone(&tables));
    server.run(service, limits(), Clock::system(), shutdown, counters)?;
    io::stderr().write_all(ledger.lock().expect("nobody panics while holding the ledger").error().as_bytes())?;
    Ok(())
}

fn end_on_signal(shutdown: Shutdown) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut ended = {
        let _entered = runtime.enter();
        signal(SignalKind::terminate())?
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(ended.recv());
        shutdown.begin();
    })?;
    Ok(())
}

/// The engine's limits, without those that would end a long test's connections.
fn limits() -> Limits {
    Limits { requests_per_connection_max: u64::MAX, ..Limits::default() }
}
