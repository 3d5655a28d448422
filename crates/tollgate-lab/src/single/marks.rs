//! Doubts about the figures of a single load: each rule compares one number with its bound, and names a remedy.
//!
//! The bounds are those of runs (see [`crate::judge`]); rules that need several rounds are not applied here.

use hdrhistogram::Histogram;

use super::connections;
use crate::judge::OwnCpu;
use crate::judge::answers::{generator_errors, wrong_answers};
use crate::judge::at_rate::{GENERATOR_REMEDY, Late, Punctuality};
use crate::judge::bounds::{ERROR_SHARE_MAX, FRESH_SHARE_MAX, REQUESTS_MIN};
use crate::judge::held_up::{self, Shown};
use crate::judge::own_delay::own_delay;
use crate::judge::settling::told;
use crate::judge::stalls::stalled;
use crate::judge::tail;
use crate::judge::trend::{self, OfRate, Stretch, Trend};
use crate::judge::unsent::{SENT_SHARE_MIN, Unsent};
use crate::load::record::portions::Portions;
use crate::load::record::recorder::Tally;
use crate::probe::system::Ticks;
use tollgate_facts::results::Verdict;
use tollgate_facts::results::load::{CoursePoint, LittlesLaw, Mark, Offered, QuickResult};
use tollgate_facts::rules::{self, Finding, Rule, marked, marked_above, refused};

/// The input of the rules.
pub(super) struct Evidence<'a> {
    /// The figures, without marks.
    pub(super) result: QuickResult,
    /// The counts of the ramp-up.
    pub(super) before: Option<&'a Tally>,
    /// Users who took no part, as their setup failed.
    pub(super) absent: u64,
    /// Whether users or rate changed by stages: an overload of the server is then a finding.
    pub(super) is_staged: bool,
    /// The work left undone because the rows of a feed ran out.
    pub(super) rows: Option<Finding>,
    pub(super) run_queue_share: f64,
    /// Delays of the generator's heartbeat.
    pub(super) beats: Option<&'a Histogram<u64>>,
    pub(super) ticks: Ticks,
    /// Connections that were reopened although they should have been kept.
    pub(super) fresh_connections: u64,
    /// Response times of each connection kept by a closed user; empty where users or rate change.
    pub(super) connections: &'a [Portions],
    /// Requests that did not fit into the log.
    pub(super) log_dropped: u64,
}

impl Evidence<'_> {
    /// Requests that failed.
    fn failed(&self) -> u64 {
        self.result.errors.values().sum()
    }

    /// What is due at a rate.
    fn due(&self) -> &'static str {
        if self.result.played.is_some() { "iterations" } else { "requests" }
    }

    /// What is done with it when it is due.
    fn sent(&self) -> &'static str {
        if self.result.played.is_some() { "begun" } else { "sent" }
    }

    /// The load's own share of what the kernel counts for all programs together.
    fn shown(&self) -> Shown {
        let QuickResult { response_time_ms: response_ms, bytes_received, bytes_sent, requests, .. } = self.result;
        let (failed, asked) = (self.failed(), requests + self.failed());
        Shown { response_ms, failed, asked, larger_bytes: bytes_received.max(bytes_sent) as f64 / asked.max(1) as f64 }
    }
}

