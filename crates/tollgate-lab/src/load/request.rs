//! One request after the other, always the same or with a feed's rows: the workload of quick loads, and of variants
//! that are a single URL.
//!
//! A request is its own unit of work. Its content is checked if the variant says what an answer contains. Users wait
//! for their answers (a closed load), or send at a rate (an open load): then response times count from the intended
//! start, so that a stalled subject is charged with all requests that came meanwhile. Whether the generator itself is
//! late is judged by [`crate::judge`].

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

use super::answer::content::{LastRight, Search};
use super::answer::failure::ErrorClass;
use super::pace::desk::hand_out;
use super::pace::units::{AFTER_FAILURE, Begun, Doer, pause, repeat};
use super::record::portions::Portions;
use super::record::recorder::Recorder;
use super::script::{Place, Script, Writer};
use super::user::{Asking, User};
use crate::traffic::model::{Load, Pace, Rate};

/// Requests of one worker's users, and their record.
pub(super) struct Requests {
    pub(super) asking: Rc<Asking>,
    pub(super) script: Arc<Script>,
    pub(super) load: Load,
    pub(super) recorder: Rc<RefCell<Recorder>>,
    /// Rows of the feed that the lane has taken.
    pub(super) rows: Cell<u64>,
    /// The answer that was last found to be right.
    pub(super) known: LastRight,
}

/// One sending user.
struct Asker {
    user: User,
    requests: Rc<Requests>,
    writer: Writer,
    /// Bytes of an answer that are kept for checks.
    kept: Vec<u8>,
    /// Response times on its connection, for a single load.
    portions: Portions,
}

impl Asker {
    fn new(user: User, requests: &Rc<Requests>, number: usize) -> Asker {
        let writer = requests.script.writer(requests.load.lane, number);
        Asker { user, requests: Rc::clone(requests), writer, kept: Vec::new(), portions: Portions::default() }
    }
}

impl Doer for Asker {
    async fn unit(
        &mut self,
        recorder: &RefCell<Recorder>,
        Begun { due, at: begun, own }: Begun,
        begin: impl FnOnce(&mut Recorder),
    ) -> Option<Instant> {
        let Asker { user, requests, writer, kept, portions } = self;
        let (asking, target) = (&*requests.asking, &*requests.asking.target);
        let place = if user.is_last(target.connection) { Place::Last } else { Place::GoingOn };
        let request = requests.script.next(writer, &requests.rows, place)?;
        begin(&mut recorder.borrow_mut());
        let mut search = Search::new(&target.shape, &target.checks, &requests.known, kept);
        let asked = user.ask(asking, request, &mut search, recorder).await;
        let (mut ended, is_answered) = {
            let mut recorder = recorder.borrow_mut();
            let judged = search.judge(asked.as_ref().err().map(|failure| failure.class), &mut recorder.tally.parts);
            let judged = match (asked, judged) {
                // What the answer says of itself tells more than its status.
                (Err(failure), Err(closer)) if closer.class == ErrorClass::SoapFault && !failure.is_unanswered() => {
                    Err(closer)
                }
                (Err(failure), _) => Err(failure.in_words_of(search.begin())),
                (Ok(answer), judged) => judged.map(|()| answer),
            };
            match judged {
                Ok(mut answer) => {
                    answer.own += own;
                    recorder.judged(due, &answer, search.verdict());
                    let time = answer.finished.saturating_duration_since(due);
                    match answer.opened {
                        Some(_) => portions.opened(),
                        None if recorder.detail.is_some() => {
                            portions.add(time.saturating_sub(answer.own).as_nanos() as u64)
                        }
                        None => {}
                    }
                    recorder.unit_ended(due, (begun, answer.finished), Some(time));
                    (answer.finished, true)
                }
                Err(failure) => {
                    let now = Instant::now();
                    recorder.failure(&failure, due, now);
                    recorder.unit_ended(due, (begun, now), None);
                    (now, !failure.is_unanswered())
                }
            }
        };
        if !is_answered && matches!(requests.load.pace, Pace::Closed { .. }) {
            pause(tokio::time::sleep(AFTER_FAILURE), &mut ended, recorder).await;
        }
        Some(ended)
    }
}

