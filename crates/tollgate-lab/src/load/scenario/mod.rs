//! Scenarios, played by users who wait for each answer before they take the next step. An iteration is a unit of work; a
//! failure ends it, and the user begins the next one.
//!
//! Response times of steps are recorded as those of single requests are. What it deliberately does not do: count what users
//! do before and after (setup, teardown), or the time that they think.

mod cookies;
mod find;
mod player;
mod program;
pub mod record;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

pub use program::Program;
pub(super) use program::{Manner, Repeat};

use super::feed::{Feed, Way};
use super::model::{Closed, Lane};
use super::recorder::Recorder;
use super::user::{Asking, User};
use crate::experiment::scenario::{Fed, Think};
use player::Player;
use program::Ready;
use record::Stepped;

/// After a failure that no answer came with, a user waits so long: a server that is gone is not hammered.
const AFTER_FAILURE: Duration = Duration::from_millis(10);
/// What is drawn of times to think is drawn apart from rows, whose feeds have the numbers from 0 on.
const THINK_SEED: u64 = u64::MAX;
/// An exponential time to think is at most so many times its mean.
const THINK_MEANS_MAX: f64 = 10.0;

/// How a scenario is played this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conduct {
    /// Seed of what is drawn: rows and times to think. Users draw each their own.
    pub seed: u64,
    /// What comes behind the last row of a feed.
    pub rows: Rows,
}

/// What comes behind the last row of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// What the feed says.
    AsTheyEnd,
    /// The first one, whatever the feed says: where nothing counts, nobody may leave.
    Again,
}

/// What the users of one worker share.
struct Shared {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    program: Arc<Program>,
    lane: Lane,
    conduct: Conduct,
    /// Rows that the lane has taken of each feed.
    rows: Vec<Cell<u64>>,
    load: Closed,
    /// Iterations begun: with a bound on their number none is begun beyond it.
    begun: Cell<u64>,
}

/// One user on its way.
struct Playing {
    user: User,
    player: Player,
    number: usize,
    /// Absent: its setup failed, and it takes no part.
    takes_part: bool,
    stayed: Duration,
}

/// Plays until the load's end with all `users`, and gives them back. All workers meet at the gate before anything counts;
/// `on_counted` is called behind it and `on_ended` before the teardown.
pub(super) async fn run(
    users: Vec<User>,
    (asking, program, lane, conduct): (Rc<Asking>, Arc<Program>, Lane, Conduct),
    (load, gate): (Closed, Arc<Barrier>),
    recorder: Rc<RefCell<Recorder>>,
    on_counted: impl FnOnce(Instant),
    on_ended: impl FnOnce(Instant),
) -> Vec<User> {
    {
        let mut recorder = recorder.borrow_mut();
        let names = program.step_names();
        let is_same = recorder
            .stepped
            .as_ref()
            .is_some_and(|known| known.steps.iter().map(|step| step.name.as_str()).eq(program.step_names()));
        if !is_same {
            recorder.stepped = Some(Box::new(Stepped::of(names)));
        }
    }
    let rows = vec![Cell::new(0); program.played.scenario.feeds.len()];
    let shared = Rc::new(Shared { asking, recorder, program, lane, conduct, rows, load, begun: Cell::new(0) });
    let begin = |(number, user)| {
        let player = Player::new(&shared.program);
        Playing { user, player, number, takes_part: true, stayed: Duration::ZERO }
    };
    let mut all: Vec<Playing> = users.into_iter().enumerate().map(begin).collect();
    if !shared.program.setup.is_empty() {
        all = each(all, &shared, Phase::Setup).await;
    }
    gate.wait().await;
    on_counted(Instant::now());
    all = each(all, &shared, Phase::Counted).await;
    on_ended(Instant::now());
    {
        let mut recorder = shared.recorder.borrow_mut();
        recorder.tally.busy_ns += all.iter().map(|playing| playing.stayed).sum::<Duration>().as_nanos() as u64;
        recorder.close_iterations();
    }
    if !shared.program.teardown.is_empty() {
        all = each(all, &shared, Phase::Teardown).await;
    }
    all.into_iter().map(|playing| playing.user).collect()
}

/// What users do at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Setup,
    Counted,
    Teardown,
}