/// The check of a rule.
type MarkCheck = fn(&Evidence<'_>) -> Option<Finding>;

/// All rules in the order of the report: refusing ones first.
const RULES: &[(Rule, MarkCheck)] = &[
    (rules::GENERATOR_ERRORS, |evidence| generator_errors(&evidence.result.errors)),
    (rules::ANSWERS, answers),
    (rules::RATE, rate),
    (rules::LATENESS, lateness),
    (rules::LITTLES_LAW, littles_law),
    (rules::STEADY, steady),
    (rules::HIDDEN_TIME, hidden_time),
    (rules::CONTENT, content),
    (rules::ERRORS, errors),
    (rules::ROWS, |evidence| evidence.rows.clone()),
    (rules::SAMPLES, samples),
    (rules::SETTLING, settling),
    (rules::CLIENT_SATURATION, client_saturation),
    (rules::RUN_QUEUE, |evidence| held_up::run_queue(evidence.run_queue_share)),
    (rules::STALLS, stalls),
    (rules::OWN_DELAY, |evidence| own_delay(evidence.result.response_time_ms, evidence.result.undelayed_ms)),
    (rules::JOINT, joint),
    (rules::FRESH_CONNECTIONS, fresh_connections),
    (rules::CONNECTIONS_DIFFER, |evidence| connections::differ(evidence.connections)),
    (rules::LISTEN_OVERFLOW, |evidence| evidence.shown().turned_away(evidence.result.tcp)),
    (rules::RETRANSMISSIONS, |evidence| evidence.shown().sent_again(evidence.result.tcp)),
    (rules::STEAL, |evidence| held_up::steal(evidence.ticks)),
    (rules::LOG, log),
];

/// Applies all rules.
pub(super) fn judge(evidence: &Evidence<'_>) -> Vec<Mark> {
    let mark = |rule: &Rule, finding: Finding| {
        let Finding { verdict, reason, remedy, value, bound } = finding;
        Mark { rule: rule.name, verdict, reason, remedy, value, bound }
    };
    RULES.iter().filter_map(|(rule, check)| Some(mark(rule, check(evidence)?))).collect()
}

/// The names of all rules.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(rule, _)| rule.name)
}

/// Without any response, there is no valid time.
fn answers(evidence: &Evidence<'_>) -> Option<Finding> {
    let reason = match evidence.failed() {
        0 => "no request was answered".to_owned(),
        failed => format!("every request failed: {failed} of {failed}"),
    };
    let remedy = "see the classes of failures above, with the first answer of each";
    (evidence.result.requests == 0).then(|| refused(reason, remedy, (0.0, 1.0)))
}

/// The finding about a rate that was not kept: refused, or only marked where stages are meant to show it.
fn not_kept(evidence: &Evidence<'_>, finding: Finding) -> Finding {
    Finding { verdict: if evidence.is_staged { Verdict::Marked } else { Verdict::Refused }, ..finding }
}

fn rate(evidence: &Evidence<'_>) -> Option<Finding> {
    let offered = evidence.result.offered.as_ref()?;
    let Offered { intended, unsent, .. } = *offered;
    let remedy = |users| if punctuality(evidence, offered).own().is_some() { GENERATOR_REMEDY } else { users };
    let of_all = Unsent { intended, unsent };
    if of_all.is_too_much() {
        let reason = format!("{unsent} of {intended} {} could not be {}", evidence.due(), evidence.sent());
        let decided = (of_all.sent_share(), SENT_SHARE_MIN);
        return Some(not_kept(evidence, marked(reason, remedy(USERS_REMEDY), decided)));
    }
    let lacking = of_all.lacking(evidence.result.response_time_ms, 1)?;
    let reason = of_all.told(&lacking, evidence.due(), evidence.sent());
    Some(marked(reason, remedy(LONGER_REMEDY), (of_all.sent_share(), lacking.sent_share_min)))
}

/// The remedy where all users were at work.
const USERS_REMEDY: &str = "all users were at work: allow more (-c), or offer less";

/// The remedy where some requests still waited at the end.
const LONGER_REMEDY: &str = "let the load go on longer, or allow more users (-c)";

/// The finding about late requests. If the generator caused the delay, the times include it; if users were lacking,
/// they are the times of that many users.
fn lateness(evidence: &Evidence<'_>) -> Option<Finding> {
    let offered = evidence.result.offered.as_ref()?;
    let told = |late: Late, were_begun: &str, remedy| {
        marked(late.told(evidence.due(), were_begun), remedy, (late.late_ms, late.bound_ms))
    };
    let punctuality = punctuality(evidence, offered);
    if let Some(late) = punctuality.own() {
        let own = told(late, "were given to users by the generator", GENERATOR_REMEDY);
        // What it sent late and all at once is a queue in the server, too: no percentile stands.
        return Some(Finding { verdict: Verdict::Refused, ..own });
    }
    let late = punctuality.at_all()?;
    Some(not_kept(evidence, told(late, &format!("were {}", evidence.sent()), USERS_REMEDY)))
}

fn punctuality(evidence: &Evidence<'_>, offered: &Offered) -> Punctuality {
    let Offered { lateness_ms, overdue_ms, .. } = *offered;
    Punctuality { lateness_ms, overdue_ms, response_ms: evidence.result.response_time_ms }
}

