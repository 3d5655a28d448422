//! A server for a test's length, and a client that is only a socket.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown as Side, SocketAddr, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tollgate_net::clock::{Clock, ManualClock};
use tollgate_net::http1::server::{
    Abort, Counters, Delimiter, Exchange, ExchangeError, Keeping, Server, Service, Shutdown,
};
use tollgate_net::http1::{Fault, Method};
use tollgate_net::limits::Limits;
use tollgate_net::listen::ListenOptions;
use tollgate_net::stream::Transport;
use tollgate_net::tls::server::Acceptor;

/// Longer than any test should take: a guard against hanging, not a measure.
const GUARD: Duration = Duration::from_secs(60);

/// Some systems let a program have a thousand descriptors unless it asks for more: tests at the same time use that up.
pub(crate) fn allow_descriptors() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| {
        let limit = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    });
}

/// A running server; dropped, it drains.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: Shutdown,
    pub(crate) counters: Arc<Counters>,
    pub(crate) clock: ManualClock,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(limits: Limits) -> Running {
        Running::start_at((Ipv4Addr::LOCALHOST, 0).into(), limits)
    }

    pub(crate) fn start_at(address: SocketAddr, limits: Limits) -> Running {
        Running::run(limits, Server::bind(&ListenOptions::new(address)).unwrap())
    }

    pub(crate) fn start_tls(limits: Limits, acceptor: &Acceptor) -> Running {
        let server = Server::bind(&ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
        Running::run(limits, server.with_tls(acceptor.clone()))
    }

    fn run(limits: Limits, server: Server) -> Running {
        Running::serve(limits, server, |_| Scripted)
    }

    /// Serves what `make_service` makes.
    pub(crate) fn serve<S: Service>(
        limits: Limits,
        server: Server,
        make_service: impl Fn(usize) -> S + Send + Sync + 'static,
    ) -> Running {
        allow_descriptors();
        let (clock, hand) = Clock::manual(SystemTime::UNIX_EPOCH);
        let (shutdown, counters) = (Shutdown::new(), Arc::new(Counters::new(1)));
        let running = (shutdown.clone(), counters.clone());
        Running {
            address: server.local_addr(),
            thread: Some(std::thread::spawn(move || {
                server.run(make_service, limits, clock, running.0, running.1).unwrap();
            })),
            shutdown,
            counters,
            clock: hand,
        }
    }

    pub(crate) fn connect(&self) -> Client {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_nodelay(true).unwrap();
        Client::of(socket)
    }

    /// Sends `request`, ends our side and returns all that comes.
    pub(crate) fn converse(&self, request: impl AsRef<[u8]>) -> String {
        let mut client = self.connect();
        client.send(request);
        client.end();
        client.rest()
    }

    /// Moves the clock on until `done`; the server may need several moves to see what it waits by.
    pub(crate) fn advance_until(&self, mut done: impl FnMut() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < GUARD, "it does not come, whatever the time: {:?}", self.counters);
            self.clock.advance(Duration::from_secs(1));
            std::thread::yield_now();
        }
    }

    /// Waits until the server's counters say so.
    pub(crate) fn wait_until(&self, mut done: impl FnMut(&Counters) -> bool) {
        let began = Instant::now();
        while !done(&self.counters) {
            assert!(began.elapsed() < GUARD, "it does not come: {:?}", self.counters);
            std::thread::yield_now();
        }
    }

    pub(crate) fn join(mut self) -> Arc<Counters> {
        self.shutdown.begin();
        self.thread.take().unwrap().join().unwrap();
        self.counters.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.begin();
        if let Some(thread) = self.thread.take() {
            // The drain's own deadline goes by this clock.
            while !thread.is_finished() {
                self.clock.advance(Duration::from_secs(1));
                std::thread::yield_now();
            }
            let _ = thread.join();
        }
    }
}

/// A socket with what was read from it and not yet looked at.
pub(crate) struct Client {
    pub(crate) socket: TcpStream,
    unread: Vec<u8>,
}

