//! Rules about what held up the load on its way: the generator itself, which its heartbeat shows, cores that others have, and
//! the kernel's TCP, which turns connections away or sends segments again.
//!
//! They are the same with users who wait and at equal rate, each load by what was seen while it lasted.

use super::{CORES_BUSY_MAX, Evidence, Finding, GENERATOR_SHARE_MAX, RUN_QUEUE_SHARE_MAX, STEAL_SHARE_MAX};
use crate::probe::network::TcpCounts;
use crate::probe::system::Ticks;
use crate::results::{GeneratorUse, Percentiles, Verdict};

/// Beats are a millisecond apart: a shorter stall is none.
const STALL_MS_MIN: f64 = 1.0;
/// Stalls longer than this share of the slowest answers' time are in those answers.
const STALL_SHARE_MAX: f64 = 0.1;
/// Segments that are sent again wait for 200 ms or more: above this share of all they show in the 99th percentile of answers of
/// a few segments.
pub(crate) const RETRANSMITTED_SHARE_MAX: f64 = 0.001;
/// Fewer are nothing, whatever share of a short load they are.
const RETRANSMITTED_MIN: u64 = 3;
/// The kernel sends again what is lost after 200 ms at the earliest, clocks of a histogram aside: where every answer came sooner,
/// what it counted are segments and connections of others.
const SENT_AGAIN_MS_MIN: f64 = 190.0;

/// What helps against stalls.
pub(crate) const STALLS_REMEDY: &str = "stop what else runs on this machine, or give the generator a core of its own";
/// What helps where connections were turned away.
pub(crate) const TURNED_AWAY_REMEDY: &str = "raise the server's backlog and net.core.somaxconn, or let fewer users connect at once: who is turned away waits for a second";
/// What helps against segments that are sent again.
pub(crate) const RETRANSMITTED_REMEDY: &str =
    "look for full listeners, lost packets and small socket buffers (`nstat -az | grep -i tcp`)";

/// A stall of the generator.
pub(crate) struct Stalled {
    pub(crate) reason: String,
    pub(crate) stall_ms: f64,
    pub(crate) bound_ms: f64,
}

/// Whether the generator was held up for longer than may be beside these answers; in a short time by the highest percentile
/// that its beats are enough for.
pub(crate) fn stalled(stalls_ms: Percentiles, response_ms: Percentiles) -> Option<Stalled> {
    let Percentiles { p50, p90, p95, p99, p999, .. } = stalls_ms;
    let by_share = [(p999, "p99.9"), (p99, "p99"), (p95, "p95"), (p90, "p90"), (p50, "p50")];
    let (stall_ms, at) = by_share.into_iter().find_map(|(stall_ms, at)| Some((stall_ms?, at)))?;
    let slowest_ms = slowest(response_ms);
    let bound_ms = STALL_MS_MIN.max(STALL_SHARE_MAX * slowest_ms.unwrap_or(0.0));
    let beside = slowest_ms.map(|slowest_ms| format!(", beside a slowest answer in a hundred of {slowest_ms:.2} ms"));
    let reason =
        || format!("the generator's heartbeat was {stall_ms:.1} ms late at {at}{}", beside.unwrap_or_default());
    (stall_ms > bound_ms).then(|| Stalled { reason: reason(), stall_ms, bound_ms })
}

/// The 99th percentile, or of few answers the highest one that there is.
fn slowest(times: Percentiles) -> Option<f64> {
    times.p99.or(times.p95).or(times.p90).or(times.p50)
}

/// What the kernel counted of TCP for all programs together, where something of it may have happened to this load: one of its
/// requests failed, or one of its answers took as long as what is sent again.
pub(crate) fn felt(tcp: TcpCounts, response_ms: Percentiles, failed: u64) -> Option<TcpCounts> {
    (failed > 0 || response_ms.max >= SENT_AGAIN_MS_MIN).then_some(tcp)
}

