//! Rules about delays of the load on its way: stalls of the generator itself, cores that other programs use, and the
//! kernel's TCP, which turns connections away or sends segments again.
//!
//! The same rules apply to a closed load and at equal rate, each to its own observations.

use super::bounds::{CORES_BUSY_MAX, GENERATOR_SHARE_MAX, RUN_QUEUE_SHARE_MAX, STEAL_SHARE_MAX};
use super::evidence::OwnCpu;
use crate::probe::system::{TICK_NS, Ticks};
use tollgate_facts::results::{Percentiles, SocketCounts, TcpCounts};
use tollgate_facts::rules::{Finding, marked_above};

/// Segments that are sent again wait for 200 ms or more: above this share of all segments they show in the 99th percentile
/// of answers of a few segments.
const RETRANSMITTED_SHARE_MAX: f64 = 0.001;
/// Above this share of the requests they show in the 99th percentile, however many segments a request and its connection
/// take.
const RETRANSMITTED_BY_REQUEST_MAX: f64 = 0.01;
/// Fewest segments sent again that count, whatever share of a short load they are.
const RETRANSMITTED_MIN: u64 = 3;
/// Least wait of a lone segment that the kernel sends again: 200 ms, less the precision of the histogram. Where every
/// answer came sooner, the count is of other segments and connections.
const SENT_AGAIN_MS_MIN: f64 = 190.0;
/// Bytes that fit into one segment: of several, a lost one is noticed by those behind it, and sent again within a round
/// trip or two.
const SEGMENT_BYTES: f64 = 1400.0;

/// Other programs that have more than this share of full cores are to be stopped.
const OTHERS_SHARE_MAX: f64 = 0.1;
/// Remedy against other programs.
const OTHERS_REMEDY: &str = "stop what else runs on this machine";
/// Remedy where generator and subject filled the cores by themselves.
const READ_CPU_REMEDY: &str = "read the CPU time per request";
/// Remedy where it is unknown who filled the cores.
const UNWATCHED_REMEDY: &str = "stop what else runs; if the subject runs on this machine, name its process (--subject-pid, for `versus` --pid) and read CPU per request";

/// Remedy for connections that were turned away.
const TURNED_AWAY_REMEDY: &str = "raise the server's backlog and net.core.somaxconn, or let fewer users connect at once: who is turned away waits for a second";
/// Remedy for segments that are sent again.
const RETRANSMITTED_REMEDY: &str =
    "look for full listeners, lost packets and small socket buffers (`nstat -az | grep -i tcp`)";

/// Evidence in a load itself for the kernel's counts of TCP: those of listeners are of all programs, those of segments
/// sent again are of its own sockets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) response_ms: Percentiles,
    pub(crate) failed: u64,
    /// Requests, including failed ones.
    pub(crate) asked: u64,
    /// Mean bytes of a request or of an answer, whichever is larger.
    pub(crate) larger_bytes: f64,
}

impl Shown {
    /// Whether a request failed, or an answer took as long as a segment that is sent again after a timeout.
    fn has_waited(self) -> bool {
        self.failed > 0 || self.response_ms.max >= SENT_AGAIN_MS_MIN
    }

    /// Marks a load during which connections were turned away, if that shows in it.
    pub(crate) fn turned_away(self, tcp: TcpCounts) -> Option<Finding> {
        let (count, full) = (tcp.turned_away(), tcp.listen_overflows);
        let reason = format!(
            "listeners on this side of the network turned {count} connections away, {full} as their queue was full, those \
             of other programs included"
        );
        marked_above(reason, TURNED_AWAY_REMEDY, (count as f64, 0.0)).filter(|_| self.has_waited())
    }

    /// Marks a load with too many segments sent again, if that shows in it: requests or answers larger than a segment
    /// need not have waited for a timeout.
    pub(crate) fn sent_again(self, tcp: TcpCounts) -> Option<Finding> {
        let SocketCounts { segments_sent: sent, segments_retransmitted: again, .. } = tcp.own?;
        let SocketCounts { segments_received: received, segments_out_of_order: behind, .. } = tcp.own?;
        if !self.has_waited() && self.larger_bytes <= SEGMENT_BYTES {
            return None;
        }
        let beyond = |count: u64, all: u64, bound: f64, told: String| {
            let share = count as f64 / all.max(1) as f64;
            let reason = format!("{count} {told} ({:.2} %)", share * 100.0);
            marked_above(reason, RETRANSMITTED_REMEDY, (share, bound)).filter(|_| count >= RETRANSMITTED_MIN)
        };
        let told = format!("of {sent} segments that the client sent were sent again");
        let by_segments = beyond(again, sent, RETRANSMITTED_SHARE_MAX, told);
        let told = format!("segments of the client were sent again in {} requests", self.asked);
        let by_requests =
            || beyond(again, self.asked, RETRANSMITTED_BY_REQUEST_MAX, told).filter(|_| self.has_waited());
        let told = format!("of {received} segments of the server came behind one that was lost or overtaken");
        let of_server = || beyond(behind, received, RETRANSMITTED_SHARE_MAX, told);
        by_segments.or_else(by_requests).or_else(of_server)
    }
}

