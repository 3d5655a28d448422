//! The client against scripted sockets: what each failure is called, and what its figures say.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use tollgate_net::http1::client::{
    Answers, ClientConnection, Collect, Connector, ErrorClass, ExchangeError, Exchanged, Target,
};
use tollgate_net::listen::Reserved;
use tollgate_net::tls::TlsChoice;

use super::support::Running;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// The reaction of a scripted server once it has the request's head.
#[derive(Clone, Copy)]
enum Then {
    Keep,
    Close,
    Reset,
}

/// A server that answers one connection with fixed bytes, for every request.
fn scripted(answer: &'static str, then: Then) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let count = socket.read(&mut request).unwrap();
        assert!(request[..count].ends_with(b"\r\n\r\n"));
        socket.write_all(answer.as_bytes()).unwrap();
        match then {
            Then::Close => socket.shutdown(Shutdown::Write).unwrap(),
            Then::Reset => {
                // The client has taken the answer before the reset can overtake it.
                wait_until_taken(&socket, answer.len());
                socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
                return;
            }
            Then::Keep => {}
        }
        // Held open until the client goes.
        let _ = socket.read(&mut request);
    });
    address
}

/// Waits for a byte from the client, which it sends when it has seen the answer begin; nothing to wait for without one.
fn wait_until_taken(mut socket: &TcpStream, answer_bytes: usize) {
    if answer_bytes > 0 {
        socket.read_exact(&mut [0]).unwrap();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn open(address: SocketAddr) -> ClientConnection {
    let target = Target::parse(&format!("http://{address}/")).unwrap();
    Connector::new(TlsChoice::Verify).open(&target).await.unwrap()
}

fn exchange(address: SocketAddr, answers: Answers) -> (Result<Exchanged, ExchangeError>, String) {
    block_on(async {
        let (mut connection, mut body) = (open(address).await, Vec::new());
        let outcome = connection.exchange(REQUEST, answers, &mut body).await;
        (outcome, String::from_utf8(body).unwrap())
    })
}

#[test]
fn an_answer_of_any_kind_is_read_to_its_end() {
    let check = |answer: &'static str, then, answers, status, body: &str, reusable| {
        let (outcome, got) = exchange(scripted(answer, then), answers);
        let exchanged = outcome.unwrap();
        assert_eq!((exchanged.status, got.as_str(), exchanged.reusable), (status, body, reusable), "{answer:?}");
        assert_eq!(exchanged.wire_sent_bytes, REQUEST.len() as u64, "{answer:?}");
        let (head, framing) = (exchanged.head_bytes, exchanged.framing_bytes);
        assert!(exchanged.wire_received_bytes >= head + framing + exchanged.body_bytes, "{answer:?}");
        assert!(exchanged.sent <= exchanged.first_byte && exchanged.first_byte <= exchanged.last_byte);
    };
    use Answers::{Head, Ordinary};
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Then::Keep, Ordinary, 200, "hello", true);
    check(
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        Then::Close,
        Ordinary,
        200,
        "hello",
        false,
    );
    check("HTTP/1.1 200 OK\r\n\r\nhello", Then::Close, Ordinary, 200, "hello", false);
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Then::Keep, Head, 200, "", true);
    check("HTTP/1.1 204 No Content\r\n\r\n", Then::Keep, Ordinary, 204, "", true);
    check(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        Then::Keep,
        Ordinary,
        200,
        "ok",
        true,
    );
    check("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Then::Keep, Ordinary, 200, "ok", false);
    check(
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
        Then::Keep,
        Ordinary,
        200,
        "ok",
        true,
    );
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        Then::Keep,
        Ordinary,
        200,
        "ok",
        true,
    );
    // Bytes that nobody asked for: the answer stands, the connection is not to be trusted.
    check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP", Then::Keep, Ordinary, 200, "ok", false);
}

