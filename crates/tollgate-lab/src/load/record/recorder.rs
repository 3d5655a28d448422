//! Record of a worker: times in histograms, counts, and failures by class. Each worker has its own; they are merged by
//! adding.
//!
//! It judges nothing and drops nothing: a failure has its class, its time and, for the first, its text.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use derive_more::{AddAssign, Deref, DerefMut};
use hdrhistogram::Histogram;

use super::course::{Bins, Course};
use super::detail::Detail;
use super::interactive::Cycles;
use super::live::LiveCounter;
use super::staged::StagedRecord;
use crate::load::answer::Verdict;
use crate::load::answer::failure::{ErrorClass, Failure};
use crate::load::connections::{ConnectionsUsed, FirstRequests, Phases};
use crate::load::scenario::record::Stepped;
use crate::load::user::Answer;
use crate::probe::instructions::Count;
use tollgate_facts::results::Settlement;
use tollgate_facts::results::load::Handshaken;

/// Shortest time that is distinguished: 1 ns.
pub const TIME_NS_MIN: u64 = 1;
/// Longest time that is distinguished: 60 s. Longer ones are counted as 60 s, which [`Tally::response_total_ns`]
/// reveals.
pub const TIME_NS_MAX: u64 = 60_000_000_000;
/// Significant digits of a recorded time: 0.1 %, 11 ns a record, 216 KiB.
pub const DIGITS: u8 = 3;
/// Characters of a failure's text that are kept.
const EXAMPLE_LENGTH_MAX: usize = 300;

/// Times in nanoseconds.
#[derive(Debug, Clone, Deref, DerefMut)]
pub struct Times(Histogram<u64>);

impl Default for Times {
    /// Creates an empty histogram.
    fn default() -> Times {
        Times(times())
    }
}

impl Times {
    /// Adds others.
    pub fn add(&mut self, other: &Times) {
        self.0 += &other.0;
    }
}

/// Creates an empty histogram of times in nanoseconds.
pub fn times() -> Histogram<u64> {
    Histogram::new_with_bounds(TIME_NS_MIN, TIME_NS_MAX, DIGITS).expect("the bounds are constants in range")
}

/// Creates an empty histogram of the generator's own delays: two digits from 1 µs on are enough, 27 KiB.
fn own_delays() -> Histogram<u64> {
    Histogram::new_with_bounds(1_000, TIME_NS_MAX, 2).expect("the bounds are constants in range")
}

/// Record of a load.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    /// Valid answers: from the intended start to the last byte.
    pub response: Times,
    /// Valid answers: from the send to the last byte.
    pub service: Times,
    /// The same as `response`, without delays that the generator caused: answers that lay unread, requests that began
    /// late.
    pub undelayed: Times,
    /// Failed requests: from the intended start to the failure. Made when the first one happens.
    pub failed: Option<Times>,
    /// Valid answers to requests that opened their connection: where the time went. Made when the first one comes.
    pub phases: Option<Box<Phases>>,
    /// Of an open load: delays of requests after their intended start. Made when the first one is begun.
    pub lateness: Option<Histogram<u64>>,
    /// The part of those delays that the generator caused: until a user took the request, or until none was found free.
    /// To 1 %. Made when the first one is begun.
    pub overdue: Option<Histogram<u64>>,
    /// Delays until the worker noticed its own heartbeat. Made at the first beat.
    pub stalls: Option<Histogram<u64>>,
    /// Details of a single load; absent in runs.
    pub detail: Option<Box<Detail>>,
    /// Of a scenario: records of each step; absent for other work.
    pub stepped: Option<Box<Stepped>>,
    /// Of a load in stages: records of each stage, and the course over time; absent for other loads.
    pub staged: Option<Box<StagedRecord>>,
    /// Counts of requests before the measurement, such as while users still came: they are in no figure. Absent if
    /// there were none.
    pub before: Option<Box<Tally>>,
    /// The counts.
    pub tally: Tally,
    /// The worker's live counts, for progress displays.
    pub(crate) live: Option<Arc<LiveCounter>>,
    bins: Option<Bins>,
}

