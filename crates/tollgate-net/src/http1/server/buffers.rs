//! The memory of an exchange, lent to a connection while it has something to do and given back while it waits.
//!
//! Last given, first lent: a few sets serve any number of connections and stay in the processor's cache.

use super::super::head::{RequestHead, ResponseHead};
use super::response::Response;

/// Size of a fresh read buffer, in bytes; heads of real clients stay far below it.
const INPUT_BYTES: usize = 16 * 1024;

/// A buffer beyond this is cut back when its set is given back, unless few sets lie in the pool.
const BUFFER_BYTES_KEPT: usize = 16 * 1024;

/// The sets lent most often may keep larger buffers: list answers would else be allocated and zeroed anew each time.
const LARGE_BYTES_KEPT: usize = 256 * 1024;

/// Number of sets that may keep them.
const LARGE_SETS_KEPT: usize = 4;

/// Sets kept for the next connection with all their memory.
const WHOLE_SETS_KEPT: usize = 64;

/// Sets kept altogether. Those beyond the whole ones have but what the copies of heads take, about 2 KiB: as many
/// exchanges as wait for backends end at once, and others begin.
const SETS_KEPT: usize = 1024;

/// Memory that each buffer of a set without memory may keep, in bytes.
const SMALL_BYTES_KEPT: usize = 2 * 1024;

/// About how many bytes an exchange takes that waits for a work process: a fresh set with a head of the usual size.
pub(crate) const WAITING_BYTES: usize = INPUT_BYTES + 2 * SMALL_BYTES_KEPT;

/// Bytes that a pool keeps at most. Of a set that is the sum for input and output, and the two heads beside it.
pub(crate) const POOL_BYTES_MAX: usize = {
    let heads = 3 * BUFFER_BYTES_KEPT;
    let large = LARGE_SETS_KEPT * (2 * (2 * LARGE_BYTES_KEPT) + heads);
    let whole = (WHOLE_SETS_KEPT - LARGE_SETS_KEPT) * (2 * (2 * BUFFER_BYTES_KEPT) + heads);
    large + whole + (SETS_KEPT - WHOLE_SETS_KEPT) * 3 * SMALL_BYTES_KEPT
};

/// The buffers of one exchange.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) input: Input,
    pub(crate) head: RequestHead,
    pub(crate) response: Response,
    /// The rendered head, and small bodies behind it.
    pub(crate) output: Vec<u8>,
    /// The bytes for a backend, kept for as long as they may have to be sent again.
    pub(crate) outbound: Vec<u8>,
    /// The head of a backend's answer.
    pub(crate) answer: ResponseHead,
}

/// The memory of a set that an exchange needs only while it runs, not while it waits for others.
#[derive(Debug, Default)]
struct Spare {
    input: Vec<u8>,
    output: Vec<u8>,
    body: Vec<u8>,
    fields: Vec<u8>,
    outbound: Vec<u8>,
}

/// Bytes read and not yet used, between `start` and `end`.
#[derive(Debug, Default)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Sets that wait for a connection, and memory without a set.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    #[expect(
        clippy::vec_box,
        reason = "a set is lent by its box: moving its 500 bytes twice a request would cost more"
    )]
    sets: Vec<Box<Buffers>>,
    spares: Vec<Spare>,
}

impl Pool {
    /// A set with all the memory that there is for one.
    pub(crate) fn take(&mut self) -> Box<Buffers> {
        let mut buffers = self.sets.pop().unwrap_or_default();
        self.lend(&mut buffers);
        buffers
    }

    pub(crate) fn give(&mut self, mut buffers: Box<Buffers>) {
        if self.sets.len() >= WHOLE_SETS_KEPT {
            buffers.response.clear();
            buffers.output.clear();
            self.park(&mut buffers);
            buffers.shrink(SMALL_BYTES_KEPT);
            buffers.give_up();
        } else {
            buffers.shrink(bytes_kept(self.sets.len()));
        }
        if self.sets.len() < SETS_KEPT {
            self.sets.push(buffers);
        }
    }

    /// Gives up all that lies in it.
    pub(crate) fn clear(&mut self) {
        (self.sets, self.spares) = (Vec::new(), Vec::new());
    }

    /// Takes from a set what is empty in it, for as long as its exchange waits for others. A set with unused bytes of
    /// the client in it stays as it is.
    pub(crate) fn park(&mut self, buffers: &mut Buffers) {
        if !buffers.input.is_empty() || buffers.input.bytes.is_empty() {
            return;
        }
        buffers.input.clear();
        let when_empty = |bytes: &mut Vec<u8>| if bytes.is_empty() { std::mem::take(bytes) } else { Vec::new() };
        let spare = Spare {
            input: std::mem::take(&mut buffers.input.bytes),
            output: when_empty(&mut buffers.output),
            body: when_empty(&mut buffers.response.body),
            fields: when_empty(buffers.response.fields_memory()),
            // What may have to be sent again is not empty; between two parts of a body it is.
            outbound: when_empty(&mut buffers.outbound),
        };
        if self.spares.len() < WHOLE_SETS_KEPT {
            self.spares.push(spare.within(bytes_kept(self.spares.len())));
        }
    }

