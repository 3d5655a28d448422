//! Processes of this machine that listen on a port, and those that others have connections to.
//!
//! It does not know what they serve: they may forward to another program.

use std::collections::HashSet;
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};

use tollgate_net::http1::client::Target;

use super::process;
use super::sockets::{Socket, sockets};

/// A listening process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its process id.
    pub process: u32,
    /// Its process name.
    pub name: String,
}

/// Finds the processes that listen on an address of this machine, as far as permissions allow. A process whose parent
/// is one of them is left out: it is its parent's worker.
fn listeners(address: SocketAddr) -> Vec<Listener> {
    holders(&listening(&sockets(), address).collect())
}

/// Finds the processes that listen on this machine at the address of a target; none where that is another machine.
pub fn listening_at(target: &Target) -> Vec<Listener> {
    let addresses = (target.host().trim_matches(['[', ']']), target.port()).to_socket_addrs();
    // A name may have several addresses: `localhost` is ::1 first, and a server often listens at 127.0.0.1 alone.
    let here = addresses.into_iter().flatten().filter(|address| address.ip().to_canonical().is_loopback());
    here.map(listeners).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Finds the processes of this machine that these have TCP connections to. They themselves and the caller are left out.
pub(crate) fn asked_by(processes: &[u32]) -> Vec<Listener> {
    let all = sockets();
    let own: HashSet<u64> = processes.iter().flat_map(|process| open_sockets(*process)).collect();
    let others = asked_from(&all, &own).into_iter().flat_map(|address| listening(&all, address));
    // A process of theirs that listens is no other's.
    let mut found = holders(&others.filter(|socket| !own.contains(socket)).collect());
    found.retain(|listener| listener.process != std::process::id());
    found
}

/// Finds the processes that have one of these sockets open, without workers of others among them.
fn holders(sockets: &HashSet<u64>) -> Vec<Listener> {
    if sockets.is_empty() {
        return Vec::new();
    }
    let is_holder = |process: u32| open_sockets(process).any(|socket| sockets.contains(&socket));
    let all = process::all().into_iter().flatten().filter(|(process, _)| is_program(*process) && is_holder(*process));
    let all: Vec<_> = all.collect();
    let is_worker = |parent: u32| all.iter().any(|(process, _)| *process == parent);
    let roots = all.iter().filter(|(_, stat)| !is_worker(stat.parent));
    roots.map(|(process, stat)| Listener { process: *process, name: stat.name.clone() }).collect()
}

/// Excludes process 1, which has sockets for others and starts all programs.
fn is_program(process: u32) -> bool {
    process > 1
}

/// Finds the sockets that listen on an address, or on its port at any address.
fn listening(all: &[Socket], address: SocketAddr) -> impl Iterator<Item = u64> {
    let ip = address.ip().to_canonical();
    let is_there = move |socket: &&Socket| {
        let own = socket.own.ip();
        // A listener at any address of IPv6 is one of IPv4 too.
        let takes_all = own.is_unspecified() && (own.is_ipv6() || ip.is_ipv4());
        socket.listens && socket.own.port() == address.port() && (own == ip || takes_all)
    };
    all.iter().filter(is_there).map(|socket| socket.inode)
}

/// Returns the addresses of this machine that these sockets asked to be connected to.
fn asked_from(all: &[Socket], own: &HashSet<u64>) -> HashSet<SocketAddr> {
    let is_own = |socket: &&Socket| own.contains(&socket.inode);
    let served: HashSet<u16> =
        all.iter().filter(|socket| socket.listens).filter(is_own).map(|socket| socket.own.port()).collect();
    // A connection at a port of their own was asked for by others.
    let asked = all.iter().filter(|socket| !socket.listens && !served.contains(&socket.own.port())).filter(is_own);
    // A connection to another address of this machine begins at that same one.
    let is_here = |socket: &&Socket| socket.other.ip().is_loopback() || socket.other.ip() == socket.own.ip();
    asked.filter(is_here).map(|socket| socket.other).collect()
}

/// Numbers of the sockets that a process has open; none without permission.
fn open_sockets(process: u32) -> impl Iterator<Item = u64> {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|entry| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok());
    links.filter_map(|link| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::process::{Child, Command, Stdio};

    use super::*;

    #[test]
    fn whoever_listens_is_found() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let found: Vec<u32> =
            listeners(listening.local_addr().unwrap()).into_iter().map(|found| found.process).collect();
        assert_eq!(found, [std::process::id()]);
        drop(listening);
    }

    /// A process that holds a socket and does nothing; dropping it ends it.
    struct Holder(Child);

    impl Holder {
        fn of(socket: impl Into<OwnedFd>) -> Holder {
            Holder(Command::new("sleep").arg("600").stdin(Stdio::from(socket.into())).spawn().unwrap())
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn whoever_a_process_asks_is_found() {
        for host in ["127.0.0.1", "127.0.0.2", "[::1]"] {
            let Ok(listening) = TcpListener::bind(format!("{host}:0")) else { continue };
            let connected = TcpStream::connect(listening.local_addr().unwrap()).unwrap();
            let (backend, proxy) = (Holder::of(listening), Holder::of(connected));
            let asked = |processes: &[u32]| -> Vec<u32> {
                asked_by(processes).into_iter().map(|found| found.process).collect()
            };
            let (backend, proxy) = (backend.0.id(), proxy.0.id());
            // Another test may be starting a child, which has all of this process's files for a moment.
            assert!(asked(&[proxy]).contains(&backend), "{host}");
            assert_eq!(asked(&[backend]), [0; 0], "it is asked and asks nobody");
            assert_eq!(asked(&[proxy, backend]), [0; 0], "it is watched as well");
        }
        assert_eq!(asked_by(&[]), []);
    }

    #[test]
    fn the_lab_itself_is_nobody_who_is_asked() {
        let listening = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Holder::of(TcpStream::connect(listening.local_addr().unwrap()).unwrap());
        assert_eq!(asked_by(&[proxy.0.id()]), []);
    }

    fn socket(own: &str, other: &str, listens: bool, inode: u64) -> Socket {
        Socket { own: own.parse().unwrap(), other: other.parse().unwrap(), listens, inode }
    }

    #[test]
    fn a_connection_is_to_this_machine_if_it_leads_to_a_loopback_address_or_to_its_own() {
        let all = [
            socket("127.0.0.1:40000", "127.0.0.1:8080", false, 41),
            socket("192.168.1.5:40001", "192.168.1.5:80", false, 42),
            socket("192.168.1.5:40002", "192.168.1.6:80", false, 43),
            socket("127.0.0.1:8081", "0.0.0.0:0", true, 44),
            // Others asked for this one.
            socket("127.0.0.1:8081", "127.0.0.1:40005", false, 45),
            // Somebody else's.
            socket("127.0.0.1:40004", "127.0.0.1:8083", false, 46),
        ];
        let mut asked: Vec<String> = asked_from(&all, &(41..=45).collect()).iter().map(SocketAddr::to_string).collect();
        asked.sort();
        assert_eq!(asked, ["127.0.0.1:8080", "192.168.1.5:80"]);
    }

    #[test]
    fn only_sockets_that_listen_on_the_address_count() {
        let all = [
            socket("127.0.0.1:8080", "0.0.0.0:0", true, 41),
            socket("127.0.0.1:8080", "127.0.0.1:40000", false, 42),
            socket("0.0.0.0:80", "0.0.0.0:0", true, 43),
            socket("[::]:81", "[::]:0", true, 44),
        ];
        let on = |address: &str| listening(&all, address.parse().unwrap()).collect::<Vec<_>>();
        assert_eq!(on("127.0.0.1:8080"), [41]);
        assert_eq!(on("127.0.0.2:8080"), [0; 0]);
        assert_eq!(on("127.0.0.1:443"), [0; 0]);
        assert_eq!((on("127.0.0.1:80"), on("[::1]:80")), (vec![43], vec![]));
        assert_eq!((on("127.0.0.1:81"), on("[::1]:81")), (vec![44], vec![44]));
    }
}
