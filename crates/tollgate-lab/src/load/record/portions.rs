//! The response times of one connection in portions: means of as many answers each, in their order, few however many
//! they are. What single answers have in common with their neighbours is within them.
//!
//! It deliberately does not compare connections.

/// Portions of a connection, at most; half as many of them at least, once there have been so many answers.
const PORTIONS_MAX: usize = 64;

/// Response times of one connection, each part of them as many answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Portions {
    /// Their means, in nanoseconds.
    means: Vec<f64>,
    /// Answers in each.
    each: u64,
    /// Answers of the portion that is not whole yet, and their times added up.
    open: (u64, u64),
    /// Whether they are those of several connections, one after another: these did not meet the same.
    is_mixed: bool,
}

impl Default for Portions {
    fn default() -> Portions {
        Portions { means: Vec::new(), each: 1, open: (0, 0), is_mixed: false }
    }
}

impl Portions {
    /// An answer on the connection that was there.
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

    /// An answer that opened a connection, whose time is that of opening it, too.
    pub(crate) fn opened(&mut self) {
        self.is_mixed |= !self.means.is_empty();
    }

    /// Answers in whole portions of one connection; of several ones none.
    pub(crate) fn answers(&self) -> u64 {
        if self.is_mixed { 0 } else { self.each * self.means.len() as u64 }
    }

    /// Answers in each portion.
    pub(crate) fn each(&self) -> u64 {
        self.each
    }

    /// The means of portions that are so large at least.
    pub(crate) fn means_of(&self, each: u64) -> Vec<f64> {
        let mut larger = self.clone();
        while larger.each < each {
            larger.halve();
        }
        larger.means
    }

    /// Two become one.
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
