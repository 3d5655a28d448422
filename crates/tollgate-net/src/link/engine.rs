//! The loop of a link: sockets by epoll, time by a timerfd in the same epoll, one thread for all connections.
//!
//! Times are absolute, so a late wake-up delays only what was due then, and adds up to nothing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use socket2::{Domain, Protocol, Socket, Type};

use super::alarm::{Alarm, NO_TIME};
use super::connection::{FAR, HELD_BYTES_MAX, LinkConnection, NEAR, PolledSocket, Reach, Shared, Turn};
use super::counters::LinkCounters;
use super::pipe::Pipe;
use super::rope::BlockPool;
use super::spec::LinkSpec;
use super::times::{Line, Random, now_ns};

/// Connections open at once; the next ones wait in the listener's backlog.
const CONNECTIONS_MAX: usize = 20_000;
/// Connections accepted before the open ones have their turn.
const ACCEPTS_MAX: usize = 64;
/// Events taken at once.
const EVENTS_MAX: usize = 1024;
/// Time for the target to accept, in nanoseconds.
const REACH_WITHIN_NS: u64 = 10_000_000_000;
/// A machine that had no descriptor to spare is asked again after this time.
const ACCEPT_AGAIN_NS: u64 = 10_000_000;

const LISTENER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const COMMAND: u64 = u64::MAX - 2;

/// Control of the loop from other threads.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) counters: Arc<LinkCounters>,
    wake: OwnedFd,
    /// The time until which open connections may end by themselves; 0: stop now; the largest: run on.
    until_ns: AtomicU64,
}

/// A command to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Accept no more, and reset what is open then.
    DrainUntil(u64),
    /// Reset what is open.
    Stop,
}

/// The loop and all it knows.
#[derive(Debug)]
pub(super) struct Engine {
    control: Arc<Control>,
    epoll: OwnedFd,
    alarm: Alarm,
    /// Absent once it drains.
    listener: Option<TcpListener>,
    may_accept: bool,
    target: SocketAddr,
    spec: LinkSpec,
    lines: [Line; 2],
    windows: [usize; 2],
    pool: BlockPool,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// Slots that have something to do now.
    ready: VecDeque<usize>,
    starved: Vec<usize>,
    alarms: BinaryHeap<Reverse<(u64, Whom)>>,
}

/// A place for a connection. Its generation distinguishes late events of an earlier one.
#[derive(Debug, Default)]
struct Slot {
    connection: Option<LinkConnection>,
    generation: u32,
    is_ready: bool,
    alarm_ns: Option<u64>,
}

/// The owner of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    Slot(usize, u32),
    Listener,
    Drain,
}

impl Control {
    pub(super) fn new() -> io::Result<Control> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Control { counters: Arc::default(), wake, until_ns: AtomicU64::new(u64::MAX) })
    }

    pub(super) fn command(&self, command: Command) {
        let until_ns = match command {
            Command::DrainUntil(at_ns) => at_ns,
            Command::Stop => 0,
        };
        self.until_ns.fetch_min(until_ns, AcqRel);
        // It fails only when the counter is full, and then the loop is awake anyway.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }
}