/// Record of requests before the measurement; made when there is one.
pub(super) type Uncounted = Rc<OnceCell<RefCell<Recorder>>>;

/// A closed load under way.
struct Waiting {
    uncounted: Uncounted,
    /// Measured requests begun.
    begun: Cell<u64>,
    /// Start of the first user.
    start: Instant,
    /// Start of the measurement; absent while users still come.
    counted_from: Cell<Option<Instant>>,
}

/// Sends requests until the load's end with all `users`, one task each, and returns the users. `on_counted` is called
/// when the measurement begins after the start, and returns that moment.
pub(super) async fn run(
    users: Vec<User>,
    requests: Requests,
    uncounted: Uncounted,
    on_counted: impl FnOnce() -> Instant,
) -> Vec<User> {
    let start = Instant::now();
    let ramp_up = requests.load.ramp_up();
    let counted_from = Cell::new(ramp_up.is_zero().then_some(start));
    requests.recorder.borrow_mut().begin_stages(requests.load.stages.as_ref(), start);
    let requests = Rc::new(requests);
    let shared = Rc::new(Waiting { uncounted, begun: Cell::default(), start, counted_from });
    let mut tasks = JoinSet::new();
    for (number, user) in users.into_iter().enumerate() {
        tasks.spawn_local(ask(Asker::new(user, &requests, number), number, Rc::clone(&shared)));
    }
    if shared.counted_from.get().is_none() {
        tokio::time::sleep(ramp_up).await;
        shared.counted_from.set(Some(on_counted()));
    }
    let users = tasks.join_all().await;
    requests.recorder.borrow_mut().close_units();
    users
}

/// Sends requests until the end, unmeasured while users still come.
async fn ask(mut asker: Asker, number: usize, shared: Rc<Waiting>) -> User {
    let requests = Rc::clone(&asker.requests);
    let Requests { load, recorder, .. } = &*requests;
    let comes_after = load.comes_after(number);
    if !comes_after.is_zero() {
        tokio::time::sleep(comes_after).await;
    }
    let mut previous = shared.start + comes_after;
    let from = loop {
        if let Some(from) = shared.counted_from.get() {
            break from;
        }
        let uncounted = shared.uncounted.get_or_init(|| RefCell::new(recorder.borrow().aside()));
        let Some(ended) = asker.unit(uncounted, Begun::in_time(previous), |_| {}).await else {
            recorder.borrow_mut().tally.out_of_rows += 1;
            return asker.user;
        };
        previous = ended;
    };
    if let Some(uncounted) = shared.uncounted.get() {
        asker.user.count_connection(&mut uncounted.borrow_mut().tally.used);
    }
    let entered = if load.ramp_up().is_zero() { from } else { Instant::now() };
    repeat(&mut asker, number, load, &shared.begun, recorder, (from, entered)).await;
    if let Some(detail) = &mut recorder.borrow_mut().detail {
        detail.connections.push(asker.portions);
    }
    asker.user
}

/// Sends requests at the load's rate, and returns the users.
pub(super) async fn at_a_rate(mut resting: Vec<User>, requests: Requests, rate: Rate, pacer: &mut Pacer) -> Vec<User> {
    let start = Instant::now();
    requests.recorder.borrow_mut().begin_stages(requests.load.stages.as_ref(), start);
    let requests = Rc::new(requests);
    let come = |number| Asker::new(resting.pop().unwrap_or_default(), &requests, number);
    let came = hand_out(&requests.recorder, (&requests.load, rate, start), pacer, come).await;
    requests.recorder.borrow_mut().close_units();
    resting.extend(came.into_iter().map(|asker| asker.user));
    resting
}
