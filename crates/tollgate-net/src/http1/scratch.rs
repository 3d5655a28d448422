//! One read buffer per thread, lent for the length of a poll: waiting connections have none.

use std::cell::Cell;

/// Most bytes of one read; the thread's second-level cache has room for them beside all else.
const SCRATCH_BYTES: usize = 64 * 1024;

thread_local! {
    static SCRATCH: Cell<Option<Box<[u8]>>> = const { Cell::new(None) };
}

/// The thread's read buffer, given back when dropped.
pub(in crate::http1) struct Scratch(Option<Box<[u8]>>);

impl Scratch {
    /// Takes the buffer; a second taker on the same thread gets one of its own.
    pub(in crate::http1) fn take() -> Scratch {
        Scratch(Some(SCRATCH.take().unwrap_or_else(|| vec![0; SCRATCH_BYTES].into_boxed_slice())))
    }

    pub(in crate::http1) fn bytes(&mut self) -> &mut [u8] {
        self.0.as_mut().expect("it is given back only when dropped")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        SCRATCH.set(self.0.take());
    }
}
