//! A shared host takes cores away, for minutes at a time a tenth of them. The lab marks what was measured then (`steal`), so that
//! it is no truth about unmarked figures: it is measured again.

use std::time::{Duration, Instant};

use tollgate_lab::cores::Cores;
use tollgate_lab::probe::system::Ticks;
use tollgate_lab::validity::STEAL_SHARE_MAX;

/// Of what is measured again a test does no more than for so long: a host that is never calm shall be seen in the rows.
const PATIENCE: Duration = Duration::from_mins(4);

/// Measures while the host leaves the cores alone.
#[derive(Debug)]
pub(super) struct Calm {
    cores: Vec<usize>,
    /// What has been measured, the disturbed included.
    measured: usize,
    /// Of them those that were measured again since they were last told.
    again: u32,
    lost: Duration,
}

impl Default for Calm {
    fn default() -> Calm {
        Calm { cores: Cores::divide().all, measured: 0, again: 0, lost: Duration::ZERO }
    }
}

impl Calm {
    /// Measures until the lab would not mark it for what the host took. Each time has a number of its own, for classes of the
    /// server whose log is of nothing else.
    pub(super) fn measure<T>(&mut self, mut slice: impl FnMut(usize) -> T) -> T {
        loop {
            let (begun, ticks) = (Instant::now(), Ticks::now(&self.cores));
            self.measured += 1;
            let found = slice(self.measured);
            let is_calm = Ticks::now(&self.cores).since(ticks).steal_share() <= STEAL_SHARE_MAX;
            if is_calm || self.lost > PATIENCE {
                return found;
            }
            self.lost += begun.elapsed();
            self.again += 1;
        }
    }

    /// How often something was measured again since this was last asked, as the end of a sentence.
    pub(super) fn told(&mut self) -> String {
        match std::mem::take(&mut self.again) {
            0 => String::new(),
            again => format!("; {again} more marked (steal) and measured again"),
        }
    }
}
