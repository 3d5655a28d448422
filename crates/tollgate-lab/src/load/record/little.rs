//! Little's law, L = X W, for the records: users present, against answers times response time.
//!
//! The response time counts from the user's previous completion, so answers times response time must equal the users'
//! time, which is read from the clock apart from the records. This detects a lost, clipped or doubled record, but not a
//! wrong answer.

use tollgate_facts::results::load::LittlesLaw;

use super::recorder::Recorder;

/// Smallest bound.
pub const SHARE_MAX: f64 = 0.01;
/// Time that a busy machine, or a starting generator, may take between two reads of the clock …
const BETWEEN_READS_MS: f64 = 10.0;
/// … which matters with fewer answers than these.
const FEW_ANSWERS: f64 = 10.0;
const NS_PER_MS: f64 = 1e6;

/// Computes the law for `recorder`, filled by `users` users in trials of at least `span_ms`; absent if no user was
/// present for a measurable time.
pub fn law(recorder: &Recorder, users: u64, span_ms: f64) -> Option<LittlesLaw> {
    let (tally, response) = (&recorder.tally, &recorder.response);
    if tally.busy_ns == 0 {
        return None;
    }
    let (mean_ns, answers) = if response.is_empty() { (0.0, 0.0) } else { (response.mean(), response.len() as f64) };
    let other_ns = (tally.failed_total_ns + tally.waited_ns) as f64;
    let share = (answers * mean_ns + other_ns) / tally.busy_ns as f64;
    let least_ms = if answers < FEW_ANSWERS { BETWEEN_READS_MS } else { 0.0 };
    let allowed_ms = least_ms.max(2.0 * mean_ns / 1e6);
    let bound = SHARE_MAX.max(allowed_ms / span_ms.max(f64::MIN_POSITIVE)).min(1.0);
    Some(LittlesLaw::new(users, share, bound))
}

