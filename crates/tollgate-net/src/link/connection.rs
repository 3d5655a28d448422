//! One connection through the link: two sockets, a way between them in each direction, and the order of moves.
//!
//! It deliberately waits for nothing: the engine reports that a socket is ready or that time has passed.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use socket2::SockRef;

use super::counters::LinkCounters;
use super::pipe::Pipe;
use super::rope::BlockPool;
use super::times::{Line, now_ns};

/// The side of the client.
pub(super) const NEAR: usize = 0;
/// The side of the target.
pub(super) const FAR: usize = 1;

/// Bytes that one connection moves before the others have their turn.
const TURN_BYTES_MAX: usize = 1024 * 1024;
/// Most bytes of all connections together; beyond it each may have [`RESERVE_BYTES`] each way, so that none is stuck.
pub(super) const HELD_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes that every way may always have, independent of the others.
const RESERVE_BYTES: usize = 8 * 1024;

/// Shared state of all connections of a link.
#[derive(Debug)]
pub(super) struct Shared<'a> {
    pub(super) pool: &'a mut BlockPool,
    /// The two ways: there and back.
    pub(super) lines: &'a mut [Line; 2],
    /// The windows of the two ways.
    pub(super) windows: [usize; 2],
    pub(super) counters: &'a LinkCounters,
}

/// A connection. The way with the index of a side begins at that side.
#[derive(Debug)]
pub(super) struct LinkConnection {
    /// The far side is absent until it is time to connect.
    pub(super) sides: [Option<PolledSocket>; 2],
    pub(super) ways: [Pipe; 2],
    pub(super) reach: Reach,
}

/// State of the connection to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// To be begun at this time.
    BeginAt(u64),
    /// Under way, given up then.
    GiveUpAt(u64),
    /// There, or given up.
    Done,
}

/// One socket with its known state.
#[derive(Debug)]
pub(super) struct PolledSocket {
    pub(super) socket: TcpStream,
    readable: bool,
    writable: bool,
    /// The peer has ended: reads go on until they find it.
    hung_up: bool,
    broken: bool,
}

/// The task that is left after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// To wait for a socket or for the clock.
    Wait,
    /// To wait until others have fewer bytes.
    Starved,
    /// To go on as soon as the others had their turn.
    Again,
    /// Nothing: both sides have ended, or one was reset.
    Over,
}

impl PolledSocket {
    /// A socket with unknown state.
    pub(super) fn new(socket: TcpStream) -> PolledSocket {
        PolledSocket { socket, readable: false, writable: false, hung_up: false, broken: false }
    }

    /// Takes note of what epoll said.
    pub(super) fn note(&mut self, flags: EventFlags) {
        let ended = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        self.hung_up |= ended;
        self.readable |= ended || flags.contains(EventFlags::IN);
        self.writable |= flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR);
    }
}

impl LinkConnection {
    /// Moves what can be moved now.
    pub(super) fn turn(&mut self, shared: &mut Shared<'_>) -> Turn {
        let mut left = TURN_BYTES_MAX;
        loop {
            let now_ns = now_ns();
            let (mut moved, mut is_starved) = (0, false);
            for way in [NEAR, FAR] {
                match self.read(way, shared, now_ns) {
                    Read::Some(bytes) => moved += bytes,
                    Read::Nothing => {}
                    Read::Starved => is_starved = true,
                }
                moved += self.write(way, shared, now_ns);
            }
            if self.ways.iter().any(|way| way.is_reset(now_ns)) {
                self.reset(shared);
                return Turn::Over;
            }
            if self.ways.iter().all(Pipe::is_over) {
                return Turn::Over;
            }
            left = left.saturating_sub(moved);
            if moved == 0 {
                return if is_starved { Turn::Starved } else { Turn::Wait };
            }
            if left == 0 {
                return Turn::Again;
            }
        }
    }

    /// The target cannot be reached: the client hears of it one way later.
    pub(super) fn unreachable(&mut self, shared: &mut Shared<'_>) {
        self.reach = Reach::Done;
        shared.counters.unreachable.fetch_add(1, Relaxed);
        self.lose(FAR, shared);
    }

    /// The time of the next change that time alone makes.
    pub(super) fn next_ns(&self) -> Option<u64> {
        let reach = match self.reach {
            Reach::BeginAt(at_ns) | Reach::GiveUpAt(at_ns) => Some(at_ns),
            Reach::Done => None,
        };
        // What waits for the target to accept does not wait for the clock.
        let there = self.ways[NEAR].due_next_ns().filter(|_| self.reach == Reach::Done);
        let back = self.ways[FAR].due_next_ns();
        let resets = self.ways.iter().map(Pipe::reset_ns);
        [reach, there, back].into_iter().chain(resets).flatten().min()
    }

