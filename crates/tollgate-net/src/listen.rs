//! Listening sockets: several on one address, so that each core accepts for itself.
//!
//! Accepting and serving are in [`http1::server`](crate::http1::server).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that may wait to be accepted; the kernel caps it at `net.core.somaxconn`.
pub const BACKLOG_DEFAULT: u32 = 4096;

/// Bits of an IPv6 address that name one client: whoever has one address of such a network has them all.
pub const CLIENT_BITS: u32 = 64;

/// The client at an address, as far as it is counted: the address, of IPv6 its network with [`CLIENT_BITS`].
#[must_use]
pub fn client_at(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let host_bits = u128::BITS - CLIENT_BITS;
            Ipv6Addr::from_bits(address.to_bits() >> host_bits << host_bits).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The address to listen on, and the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenOptions {
    /// The address; port 0 takes any free one.
    pub address: SocketAddr,
    /// Connections that may wait to be accepted.
    pub backlog: u32,
    /// Serving threads, each with its own listener; 0 counts as 1.
    pub threads: usize,
}

impl ListenOptions {
    /// One thread on `address` with the default backlog.
    #[must_use]
    pub fn new(address: SocketAddr) -> ListenOptions {
        ListenOptions { address, backlog: BACKLOG_DEFAULT, threads: 1 }
    }
}

/// Opens one listener per thread, all on the same address (`SO_REUSEPORT`), not blocking.
///
/// An address that another server already listens on is refused even where that one shares its port too: the first
/// socket is bound without `SO_REUSEPORT` as a probe.
///
/// # Errors
/// The system's error if the address is taken, not ours, or not allowed.
pub fn listen(options: &ListenOptions) -> io::Result<Vec<TcpListener>> {
    let threads = options.threads.max(1);
    let mut address = options.address;
    if address.port() != 0 {
        // Dropped at once. Without it a second server on the same port would silently share the connections.
        let probe = socket(address)?;
        probe.bind(&address.into())?;
    }
    let mut listeners = Vec::with_capacity(threads);
    for _ in 0..threads {
        let socket = socket(address)?;
        socket.set_reuse_port(true)?;
        socket.bind(&address.into())?;
        // Accepted sockets inherit it on Linux: one system call less per connection.
        socket.set_tcp_nodelay(true)?;
        socket.listen(i32::try_from(options.backlog).unwrap_or(i32::MAX))?;
        socket.set_nonblocking(true)?;
        let listener = TcpListener::from(socket);
        // Port 0: the others join the port that the first one got.
        address = listener.local_addr()?;
        listeners.push(listener);
    }
    Ok(listeners)
}

/// A port at which nobody listens and which is given to nobody by chance: connections are refused there, until a server
/// that knows it listens there (with `SO_REUSEADDR`, as servers do), and again behind that.
#[derive(Debug)]
pub struct Reserved {
    address: SocketAddr,
    /// Bound and never listening.
    _socket: Socket,
}

impl Reserved {
    /// A free port of this address.
    ///
    /// # Errors
    /// The system's error if there is none.
    pub fn at(address: IpAddr) -> io::Result<Reserved> {
        let any = SocketAddr::new(address, 0);
        let socket = socket(any)?;
        socket.bind(&any.into())?;
        let bound = socket.local_addr()?.as_socket();
        let address = bound.ok_or_else(|| io::Error::other("a TCP socket has an address of the internet"))?;
        Ok(Reserved { address, _socket: socket })
    }

    /// The same on loopback.
    ///
    /// # Errors
    /// As [`Reserved::at`].
    pub fn on_loopback() -> io::Result<Reserved> {
        Reserved::at(Ipv4Addr::LOCALHOST.into())
    }

    /// The address with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A port of this address that is free at this moment, for a server that needs a given port but might not share one
/// that is [`Reserved`].
///
/// # Errors
/// The system's error if there is none.
pub fn free_port(address: SocketAddr) -> io::Result<u16> {
    Reserved::at(address.ip()).map(|reserved| reserved.address.port())
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A server that restarts does not wait for the last one's connections in TIME_WAIT.
    socket.set_reuse_address(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn all_listeners_share_the_port_that_the_first_one_got() {
        let options = ListenOptions { threads: 3, ..ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into()) };
        let listeners = listen(&options).unwrap();
        let addresses: Vec<_> = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
        assert_eq!(addresses.len(), 3);
        assert!(addresses.iter().all(|address| *address == addresses[0] && address.port() != 0));
    }

    #[test]
    fn a_reserved_port_refuses_before_and_behind_whoever_names_it() {
        let reserved = Reserved::on_loopback().unwrap();
        let is_refused = || {
            TcpStream::connect(reserved.address()).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        assert!(is_refused());
        for _ in 0..2 {
            let listener = TcpListener::bind(reserved.address()).unwrap();
            let client = TcpStream::connect(reserved.address()).unwrap();
            drop((listener.accept().unwrap(), listener));
            assert!(is_refused());
            drop(client);
        }
        listen(&ListenOptions::new(reserved.address())).unwrap();
    }

    #[test]
    fn a_taken_port_is_refused_even_though_it_is_shared_among_threads() {
        let first = listen(&ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
        let again = listen(&ListenOptions::new(first[0].local_addr().unwrap()));
        assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AddrInUse);
    }
}
