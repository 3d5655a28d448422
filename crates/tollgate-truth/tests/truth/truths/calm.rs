//! A shared host takes cores away, for minutes at a time a tenth of them. The lab marks what it measures then
//! (`steal`), so that it is no truth about unmarked figures: it is measured again, by the same bound on the same
//! reading of the kernel, but over all of a slice, with the bare sockets in it.

use std::time::{Duration, Instant};

use tollgate_lab::cores::Cores;
use tollgate_lab::judge::bounds::STEAL_SHARE_MAX;
use tollgate_lab::probe::system::Ticks;

use crate::run::first_seed;

/// Longest time of repeated measurements of a test. Disturbed ones after that count, and their rows say so.
const PATIENCE: Duration = Duration::from_mins(4);

/// Measures while the host leaves the cores alone.
#[derive(Debug)]
pub(super) struct Calm {
    /// The unit of measurement.
    pub(super) unit: &'static str,
    cores: Vec<usize>,
    /// Number of the next measurement, the disturbed counted: it is a seed, too.
    next: usize,
    /// Number of measurements that were repeated, and of those that count although they were disturbed: for the rows
    /// that are reported next.
    again: u32,
    kept: u32,
    is_told: bool,
    lost: Duration,
}

impl Default for Calm {
    fn default() -> Calm {
        let cores = Cores::divide().all;
        let next = first_seed() as usize;
        Calm { unit: "slices", cores, next, again: 0, kept: 0, is_told: false, lost: Duration::ZERO }
    }
}

impl Calm {
    /// Measures until the host took no more than what the lab marks. Each time has a number of its own, for classes of
    /// the server whose log is of nothing else.
    pub(super) fn measure<T>(&mut self, mut slice: impl FnMut(usize) -> T) -> T {
        if std::mem::take(&mut self.is_told) {
            (self.again, self.kept) = (0, 0);
        }
        loop {
            let (begun, ticks) = (Instant::now(), Ticks::now(&self.cores));
            let found = slice(self.next);
            self.next += 1;
            let is_calm = Ticks::now(&self.cores).since(ticks).steal_share() <= STEAL_SHARE_MAX;
            if is_calm || self.lost > PATIENCE {
                self.kept += u32::from(!is_calm);
                return found;
            }
            self.lost += begun.elapsed();
            self.again += 1;
        }
    }

    /// The number of a row's measurements that were repeated or disturbed, as the end of a sentence. Rows that are
    /// reported together have the same.
    pub(super) fn told(&mut self) -> String {
        self.is_told = true;
        let mut text = String::new();
        for (count, what) in [(self.again, "measured again"), (self.kept, "counted though stolen from")] {
            if count > 0 {
                text += &format!("; {count} {} {what}", self.unit);
            }
        }
        text
    }
}