    /// Ends both sides with a reset and gives back the bytes under way.
    pub(super) fn reset(&mut self, shared: &mut Shared<'_>) {
        shared.counters.resets.fetch_add(1, Relaxed);
        for way in [NEAR, FAR] {
            self.forget(way, shared);
        }
        for side in self.sides.iter().flatten() {
            // A socket that is already gone cannot be reset, which is as good.
            let _ = SockRef::from(&side.socket).set_linger(Some(Duration::ZERO));
        }
    }

    fn read(&mut self, way: usize, shared: &mut Shared<'_>, now_ns: u64) -> Read {
        let Some(side) = self.sides[way].as_mut().filter(|side| side.readable && !side.broken) else {
            return Read::Nothing;
        };
        let pipe = &mut self.ways[way];
        let mut room = pipe.room(shared.windows[way]);
        if !pipe.is_open() || room == 0 {
            return Read::Nothing;
        }
        if shared.counters.held_bytes.load(Relaxed) >= HELD_BYTES_MAX {
            room = room.min(RESERVE_BYTES.saturating_sub(pipe.rope.bytes()));
            if room == 0 {
                return Read::Starved;
            }
        }
        match pipe.rope.fill(shared.pool, room, &mut side.socket) {
            Ok(moved) if moved.bytes == 0 => {
                side.readable = false;
                pipe.ended(&mut shared.lines[way], now_ns);
                Read::Nothing
            }
            Ok(moved) => {
                // A short read has emptied the socket, but an end that came with it is not told a second time.
                side.readable = !moved.is_short || side.hung_up;
                shared.counters.held_bytes.fetch_add(moved.bytes as u64, Relaxed);
                pipe.arrived(&mut shared.lines[way], now_ns, moved.bytes);
                Read::Some(moved.bytes)
            }
            Err(error) => {
                match error.kind() {
                    ErrorKind::WouldBlock => side.readable = false,
                    ErrorKind::Interrupted => {}
                    _ => self.lose(way, shared),
                }
                Read::Nothing
            }
        }
    }

    /// Passes on what is due; says how many bytes.
    fn write(&mut self, way: usize, shared: &mut Shared<'_>, now_ns: u64) -> usize {
        let pipe = &mut self.ways[way];
        let to = 1 - way;
        let Some(side) = self.sides[to].as_mut().filter(|side| !side.broken) else { return 0 };
        let is_reachable = to == NEAR || self.reach == Reach::Done;
        let mut due = pipe.due_bytes(now_ns, shared.counters);
        let mut passed_on = 0;
        while due > 0 && side.writable && is_reachable {
            match pipe.rope.empty(shared.pool, due, &mut side.socket) {
                Ok(moved) => {
                    side.writable = !moved.is_short;
                    pipe.passed_on(moved.bytes);
                    due -= moved.bytes;
                    passed_on += moved.bytes;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => side.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.lose(to, shared);
                    return passed_on;
                }
            }
        }
        if passed_on > 0 {
            shared.counters.held_bytes.fetch_sub(passed_on as u64, Relaxed);
            shared.counters.bytes[way].fetch_add(passed_on as u64, Relaxed);
        }
        if is_reachable && pipe.take_end(now_ns) && end_of_writing(side).is_err() {
            self.lose(to, shared);
        }
        passed_on
    }

    /// Marks this side's socket as broken: nothing goes there any more, and the other side hears of it one way later.
    fn lose(&mut self, side: usize, shared: &mut Shared<'_>) {
        if let Some(side) = &mut self.sides[side] {
            side.broken = true;
        }
        self.forget(1 - side, shared);
        self.ways[side].reset(&mut shared.lines[side], now_ns());
    }

    fn forget(&mut self, way: usize, shared: &mut Shared<'_>) {
        let pipe = &mut self.ways[way];
        shared.counters.held_bytes.fetch_sub(pipe.rope.bytes() as u64, Relaxed);
        pipe.abandon(shared.pool);
    }
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Some(usize),
    Nothing,
    Starved,
}

fn end_of_writing(side: &PolledSocket) -> io::Result<()> {
    match side.socket.shutdown(std::net::Shutdown::Write) {
        // The peer has ended everything already, and wants no end of ours.
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
        other => other,
    }
}
