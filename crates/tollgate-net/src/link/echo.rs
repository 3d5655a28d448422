//! A server that sends back what it gets: what a link is measured against.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::JoinHandle;

use crate::listen::{ListenOptions, listen};

/// Connections at once; what comes beyond them is closed.
const CONNECTIONS_MAX: usize = 64;
/// Bytes sent back at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// An echo that runs. It accepts no more once this value is gone; connections end with their clients.
#[derive(Debug)]
pub struct Echo {
    address: SocketAddr,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Echo {
    /// Listens at `address`; port 0 takes any free one.
    ///
    /// # Errors
    /// The system's error about the address.
    pub fn start(address: SocketAddr) -> io::Result<Echo> {
        let listener = listen(&ListenOptions::new(address))?.pop().expect("one thread has one listener");
        listener.set_nonblocking(false)?;
        let address = listener.local_addr()?;
        let is_ending = Arc::new(AtomicBool::new(false));
        let ending = Arc::clone(&is_ending);
        let thread = std::thread::Builder::new().name("echo".to_owned()).spawn(move || accept(&listener, &ending))?;
        Ok(Echo { address, is_ending, thread: Some(thread) })
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.is_ending.store(true, SeqCst);
        // A connection of our own ends the accept; where none can be made, the thread is left to the process's end.
        if TcpStream::connect(self.address).is_ok()
            && let Some(thread) = self.thread.take()
        {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, is_ending: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for socket in listener.incoming() {
        if is_ending.load(SeqCst) {
            return;
        }
        let Ok(socket) = socket else { continue };
        if open.load(SeqCst) >= CONNECTIONS_MAX {
            continue;
        }
        open.fetch_add(1, SeqCst);
        let counted = Arc::clone(&open);
        let spawned = std::thread::Builder::new().name("echo".to_owned()).spawn(move || {
            // Whatever broke it, its client knows.
            let _ = send_back(socket);
            counted.fetch_sub(1, SeqCst);
        });
        if spawned.is_err() {
            open.fetch_sub(1, SeqCst);
        }
    }
}

fn send_back(mut socket: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let bytes = socket.read(&mut buffer)?;
        if bytes == 0 {
            return socket.shutdown(std::net::Shutdown::Write);
        }
        socket.write_all(&buffer[..bytes])?;
    }
}
