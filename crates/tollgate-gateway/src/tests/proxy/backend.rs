//! A backend that does as a test says: a script for each connection, in the order in which they come.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tollgate_net::listen::Reserved;

/// Longer than any test should take: a guard against hanging, not a measure.
const GUARD: Duration = Duration::from_secs(30);

/// What is done with one connection.
pub(super) type Script = Box<dyn FnOnce(&mut Peer) + Send>;

/// A backend.
pub(super) struct Backend {
    pub(super) address: SocketAddr,
    thread: Option<JoinHandle<()>>,
    /// Whoever asks for it once it is gone finds nobody, and no other test's server.
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

/// A script that answers each request with the same, until the connection ends.
pub(super) fn always(answer: impl Into<String>) -> Script {
    let answer = answer.into();
    script(move |peer| {
        while peer.try_head().is_some() {
            peer.send(&answer);
        }
    })
}

/// A script that answers each request with what `reply` makes of its head, until the connection ends.
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

/// A backend that says when it was asked, and answers `late` once it is told to.
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
    /// Listens, and takes as many connections as there are scripts.
    pub(super) fn start(scripts: Vec<Script>) -> Backend {
        Backend::away().back(scripts)
    }

    /// Another one at the address of this one, once that is done.
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

    /// One that nobody listens at.
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
    /// The next request's head, with its empty line.
    pub(super) fn head(&mut self) -> String {
        self.try_head().expect("a request comes")
    }

    /// The same; `None` where the connection ends before it.
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

    /// So many bytes of a body.
    pub(super) fn body(&mut self, count: usize) -> String {
        let mut body = vec![0; count];
        let have = count.min(self.unread.len());
        body[..have].copy_from_slice(&self.unread[..have]);
        self.unread.drain(..have);
        self.socket.read_exact(&mut body[have..]).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// Says something, to whoever is still there.
    pub(super) fn send(&mut self, text: &str) {
        let _ = self.socket.write_all(text.as_bytes());
    }

    /// Ends our side.
    pub(super) fn end(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    /// Reads until the other side ends, and returns what came.
    pub(super) fn until_end(&mut self) -> &[u8] {
        let _ = self.socket.read_to_end(&mut self.unread);
        &self.unread
    }
}
