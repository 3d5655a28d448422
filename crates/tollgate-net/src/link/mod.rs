//! The emulated link: a TCP proxy that delays every byte for as long as the network between two places would.
//!
//! A [`LinkSpec`] is the distance of the two places: the delay of each way, jitter, a rate, and the most bytes under
//! way. Bytes are released at absolute times by a timer of the kernel (timerfd) on a thread of the link's own, since
//! the timers of the runtime add about 2 ms to every round trip. Order is kept, the end of a side is passed on after
//! its bytes, a reset is passed on as a reset, and the sender feels a slow reader.
//!
//! A proxy cannot show the handshake of TCP and its slow start. Both ends speak TCP with this machine, so a connection
//! is there at once and its first bytes leave in one burst: 100 kB on a fresh connection at 5 ms one way take 10.6 ms
//! through a proxy and 51 ms through a real line, such as a [`Tun`], which needs root. Packets are never lost. The link
//! connects to its target one way after it has accepted, so that the target sees a connection no earlier than it would.

mod accuracy;
mod alarm;
mod connection;
mod counters;
mod echo;
mod engine;
mod measure;
mod mode;
mod pipe;
mod rope;
mod spec;
pub(crate) mod times;
mod tun;
mod verify;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use accuracy::{Accuracy, Added, accuracy};
pub use counters::LinkCounters;
pub use echo::Echo;
pub use measure::{RoundTrips, round_trips, throughput};
pub use mode::LinkMode;
pub use spec::{DELAY_MAX, LinkSpec, SpecError, WINDOW_BYTES_MAX, WINDOW_BYTES_MIN};
pub use tun::{
    ANSWER_BYTES, Door, FarEcho, LOSS_MAX, Listening, MTU_BYTES, REORDER_MAX, Side, Tun, TunCounters, TunSpec,
    TunSpecError, TunVerified, WayCounters, verify_tun,
};
pub use verify::{Effort, Verified, through, verify};

use crate::listen::{ListenOptions, listen};
use engine::{Command, Control, Engine};

/// A link that runs. It ends with this value.
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Starts a link on a thread of its own: who connects to `listen` (port 0 takes any free one) talks to `target`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a link that cannot be, else what the system says of the address.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use tollgate_net::link::{Echo, Link, LinkSpec};
    ///
    /// let any = "127.0.0.1:0".parse().expect("an address");
    /// let echo = Echo::start(any)?;
    /// let link = Link::start(any, echo.address(), &LinkSpec::of_round_trip(Duration::from_millis(20)))?;
    /// println!("20 ms away: {}", link.address());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start(address: SocketAddr, target: SocketAddr, spec: &LinkSpec) -> io::Result<Link> {
        Link::start_on(address, target, spec, || ())
    }

    /// The same, with `prepare` called first on the link's thread, for example to pin it to a core of its own.
    ///
    /// # Errors
    /// As [`Link::start`].
    pub fn start_on(
        address: SocketAddr,
        target: SocketAddr,
        spec: &LinkSpec,
        prepare: impl FnOnce() + Send + 'static,
    ) -> io::Result<Link> {
        let listener = listen(&ListenOptions::new(address))?.pop().expect("one thread has one listener");
        Link::start_with(listener, target, spec, prepare)
    }

    /// The same with a listener of [`listen`](crate::listen::listen), which may be in another network namespace than
    /// the target: the link connects from where this is called.
    ///
    /// # Errors
    /// As [`Link::start`].
    pub fn start_with(
        listener: TcpListener,
        target: SocketAddr,
        spec: &LinkSpec,
        prepare: impl FnOnce() + Send + 'static,
    ) -> io::Result<Link> {
        spec.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let address = listener.local_addr()?;
        let control = Arc::new(Control::new()?);
        let engine = Engine::new(listener, target, spec, Arc::clone(&control))?;
        let thread = std::thread::Builder::new().name("link".to_owned()).spawn(move || {
            prepare();
            engine.run();
        })?;
        Ok(Link { address, control, thread: Some(thread) })
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its counters so far.
    #[must_use]
    pub fn counters(&self) -> &LinkCounters {
        &self.control.counters
    }

    /// Accepts no more, gives the open connections time to end by themselves, and resets those that did not. Its
    /// counters are left.
    pub fn drain(mut self, within: Duration) -> Arc<LinkCounters> {
        self.end(Command::DrainUntil(times::now_ns().saturating_add(times::whole_ns(within))));
        Arc::clone(&self.control.counters)
    }

    /// Resets open connections and ends. Its counters are left.
    pub fn stop(mut self) -> Arc<LinkCounters> {
        self.end(Command::Stop);
        Arc::clone(&self.control.counters)
    }

    fn end(&mut self, command: Command) {
        self.control.command(command);
        if let Some(thread) = self.thread.take() {
            // A panic on that thread was printed there; here nothing is left to do about it.
            let _ = thread.join();
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(Command::Stop);
        }
    }
}
