//! Rules about handshakes and about a load at a rate: whether it was offered as asked, and answered.

use super::seen::LoadSeen;
use super::unsent::{SENT_SHARE_MIN, Unsent};
use tollgate_facts::results::{Encryption, EqualRate, Percentiles};
use tollgate_facts::rules::{Finding, marked, marked_above, refused};

/// Largest share of handshakes of the wrong kind.
const WRONG_HANDSHAKE_SHARE_MAX: f64 = 0.01;
/// Largest lateness of sends at a percentile, unless [`LATENESS_SHARE_MAX`] allows more: beyond it the generator is
/// measured.
const LATENESS_MS_MAX: f64 = 1.0;
/// The same as a share of the response time at that percentile; the larger bound applies. A late send is also part of
/// the response time: a stalled generator raises both alike, a stalled server only the latter.
const LATENESS_SHARE_MAX: f64 = 0.1;
/// Remedy for a generator that is late by itself.
pub(crate) const GENERATOR_REMEDY: &str = "it was the generator: give it cores of its own, or offer less";
/// The same at equal rate.
const GENERATOR_AT_EQUAL_RATE_REMEDY: &str =
    "it was the generator: give it cores of its own, or offer less: `equal_rate`, or --rate";

/// Punctuality of a load at a rate, and its response times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Punctuality {
    /// Delay from when requests were due to their start.
    pub(crate) lateness_ms: Percentiles,
    /// The part of that which is the generator's own doing.
    pub(crate) overdue_ms: Percentiles,
    /// Time from when requests were due to their answers.
    pub(crate) response_ms: Percentiles,
}

/// Starts that were later than allowed.
pub(crate) struct Late {
    /// The share of them, in words; absent where there are so few that the mean is judged.
    share: Option<&'static str>,
    /// Lateness of that share at least, or the mean of all.
    pub(crate) late_ms: f64,
    /// Largest lateness allowed.
    pub(crate) bound_ms: f64,
}

impl Late {
    /// Says that these `things` were begun late.
    pub(crate) fn told(&self, things: &str, were_begun: &str) -> String {
        let late_ms = self.late_ms;
        let most = format!("at most {:.2} may be", self.bound_ms);
        match self.share {
            Some(share) => format!("{share} of the {things} {were_begun} {late_ms:.2} ms late or later, {most}"),
            None => format!("the {things} {were_begun} {late_ms:.2} ms late on average, {most}"),
        }
    }
}

impl Punctuality {
    /// The punctuality of a load at equal rate.
    fn of(rate: &EqualRate) -> Punctuality {
        let EqualRate { lateness_ms, overdue_ms, response_time_ms: response_ms, .. } = *rate;
        Punctuality { lateness_ms, overdue_ms, response_ms }
    }

    /// Returns the lateness if the generator alone was too late for these answers.
    pub(crate) fn own(&self) -> Option<Late> {
        self.late(self.overdue_ms)
    }

    /// Returns the lateness if too much was begun too late, whatever the cause.
    pub(crate) fn at_all(&self) -> Option<Late> {
        self.late(self.lateness_ms)
    }

    /// Checks each percentile that has enough samples, the highest first; with few samples the mean, which their
    /// figures are printed with.
    fn late(&self, late_ms: Percentiles) -> Option<Late> {
        let response_ms = self.response_ms;
        let late = |share, late_ms: f64, time_ms: f64| {
            let bound_ms = LATENESS_MS_MAX.max(LATENESS_SHARE_MAX * time_ms);
            (late_ms > bound_ms).then_some(Late { share, late_ms, bound_ms })
        };
        let Percentiles { p50, p90, p95, p99, .. } = late_ms;
        if p90.or(p95).or(p99).is_none() {
            // Without the lateness, which would excuse itself: few that are late are as late as their answers are long.
            return late(None, late_ms.mean, (response_ms.mean - self.lateness_ms.mean).max(0.0));
        }
        let shares = [(p99, "1 %"), (p95, "5 %"), (p90, "10 %"), (p50, "half")];
        let Percentiles { p50, p90, p95, p99, .. } = response_ms;
        let times = [p99, p95, p90, p50];
        shares.into_iter().enumerate().find_map(|(place, (late_ms, share))| {
            // Of few answers the next lower percentile stands for it, of very few the longest; without any, nothing was
            // worth waiting for.
            let time_ms = times[place..].iter().find_map(|time| *time).unwrap_or(response_ms.max);
            late(Some(share), late_ms?, time_ms)
        })
    }
}