/// The counts of a recorder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Valid answers.
    pub requests: u64,
    /// Valid answers whose content was checked.
    pub checked: u64,
    /// Failures by class.
    pub errors: Vec<ErrorTally>,
    /// Head and body bytes received, all answers.
    pub received_bytes: u64,
    /// Head and body bytes sent.
    pub sent_bytes: u64,
    /// Answers with the kernel's time of arrival.
    pub stamped: u64,
    /// Body bytes received, of all answers.
    pub body_bytes: u64,
    /// Answers with a status outside 2xx, wanted or not.
    pub other_statuses: u64,
    /// Answers after which the server kept the connection open.
    pub kept_alive: u64,
    /// Answers within the answers to batches, by status.
    pub parts: BTreeMap<u16, u64>,
    /// Bytes received below TLS, its handshakes included.
    pub wire_received_bytes: u64,
    /// Bytes sent below TLS, its handshakes included.
    pub wire_sent_bytes: u64,
    /// Connections opened.
    pub connections: u64,
    /// Handshakes of TLS.
    pub handshakes: Handshaken,
    /// Cost of the first requests on connections.
    pub first_requests: FirstRequests,
    /// Observations of its connections.
    pub used: ConnectionsUsed,
    /// Of an open load: intended and unsent requests.
    pub sends: Sends,
    /// Time of each unit of work, in order.
    pub unit_times: Vec<Duration>,
    /// Whole units of work.
    pub units: u64,
    /// Bodies of whole lists, all pages of one together.
    pub lists: Bodies,
    /// Bodies of entities.
    pub details: Bodies,
    /// Entities skipped because of their status.
    pub left_out: u64,
    /// Response times of valid answers, added up.
    pub response_total_ns: u64,
    /// Times of failed requests, added up.
    pub failed_total_ns: u64,
    /// Total time of users outside of requests: before they came, while they thought, after a failure; also for skipped
    /// entities.
    pub waited_ns: u64,
    /// Total time of users, from when they could begin until they left, by clock reads of their own: no record shares
    /// them, so both can be compared (Little's law).
    pub busy_ns: u64,
    /// Of thinking users: response times and pauses.
    pub cycles: Cycles,
    /// Users that left because their feed's rows had ended.
    pub out_of_rows: u64,
    /// Users of a scenario who took no part, as their setup failed.
    pub absent: u64,
    /// Results of transfers.
    pub transfers: Transfers,
}

/// Intended and unsent requests of an open load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign)]
pub struct Sends {
    /// Requests whose intended start fell within the trial.
    pub intended: u64,
    /// Those that were never sent: no user was free until the end, too many waited, or the rows had ended.
    pub unsent: u64,
    /// Users at the end, of all workers together.
    pub users: u64,
}

/// Results of transfers, and of their verification.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transfers {
    /// Records of whole transfers.
    pub records: u64,
    /// CPU time of the subject in whole transfers; absent where one could not be read.
    pub subject_cpu_ns: Option<u64>,
    /// Instructions of the subject in whole transfers; absent if they are not counted.
    pub subject_instructions: Option<Count>,
    /// Comparison of the table with the records.
    pub settlement: Settlement,
    /// The first disagreement.
    pub fault: Option<String>,
}

impl Transfers {
    /// Adds the CPU time and the instructions of one transfer.
    pub(crate) fn add_used(&mut self, subject_cpu_ns: Option<u64>, subject_instructions: Option<Count>) {
        if let Some(used_ns) = subject_cpu_ns {
            *self.subject_cpu_ns.get_or_insert(0) += used_ns;
        }
        if let Some(counted) = subject_instructions {
            *self.subject_instructions.get_or_insert_default() += counted;
        }
    }

    /// Adds a settlement.
    pub fn settle(&mut self, settlement: Settlement, fault: Option<String>) {
        self.settlement += settlement;
        self.fault = self.fault.take().or(fault);
    }

    fn add(&mut self, other: &Transfers) {
        self.records += other.records;
        self.add_used(other.subject_cpu_ns, other.subject_instructions);
        self.settle(other.settlement, other.fault.clone());
    }
}

/// Bodies of one kind: their number, bytes and response times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign)]
pub struct Bodies {
    /// Number of bodies.
    pub count: u64,
    /// Their total bytes.
    pub bytes: u64,
    /// Their total response time.
    pub response_ns: u64,
}

