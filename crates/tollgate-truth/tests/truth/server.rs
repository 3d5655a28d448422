//! The scripted server as a child of the test, and what it says it did.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tollgate_lab::cores::Cores;

/// Tests that measure do so one after another: each would be the other's noise.
static ALONE: Mutex<()> = Mutex::new(());

/// The scripted server's program.
pub(crate) const TRUTH: &str = env!("CARGO_BIN_EXE_tollgate-truth");

/// A server that is ended with its owner.
pub(crate) struct TruthServer {
    child: Child,
    url: String,
    /// Absent for one beside another that has it.
    _alone: Option<MutexGuard<'static, ()>>,
}

/// Starts one on a free port, once no other test measures.
pub(crate) fn truth_server() -> TruthServer {
    truth_server_with("", Stdio::inherit())
}

/// The same with a burden that its process carries beside serving, and its complaints elsewhere.
pub(crate) fn truth_server_with(burden: &str, complaints: Stdio) -> TruthServer {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    start(burden, complaints, Some(alone))
}

fn start(burden: &str, complaints: Stdio, alone: Option<MutexGuard<'static, ()>>) -> TruthServer {
    let mut command = Command::new(TRUTH);
    command.args(["127.0.0.1:0", burden]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints);
    // On the cores that the lab leaves to subjects: it waits by spinning, and would starve a generator beside it.
    let mut child = Cores::divide().as_subject(|| command.spawn()).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim_end().strip_prefix("listening ").expect("it says where it listens").to_owned();
    TruthServer { child, url, _alone: alone }
}

impl TruthServer {
    /// Another one beside it.
    pub(crate) fn second(&self) -> TruthServer {
        start("", Stdio::inherit(), None)
    }

    /// The URL of a path below a class.
    pub(crate) fn url(&self, class_and_path: &str) -> String {
        format!("{}/{class_and_path}", self.url)
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("it says its port")
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its record of a class.
    pub(crate) fn did(&self, class: &str) -> Did {
        let answer = self.client().answer("truth/counts");
        let body = answer.split("\r\n\r\n").nth(1).expect("an answer has a body");
        let counts: Value = serde_json::from_str(body).unwrap();
        Did(counts[class].clone())
    }

    /// Every request of a class as it was written down, in the order of departure.
    pub(crate) fn log(&self, class: &str) -> Vec<Logged> {
        let answer = self.client().answer(&format!("truth/log/{class}"));
        let body = answer.split("\r\n\r\n").nth(1).expect("an answer has a body");
        let logged = |line: &str| {
            let mut numbers = line.rsplit(',').map(|number| number.parse().expect("all but the class are numbers"));
            let mut next = || numbers.next().expect("a line has four numbers");
            let (departure_ns, due_ns, service_ns, arrival_ns) = (next(), next(), next(), next());
            Logged { arrival_ns, service_ns, due_ns, departure_ns }
        };
        body.lines().skip(1).map(logged).collect()
    }

    /// CPU time of the serving thread for each request of the class, in microseconds, in the order of arrival.
    pub(crate) fn cpu_us(&self, class: &str) -> Vec<f64> {
        let answer = self.client().answer(&format!("truth/cpu/{class}"));
        let body = answer.split("\r\n\r\n").nth(1).expect("an answer has a body");
        body.lines().skip(1).map(|line| line.parse::<f64>().expect("a line is a number") / 1e3).collect()
    }

    /// Lateness of its answers by its own account.
    pub(crate) fn error(&self) -> String {
        self.client().answer("truth/error").split("\r\n\r\n").nth(1).expect("an answer has a body").to_owned()
    }

    /// Ends it in order: what it said last, if its complaints are piped.
    pub(crate) fn end(mut self) -> String {
        self.signal(Signal::TERM);
        let mut text = String::new();
        if let Some(complaints) = &mut self.child.stderr {
            complaints.read_to_string(&mut text).unwrap();
        }
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }

    /// Faults that it did to the records of a class.
    pub(crate) fn faults(&self, class: &str) -> u64 {
        let answer = self.client().answer("truth/faults");
        let body = answer.split("\r\n\r\n").nth(1).expect("an answer has a body");
        let faults: Value = serde_json::from_str(body).unwrap();
        faults[class].as_u64().unwrap_or(0)
    }

    /// A bare blocking socket to it.
    pub(crate) fn client(&self) -> BareClient {
        let authority = self.url.strip_prefix("http://").expect("it serves plain HTTP").to_owned();
        let stream = TcpStream::connect(&authority).unwrap();
        stream.set_nodelay(true).unwrap();
        BareClient { stream, authority }
    }
}

/// The simplest client: it writes a request and reads until the answer is whole.
pub(crate) struct BareClient {
    stream: TcpStream,
    authority: String,
}

impl BareClient {
    /// A whole answer, head and body, as it comes on a connection that is kept.
    pub(crate) fn answer(&mut self, class_and_path: &str) -> String {
        self.exchange(&format!("GET /{class_and_path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.authority))
    }

    /// The whole answer to a body.
    pub(crate) fn post(&mut self, class_and_path: &str, body: &str) -> String {
        let (authority, length) = (&self.authority, body.len());
        let head = format!("POST /{class_and_path} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: {length}\r\n\r\n");
        self.exchange(&(head + body))
    }

    fn exchange(&mut self, request: &str) -> String {
        self.stream.write_all(request.as_bytes()).unwrap();
        // The answer is whole once as many bytes followed the head as it says.
        let (mut answer, mut part) = (Vec::new(), [0; 65_536]);
        loop {
            let count = self.stream.read(&mut part).unwrap();
            assert!(count > 0, "the answer was cut: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&part[..count]);
            let Some(end) = answer.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
            let head = std::str::from_utf8(&answer[..end]).unwrap();
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("it has a length");
            if answer.len() - end - 4 == length.parse::<usize>().unwrap() {
                return String::from_utf8(answer).unwrap();
            }
        }
    }
}

impl Drop for TruthServer {
    fn drop(&mut self) {
        // Some tests kill it themselves.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request in the server's log, in nanoseconds since the server's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Logged {
    pub(crate) arrival_ns: u64,
    pub(crate) service_ns: u64,
    pub(crate) due_ns: u64,
    pub(crate) departure_ns: u64,
}

/// The server's counts of one class.
#[derive(Debug)]
pub(crate) struct Did(Value);

impl Did {
    /// Requests that came, answers of a status (`answered/200`), and so on.
    pub(crate) fn count(&self, path: &str) -> u64 {
        self.0.pointer(&format!("/{path}")).and_then(Value::as_u64).unwrap_or(0)
    }

    /// A percentile of its own service times.
    pub(crate) fn service_ms(&self, percentile: &str) -> f64 {
        self.ms(&format!("service_ns/{percentile}"))
    }

    /// Any of its times.
    pub(crate) fn ms(&self, path: &str) -> f64 {
        self.count(path) as f64 / 1e6
    }
}
