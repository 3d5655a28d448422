//! The processes on this machine whose CPU time and memory are measured, found by the addresses that receive requests.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::ToSocketAddrs;

use tollgate_lab::probe::listener::{Listener, listeners};
use tollgate_lab::run::RunOptions;
use tollgate_net::http1::client::Target;

use crate::failure::Failure;

/// Adds the processes that listen at these variants' addresses, and reports them on stderr. A variant with a process of
/// its own keeps it; `flag` names processes.
pub(super) fn watch_local(
    options: &mut RunOptions,
    asked: impl IntoIterator<Item = (String, String)>,
    flag: &str,
    is_quiet: bool,
) -> Result<(), Failure> {
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    for (name, url) in asked {
        if options.subject_pids.iter().any(|(named, _)| *named == name) {
            continue;
        }
        for Listener { process, name: program } in local(&url) {
            options.subject_pids.push((name.clone(), process));
            found.entry(process).or_insert_with(|| format!("{program} (process {process})"));
        }
    }
    if found.is_empty() || is_quiet {
        return Ok(());
    }
    let all: Vec<String> = found.into_values().collect();
    let text = format!("watched on this machine: {}; {flag} names others", all.join(", "));
    writeln!(std::io::stderr(), "{text}").map_err(Failure::output)
}

/// The processes that listen on this machine at the address of a URL.
fn local(url: &str) -> Vec<Listener> {
    let Ok(target) = Target::parse(url) else { return Vec::new() };
    let addresses = (target.host().trim_matches(['[', ']']), target.port()).to_socket_addrs();
    // A name may have several addresses: `localhost` is ::1 first, and a server often listens at 127.0.0.1 alone.
    let here = addresses.into_iter().flatten().filter(|address| address.ip().to_canonical().is_loopback());
    here.map(listeners).find(|found| !found.is_empty()).unwrap_or_default()
}