pub(super) fn handshakes(seen: &LoadSeen<'_>) -> Option<Finding> {
    let (full, resumed) = seen.handshakes?;
    let (wrong, kind) = match seen.evidence.connecting?.encryption {
        Encryption::Off => return None,
        Encryption::Full => (resumed, "resumed"),
        Encryption::Resumed => (full, "full"),
    };
    let all = full + resumed;
    let share = wrong as f64 / all.max(1) as f64;
    let reason = format!("{wrong} of {all} handshakes were {kind} ones");
    let remedy = "see whether the server gives tickets, and how many; the figure is of both kinds";
    marked_above(reason, remedy, (share, WRONG_HANDSHAKE_SHARE_MAX))
}

pub(super) fn lateness(seen: &LoadSeen<'_>) -> Option<Finding> {
    let punctuality = Punctuality::of(seen.evidence.cell.equal_rate.as_ref()?);
    let own = punctuality.own();
    let remedy = match own {
        Some(_) => GENERATOR_AT_EQUAL_RATE_REMEDY,
        None => "all users were waiting for their answers: offer less, `equal_rate`, or --rate",
    };
    let late = own.or_else(|| punctuality.at_all())?;
    Some(refused(late.told("requests", "were sent"), remedy, (late.late_ms, late.bound_ms)))
}

