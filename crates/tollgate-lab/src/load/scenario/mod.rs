//! Scenarios, played by users who wait for each answer before they take the next step. An iteration is a unit of work; a
//! failure ends it. Iterations begin as soon as a user is through with the one before, or at a rate.
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
use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

pub use program::Program;

use super::pace::desk::{Desk, Seat};
use super::pace::gate::Gate;
use super::pace::pause::{AFTER_FAILURE, come, pause};
use super::record::recorder::Recorder;
use super::user::{Asking, User};
use crate::traffic::feed::{Feed, FeedEnd, Order, Way};
use crate::traffic::model::{Load, Pace, Rate};
use crate::traffic::scenario::{Fed, Think};
use crate::traffic::stages::Presence;
use player::Player;
use program::Ready;
use record::Stepped;

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
struct Performance {
    asking: Rc<Asking>,
    recorder: Rc<RefCell<Recorder>>,
    play: Play,
    /// Rows that the lane has taken of each feed.
    rows: Vec<Cell<u64>>,
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
}

/// What is played, and how.
pub(super) struct Play {
    pub(super) program: Arc<Program>,
    pub(super) conduct: Conduct,
    pub(super) load: Load,
    /// Where all workers meet before anything counts, and when that is over.
    pub(super) gate: Arc<Gate>,
}

/// Plays until the load's end with all `users`, and gives them back. All workers meet at the gate before anything counts and
/// before the teardown; `on_counted` is called when they have met, and `on_ended` when this one's part is over.
pub(super) async fn run(
    users: Vec<User>,
    asking: Rc<Asking>,
    play: Play,
    (recorder, pacer): (Rc<RefCell<Recorder>>, &mut Pacer),
    on_counted: impl FnOnce(Instant),
    on_ended: impl FnOnce(Instant),
) -> Vec<User> {
    let program = &play.program;
    {
        let stepped = &mut recorder.borrow_mut().stepped;
        let known = stepped.iter().flat_map(|stepped| &stepped.steps).map(|step| step.name.as_str());
        if !known.eq(program.step_names()) {
            *stepped = Some(Box::new(Stepped::of(program.step_names())));
        }
    }
    let rows = vec![Cell::new(0); program.played.scenario.feeds.len()];
    let shared = Rc::new(Performance { asking, recorder, play, rows, begun: Cell::default() });
    let Play { program, load, gate, .. } = &shared.play;
    let begin = |(number, user)| {
        let player = Player::new(program);
        Playing { user, player, number, takes_part: true }
    };
    let mut all: Vec<Playing> = users.into_iter().enumerate().map(begin).collect();
    if !program.setup.is_empty() {
        all = each(all, &shared, Phase::Setup).await;
    }
    gate.begin_together().await;
    let start = Instant::now();
    shared.recorder.borrow_mut().begin_stages(load.stages.as_ref(), start);
    on_counted(start);
    all = match load.pace {
        Pace::Closed { .. } => each(all, &shared, Phase::Counted(start)).await,
        Pace::Open(rate) => at_a_rate(all, &shared, (rate, start), pacer).await,
    };
    on_ended(Instant::now());
    shared.recorder.borrow_mut().close_iterations();
    gate.end_together().await;
    if !program.teardown.is_empty() {
        all = each(all, &shared, Phase::Teardown).await;
    }
    all.into_iter().map(|playing| playing.user).collect()
}

/// What users do at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Setup,
    /// Until the load's end, since then.
    Counted(Instant),
    Teardown,
}