/// Marks a thread of the generator that used too much of its core.
pub(crate) fn client_saturation(share: f64) -> Option<Finding> {
    let reason = format!("a thread of the load generator used {:.0} % of its core", share * 100.0);
    let remedy = "read CPU per request instead of times, or load from a machine with more cores";
    marked_above(reason, remedy, (share, GENERATOR_SHARE_MAX))
}

/// Marks a thread of the generator that waited for its core too long.
pub(crate) fn run_queue(share: f64) -> Option<Finding> {
    let reason = format!("a thread of the load generator waited for its core {:.1} % of the time", share * 100.0);
    marked_above(reason, OTHERS_REMEDY, (share, RUN_QUEUE_SHARE_MAX))
}

/// Marks cores that were too busy, and says which programs used them.
pub(crate) fn joint(ticks: Ticks, own: Option<OwnCpu>) -> Option<Finding> {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let of = |used_us: f64| percent(used_us * 1e3 / (ticks.total.max(1) * TICK_NS) as f64);
    let (who, remedy) = match own {
        None => (String::new(), READ_CPU_REMEDY),
        Some(OwnCpu { generator_us, subject_us: None }) => {
            let generator = of(generator_us);
            (format!(" ({generator} load generator, the rest subject and other programs)"), UNWATCHED_REMEDY)
        }
        Some(OwnCpu { generator_us, subject_us: Some(subject_us) }) => {
            let others = ticks.others_share((generator_us + subject_us) * 1e3);
            let remedy = if others > OTHERS_SHARE_MAX { OTHERS_REMEDY } else { READ_CPU_REMEDY };
            let (generator, subject, others) = (of(generator_us), of(subject_us), percent(others));
            (
                format!(
                    " ({generator} load generator, {subject} subject, {others} other programs, perhaps an unnamed backend among them)"
                ),
                remedy,
            )
        }
    };
    let busy = ticks.busy_share();
    let reason = format!("all cores were busy {} of the time{who}, so only CPU cost can be attributed", percent(busy));
    marked_above(reason, remedy, (busy, CORES_BUSY_MAX))
}

/// Marks a hypervisor that took too much of the cores' time.
pub(crate) fn steal(ticks: Ticks) -> Option<Finding> {
    let share = ticks.steal_share();
    let reason = format!("the hypervisor took {:.1} % of the cores' time", share * 100.0);
    let remedy = "run again when the host is calmer, or on a machine of its own";
    marked_above(reason, remedy, (share, STEAL_SHARE_MAX))
}

#[cfg(test)]
mod tests {
    use super::super::judge;
    use super::super::tests::{evidence, sound};
    use super::*;
    use tollgate_facts::results::Cell;

