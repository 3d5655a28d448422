//! The insert: a transfer puts a number of records into a table that is empty, or has the same foreign rows each time,
//! in one mode; one transfer is one unit of work.
//!
//! A transfer is timed from the first byte sent to the last byte received. All else is outside of it: before it,
//! requests are rendered and connections opened; after it, the rows are counted, compared one by one if wanted, and
//! deleted, past any link. The subject's CPU time and instructions are read when it is idle before and after each
//! transfer, so they include work after its last answer but not verification.
//!
//! One worker does all of it: as in the published measurement, one client inserts.

mod answers;
mod aside;
mod described;
mod drawn;
mod records;
mod render;
mod settle;
mod typed;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tollgate_net::http1::client::{Collect, Discard};
use tollgate_wire::edm::Version;

pub use aside::count;
pub(crate) use aside::{described, forgotten, token};
pub use records::Records;
pub(crate) use render::ANY_STATE;
pub(super) use render::Rendered;
pub use settle::Closeness;

use self::answers::Standing;
use self::aside::Aside;
use super::answer::failure::Failure;
use super::record::recorder::Recorder;
use super::target::LoadTarget;
use super::user::{Asking, User};
use crate::probe::cpu::CpuClocks;
use crate::probe::generator::{ThreadUse, Used};
use crate::probe::instructions::Counters;
use crate::traffic::mode::Mode;
use crate::traffic::model::End;
use crate::traffic::places::InsertPlaces;

/// Time for verification, as a multiple of the slice, after which a trial of tiny transfers ends.
const SETTLING_SLICES_MAX: u32 = 6;
/// Time without CPU use after which a subject counts as idle.
const REST: Duration = Duration::from_micros(40);
/// Longest wait for a subject to become idle, since garbage collection may go on.
const REST_WITHIN: Duration = Duration::from_millis(3);
/// Bytes of one answer that are kept: enough for the largest batch.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Settings of a trial of transfers, beside the target of its requests.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The way records are sent.
    pub mode: Mode,
    /// Records in one transfer.
    pub count: usize,
    /// The records, at least `count`.
    pub records: Arc<Records>,
    /// Access to the table outside the measurement.
    pub beside: Beside,
    /// The CPU clocks of the subject.
    pub clocks: CpuClocks,
    /// Counters of its instructions.
    pub counters: Counters,
    /// Verification of the trial's last transfer; for the others rows are only counted.
    pub closeness: Closeness,
}

/// Targets of requests outside the measurement, past any link.
#[derive(Debug, Clone)]
pub struct Beside {
    /// URLs of the entity set.
    pub places: Arc<InsertPlaces>,
    /// Reads rows, with GET.
    pub reading: Arc<LoadTarget>,
    /// Empties the table, with POST.
    pub emptying: Arc<LoadTarget>,
    /// Deletes rows in batches.
    pub batching: Arc<LoadTarget>,
    /// Deletes one row, with DELETE.
    pub deleting: Arc<LoadTarget>,
    /// The same with `If-Match: *`, if the service requires it.
    pub deleting_any: Arc<LoadTarget>,
    /// Reads the service's metadata, and a token.
    pub describing: Arc<LoadTarget>,
    /// The rows that may be deleted.
    pub permission: Emptying,
    /// State learned so far.
    pub(crate) state: Arc<BesideState>,
}

/// State of a table learned during the measurement.
#[derive(Debug, Default)]
pub(crate) struct BesideState {
    /// Records that were sent and not deleted again: the first so many.
    left: AtomicUsize,
    /// Foreign rows that were there before.
    others: AtomicU64,
    /// Whether the service refused to delete in batches.
    refuses_batches: AtomicBool,
    /// Whether the service deletes only with `If-Match`.
    wants_match: AtomicBool,
    /// Sets of records whose keys no foreign row has.
    looked_for: Mutex<Vec<String>>,
}

