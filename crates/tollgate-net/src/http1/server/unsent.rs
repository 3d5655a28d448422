//! Memory of answers that wait for their clients, counted per core, so that it is bounded for any number of slow
//! readers.
//!
//! Nothing is counted for an answer that leaves at once. If the answers that wait need more than the bound, those are cut
//! off whose clients took nothing for longest: a client that reads is never the first.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::core::{Core, Watch};

/// The answers of one core that wait for their clients.
#[derive(Default)]
pub(super) struct Stalls {
    waiting: RefCell<Vec<Rc<Stall>>>,
    /// Number of the next stall.
    next: Cell<u64>,
}

/// An answer of one connection that waits for its client.
struct Stall {
    watch: Rc<Watch>,
    bytes: Cell<usize>,
    /// Number of the stall: a smaller one began earlier.
    number: Cell<u64>,
    /// Place among those that wait.
    place: Cell<Option<usize>>,
    is_cut: Cell<bool>,
}

/// Whether the client has taken bytes since it was last waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Some,
    None,
}

/// The memory for answers that wait is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// One connection's share of that memory, given back when dropped.
pub(super) struct Unsent {
    core: Rc<Core>,
    watch: Rc<Watch>,
    /// Made when the connection waits for the first time.
    stall: Option<Rc<Stall>>,
}

impl Unsent {
    pub(super) fn nothing(core: &Rc<Core>, watch: &Rc<Watch>) -> Unsent {
        Unsent { core: core.clone(), watch: watch.clone(), stall: None }
    }

    /// Counts `bytes` for the answer, which waits for its client, and cuts others off whose clients took nothing for
    /// longer, until all have at most [`unsent_bytes_max`](crate::limits::Limits::unsent_bytes_max).
    ///
    /// # Errors
    /// The answer must end: another one needed the memory, or nobody waits longer.
    pub(super) fn wait(&mut self, bytes: usize, progress: Progress) -> Result<(), Full> {
        let stall = self.stall.get_or_insert_with(|| Rc::new(Stall::of(&self.watch)));
        if stall.is_cut.get() {
            return Err(Full);
        }
        self.core.stalls.hold(&self.core, stall, bytes, progress)
    }

    /// The answer waits no more.
    #[inline]
    pub(super) fn release(&mut self) {
        if let Some(stall) = &self.stall {
            self.core.stalls.remove(&self.core, stall);
            stall.is_cut.set(false);
        }
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.release();
    }
}

impl Stall {
    fn of(watch: &Rc<Watch>) -> Stall {
        let (bytes, number) = (Cell::default(), Cell::default());
        Stall { watch: watch.clone(), bytes, number, place: Cell::default(), is_cut: Cell::default() }
    }
}

impl Stalls {
    fn hold(&self, core: &Core, stall: &Rc<Stall>, bytes: usize, progress: Progress) -> Result<(), Full> {
        let tally = &core.counters().unsent_bytes;
        if stall.place.get().is_none() {
            let mut waiting = self.waiting.borrow_mut();
            stall.place.set(Some(waiting.len()));
            waiting.push(stall.clone());
            stall.number.set(self.number());
        } else if progress == Progress::Some {
            stall.number.set(self.number());
        }
        tally.add(bytes as u64);
        tally.subtract(stall.bytes.replace(bytes) as u64);
        while tally.value() > core.limits.unsent_bytes_max as u64 {
            let longest = self.waiting.borrow().iter().min_by_key(|stall| stall.number.get()).cloned();
            let Some(longest) = longest else { break };
            self.remove(core, &longest);
            longest.is_cut.set(true);
            if Rc::ptr_eq(&longest, stall) {
                return Err(Full);
            }
            // Its memory goes when its task runs, which is before this core serves anybody else twice.
            longest.watch.wake();
        }
        core.counters().unsent_peak();
        Ok(())
    }

    fn number(&self) -> u64 {
        self.next.replace(self.next.get() + 1)
    }

    fn remove(&self, core: &Core, stall: &Stall) {
        let Some(place) = stall.place.take() else { return };
        let mut waiting = self.waiting.borrow_mut();
        waiting.swap_remove(place);
        if let Some(moved) = waiting.get(place) {
            moved.place.set(Some(place));
        }
        core.counters().unsent_bytes.subtract(stall.bytes.replace(0) as u64);
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
    fn who_takes_nothing_for_longest_makes_room() {
        let counters = Arc::new(Counters::new(1));
        let limits = Limits { unsent_bytes_max: 10, ..Limits::default() };
        let core = Rc::new(Core::new(0, limits, Clock::system(), counters.clone()));
        let share = || Unsent::nothing(&core, &core.enter());
        let (mut first, mut second, mut third) = (share(), share(), share());
        first.wait(4, Progress::Some).unwrap();
        second.wait(4, Progress::Some).unwrap();
        assert_eq!(counters.unsent_bytes(), 8);
        // The first one reads, so that the second has waited longest.
        first.wait(3, Progress::Some).unwrap();
        third.wait(7, Progress::Some).unwrap();
        assert_eq!(counters.unsent_bytes(), 10);
        assert_eq!(second.wait(1, Progress::Some), Err(Full));
        assert_eq!(first.wait(3, Progress::None), Ok(()));
        // Nobody waits longer than who needs more.
        assert_eq!(first.wait(4, Progress::None), Err(Full));
        assert_eq!(third.wait(11, Progress::None), Err(Full));
        assert_eq!((counters.unsent_bytes(), counters.unsent_bytes_peak()), (0, 10));
        second.release();
        second.wait(10, Progress::Some).unwrap();
        drop(second);
        assert_eq!(counters.unsent_bytes(), 0);
    }
}