impl Bodies {
    /// One body of this size that took so long.
    pub fn of(bytes: u64, response: Duration) -> Bodies {
        Bodies { count: 1, bytes, response_ns: response.as_nanos() as u64 }
    }

    /// Mean size; absent of none.
    pub fn mean_bytes(self) -> Option<f64> {
        (self.count > 0).then(|| self.bytes as f64 / self.count as f64)
    }

    /// Mean response time in milliseconds; absent of none.
    pub fn mean_ms(self) -> Option<f64> {
        (self.count > 0).then(|| self.response_ns as f64 / self.count as f64 / 1e6)
    }
}

/// Failures of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorTally {
    /// The class.
    pub class: ErrorClass,
    /// Number of failures.
    pub count: u64,
    /// Text of the first one.
    pub example: String,
}

impl Recorder {
    /// Creates one that also records the details of a single load.
    pub fn detailed(detail: Detail) -> Recorder {
        Recorder { detail: Some(Box::new(detail)), ..Recorder::default() }
    }

    /// Creates an empty one for unmeasured requests of the same worker.
    pub(crate) fn aside(&self) -> Recorder {
        Recorder { live: self.live.clone(), ..Recorder::default() }
    }

    /// Forgets everything but keeps the memory, so that recording causes no page faults.
    pub fn reset(&mut self, course: Course, start: Instant) {
        self.response.reset();
        self.service.reset();
        self.undelayed.reset();
        self.failed = None;
        let delays = [&mut self.lateness, &mut self.overdue, &mut self.stalls];
        delays.into_iter().flatten().for_each(Histogram::reset);
        if let Some(phases) = &mut self.phases {
            phases.reset();
        }
        if let Some(detail) = &mut self.detail {
            detail.reset(start);
        }
        if let Some(stepped) = &mut self.stepped {
            stepped.reset();
        }
        self.staged = None;
        self.before = None;
        self.tally = Tally::default();
        self.bins = Bins::new(course, start);
    }

    /// Begins the measurement: starts the course, and forgets earlier beats.
    pub(crate) fn begin(&mut self, start: Instant) {
        self.stalls.iter_mut().for_each(Histogram::reset);
        if let Some(bins) = &mut self.bins {
            bins.begin(start);
        }
        if let Some(detail) = &mut self.detail {
            detail.stretches.begin(start);
        }
    }

    /// Records a valid answer.
    #[inline]
    pub fn answer(&mut self, intended: Instant, sent: Instant, finished: Instant) {
        let response_ns = nanoseconds(finished, intended);
        self.response.saturating_record(response_ns);
        self.service.saturating_record(nanoseconds(finished, sent));
        self.tally.requests += 1;
        self.tally.response_total_ns += response_ns;
        if let Some(live) = &self.live {
            live.answered(response_ns);
        }
        if let Some(bins) = &mut self.bins {
            bins.answered(finished, response_ns);
        }
        if let Some(staged) = &mut self.staged {
            staged.answered(intended, finished);
        }
    }

    /// Records a skipped entity: its time is the user's, and in no response time.
    pub(crate) fn left_out(&mut self, begun: Instant, now: Instant) {
        self.tally.left_out += 1;
        self.tally.waited_ns += nanoseconds(now, begun);
    }

    /// Records the end of a unit of work, due at `due` and done by a user between two moments: whole after `time`, or
    /// failed.
    pub(crate) fn unit_ended(&mut self, due: Instant, there: (Instant, Instant), time: Option<Duration>) {
        if let Some(staged) = &mut self.staged {
            staged.ended(due, there, time);
        }
        if let (Some(bins), Some(time)) = (&mut self.bins, time) {
            bins.ended(due, time.as_nanos() as u64);
        }
    }

    /// Records a valid answer, with whether its content was checked.
    #[inline]
    pub(crate) fn judged(&mut self, intended: Instant, answer: &Answer, verdict: Verdict) {
        self.answer(intended, answer.sent, answer.finished);
        let own_ns = answer.own.as_nanos() as u64;
        let undelayed_ns = nanoseconds(answer.finished, intended).saturating_sub(own_ns);
        self.undelayed.saturating_record(undelayed_ns);
        self.tally.checked += u64::from(verdict == Verdict::Right);
        if let Some(detail) = &mut self.detail {
            detail.record(intended, answer);
        }
        if let Some(opened) = &answer.opened {
            self.phases.get_or_insert_default().record(intended, answer, opened);
        }
    }