    /// Gives a set memory again, if it was taken.
    pub(crate) fn lend(&mut self, buffers: &mut Buffers) {
        if buffers.input.bytes.is_empty()
            && let Some(spare) = self.spares.pop()
        {
            let when_none = |own: &mut Vec<u8>, lent: Vec<u8>| {
                if own.capacity() == 0 {
                    *own = lent;
                }
            };
            buffers.input.bytes = spare.input;
            when_none(&mut buffers.output, spare.output);
            when_none(&mut buffers.response.body, spare.body);
            when_none(buffers.response.fields_memory(), spare.fields);
            when_none(&mut buffers.outbound, spare.outbound);
        }
    }
}

/// Memory that a buffer may keep when it is given back to a pool of this many, in bytes.
fn bytes_kept(lying: usize) -> usize {
    if lying < LARGE_SETS_KEPT { LARGE_BYTES_KEPT } else { BUFFER_BYTES_KEPT }
}

impl Spare {
    /// Gives back what is larger than that.
    fn within(mut self, bytes_max: usize) -> Spare {
        for bytes in [&mut self.input, &mut self.output, &mut self.body, &mut self.fields, &mut self.outbound] {
            if bytes.capacity() > bytes_max {
                *bytes = Vec::new();
            }
        }
        let beside = self.output.capacity() + self.body.capacity() + self.fields.capacity() + self.outbound.capacity();
        if beside > bytes_max {
            (self.output, self.body, self.fields, self.outbound) = Default::default();
        }
        self
    }
}

impl Buffers {
    /// About how many bytes the set takes while it is lent.
    pub(crate) fn size(&self) -> usize {
        let sent = self.output.capacity() + self.response.body_bytes() + self.outbound.capacity();
        self.input.bytes.len() + sent
    }

    fn shrink(&mut self, bytes_max: usize) {
        if self.input.bytes.len() > bytes_max {
            self.input = Input::default();
        }
        if self.output.capacity() > bytes_max {
            self.output = Vec::new();
        }
        if self.outbound.capacity() > bytes_max {
            self.outbound = Vec::new();
        }
        self.head.shrink(bytes_max.min(BUFFER_BYTES_KEPT));
        self.answer.shrink(bytes_max.min(BUFFER_BYTES_KEPT));
        self.response.shrink(bytes_max);
        if self.size() > 2 * bytes_max {
            // Rare: only some of them are large.
            self.give_up();
        }
    }

    /// Gives back all memory but that of the input and of heads.
    fn give_up(&mut self) {
        (self.output, self.outbound, self.response) = (Vec::new(), Vec::new(), Response::default());
    }
}

