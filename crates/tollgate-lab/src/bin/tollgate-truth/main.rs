//! A server that is told how to behave and writes down what it did, so that the lab's figures can be held against the
//! truth.
//!
//! `tollgate-truth [ADDRESS]` listens (on any free port of loopback if no address is given), prints
//! `listening http://…`, and serves until it is ended. See `behaviour.rs` for what a path asks for.
//! It is a tool of tests and deliberately never a subject of an experiment that is published.

mod behaviour;
mod ledger;
mod service;
mod table;

use std::error::Error;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tollgate_net::clock::Clock;
use tollgate_net::http1::server::{Counters, Server, Shutdown};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;

use crate::ledger::Ledger;
use crate::service::Tables;

fn main() -> Result<(), Box<dyn Error>> {
    let address: SocketAddr = match std::env::args().nth(1) {
        Some(address) => address.parse().map_err(|error| format!("`{address}` is not an address: {error}"))?,
        None => (Ipv4Addr::LOCALHOST, 0).into(),
    };
    let ledger = Arc::new(Mutex::new(Ledger::new(Instant::now())));
    // One thread: what is dearer by 200 us of CPU is then dearer by 200 us of time at one connection, too.
    let server = Server::bind(&ListenOptions::new(address))?;
    let mut out = std::io::stdout();
    writeln!(out, "listening http://{}", server.local_addr())?;
    out.flush()?;
    let counters = Arc::new(Counters::new(server.threads()));
    let tables = Tables::default();
    let service = |_| service::Truth::new(Arc::clone(&ledger), Arc::clone(&tables));
    server.run(service, limits(), Clock::system(), Shutdown::new(), counters)?;
    Ok(())
}

/// The engine's, but for what would end a long test's connections.
fn limits() -> Limits {
    Limits { requests_per_connection_max: u64::MAX, ..Limits::default() }
}