/// Rows of a table that may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptying {
    /// All rows: the table is the run's own, or its owner allowed it.
    AllRows,
    /// The rows that a transfer inserted. A table with rows before a transfer is left as it is.
    OnlyOwnRows,
    /// The rows that a transfer inserted, by key. All others stay.
    OwnKeys,
}

/// Outcome of one request, judged when the transfer is over.
struct Done {
    index: usize,
    intended: Instant,
    sent: Instant,
    finished: Instant,
    outcome: Result<Vec<u8>, Failure>,
}

/// State shared by the connections of one transfer.
struct Sending {
    asking: Rc<Asking>,
    rendered: Rc<Rendered>,
    recorder: Rc<RefCell<Recorder>>,
    next: Cell<usize>,
    /// Whether a request failed: then no further one is begun, as the transfer is no longer complete.
    is_failed: Cell<bool>,
    keeps_answers: bool,
    done: RefCell<Vec<Done>>,
}

/// Transfers until `end`, over all connections; returns them, and the thread's use meanwhile. One more connection
/// serves unmeasured requests. Requests are rendered into the memory of the previous trial.
pub(super) async fn run(
    (mut users, aside_user): (Vec<User>, &mut User),
    asking: Rc<Asking>,
    transfer: &Transfer,
    end: End,
    recorder: Rc<RefCell<Recorder>>,
    rendered: &mut Rc<Rendered>,
    thread_use: &ThreadUse,
) -> (Vec<User>, Used) {
    let mut used = Used::default();
    // Copied only where a cancelled transfer still holds its requests.
    Rc::make_mut(rendered).render(&asking.target, transfer);
    let mut aside = Aside::new(aside_user, &asking.connector, &transfer.beside);
    let begun = match aside.delete_left(&transfer.records).await {
        Ok(()) => begin(&mut users, &asking, &mut aside, &transfer.beside, &recorder).await,
        Err(failure) => Err(failure),
    };
    let begun = match begun {
        Ok(others) => aside.look_for_keys(&transfer.records, others).await.map(|()| others),
        failed => failed,
    };
    let others = match begun {
        Ok(others) => others,
        Err(failure) => {
            recorder.borrow_mut().failure(&failure, Instant::now(), Instant::now());
            return (users, used);
        }
    };
    let began = Instant::now();
    let mut timed = Duration::ZERO;
    loop {
        transfer.clocks.look_around();
        let before = (at_rest_ns(&transfer.clocks), transfer.counters.read(), thread_use.read());
        let shared = Rc::new(Sending {
            asking: Rc::clone(&asking),
            rendered: Rc::clone(rendered),
            recorder: Rc::clone(&recorder),
            next: Cell::new(0),
            is_failed: Cell::new(false),
            keeps_answers: matches!(transfer.mode, Mode::Batch { .. } | Mode::CustomRest),
            done: RefCell::new(Vec::with_capacity(rendered.count())),
        });
        transfer.beside.state.others.store(others, Ordering::Relaxed);
        transfer.beside.state.left.store(transfer.count, Ordering::Relaxed);
        users = send_all(users, &shared).await;
        let thread_used = thread_use.read().since(before.2);
        let cpu_ns = before.0.zip(at_rest_ns(&transfer.clocks));
        let cpu_ns = cpu_ns.map(|(before, after)| after.saturating_sub(before) + transfer.clocks.look_around());
        let counted = before.1.zip(transfer.counters.read()).map(|(before, after)| after.since(before));
        used += thread_used;

        let done = std::mem::take(&mut *shared.done.borrow_mut());
        drop(shared);
        let time = span(&done);
        timed += time;
        let is_last = end.is_reached(timed, recorder.borrow().tally.units + 1)
            || end.after.is_some_and(|slice| began.elapsed() >= slice * SETTLING_SLICES_MAX);
        let mut standing = vec![Standing::Absent; transfer.count];
        let is_whole = judge((transfer.mode, transfer.records.version()), done, rendered, &mut standing, &recorder);
        let closeness = if is_last || !is_whole { transfer.closeness } else { Closeness::Count };
        let settled = settle::settle(&mut aside, (&transfer.records, others), &standing, closeness).await;
        let emptied = aside.delete(&transfer.records, &standing, others).await;
        let mut recorder = recorder.borrow_mut();
        match settled {
            Ok((settlement, fault)) => recorder.tally.transfers.settle(settlement, fault),
            Err(failure) => recorder.failure(&failure, Instant::now(), Instant::now()),
        }
        if let Err(failure) = emptied {
            recorder.failure(&failure, Instant::now(), Instant::now());
        }
        if is_whole {
            recorder.unit(time);
            let transfers = &mut recorder.tally.transfers;
            transfers.records += transfer.count as u64;
            transfers.add_used(cpu_ns, counted);
        }
        if is_last || recorder.tally.failures() > 0 {
            return (users, used);
        }
    }
}