/// That connections were turned away, if any were.
pub(crate) fn turned_away(tcp: TcpCounts) -> Option<String> {
    let (count, full) = (tcp.turned_away(), tcp.listen_overflows);
    (count > 0).then(|| {
        format!(
            "listeners on this side of the network turned {count} connections away, {full} as their queue was full, those \
             of other programs included"
        )
    })
}

/// That segments were sent again, if more were than may be.
pub(crate) fn retransmitted(tcp: TcpCounts) -> Option<String> {
    let TcpCounts { segments_retransmitted, segments_sent, .. } = tcp;
    let share = tcp.retransmitted_share();
    (share > RETRANSMITTED_SHARE_MAX && segments_retransmitted >= RETRANSMITTED_MIN).then(|| {
        let (all, percent) = (segments_sent + segments_retransmitted, share * 100.0);
        format!(
            "{segments_retransmitted} of {all} segments of TCP were sent again ({percent:.2} %), those of other programs included"
        )
    })
}

/// How generator, machine and network were while one load lasted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    generator: GeneratorUse,
    tcp: Option<TcpCounts>,
    ticks: Ticks,
    response_ms: Percentiles,
    failed: u64,
}

impl Circumstances {
    fn felt(&self) -> Option<TcpCounts> {
        felt(self.tcp?, self.response_ms, self.failed)
    }
}

impl Evidence<'_> {
    /// With users who wait.
    pub(super) fn closed(&self) -> Circumstances {
        let cell = self.cell;
        let (generator, tcp, response_ms) = (cell.generator, cell.tcp, cell.response_time_ms);
        Circumstances { generator, tcp, ticks: self.ticks, response_ms, failed: cell.errors.values().sum() }
    }
}

/// What a rule finds of the load at equal rate, where there was one.
pub(super) fn at_equal_rate(evidence: &Evidence<'_>, rule: fn(&Circumstances) -> Option<Finding>) -> Option<Finding> {
    let rate = evidence.cell.equal_rate.as_ref()?;
    let (generator, tcp, response_ms) = (rate.generator, rate.tcp, rate.response_time_ms);
    let failed = rate.errors.values().sum();
    let found = rule(&Circumstances { generator, tcp, ticks: evidence.rate_ticks, response_ms, failed })?;
    Some(Finding { reason: format!("at equal rate {}", found.reason), ..found })
}

pub(super) fn client_saturation(seen: &Circumstances) -> Option<Finding> {
    let share = seen.generator.cpu_share;
    (share > GENERATOR_SHARE_MAX).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!("a generator thread used {:.0} % of its core", share * 100.0),
        remedy: "read CPU per request instead of times, or load from a machine with more cores",
        value: share,
        bound: GENERATOR_SHARE_MAX,
    })
}

pub(super) fn run_queue(seen: &Circumstances) -> Option<Finding> {
    let share = seen.generator.run_queue_share;
    (share > RUN_QUEUE_SHARE_MAX).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!("a generator thread waited {:.1} % of the time for its core", share * 100.0),
        remedy: "stop what else runs on this machine",
        value: share,
        bound: RUN_QUEUE_SHARE_MAX,
    })
}

pub(super) fn joint(seen: &Circumstances) -> Option<Finding> {
    let busy = seen.ticks.busy_share();
    (busy > CORES_BUSY_MAX).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!(
            "all cores were busy {:.0} % of the time: a joint figure of generator, subject and what else runs",
            busy * 100.0
        ),
        remedy: "read CPU per request instead of times",
        value: busy,
        bound: CORES_BUSY_MAX,
    })
}

pub(super) fn stalls(seen: &Circumstances) -> Option<Finding> {
    let Stalled { reason, stall_ms, bound_ms } = stalled(seen.generator.stalls_ms, seen.response_ms)?;
    Some(Finding { verdict: Verdict::Marked, reason, remedy: STALLS_REMEDY, value: stall_ms, bound: bound_ms })
}

pub(super) fn listen_overflow(seen: &Circumstances) -> Option<Finding> {
    let tcp = seen.felt()?;
    Some(Finding {
        verdict: Verdict::Marked,
        reason: turned_away(tcp)?,
        remedy: TURNED_AWAY_REMEDY,
        value: tcp.turned_away() as f64,
        bound: 0.0,
    })
}