fn littles_law(evidence: &Evidence<'_>) -> Option<Finding> {
    let law = evidence.result.littles_law.filter(LittlesLaw::is_broken)?;
    let reason = match evidence.is_staged {
        false => format!("answers x response time find {:.2} users where {} asked", law.found, law.users),
        true => {
            let share = law.found / law.users.max(1) as f64 * 100.0;
            format!("answers x response time are {share:.1} % of the time for which users were there")
        }
    };
    let remedy = "a response time beyond 60 s is one reason; any other is a defect of the generator: please report it";
    Some(refused(reason, remedy, (law.off, law.bound)))
}

fn stalls(evidence: &Evidence<'_>) -> Option<Finding> {
    let QuickResult { response_time_ms, undelayed_ms, .. } = evidence.result;
    stalled(evidence.beats, response_time_ms, undelayed_ms)
}

/// At a rate, too few responses or too short a time for a course cannot be judged, where half of the requests waited.
fn no_course(evidence: &Evidence<'_>) -> Option<Finding> {
    let QuickResult { offered, requests, response_time_ms, connection_times_ms, .. } = &evidence.result;
    let (_, half_ms, least_ms) = (offered.as_ref()?, response_time_ms.p50?, connection_times_ms.as_ref()?.total.min);
    trend::too_few(*requests, half_ms, least_ms)
}

/// Checks for a trend during the load; in stages, change is expected.
fn steady(evidence: &Evidence<'_>) -> Option<Finding> {
    let QuickResult { offered, course, requests, connection_times_ms, .. } = &evidence.result;
    let width_s = course.first()?.until_s;
    let stretch = |point: &CoursePoint| {
        let answers = point.requests_per_second * width_s;
        let total_ms = answers * point.response_time_ms.unwrap_or_default();
        Stretch { answers, total_ms, lasted_ms: width_s * 1e3 }
    };
    let stretches: Vec<Stretch> = course.iter().map(stretch).collect();
    if evidence.is_staged {
        return None;
    }
    let Some(offered) = offered else {
        let remedy = "ask for longer, and leave out the time in which it settles (--ramp)";
        return Trend::of(&stretches)?.of_users("while the load lasted", remedy);
    };
    let lasted_ms = course.last()?.until_s * 1e3;
    // Behind what was due users only wait for the last answers, for as long as the timeout.
    let due_s = offered.intended as f64 / offered.rate_per_second.max(f64::MIN_POSITIVE);
    let due = course.iter().take_while(|at| at.until_s <= due_s + width_s / 2.0).count();
    let Some(trend) = Trend::while_due(&stretches, due) else { return no_course(evidence) };
    let while_due: f64 = stretches[..due].iter().map(|one| one.answers).sum();
    let (answered, rate) = (while_due / due_s, offered.rate_per_second);
    let answered = match evidence.result.played {
        None => format!("{answered:.0} of {rate:.0} requests/s were answered"),
        Some(_) => format!("{answered:.0} requests/s were answered with {rate:.0} iterations/s due"),
    };
    let found = trend.at_a_rate(OfRate { lasted_ms, what: "the load", answered: &answered, is_trials: false });
    found.or_else(|| trend.too_short(*requests, connection_times_ms.as_ref()?.total.min, lasted_ms))
}

fn hidden_time(evidence: &Evidence<'_>) -> Option<Finding> {
    let remedy = "ask at a rate (--rate), which charges a stall to all that was due meanwhile";
    tail::hidden(evidence.result.tail, remedy)
}

fn errors(evidence: &Evidence<'_>) -> Option<Finding> {
    let failed = evidence.failed();
    let asked = evidence.result.requests + failed;
    let share = failed as f64 / asked.max(1) as f64;
    let reason = format!("{failed} of {asked} requests failed: the times are of the others");
    let remedy = "find out why they fail; failures are cheaper than answers";
    let is_some = evidence.result.requests > 0 && share > ERROR_SHARE_MAX;
    is_some.then(|| marked(reason, remedy, (share, ERROR_SHARE_MAX)))
}