pub(super) fn rate(seen: &LoadSeen<'_>) -> Option<Finding> {
    let rate = seen.evidence.cell.equal_rate.as_ref()?;
    let unsent = Unsent { intended: rate.intended, unsent: rate.unsent };
    let remedy = |users| if Punctuality::of(rate).own().is_some() { GENERATOR_AT_EQUAL_RATE_REMEDY } else { users };
    if unsent.is_too_much() {
        let reason = format!("{} of {} requests could not be sent", rate.unsent, rate.intended);
        let remedy = remedy("offer less: `equal_rate`, or --rate");
        return Some(refused(reason, remedy, (unsent.sent_share(), SENT_SHARE_MIN)));
    }
    let lacking = unsent.lacking(rate.response_time_ms, 1)?;
    let remedy = remedy(
        "let its trials go on longer (`rate_slice_ms`, a longer extent), or offer less: `equal_rate`, or --rate",
    );
    let reason = unsent.told(&lacking, "requests", "sent");
    Some(marked(reason, remedy, (unsent.sent_share(), lacking.sent_share_min)))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::super::{
        Evidence, SeenBeside, WithinTrials, judge,
        tests::{evidence, growing, sound},
    };
    use super::*;
    use crate::probe::system::Ticks;
    use tollgate_facts::results::{Connecting, ConnectionUse, GeneratorUse, Linear, Negotiated, Verdict};
    use tollgate_facts::results::{SocketCounts, TcpCounts};

    fn at(rate: EqualRate, connected: ConnectionUse, encryption: Encryption) -> Vec<(String, Verdict)> {
        let mut cell = sound();
        let negotiated = Negotiated { connections: 1, ..Negotiated::default() };
        cell.negotiated.extend((encryption != Encryption::Off).then_some(negotiated));
        (cell.equal_rate, cell.connected) = (Some(rate), Some(connected));
        cell.equal_rate.iter_mut().for_each(|rate| rate.negotiated.clone_from(&cell.negotiated));
        let connecting = Some(Connecting { requests_per_connection: Some(1), encryption });
        let found = judge(&Evidence { connecting, ..evidence(&cell) });
        found.into_iter().map(|doubt| (doubt.rule, doubt.verdict)).collect()
    }

    /// A load at equal rate without any fault.
    pub(in crate::judge) fn offered() -> EqualRate {
        let times = |p50, p99| Percentiles { p50: Some(p50), p99: Some(p99), ..Percentiles::default() };
        EqualRate {
            rate_per_second: 100.0,
            rate_share: 0.5,
            arrivals: tollgate_facts::results::Arrivals::Poisson,
            intended: 1000,
            sent: 1000,
            unsent: 0,
            answered: 1000,
            errors: BTreeMap::new(),
            error_examples: BTreeMap::new(),
            handshakes_full: 0,
            handshakes_resumed: 0,
            negotiated: Vec::new(),
            lateness_ms: times(0.1, 0.9),
            overdue_ms: times(0.1, 0.9),
            generator: GeneratorUse::default(),
            subject_cores: None,
            tcp: None,
            response_time_ms: Percentiles { max: 250.0, ..times(2.0, 5.0) },
            response_interval_ms: None,
            undelayed_ms: None,
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
        // At the percentile that it would move, it is a tenth.
        check(|rate| (rate.lateness_ms.p99, rate.response_time_ms.p99) = (Some(1.1), Some(11.0)), ("all", Verdict::Ok));
        fn half_late(rate: &mut EqualRate) {
            (rate.lateness_ms.p50, rate.lateness_ms.p90, rate.response_time_ms.p90) =
                (Some(1.1), Some(1.1), Some(99.0));
        }
        check(half_late, ("lateness", Verdict::Refused));
        check(
            |rate| {
                half_late(rate);
                rate.response_time_ms.p50 = Some(11.0);
            },
            ("all", Verdict::Ok),
        );
        // A generator that was held up: what it sent late is as late in the response times.
        check(
            |rate| (rate.lateness_ms.p99, rate.response_time_ms.p99) = (Some(1900.0), Some(1901.0)),
            ("lateness", Verdict::Refused),
        );
        // A server that was held up, and a burst when it came back.
        check(
            |rate| (rate.lateness_ms.p99, rate.response_time_ms.p99) = (Some(139.0), Some(1900.0)),
            ("all", Verdict::Ok),
        );
        check(
            |rate| rate.lateness_ms = Percentiles { p95: Some(1.1), ..Percentiles::default() },
            ("lateness", Verdict::Refused),
        );
        // Of what is to be beyond its 99th percentile a tenth may be missing, and that is one in a thousand.
        check(|rate| (rate.intended, rate.sent, rate.unsent) = (1100, 1099, 1), ("all", Verdict::Ok));
        check(|rate| (rate.sent, rate.unsent) = (990, 10), ("rate", Verdict::Marked));
        check(|rate| (rate.sent, rate.unsent) = (989, 11), ("rate", Verdict::Refused));
    }

    #[test]
    fn of_few_the_mean_is_held_against_what_the_answers_took_by_themselves() {
        let mean = |mean: f64| Percentiles { mean, p50: Some(mean), max: 100.0 * mean, ..Percentiles::default() };
        let check = |own_ms: f64, late_ms: f64, response_ms: f64, expected: [bool; 2]| {
            let (overdue_ms, lateness_ms) = (mean(own_ms), mean(late_ms));
            let found = Punctuality { lateness_ms, overdue_ms, response_ms: mean(response_ms) };
            assert_eq!([found.own().is_some(), found.at_all().is_some()], expected, "{found:?}");
        };
        check(0.0, 0.0, 0.0, [false, false]);
        check(0.9, 0.9, 2.9, [false, false]);
        check(1.1, 1.1, 3.1, [true, true]);
        // Half of a hundred came half a second late, and took a millisecond: the answers are no longer for that.
        check(250.0, 250.0, 251.0, [true, true]);
        // Answers of a second bear a tenth of it, and users who are missing are not the generator's doing.
        check(90.0, 90.0, 1090.0, [false, false]);
        check(0.1, 110.0, 1110.0, [false, true]);
        let told = Punctuality { lateness_ms: mean(0.0), overdue_ms: mean(2.0), response_ms: mean(3.0) }.own().unwrap();
        assert_eq!(
            told.told("requests", "were sent"),
            "the requests were sent 2.00 ms late on average, at most 1.00 may be"
        );
    }

    #[test]
    fn at_equal_rate_less_is_to_be_offered_or_the_generator_to_have_a_core_by_whose_doing_it_was() {
        let check = |own_ms: f64, is_generators: bool| {
            let mut rate = offered();
            (rate.sent, rate.unsent) = (900, 100);
            (rate.lateness_ms.p99, rate.overdue_ms.p99) = (Some(9.0), Some(own_ms));
            let mut cell = sound();
            cell.equal_rate = Some(rate);
            let found = judge(&evidence(&cell));
            assert_eq!(found.iter().map(|doubt| doubt.rule.as_str()).collect::<Vec<_>>(), ["lateness", "rate"]);
            assert!(found.iter().all(|doubt| doubt.remedy.contains("cores of its own") == is_generators), "{found:?}");
        };
        check(0.9, false);
        check(9.0, true);
    }

    #[test]
    fn what_holds_up_the_load_at_a_rate_is_marked_by_what_was_seen_of_that_load() {
        let check = |change: fn(&mut EqualRate), expected: &str| {
            let mut rate = offered();
            change(&mut rate);
            let found = at(rate, ConnectionUse::default(), Encryption::Off);
            assert_eq!(found, [(expected.to_owned(), Verdict::Marked)]);
        };
        check(|rate| rate.generator.cpu_share = 0.81, "rate-client-saturation");
        check(|rate| rate.generator.run_queue_share = 0.051, "rate-run-queue");
        check(|rate| rate.tcp = Some(TcpCounts { listen_drops: 1, ..TcpCounts::default() }), "rate-listen-overflow");
        fn sent_again(rate: &mut EqualRate) {
            let own = SocketCounts { segments_sent: 10_000, segments_retransmitted: 11, ..SocketCounts::default() };
            rate.tcp = Some(TcpCounts { own: Some(own), ..TcpCounts::default() });
        }
        check(sent_again, "rate-retransmissions");
        let mut cell = sound();
        cell.equal_rate = Some(offered());
        let of_ticks = |idle: u64, steal: u64| {
            let rate_beside =
                SeenBeside { ticks: Ticks { total: 1000, idle, steal, interrupts: 0 }, ..SeenBeside::default() };
            judge(&Evidence { rate_beside, ..evidence(&cell) }).into_iter().map(|doubt| doubt.rule).collect::<Vec<_>>()
        };
        assert_eq!(of_ticks(400, 0), ["all"]);
        assert_eq!(of_ticks(40, 0), ["rate-joint"]);
        assert_eq!(of_ticks(400, 11), ["rate-steal"]);
    }

    #[test]
    fn times_that_grow_within_trials_at_equal_rate_refuse_what_is_said_of_it() {
        let mut cell = sound();
        cell.equal_rate = Some(offered());
        let within = growing(1.0, 2.0).map(|trend| WithinTrials { trend, lasted_ms: 250.0, answered: 400.0 });
        let sound = evidence(&cell);
        let found = judge(&Evidence { rate_beside: SeenBeside { within, ..sound.rate_beside }, ..sound });
        let found: Vec<(&str, Verdict)> = found.iter().map(|doubt| (doubt.rule.as_str(), doubt.verdict)).collect();
        assert_eq!(found, [("rate-steady", Verdict::Refused)]);
    }

    #[test]
    fn failures_at_a_rate_are_told_and_above_one_in_a_thousand_refused() {
        let check = |answered: u64, failed: u64, expected: (&str, Verdict)| {
            let errors = BTreeMap::from([("status-503".to_owned(), failed)]);
            let found = at(EqualRate { answered, errors, ..offered() }, ConnectionUse::default(), Encryption::Off);
            assert_eq!(found, [(expected.0.to_owned(), expected.1)], "{failed} of {answered}");
        };
        check(1000, 0, ("all", Verdict::Ok));
        check(999, 1, ("rate-errors", Verdict::Marked));
        check(998, 2, ("rate-errors", Verdict::Refused));
        check(0, 1, ("rate-errors", Verdict::Refused));
    }

    #[test]
    fn handshakes_of_the_wrong_kind_at_a_rate_are_marked_too() {
        let check = |full: u64, resumed: u64, encryption: Encryption, expected: &str| {
            let rate = EqualRate { handshakes_full: full, handshakes_resumed: resumed, ..offered() };
            let found = at(rate, ConnectionUse::default(), encryption);
            assert_eq!(found, [(expected.to_owned(), if expected == "all" { Verdict::Ok } else { Verdict::Marked })]);
        };
        check(2, 98, Encryption::Resumed, "rate-handshakes");
        check(98, 2, Encryption::Full, "rate-handshakes");
        check(1, 99, Encryption::Resumed, "all");
        check(0, 0, Encryption::Off, "all");
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