async fn each(all: Vec<Playing>, shared: &Rc<Performance>, phase: Phase) -> Vec<Playing> {
    let mut tasks = JoinSet::new();
    for mut playing in all {
        let shared = Rc::clone(shared);
        tasks.spawn_local(async move {
            match phase {
                Phase::Counted(start) if playing.takes_part => {
                    let entered = Instant::now();
                    // Stages count from one moment for all; whoever has none begins when it has its turn.
                    let start = if shared.play.load.stages.is_some() { start } else { entered };
                    repeat(&mut playing, &shared, start).await;
                    shared.recorder.borrow_mut().tally.busy_ns += start.elapsed().as_nanos() as u64;
                }
                Phase::Counted(..) => {}
                Phase::Setup => playing.takes_part = once(&mut playing, &shared, &shared.play.program.setup).await,
                Phase::Teardown => drop(once(&mut playing, &shared, &shared.play.program.teardown).await),
            }
            playing
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|playing| playing.number);
    all
}

/// Steps that count in no figure but as failures. Whether all of them went well.
async fn once(playing: &mut Playing, shared: &Performance, steps: &[Ready]) -> bool {
    let aside = RefCell::new(Recorder::default());
    playing.begin(shared, 0);
    for ready in steps {
        if let Err(mut failure) = playing.player.play(ready, &mut playing.user, &shared.asking, &aside).await {
            failure.text = format!("setup or teardown, {}", failure.text);
            shared.recorder.borrow_mut().failure_aside(&failure);
            return false;
        }
    }
    true
}

/// Iterations until the end, each as soon as the one before it is over.
async fn repeat(playing: &mut Playing, shared: &Performance, start: Instant) {
    let load = &shared.play.load;
    let mut drawn = Drawn::new(shared, playing.number);
    let mut previous = start;
    loop {
        let after = previous.saturating_duration_since(start);
        if load.end.is_reached(after, shared.begun.get()) {
            return;
        }
        if let Some(stages) = &load.stages {
            match come(stages, playing.number_of_all(shared), start, &mut previous, &shared.recorder).await {
                Presence::There => {}
                Presence::Gone => return,
                Presence::ComesAfter(_) => continue,
            }
        }
        shared.begun.set(shared.begun.get() + 1);
        shared.recorder.borrow_mut().unit_begun(previous, previous);
        match iterate(playing, shared, &mut drawn, (previous, previous)).await {
            Some(ended) => previous = ended,
            None => return,
        }
    }
}

/// Iterations when they are due, by as many users as it takes.
async fn at_a_rate(
    all: Vec<Playing>,
    shared: &Rc<Performance>,
    (rate, start): (Rate, Instant),
    pacer: &mut Pacer,
) -> Vec<Playing> {
    let (mut resting, mut absent): (Vec<Playing>, Vec<Playing>) =
        all.into_iter().partition(|playing| playing.takes_part);
    // The first ones come first.
    resting.reverse();
    let desk = Desk::new(&shared.recorder);
    let load = Load { users: resting.len(), ..shared.play.load.clone() };
    let came = desk
        .hand_out((&load, rate, start), pacer, |_, seat| {
            let playing = resting.pop().expect("no more users are called than there are");
            let (shared, desk) = (Rc::clone(shared), Rc::clone(&desk));
            serve(playing, seat, shared, desk)
        })
        .await;
    absent.extend(resting);
    absent.extend(came);
    absent.sort_by_key(|playing| playing.number);
    absent
}

async fn serve(mut playing: Playing, seat: Rc<Seat>, shared: Rc<Performance>, desk: Rc<Desk>) -> Playing {
    let mut drawn = Drawn::new(&shared, playing.number);
    while let Some(due) = desk.next(&seat).await {
        let now = Instant::now();
        shared.recorder.borrow_mut().begun(due, now);
        if iterate(&mut playing, &shared, &mut drawn, (due.intended, now)).await.is_none() {
            // Rows that end do so for all.
            desk.shut();
        }
    }
    playing
}

/// What a user draws from iteration to iteration.
struct Drawn {
    ways: Vec<Way>,
    thinking: ChaCha8Rng,
    /// Iterations begun.
    count: u64,
}

impl Drawn {
    fn new(shared: &Performance, user: usize) -> Drawn {
        let Play { conduct: Conduct { seed, rows }, ref load, ref program, .. } = shared.play;
        let way = |fed: &Fed| {
            // Feeds of one trial draw apart from each other.
            let mut feed = Feed { seed: mixed(seed, fed.feed.seed), ..fed.feed.clone() };
            if rows == Rows::Again {
                feed.end = FeedEnd::Again;
            }
            // At a rate a user is whoever is free: no rows are its own.
            if feed.order == Order::InOrder && matches!(load.pace, Pace::Open(_)) {
                feed.order = Order::Unique;
            }
            Way::new(&feed, load.lane, user)
        };
        let mut thinking = ChaCha8Rng::seed_from_u64(mixed(seed, THINK_SEED));
        thinking.set_stream((u64::from(load.lane.index) << 32) | user as u64);
        Drawn { ways: program.played.scenario.feeds.iter().map(way).collect(), thinking, count: 0 }
    }
}

/// One iteration, which was due and is begun at these moments. When it is over; `None` where there is no row for it.
async fn iterate(
    playing: &mut Playing,
    shared: &Performance,
    drawn: &mut Drawn,
    (due, begun): (Instant, Instant),
) -> Option<Instant> {
    let feeds = &shared.play.program.played.scenario.feeds;
    playing.begin(shared, drawn.count);
    drawn.count += 1;
    for ((way, fed), rows) in drawn.ways.iter_mut().zip(feeds).zip(&shared.rows) {
        let Some(row) = way.next(rows) else {
            shared.recorder.borrow_mut().tally.out_of_rows += 1;
            return None;
        };
        for column in 0..fed.feed.table.columns.len() {
            playing.player.set(fed.first + column, fed.feed.table.value(row as usize, column));
        }
    }
    let mut previous = due;
    let mut answered = Duration::ZERO;
    let mut is_whole = true;
    for (step, ready) in shared.play.program.steps.iter().enumerate() {
        let played = playing.player.play(ready, &mut playing.user, &shared.asking, &shared.recorder).await;
        let wait = {
            let mut recorder = shared.recorder.borrow_mut();
            match played {
                Ok(answer) => {
                    let time = answer.finished.saturating_duration_since(previous);
                    answered += time;
                    recorder.step_answered(step, previous, &answer, ready.verdict());
                    previous = answer.finished;
                    think(ready.step.think, &mut drawn.thinking)
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
            pause(tokio::time::sleep(wait), &mut previous, &shared.recorder).await;
        }
        if !is_whole {
            break;
        }
    }
    let mut recorder = shared.recorder.borrow_mut();
    if is_whole {
        recorder.iterated(answered);
    }
    recorder.unit_ended(due, (begun, previous), is_whole.then_some(answered));
    Some(previous)
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
    /// Its number among the users of all workers.
    fn number_of_all(&self, shared: &Performance) -> usize {
        shared.play.load.lane.user(self.number)
    }

    /// Sets the variables that every iteration has.
    fn begin(&mut self, shared: &Performance, iteration: u64) {
        let user = self.number_of_all(shared) as u64;
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
