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

use tokio::task::JoinSet;
use tollgate_net::pacer::Pacer;

pub use program::Program;

use super::pace::desk::{Desk, Seat};
use super::pace::gate::Gate;
use super::pace::pause::{AFTER_FAILURE, come, pause};
use super::record::recorder::Recorder;
use super::user::{Asking, User};
use crate::traffic::model::{Load, Pace, Rate};
use crate::traffic::stages::Presence;
use player::Player;
use program::Ready;
use record::Stepped;

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
    let begin = |(number, user)| Player::new(&shared.play, user, number);
    let mut all: Vec<Player> = users.into_iter().enumerate().map(begin).collect();
    if !program.setup.is_empty() {
        all = each(all, &shared, async |player, shared| {
            player.takes_part = once(player, shared, &shared.play.program.setup).await;
        })
        .await;
    }
    gate.begin_together().await;
    let start = Instant::now();
    shared.recorder.borrow_mut().begin_stages(load.stages.as_ref(), start);
    on_counted(start);
    all = match load.pace {
        Pace::Closed { .. } => {
            each(all, &shared, async move |player, shared| repeat(player, shared, start).await).await
        }
        Pace::Open(rate) => at_a_rate(all, &shared, (rate, start), pacer).await,
    };
    on_ended(Instant::now());
    shared.recorder.borrow_mut().close_iterations();
    gate.end_together().await;
    if !program.teardown.is_empty() {
        all = each(all, &shared, async |player, shared| {
            once(player, shared, &shared.play.program.teardown).await;
        })
        .await;
    }
    all.into_iter().map(|player| player.user).collect()
}

/// Lets all do the same at the same time.
async fn each(
    all: Vec<Player>,
    shared: &Rc<Performance>,
    act: impl AsyncFn(&mut Player, &Performance) + Copy + 'static,
) -> Vec<Player> {
    let mut tasks = JoinSet::new();
    for mut player in all {
        let shared = Rc::clone(shared);
        tasks.spawn_local(async move {
            act(&mut player, &shared).await;
            player
        });
    }
    let mut all = tasks.join_all().await;
    all.sort_by_key(|player| player.number);
    all
}

/// Steps that count in no figure but as failures. Whether all of them went well.
async fn once(player: &mut Player, shared: &Performance, steps: &[Ready]) -> bool {
    let aside = RefCell::new(Recorder::default());
    player.begin(shared.number_of_all(player), 0, unique());
    for ready in steps {
        if let Err(mut failure) = player.play(ready, &shared.asking, &aside).await {
            failure.text = format!("setup or teardown, {}", failure.text);
            shared.recorder.borrow_mut().failure_aside(&failure);
            return false;
        }
    }
    true
}

/// Iterations until the end, each as soon as the one before it is over.
async fn repeat(player: &mut Player, shared: &Performance, start: Instant) {
    if !player.takes_part {
        return;
    }
    let load = &shared.play.load;
    // Stages count from one moment for all; whoever has none begins when it has its turn.
    let start = if load.stages.is_some() { start } else { Instant::now() };
    let mut previous = start;
    while !load.end.is_reached(previous.saturating_duration_since(start), shared.begun.get()) {
        if let Some(stages) = &load.stages {
            match come(stages, shared.number_of_all(player), start, &mut previous, &shared.recorder).await {
                Presence::There => {}
                Presence::Gone => break,
                Presence::ComesAfter(_) => continue,
            }
        }
        shared.begun.set(shared.begun.get() + 1);
        shared.recorder.borrow_mut().unit_begun(previous, previous);
        match iterate(player, shared, (previous, previous)).await {
            Some(ended) => previous = ended,
            None => break,
        }
    }
    shared.recorder.borrow_mut().tally.busy_ns += start.elapsed().as_nanos() as u64;
}

/// Iterations when they are due, by as many users as it takes.
async fn at_a_rate(
    all: Vec<Player>,
    shared: &Rc<Performance>,
    (rate, start): (Rate, Instant),
    pacer: &mut Pacer,
) -> Vec<Player> {
    let (mut resting, mut absent): (Vec<Player>, Vec<Player>) = all.into_iter().partition(|player| player.takes_part);
    // The first ones come first.
    resting.reverse();
    let desk = Desk::new(&shared.recorder);
    let load = Load { users: resting.len(), ..shared.play.load.clone() };
    let came = desk
        .hand_out((&load, rate, start), pacer, |_, seat| {
            let player = resting.pop().expect("no more users are called than there are");
            let (shared, desk) = (Rc::clone(shared), Rc::clone(&desk));
            serve(player, seat, shared, desk)
        })
        .await;
    absent.extend(resting);
    absent.extend(came);
    absent.sort_by_key(|player| player.number);
    absent
}

async fn serve(mut player: Player, seat: Rc<Seat>, shared: Rc<Performance>, desk: Rc<Desk>) -> Player {
    while let Some(due) = desk.next(&seat).await {
        let now = Instant::now();
        shared.recorder.borrow_mut().begun(due, now);
        if iterate(&mut player, &shared, (due.intended, now)).await.is_none() {
            // Rows that end do so for all.
            desk.shut();
        }
    }
    player
}

/// One iteration, which was due and is begun at these moments. When it is over; `None` where there is no row for it.
async fn iterate(player: &mut Player, shared: &Performance, (due, begun): (Instant, Instant)) -> Option<Instant> {
    player.begin(shared.number_of_all(player), player.iterations, unique());
    player.iterations += 1;
    if player.take_rows(&shared.play.program.played.scenario.feeds, &shared.rows).is_none() {
        shared.recorder.borrow_mut().tally.out_of_rows += 1;
        return None;
    }
    let mut previous = due;
    let mut answered = Duration::ZERO;
    let mut is_whole = true;
    for (step, ready) in shared.play.program.steps.iter().enumerate() {
        let played = player.play(ready, &shared.asking, &shared.recorder).await;
        let wait = {
            let mut recorder = shared.recorder.borrow_mut();
            match played {
                Ok(answer) => {
                    let time = answer.finished.saturating_duration_since(previous);
                    answered += time;
                    recorder.step_answered(step, previous, &answer, ready.verdict());
                    previous = answer.finished;
                    player.think(ready.step.think)
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

impl Performance {
    /// A user's number among the users of all workers.
    fn number_of_all(&self, player: &Player) -> usize {
        self.play.load.lane.user(player.number)
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
