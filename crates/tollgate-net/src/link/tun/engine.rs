//! The loop of the line: packets of both ways on one thread, read from one device and written to the other when it is
//! time.
//!
//! Times are absolute, so a late wake-up delays only what was due then, and adds up to nothing.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::MTU_BYTES;
use super::counters::TunCounters;
use super::spec::TunSpec;
use super::way::{Fate, Way};
use crate::link::alarm::Alarm;
use crate::link::times;

/// Packets of one way that are read before the other has its turn.
const READS_MAX: usize = 64;

/// The loop takes note of a change between two packets: a longer wait is in vain.
const CHANGE_WITHIN: Duration = Duration::from_secs(5);

const TIMER: u64 = 2;
const COMMAND: u64 = 3;

/// Control of the loop from other threads.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) counters: Arc<TunCounters>,
    wake: OwnedFd,
    is_ending: AtomicBool,
    /// The requested new properties of the line, and the channel that confirms them.
    change: Mutex<Option<(TunSpec, Sender<()>)>>,
    is_changing: AtomicBool,
}

impl Control {
    pub(super) fn new() -> io::Result<Control> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control {
            counters: Arc::default(),
            wake,
            is_ending: AtomicBool::new(false),
            change: Mutex::default(),
            is_changing: AtomicBool::new(false),
        })
    }

    pub(super) fn end(&self) {
        self.is_ending.store(true, Release);
        self.call();
    }

    /// Makes the line another one and waits until it is.
    pub(super) fn change(&self, spec: &TunSpec) -> io::Result<()> {
        let (tell, told) = channel();
        *self.change.lock().unwrap_or_else(PoisonError::into_inner) = Some((spec.clone(), tell));
        self.is_changing.store(true, Release);
        self.call();
        told.recv_timeout(CHANGE_WITHIN)
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the line's thread does not answer"))
    }

    fn call(&self) {
        // It fails only when the counter is full, and then the loop is awake anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

/// The loop and all it knows. The devices go with it.
#[derive(Debug)]
pub(super) struct Engine {
    control: Arc<Control>,
    epoll: OwnedFd,
    alarm: Alarm,
    /// Near and far.
    devices: [OwnedFd; 2],
    /// There (from near) and back (from far).
    ways: [Way; 2],
    store: Store,
}

/// Packets under way and the memory for more: a packet's memory is used again for another one.
#[derive(Debug, Default)]
struct Store {
    #[expect(clippy::vec_box, reason = "packets are not copied when there are more: 100 MB would hold the line up")]
    packets: Vec<Box<Packet>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Packet {
    length: usize,
    bytes: [u8; MTU_BYTES],
}

/// Whether a way has been read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Dry,
    Flowing,
}

impl Engine {
    pub(super) fn new(devices: [OwnedFd; 2], spec: &TunSpec, control: Arc<Control>) -> io::Result<Engine> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let alarm = Alarm::new()?;
        // Edges only: devices are read until they are dry before anybody waits, and the alarm wants it so.
        let edge = EventFlags::IN | EventFlags::ET;
        for (number, device) in (0..).zip(&devices) {
            epoll::add(&epoll, device, EventData::new_u64(number), edge)?;
        }
        epoll::add(&epoll, &alarm, EventData::new_u64(TIMER), edge)?;
        epoll::add(&epoll, &control.wake, EventData::new_u64(COMMAND), edge)?;
        Ok(Engine {
            control,
            epoll,
            alarm,
            devices,
            ways: [Way::new(spec, 0), Way::new(spec, 1)],
            store: Store::default(),
        })
    }

    /// Runs until it gets the command to end. Packets under way are then lost.
    pub(super) fn run(mut self) {
        let mut events = Vec::with_capacity(8);
        while !self.control.is_ending.load(Acquire) {
            if self.control.is_changing.swap(false, AcqRel) {
                self.change();
            }
            let mut is_dry = true;
            for way in 0..2 {
                is_dry &= self.read(way) == Reading::Dry;
                self.release(way);
            }
            if !is_dry || !self.arm() {
                continue;
            }
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => panic!("epoll on descriptors of our own: {error}"),
            }
            for event in events.drain(..) {
                self.note(event);
            }
        }
    }

    fn change(&mut self) {
        let asked = self.control.change.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((spec, tell)) = asked else { return };
        for (number, way) in self.ways.iter_mut().enumerate() {
            way.change(&spec, number);
        }
        // Whoever asked may have given up waiting.
        let _ = tell.send(());
    }

    fn note(&mut self, event: Event) {
        if event.data.u64() == TIMER {
            self.alarm.fired();
        }
    }

    /// Takes the received packets of one end.
    fn read(&mut self, way: usize) -> Reading {
        let counters = self.control.counters.way(way);
        for _ in 0..READS_MAX {
            let place = self.store.take();
            let packet = &mut self.store.packets[place as usize];
            let length = match rustix::io::read(&self.devices[way], &mut packet.bytes[..]) {
                Ok(length) => length,
                Err(Errno::INTR) => {
                    self.store.free.push(place);
                    continue;
                }
                // Nothing more now; or the device is down, and then nothing more ever.
                Err(_) => {
                    self.store.free.push(place);
                    return Reading::Dry;
                }
            };
            packet.length = length;
            let at_ns = match self.ways[way].arrived(times::now_ns(), length) {
                Fate::Released(at_ns) => at_ns,
                Fate::Overtaken(at_ns) => {
                    counters.overtaken.fetch_add(1, Relaxed);
                    at_ns
                }
                Fate::Lost => {
                    counters.lost.fetch_add(1, Relaxed);
                    self.store.free.push(place);
                    continue;
                }
                Fate::Dropped => {
                    counters.dropped.fetch_add(1, Relaxed);
                    self.store.free.push(place);
                    continue;
                }
            };
            self.ways[way].hold(at_ns, place);
            counters.held_packets.fetch_add(1, Relaxed);
            let held_bytes = counters.held_bytes.fetch_add(length as u64, Relaxed) + length as u64;
            counters.held_bytes_max.fetch_max(held_bytes, Relaxed);
        }
        Reading::Flowing
    }

    /// Hands out at the other end what is due.
    fn release(&mut self, way: usize) {
        if self.ways[way].next_ns().is_none() {
            return;
        }
        let counters = &self.control.counters;
        let mut now_ns = times::now_ns();
        for _ in 0..READS_MAX {
            let Some((due_ns, place)) = self.ways[way].due(now_ns) else { return };
            let packet = &self.store.packets[place as usize];
            let bytes = packet.length as u64;
            let taken = loop {
                match rustix::io::write(&self.devices[1 - way], &packet.bytes[..packet.length]) {
                    Err(Errno::INTR) => {}
                    other => break other.is_ok(),
                }
            };
            self.store.free.push(place);
            counters.released(now_ns - due_ns);
            let way = counters.way(way);
            if taken {
                way.packets.fetch_add(1, Relaxed);
                way.bytes.fetch_add(bytes, Relaxed);
            } else {
                way.refused.fetch_add(1, Relaxed);
            }
            way.held_packets.fetch_sub(1, Relaxed);
            way.held_bytes.fetch_sub(bytes, Relaxed);
            now_ns = times::now_ns();
        }
    }

    /// Sets the timer so that the next release is not missed; says whether there is time to wait.
    fn arm(&mut self) -> bool {
        let next_ns = self.ways.iter().filter_map(Way::next_ns).min();
        self.alarm.set(next_ns)
    }
}

impl Store {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let place = u32::try_from(self.packets.len()).expect("packets under way are bounded");
            self.packets.push(Box::new(Packet { length: 0, bytes: [0; MTU_BYTES] }));
            place
        })
    }
}
