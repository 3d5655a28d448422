//! Thinking users in the steady state: each is first found amid a pause. Requests begun within a window of time count,
//! whenever they end. The same is done for users who come over a ramp.
//!
//! If all users sent at the start, they would wait for each other; if a trial lasted until the last of them had
//! finished, few would send at its end. The window does not open while queues still fill up, and users go on while
//! counted requests are under way: each request meets as many users as in the long run. The next trial is not known
//! here.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tollgate_net::pacer::Pacer;

use super::player::Player;
use super::program::Program;
use super::{Play, each};
use crate::load::pace::alarm::Alarm;
use crate::load::pace::gate::Gate;
use crate::load::record::recorder::{Recorder, nanoseconds};
use crate::traffic::model::Pace;

/// Time before the window in which the server's queue reaches its long-run length: a share of the window's length …
const LEAD_SHARE: f64 = 0.25;
/// … and at least this long.
const LEAD_LEAST: Duration = Duration::from_millis(100);

/// The part of a trial in which begun requests count.
pub(super) struct Window {
    /// Time in which users send before it.
    lead: Duration,
    lasts: Duration,
    counted: Rc<RefCell<Recorder>>,
    /// Record of requests begun before it.
    aside: RefCell<Recorder>,
    alarm: Alarm,
    phase: Cell<Phase>,
    /// Requests under way that were begun in each phase.
    under_way: [Cell<u64>; Phase::COUNT],
    /// Notified when a request of any phase ends.
    answered: Notify,
    opened: Cell<Option<Instant>>,
    closed: Cell<Option<Instant>>,
}

/// Phase of a trial, which decides about a request begun in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not counted; the window waits for it.
    Lead,
    /// Not counted; requests of `Lead` are awaited.
    Turnover,
    /// Counted.
    Open,
    /// Not counted; counted requests are awaited.
    Held,
    /// No request is begun.
    Over,
}

impl Phase {
    const COUNT: usize = Phase::Over as usize;
}

impl Window {
    /// Creates the window of a trial; absent if users neither think nor come one after another, or if more than time
    /// limits the load. Its lead lasts until new users have all come and finished the pauses of an iteration.
    pub(super) fn of(play: &Play, recorder: &Rc<RefCell<Recorder>>, are_new: bool) -> Option<Window> {
        let Play { program, load, .. } = play;
        let is_by_time = matches!(load.pace, Pace::Closed { .. }) && load.stages.is_none() && load.end.units.is_none();
        let lasts = load.end.after.filter(|_| is_by_time && (program.thinks() || !load.ramp_up().is_zero()))?;
        let whole_ms = if are_new { program.pauses().map(|pause| u64::from(pause.ms)).sum() } else { 0 };
        let mut aside = Recorder::default();
        aside.with_steps(program.step_names());
        Some(Window {
            lead: lasts.mul_f64(LEAD_SHARE).max(LEAD_LEAST) + Duration::from_millis(whole_ms) + load.ramp_up(),
            lasts,
            counted: Rc::clone(recorder),
            aside: RefCell::new(aside),
            alarm: Alarm::default(),
            phase: Cell::new(Phase::Lead),
            under_way: Default::default(),
            answered: Notify::new(),
            opened: Cell::default(),
            closed: Cell::default(),
        })
    }

    /// Lets all users go on until the window is over, and returns them at their steps.
    pub(super) async fn play(
        self,
        all: Vec<Player>,
        gate: &Gate,
        pacer: &mut Pacer,
        (on_counted, on_ended): (impl FnOnce(Instant), impl FnOnce(Instant)),
    ) -> Vec<Player> {
        let window = Rc::new(self);
        let opens = Instant::now() + window.lead;
        let opening_and_closing = async {
            window.alarm.until(opens).await;
            window.phase.set(Phase::Turnover);
            window.answered(Phase::Lead).await;
            gate.meet(Gate::begin).await;
            let now = Instant::now();
            on_counted(now);
            window.counted.borrow_mut().before.get_or_insert_default().add(&window.aside.take().tally);
            window.opened.set(Some(now));
            window.phase.set(Phase::Open);
            window.alarm.until(now + window.lasts).await;
            let now = Instant::now();
            window.closed.set(Some(now));
            window.phase.set(Phase::Held);
            gate.end();
            on_ended(now);
            window.answered(Phase::Open).await;
            window.phase.set(Phase::Over);
            window.alarm.close();
        };
        let ringing = async {
            tokio::select! {
                biased;
                () = opening_and_closing => {}
                never = window.alarm.run(pacer) => match never {},
            }
        };
        let shared = Rc::clone(&window);
        let (all, ()) = tokio::join!(each(all, async move |player| shared.go_on(player).await), ringing);
        all
    }

    /// Waits until no request of an earlier phase is under way.
    async fn answered(&self, phase: Phase) {
        while self.under_way[phase as usize].get() > 0 {
            self.answered.notified().await;
        }
    }

    /// Takes one step after the other until the window is over, and stays at its step.
    async fn go_on(&self, player: &mut Player) {
        let shared = Rc::clone(&player.shared);
        let Program { steps, played, .. } = &*shared.play.program;
        let mut previous = Instant::now();
        while player.takes_part
            && let Some(woken) = self.pause(player, previous).await
        {
            previous = woken;
            let phase = self.phase.get();
            let recorder = if phase == Phase::Open { &*self.counted } else { &self.aside };
            if player.next == 0 && player.iterate(&played.scenario.feeds, &shared.rows).is_none() {
                // Whenever a user leaves, there are fewer in the window.
                self.counted.borrow_mut().tally.out_of_rows += 1;
                player.takes_part = false;
                break;
            }
            let under_way = &self.under_way[phase as usize];
            under_way.update(|count| count + 1);
            let begun = previous;
            let (is_right, wait) = player.take(player.next, recorder, &mut previous, Duration::ZERO).await;
            recorder.borrow_mut().tally.cycles.add(previous.saturating_duration_since(begun), wait);
            under_way.update(|count| count - 1);
            self.answered.notify_one();
            // Whoever was waiting when the trial was over does so at the beginning of the next one.
            player.left = if self.phase.get() == Phase::Over { Duration::ZERO } else { wait };
            player.next += 1;
            if is_right && player.next == steps.len() {
                recorder.borrow_mut().iterated(player.answered);
            }
            if !is_right || player.next == steps.len() {
                player.next = 0;
            }
        }
        if let Some(opened) = self.opened.get() {
            // From a clock read of its own, which no record shares.
            let left = self.closed.get().unwrap_or_else(Instant::now);
            self.counted.borrow_mut().tally.busy_ns += nanoseconds(left, opened);
        }
    }

    /// Lets a user think for the rest of its pause, from `previous` on. Returns when it ended; `None` if the trial
    /// ended first.
    async fn pause(&self, player: &mut Player, previous: Instant) -> Option<Instant> {
        if self.phase.get() == Phase::Over {
            return None;
        }
        if player.left.is_zero() {
            return Some(previous);
        }
        let until = previous + player.left;
        let has_rung = self.alarm.until(until).await;
        let now = Instant::now();
        player.left = until.saturating_duration_since(now);
        if let Some(opened) = self.opened.get() {
            let within = self.closed.get().map_or(now, |closed| closed.min(now));
            self.counted.borrow_mut().tally.waited_ns += nanoseconds(within, previous.max(opened));
        }
        has_rung.then_some(now)
    }
}