/// Opens every connection, or checks that it is still open, as a transfer does not include that. Empties the table, as
/// far as permitted, and returns the number of rows left.
async fn begin(
    users: &mut Vec<User>,
    asking: &Rc<Asking>,
    aside: &mut Aside<'_>,
    beside: &Beside,
    recorder: &Rc<RefCell<Recorder>>,
) -> Result<u64, Failure> {
    let others = aside.make_empty().await?;
    let mut request = Vec::new();
    beside.reading.render(&beside.places.count_path(), &mut request);
    let request: Rc<[u8]> = request.into();
    let mut tasks = JoinSet::new();
    for user in users.drain(..) {
        tasks.spawn_local(greet(user, Rc::clone(asking), Rc::clone(&request), Rc::clone(recorder)));
    }
    let (back, opened): (Vec<User>, Vec<Result<(), Failure>>) = tasks.join_all().await.into_iter().unzip();
    *users = back;
    // The connections count; what was said over them to open them does not.
    let tally = &mut recorder.borrow_mut().tally;
    (tally.sent_bytes, tally.received_bytes) = (0, 0);
    (tally.wire_sent_bytes, tally.wire_received_bytes) = (0, 0);
    opened.into_iter().collect::<Result<(), Failure>>()?;
    Ok(others)
}

/// Sends a harmless request over a connection, and opens the connection again if the server has closed it.
async fn greet(
    mut user: User,
    asking: Rc<Asking>,
    request: Rc<[u8]>,
    recorder: Rc<RefCell<Recorder>>,
) -> (User, Result<(), Failure>) {
    let mut opened = Ok(());
    for _ in 0..2 {
        match user.ask(&asking, &request, &mut Discard, &recorder).await {
            Err(failure) if failure.is_unanswered() => opened = Err(failure),
            // A subject may refuse the greeting and take the records: what it answers is no matter.
            Ok(_) | Err(_) => return (user, Ok(())),
        }
    }
    (user, opened)
}

/// Sends all requests; each connection sends the next one when its last is answered.
async fn send_all(mut users: Vec<User>, shared: &Rc<Sending>) -> Vec<User> {
    if let [user] = &mut users[..] {
        *user = send(std::mem::take(user), Rc::clone(shared)).await;
        return users;
    }
    let mut tasks = JoinSet::new();
    for user in users {
        tasks.spawn_local(send(user, Rc::clone(shared)));
    }
    tasks.join_all().await
}

async fn send(mut user: User, shared: Rc<Sending>) -> User {
    let mut presence = Presence::default();
    let mut answer = Collect::up_to(ANSWER_BYTES_MAX);
    while shared.next.get() < shared.rendered.count() && !shared.is_failed.get() {
        let index = shared.next.replace(shared.next.get() + 1);
        let begun = Instant::now();
        answer.clear();
        let asked = user.ask(&shared.asking, shared.rendered.request(index), &mut answer, &shared.recorder).await;
        let (sent, finished, outcome) = match asked {
            Ok(times) => {
                let kept = if shared.keeps_answers { std::mem::take(&mut answer.bytes) } else { Vec::new() };
                (times.sent, times.finished, Ok(kept))
            }
            Err(failure) => {
                shared.is_failed.set(true);
                (begun, Instant::now(), Err(failure.in_words_of(&answer.bytes)))
            }
        };
        let intended = presence.saw(sent, finished);
        shared.done.borrow_mut().push(Done { index, intended, sent, finished, outcome });
    }
    shared.recorder.borrow_mut().tally.busy_ns += presence.time().as_nanos() as u64;
    user
}