    fn check(change: impl FnOnce(&mut Cell), expected: &str) {
        let mut cell = sound();
        cell.response_time_ms = Percentiles { p50: Some(1.0), p99: Some(20.0), max: 200.0, ..Percentiles::default() };
        (cell.bytes_sent, cell.bytes_received) = (cell.requests * 200, cell.requests * 600);
        change(&mut cell);
        let found = judge(&evidence(&cell));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].rule, expected, "{found:?}");
    }

    #[test]
    fn whoever_had_full_cores_is_named_with_what_helps_against_him() {
        let check = |own: Option<[Option<f64>; 2]>, told: &str, helps: &str| {
            let own = own.map(|[generator, subject]| OwnCpu { generator_us: generator.unwrap(), subject_us: subject });
            // Ten seconds of two cores.
            let ticks = Ticks { total: 2000, idle: 20, steal: 20, interrupts: 160 };
            let found = joint(ticks, own).unwrap();
            assert_eq!(
                found.reason,
                format!("all cores were busy 99 % of the time{told}, so only CPU cost can be attributed")
            );
            assert!(found.remedy.contains(helps), "{found:?}");
        };
        let seconds = |seconds: f64| Some(seconds * 1e6);
        let all = "load generator, 40 % subject,";
        let others = "other programs, perhaps an unnamed backend among them)";
        check(Some([seconds(2.0), seconds(8.0)]), &format!(" (10 % {all} 40 % {others}"), "stop what else runs");
        check(Some([seconds(8.0), seconds(8.0)]), &format!(" (40 % {all} 10 % {others}"), "CPU time per request");
        // Where the kernel charges interrupts to programs they are there twice.
        check(Some([seconds(10.0), seconds(8.0)]), &format!(" (50 % {all} 0 % {others}"), "CPU time per request");
        let rest = " (10 % load generator, the rest subject and other programs)";
        check(Some([seconds(2.0), None]), rest, "--subject-pid");
        check(None, "", "CPU time per request");
        assert_eq!(joint(Ticks { total: 2000, idle: 120, ..Ticks::default() }, None), None);
    }

    fn sent_again(segments_retransmitted: u64, segments_sent: u64) -> SocketCounts {
        SocketCounts { segments_retransmitted, segments_sent, ..SocketCounts::default() }
    }

    #[test]
    fn what_other_programs_send_again_marks_nobody() {
        let of = |own: Option<SocketCounts>| {
            move |cell: &mut Cell| {
                let (segments_sent, segments_retransmitted) = (90_000, 40_000);
                cell.tcp = Some(TcpCounts { segments_sent, segments_retransmitted, own, ..TcpCounts::default() });
            }
        };
        check(of(Some(sent_again(0, 30_000))), "all");
        check(of(Some(sent_again(31, 30_000))), "retransmissions");
        // Results of before have only what all programs did together.
        check(of(None), "all");
    }

    #[test]
    fn of_what_a_server_sends_again_a_client_sees_what_comes_behind() {
        let of = |bytes_received: u64, segments_out_of_order: u64| {
            move |cell: &mut Cell| {
                cell.response_time_ms.max = 20.0;
                cell.bytes_received = cell.requests * bytes_received;
                let own = SocketCounts { segments_received: 400_000, segments_out_of_order, ..sent_again(0, 90_000) };
                cell.tcp = Some(TcpCounts { own: Some(own), ..TcpCounts::default() });
            }
        };
        check(of(60_000, 400), "all");
        check(of(60_000, 401), "retransmissions");
        check(of(1_400, 401), "all");
    }

    #[test]
    fn connections_turned_away_and_segments_sent_again_are_marked() {
        let counts = |away: u64, again: u64| {
            move |cell: &mut Cell| {
                cell.tcp = Some(TcpCounts {
                    listen_overflows: away,
                    listen_drops: away,
                    own: Some(sent_again(again, 10_000)),
                    ..TcpCounts::default()
                });
            }
        };
        check(counts(0, 10), "all");
        check(counts(1, 0), "listen-overflow");
        check(counts(0, 11), "retransmissions");
        check(|cell| cell.tcp = None, "all");
        // A stray segment of a short load is no share of it.
        let few = |again: u64| {
            let tcp = TcpCounts { own: Some(sent_again(again, 700)), ..TcpCounts::default() };
            move |cell: &mut Cell| cell.tcp = Some(tcp)
        };
        check(few(2), "all");
        check(few(3), "retransmissions");
        // However many segments a request took: more than one request of a hundred waited.
        let of_many = |again: u64| {
            move |cell: &mut Cell| {
                let sent = cell.requests * 30;
                assert!(again * 1000 < sent);
                cell.tcp = Some(TcpCounts { own: Some(sent_again(again, sent)), ..TcpCounts::default() });
            }
        };
        let of_each_hundred = sound().requests / 100;
        check(of_many(of_each_hundred), "all");
        check(of_many(of_each_hundred + 1), "retransmissions");
        // Larger answers need not have waited for it, and nobody did.
        let of_large = |cell: &mut Cell| {
            of_many(of_each_hundred + 1)(cell);
            (cell.bytes_received, cell.response_time_ms.max) = (cell.requests * 60_000, 20.0);
        };
        check(of_large, "all");
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
        let shown = |failed| Shown { response_ms: Percentiles::default(), failed, asked: 10_000, larger_bytes: 600.0 };
        assert!(shown(1).turned_away(counts).is_some_and(|found| found.reason.contains("turned 4 connections away")));
        assert_eq!(shown(0).turned_away(counts), None);
    }

    #[test]
    fn what_is_sent_again_of_large_requests_and_answers_is_marked_though_nobody_waited_long_for_it() {
        let of = |bytes_sent: u64, bytes_received: u64, listen_drops: u64| {
            move |cell: &mut Cell| {
                cell.response_time_ms.max = 20.0;
                (cell.bytes_sent, cell.bytes_received) = (cell.requests * bytes_sent, cell.requests * bytes_received);
                cell.tcp =
                    Some(TcpCounts { listen_drops, own: Some(sent_again(1_000, 90_000)), ..TcpCounts::default() });
            }
        };
        check(of(200, 1_400, 0), "all");
        check(of(200, 60_000, 0), "retransmissions");
        check(of(60_000, 200, 0), "retransmissions");
        // Who is turned away waits for a second, however large its request is.
        check(of(200, 60_000, 4), "retransmissions");
    }
}
