//! Requests on their way to a backend and answers on their way back: framing, streaming, connections used again, what
//! fails. The backends are scripted sockets.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown as Side, TcpListener};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tollgate_net::http1::server::{
    Body, Delimiter, Enclosed, Exchange, ExchangeError, ForwardError, Gathered, Patience, Server, Service,
};
use tollgate_net::http1::upstream::{Counts, Place, Pool, PoolLimits};
use tollgate_net::http1::{Framing, Method};
use tollgate_net::limits::Limits;
use tollgate_net::listen::{ListenOptions, Reserved};

use super::support::{Client, Running, wait_until_read};

/// Bodies up to this go in one write with their head.
const GATHERED_BYTES_MAX: usize = 64 * 1024;

/// Passes every request on, and answers with the reason if there is no answer.
struct Forwards {
    pool: Rc<Pool>,
}

impl Service for Forwards {
    async fn serve(&self, exchange: &mut Exchange<'_>) -> Result<(), ExchangeError> {
        match self.forward(exchange).await {
            Ok(()) => Ok(()),
            Err(ForwardError::Client(error)) => Err(error),
            Err(ForwardError::Backend(_)) if exchange.has_begun() => Err(exchange.cut_short()),
            Err(ForwardError::Backend(error)) => {
                let response = exchange.respond();
                response.clear();
                response.status = 502;
                response.body = format!("{:?}", error.kind()).into_bytes();
                Ok(())
            }
        }
    }

    fn tick(&self, now: Instant) {
        self.pool.clean(now);
    }
}

impl Forwards {
    async fn forward(&self, exchange: &mut Exchange<'_>) -> Result<(), ForwardError> {
        let gathered = exchange.gather_body(GATHERED_BYTES_MAX).await?;
        let seconds = Duration::from_secs;
        let whole_by = exchange.now() + seconds(600);
        let connection = exchange.connection(&self.pool, seconds(5), whole_by).await?;
        let (request, _, out) = exchange.outbound();
        out.extend_from_slice(format!("{} {} HTTP/1.1\r\n", request.method_text(), request.target()).as_bytes());
        let body = match gathered {
            Gathered::Whole => exchange.enclose(Enclosed::Gathered),
            Gathered::Beginning => exchange.enclose(Enclosed::Streamed),
        };
        assert_eq!(body == Body::Whole, gathered == Gathered::Whole);
        let patience = Patience { first_byte: seconds(60), stall: seconds(30), whole_by };
        let mut asking = exchange.begin_asking(connection, patience, body);
        exchange.ask(&mut asking).await?;
        let (request, head, response) = exchange.answered();
        response.status = head.status();
        let is_head = request.method() == Method::Head;
        match head.content_length() {
            Some(length) if is_head || head.framing() == Framing::Length(length) => {
                response.delimit(Delimiter::Length(length));
            }
            _ => {}
        }
        exchange.relay(&mut asking).await?;
        exchange.release(asking, &self.pool);
        if is_head {
            exchange.flush_part().await?;
        }
        Ok(())
    }
}

/// A backend's treatment of one connection.
type Script = Box<dyn FnOnce(&mut Client) + Send>;

/// A gateway of one loop before a backend that does `scripts`, a connection each, in their order.
struct Between {
    gateway: Running,
    counts: Arc<Mutex<Option<Arc<Counts>>>>,
    backend: JoinHandle<()>,
    /// Keeps the backend's port from others once it is gone.
    _reserved: Reserved,
}