/// Active time of a connection in one transfer: from its first send to its last completion. Work of the worker before
/// and after is not charged to the transfer.
#[derive(Debug, Default)]
struct Presence(Option<(Instant, Instant)>);

impl Presence {
    /// Adds one request, and returns when it was due: when the previous one completed. The first is due when it is
    /// sent, since it waits for no answer.
    fn saw(&mut self, sent: Instant, finished: Instant) -> Instant {
        let (first, due) = self.0.unwrap_or((sent, sent));
        self.0 = Some((first, finished));
        due
    }

    fn time(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |(first, last)| last.saturating_duration_since(first))
    }
}

/// Returns the time from the first byte sent to the last byte received.
fn span(done: &[Done]) -> Duration {
    let first = done.iter().map(|done| done.sent).min();
    let last = done.iter().map(|done| done.finished).max();
    first.zip(last).map_or(Duration::ZERO, |(first, last)| last.saturating_duration_since(first))
}

/// Reads the answers, records them, and returns whether every record was acknowledged.
fn judge(
    mode: (Mode, Version),
    done: Vec<Done>,
    rendered: &Rendered,
    standing: &mut [Standing],
    recorder: &RefCell<Recorder>,
) -> bool {
    let mut recorder = recorder.borrow_mut();
    for Done { index, intended, sent, finished, outcome } in done {
        let records = rendered.records(index);
        match outcome.and_then(|body| answers::acknowledge(mode, &body, records.clone(), standing)) {
            Ok(()) => {
                recorder.answer(intended, sent, finished);
                recorder.tally.checked += 1;
            }
            Err(failure) => {
                if failure.is_unanswered() {
                    standing[records].fill(Standing::Uncertain);
                }
                recorder.failure(&failure, intended, finished);
            }
        }
    }
    standing.iter().all(|standing| *standing == Standing::Acknowledged)
}

/// Returns the CPU time once it no longer changes, or as it is when that takes too long.
fn at_rest_ns(clocks: &CpuClocks) -> Option<u64> {
    let began = Instant::now();
    let (mut last, mut since) = (clocks.read_ns()?, Instant::now());
    loop {
        let now = clocks.read_ns()?;
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() >= REST || began.elapsed() >= REST_WITHIN {
            return Some(now);
        }
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_between_tiny_transfers_is_nobodys_and_a_lost_record_still_shows() {
        let check = |lost: usize, expected: bool| {
            let (start, mut recorder) = (Instant::now(), Recorder::default());
            // A transfer of 300 µs each 400 µs, in ten requests without a pause, on a machine that looks away in
            // between.
            for transfer in 0..100_u32 {
                let mut presence = Presence::default();
                let at = |step: u32| start + Duration::from_micros(400) * transfer + Duration::from_micros(30) * step;
                for step in 0..10 {
                    presence.saw(at(step), at(step + 1));
                    if !(5..5 + lost).contains(&(transfer as usize)) {
                        recorder.answer(at(step), at(step), at(step + 1));
                    }
                }
                recorder.tally.busy_ns += presence.time().as_nanos() as u64;
            }
            assert_eq!(recorder.tally.busy_ns, 30_000_000);
            let law = crate::load::record::little::law(&recorder, 1, 30.0).unwrap();
            assert_eq!(!law.is_broken(), expected, "{law:?}");
        };
        check(0, true);
        check(2, false);
    }
}
