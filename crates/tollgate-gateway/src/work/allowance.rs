//! The work that one answer may take: bytes, entities, and memory beyond what each may have.
//!
//! It is charged while the answer grows. Time is limited in the store, and requests at once by the work processes.

use std::sync::atomic::{AtomicU64, Ordering};

use super::answer_room::AnswerRoom;
use super::parts::Output;
use crate::store::Flow;

/// The limits of one service's answers, and how often they were met.
#[derive(Debug)]
pub(crate) struct AnswerLimits {
    bytes_max: u64,
    entities_max: u64,
    room: AnswerRoom,
    bytes_met: AtomicU64,
    entities_met: AtomicU64,
}

/// The part of its limits that an answer has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    bytes: u64,
    entities: u64,
}

/// The exceeded limit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// It would have more bytes than this.
    Bytes(u64),
    /// It would have more entities than this, expanded ones included.
    Entities(u64),
    /// It would need more memory at once than all large answers have.
    Memory(usize),
    /// Other answers have the memory.
    Room,
}

/// Counts one answer while it is written.
#[derive(Debug)]
pub(crate) struct Meter<'l> {
    limits: &'l AnswerLimits,
    spent: Spent,
    excess: Option<Excess>,
}

impl AnswerLimits {
    /// Limits of each answer to these bytes and entities.
    pub(crate) fn new(bytes_max: u64, entities_max: u64, room: AnswerRoom) -> AnswerLimits {
        AnswerLimits { bytes_max, entities_max, room, bytes_met: AtomicU64::new(0), entities_met: AtomicU64::new(0) }
    }

    /// Counts an answer that has used `spent` so far.
    pub(crate) fn meter(&self, spent: Spent) -> Meter<'_> {
        Meter { limits: self, spent, excess: None }
    }

    /// The memory for large answers.
    pub(crate) fn room(&self) -> &AnswerRoom {
        &self.room
    }

    /// How often an answer would have had too many bytes, and too many entities.
    pub(crate) fn met(&self) -> (u64, u64) {
        (self.bytes_met.load(Ordering::Relaxed), self.entities_met.load(Ordering::Relaxed))
    }
}

impl Meter<'_> {
    /// Counts one more entity, which is written.
    #[inline]
    pub(crate) fn entity(&mut self, output: &mut impl Output) -> Flow {
        self.spent.entities += 1;
        if self.spent.entities > self.limits.entities_max {
            return self.exceeds(Excess::Entities(self.limits.entities_max));
        }
        self.bytes(output, 0)
    }

    /// Counts the bytes so far, and those that are to follow at once.
    #[inline]
    pub(crate) fn bytes(&mut self, output: &mut impl Output, following: usize) -> Flow {
        if self.spent.bytes + output.written() + following as u64 > self.limits.bytes_max {
            return self.exceeds(Excess::Bytes(self.limits.bytes_max));
        }
        if !output.has_room(&self.limits.room) {
            let room_bytes = self.limits.room.limit_bytes();
            let alone = output.buffer().capacity() > room_bytes;
            return self.exceeds(if alone { Excess::Memory(room_bytes) } else { Excess::Room });
        }
        Flow::Continue
    }

    fn exceeds(&mut self, excess: Excess) -> Flow {
        self.excess = Some(excess);
        Flow::Stop
    }

    /// The part that is used, once `output` has all of it that is written now.
    ///
    /// # Errors
    /// The exceeded limit, which is counted.
    pub(crate) fn end(&mut self, output: &mut impl Output) -> Result<Spent, Excess> {
        if self.excess.is_none() {
            let _ = self.bytes(output, 0);
        }
        match self.excess {
            None => Ok(Spent { bytes: self.spent.bytes + output.written(), ..self.spent }),
            Some(excess) => {
                match excess {
                    Excess::Bytes(_) => self.limits.bytes_met.fetch_add(1, Ordering::Relaxed),
                    Excess::Entities(_) => self.limits.entities_met.fetch_add(1, Ordering::Relaxed),
                    // Counted by the room.
                    Excess::Memory(_) | Excess::Room => 0,
                };
                Err(excess)
            }
        }
    }

    /// Whether a limit was exceeded.
    pub(crate) fn is_over(&self) -> bool {
        self.excess.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer_room::ROOM_BYTES;
    use super::super::parts::Whole;
    use super::*;

    fn limits(bytes_max: u64, entities_max: u64) -> AnswerLimits {
        AnswerLimits::new(bytes_max, entities_max, AnswerRoom::of(ROOM_BYTES))
    }

    #[test]
    fn bytes_and_entities_are_counted_over_all_steps_of_an_answer() {
        let limits = limits(10, 3);
        let mut whole = Whole::of(Vec::new());
        let mut meter = limits.meter(Spent::default());
        whole.buffer().extend_from_slice(b"12345");
        assert_eq!(meter.entity(&mut whole), Flow::Continue);
        let spent = meter.end(&mut whole).unwrap();
        assert_eq!(spent, Spent { bytes: 5, entities: 1 });
        let mut meter = limits.meter(spent);
        assert_eq!((meter.entity(&mut whole), meter.entity(&mut whole)), (Flow::Continue, Flow::Continue));
        assert_eq!(meter.entity(&mut whole), Flow::Stop);
        assert_eq!(meter.end(&mut whole), Err(Excess::Entities(3)));
        whole.buffer().push(b'6');
        assert_eq!(limits.meter(spent).end(&mut whole), Err(Excess::Bytes(10)));
        assert_eq!(limits.met(), (1, 1));
    }
}