impl Between {
    fn start(scripts: Vec<Script>) -> Between {
        let reserved = Reserved::on_loopback().unwrap();
        let listener = TcpListener::bind(reserved.address()).unwrap();
        let port = reserved.address().port();
        let backend = std::thread::spawn(move || {
            let scripts = scripts.into_iter().map(|script| {
                let mut client = Client::of(listener.accept().unwrap().0);
                std::thread::spawn(move || script(&mut client))
            });
            for running in scripts.collect::<Vec<_>>() {
                running.join().unwrap();
            }
        });
        let counts = Arc::new(Mutex::new(None));
        let limits = PoolLimits {
            idle_connections_max: 10,
            idle_max: Duration::from_secs(10),
            age_max: Duration::from_secs(100),
        };
        let told = Arc::clone(&counts);
        let make_service = move |_| {
            let pool = Pool::new(Place::new("127.0.0.1", port), limits);
            *told.lock().unwrap() = Some(Arc::clone(pool.counts()));
            Forwards { pool: Rc::new(pool) }
        };
        let server = Server::bind(&ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
        let gateway = Running::serve(Limits::default(), server, make_service);
        Between { gateway, counts, backend, _reserved: reserved }
    }

    /// Connections opened, and requests over those that had waited.
    fn counted(&self) -> (u64, u64) {
        let counts = self.counts.lock().unwrap();
        let counts = counts.as_ref().unwrap();
        (counts.connections_opened(), counts.reused())
    }

    /// Ends it once the backend has done all.
    fn end(self) {
        self.backend.join().unwrap();
    }
}

fn script(script: impl FnOnce(&mut Client) + Send + 'static) -> Script {
    Box::new(script)
}

/// Checks the client's answer to `request` if the backend sends `answer` and ends the connection.
fn check_answer(request: &str, answer: &str, expected: &str) {
    assert_eq!(answer_to(request, answer), expected, "{request:?} {answer:?}");
}

fn answer_to(request: &str, answer: &str) -> String {
    let said = answer.to_owned();
    let between = Between::start(vec![script(move |client| {
        client.read_until("\r\n\r\n");
        client.send(said);
    })]);
    let got = between.gateway.converse(request).replace("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", "");
    between.end();
    got
}

/// Checks the backend's request for `request`.
fn check_request(request: &str, end: &'static str, expected: &str) {
    let expected = expected.to_owned();
    let between = Between::start(vec![script(move |client| {
        assert_eq!(client.read_until(end), expected);
        client.send("HTTP/1.1 204 No Content\r\n\r\n");
    })]);
    let answer = between.gateway.converse(request);
    assert!(answer.contains("HTTP/1.1 204 No Content\r\n"), "{request:?}: {answer}");
    between.end();
}

const GET: &str = "GET /a?b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

#[test]
fn what_a_client_does_not_take_of_a_backends_answer_counts_as_unsent() {
    const BODY_BYTES: usize = 16_000_000;
    let between = Between::start(vec![script(|backend| {
        backend.read_until("\r\n\r\n");
        backend.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n"));
        backend.send(vec![b'x'; BODY_BYTES]);
    })]);
    let mut client = between.gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    between.gateway.wait_until(|counters| counters.unsent_bytes() >= 64 * 1024);
    assert_eq!(client.answer().body.len(), BODY_BYTES);
    between.gateway.wait_until(|counters| (counters.unsent_bytes(), counters.held_bytes()) == (0, 0));
    between.end();
}

#[test]
fn bodies_of_requests_are_framed_anew() {
    check_request(GET, "\r\n\r\n", "GET /a?b HTTP/1.1\r\n\r\n");
    let post = |rest: &str| format!("POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{rest}");
    let framed = |rest: &str| format!("POST / HTTP/1.1\r\n{rest}");
    check_request(&post("\r\n"), "\r\n\r\n", &framed("Content-Length: 0\r\n\r\n"));
    check_request(&post("Content-Length: 3\r\n\r\nabc"), "abc", &framed("Content-Length: 3\r\n\r\nabc"));
    let chunked = post("Transfer-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n2\r\nbc\r\n0\r\nTrailer: x\r\n\r\n");
    check_request(&chunked, "abc", &framed("Content-Length: 3\r\n\r\nabc"));
    let expecting = post("Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
    check_request(&expecting, "abc", &framed("Content-Length: 3\r\n\r\nabc"));
    let long = "x".repeat(GATHERED_BYTES_MAX + 1);
    let length = format!("Content-Length: {}\r\n\r\n{long}END", long.len() + 3);
    check_request(&post(&length), "END", &framed(&length));
}

#[test]
fn a_long_chunked_request_is_streamed_in_chunks() {
    let long = "x".repeat(3 * GATHERED_BYTES_MAX);
    let expected = long.clone();
    let between = Between::start(vec![script(move |client| {
        assert_eq!(client.read_until("\r\n\r\n"), "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
        let mut body = String::new();
        loop {
            let line = client.read_until("\r\n");
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let chunk = client.read_exactly(size + 2);
            body.push_str(&chunk[..size]);
            if size == 0 {
                break;
            }
        }
        assert_eq!(body, expected);
        client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    })]);
    let request = format!(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    assert!(between.gateway.converse(request).ends_with("\r\n\r\nok"));
    between.end();
}

#[test]
fn answers_go_on_in_the_framing_that_fits() {
    let closed = |rest: &str| format!("HTTP/1.1 200 OK\r\n{rest}");
    let hello = closed("Content-Length: 5\r\nConnection: close\r\n\r\nhello");
    check_answer(GET, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", &hello);
    check_answer(GET, "HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", &hello);
    // Whether the end of the connection came together with the body is the network's affair.
    let in_chunks = closed("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    let until_close = answer_to(GET, "HTTP/1.1 200 OK\r\n\r\nhello");
    assert!([&hello, &in_chunks].contains(&&until_close), "{until_close:?}");
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    check_answer(GET, &format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), &hello);
    check_answer(GET, "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    check_answer(
        GET,
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n",
    );
    let head = GET.replace("GET", "HEAD");
    check_answer(
        &head,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
    );
    check_answer(
        &head,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    );
}

#[test]
fn what_is_no_answer_is_told_as_none() {
    let check = |answer: &str, kind: &str| {
        let expected =
            format!("HTTP/1.1 502 Bad Gateway\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{kind}", kind.len());
        check_answer(GET, answer, &expected);
    };
    check("", "ClosedBeforeAnswer");
    check("HTTP/1.1 200 OK\r\n", "ClosedWithinAnswer");
    check("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "ClosedWithinAnswer");
    check("SSH-2.0-OpenSSH\r\n\r\n", "Malformed(UnsupportedVersion)");
    check("HTTP/1.1 101 Switching Protocols\r\n\r\n", "Malformed(BadStartLine)");
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
        "Malformed(LengthWithTransferEncoding)",
    );
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "Malformed(BadChunkSize)");
}

#[test]
fn an_answer_that_is_cut_short_looks_cut_short() {
    let long = "x".repeat(100_000);
    let check = |request: &str, answer: String| {
        let between = Between::start(vec![script(move |client| {
            client.read_until("\r\n\r\n");
            client.send(answer);
        })]);
        let mut client = between.gateway.connect();
        client.send(request);
        let mut got = Vec::new();
        let ended = client.socket.read_to_end(&mut got);
        between.end();
        (String::from_utf8(got).unwrap(), ended.is_ok())
    };
    let (got, _) = check(GET, format!("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n{long}"));
    assert!(got.contains("Content-Length: 200000\r\n") && got.len() < 150_000);
    let (got, _) =
        check(GET, format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n", 100_000));
    assert!(got.contains("chunked\r\n") && !got.ends_with("0\r\n\r\n"));
    let old = "GET / HTTP/1.0\r\n\r\n";
    let (_, in_order) =
        check(old, format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n", 100_000));
    assert!(!in_order, "without framing only a reset tells the client");
}

#[test]
fn connections_are_used_again_in_order_until_the_backend_ends_them() {
    let answer = |text: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    let last = answer("last").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let between = Between::start(vec![
        script(move |client| {
            for text in ["one", "two"] {
                client.read_until("\r\n\r\n");
                client.send(answer(text));
            }
            client.read_until("\r\n\r\n");
            client.send(last);
            assert_eq!(client.rest(), "");
        }),
        script(|client| {
            client.read_until("\r\n\r\n");
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfreshSURPLUS");
            assert_eq!(client.rest(), "");
        }),
        script(|client| {
            client.read_until("\r\n\r\n");
            client.send("HTTP/1.1 204 No Content\r\n\r\n");
        }),
    ]);
    let mut client = between.gateway.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(4));
    for expected in ["one", "two", "last", "fresh"] {
        assert_eq!(client.answer().body, expected);
    }
    assert_eq!(client.ask("/").status, 204);
    assert_eq!(between.counted(), (3, 2));
    between.end();
}

#[test]
fn what_was_read_already_survives_the_opening_of_a_connection() {
    let answers = |count: usize| {
        script(move |client: &mut Client| {
            for _ in 0..count {
                let head = client.read_until("\r\n\r\n");
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let body = client.read_exactly(length.map_or(0, |length| length.parse().unwrap()));
                client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
            }
        })
    };
    let between = Between::start(vec![answers(3)]);
    let mut client = between.gateway.connect();
    let post = |rest: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{rest}");
    let chunked = post("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n");
    client.send([chunked, post("Content-Length: 3\r\n\r\nfgh"), post("Content-Length: 0\r\n\r\n")].concat());
    for expected in ["abcde", "fgh", ""] {
        assert_eq!(client.answer().body, expected);
    }
    between.end();
}

#[test]
fn connections_that_waited_too_long_are_closed() {
    let between = Between::start(vec![script(|client| {
        client.read_until("\r\n\r\n");
        client.send("HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(client.rest(), "");
    })]);
    assert_eq!(between.gateway.connect().ask("/").status, 204);
    let Between { gateway, backend, .. } = &between;
    gateway.advance_until(|| backend.is_finished());
    between.end();
}

#[test]
fn large_bodies_go_both_ways_at_the_same_time() {
    const BYTES: usize = 8 * 1024 * 1024;
    let between = Between::start(vec![script(|client| {
        client.read_until("\r\n\r\n");
        client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n"));
        // An echo that holds nothing: it reads no more before what it read is taken.
        let mut left = BYTES - client.echo_unread();
        let mut buffer = vec![0; 100_000];
        while left > 0 {
            let count = client.socket.read(&mut buffer).unwrap();
            client.socket.write_all(&buffer[..count]).unwrap();
            left -= count;
        }
    })]);
    let mut client = between.gateway.connect();
    let body: Vec<u8> = (0..BYTES).map(|index| (index * 7 / 3) as u8).collect();
    client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {BYTES}\r\n\r\n"));
    let mut writing = client.socket.try_clone().unwrap();
    let sent = body.clone();
    let writer = std::thread::spawn(move || writing.write_all(&sent).unwrap());
    client.read_until("\r\n\r\n");
    assert!(client.read_bytes(BYTES) == body);
    writer.join().unwrap();
    between.end();
}

#[test]
fn an_answer_before_the_end_of_the_request_goes_on_and_the_connection_ends() {
    let between = Between::start(vec![script(|client| {
        client.read_until("\r\n\r\n");
        client.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large");
        let _ = client.socket.shutdown(Side::Write);
        // Read on, so that no reset destroys the answer.
        let _ = client.socket.read_to_end(&mut Vec::new());
    })]);
    let mut client = between.gateway.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\nbeginning");
    let answer = client.answer();
    assert_eq!((answer.status, &*answer.body), (413, "too large"));
    assert!(answer.head.contains("Connection: close\r\n"), "{answer:?}");
    between.end();
}

#[test]
fn a_backend_that_is_silent_is_given_up() {
    let check = |path: &str, said: &'static str, expected: &str| {
        let (asked, is_asked) = std::sync::mpsc::channel();
        let between = Between::start(vec![script(move |client| {
            client.read_until("\r\n\r\n");
            client.send(said);
            wait_until_read(&client.socket);
            asked.send(()).unwrap();
            assert_eq!(client.rest(), "");
        })]);
        let mut client = between.gateway.connect();
        client.send(GET.replace("/a", path));
        is_asked.recv().unwrap();
        let Between { gateway, backend, .. } = &between;
        gateway.advance_until(|| backend.is_finished());
        assert_eq!(client.answer().body, expected);
        between.end();
    };
    check("/silent", "", "AnswerTimedOut");
    check("/stalls", "HTTP/1.1 200", "Stalled");
    check("/stalls", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "Stalled");
}

#[test]
fn nobody_who_listens_is_told_at_once() {
    let between = Between::start(Vec::new());
    let Between { gateway, backend, _reserved, .. } = between;
    // The listener is gone with its thread.
    backend.join().unwrap();
    let answer = gateway.connect().ask("/");
    assert_eq!((answer.status, &*answer.body), (502, "Unconnected"));
}