    /// Closes a trial in which each request is a unit of work: stores their number and, as one value for the trial,
    /// their mean, since other requests do not wait for the end of one.
    pub(crate) fn close_units(&mut self) {
        let tally = &mut self.tally;
        tally.units = tally.requests;
        if let Some(mean_ns) = tally.response_total_ns.checked_div(tally.requests) {
            tally.unit_times = vec![Duration::from_nanos(mean_ns)];
        }
    }

    /// Records the generator's delay until a user took the request, or until it came to the desk without a free user.
    pub(crate) fn overdue(&mut self, intended: Instant, now: Instant) {
        self.overdue.get_or_insert_with(own_delays).saturating_record(nanoseconds(now, intended));
    }

    /// Records the delay of a beat.
    pub(crate) fn stall(&mut self, late: Duration) {
        self.stalls.get_or_insert_with(own_delays).saturating_record(late.as_nanos() as u64);
    }

    /// Records a failed request.
    pub(crate) fn failure(&mut self, failure: &Failure, intended: Instant, finished: Instant) {
        let time_ns = nanoseconds(finished, intended);
        self.tally.failed_total_ns += time_ns;
        if let Some(live) = &self.live {
            live.failed();
        }
        self.failed.get_or_insert_default().saturating_record(time_ns);
        if let Some(detail) = &mut self.detail {
            detail.failed(failure.class, intended, time_ns);
        }
        count_error(&mut self.tally.errors, failure.class, 1, &failure.text);
    }

    /// Records a failure outside the measurement: it is counted, but its time is not.
    pub(crate) fn failure_aside(&mut self, failure: &Failure) {
        count_error(&mut self.tally.errors, failure.class, 1, &failure.text);
    }

    /// Records a whole unit of work.
    pub fn unit(&mut self, time: Duration) {
        self.tally.units += 1;
        self.tally.unit_times.push(time);
    }

    /// Adds the record of another worker or trial.
    pub fn add(&mut self, other: &Recorder) {
        self.response.add(&other.response);
        self.service.add(&other.service);
        self.undelayed.add(&other.undelayed);
        let sum = |own: &mut Histogram<u64>, other: &Histogram<u64>| *own += other;
        join(&mut self.failed, &other.failed, Times::add);
        join(&mut self.phases, &other.phases, |own, other| own.add(other));
        join(&mut self.lateness, &other.lateness, sum);
        join(&mut self.overdue, &other.overdue, sum);
        join(&mut self.stalls, &other.stalls, sum);
        join(&mut self.detail, &other.detail, |own, other| own.add(other));
        join(&mut self.stepped, &other.stepped, |own, other| own.add(other));
        join(&mut self.staged, &other.staged, |own, other| own.add(other));
        join(&mut self.before, &other.before, |own, other| own.add(other));
        join(&mut self.bins, &other.bins, Bins::merge);
        self.tally.add(&other.tally);
    }

    /// Number of answers and total response time in nanoseconds, for each bin.
    pub fn bins(&self) -> &[(u64, u64)] {
        self.bins.as_ref().map_or(&[], Bins::sums)
    }

    /// Mean response time of each bin, in nanoseconds.
    pub fn course_ns(&self) -> Vec<f64> {
        self.bins.as_ref().map(Bins::course_ns).unwrap_or_default()
    }
}