#[test]
fn each_failure_has_its_class() {
    let check = |answer: &'static str, then, class| {
        let (outcome, _) = exchange(scripted(answer, then), Answers::Ordinary);
        assert_eq!(outcome.unwrap_err().class(), class, "{answer:?}");
    };
    check("", Then::Close, ErrorClass::ClosedBeforeAnswer);
    check("HTTP/1.1 200", Then::Close, ErrorClass::ClosedWithinAnswer);
    check("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Then::Close, ErrorClass::ClosedWithinAnswer);
    check(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
        Then::Close,
        ErrorClass::ClosedWithinAnswer,
    );
    check("", Then::Reset, ErrorClass::ResetBeforeAnswer);
    check("SSH-2.0-x\r\n", Then::Keep, ErrorClass::MalformedAnswer);
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz", Then::Keep, ErrorClass::MalformedAnswer);
}

#[test]
fn a_reset_within_the_answer_is_told_from_one_before_it() {
    /// Signals the server that the answer has begun to arrive.
    struct Signal(TcpStream);
    impl tollgate_net::http1::client::BodySink for Signal {
        fn part(&mut self, _: &[u8]) {
            self.0.write_all(b"x").unwrap();
        }
    }
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let relay_address = relay.local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let (signal, _) = relay.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]).unwrap();
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").unwrap();
        wait_until_taken(&signal, 1);
        socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO)).unwrap();
    });
    let outcome = block_on(async {
        let mut connection = open(address).await;
        let mut sink = Signal(TcpStream::connect(relay_address).unwrap());
        connection.exchange(REQUEST, Answers::Ordinary, &mut sink).await
    });
    assert_eq!(outcome.unwrap_err().class(), ErrorClass::ResetWithinAnswer);
}

#[test]
fn an_answer_that_does_not_come_is_a_timeout() {
    let outcome = block_on(async {
        let mut connection = open(scripted("HTTP/1.1 200 OK\r\n", Then::Keep)).await;
        connection.set_timeout(Duration::from_millis(20));
        connection.exchange(REQUEST, Answers::Ordinary, &mut Vec::new()).await
    });
    assert_eq!(outcome.unwrap_err().class(), ErrorClass::Timeout);
}

#[test]
fn a_connection_that_cannot_be_had_has_its_class_too() {
    let nobody = Reserved::on_loopback().unwrap();
    let check = |url: &str, class| {
        let target = Target::parse(url).unwrap();
        let connector = Connector::new(TlsChoice::Insecure).connect_timeout(Duration::from_secs(5));
        let error = block_on(connector.open(&target)).unwrap_err();
        assert_eq!(error.class(), class, "{url}: {error}");
    };
    check(&format!("http://{}/", nobody.address()), ErrorClass::ConnectRefused);
    // TLS with a server that speaks none.
    check(&format!("https://{}/", scripted_any()), ErrorClass::Tls);
}

/// A server that answers anything with plain HTTP.
fn scripted_any() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 4096]).unwrap();
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    address
}

#[test]
fn a_large_request_that_is_refused_early_still_gets_its_answer() {
    let server = Running::start(tollgate_net::limits::Limits::default());
    let body = vec![b'x'; 3_000_000];
    let mut request =
        format!("POST /up-to/10 HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    request.extend_from_slice(&body);
    let (exchanged, answer) = block_on(async {
        let mut sink = Collect::up_to(100);
        let exchanged = open(server.address).await.exchange(&request, Answers::Ordinary, &mut sink).await.unwrap();
        (exchanged, sink.bytes)
    });
    assert_eq!((exchanged.status, exchanged.reusable, answer.as_slice()), (413, false, &b"my own words"[..]));
}

#[test]
fn a_large_chunked_answer_is_counted_to_the_byte() {
    let server = Running::start(tollgate_net::limits::Limits::default());
    let request = b"GET /parts/1000 HTTP/1.1\r\nHost: a\r\n\r\n";
    let exchanged = block_on(async {
        let mut connection = open(server.address).await;
        connection.exchange(request, Answers::Ordinary, &mut Vec::new()).await.unwrap()
    });
    // Each part: a size line of 3 bytes, 10 bytes of data, 2 of line end; at the end 5 bytes.
    assert_eq!((exchanged.body_bytes, exchanged.framing_bytes), (10_000, 5_005));
    assert_eq!(exchanged.wire_received_bytes, exchanged.head_bytes + 15_005);
}
