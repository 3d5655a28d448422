//! Memory of unfinished requests that wait for their rest, counted per core, so that it is bounded for any number of
//! connections.
//!
//! A head that waits keeps its bytes and nothing else; a body that waits keeps the buffers of its exchange.

use std::rc::Rc;

use super::super::error::Fault;
use super::core::Core;

/// A share of the memory that the core may use for them, given back when dropped.
pub(super) struct Held {
    core: Rc<Core>,
    bytes: usize,
}

impl Held {
    pub(super) fn nothing(core: &Rc<Core>) -> Held {
        Held { core: core.clone(), bytes: 0 }
    }

    /// Changes the share.
    ///
    /// # Errors
    /// [`Fault::MemoryFull`] where it would grow and all shares would be more than
    /// [`held_bytes_max`](crate::limits::Limits::held_bytes_max) together; it is then as it was.
    pub(super) fn resize(&mut self, bytes: usize) -> Result<(), Fault> {
        self.resize_within(bytes, self.core.limits.held_bytes_max)
    }

    /// The same where all shares would be more than half of that: for what could be done without.
    ///
    /// # Errors
    /// As [`Held::resize`].
    pub(super) fn resize_within_half(&mut self, bytes: usize) -> Result<(), Fault> {
        self.resize_within(bytes, self.core.limits.held_bytes_max / 2)
    }

    fn resize_within(&mut self, bytes: usize, bytes_max: usize) -> Result<(), Fault> {
        let tally = &self.core.counters().held_bytes;
        let others = tally.value() - self.bytes as u64;
        if bytes > self.bytes && others + bytes as u64 > bytes_max as u64 {
            return Err(Fault::MemoryFull);
        }
        tally.add(bytes as u64);
        tally.subtract(self.bytes as u64);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.core.counters().held_bytes.subtract(self.bytes as u64);
    }
}

/// The bytes of an incomplete head, kept apart from the read buffer, which the next connection needs.
pub(super) struct HeldHead {
    held: Held,
    bytes: Vec<u8>,
}

impl HeldHead {
    pub(super) fn nothing(core: &Rc<Core>) -> HeldHead {
        HeldHead { held: Held::nothing(core), bytes: Vec::new() }
    }

    /// The bytes kept.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Keeps `unused`, which begins with what is kept already.
    ///
    /// # Errors
    /// As [`Held::resize`].
    pub(super) fn keep(&mut self, unused: &[u8]) -> Result<(), Fault> {
        if unused.len() > self.bytes.len() {
            self.held.resize(unused.len())?;
            let added = &unused[self.bytes.len()..];
            // No more than is counted: such a head may be one of thousands.
            self.bytes.reserve_exact(added.len());
            self.bytes.extend_from_slice(added);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::counters::Counters;
    use super::*;
    use crate::clock::Clock;
    use crate::limits::Limits;

    #[test]
    fn shares_have_a_bound_together_and_are_given_back() {
        let counters = Arc::new(Counters::new(1));
        let limits = Limits { held_bytes_max: 10, ..Limits::default() };
        let core = Rc::new(Core::new(0, limits, Clock::system(), counters.clone()));
        let (mut first, mut second) = (HeldHead::nothing(&core), Held::nothing(&core));
        first.keep(b"abc").unwrap();
        first.keep(b"abcdef").unwrap();
        assert_eq!((first.bytes(), counters.held_bytes()), (&b"abcdef"[..], 6));
        assert_eq!(second.resize(5), Err(Fault::MemoryFull));
        second.resize(4).unwrap();
        assert_eq!(first.keep(b"abcdefg"), Err(Fault::MemoryFull));
        assert_eq!((first.bytes(), counters.held_bytes()), (&b"abcdef"[..], 10));
        second.resize(1).unwrap();
        assert_eq!(second.resize_within_half(2), Err(Fault::MemoryFull));
        drop(first);
        assert_eq!(counters.held_bytes(), 1);
        second.resize_within_half(5).unwrap();
        assert_eq!(second.resize_within_half(6), Err(Fault::MemoryFull));
        drop(second);
        assert_eq!(counters.held_bytes(), 0);
    }
}
