//! Rules about handshakes, and about a load at a rate: whether it was offered as it was asked.

use super::{Evidence, Finding};
use crate::results::{Encryption, Verdict};

/// Handshakes of the wrong kind, by all.
const WRONG_HANDSHAKE_SHARE_MAX: f64 = 0.01;
/// Sends later than this at the 99th percentile measure the generator; or than [`LATENESS_MEDIAN_SHARE_MAX`].
pub(crate) const LATENESS_MS_MAX: f64 = 1.0;
/// The same as a share of the median response time, whichever is more.
pub(crate) const LATENESS_MEDIAN_SHARE_MAX: f64 = 0.1;
/// Least share of the intended requests that must have been sent.
pub(crate) const SENT_SHARE_MIN: f64 = 0.99;

pub(super) fn handshakes(evidence: &Evidence<'_>) -> Option<Finding> {
    let connected = evidence.cell.connected?;
    let (wrong, kind) = match evidence.connecting?.encryption {
        Encryption::Off => return None,
        Encryption::Full => (connected.handshakes_resumed, "resumed"),
        Encryption::Resumed => (connected.handshakes_full, "full"),
    };
    let all = connected.handshakes_full + connected.handshakes_resumed;
    let share = wrong as f64 / all.max(1) as f64;
    (share > WRONG_HANDSHAKE_SHARE_MAX).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!("{wrong} of {all} handshakes were {kind} ones"),
        remedy: "see whether the server gives tickets, and how many; the figure is of both kinds",
        value: share,
        bound: WRONG_HANDSHAKE_SHARE_MAX,
    })
}

pub(super) fn lateness(evidence: &Evidence<'_>) -> Option<Finding> {
    let rate = evidence.cell.equal_rate.as_ref()?;
    let late = rate.lateness_ms;
    // Of few requests the highest percentile that they are enough for.
    let by_share = [(late.p99, "1 %"), (late.p95, "5 %"), (late.p90, "10 %")];
    let (late, share) = by_share.into_iter().find_map(|(late, share)| Some((late?, share)))?;
    let median = rate.response_time_ms.p50?;
    let bound = LATENESS_MS_MAX.max(LATENESS_MEDIAN_SHARE_MAX * median);
    (late > bound).then(|| Finding {
        verdict: Verdict::Refused,
        reason: format!(
            "at equal rate {share} of the requests were sent {late:.2} ms late or later, of a median of {median:.2} ms"
        ),
        remedy: "give the generator cores of its own, or offer less: `share` of `equal_rate`",
        value: late,
        bound,
    })
}

pub(super) fn rate(evidence: &Evidence<'_>) -> Option<Finding> {
    let rate = evidence.cell.equal_rate.as_ref()?;
    let share = rate.sent as f64 / rate.intended.max(1) as f64;
    (share < SENT_SHARE_MIN).then(|| Finding {
        verdict: Verdict::Refused,
        reason: format!("at equal rate {} of {} requests could not be sent", rate.unsent, rate.intended),
        remedy: "offer less: `share` of `equal_rate`",
        value: share,
        bound: SENT_SHARE_MIN,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        judge,
        tests::{evidence, sound},
    };
    use super::*;
    use crate::results::{Connecting, ConnectionUse, EqualRate, Linear, Percentiles};

    fn at(rate: EqualRate, connected: ConnectionUse, encryption: Encryption) -> Vec<(String, Verdict)> {
        let mut cell = sound();
        (cell.equal_rate, cell.connected) = (Some(rate), Some(connected));
        let connecting = Some(Connecting { requests_per_connection: Some(1), encryption });
        let found = judge(&Evidence { connecting, ..evidence(&cell) });
        found.into_iter().map(|doubt| (doubt.rule, doubt.verdict)).collect()
    }

    fn offered() -> EqualRate {
        let times = |p50, p99| Percentiles { p50: Some(p50), p99: Some(p99), ..Percentiles::default() };
        EqualRate {
            rate_per_second: 100.0,
            rate_share: 0.5,
            arrivals: crate::results::Arrivals::Poisson,
            intended: 1000,
            sent: 1000,
            unsent: 0,
            lateness_ms: times(0.1, 0.9),
            response_time_ms: times(2.0, 5.0),
            linear: Linear::default(),
            groups: Vec::new(),
        }
    }

    #[test]
    fn a_rate_that_was_not_kept_is_refused() {
        let check = |change: fn(&mut EqualRate), expected: (&str, Verdict)| {
            let mut rate = offered();
            change(&mut rate);
            let found = at(rate, ConnectionUse::default(), Encryption::Off);
            assert_eq!(found, [(expected.0.to_owned(), expected.1)]);
        };
        check(|_| {}, ("all", Verdict::Ok));
        check(|rate| rate.lateness_ms.p99 = Some(1.1), ("lateness", Verdict::Refused));
        check(|rate| (rate.lateness_ms.p99, rate.response_time_ms.p50) = (Some(1.1), Some(12.0)), ("all", Verdict::Ok));
        check(
            |rate| rate.lateness_ms = Percentiles { p95: Some(1.1), ..Percentiles::default() },
            ("lateness", Verdict::Refused),
        );
        check(|rate| (rate.sent, rate.unsent) = (990, 10), ("all", Verdict::Ok));
        check(|rate| (rate.sent, rate.unsent) = (989, 11), ("rate", Verdict::Refused));
    }

    #[test]
    fn handshakes_of_the_wrong_kind_are_marked_above_one_in_a_hundred() {
        let check = |full: u64, resumed: u64, encryption: Encryption, expected: &str| {
            let connected =
                ConnectionUse { handshakes_full: full, handshakes_resumed: resumed, ..ConnectionUse::default() };
            assert_eq!(at(offered(), connected, encryption)[0].0, expected, "{full} {resumed}");
        };
        check(1, 99, Encryption::Resumed, "all");
        check(2, 98, Encryption::Resumed, "handshakes");
        check(98, 2, Encryption::Full, "handshakes");
        check(100, 0, Encryption::Full, "all");
        check(0, 0, Encryption::Full, "all");
    }
}
