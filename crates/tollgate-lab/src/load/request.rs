//! One request after the other, the same or a feed's: the workload of quick loads, and of variants that are a single URL.
//!
//! A request is its own unit of work. Content is checked where the variant says what an answer contains. Users wait for
//! their answers (a closed load), or ask at a rate, whatever the subject does (an open one): then response times count from
//! the intended start, so that a subject which stalls is charged with all that came meanwhile. What this deliberately does
//! not do: judge its own lateness; [`crate::judge`] does.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

use super::answer::content::{LastRight, Search};
use super::answer::failure::ErrorClass;
use super::pace::desk::{Desk, Seat};
use super::pace::pause::{AFTER_FAILURE, come, pause};
use super::record::recorder::Recorder;
use super::script::{Place, Script, Writer};
use super::user::{Asking, User};
use crate::traffic::model::{Load, Rate};
use crate::traffic::stages::Presence;

/// Full handshakes by which sessions are prepared, at most: an RSA key takes milliseconds for each.
const PRIMED_MAX: usize = 512;

/// Gives each user a TLS session to begin with, where connections are opened while time counts and may take one up.
pub(super) async fn prime(asking: &Asking, script: &Script, load: &Load) {
    if asking.target.takes_up_sessions() {
        asking.prime(load.users.min(PRIMED_MAX), &script.first()).await;
    }
}

/// What the users of one worker ask, and where it is written down.
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

/// One user who asks.
struct Asker<'r> {
    user: &'r mut User,
    requests: &'r Requests,
    search: Search<'r>,
    writer: Writer<'r>,
}

impl<'r> Asker<'r> {
    fn new(user: &'r mut User, requests: &'r Requests, number: usize) -> Asker<'r> {
        let target = &requests.asking.target;
        let search = Search::new(&target.shape, &target.checks, &requests.known);
        Asker { user, requests, search, writer: Writer::new(&requests.script, requests.load.lane, number) }
    }

    /// Asks for what was due and is begun at these moments, judges the answer and writes it down; `begin` does so before it
    /// is sent. When it was over, and how long the user waits then; `None` where the feed has no row for it.
    async fn ask(
        &mut self,
        recorder: &RefCell<Recorder>,
        (due, begun): (Instant, Instant),
        begin: impl FnOnce(&mut Recorder),
    ) -> Option<(Instant, Duration)> {
        let Asker { user, requests, search, writer } = self;
        let asking = &*requests.asking;
        let place = if user.is_last(asking.target.connection) { Place::Last } else { Place::GoingOn };
        let request = writer.next(&requests.rows, place)?;
        begin(&mut recorder.borrow_mut());
        search.begin();
        let asked = user.ask(asking, request, search, recorder).await;
        let mut recorder = recorder.borrow_mut();
        let judged = search.judge(asked.as_ref().err().map(|failure| failure.class), &mut recorder.tally.parts);
        let judged = match (asked, judged) {
            // What the answer says of itself tells more than its status.
            (Err(failure), Err(closer)) if closer.class == ErrorClass::SoapFault && !failure.is_unanswered() => {
                Err(closer)
            }
            (Err(failure), _) => Err(failure),
            (Ok(answer), judged) => judged.map(|()| answer),
        };
        match judged {
            Ok(answer) => {
                recorder.judged(due, &answer, search.verdict());
                let time = answer.finished.saturating_duration_since(due);
                recorder.unit_ended(due, (begun, answer.finished), Some(time));
                Some((answer.finished, Duration::ZERO))
            }
            Err(failure) => {
                let now = Instant::now();
                recorder.failure(&failure, due, now);
                recorder.unit_ended(due, (begun, now), None);
                Some((now, if failure.is_unanswered() { AFTER_FAILURE } else { Duration::ZERO }))
            }
        }
    }
}

/// Where it is written down what happens before anything counts; made when something does.
pub(super) type Uncounted = Rc<OnceCell<RefCell<Recorder>>>;

/// A closed load under way.
struct Waiting {
    requests: Requests,
    uncounted: Uncounted,
    /// Requests begun that count: with a bound on their number none is begun beyond it.
    begun: Cell<u64>,
    /// When the first user came.
    start: Instant,
    /// Since when requests count; absent while users still come.
    counted_from: Cell<Option<Instant>>,
}

