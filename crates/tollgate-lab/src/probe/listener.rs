//! Which processes of this machine listen on a port.
//!
//! It deliberately does not know what they serve: behind a port may stand another program that passes on.

use std::collections::HashSet;
use std::fs;

use super::process;

/// A process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its number.
    pub process: u32,
    /// What it calls itself.
    pub name: String,
}

/// Those that listen on a TCP port, as far as we may look into them. A process whose parent is one of them is not told:
/// it is its parent's worker.
pub fn listeners(port: u16) -> Vec<Listener> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let sockets: HashSet<String> = tables.iter().flat_map(|table| sockets(table, port)).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let all = process::all().into_iter().flatten().filter(|(process, _)| holds(*process, &sockets));
    let all: Vec<_> = all.collect();
    let is_worker = |parent: u32| all.iter().any(|(process, _)| *process == parent);
    let roots = all.iter().filter(|(_, stat)| !is_worker(stat.parent));
    roots.map(|(process, stat)| Listener { process: *process, name: stat.name.clone() }).collect()
}

/// What links to the sockets in a table of the kernel that listen on a port.
fn sockets(table: &str, port: u16) -> impl Iterator<Item = String> {
    let suffix = format!(":{port:04X}");
    table.lines().filter_map(move |line| {
        // Number, own address, the other's, state (0A listens), queues, timer, retransmissions, user, timeout, inode.
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let listens = fields.get(1)?.ends_with(&suffix) && *fields.get(3)? == "0A";
        listens.then(|| format!("socket:[{}]", fields.get(9).copied().unwrap_or_default()))
    })
}

fn holds(process: u32, sockets: &HashSet<String>) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    open.flatten().any(|entry| {
        let link = fs::read_link(entry.path());
        link.is_ok_and(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn whoever_listens_is_found() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listening.local_addr().unwrap().port();
        let found: Vec<u32> = listeners(port).into_iter().map(|found| found.process).collect();
        assert_eq!(found, [std::process::id()]);
        drop(listening);
    }

    #[test]
    fn only_sockets_that_listen_on_the_port_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 41 1\n   \
                     1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 42 1\n   \
                     2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 43 1\n";
        assert_eq!(sockets(table, 8080).collect::<Vec<_>>(), ["socket:[41]"]);
        assert_eq!(sockets(table, 443).count(), 0);
    }
}