/// Share of the time in which a user may have been present but in no record, as its thread had no core. A record begins
/// where the one before it ended, so this happens at most once in `span_ms`, at the user's end, and no longer than the
/// longest stall. A thread's wait for its core is known; time stolen by the host may have been this core's, so it
/// counts only if a heartbeat limits its length.
pub(crate) fn between_reads(recorder: &Recorder, run_queue_share: f64, stolen_share: f64, span_ms: f64) -> f64 {
    let longest_ms = recorder.stalls.as_ref().map(|stalls| stalls.max() as f64 / NS_PER_MS);
    longest_ms.map_or(run_queue_share, |longest_ms| {
        (run_queue_share + stolen_share).min(longest_ms / span_ms.max(f64::MIN_POSITIVE))
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::load::answer::failure::Failure;

    const ANSWERS: u32 = 50;
    const SPAN_MS: f64 = 250.0;

    /// One user who sent requests for 250 ms, one each 5 ms, each recorded `times(number)` times.
    fn recorded(times: impl Fn(u32) -> u32) -> Recorder {
        let start = Instant::now();
        let step = Duration::from_millis(5);
        let mut recorder = Recorder::default();
        for number in 0..ANSWERS {
            for _ in 0..times(number) {
                recorder.answer(start + step * number, start + step * number, start + step * (number + 1));
            }
        }
        recorder.tally.busy_ns = (step * ANSWERS).as_nanos() as u64;
        recorder
    }

    #[test]
    fn a_lost_or_a_doubled_record_breaks_the_law() {
        let check = |recorder: &Recorder, span_ms: f64, expected: bool| {
            let law = super::law(recorder, 1, span_ms).unwrap();
            assert_eq!(law.holds, Some(expected), "{law:?}");
        };
        check(&recorded(|_| 1), SPAN_MS, true);
        // One record of fifty is 2 %: beyond 1 %, but within two response times of 5 ms in a span of 250 ms.
        check(&recorded(|number| u32::from(number != 7)), 10.0 * SPAN_MS, false);
        check(&recorded(|number| 1 + u32::from(number == 7)), 10.0 * SPAN_MS, false);
        check(&recorded(|number| u32::from(number != 7)), SPAN_MS, true);
        check(&recorded(|number| u32::from(number > 2)), SPAN_MS, false);
    }

    #[test]
    fn the_time_of_an_entity_that_is_left_out_is_the_users() {
        let mut recorder = recorded(|number| u32::from(number != 7));
        let start = Instant::now();
        recorder.left_out(start, start + Duration::from_millis(5));
        let law = super::law(&recorder, 1, 10.0 * SPAN_MS).unwrap();
        assert_eq!(law.holds, Some(true), "{law:?}");
        assert_eq!(recorder.tally.left_out, 1);
    }

    #[test]
    fn time_without_a_core_is_allowed_for() {
        let law = super::law(&recorded(|number| u32::from(number != 7)), 1, 10.0 * SPAN_MS).unwrap();
        let broken = [law, law.without_core(0.005), law.without_core(0.015)].map(|law| law.is_broken());
        assert_eq!(broken, [true, true, false], "{law:?}");
    }

    #[test]
    fn what_the_host_took_is_allowed_for_up_to_the_longest_stall() {
        let mut recorder = recorded(|_| 1);
        let check = |recorder: &Recorder, stolen_share: f64, expected: f64| {
            let found = between_reads(recorder, 0.01, stolen_share, SPAN_MS);
            assert!((found - expected).abs() < 1e-3, "{found}, not {expected}");
        };
        check(&recorder, 0.2, 0.01);
        recorder.stall(Duration::from_millis(10));
        check(&recorder, 0.0, 0.01);
        check(&recorder, 0.9, 10.0 / SPAN_MS);
    }

    #[test]
    fn a_law_that_cannot_be_told_says_why() {
        let check = |span_ms: f64, share: f64, expected: &str| {
            let law = super::law(&recorded(|_| 1), 4, span_ms).unwrap().without_core(share);
            assert_eq!(law.verdict(), expected, "{law:?}");
        };
        check(10.0 * SPAN_MS, 0.05, "holds");
        check(10.0 * SPAN_MS, 0.207, "cannot be told: the generator may have had no core for 21 % of the time");
        check(50.0, 0.0, "too few requests to check");
        check(50.0, 0.2, "too few requests to check");
    }

    #[test]
    fn an_answer_that_is_timed_wrongly_breaks_the_law() {
        let mut recorder = recorded(|number| u32::from(number != 7));
        let start = Instant::now();
        recorder.answer(start, start, start + Duration::from_millis(50));
        let law = super::law(&recorder, 1, SPAN_MS).unwrap();
        assert!(law.is_broken() && law.found > 1.1, "{law:?}");
    }

    #[test]
    fn of_a_single_answer_on_a_busy_machine_nothing_can_be_told() {
        let check = |answer_us: u64, there_us: u64| {
            let start = Instant::now();
            let mut recorder = Recorder::default();
            recorder.answer(start, start, start + Duration::from_micros(answer_us));
            recorder.tally.busy_ns = there_us * 1000;
            assert_eq!(law(&recorder, 1, there_us as f64 / 1e3).unwrap().holds, None);
        };
        check(410, 1550);
        check(671, 3190);
    }

    #[test]
    fn failures_and_waiting_are_users_time_too() {
        let mut recorder = recorded(|number| u32::from(number > 9));
        let start = Instant::now();
        recorder.failure(&Failure::status(503), start, start + Duration::from_millis(30));
        recorder.tally.waited_ns = 20_000_000;
        let law = super::law(&recorder, 20, SPAN_MS).unwrap();
        assert!(law.holds == Some(true) && (law.found - 20.0).abs() < 0.1, "{law:?}");
        assert_eq!(super::law(&Recorder::default(), 1, SPAN_MS), None);
    }

    #[test]
    fn of_a_load_of_few_response_times_nothing_can_be_told() {
        let of_few = |span_ms: f64| law(&recorded(|number| u32::from(number % 25 > 0)), 50, span_ms).unwrap();
        assert_eq!((of_few(200.0).holds, of_few(90.0).holds, of_few(5.0).holds), (Some(true), None, None));
        assert!(law(&recorded(|_| 3), 50, 5.0).unwrap().is_broken(), "twice too much is too much for any");
    }
}