/// Asks until the load's end with all `users`, one task each, and gives them back. `on_counted` is called when
/// requests are to count, where that is not the start, and says from which moment on they do.
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
    let shared = Rc::new(Waiting { requests, uncounted, begun: Cell::default(), start, counted_from });
    let mut tasks = JoinSet::new();
    for (number, mut user) in users.into_iter().enumerate() {
        let shared = Rc::clone(&shared);
        tasks.spawn_local(async move {
            if let Some(entered) = repeat(&mut user, &shared, number).await {
                // From clock reads of its own, which no record shares.
                shared.requests.recorder.borrow_mut().tally.busy_ns += entered.elapsed().as_nanos() as u64;
            }
            user
        });
    }
    if shared.counted_from.get().is_none() {
        tokio::time::sleep(ramp_up).await;
        shared.counted_from.set(Some(on_counted()));
    }
    let users = tasks.join_all().await;
    shared.requests.recorder.borrow_mut().close_units();
    users
}

/// Asks until the end, and says since when it counted.
async fn repeat(user: &mut User, shared: &Waiting, number: usize) -> Option<Instant> {
    let Waiting { requests, start, .. } = shared;
    let load = &requests.load;
    let comes_after = load.comes_after(number);
    if !comes_after.is_zero() {
        tokio::time::sleep(comes_after).await;
    }
    let mut previous = *start + comes_after;
    let mut entered = None;
    let mut asker = Asker::new(user, requests, number);
    loop {
        let counted_from = shared.counted_from.get();
        let recorder = match counted_from {
            None => shared.uncounted.get_or_init(RefCell::default),
            Some(from) => {
                if entered.is_none() {
                    previous = if load.ramp_up().is_zero() { *start } else { Instant::now() };
                    entered = Some(previous);
                }
                if load.end.is_reached(previous.saturating_duration_since(from), shared.begun.get()) {
                    return entered;
                }
                &*requests.recorder
            }
        };
        if let Some(stages) = &load.stages {
            match come(stages, load.lane.user(number), *start, &mut previous, recorder).await {
                Presence::There => {}
                Presence::Gone => return entered,
                Presence::ComesAfter(_) => continue,
            }
        }
        let begin = |recorder: &mut Recorder| {
            if counted_from.is_some() {
                shared.begun.set(shared.begun.get() + 1);
                recorder.unit_begun(previous, previous);
            }
        };
        let Some((ended, wait)) = asker.ask(recorder, (previous, previous), begin).await else {
            requests.recorder.borrow_mut().tally.out_of_rows += 1;
            return entered;
        };
        previous = ended;
        if !wait.is_zero() {
            pause(tokio::time::sleep(wait), &mut previous, recorder).await;
        }
    }
}

/// Asks at the load's rate, and gives the users back.
pub(super) async fn at_a_rate(mut resting: Vec<User>, requests: Requests, rate: Rate, pacer: &mut Pacer) -> Vec<User> {
    let desk = Desk::new(&requests.recorder);
    let start = Instant::now();
    requests.recorder.borrow_mut().begin_stages(requests.load.stages.as_ref(), start);
    let requests = Rc::new(requests);
    let came = desk
        .hand_out((&requests.load, rate, start), pacer, |number, seat| {
            let mut user = resting.pop().unwrap_or_default();
            let (requests, desk) = (Rc::clone(&requests), Rc::clone(&desk));
            async move {
                serve(Asker::new(&mut user, &requests, number), &seat, &desk).await;
                user
            }
        })
        .await;
    requests.recorder.borrow_mut().close_units();
    resting.extend(came);
    resting
}

/// One user: takes what is due, until nothing more comes.
async fn serve(mut asker: Asker<'_>, seat: &Rc<Seat>, desk: &Desk) {
    let recorder = &*asker.requests.recorder;
    while let Some(due) = desk.next(seat).await {
        let begun = Instant::now();
        let begin = |recorder: &mut Recorder| recorder.begun(due, begun);
        // A feed that ends also ends the schedule: there is a row for whatever is due.
        if asker.ask(recorder, (due.intended, begun), begin).await.is_none() {
            return;
        }
    }
}
