//! The rates offered to cells at equal rate. It is equal among the variants of one run: each run derives it anew from
//! the throughput of its slowest variant, so that two runs of one experiment may differ in it.
//!
//! It makes no two rates comparable: times grow with the rate differently for each subject.

use super::ValueOf;
use crate::results::{EqualRate, RunResult};

/// Rates further apart than this are different loads, as a share of the lower one. The rate is half of the slowest
/// variant's throughput, where a queue lengthens responses by the same share as requests (M/M/1: 1 / (1 - rho)): 2 %
/// stay inside the ± 3 % of "no difference".
const APART_SHARE_MAX: f64 = 0.02;

/// The rate offered to the variants of a level; `None` if there was none.
pub(super) fn at(run: &RunResult, level: u64) -> Option<&EqualRate> {
    run.cells.iter().filter(|cell| cell.level == level).find_map(|cell| cell.equal_rate.as_ref())
}

/// Its rate in words.
pub(super) fn rate(offered: &EqualRate) -> String {
    let rate = offered.rate_per_second;
    if rate < 10.0 { format!("{rate:.1}/s") } else { format!("{rate:.0}/s") }
}

/// The reason why figures of these two loads, each with the number of its run, have no ratio; `None` if they have one.
pub(super) fn apart((one, first): (u32, &EqualRate), (other, further): (u32, &EqualRate)) -> Option<String> {
    if are_apart([first, further].map(|offered| offered.rate_per_second)) {
        return Some(format!("run {one} was offered {}, run {other} {}", rate(first), rate(further)));
    }
    let (of_one, of_other) = (first.arrivals, further.arrivals);
    (of_one != of_other).then(|| format!("requests of run {one} came {of_one}, those of run {other} {of_other}"))
}

/// Whether these values are from loads at different rates.
pub fn is_apart(values: &[ValueOf]) -> bool {
    are_apart(values.iter().filter_map(|value| value.rate_per_second))
}

fn are_apart(rates: impl IntoIterator<Item = f64>) -> bool {
    let least_and_most = |(low, high): (f64, f64), rate: f64| (low.min(rate), high.max(rate));
    let (low, high) = rates.into_iter().fold((f64::INFINITY, 0.0), least_and_most);
    high > low * (1.0 + APART_SHARE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Arrivals;

    #[test]
    fn rates_within_two_percent_are_one_load_and_requests_that_come_otherwise_another() {
        use Arrivals::{Constant, Poisson};
        let offered = |rate_per_second: f64, arrivals| EqualRate { rate_per_second, arrivals, ..EqualRate::default() };
        let check = |first: (f64, Arrivals), further: (f64, Arrivals), expected: Option<&str>| {
            let found = apart((1, &offered(first.0, first.1)), (3, &offered(further.0, further.1)));
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