impl Input {
    /// The unused bytes.
    #[inline]
    pub(crate) fn unused(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets all bytes.
    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    /// Whether its memory was taken, or it never had any.
    #[inline]
    pub(crate) fn is_without_memory(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Whether it has more memory than a fresh one.
    pub(crate) fn is_large(&self) -> bool {
        self.bytes.len() > INPUT_BYTES
    }

    /// The start of the unused bytes.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Bytes by their place, used ones too.
    pub(crate) fn range(&self, start: usize, end: usize) -> &[u8] {
        &self.bytes[start..end]
    }

    /// All bytes from a place on, used ones too.
    pub(crate) fn since(&self, start: usize) -> &[u8] {
        &self.bytes[start..self.end]
    }

    /// Marks bytes as used.
    #[inline]
    pub(crate) fn advance(&mut self, used: usize) {
        self.start += used;
        debug_assert!(self.start <= self.end, "no more can be used than was read");
    }

    /// Takes over unused bytes that were kept elsewhere; it must be empty.
    pub(crate) fn load(&mut self, kept: &[u8]) {
        debug_assert!(self.is_empty(), "bytes come before those that are read after them");
        self.clear();
        if self.bytes.len() < kept.len() {
            self.bytes.resize(kept.len().next_power_of_two().max(INPUT_BYTES), 0);
        }
        self.bytes[..kept.len()].copy_from_slice(kept);
        self.end = kept.len();
    }

    /// The room behind the unused bytes, to read into; empty unless it was made before.
    #[inline]
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.bytes[self.end..]
    }

    /// Makes room to read into. Bytes before `keep_from` (at most `start`) are given up for it; the new place of
    /// `keep_from` is returned.
    pub(crate) fn make_room(&mut self, keep_from: usize) -> usize {
        let mut keep_from = keep_from;
        if keep_from == self.end {
            // Nothing is kept: the cheapest way to have all the room.
            (keep_from, self.start, self.end) = (0, 0, 0);
        }
        if self.end == self.bytes.len() {
            if keep_from > 0 {
                self.bytes.copy_within(keep_from..self.end, 0);
                self.start -= keep_from;
                self.end -= keep_from;
                keep_from = 0;
            }
            if self.end == self.bytes.len() {
                // Twice as much as has come: who only claims a large body gets no memory for it.
                let size = (self.bytes.len() * 2).max(INPUT_BYTES);
                self.bytes.resize(size, 0);
            }
        }
        keep_from
    }

    /// Marks bytes of the room as read.
    #[inline]
    pub(crate) fn filled(&mut self, count: usize) {
        self.end += count;
        debug_assert!(self.end <= self.bytes.len(), "no more can be read than there was room");
    }

    /// Moves the next `count` unused bytes down to `place`, which lies before them, and marks them as used.
    pub(crate) fn gather(&mut self, place: usize, count: usize) {
        if place != self.start {
            self.bytes.copy_within(self.start..self.start + count, place);
        }
        self.advance(count);
    }

    /// Gives the gap between `place` and the unused bytes up, when there are no unused bytes.
    pub(crate) fn close_gap(&mut self, place: usize) {
        if self.start == self.end {
            self.start = place;
            self.end = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &mut Input, bytes: &[u8]) {
        for &byte in bytes {
            let keep_from = input.start();
            input.make_room(keep_from);
            input.room()[0] = byte;
            input.filled(1);
        }
    }

    #[test]
    fn unused_bytes_survive_any_growth() {
        let mut input = Input::default();
        let bytes: Vec<u8> = (0..40_000_u32).map(|index| index as u8).collect();
        read(&mut input, &bytes[..20_000]);
        input.advance(7);
        read(&mut input, &bytes[20_000..]);
        assert_eq!(input.unused(), &bytes[7..]);
    }

    #[test]
    fn bytes_kept_elsewhere_come_before_those_read_after_them() {
        let mut input = Input::default();
        for length in [0, 3, INPUT_BYTES, INPUT_BYTES + 1] {
            let kept: Vec<u8> = (0..length).map(|index| index as u8).collect();
            input.load(&kept);
            read(&mut input, b"more");
            assert_eq!(input.unused(), [&kept[..], b"more"].concat());
            input.clear();
        }
    }

    #[test]
    fn sets_are_cut_back_when_they_are_given_back() {
        let mut pool = Pool::default();
        for _ in 0..LARGE_SETS_KEPT + 1 {
            let mut buffers = Box::<Buffers>::default();
            buffers.response.body = vec![0; LARGE_BYTES_KEPT];
            buffers.output = vec![0; LARGE_BYTES_KEPT + 1];
            pool.give(buffers);
        }
        let last = pool.take();
        assert!(last.response.body.capacity() <= BUFFER_BYTES_KEPT && last.output.capacity() <= BUFFER_BYTES_KEPT);
        let first = pool.take();
        assert_eq!(first.response.body.capacity(), LARGE_BYTES_KEPT);
        assert_eq!(first.output.capacity(), 0);
    }

    #[test]
    fn no_more_sets_are_kept_than_allowed() {
        let mut pool = Pool::default();
        for _ in 0..SETS_KEPT + 10 {
            pool.give(Box::default());
        }
        assert_eq!(pool.sets.len(), SETS_KEPT);
    }

    #[test]
    fn who_waits_for_others_holds_only_what_is_in_use() {
        let mut pool = Pool::default();
        let mut first = pool.take();
        read(&mut first.input, b"abc");
        first.input.advance(3);
        first.response.body = Vec::with_capacity(100);
        first.outbound = b"request".to_vec();
        pool.park(&mut first);
        assert_eq!((first.size(), pool.spares.len()), (b"request".len(), 1));
        let second = pool.take();
        assert_eq!((second.input.bytes.len(), second.response.body.capacity()), (INPUT_BYTES, 100));
        pool.give(second);
        pool.lend(&mut first);
        read(&mut first.input, b"def");
        pool.park(&mut first);
        assert_eq!(first.input.unused(), b"def", "bytes of the client are never taken away");
    }

    #[test]
    fn sets_beyond_the_whole_ones_are_kept_without_their_memory() {
        let mut pool = Pool::default();
        for _ in 0..2 * WHOLE_SETS_KEPT + 1 {
            let mut buffers = Box::<Buffers>::default();
            buffers.input.make_room(0);
            pool.give(buffers);
        }
        assert_eq!((pool.sets.len(), pool.spares.len()), (2 * WHOLE_SETS_KEPT + 1, WHOLE_SETS_KEPT));
        assert!(pool.sets[WHOLE_SETS_KEPT..].iter().all(|set| set.size() == 0));
    }
}