impl Engine {
    pub(super) fn new(
        listener: TcpListener,
        target: SocketAddr,
        spec: &LinkSpec,
        control: Arc<Control>,
    ) -> io::Result<Engine> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let alarm = Alarm::new()?;
        // Edges only, as the alarm wants it.
        let edge = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), edge)?;
        epoll::add(&epoll, &alarm, EventData::new_u64(TIMER), edge)?;
        epoll::add(&epoll, &control.wake, EventData::new_u64(COMMAND), edge)?;
        let line = |delay| Line::new(delay, spec.jitter / 2, spec.rate_bytes_per_s);
        Ok(Engine {
            control,
            epoll,
            alarm,
            listener: Some(listener),
            may_accept: false,
            target,
            lines: [line(spec.delay_there), line(spec.delay_back)],
            windows: [spec.window(spec.delay_there), spec.window(spec.delay_back)],
            spec: spec.clone(),
            pool: BlockPool::default(),
            slots: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            starved: Vec::new(),
            alarms: BinaryHeap::new(),
        })
    }

    /// Runs until it gets the command to end.
    pub(super) fn run(mut self) {
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            self.ring();
            self.accept();
            self.turns();
            self.feed();
            if self.is_over() {
                break;
            }
            let timeout = if self.ready.is_empty() && self.arm() { None } else { Some(&NO_TIME) };
            match epoll::wait(&self.epoll, spare_capacity(&mut events), timeout) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => panic!("epoll on descriptors of our own: {error}"),
            }
            for event in events.drain(..) {
                self.note(event);
            }
        }
        for slot in 0..self.slots.len() {
            self.end(slot, End::Reset);
        }
    }

    /// Takes note of one event.
    fn note(&mut self, event: Event) {
        let (data, flags) = (event.data.u64(), event.flags);
        match data {
            LISTENER => self.may_accept = true,
            TIMER => self.alarm.fired(),
            COMMAND => self.heed(),
            _ => self.note_socket(data, flags),
        }
    }

    fn note_socket(&mut self, data: u64, flags: EventFlags) {
        let (index, generation, side) = place(data);
        let slot = &mut self.slots[index];
        if slot.generation != generation {
            return;
        }
        let Some(connection) = &mut slot.connection else { return };
        if side == FAR
            && let Reach::GiveUpAt(_) = connection.reach
            && let Some(far) = &connection.sides[FAR]
        {
            match far.socket.take_error() {
                Ok(None) if flags.contains(EventFlags::OUT) => connection.reach = Reach::Done,
                Ok(None) => {}
                _ => self.unreachable(index),
            }
        }
        let slot = &mut self.slots[index];
        if let Some(side) = slot.connection.as_mut().and_then(|connection| connection.sides[side].as_mut()) {
            side.note(flags);
        }
        self.wake(index);
    }

    fn heed(&mut self) {
        let mut drained = [0; 8];
        // Its only content is that it was written.
        let _ = rustix::io::read(&self.control.wake, &mut drained);
        let until_ns = self.control.until_ns.load(Acquire);
        if until_ns != u64::MAX && self.listener.take().is_some() {
            self.alarms.push(Reverse((until_ns, Whom::Drain)));
        }
    }

    fn is_over(&self) -> bool {
        if self.listener.is_some() {
            return false;
        }
        self.free.len() == self.slots.len() || self.control.until_ns.load(Acquire) <= now_ns()
    }

    /// Wakes whom the clock wakes.
    fn ring(&mut self) {
        if self.alarms.is_empty() {
            return;
        }
        let now_ns = now_ns();
        while let Some(Reverse((at_ns, whom))) = self.alarms.peek().copied()
            && at_ns <= now_ns
        {
            self.alarms.pop();
            match whom {
                Whom::Listener => self.may_accept = true,
                Whom::Drain => {}
                Whom::Slot(index, generation) => {
                    let slot = &mut self.slots[index];
                    // Another alarm may have been set before this one since.
                    if slot.generation == generation && slot.alarm_ns == Some(at_ns) {
                        slot.alarm_ns = None;
                        self.wake(index);
                    }
                }
            }
        }
    }

    /// Sets the timer so that the next alarm is not missed; says whether there is time to wait.
    fn arm(&mut self) -> bool {
        let next_ns = self.alarms.peek().map(|Reverse((alarm_ns, _))| *alarm_ns);
        self.alarm.set(next_ns)
    }

    /// Gives every ready connection its turn.
    fn turns(&mut self) {
        for _ in 0..self.ready.len() {
            let Some(index) = self.ready.pop_front() else { break };
            self.slots[index].is_ready = false;
            self.turn(index);
        }
    }

    fn turn(&mut self, index: usize) {
        self.reach(index);
        let slot = &mut self.slots[index];
        let Some(connection) = &mut slot.connection else { return };
        let mut shared = Shared {
            pool: &mut self.pool,
            lines: &mut self.lines,
            windows: self.windows,
            counters: &self.control.counters,
        };
        match connection.turn(&mut shared) {
            Turn::Over => self.end(index, End::Done),
            Turn::Again => self.wake(index),
            Turn::Starved => {
                self.starved.push(index);
                self.set_alarm(index);
            }
            Turn::Wait => self.set_alarm(index),
        }
    }

    /// Continues connections that waited for others to have fewer bytes, once they do.
    fn feed(&mut self) {
        if !self.starved.is_empty() && self.control.counters.held_bytes() < HELD_BYTES_MAX {
            for index in std::mem::take(&mut self.starved) {
                self.wake(index);
            }
        }
    }

    fn set_alarm(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(next_ns) = slot.connection.as_ref().and_then(LinkConnection::next_ns) else { return };
        if slot.alarm_ns.is_none_or(|alarm_ns| next_ns < alarm_ns) {
            slot.alarm_ns = Some(next_ns);
            self.alarms.push(Reverse((next_ns, Whom::Slot(index, slot.generation))));
        }
    }

    fn wake(&mut self, index: usize) {
        if !std::mem::replace(&mut self.slots[index].is_ready, true) {
            self.ready.push_back(index);
        }
    }

    fn accept(&mut self) {
        let mut accepted = 0;
        while self.may_accept && self.slots.len() - self.free.len() < CONNECTIONS_MAX {
            let Some(listener) = &self.listener else { return };
            if accepted == ACCEPTS_MAX {
                // The open ones first; an alarm that is due already brings the loop back here.
                self.alarms.push(Reverse((0, Whom::Listener)));
                return;
            }
            match listener.accept() {
                Ok((socket, _)) => {
                    accepted += 1;
                    self.enter(socket);
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => self.may_accept = false,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // No descriptor or no memory: nobody tells when there is some again.
                    _ => {
                        self.may_accept = false;
                        self.alarms.push(Reverse((now_ns() + ACCEPT_AGAIN_NS, Whom::Listener)));
                    }
                },
            }
        }
    }

    /// Gives an accepted socket a place.
    fn enter(&mut self, socket: TcpStream) {
        let counters = &self.control.counters;
        let number = counters.accepted.fetch_add(1, Relaxed);
        counters.open.fetch_add(1, Relaxed);
        let random = |way| Pipe::new(Random::new(self.spec.seed, number, way));
        let ways = [random(NEAR), random(FAR)];
        let at_ns = now_ns().saturating_add(super::times::whole_ns(self.spec.delay_there));
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        let side = PolledSocket::new(socket);
        let ready = side
            .socket
            .set_nonblocking(true)
            .and_then(|()| register(&self.epoll, &side, data(index, slot.generation, NEAR)));
        slot.connection = Some(LinkConnection { sides: [Some(side), None], ways, reach: Reach::BeginAt(at_ns) });
        match ready {
            Ok(()) => self.wake(index),
            Err(_) => self.end(index, End::Reset),
        }
    }

    /// Connects to the target when it is time, and gives it up when it took too long.
    fn reach(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let Some(connection) = &mut slot.connection else { return };
        match connection.reach {
            Reach::BeginAt(at_ns) if at_ns <= now_ns() => {
                let begun = connect(self.target).and_then(|socket| {
                    let side = PolledSocket::new(socket);
                    register(&self.epoll, &side, data(index, slot.generation, FAR))?;
                    Ok(side)
                });
                match begun {
                    Ok(side) => {
                        connection.sides[FAR] = Some(side);
                        connection.reach = Reach::GiveUpAt(now_ns() + REACH_WITHIN_NS);
                    }
                    Err(_) => self.unreachable(index),
                }
            }
            Reach::GiveUpAt(at_ns) if at_ns <= now_ns() => self.unreachable(index),
            _ => {}
        }
    }

    fn unreachable(&mut self, index: usize) {
        let Some(connection) = &mut self.slots[index].connection else { return };
        connection.unreachable(&mut Shared {
            pool: &mut self.pool,
            lines: &mut self.lines,
            windows: self.windows,
            counters: &self.control.counters,
        });
    }

    /// Frees a place. Closing the sockets takes them out of epoll.
    fn end(&mut self, index: usize, end: End) {
        let slot = &mut self.slots[index];
        let Some(mut connection) = slot.connection.take() else { return };
        if end == End::Reset {
            connection.reset(&mut Shared {
                pool: &mut self.pool,
                lines: &mut self.lines,
                windows: self.windows,
                counters: &self.control.counters,
            });
        }
        slot.generation = slot.generation.wrapping_add(1) & GENERATION_MAX;
        slot.alarm_ns = None;
        self.free.push(index);
        self.control.counters.open.fetch_sub(1, Relaxed);
    }
}