/// Waits until the program at the other end of a loopback connection has read all that was sent to it: what is still
/// unread when it closes makes a reset, and what it has not seen yet it cannot judge by.
pub(crate) fn wait_until_read(socket: &TcpStream) {
    let hexadecimal = |address: SocketAddr| match address {
        SocketAddr::V4(address) => {
            format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
        }
        SocketAddr::V6(_) => panic!("the tests talk by IPv4"),
    };
    let ends = [socket.peer_addr(), socket.local_addr()].map(|end| hexadecimal(end.unwrap()));
    let began = Instant::now();
    loop {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let mut rows = table.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let row = rows.find(|row| row[1..3] == ends).expect("the other end is open");
        if row[4].ends_with(":00000000") {
            return;
        }
        assert!(began.elapsed() < GUARD, "it is never read: {row:?}");
        std::thread::yield_now();
    }
}

/// One answer, taken apart by hand: nothing of the engine under test is used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that refused early may have closed already; what it said is still to be read.
        let _ = self.socket.write_all(bytes.as_ref());
    }

    /// Ends our side of the connection.
    pub(crate) fn end(&mut self) {
        let _ = self.socket.shutdown(Side::Write);
    }

    /// A connection that was accepted.
    pub(crate) fn of(socket: TcpStream) -> Client {
        socket.set_read_timeout(Some(GUARD)).unwrap();
        socket.set_write_timeout(Some(GUARD)).unwrap();
        Client { socket, unread: Vec::new() }
    }

    /// Everything up to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = std::mem::take(&mut self.unread);
        let mut buffer = [0; 4096];
        loop {
            match self.socket.read(&mut buffer) {
                Ok(0) => return String::from_utf8(bytes).unwrap(),
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(error) => panic!("after {:?}: {error}", String::from_utf8_lossy(&bytes)),
            }
        }
    }

    pub(crate) fn read_until(&mut self, end: &str) -> String {
        let mut buffer = [0; 4096];
        let mut searched = 0;
        loop {
            let found = self.unread[searched..].windows(end.len()).position(|window| window == end.as_bytes());
            if let Some(at) = found {
                let tail = self.unread.split_off(searched + at + end.len());
                return String::from_utf8(std::mem::replace(&mut self.unread, tail)).unwrap();
            }
            searched = self.unread.len().saturating_sub(end.len());
            match self.socket.read(&mut buffer).unwrap() {
                0 => panic!("closed after {:?}", String::from_utf8_lossy(&self.unread)),
                count => self.unread.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// Exactly this number of bytes.
    pub(crate) fn read_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let have = count.min(self.unread.len());
        bytes[..have].copy_from_slice(&self.unread[..have]);
        self.unread.drain(..have);
        self.socket.read_exact(&mut bytes[have..]).unwrap();
        bytes
    }

    /// Exactly this number of bytes of text.
    pub(crate) fn read_exactly(&mut self, count: usize) -> String {
        String::from_utf8(self.read_bytes(count)).unwrap()
    }

    /// Sends back what was read and not yet looked at; says how many bytes.
    pub(crate) fn echo_unread(&mut self) -> usize {
        let unread = std::mem::take(&mut self.unread);
        self.socket.write_all(&unread).unwrap();
        unread.len()
    }

    /// Reads one answer with a length.
    pub(crate) fn answer(&mut self) -> Answer {
        let head = self.read_until("\r\n\r\n");
        let status = head[9..12].parse().unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let body = self.read_exactly(length.map_or(0, |length| length.parse().unwrap()));
        Answer { status, head, body }
    }

    /// Asks for a path and reads the answer.
    pub(crate) fn ask(&mut self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
        self.answer()
    }
}

/// Does what the path says.
pub(crate) struct Scripted;

impl Service for Scripted {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        let path = exchange.request().path().to_owned();
        let (verb, argument) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        let number = || argument.parse::<usize>().unwrap();
        match verb {
            // The body, gathered.
            "echo" => {
                exchange.read_body(usize::MAX).await?;
                let (_, body, response) = exchange.parts();
                response.body.extend_from_slice(body);
            }
            // The body, gathered, and no answer.
            "ponder" => {
                exchange.read_body(usize::MAX).await?;
                std::future::pending::<()>().await;
            }
            // The body, part by part.
            "stream" => {
                let mut body = Vec::new();
                while let Some(part) = exchange.next_body_part().await? {
                    body.extend_from_slice(part);
                }
                exchange.respond().body = body;
            }
            // The body up to so many bytes; the fault is answered by the service itself.
            "up-to" => match exchange.read_body(number()).await.map(<[u8]>::len) {
                Ok(length) => exchange.respond().body = length.to_string().into_bytes(),
                Err(ExchangeError::Fault(Fault::BodyTooLarge)) => {
                    let response = exchange.respond();
                    response.status = 413;
                    response.body = b"my own words".to_vec();
                }
                Err(error) => return Err(error),
            },
            // The request as it was understood; the body is left unread.
            "request" => {
                let (request, response) = exchange.split();
                let host = request.host().unwrap_or("-");
                let text = format!("{} {} {host}", request.method_text(), request.target());
                response.body = text.into_bytes();
            }
            // How the request came, and who asks by the certificate.
            "transport" => {
                let names = exchange.peer_certificate().map(|peer| peer.alternative_names()[0].text().into_owned());
                let names = names.unwrap_or_else(|| "-".to_owned());
                let text = match exchange.transport() {
                    Transport::Plain => "plain".to_owned(),
                    Transport::Tls { version, resumed, .. } => {
                        format!("{} {} {names}", version.number(), if resumed { "resumed" } else { "full" })
                    }
                };
                exchange.respond().body = text.into_bytes();
            }
            "status" => {
                let response = exchange.respond();
                response.status = number() as u16;
                response.body = b"body".to_vec();
            }
            // So many parts of ten bytes.
            "parts" => {
                for index in 0..number() {
                    let response = exchange.respond();
                    response.body.extend_from_slice(format!("part {index:04}\n").as_bytes());
                    exchange.flush_part().await?;
                }
            }
            // So many parts of ten bytes, and one that is said to be the last; what comes behind it is lost.
            "last" => {
                for _ in 0..number() {
                    exchange.respond().body.extend_from_slice(b"some part\n");
                    exchange.flush_part().await?;
                }
                exchange.respond().body.extend_from_slice(b"last part\n");
                exchange.flush_last_part().await?;
                exchange.respond().body.extend_from_slice(b"lost");
                exchange.flush_part().await?;
                exchange.respond().body.extend_from_slice(b"lost");
            }
            // Two parts of ten bytes and a last one, of which so many bytes are kept back.
            "kept" => {
                let outgrown = Rc::new(Cell::new(false));
                let told = Rc::clone(&outgrown);
                exchange.keep_parts(number(), move || told.set(true));
                for part in [&b"some part\n"[..], b"some part\n"] {
                    exchange.respond().body.extend_from_slice(part);
                    exchange.flush_part().await?;
                }
                exchange.respond().body.extend_from_slice(b"last part\n");
                exchange.flush_last_part().await?;
                let whole = exchange.end_keeping() == Keeping::Whole;
                assert_ne!(whole, outgrown.get());
                if whole {
                    exchange.respond().header("Kept", "whole");
                }
            }
            // So many bytes that others hold too, and what stands in the body buffer in vain.
            "shared" => {
                exchange.respond().body.extend_from_slice(b"lost");
                exchange.respond().share(Arc::new(vec![b'x'; number()]));
            }
            // The names of the fields but for one.
            "removed" => {
                exchange.remove_fields(&["if-none-match", "never"]);
                let (request, response) = exchange.split();
                let names: Vec<&str> = request.headers().map(|(name, _)| name).collect();
                response.body = names.join(" ").into_bytes();
            }
            // Announces ten bytes and sends so many.
            "announced" => {
                exchange.respond().delimit(Delimiter::Length(10));
                exchange.respond().body = vec![b'x'; number()];
                exchange.flush_part().await?;
            }
            "until-close" => {
                exchange.respond().delimit(Delimiter::Close);
                exchange.respond().body = b"to the end".to_vec();
                exchange.flush_part().await?;
            }
            // Parts of 64 KiB until the client takes no more.
            "flood" => loop {
                exchange.respond().body.resize(64 * 1024, b'x');
                exchange.flush_part().await?;
            },
            "large" => exchange.respond().body = vec![b'x'; number()],
            "panic" => panic!("as the test wants it"),
            "fault" => return Err(Fault::BadTarget.into()),
            "reset" => return Err(ExchangeError::Abort(Abort::Reset)),
            "break" => return Err(ExchangeError::Abort(Abort::Close)),
            "forever" => std::future::pending::<()>().await,
            _ if exchange.request().method() == Method::Options => {}
            _ => exchange.respond().body = b"hello".to_vec(),
        }
        Ok(())
    }
}
