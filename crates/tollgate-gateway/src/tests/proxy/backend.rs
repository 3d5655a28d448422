//! A scripted backend: a script for each connection, in the order in which they arrive.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tollgate_net::listen::Reserved;

/// Longer than any test should take: a guard against hanging, not a measure.
const GUARD: Duration = Duration::from_secs(30);

/// Behaviour on one connection.
pub(super) type Script = Box<dyn FnOnce(&mut Peer) + Send>;

/// A backend.
pub(super) struct Backend {
    pub(super) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
    /// Keeps the port reserved after its end, so that no other test's server gets it.
    _reserved: Reserved,
}

/// The backend's end of a connection.
pub(super) struct Peer {
    pub(super) socket: TcpStream,
    unread: Vec<u8>,
}

/// A script.
pub(super) fn script(script: impl FnOnce(&mut Peer) + Send + 'static) -> Script {
    Box::new(script)
}

/// A script that gives each request the same answer, until the connection ends.
pub(super) fn always(answer: impl Into<String>) -> Script {
    let answer = answer.into();
    script(move |peer| {
        while peer.try_head().is_some() {
            peer.send(&answer);
        }
    })
}

/// A script that answers each request with the result of `reply` for its head, until the connection ends.
pub(super) fn replies(mut reply: impl FnMut(&str) -> String + Send + 'static) -> Script {
    script(move |peer| {
        while let Some(head) = peer.try_head() {
            let answer = reply(&head);
            peer.send(&answer);
        }
    })
}

/// An answer with these fields and this text.
pub(super) fn answer_with(fields: &str, text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{fields}\r\n{text}", text.len())
}

/// An answer with this text.
pub(super) fn answer(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/plain\r\n\r\n{text}", text.len())
}

/// A backend that signals each request, and answers `late` on a signal.
pub(super) fn late() -> (Backend, Receiver<()>, Sender<()>) {
    let (asked, is_asked) = channel();
    let (go_on, may_answer) = channel();
    let backend = Backend::start(vec![script(move |peer| {
        peer.head();
        asked.send(()).unwrap();
        may_answer.recv().unwrap();
        peer.send(&answer("late"));
        peer.until_end();
    })]);
    (backend, is_asked, go_on)
}

impl Backend {
    /// Listens, and accepts as many connections as there are scripts.
    pub(super) fn start(scripts: Vec<Script>) -> Backend {
        Backend::away().back(scripts)
    }

    /// Starts another one at the same address, once this one has ended.
    pub(super) fn back(mut self, scripts: Vec<Script>) -> Backend {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
        let listener = TcpListener::bind(self.address).unwrap();
        let thread = std::thread::spawn(move || {
            let running = scripts.into_iter().map(|script| {
                let (socket, _) = listener.accept().unwrap();
                socket.set_read_timeout(Some(GUARD)).unwrap();
                socket.set_write_timeout(Some(GUARD)).unwrap();
                std::thread::spawn(move || script(&mut Peer { socket, unread: Vec::new() }))
            });
            let running: Vec<_> = running.collect();
            // Whoever comes now finds nobody.
            drop(listener);
            for script in running {
                script.join().unwrap();
            }
        });
        Backend { thread: Some(thread), ..self }
    }

    /// A backend without a listener.
    pub(super) fn away() -> Backend {
        let reserved = Reserved::on_loopback().unwrap();
        Backend { address: reserved.address(), thread: None, _reserved: reserved }
    }

    /// Whether all scripts are done.
    pub(super) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until all scripts are done.
    pub(super) fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Peer {
    /// Reads the next request's head, with its empty line.
    pub(super) fn head(&mut self) -> String {
        self.try_head().expect("a request comes")
    }

    /// The same; `None` if the connection ends before it.
    pub(super) fn try_head(&mut self) -> Option<String> {
        let mut buffer = [0; 4096];
        loop {
            if let Some(at) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                let rest = self.unread.split_off(at + 4);
                return Some(String::from_utf8(std::mem::replace(&mut self.unread, rest)).unwrap());
            }
            match self.socket.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// Reads so many bytes of a body.
    pub(super) fn body(&mut self, count: usize) -> String {
        let mut body = vec![0; count];
        let have = count.min(self.unread.len());
        body[..have].copy_from_slice(&self.unread[..have]);
        self.unread.drain(..have);
        self.socket.read_exact(&mut body[have..]).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// Sends text; a closed connection is ignored.
    pub(super) fn send(&mut self, text: &str) {
        let _ = self.socket.write_all(text.as_bytes());
    }

    /// Ends our side.
    pub(super) fn end(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Reads until the other side ends, and returns the bytes.
    pub(super) fn until_end(&mut self) -> &[u8] {
        let _ = self.socket.read_to_end(&mut self.unread);
        &self.unread
    }
}