pub(super) fn retransmissions(seen: &Circumstances) -> Option<Finding> {
    let tcp = seen.felt()?;
    Some(Finding {
        verdict: Verdict::Marked,
        reason: retransmitted(tcp)?,
        remedy: RETRANSMITTED_REMEDY,
        value: tcp.retransmitted_share(),
        bound: RETRANSMITTED_SHARE_MAX,
    })
}

pub(super) fn steal(seen: &Circumstances) -> Option<Finding> {
    steal_finding(seen.ticks)
}

/// That the hypervisor took more of the cores than it may.
pub(super) fn steal_finding(ticks: Ticks) -> Option<Finding> {
    let share = ticks.steal_share();
    (share > STEAL_SHARE_MAX).then(|| Finding {
        verdict: Verdict::Marked,
        reason: format!("the hypervisor took {:.1} % of the cores' time", share * 100.0),
        remedy: "run again when the host is calmer, or on a machine of its own",
        value: share,
        bound: STEAL_SHARE_MAX,
    })
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{evidence, sound};
    use super::*;
    use crate::results::Cell;

    fn check(change: impl FnOnce(&mut Cell), expected: &str) {
        let mut cell = sound();
        cell.response_time_ms = Percentiles { p50: Some(1.0), p99: Some(20.0), max: 200.0, ..Percentiles::default() };
        change(&mut cell);
        let found = judge(&evidence(&cell));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule, expected, "{found:?}");
    }

    #[test]
    fn a_heartbeat_later_than_a_tenth_of_the_slowest_answers_is_marked() {
        let late = |p999: Option<f64>, p99: Option<f64>| Percentiles { p999, p99, ..Percentiles::default() };
        check(|cell| cell.generator.stalls_ms = late(Some(2.0), Some(1.0)), "all");
        check(|cell| cell.generator.stalls_ms = late(Some(2.1), Some(1.0)), "stalls");
        // Too few beats for the highest percentile.
        check(|cell| cell.generator.stalls_ms = late(None, Some(2.1)), "stalls");
        check(|cell| (cell.generator.stalls_ms, cell.response_time_ms.p99) = (late(Some(1.0), None), Some(0.2)), "all");
        check(|cell| (cell.generator.stalls_ms, cell.response_time_ms.p99) = (late(Some(1.1), None), None), "stalls");
        check(|cell| cell.generator.stalls_ms = Percentiles::default(), "all");
    }

    #[test]
    fn connections_turned_away_and_segments_sent_again_are_marked() {
        let counts = |away: u64, again: u64| {
            move |cell: &mut Cell| {
                cell.tcp = Some(TcpCounts {
                    listen_overflows: away,
                    listen_drops: away,
                    segments_retransmitted: again,
                    segments_sent: 10_000 - again,
                });
            }
        };
        check(counts(0, 10), "all");
        check(counts(1, 0), "listen-overflow");
        check(counts(0, 11), "retransmissions");
        check(|cell| cell.tcp = None, "all");
        // A stray segment of a short load is no share of it.
        let few = |segments_retransmitted: u64| {
            let tcp = TcpCounts { segments_sent: 700, segments_retransmitted, ..TcpCounts::default() };
            move |cell: &mut Cell| cell.tcp = Some(tcp)
        };
        check(few(2), "all");
        check(few(3), "retransmissions");
    }

    #[test]
    fn what_happened_to_others_is_told_of_nobody_who_did_not_wait() {
        let of = |longest_ms: f64| {
            move |cell: &mut Cell| {
                cell.response_time_ms.max = longest_ms;
                cell.tcp = Some(TcpCounts { listen_drops: 4, segments_sent: 10_000, ..TcpCounts::default() });
            }
        };
        check(of(180.0), "all");
        check(of(200.0), "listen-overflow");
        let counts = TcpCounts { listen_drops: 4, ..TcpCounts::default() };
        assert_eq!(felt(counts, Percentiles::default(), 1), Some(counts));
        assert_eq!(felt(counts, Percentiles::default(), 0), None);
    }
}
