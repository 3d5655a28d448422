//! Scenarios: users wait for each answer before they take the next step. An iteration is a unit of work; a failure ends
//! it. Iterations begin as soon as a user has finished the previous one, or at a rate.
//!
//! Response times of steps are recorded like those of single requests. Setup, teardown and think time are not counted.

pub(super) mod cookies;
mod find;
mod pauses;
mod player;
mod program;
pub mod record;
mod steady;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

pub use program::Program;

use super::pace::desk::hand_out;
use super::pace::gate::Gate;
use super::pace::units::{AFTER_FAILURE, Begun, Doer, pause, repeat};
use super::record::recorder::Recorder;
use super::user::{Asking, User};
use crate::traffic::feed::FeedEnd;
use crate::traffic::model::{Load, Pace, Rate};
use crate::traffic::scenario::Fed;
use player::Player;
pub(super) use player::Resting;
use program::Ready;
use steady::Window;

/// Variable settings of a scenario run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// Seed for rows and think times. Each user draws separately.
    pub seed: u64,
    /// Rule for the end of a feed, in place of the feed's own: in unmeasured phases no user may leave. Absent: the
    /// feed's own rule.
    pub behind_rows: Option<FeedEnd>,
}

/// State shared by the users of one worker.
struct Performance {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    play: Play,
    /// Rows of each feed that the lane has taken.
    rows: Vec<Cell<u64>>,
    /// Iterations begun: if their number is limited, none is begun beyond it.
    begun: Cell<u64>,
}

/// A scenario with its settings and load.
pub(super) struct Play {
    pub(super) program: Arc<Program>,
    pub(super) conduct: Conduct,
    pub(super) load: Load,
    /// Where all workers meet at the start and the end of the measurement.
    pub(super) gate: Arc<Gate>,
}

/// Plays until the load's end with all `users`, and returns them. All workers meet at the gate before the measurement
/// and before the teardown; `on_counted` is called when it begins, and `on_ended` when this worker's part is over.
/// Thinking users `rest` between trials, each at its step.
pub(super) async fn run(
    (users, rest): (Vec<User>, &mut Vec<Resting>),
    asking: Rc<Asking>,
    play: Play,
    (recorder, pacer): (Rc<RefCell<Recorder>>, &mut Pacer),
    (on_counted, on_ended): (impl FnOnce(Instant), impl FnOnce(Instant)),
) -> Vec<User> {
    recorder.borrow_mut().with_steps(play.program.step_names());
    let rows = vec![Cell::new(0); play.program.played.scenario.feeds.len()];
    let rested = std::mem::take(rest);
    // At another level users come anew, on the connections that they have.
    let are_same = rested.len() == users.len();
    let window = Window::of(&play, &recorder, !are_same);
    let shared = Rc::new(Performance { asking, recorder, play, rows, begun: Cell::default() });
    let Play { program, load, gate, .. } = &shared.play;
    let mut rested = rested.into_iter();
    let mut come = |(number, user)| match (rested.next(), &window) {
        (Some(resting), Some(_)) if are_same => Player::again(&shared, resting, number),
        (resting, Some(_)) => Player::on_its_way(&shared, resting.map_or(user, Resting::into_user), number),
        (resting, None) => Player::new(&shared, resting.map_or(user, Resting::into_user), number),
    };
    let mut all: Vec<Player> = users.into_iter().enumerate().map(&mut come).collect();
    if !program.setup.is_empty() {
        all = each(all, async |player| player.takes_part = once(player, |program| &program.setup).await).await;
        shared.recorder.borrow_mut().tally.absent += all.iter().filter(|player| !player.takes_part).count() as u64;
    }
    let is_kept = window.is_some() && program.thinks() && program.is_kept();
    if let Some(window) = window {
        gate.meet(|_| {}).await;
        all = window.play(all, gate, pacer, (on_counted, on_ended)).await;
    } else {
        gate.meet(Gate::begin).await;
        let start = Instant::now();
        shared.recorder.borrow_mut().begin_stages(load.stages.as_ref(), start);
        on_counted(start);
        all = match load.pace {
            Pace::Closed { .. } => each(all, async move |player| play_on(player, start).await).await,
            Pace::Open(rate) => at_a_rate(all, &shared, (rate, start), pacer).await,
        };
        on_ended(Instant::now());
    }
    shared.recorder.borrow_mut().close_iterations();
    gate.meet(Gate::end).await;
    if !program.teardown.is_empty() {
        all = each(all, async |player| {
            once(player, |program| &program.teardown).await;
        })
        .await;
    }
    if is_kept {
        rest.extend(all.into_iter().map(Player::rest));
        return rested.map(Resting::into_user).collect();
    }
    all.into_iter().map(|player| player.user).chain(rested.map(Resting::into_user)).collect()
}

