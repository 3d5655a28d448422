//! One request after the other, the same or a feed's: the workload of quick loads, and of variants that are a single URL.
//!
//! A request is its own unit of work. Content is checked where the variant says what an answer contains. Here it is
//! asked by users who wait for their answers; at a rate it is asked in [`super::pace::open`].

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::answer::content::{LastRight, Search};
use super::answer::failure::{ErrorClass, Failure};
use super::record::recorder::Recorder;
use super::script::{Place, Script, Writer};
use super::user::{Answer, Asking, User};
use crate::traffic::model::{Closed, Lane, Load};
use crate::traffic::stages::{Presence, Stages};

/// After a failure that no answer came with, a user waits so long: a server that is gone is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(10);
/// Full handshakes by which sessions are prepared, at most: an RSA key takes milliseconds for each.
const PRIMED_MAX: usize = 512;

/// Asks with `request`, and judges the answer.
pub(crate) async fn ask(
    user: &mut User,
    request: &[u8],
    asking: &Asking,
    search: &mut Search<'_>,
    recorder: &RefCell<Recorder>,
) -> Result<Answer, Failure> {
    search.begin();
    let asked = user.ask(asking, request, search, recorder).await;
    let judged = search.judge(asked.as_ref().err().map(|failure| failure.class));
    if !search.parts().is_empty() {
        let tally = &mut recorder.borrow_mut().tally;
        search.parts().iter().for_each(|(status, count)| tally.count_parts(*status, *count));
    }
    match (asked, judged) {
        // What the answer says of itself tells more than its status.
        (Err(failure), Err(closer)) if closer.class == ErrorClass::SoapFault && !failure.is_unanswered() => Err(closer),
        (Err(failure), _) => Err(failure),
        (Ok(answer), judged) => judged.map(|()| answer),
    }
}

/// Whether the next request is the last one on its connection.
pub(crate) fn place(user: &User, asking: &Asking) -> Place {
    if user.is_last(asking.target.connection) { Place::Last } else { Place::GoingOn }
}

/// Gives each user a TLS session to begin with, where connections are opened while time counts and may take one up.
pub(crate) async fn prime(asking: &Asking, script: &Script, load: &Load) {
    if asking.target.takes_up_sessions() {
        asking.prime(load.users().min(PRIMED_MAX), &script.first()).await;
    }
}

/// Where it is written down what happens before anything counts; made when something does.
pub(crate) type Uncounted = Rc<OnceCell<RefCell<Recorder>>>;

struct Shared {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    uncounted: Uncounted,
    script: Arc<Script>,
    lane: Lane,
    /// Rows of the feed that the lane has taken.
    rows: Cell<u64>,
    /// The answer that was last found to be right.
    known: LastRight,
    /// Requests begun that count: with a bound on their number none is begun beyond it.
    begun: Cell<u64>,
    /// When the first user came.
    start: Instant,
    /// Since when requests count; absent while users still come.
    counted_from: Cell<Option<Instant>>,
    load: Closed,
    /// How the users change; absent: not at all.
    stages: Option<Arc<Stages>>,
}

