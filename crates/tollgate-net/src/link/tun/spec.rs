//! The properties of a line of packets, and their limits.
//!
//! It deliberately decides no packet's fate: that is in `way`.

use std::fmt;
use std::time::Duration;

use crate::link::{LinkSpec, SpecError};

/// Largest share of losses; beyond it no connection makes progress.
pub const LOSS_MAX: f64 = 0.9;
/// Beyond half of the packets, those that keep their place are the ones out of order.
pub const REORDER_MAX: f64 = 0.5;

/// The properties of a line of packets.
#[derive(Clone, Debug, PartialEq)]
pub struct TunSpec {
    /// Its delays, jitter, rate and seed, which mean the same as for the proxy. The order is kept under jitter, too.
    /// Its window is here the queue for the rate, as at a router: packets beyond it are dropped.
    pub link: LinkSpec,
    /// Share of the packets of each way that get lost: 0 to [`LOSS_MAX`].
    pub loss: f64,
    /// Share of the packets of each way that take half the delay of their way longer, so that later ones overtake
    /// them: 0 to [`REORDER_MAX`].
    pub reorder: f64,
}

/// The reasons why a line is impossible.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TunSpecError {
    /// An error of every kind of link.
    Link(SpecError),
    /// A share of losses beyond [`LOSS_MAX`].
    Loss(f64),
    /// A share of packets out of order beyond [`REORDER_MAX`].
    Reorder(f64),
    /// Reordering was requested without a delay, so that no packet is under way.
    ReorderWithoutDelay,
}

impl TunSpec {
    /// A line with this round trip, half of it each way, and nothing else in its way.
    #[must_use]
    pub fn of_round_trip(round_trip: Duration) -> TunSpec {
        TunSpec { link: LinkSpec::of_round_trip(round_trip), loss: 0.0, reorder: 0.0 }
    }

    /// Checks that such a line is possible.
    ///
    /// # Errors
    /// The first thing that cannot.
    pub fn check(&self) -> Result<(), TunSpecError> {
        self.link.check().map_err(TunSpecError::Link)?;
        if !(0.0..=LOSS_MAX).contains(&self.loss) {
            return Err(TunSpecError::Loss(self.loss));
        }
        if !(0.0..=REORDER_MAX).contains(&self.reorder) {
            return Err(TunSpecError::Reorder(self.reorder));
        }
        if self.reorder > 0.0 && self.link.delay_there.min(self.link.delay_back).is_zero() {
            return Err(TunSpecError::ReorderWithoutDelay);
        }
        Ok(())
    }
}

impl From<LinkSpec> for TunSpec {
    fn from(link: LinkSpec) -> TunSpec {
        TunSpec { link, loss: 0.0, reorder: 0.0 }
    }
}

impl fmt::Display for TunSpecError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunSpecError::Link(error) => error.fmt(formatter),
            TunSpecError::Loss(share) => {
                write!(formatter, "a loss of {} % is not from 0 to {} %", share * 100.0, LOSS_MAX * 100.0)
            }
            TunSpecError::Reorder(share) => {
                let (share, most) = (share * 100.0, REORDER_MAX * 100.0);
                write!(formatter, "a share of {share} % out of order is not from 0 to {most} %")
            }
            TunSpecError::ReorderWithoutDelay => {
                formatter.write_str("packets overtake others only while these are under way: there is no delay")
            }
        }
    }
}

impl std::error::Error for TunSpecError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_cannot_be_is_refused() {
        let check = |change: &dyn Fn(&mut TunSpec), expected: Option<&str>| {
            let mut spec = TunSpec::of_round_trip(Duration::from_millis(20));
            change(&mut spec);
            assert_eq!(spec.check().err().map(|error| error.to_string()).as_deref(), expected);
        };
        check(&|_| (), None);
        check(&|spec| spec.loss = LOSS_MAX, None);
        check(&|spec| spec.loss = 0.91, Some("a loss of 91 % is not from 0 to 90 %"));
        check(&|spec| spec.loss = f64::NAN, Some("a loss of NaN % is not from 0 to 90 %"));
        check(&|spec| spec.reorder = REORDER_MAX, None);
        check(&|spec| spec.reorder = 0.51, Some("a share of 51 % out of order is not from 0 to 50 %"));
        check(
            &|spec| {
                spec.reorder = 0.1;
                spec.link = LinkSpec::of_round_trip(Duration::ZERO);
            },
            Some("packets overtake others only while these are under way: there is no delay"),
        );
        check(
            &|spec| spec.link.jitter = Duration::from_millis(21),
            Some("a jitter of 21ms is more than the delays allow: at most 20ms"),
        );
    }
}
