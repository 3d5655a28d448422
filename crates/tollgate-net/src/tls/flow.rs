//! The messages of one exchange on a fresh connection, as the client sees them: sender, size in bytes, and time.
//!
//! Names come from the headers of records and of handshake messages where they can be read; encrypted ones are called
//! so, unless the library names them. The three messages of TCP are not seen but known: the last two get the client's
//! own time at the end of connecting. One exchange at a time, on a thread that may block: it measures no throughput.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, ProtocolVersion};

use super::names::Namer;
use super::{Client, HandshakeKind};

/// Most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Fields of an answer's head.
const FIELDS_MAX: usize = 64;
/// Room of one read.
const READ_BYTES: usize = 64 * 1024;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Us.
    Client,
    /// The server.
    Server,
}

/// One message, or several that were sent together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The sender.
    pub from: Side,
    /// The message.
    pub what: String,
    /// Time since the beginning, when we began to send it, or had all of it.
    pub at: Duration,
    /// Bytes above TCP.
    pub bytes: u64,
}

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its messages in order.
    pub steps: Vec<Step>,
    /// The kind of handshake; absent where there was none.
    pub kind: Option<HandshakeKind>,
    /// The status of the answer.
    pub status: u16,
}

/// The server and the request.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The server's address.
    pub address: SocketAddr,
    /// The name that the certificate must have.
    pub host: &'a str,
    /// The whole request.
    pub request: &'a [u8],
    /// Longest time without any event.
    pub timeout: Duration,
}

/// Asks once, by TLS if there is a client, which resumes a session if it may and has one.
///
/// # Errors
/// The error that ended the exchange before its answer was whole.
pub fn observe(asked: &Asked<'_>, client: Option<&Client>) -> io::Result<Exchange> {
    let start = Instant::now();
    let socket = TcpStream::connect_timeout(&asked.address, asked.timeout)?;
    let connected = start.elapsed();
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(asked.timeout))?;
    socket.set_write_timeout(Some(asked.timeout))?;
    let tcp = |from, what: &str, at| Step { from, what: what.to_owned(), at, bytes: 0 };
    let steps = vec![
        tcp(Side::Client, "SYN", Duration::ZERO),
        tcp(Side::Server, "SYN, ACK", connected),
        tcp(Side::Client, "ACK", connected),
    ];
    let mut wire = Wire { socket, start, steps, phase: Phase::Begun, buffer: vec![0; READ_BYTES] };
    let (kind, answer) = match client {
        None => (None, wire.plainly(asked.request)?),
        Some(client) => {
            let session = client.session(asked.host)?;
            wire.encrypted(session, asked.request)?
        }
    };
    Ok(Exchange { steps: wire.steps, kind, status: status(&answer)? })
}

/// The median times and bytes of exchanges with the same messages, and their number: of the most frequent order of
/// messages, the first one seen if two are as frequent. `None` of nothing.
pub fn median(exchanges: &[Exchange]) -> Option<(Vec<Step>, usize)> {
    let is_like = |one: &Exchange, other: &Exchange| {
        one.steps.len() == other.steps.len()
            && one.steps.iter().zip(&other.steps).all(|(one, other)| one.from == other.from && one.what == other.what)
    };
    let mut like: Vec<&Exchange> = Vec::new();
    for one in exchanges {
        let found: Vec<&Exchange> = exchanges.iter().filter(|other| is_like(one, other)).collect();
        if found.len() > like.len() {
            like = found;
        }
    }
    let first = like.first()?;
    let steps = first.steps.iter().enumerate().map(|(place, step)| {
        let mut times: Vec<Duration> = like.iter().map(|exchange| exchange.steps[place].at).collect();
        let mut bytes: Vec<u64> = like.iter().map(|exchange| exchange.steps[place].bytes).collect();
        times.sort_unstable();
        bytes.sort_unstable();
        let middle = like.len() / 2;
        Step { from: step.from, what: step.what.clone(), at: times[middle], bytes: bytes[middle] }
    });
    Some((steps.collect(), like.len()))
}

/// The part of an exchange that a message belongs to: consecutive messages of one part are one flight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begun,
    Handshake,
    Request,
    Tickets,
    Answer,
}