/// Asks until the load's end with all `users`, one task each, and gives them back. `on_counted` is called when
/// requests are to count, where that is not the start, and says from which moment on they do.
pub(crate) async fn run(
    users: Vec<User>,
    asking: Rc<Asking>,
    (script, lane): (Arc<Script>, Lane),
    (load, stages): (Closed, Option<Arc<Stages>>),
    (recorder, uncounted): (Rc<RefCell<Recorder>>, Uncounted),
    on_counted: impl FnOnce() -> Instant,
) -> Vec<User> {
    let start = Instant::now();
    let counted_from = Cell::new(load.ramp_up.is_zero().then_some(start));
    let (begun, rows) = (Cell::new(0), Cell::new(0));
    let known = LastRight::default();
    recorder.borrow_mut().begin_stages(stages.as_ref(), start);
    let shared = Rc::new(Shared {
        asking,
        recorder,
        uncounted,
        script,
        lane,
        rows,
        known,
        begun,
        start,
        counted_from,
        load,
        stages,
    });
    let mut tasks = JoinSet::new();
    for (number, mut user) in users.into_iter().enumerate() {
        let shared = Rc::clone(&shared);
        tasks.spawn_local(async move {
            let entered = repeat(&mut user, &shared, number).await;
            (user, entered, Instant::now())
        });
    }
    if shared.counted_from.get().is_none() {
        tokio::time::sleep(load.ramp_up).await;
        shared.counted_from.set(Some(on_counted()));
    }
    let ended = tasks.join_all().await;
    let mut recorder = shared.recorder.borrow_mut();
    // From clock reads of their own, which no record shares.
    let stayed = |(_, entered, left): &(User, Option<Instant>, Instant)| {
        entered.map_or(Duration::ZERO, |entered| left.duration_since(entered))
    };
    recorder.tally.busy_ns += ended.iter().map(stayed).sum::<Duration>().as_nanos() as u64;
    recorder.close_units();
    drop(recorder);
    ended.into_iter().map(|(user, ..)| user).collect()
}

/// Asks until the end, and says since when it counted.
async fn repeat(user: &mut User, shared: &Shared, number: usize) -> Option<Instant> {
    let comes_after = shared.load.comes_after(number);
    if !comes_after.is_zero() {
        tokio::time::sleep(comes_after).await;
    }
    let mut previous = shared.start + comes_after;
    let mut entered = None;
    let mut search = Search::new(&shared.asking.target, &shared.known);
    let mut writer = Writer::new(&shared.script, shared.lane, number);
    loop {
        let recorder = match shared.counted_from.get() {
            None => shared.uncounted.get_or_init(RefCell::default),
            Some(from) => {
                if entered.is_none() && shared.load.ramp_up.is_zero() {
                    entered = Some(shared.start);
                } else if entered.is_none() {
                    previous = Instant::now();
                    entered = Some(previous);
                }
                if shared.load.end.is_reached(previous.saturating_duration_since(from), shared.begun.get()) {
                    return entered;
                }
                &*shared.recorder
            }
        };
        if let Some(stages) = &shared.stages {
            let number = number * shared.lane.count as usize + shared.lane.index as usize;
            match stages.presence(number, previous.saturating_duration_since(shared.start)) {
                Presence::There => {}
                Presence::Gone => return entered,
                Presence::ComesAfter(after) => {
                    tokio::time::sleep_until((shared.start + after).into()).await;
                    let now = Instant::now();
                    recorder.borrow_mut().tally.waited_ns += now.duration_since(previous).as_nanos() as u64;
                    previous = now;
                    continue;
                }
            }
        }
        let Some(request) = writer.next(&shared.rows, place(user, &shared.asking)) else {
            shared.recorder.borrow_mut().tally.out_of_rows += 1;
            return entered;
        };
        if shared.counted_from.get().is_some() {
            shared.begun.set(shared.begun.get() + 1);
            recorder.borrow_mut().unit_begun(previous, previous);
        }
        let judged = ask(user, request, &shared.asking, &mut search, recorder).await;
        let failed_unanswered = {
            let mut recorder = recorder.borrow_mut();
            match judged {
                Ok(answer) => {
                    recorder.judged(previous, &answer, search.verdict());
                    let time = answer.finished.saturating_duration_since(previous);
                    recorder.unit_ended(previous, (previous, answer.finished), Some(time));
                    previous = answer.finished;
                    false
                }
                Err(failure) => {
                    let now = Instant::now();
                    recorder.failure(&failure, previous, now);
                    recorder.unit_ended(previous, (previous, now), None);
                    previous = now;
                    failure.is_unanswered()
                }
            }
        };
        if failed_unanswered {
            tokio::time::sleep(AFTER_FAILURE).await;
            let now = Instant::now();
            recorder.borrow_mut().tally.waited_ns += now.duration_since(previous).as_nanos() as u64;
            previous = now;
        }
    }
}