/// The ways in which a place becomes free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// By the end of its connection.
    Done,
    /// By a reset of ours.
    Reset,
}

/// Generations that fit beside slot and side.
const GENERATION_MAX: u32 = (1 << 30) - 1;

fn data(index: usize, generation: u32, side: usize) -> u64 {
    (u64::from(generation) << 33) | ((index as u64) << 1) | side as u64
}

fn place(data: u64) -> (usize, u32, usize) {
    ((data >> 1) as u32 as usize, (data >> 33) as u32, (data & 1) as usize)
}

fn register(epoll: &OwnedFd, side: &PolledSocket, data: u64) -> io::Result<()> {
    let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
    Ok(epoll::add(epoll, &side.socket, EventData::new_u64(data), flags)?)
}

/// Begins to connect; epoll reports the result.
fn connect(target: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(target), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&target.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
        Err(error) => return Err(error),
    }
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_finds_its_place_again() {
        let check = |index: usize, generation: u32, side: usize| {
            let data = data(index, generation, side);
            assert_eq!(place(data), (index, generation, side));
            assert!(data < COMMAND);
        };
        check(0, 0, NEAR);
        check(0, 0, FAR);
        check(CONNECTIONS_MAX, GENERATION_MAX, FAR);
        check(u32::MAX as usize, GENERATION_MAX, FAR);
    }
}