/// The socket, and what was seen on it.
struct Wire {
    socket: TcpStream,
    start: Instant,
    steps: Vec<Step>,
    phase: Phase,
    buffer: Vec<u8>,
}

impl Wire {
    fn plainly(&mut self, request: &[u8]) -> io::Result<Vec<u8>> {
        self.note(Side::Client, Phase::Request, "request".to_owned(), self.start.elapsed(), request.len());
        self.socket.write_all(request)?;
        let mut answer = Vec::new();
        loop {
            let length = self.socket.read(&mut self.buffer)?;
            self.note(Side::Server, Phase::Answer, "answer".to_owned(), self.start.elapsed(), length);
            answer.extend_from_slice(&self.buffer[..length]);
            if is_over(&answer, length == 0)? {
                return Ok(answer);
            }
        }
    }

    fn encrypted(
        &mut self,
        mut session: ClientConnection,
        request: &[u8],
    ) -> io::Result<(Option<HandshakeKind>, Vec<u8>)> {
        let mut ours = Namer::default();
        let mut theirs = Namer::default();
        let mut incoming = Vec::new();
        let mut answer = Vec::new();
        let mut asked = false;
        loop {
            self.send(&mut session, &mut ours, Phase::Handshake)?;
            if !session.is_handshaking() && !asked {
                session.writer().write_all(request)?;
                self.send(&mut session, &mut ours, Phase::Request)?;
                asked = true;
            }
            let length = self.socket.read(&mut self.buffer)?;
            let at = self.start.elapsed();
            incoming.extend_from_slice(&self.buffer[..length]);
            while let Some(record) = Namer::first_record(&incoming) {
                let record: Vec<u8> = incoming.drain(..record).collect();
                self.take(&mut session, &mut theirs, &record, at, &mut answer)?;
            }
            if asked && is_over(&answer, length == 0)? {
                break;
            }
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let kind = match session.handshake_kind() {
            Some(rustls::HandshakeKind::Resumed) => HandshakeKind::Resumed,
            _ => HandshakeKind::Full,
        };
        Ok((Some(kind), answer))
    }

    /// Sends all that waits to be sent.
    fn send(&mut self, session: &mut ClientConnection, names: &mut Namer, phase: Phase) -> io::Result<()> {
        let mut outgoing = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut outgoing)?;
        }
        if outgoing.is_empty() {
            return Ok(());
        }
        let at = self.start.elapsed();
        self.socket.write_all(&outgoing)?;
        let is_1_3 = session.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        while let Some(length) = Namer::first_record(&outgoing) {
            let record: Vec<u8> = outgoing.drain(..length).collect();
            let what = match phase {
                Phase::Request => "request".to_owned(),
                _ => names.name(&record, is_1_3),
            };
            self.note(Side::Client, phase, what, at, record.len());
        }
        Ok(())
    }

    /// Takes one record of the server's.
    fn take(
        &mut self,
        session: &mut ClientConnection,
        names: &mut Namer,
        record: &[u8],
        at: Duration,
        answer: &mut Vec<u8>,
    ) -> io::Result<()> {
        let was_handshaking = session.is_handshaking();
        let tickets = session.tls13_tickets_received();
        session.read_tls(&mut &record[..])?;
        let state = session.process_new_packets().map_err(io::Error::other)?;
        let is_1_3 = session.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        // The end is no part of the exchange: whether it is still seen depends on how the bytes were cut.
        if state.peer_has_closed() && state.plaintext_bytes_to_read() == 0 {
            return Ok(());
        }
        let (phase, what) = if state.plaintext_bytes_to_read() > 0 {
            let had = answer.len();
            answer.resize(had + state.plaintext_bytes_to_read(), 0);
            session.reader().read_exact(&mut answer[had..])?;
            (Phase::Answer, "answer".to_owned())
        } else if session.tls13_tickets_received() > tickets {
            (Phase::Tickets, "NewSessionTicket, encrypted".to_owned())
        } else if was_handshaking {
            (Phase::Handshake, names.name(record, is_1_3))
        } else {
            (Phase::Answer, names.name(record, is_1_3))
        };
        self.note(Side::Server, phase, what, at, record.len());
        Ok(())
    }

    /// Adds to the last message what belongs to it.
    fn note(&mut self, from: Side, phase: Phase, what: String, at: Duration, bytes: usize) {
        let last = self.steps.last_mut().filter(|last| last.from == from && self.phase == phase);
        match last {
            Some(last) => {
                if !last.what.split(", ").any(|known| known == what) || !matches!(phase, Phase::Answer | Phase::Request)
                {
                    last.what = joined(&last.what, &what);
                }
                last.bytes += bytes as u64;
                // What is sent begins to be sent once; what is received is there when its last part is.
                if from == Side::Server {
                    last.at = at;
                }
            }
            None if bytes > 0 => self.steps.push(Step { from, what, at, bytes: bytes as u64 }),
            None => {}
        }
        self.phase = phase;
    }
}