async fn each(all: Vec<Playing>, shared: &Rc<Shared>, phase: Phase) -> Vec<Playing> {
    let mut tasks = JoinSet::new();
    for mut playing in all {
        let shared = Rc::clone(shared);
        tasks.spawn_local(async move {
            let entered = Instant::now();
            match phase {
                Phase::Counted if playing.takes_part => {
                    repeat(&mut playing, &shared, entered).await;
                    playing.stayed = entered.elapsed();
                }
                Phase::Counted => {}
                Phase::Setup => playing.takes_part = once(&mut playing, &shared, &shared.program.setup).await,
                Phase::Teardown => drop(once(&mut playing, &shared, &shared.program.teardown).await),
            }
            playing
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|playing| playing.number);
    all
}

/// Steps that count in no figure but as failures. Whether all of them went well.
async fn once(playing: &mut Playing, shared: &Shared, steps: &[Ready]) -> bool {
    let aside = RefCell::new(Recorder::default());
    playing.begin(shared, 0);
    for ready in steps {
        if let Err(mut failure) = playing.player.play(ready, &mut playing.user, &shared.asking, &aside).await {
            failure.text = format!("step `{}`, which is not counted: {}", ready.step.name, failure.text);
            shared.recorder.borrow_mut().failure_aside(&failure);
            return false;
        }
    }
    true
}

/// Iterations until the end.
async fn repeat(playing: &mut Playing, shared: &Shared, start: Instant) {
    let feeds = &shared.program.played.scenario.feeds;
    let Conduct { seed, rows } = shared.conduct;
    let way = |fed: &Fed| {
        // Feeds of one trial draw apart from each other.
        let way = Way::new(&Feed { seed: mixed(seed, fed.feed.seed), ..fed.feed.clone() }, shared.lane, playing.number);
        if rows == Rows::Again { way.without_end() } else { way }
    };
    let mut ways: Vec<Way> = feeds.iter().map(way).collect();
    let mut thinking = ChaCha8Rng::seed_from_u64(mixed(seed, THINK_SEED));
    thinking.set_stream((u64::from(shared.lane.index) << 32) | playing.number as u64);
    let mut previous = start;
    for iteration in 0.. {
        if shared.load.end.is_reached(previous.saturating_duration_since(start), shared.begun.get()) {
            return;
        }
        shared.begun.set(shared.begun.get() + 1);
        playing.begin(shared, iteration);
        for ((way, fed), rows) in ways.iter_mut().zip(feeds).zip(&shared.rows) {
            let Some(row) = way.next(rows) else {
                shared.recorder.borrow_mut().tally.out_of_rows += 1;
                return;
            };
            for column in 0..fed.feed.table.columns.len() {
                playing.player.set(fed.first + column, fed.feed.table.value(row as usize, column));
            }
        }
        let mut answered = Duration::ZERO;
        let mut is_whole = true;
        for (step, ready) in shared.program.steps.iter().enumerate() {
            let played = playing.player.play(ready, &mut playing.user, &shared.asking, &shared.recorder).await;
            let wait = {
                let mut recorder = shared.recorder.borrow_mut();
                match played {
                    Ok(answer) => {
                        let time = answer.finished.saturating_duration_since(previous);
                        answered += time;
                        recorder.step_answered(step, previous, &answer, ready.verdict());
                        previous = answer.finished;
                        think(ready.step.think, &mut thinking)
                    }
                    Err(failure) => {
                        let now = Instant::now();
                        recorder.step_failed(step, &failure, previous, now);
                        previous = now;
                        is_whole = false;
                        if failure.is_unanswered() { AFTER_FAILURE } else { Duration::ZERO }
                    }
                }
            };
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
                let now = Instant::now();
                shared.recorder.borrow_mut().tally.waited_ns += now.duration_since(previous).as_nanos() as u64;
                previous = now;
            }
            if !is_whole {
                break;
            }
        }
        if is_whole {
            shared.recorder.borrow_mut().iterated(answered);
        }
    }
}

/// A seed of its own for each part of what one seed is for (the finalizer of SplitMix64).
pub(crate) fn mixed(seed: u64, part: u64) -> u64 {
    let mut mixed = seed ^ part.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn think(think: Option<Think>, random: &mut ChaCha8Rng) -> Duration {
    match think {
        None => Duration::ZERO,
        Some(Think::Constant(time)) => time,
        Some(Think::Exponential(mean)) => {
            let share: f64 = random.random_range(0.0..1.0);
            mean.mul_f64((-(1.0 - share).ln()).min(THINK_MEANS_MAX))
        }
    }
}

impl Playing {
    /// Sets the variables that every iteration has.
    fn begin(&mut self, shared: &Shared, iteration: u64) {
        let user = self.number as u64 * u64::from(shared.lane.count) + u64::from(shared.lane.index);
        for (variable, number) in [user, iteration, unique()].into_iter().enumerate() {
            self.player.set_number(variable, number);
        }
    }
}

/// A number that no iteration had before, of this run or an earlier one on a machine whose clock goes forward.
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
