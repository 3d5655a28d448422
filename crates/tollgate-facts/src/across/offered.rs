//! What cells were offered at equal rate. It is equal among the variants of one run: each run draws it anew from what its
//! slowest variant could take, so that two runs of one experiment need not have been offered the same.
//!
//! It deliberately makes no two rates comparable: how a time grows with the rate is another question for each subject.

use super::ValueOf;
use crate::results::{Arrivals, Figure, RunResult};

/// Rates further apart than this are different loads, as a share of the lower one. The rate is half of what the slowest
/// variant takes, and there a queue makes an answer as much longer as requests become more (M/M/1: 1 / (1 - rho)): 2 %
/// stay inside the ± 3 % of "no difference".
const APART_SHARE_MAX: f64 = 0.02;

/// A load at a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offered {
    pub(super) rate_per_second: f64,
    pub(super) arrivals: Arrivals,
}

impl Offered {
    /// What a cell was offered for a figure; nothing for figures of users who wait.
    pub(super) fn of(run: &RunResult, variant: &str, level: u64, figure: Figure) -> Option<Offered> {
        if !figure.is_at_rate() {
            return None;
        }
        let rate = run.cell(variant, level)?.equal_rate.as_ref()?;
        Some(Offered { rate_per_second: rate.rate_per_second, arrivals: rate.arrivals })
    }

    /// What the variants of a level were offered; nothing where none was.
    pub(super) fn at(run: &RunResult, level: u64) -> Option<Offered> {
        let cells = || run.cells.iter().filter(|cell| cell.level == level);
        cells().find_map(|cell| Offered::of(run, &cell.variant, level, Figure::MedianAtRate))
    }

    /// The rate in words.
    pub(super) fn rate(self) -> String {
        let rate = self.rate_per_second;
        if rate < 10.0 { format!("{rate:.1}/s") } else { format!("{rate:.0}/s") }
    }

    /// How the requests came, in a word.
    pub(super) fn arrivals(self) -> &'static str {
        match self.arrivals {
            Arrivals::Constant => "constant",
            Arrivals::Poisson => "poisson",
        }
    }

    /// Why figures of these two loads, each with the number of its run, have no ratio; nothing where they do.
    pub(super) fn apart((one, first): (u32, Offered), (other, further): (u32, Offered)) -> Option<String> {
        let (low, high) =
            (first.rate_per_second.min(further.rate_per_second), first.rate_per_second.max(further.rate_per_second));
        if high > low * (1.0 + APART_SHARE_MAX) {
            return Some(format!("run {one} was offered {}, run {other} {}", first.rate(), further.rate()));
        }
        let (of_one, of_other) = (first.arrivals(), further.arrivals());
        (of_one != of_other).then(|| format!("requests of run {one} came {of_one}, those of run {other} {of_other}"))
    }
}

/// Whether some of these values are of loads at other rates than others.
pub fn is_apart(values: &[ValueOf]) -> bool {
    let rates = || values.iter().filter_map(|value| value.rate_per_second);
    let (low, high) = rates().fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(rate), high.max(rate)));
    high > low * (1.0 + APART_SHARE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_within_two_percent_are_one_load_and_requests_that_come_otherwise_another() {
        use Arrivals::{Constant, Poisson};
        let offered = |rate_per_second: f64, arrivals| Offered { rate_per_second, arrivals };
        let check = |first: (f64, Arrivals), further: (f64, Arrivals), expected: Option<&str>| {
            let found = Offered::apart((1, offered(first.0, first.1)), (3, offered(further.0, further.1)));
            assert_eq!(found.as_deref(), expected);
        };
        check((1000.0, Constant), (1000.0, Constant), None);
        check((1000.0, Constant), (1015.0, Constant), None);
        check((1015.0, Constant), (1000.0, Constant), None);
        check((1000.0, Constant), (3000.0, Constant), Some("run 1 was offered 1000/s, run 3 3000/s"));
        check((5.7, Constant), (5.5, Constant), Some("run 1 was offered 5.7/s, run 3 5.5/s"));
        check((97.0, Constant), (97.0, Poisson), Some("requests of run 1 came constant, those of run 3 poisson"));
    }
}
