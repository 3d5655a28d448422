//! A server that does one thing wrong: late, closing, wrong or deaf answers, each connection on a thread of its own.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::burning::{Measuring, measuring};

/// The behaviour of the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answering {
    /// Shortest time of an answer.
    pub(crate) takes: Duration,
    /// Time in which it gets twice as fast, again and again, except for `/steady`.
    pub(crate) halves_each: Option<Duration>,
    /// Answers after which it closes each connection.
    pub(crate) answers_a_connection: usize,
    /// Every n-th answer is a 500; 0: none.
    pub(crate) each_fails: usize,
    /// Every n-th answer is a wrong one; 0: none.
    pub(crate) each_errs: usize,
    /// Number of the answer with this time; all others have the time above.
    pub(crate) pauses_at: Option<(usize, Duration)>,
    /// Its answer.
    pub(crate) body: &'static str,
}

/// At once, for ever, and right.
pub(crate) const SOUND: Answering = Answering {
    takes: Duration::ZERO,
    halves_each: None,
    answers_a_connection: usize::MAX,
    each_fails: 0,
    each_errs: 0,
    pauses_at: None,
    body: "right",
};

/// A server that ends with its owner.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    ending: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
    /// Absent where the test itself sees to that.
    _measuring: Option<Measuring>,
}

fn anywhere() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

impl Server {
    pub(crate) fn start(answering: Answering) -> Server {
        Server::on(anywhere(), answering, || ())
    }

    /// The same for a test that lets no other one measure.
    pub(crate) fn unguarded(answering: Answering) -> Server {
        Server::begin(anywhere(), answering, || (), None)
    }

    /// On a listener, from which it takes each connection once `ready` is over.
    pub(crate) fn on(listener: TcpListener, answering: Answering, ready: impl Fn() + Send + 'static) -> Server {
        Server::begin(listener, answering, ready, Some(measuring()))
    }

    fn begin(
        listener: TcpListener,
        answering: Answering,
        ready: impl Fn() + Send + 'static,
        measuring: Option<Measuring>,
    ) -> Server {
        let address = listener.local_addr().unwrap();
        let ending = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&ending);
        let started = Instant::now();
        let accepting = std::thread::spawn(move || {
            loop {
                ready();
                let accepted = listener.accept();
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok((stream, _)) = accepted {
                    std::thread::spawn(move || answer(&stream, answering, started));
                }
            }
        });
        Server { address, ending, accepting: Some(accepting), _measuring: measuring }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/x", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        // Wakes it from waiting for the next connection; where none can be made, the process ends soon.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            accepting.join().unwrap();
        }
    }
}

/// Answers until the client or the script closes; the load reports the client's side.
fn answer(stream: &TcpStream, answering: Answering, started: Instant) -> Option<()> {
    let Answering { takes, halves_each, answers_a_connection, each_fails, each_errs, pauses_at, body } = answering;
    let is_each = |each: usize, number: usize| each > 0 && number.is_multiple_of(each);
    stream.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(stream).lines();
    for number in 1..=answers_a_connection {
        let is_steady = lines.next()?.ok()?.contains("/steady");
        while !lines.next()?.ok()?.is_empty() {}
        let halves_each = halves_each.filter(|_| !is_steady);
        let halvings = halves_each.map_or(0.0, |time| started.elapsed().as_secs_f64() / time.as_secs_f64());
        let pause = pauses_at.filter(|(at, _)| *at == number).map(|(_, pause)| pause);
        wait(pause.unwrap_or_else(|| takes.mul_f64((-halvings).exp2())));
        let status = if is_each(each_fails, number) { "500 Failed" } else { "200 OK" };
        let body = if is_each(each_errs, number) { "another" } else { body };
        let closing = if number == answers_a_connection { "Connection: close\r\n" } else { "" };
        let length = body.len();
        write!(&*stream, "HTTP/1.1 {status}\r\n{closing}Content-Length: {length}\r\n\r\n{body}").ok()?;
    }
    Some(())
}

/// Waits this long, as a scripted pause and not for a condition.
pub(crate) fn wait(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::thread::park_timeout(time.saturating_sub(begun.elapsed()));
    }
}
