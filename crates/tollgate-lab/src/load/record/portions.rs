//! The response times of one connection in portions: means of equal numbers of answers, in order; a limited number of
//! portions. They contain the correlation between neighbouring answers.
//!
//! It does not compare connections.

/// Portions of a connection, at most; once there were that many answers, never fewer than half.
const PORTIONS_MAX: usize = 64;

/// Response times of one connection, in portions of equally many answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Portions {
    /// Their means, in nanoseconds.
    means: Vec<f64>,
    /// Answers in each portion.
    each: u64,
    /// Number of answers in the incomplete portion, and their total time.
    open: (u64, u64),
    /// Whether several connections followed each other, which did not meet the same conditions.
    is_mixed: bool,
}

impl Default for Portions {
    fn default() -> Portions {
        Portions { means: Vec::new(), each: 1, open: (0, 0), is_mixed: false }
    }
}

impl Portions {
    /// Adds an answer on an existing connection.
    pub(crate) fn add(&mut self, response_ns: u64) {
        let (count, sum) = &mut self.open;
        (*count, *sum) = (*count + 1, *sum + response_ns);
        if *count < self.each {
            return;
        }
        self.means.push(*sum as f64 / *count as f64);
        self.open = (0, 0);
        if self.means.len() == PORTIONS_MAX {
            self.halve();
        }
    }

    /// Adds an answer that opened a connection, whose time includes the opening.
    pub(crate) fn opened(&mut self) {
        self.is_mixed |= !self.means.is_empty();
    }

    /// Number of answers in whole portions of one connection; 0 with several.
    pub(crate) fn answers(&self) -> u64 {
        if self.is_mixed { 0 } else { self.each * self.means.len() as u64 }
    }

    /// Answers in each portion.
    pub(crate) fn each(&self) -> u64 {
        self.each
    }

    /// Returns the means of portions of at least `each` answers.
    pub(crate) fn means_of(&self, each: u64) -> Vec<f64> {
        let mut larger = self.clone();
        while larger.each < each {
            larger.halve();
        }
        larger.means
    }

    /// Merges each two portions.
    fn halve(&mut self) {
        let half = self.means.len() / 2;
        (0..half).for_each(|place| self.means[place] = f64::midpoint(self.means[2 * place], self.means[2 * place + 1]));
        self.means.truncate(half);
        self.each *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_are_means_of_equally_many_answers_and_stay_few() {
        let mut portions = Portions::default();
        portions.opened();
        (0..1_001).for_each(|time| portions.add(time));
        assert_eq!((portions.each(), portions.answers()), (16, 992));
        let expected: Vec<f64> = (0..62).map(|place| f64::from(place) * 16.0 + 7.5).collect();
        assert_eq!(portions.means_of(16), expected);
        assert_eq!(portions.means_of(32)[0].to_string(), "15.5");
    }

    #[test]
    fn portions_of_several_connections_are_of_none() {
        let mut portions = Portions::default();
        (0..40).for_each(|time| portions.add(time));
        portions.opened();
        assert_eq!(portions.answers(), 0);
    }
}