fn content(evidence: &Evidence<'_>) -> Option<Finding> {
    if let Some((wrong, reason)) = wrong_answers(&evidence.result.errors, &evidence.result.error_examples) {
        let remedy = "find out what came instead: a wrong answer is an error, however fast, and so may the others be";
        return Some(refused(reason, remedy, (wrong as f64, 0.0)));
    }
    let share = evidence.result.checked as f64 / evidence.result.requests.max(1) as f64;
    let unseen = (1.0 - share) * 100.0;
    let reason = format!("the content of {unseen:.0} % of the answers was not looked at");
    let is_unverified = evidence.result.requests > 0 && share < 1.0;
    let remedy = match evidence.result.played {
        None => "say with --expect-body what an answer contains",
        Some(_) => "say with `assert` at each step what an answer contains",
    };
    is_unverified.then(|| marked(reason, remedy, (share, 1.0)))
}

fn samples(evidence: &Evidence<'_>) -> Option<Finding> {
    let count = evidence.result.requests;
    let is_few = count > 0 && count < REQUESTS_MIN;
    let reason = format!("only {count} answers");
    is_few.then(|| marked(reason, "ask more often (-n) or longer (-t)", (count as f64, REQUESTS_MIN as f64)))
}

fn settling(evidence: &Evidence<'_>) -> Option<Finding> {
    let (absent, users) = (evidence.absent, evidence.result.concurrency);
    if absent > 0 && evidence.result.requests > 0 {
        let reason = format!("{absent} of {users} users took no part, as their setup failed");
        let remedy = "see the failures above: a load of fewer users is another one";
        return Some(refused(reason, remedy, (absent as f64, 0.0)));
    }
    let (reason, count) = told(evidence.before?, "while users came, before anything counted")?;
    let remedy =
        "they are in no figure; raise the server's backlog and limits of connections, or take longer to come (--ramp)";
    Some(marked(reason, remedy, (count as f64, 0.0)))
}

fn client_saturation(evidence: &Evidence<'_>) -> Option<Finding> {
    let remedy = "use more --threads on a machine with more cores, or read CPU per request instead of times";
    let share = Some(evidence.result.generator_cpu_share).filter(|_| evidence.result.requests > 0)?;
    Some(Finding { remedy, ..held_up::client_saturation(share)? })
}

fn joint(evidence: &Evidence<'_>) -> Option<Finding> {
    let QuickResult { requests, generator_cpu_us_per_request, .. } = evidence.result;
    let generator_us = generator_cpu_us_per_request * (requests + evidence.failed()) as f64;
    let remedy = "stop what else runs, load from another machine, or read CPU per request instead of times";
    let own = OwnCpu { generator_us, subject_us: None };
    Some(Finding { remedy, ..held_up::joint(evidence.ticks, Some(own))? })
}

fn fresh_connections(evidence: &Evidence<'_>) -> Option<Finding> {
    let fresh = evidence.fresh_connections;
    let share = fresh as f64 / evidence.result.requests.max(1) as f64;
    let reason = format!("{fresh} connections were opened again, though they were to be kept");
    let remedy = "raise the server's keep-alive limits, or measure without -k";
    marked_above(reason, remedy, (share, FRESH_SHARE_MAX))
}