/// Two names as one, the same ones in a row counted.
fn joined(known: &str, more: &str) -> String {
    let (rest, last) = known.rsplit_once(", ").map_or(("", known), |(rest, last)| (rest, last));
    let (name, count) = match last.rsplit_once(" × ") {
        Some((name, count)) => (name, count.parse().unwrap_or(1)),
        None => (last, 1_u32),
    };
    if known == more {
        return format!("{more} × 2");
    }
    match name == more {
        true if rest.is_empty() => format!("{more} × {}", count + 1),
        true => format!("{rest}, {more} × {}", count + 1),
        false => format!("{known}, {more}"),
    }
}

/// Whether an answer is complete: it has its full length, or ended.
fn is_over(answer: &[u8], is_closed: bool) -> io::Result<bool> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(invalid(&format!("an answer of more than {ANSWER_BYTES_MAX} bytes")));
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let parsed = head.parse(answer).map_err(|error| invalid(&format!("no answer of HTTP: {error}")))?;
    let httparse::Status::Complete(begin) = parsed else {
        return if is_closed { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(false) };
    };
    let length = head.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|field| std::str::from_utf8(field.value).ok()?.trim().parse::<usize>().ok());
    Ok(match length {
        Some(length) => answer.len() - begin >= length || is_closed,
        None => is_closed,
    })
}

fn status(answer: &[u8]) -> io::Result<u16> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    head.parse(answer).map_err(|error| invalid(&format!("no answer of HTTP: {error}")))?;
    head.code.ok_or_else(|| invalid("an answer without a status"))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(times_us: &[u64], what: &str) -> Exchange {
        let steps = times_us.iter().map(|time| Step {
            from: Side::Client,
            what: what.to_owned(),
            at: Duration::from_micros(*time),
            bytes: *time,
        });
        Exchange { steps: steps.collect(), kind: None, status: 200 }
    }

    #[test]
    fn the_median_is_of_those_exchanges_that_had_the_same_messages() {
        assert_eq!(median(&[]), None);
        let all = [
            exchange(&[1, 100], "a"),
            exchange(&[9, 9], "b"),
            exchange(&[3, 300], "a"),
            exchange(&[2, 200], "a"),
            exchange(&[5], "a"),
        ];
        let (steps, n) = median(&all).unwrap();
        assert_eq!((n, steps[0].at.as_micros(), steps[1].bytes), (3, 2, 200));
    }

    #[test]
    fn names_in_a_row_are_counted() {
        let check = |known: &str, more: &str, expected: &str| assert_eq!(joined(known, more), expected);
        check("ServerHello", "encrypted", "ServerHello, encrypted");
        check("ServerHello, encrypted", "encrypted", "ServerHello, encrypted × 2");
        check("ServerHello, encrypted × 2", "encrypted", "ServerHello, encrypted × 3");
        check("encrypted", "encrypted", "encrypted × 2");
        check("encrypted × 2", "encrypted", "encrypted × 3");
    }

    #[test]
    fn an_answer_is_over_at_its_length_or_its_end() {
        let check = |answer: &str, is_closed: bool, expected: Option<bool>| {
            assert_eq!(is_over(answer.as_bytes(), is_closed).ok(), expected, "{answer:?}");
        };
        check("", false, Some(false));
        check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false, Some(false));
        check("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc", false, Some(true));
        check("HTTP/1.1 200 OK\r\n\r\nabc", false, Some(false));
        check("HTTP/1.1 200 OK\r\n\r\nabc", true, Some(true));
        check("HTTP/1.1 2", true, None);
        check("gopher", false, None);
    }
}
