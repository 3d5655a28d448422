//! The emulated line: two network namespaces, and between them packets that take their time.
//!
//! [`Tun::open`] makes a namespace called near and one called far, each with a TUN device, and moves every packet from
//! one to the other when a line of that length would have delivered it; packets may get lost, overtake each other, and
//! queue for a rate. Both ends speak TCP with each other, not with the line: the handshake takes a round trip, a fresh
//! connection starts slowly, and what is lost is sent again. Packets have at most 1500 bytes and no offloads, so
//! segments are counted truly.
//!
//! The rate is kept by the line itself, as a router on the way would, by a queue of bounded bytes. The kernel's token
//! bucket (TBF) on the sender's own device is deliberately not used: the sender's TCP sees that queue (it may keep only
//! a few packets in it), waits, and never loses one, which no distant bottleneck would grant it.
//!
//! It needs root. Only file descriptors keep the namespaces, so they end with this process and the processes in them.
//! Each has its own ports, firewall rules and loopback interface; files are shared.

mod counters;
mod engine;
mod listening;
mod namespace;
mod netlink;
mod spec;
mod verify;
mod way;

use std::io;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::thread::set_current_timer_slack;

pub use counters::{TunCounters, WayCounters};
pub use listening::Listening;
pub use namespace::Door;
pub use spec::{LOSS_MAX, REORDER_MAX, TunSpec, TunSpecError};
pub use verify::{ANSWER_BYTES, FarEcho, TunVerified, verify_tun};

use engine::{Control, Engine};

/// Bytes of a packet at most, as on Ethernet.
pub const MTU_BYTES: usize = 1500;
/// Name of the device in each namespace.
const DEVICE: &str = "line";

/// One end of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client's end.
    Near,
    /// The server's end.
    Far,
}

impl Side {
    /// Its address, in its own namespace and from the other one. It lies in 127.0.0.0/8, so that programs that serve or
    /// load only this machine do so here; 127.0.0.1 is each namespace's own.
    #[must_use]
    pub fn address(self) -> Ipv4Addr {
        match self {
            Side::Near => Ipv4Addr::new(127, 77, 0, 1),
            Side::Far => Ipv4Addr::new(127, 77, 0, 2),
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Near => "near",
            Side::Far => "far",
        }
    }
}

/// A line that runs, with its two namespaces. It ends with this value.
#[derive(Debug)]
pub struct Tun {
    doors: [Door; 2],
    control: Arc<Control>,
    /// The current properties of the line.
    now: Mutex<TunSpec>,
    thread: Option<JoinHandle<()>>,
}

impl Tun {
    /// Makes both namespaces and starts the line between them on a thread of its own.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a line that cannot be, [`io::ErrorKind::PermissionDenied`] without the
    /// rights of root, [`io::ErrorKind::Unsupported`] where the kernel has no TUN devices.
    ///
    /// # Example
    /// ```no_run
    /// use std::net::{TcpListener, TcpStream};
    /// use std::time::Duration;
    /// use tollgate_net::link::{Side, Tun, TunSpec};
    ///
    /// let line = Tun::open(&TunSpec::of_round_trip(Duration::from_millis(20)))?;
    /// let server = line.door(Side::Far).within(|| TcpListener::bind((Side::Far.address(), 8080)))??;
    /// // Takes 20 ms: a handshake is a round trip.
    /// let client = line.door(Side::Near).within(|| TcpStream::connect((Side::Far.address(), 8080)))??;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn open(spec: &TunSpec) -> io::Result<Tun> {
        Tun::open_on(spec, || ())
    }

    /// The same, with `prepare` called first on the line's thread, for example to pin it to a core of its own.
    ///
    /// # Errors
    /// As [`Tun::open`].
    pub fn open_on(spec: &TunSpec, prepare: impl FnOnce() + Send + 'static) -> io::Result<Tun> {
        spec.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let (near, far) = (Side::Near.address(), Side::Far.address());
        let (near_door, near_device) = namespace::make(near, far)?;
        let (far_door, far_device) = namespace::make(far, near)?;
        let control = Arc::new(Control::new()?);
        let engine = Engine::new([near_device, far_device], spec, Arc::clone(&control))?;
        let thread = std::thread::Builder::new().name("line".to_owned()).spawn(move || {
            // A timer may be late by 50 µs else where it is not a timerfd; where this is refused, that is so.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            prepare();
            engine.run();
        })?;
        Ok(Tun { doors: [near_door, far_door], control, now: Mutex::new(spec.clone()), thread: Some(thread) })
    }

    /// The way into one of its namespaces.
    #[must_use]
    pub fn door(&self, side: Side) -> &Door {
        match side {
            Side::Near => &self.doors[0],
            Side::Far => &self.doors[1],
        }
    }

    /// Moves the calling thread to one end, for good: what it connects, listens at and spawns from now on is there.
    ///
    /// # Errors
    /// As [`Door::enter`].
    pub fn enter(&self, side: Side) -> io::Result<()> {
        self.door(side).enter()
    }

    /// Makes it another line from now on, in the same namespaces: connections stay, and what is under way arrives when
    /// it was to. Nothing changes where it is that line already.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a line that cannot be.
    pub fn change(&self, spec: &TunSpec) -> io::Result<()> {
        spec.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != *spec {
            self.control.change(spec)?;
            now.clone_from(spec);
        }
        Ok(())
    }

    /// Its counters so far.
    #[must_use]
    pub fn counters(&self) -> &Arc<TunCounters> {
        &self.control.counters
    }
}

impl Drop for Tun {
    fn drop(&mut self) {
        self.control.end();
        if let Some(thread) = self.thread.take() {
            // A panic on that thread was printed there; here nothing is left to do about it.
            let _ = thread.join();
        }
    }
}