/// Lets all do the same at the same time.
async fn each(all: Vec<Player>, act: impl AsyncFn(&mut Player) + Clone + 'static) -> Vec<Player> {
    let mut tasks = JoinSet::new();
    for mut player in all {
        let act = act.clone();
        tasks.spawn_local(async move {
            act(&mut player).await;
            player
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|player| player.number);
    all
}

/// Plays unmeasured steps; only their failures count. Returns whether all succeeded.
async fn once(player: &mut Player, steps: fn(&Program) -> &[Ready]) -> bool {
    let (shared, aside) = (Rc::clone(&player.shared), RefCell::new(Recorder::default()));
    player.begin(0, unique());
    let mut failed = None;
    for ready in steps(&shared.play.program) {
        failed = player.play(ready, &shared.asking, &aside).await.err();
        if failed.is_some() {
            break;
        }
    }
    let (opened, mut recorder) = (aside.take().tally.connections, shared.recorder.borrow_mut());
    recorder.before.get_or_insert_default().connections += opened;
    let Some(mut failure) = failed else { return true };
    failure.text = format!("setup or teardown, {}", failure.text);
    recorder.failure_aside(&failure);
    false
}

/// Plays iterations until the end, each as soon as the previous one is over.
async fn play_on(player: &mut Player, start: Instant) {
    if player.takes_part {
        let (shared, number) = (Rc::clone(&player.shared), player.number);
        let Performance { play: Play { load, .. }, begun, recorder, .. } = &*shared;
        // Stages count from one moment for all; whoever has none begins when it has its turn.
        let start = if load.stages.is_some() { start } else { Instant::now() };
        repeat(player, number, load, begun, recorder, (start, start)).await;
    }
}

/// Plays iterations when they are due, with as many users as needed.
async fn at_a_rate(
    all: Vec<Player>,
    shared: &Rc<Performance>,
    (rate, start): (Rate, Instant),
    pacer: &mut Pacer,
) -> Vec<Player> {
    let (mut resting, mut absent): (Vec<Player>, Vec<Player>) = all.into_iter().partition(|player| player.takes_part);
    // The first ones come first.
    resting.reverse();
    let load = Load { users: resting.len(), ..shared.play.load.clone() };
    let come = |_| resting.pop().expect("no more users are called than there are");
    let came = hand_out(&shared.recorder, (&load, rate, start), pacer, come).await;
    absent.extend(resting);
    absent.extend(came);
    absent.sort_by_key(|player| player.number);
    absent
}

/// An iteration.
impl Doer for Player {
    async fn unit(
        &mut self,
        recorder: &RefCell<Recorder>,
        Begun { due, at: begun, mut own }: Begun,
        begin: impl FnOnce(&mut Recorder),
    ) -> Option<Instant> {
        begin(&mut recorder.borrow_mut());
        let shared = Rc::clone(&self.shared);
        let program = &shared.play.program;
        self.iterate(&program.played.scenario.feeds, &shared.rows)?;
        let mut previous = due;
        let mut is_whole = true;
        for step in 0..program.steps.len() {
            let (is_right, wait) = self.take(step, recorder, &mut previous, std::mem::take(&mut own)).await;
            is_whole = is_right;
            if !wait.is_zero() {
                pause(tokio::time::sleep(wait), &mut previous, recorder).await;
            }
            if !is_whole {
                break;
            }
        }
        let mut recorder = recorder.borrow_mut();
        if is_whole {
            recorder.iterated(self.answered);
        }
        recorder.unit_ended(due, (begun, previous), is_whole.then_some(self.answered));
        Some(previous)
    }
}

impl Player {
    /// Begins an iteration; `None` if there is no row for it.
    fn iterate(&mut self, feeds: &[Fed], taken: &[Cell<u64>]) -> Option<()> {
        self.begin(self.iterations, unique());
        self.iterations += 1;
        self.answered = Duration::ZERO;
        self.take_rows(feeds, taken)
    }

    /// Takes a step that is due since `previous`, and that the generator itself delayed by `own`. Returns whether the
    /// answer was right, and how long the user waits afterwards.
    async fn take(
        &mut self,
        step: usize,
        recorder: &RefCell<Recorder>,
        previous: &mut Instant,
        own: Duration,
    ) -> (bool, Duration) {
        let shared = Rc::clone(&self.shared);
        let ready = &shared.play.program.steps[step];
        let played = self.play(ready, &shared.asking, recorder).await;
        let mut recorder = recorder.borrow_mut();
        match played {
            Ok(mut answer) => {
                answer.own += own;
                self.answered += answer.finished.saturating_duration_since(*previous);
                recorder.step_answered(step, *previous, &answer, ready.verdict());
                *previous = answer.finished;
                (true, self.think(ready.step.think))
            }
            Err(failure) => {
                let now = Instant::now();
                recorder.step_failed(step, &failure, *previous, now);
                *previous = now;
                (false, if failure.is_unanswered() { AFTER_FAILURE } else { Duration::ZERO })
            }
        }
    }
}

/// Derives a seed for one purpose from a seed for several (the finalizer of SplitMix64).
pub(crate) fn mixed(seed: u64, part: u64) -> u64 {
    let mut mixed = seed ^ part.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns a number that no earlier iteration had, in this run or an earlier one, if the machine's clock never goes
/// back.
fn unique() -> u64 {
    static FIRST: OnceLock<u64> = OnceLock::new();
    static TAKEN: AtomicU64 = AtomicU64::new(0);
    let first = FIRST.get_or_init(|| {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros() as u64
    });
    first + TAKEN.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests;