fn log(evidence: &Evidence<'_>) -> Option<Finding> {
    let dropped = evidence.log_dropped;
    let reason = format!("the file of single requests (-g, jtl) has the first ones only, {dropped} more ended");
    marked_above(reason, "use --hlog, which has them all in little room", (dropped as f64, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::stalls;
    use tollgate_facts::results::{Arrivals, Percentiles, SocketCounts, TcpCounts};

    fn at(p50: f64, p99: f64) -> Percentiles {
        Percentiles { p50: Some(p50), p99: Some(p99), max: 250.0, ..Percentiles::default() }
    }

    fn offered(unsent: u64, lateness_ms: Percentiles) -> Offered {
        let (rate_per_second, arrivals, seed, users) = (300.0, Arrivals::Constant, 0, 10);
        let overdue_ms = lateness_ms;
        Offered { rate_per_second, arrivals, seed, intended: 1000, unsent, users, lateness_ms, overdue_ms }
    }

    /// The evidence of a load without any fault.
    fn sound() -> Evidence<'static> {
        let result = QuickResult {
            requests: 10_000,
            checked: 10_000,
            response_time_ms: at(2.0, 5.0),
            generator_cpu_share: 0.5,
            tcp: TcpCounts {
                own: Some(SocketCounts { segments_sent: 20_000, ..SocketCounts::default() }),
                ..TcpCounts::default()
            },
            bytes_received: 4_000_000,
            ..QuickResult::default()
        };
        Evidence {
            result,
            before: None,
            absent: 0,
            is_staged: false,
            rows: None,
            run_queue_share: 0.0,
            beats: None,
            ticks: Ticks { total: 1000, idle: 100, steal: 1, interrupts: 0 },
            fresh_connections: 0,
            connections: &[],
            log_dropped: 0,
        }
    }

    /// The evidence of a load at this rate.
    fn at_rate(offered: Offered, response_ms: Percentiles) -> Evidence<'static> {
        let mut evidence = sound();
        (evidence.result.offered, evidence.result.response_time_ms) = (Some(offered), response_ms);
        evidence
    }

    fn check(change: impl FnOnce(&mut Evidence<'_>), errors: &[(&str, u64)], expected: &[(&str, Verdict)]) {
        let mut evidence = sound();
        evidence.result.errors = errors.iter().map(|(class, count)| ((*class).to_owned(), *count)).collect();
        change(&mut evidence);
        let found: Vec<(&str, Verdict)> = judge(&evidence).iter().map(|mark| (mark.rule, mark.verdict)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_doubt_is_marked_beyond_its_bound_and_nothing_else_is() {
        use Verdict::{Marked, Refused};
        check(|_| {}, &[], &[]);
        check(|_| {}, &[("status-503", 10)], &[]);
        check(|_| {}, &[("status-503", 11)], &[("errors", Marked)]);
        check(|_| {}, &[("ports-exhausted", 1)], &[("generator-errors", Refused)]);
        check(|evidence| evidence.result.checked = 9_999, &[], &[("content", Marked)]);
        check(|_| {}, &[("content", 1)], &[("content", Refused)]);
        check(|_| {}, &[("content", 11)], &[("content", Refused), ("errors", Marked)]);
        check(|evidence| (evidence.result.requests, evidence.result.checked) = (299, 299), &[], &[("samples", Marked)]);
        let short = marked("rows came to an end".to_owned(), "", (3.0, 10.0));
        check(|evidence| evidence.rows = Some(short), &[], &[("rows", Marked)]);
        let none = |evidence: &mut Evidence<'_>| (evidence.result.requests, evidence.result.checked) = (0, 0);
        check(none, &[("status-500", 200)], &[("answers", Refused)]);
        check(none, &[], &[("answers", Refused)]);
        check(|evidence| evidence.result.generator_cpu_share = 0.81, &[], &[("client-saturation", Marked)]);
        check(|evidence| evidence.run_queue_share = 0.051, &[], &[("run-queue", Marked)]);
        check(|evidence| evidence.ticks.idle = 49, &[], &[("joint", Marked)]);
        check(|evidence| evidence.ticks.steal = 11, &[], &[("steal", Marked)]);
        check(|evidence| evidence.fresh_connections = 101, &[], &[("fresh-connections", Marked)]);
        check(|evidence| evidence.log_dropped = 1, &[], &[("log", Marked)]);
        check(|evidence| evidence.result.tcp.listen_drops = 1, &[], &[("listen-overflow", Marked)]);
        fn sent_again(evidence: &mut Evidence<'_>) {
            let own = evidence.result.tcp.own.as_mut().unwrap();
            own.segments_retransmitted = 21;
        }
        check(sent_again, &[], &[("retransmissions", Marked)]);
        check(|evidence| evidence.result.tcp.segments_retransmitted = 9_000, &[], &[]);
        // Nothing of that held up users who were all answered soon.
        fn of_others(evidence: &mut Evidence<'_>) {
            sent_again(evidence);
            evidence.result.response_time_ms.max = 20.0;
            evidence.result.tcp.listen_drops = 1;
        }
        check(of_others, &[], &[]);
        // What is lost of a large answer is there again within a round trip or two.
        fn of_large_answers(evidence: &mut Evidence<'_>) {
            of_others(evidence);
            evidence.result.bytes_received = 600_000_000;
        }
        check(of_large_answers, &[], &[("retransmissions", Marked)]);
        let broken =
            LittlesLaw { users: 20, found: 17.0, off: 0.15, bound: 0.01, without_core: 0.0, holds: Some(false) };
        check(|evidence| evidence.result.littles_law = Some(broken), &[], &[("littles-law", Refused)]);
        let late = stalls::tests::beats(1_600, &[100]);
        let marks = judge(&Evidence { beats: Some(&late), ..sound() });
        assert_eq!(marks.iter().map(|mark| mark.rule).collect::<Vec<_>>(), ["stalls"]);
    }

    #[test]
    fn a_rate_that_was_not_kept_is_refused() {
        let refused = |unsent: u64, lateness_ms: Percentiles, p99_ms: f64, expected: &[&str]| {
            let offered = offered(unsent, lateness_ms);
            let expected: Vec<(&str, Verdict)> = expected.iter().map(|rule| (*rule, Verdict::Refused)).collect();
            let marks = judge(&at_rate(offered, at(2.0, p99_ms)));
            let found: Vec<(&str, Verdict)> = marks.iter().map(|mark| (mark.rule, mark.verdict)).collect();
            assert_eq!(found, expected);
        };
        refused(0, at(0.1, 0.9), 5.0, &[]);
        refused(11, at(0.1, 0.9), 5.0, &["rate"]);
        refused(0, at(0.1, 1.1), 5.0, &["lateness"]);
        refused(0, at(0.1, 1.1), 12.0, &[]);
        refused(0, Percentiles { p90: Some(1.1), ..Percentiles::default() }, 5.0, &["lateness"]);
        // Of fewer than 300 there is no percentile that would tell.
        refused(0, Percentiles { mean: 1.1, p50: Some(0.1), ..Percentiles::default() }, 5.0, &["lateness"]);
        refused(0, Percentiles { mean: 0.9, p50: Some(0.1), ..Percentiles::default() }, 5.0, &[]);
    }

    #[test]
    fn requests_that_waited_when_the_load_ended_are_marked_where_a_percentile_lacks_them() {
        let check = |unsent: u64, own_ms: f64, expected: Option<&str>| {
            let offered = Offered { intended: 60_000, overdue_ms: at(0.1, own_ms), ..offered(unsent, at(0.1, 0.9)) };
            let marks = judge(&at_rate(offered, at(2.0, 5.0)));
            let rate = marks.iter().find(|mark| mark.rule == "rate");
            assert_eq!(rate.map(|mark| (mark.verdict, mark.remedy)), expected.map(|remedy| (Verdict::Marked, remedy)));
            assert!(rate.is_none_or(|mark| mark.reason.ends_with("missing from p99")), "{rate:?}");
        };
        check(0, 0.9, None);
        check(59, 0.9, None);
        check(500, 0.9, Some(LONGER_REMEDY));
        check(500, 1.1, Some(GENERATOR_REMEDY));
    }

    #[test]
    fn more_users_are_a_remedy_only_where_the_generator_was_not_late_by_itself() {
        use Verdict::{Marked, Refused};
        let check = |own_ms: f64, is_staged: bool, expected: [(&str, Verdict); 2]| {
            // However many users the backlog of a generator that was held up has called.
            let offered = Offered { users: 1000, overdue_ms: at(0.1, own_ms), ..offered(500, at(0.1, 9.0)) };
            let marks = judge(&Evidence { is_staged, ..at_rate(offered, at(2.0, 5.0)) });
            let found: Vec<(&str, Verdict)> = marks.iter().map(|mark| (mark.rule, mark.verdict)).collect();
            assert_eq!(found, expected);
            let is_own = own_ms > 1.0;
            assert!(marks.iter().all(|mark| (mark.remedy == GENERATOR_REMEDY) == is_own), "{marks:?}");
        };
        check(0.9, false, [("rate", Refused), ("lateness", Refused)]);
        check(9.0, false, [("rate", Refused), ("lateness", Refused)]);
        // In stages what a server cannot bear is a finding, and what the generator cannot is none.
        check(0.9, true, [("rate", Marked), ("lateness", Marked)]);
        check(9.0, true, [("rate", Marked), ("lateness", Refused)]);
    }
}