impl Tally {
    /// Number of failures of all classes.
    pub fn failures(&self) -> u64 {
        self.errors.iter().map(|error| error.count).sum()
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Tally) {
        self.requests += other.requests;
        self.checked += other.checked;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
        self.stamped += other.stamped;
        self.body_bytes += other.body_bytes;
        self.other_statuses += other.other_statuses;
        self.kept_alive += other.kept_alive;
        for (status, count) in &other.parts {
            *self.parts.entry(*status).or_default() += count;
        }
        self.wire_received_bytes += other.wire_received_bytes;
        self.wire_sent_bytes += other.wire_sent_bytes;
        self.connections += other.connections;
        self.handshakes += other.handshakes;
        self.first_requests += other.first_requests;
        self.used.add(&other.used);
        self.sends += other.sends;
        self.unit_times.extend_from_slice(&other.unit_times);
        self.units += other.units;
        self.lists += other.lists;
        self.details += other.details;
        self.left_out += other.left_out;
        self.response_total_ns += other.response_total_ns;
        self.failed_total_ns += other.failed_total_ns;
        self.waited_ns += other.waited_ns;
        self.busy_ns += other.busy_ns;
        self.cycles += other.cycles;
        self.out_of_rows += other.out_of_rows;
        self.absent += other.absent;
        self.transfers.add(&other.transfers);
        for error in &other.errors {
            count_error(&mut self.errors, error.class, error.count, &error.example);
        }
    }
}

/// Adds an optional part, which exists only if something was recorded.
pub(super) fn join<T: Clone>(own: &mut Option<T>, other: &Option<T>, add: impl FnOnce(&mut T, &T)) {
    match (own, other) {
        (Some(own), Some(other)) => add(own, other),
        (own @ None, other) => own.clone_from(other),
        (Some(_), None) => {}
    }
}

/// Counts failures of a class; keeps the text of the first.
pub(crate) fn count_error(errors: &mut Vec<ErrorTally>, class: ErrorClass, count: u64, text: &str) {
    match errors.iter_mut().find(|error| error.class == class) {
        Some(error) => error.count += count,
        None => {
            let example = text.chars().take(EXAMPLE_LENGTH_MAX).collect();
            errors.push(ErrorTally { class, count, example });
        }
    }
}

/// Returns the nanoseconds between two moments.
#[inline]
pub(crate) fn nanoseconds(later: Instant, earlier: Instant) -> u64 {
    later.saturating_duration_since(earlier).as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_from_the_intended_start_and_from_the_send() {
        let start = Instant::now();
        let mut recorder = Recorder::default();
        recorder.reset(Course::Binned, start);
        let at = |micros: u64| start + Duration::from_micros(micros);
        recorder.answer(at(0), at(100), at(300));
        recorder.answer(at(0), at(60_000), at(60_100));
        assert_eq!(recorder.tally.requests, 2);
        assert_eq!(recorder.tally.response_total_ns, 60_400_000);
        assert!(recorder.response.equivalent(recorder.response.min(), 300_000));
        assert!(recorder.service.equivalent(recorder.service.min(), 100_000));
        assert_eq!(recorder.course_ns(), [300_000.0, 60_100_000.0]);
    }

    #[test]
    fn failures_are_kept_by_class_with_their_first_text_and_apart_from_answers() {
        let start = Instant::now();
        let mut recorder = Recorder::default();
        recorder.failure(&Failure::status(503), start, start + Duration::from_millis(1));
        recorder.failure(&Failure::content("first"), start, start + Duration::from_millis(1));
        recorder.failure(&Failure::content("second"), start, start + Duration::from_millis(2));
        assert_eq!(recorder.response.len(), 0);
        assert_eq!(recorder.failed.as_ref().unwrap().len(), 3);
        assert_eq!(recorder.tally.failures(), 3);
        assert_eq!((recorder.tally.errors[1].count, recorder.tally.errors[1].example.as_str()), (2, "first"));
    }

    #[test]
    fn adding_keeps_every_count() {
        let start = Instant::now();
        let mut one = Recorder::default();
        one.answer(start, start, start + Duration::from_micros(5));
        one.unit(Duration::from_micros(5));
        let mut both = one.clone();
        both.failure(&Failure::content("x"), start, start);
        both.add(&one);
        both.add(&both.clone());
        assert_eq!((both.response.len(), both.tally.requests, both.tally.units, both.tally.failures()), (4, 4, 4, 2));
    }

    #[test]
    fn a_time_beyond_the_range_is_counted_at_its_end_and_given_away_by_the_sum() {
        let start = Instant::now();
        let mut recorder = Recorder::default();
        recorder.answer(start, start, start + Duration::from_secs(120));
        assert_eq!(recorder.response.len(), 1);
        assert!(recorder.tally.response_total_ns > recorder.response.max() + 50_000_000_000);
    }
}
