//! Stored record of interim looks at a run under way.
//!
//! The rule for looks, and their effect on an interval, are in `stats::sequential`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stats::sequential::INTERIM_LOOKS;

/// A run that stops when its tolls are narrow enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Looks {
    /// Half the width that no toll's interval was to exceed, as a share: 0.02 is 2 %.
    pub width: f64,
    /// Looks so far, of those after 8, 16, 32 and 64 blocks.
    pub done: u32,
    /// Whether all were narrow enough at the last one.
    pub is_reached: bool,
    /// Probability of a false claim at each look: intervals of tolls are of confidence 1 less this.
    #[serde(default = "pocock")]
    pub alpha: f64,
}

/// Default for results that do not have it: Pocock's for four looks at equal distances, which over ours is 5.8 %.
fn pocock() -> f64 {
    0.018
}

impl Looks {
    /// Confidence of the intervals of tolls, in words.
    pub fn confidence(&self) -> String {
        format!("{:.1} %", (1.0 - self.alpha) * 100.0)
    }

    /// The note on looks that a reader of the tolls needs.
    pub fn words(&self) -> String {
        let within = format!("± {} %", (self.width * 1e4).round() / 1e2);
        let blocks = INTERIM_LOOKS.get((self.done as usize).wrapping_sub(1)).copied().unwrap_or(0);
        let most = INTERIM_LOOKS[INTERIM_LOOKS.len() - 1];
        let reached = if self.is_reached { "reached at" } else { "not reached by" };
        let reached = match self.done {
            0 => "nothing was looked at yet".to_owned(),
            done => format!("{reached} look {done}, after {blocks} of at most {most} blocks"),
        };
        // What Pocock's own constant comes to over looks whose blocks double.
        let over_all = if self.alpha < pocock() { "95" } else { "94.2" };
        format!(
            "tolls within {within} were asked for: {reached}. Their intervals are of one level for {} looks, after Pocock: {} at \
             each, {over_all} % over all.",
            INTERIM_LOOKS.len(),
            self.confidence(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_told_when_a_run_stopped_and_what_its_intervals_are() {
        let of = |alpha: f64, levels: &str, done: u32, is_reached: bool, expected: &str| {
            let words = Looks { width: 0.02, done, is_reached, alpha }.words();
            assert!(words.starts_with("tolls within ± 2 % were asked for: ") && words.contains(expected), "{words}");
            assert!(words.ends_with(&format!("for 4 looks, after Pocock: {levels}.")), "{words}");
        };
        let check = |done: u32, is_reached: bool, expected: &str| {
            let ours = crate::stats::sequential::ALPHA_OF_AN_INTERIM_LOOK;
            of(ours, "98.5 % at each, 95 % over all", done, is_reached, expected);
            of(pocock(), "98.2 % at each, 94.2 % over all", done, is_reached, expected);
        };
        check(2, true, "reached at look 2, after 16 of at most 64 blocks");
        check(4, false, "not reached by look 4, after 64 of at most 64 blocks");
        check(0, false, "nothing was looked at yet");
    }
}
