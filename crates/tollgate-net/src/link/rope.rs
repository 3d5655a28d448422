//! Bytes under way, in blocks that are lent from a pool: an idle connection has none.
//!
//! It deliberately does not know when they are due.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};

/// Bytes of a block: large enough that a fast stream needs few, small enough that a thousand waiting requests are
/// cheap.
pub(super) const BLOCK_BYTES: usize = 8 * 1024;
/// Blocks that one system call fills or empties: 256 KiB.
const BLOCKS_PER_CALL: usize = 32;
/// Free blocks that are kept: 32 MiB. Blocks beyond them, after a burst, go back to the system.
const FREE_BLOCKS_MAX: usize = 4096;

type Block = Box<[u8; BLOCK_BYTES]>;

/// Free blocks.
#[derive(Debug, Default)]
pub(super) struct BlockPool {
    free: Vec<Block>,
}

/// A queue of bytes.
#[derive(Debug, Default)]
pub(super) struct Rope {
    blocks: VecDeque<Block>,
    /// The place of the first byte in the first block.
    head: usize,
    bytes: usize,
    /// Blocks that the next read offers: a stream that fills them is offered more.
    offer: usize,
}

/// The result of one system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// Bytes moved.
    pub(super) bytes: usize,
    /// Whether the socket took or gave less than was offered, and so has no more to take or give.
    pub(super) is_short: bool,
}

impl BlockPool {
    fn take(&mut self) -> Block {
        self.free.pop().unwrap_or_else(|| Box::new([0; BLOCK_BYTES]))
    }

    fn give(&mut self, block: Block) {
        if self.free.len() < FREE_BLOCKS_MAX {
            self.free.push(block);
        }
    }
}

impl Rope {
    /// Number of its bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads once, at most `most` bytes and what is left of the last block.
    ///
    /// # Errors
    /// The error of the source.
    pub(super) fn fill(&mut self, pool: &mut BlockPool, most: usize, source: &mut impl Read) -> io::Result<Moved> {
        let end = self.head + self.bytes;
        let (first, used) = (end / BLOCK_BYTES, end % BLOCK_BYTES);
        let blocks = (used + most).div_ceil(BLOCK_BYTES).clamp(1, self.offer.clamp(1, BLOCKS_PER_CALL));
        while self.blocks.len() < first + blocks {
            self.blocks.push_back(pool.take());
        }
        let mut slices: [IoSliceMut<'_>; BLOCKS_PER_CALL] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
        for (index, (slice, block)) in slices.iter_mut().zip(self.blocks.range_mut(first..)).enumerate() {
            *slice = IoSliceMut::new(&mut block[if index == 0 { used } else { 0 }..]);
        }
        let offered = blocks * BLOCK_BYTES - used;
        // One block is the usual case, and recv is cheaper than readv.
        let read = match &mut slices[..blocks] {
            [only] => source.read(only),
            several => source.read_vectored(several),
        };
        let bytes = *read.as_ref().unwrap_or(&0);
        self.offer = if bytes == offered { blocks * 2 } else { bytes.div_ceil(BLOCK_BYTES) };
        self.bytes += bytes;
        while self.blocks.len() > (self.head + self.bytes).div_ceil(BLOCK_BYTES) {
            pool.give(self.blocks.pop_back().expect("there are more blocks than bytes need"));
        }
        self.forget_place_when_empty();
        read.map(|bytes| Moved { bytes, is_short: bytes < offered })
    }

    /// Writes once, at most the first `most` bytes.
    ///
    /// # Errors
    /// The error of the sink.
    pub(super) fn empty(&mut self, pool: &mut BlockPool, most: usize, sink: &mut impl Write) -> io::Result<Moved> {
        let mut slices = [IoSlice::new(&[]); BLOCKS_PER_CALL];
        let (mut offered, mut count) = (0, 0);
        for (slice, block) in slices.iter_mut().zip(&self.blocks) {
            let start = if count == 0 { self.head } else { 0 };
            let bytes = (BLOCK_BYTES - start).min(most.min(self.bytes) - offered);
            if bytes == 0 {
                break;
            }
            *slice = IoSlice::new(&block[start..start + bytes]);
            offered += bytes;
            count += 1;
        }
        let bytes = match &slices[..count] {
            [only] => sink.write(only)?,
            several => sink.write_vectored(several)?,
        };
        self.drop_front(pool, bytes);
        Ok(Moved { bytes, is_short: bytes < offered })
    }

    /// Forgets all bytes.
    pub(super) fn clear(&mut self, pool: &mut BlockPool) {
        self.drop_front(pool, self.bytes);
    }

    fn drop_front(&mut self, pool: &mut BlockPool, bytes: usize) {
        self.head += bytes;
        self.bytes -= bytes;
        while self.head >= BLOCK_BYTES {
            pool.give(self.blocks.pop_front().expect("the bytes stood in blocks"));
            self.head -= BLOCK_BYTES;
        }
        if self.bytes == 0
            && let Some(block) = self.blocks.pop_front()
        {
            pool.give(block);
        }
        self.forget_place_when_empty();
    }

    fn forget_place_when_empty(&mut self) {
        if self.blocks.is_empty() {
            self.head = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Fill { most: usize, given: usize },
        Empty { most: usize, taken: usize },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let size = || prop_oneof![1..200usize, 1..100_000usize, Just(BLOCK_BYTES), Just(2 * BLOCK_BYTES)];
        let step = prop_oneof![
            (size(), size()).prop_map(|(most, given)| Step::Fill { most, given }),
            (size(), size()).prop_map(|(most, taken)| Step::Empty { most, taken }),
        ];
        proptest::collection::vec(step, 1..60)
    }

    /// Takes at most this many bytes a call.
    struct Sink {
        bytes: Vec<u8>,
        most: usize,
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.most);
            self.bytes.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            let joined: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
            self.write(&joined)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order_and_every_block_comes_back(steps in steps()) {
            let (mut pool, mut rope) = (BlockPool::default(), Rope::default());
            let (mut sent, mut sink) = (Vec::new(), Sink { bytes: Vec::new(), most: 0 });
            for step in steps {
                match step {
                    Step::Fill { most, given } => {
                        let text: Vec<u8> = (0..given).map(|at| (sent.len() + at) as u8).collect();
                        let mut source = text.as_slice();
                        let moved = rope.fill(&mut pool, most, &mut source).unwrap();
                        prop_assert!(moved.bytes < most + BLOCK_BYTES);
                        sent.extend_from_slice(&text[..moved.bytes]);
                    }
                    Step::Empty { most, taken } => {
                        sink.most = taken;
                        let moved = rope.empty(&mut pool, most, &mut sink).unwrap();
                        prop_assert!(moved.bytes <= most);
                    }
                }
                prop_assert_eq!(rope.bytes(), sent.len() - sink.bytes.len());
                prop_assert_eq!(rope.blocks.len(), (rope.head + rope.bytes).div_ceil(BLOCK_BYTES));
            }
            sink.most = usize::MAX;
            while rope.bytes() > 0 {
                rope.empty(&mut pool, usize::MAX, &mut sink).unwrap();
            }
            prop_assert_eq!(sink.bytes, sent);
            prop_assert!(rope.blocks.is_empty());
        }
    }

    #[test]
    fn an_error_leaves_the_rope_as_it_was() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
        let (mut pool, mut rope) = (BlockPool::default(), Rope::default());
        assert!(rope.fill(&mut pool, 100_000, &mut Broken).is_err());
        assert_eq!((rope.bytes(), rope.blocks.len()), (0, 0));
    }
}
