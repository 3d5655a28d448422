//! State of a place: ready, suspended for longer and longer, or being tried by one request. Pure: a state and an event
//! give the next state, so that it fits in one word that all loops change without a lock.
//!
//! It knows no clock: times are milliseconds since the place was made.

use crate::config::Suspension;

/// Whether a place may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// It may be used.
    #[default]
    Ready,
    /// It may not be used before its time is over.
    Suspended,
    /// Its time was over, and one request is testing it.
    Trying,
}

/// State of a place, small enough for one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PlaceState {
    pub(super) phase: Phase,
    /// Failures in a row while it is ready.
    pub(super) failures: u16,
    /// Number of suspensions without an answer between.
    pub(super) step: u8,
    /// Counts suspensions and resets, so that requests begun before one have no effect after it.
    epoch: u8,
    /// End of a suspension.
    pub(super) until_ms: u64,
}

/// State under which a request went to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    epoch: u8,
    is_trial: bool,
}

impl Turn {
    /// Whether the request is the one that tests the place.
    pub(super) fn is_trial(self) -> bool {
        self.is_trial
    }
}

/// Decision on sending a request to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// Admitted; nothing changes.
    Free(Turn),
    /// Admitted as the only one, once the state is this.
    Trial(Turn, PlaceState),
    /// Refused, for so long.
    Not { back_in_ms: u64 },
}

/// Result of a health check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HealthVerdict {
    /// The place is healthy.
    Well,
    /// The place is not healthy.
    Unwell,
}

// The word: until 40 bits (34 years), failures 10, step 6, epoch 6, phase 2.
const UNTIL_BITS: u32 = 40;
const FAILURES_BITS: u32 = 10;
const STEP_BITS: u32 = 6;
const EPOCH_BITS: u32 = 6;

const fn most(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl PlaceState {
    pub(super) fn from_word(word: u64) -> PlaceState {
        let mut rest = word;
        let mut take = |bits: u32| {
            let value = rest & most(bits);
            rest >>= bits;
            value
        };
        let until_ms = take(UNTIL_BITS);
        let (failures, step, epoch) = (take(FAILURES_BITS) as u16, take(STEP_BITS) as u8, take(EPOCH_BITS) as u8);
        let phase = match take(2) {
            0 => Phase::Ready,
            1 => Phase::Suspended,
            _ => Phase::Trying,
        };
        PlaceState { phase, failures, step, epoch, until_ms }
    }

    pub(super) fn to_word(self) -> u64 {
        let phase = match self.phase {
            Phase::Ready => 0,
            Phase::Suspended => 1,
            Phase::Trying => 2,
        };
        let mut word = phase;
        word = word << EPOCH_BITS | u64::from(self.epoch) & most(EPOCH_BITS);
        word = word << STEP_BITS | u64::from(self.step).min(most(STEP_BITS));
        word = word << FAILURES_BITS | u64::from(self.failures).min(most(FAILURES_BITS));
        word << UNTIL_BITS | self.until_ms.min(most(UNTIL_BITS))
    }

    /// The turn of a request that goes on under this state, and is no trial.
    pub(super) fn turn(self) -> Turn {
        Turn { epoch: self.epoch, is_trial: false }
    }

    /// Decides if a request may go there at `now_ms`.
    pub(super) fn admit(self, now_ms: u64) -> Admission {
        let turn = |is_trial| Turn { epoch: self.epoch, is_trial };
        match self.phase {
            Phase::Ready => Admission::Free(turn(false)),
            Phase::Suspended if now_ms >= self.until_ms => {
                Admission::Trial(turn(true), PlaceState { phase: Phase::Trying, ..self })
            }
            Phase::Suspended => Admission::Not { back_in_ms: self.until_ms - now_ms },
            // Soon, if it is back; whoever tries has limits of its own.
            Phase::Trying => Admission::Not { back_in_ms: 0 },
        }
    }

    /// The state after a request of `turn` was answered; `None` if unchanged.
    pub(super) fn answered(self, turn: Turn) -> Option<PlaceState> {
        let counts = turn.epoch == self.epoch;
        match self.phase {
            Phase::Trying if counts && turn.is_trial => Some(self.ready()),
            Phase::Ready if counts && self.failures > 0 => Some(PlaceState { failures: 0, ..self }),
            _ => None,
        }
    }

    /// The state after a request of `turn` failed; `None` if unchanged.
    pub(super) fn failed(self, turn: Turn, now_ms: u64, rules: &Suspension) -> Option<PlaceState> {
        let counts = turn.epoch == self.epoch;
        match self.phase {
            Phase::Trying if counts && turn.is_trial => Some(self.suspended(now_ms, rules)),
            Phase::Ready if counts => {
                let failures = self.failures.saturating_add(1);
                Some(match failures >= rules.after_failures {
                    true => self.suspended(now_ms, rules),
                    false => PlaceState { failures, ..self },
                })
            }
            _ => None,
        }
    }

    /// The state after the client of a request of `turn` went away, which does not count against the place. Another may
    /// test it at once.
    pub(super) fn given_up(self, turn: Turn) -> Option<PlaceState> {
        let was_trying = self.phase == Phase::Trying && turn.is_trial && turn.epoch == self.epoch;
        was_trying.then_some(PlaceState { phase: Phase::Suspended, ..self })
    }

    /// The state after a health check; `None` if unchanged.
    pub(super) fn checked(self, verdict: HealthVerdict, now_ms: u64, rules: &Suspension) -> Option<PlaceState> {
        match (verdict, self.phase) {
            (HealthVerdict::Well, Phase::Ready) => (self.failures > 0).then_some(PlaceState { failures: 0, ..self }),
            (HealthVerdict::Well, Phase::Suspended | Phase::Trying) => Some(self.ready()),
            (HealthVerdict::Unwell, Phase::Ready) => {
                self.failed(Turn { epoch: self.epoch, is_trial: false }, now_ms, rules)
            }
            (HealthVerdict::Unwell, Phase::Suspended) if now_ms >= self.until_ms => Some(self.suspended(now_ms, rules)),
            (HealthVerdict::Unwell, Phase::Suspended | Phase::Trying) => None,
        }
    }

    /// Ready again, without failures.
    pub(super) fn ready(self) -> PlaceState {
        PlaceState { epoch: self.next_epoch(), ..PlaceState::default() }
    }

    fn suspended(self, now_ms: u64, rules: &Suspension) -> PlaceState {
        let ms = rules.initial.as_secs_f64() * 1000.0 * rules.factor.powi(i32::from(self.step));
        let span_ms = ms.min(rules.max.as_secs_f64() * 1000.0) as u64;
        let step = self.step.saturating_add(1).min(most(STEP_BITS) as u8);
        let until_ms = now_ms.saturating_add(span_ms).min(most(UNTIL_BITS));
        PlaceState { phase: Phase::Suspended, failures: 0, step, epoch: self.next_epoch(), until_ms }
    }

    fn next_epoch(self) -> u8 {
        (self.epoch + 1) & most(EPOCH_BITS) as u8
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn rules() -> Suspension {
        Suspension {
            after_failures: 2,
            initial: Duration::from_millis(100),
            factor: 2.0,
            max: Duration::from_millis(350),
            statuses: Vec::new(),
        }
    }

    fn admitted(state: PlaceState, now_ms: u64) -> Option<(Turn, PlaceState)> {
        match state.admit(now_ms) {
            Admission::Free(turn) => Some((turn, state)),
            Admission::Trial(turn, state) => Some((turn, state)),
            Admission::Not { .. } => None,
        }
    }

    #[test]
    fn suspensions_grow_up_to_the_maximum_and_an_answer_ends_them() {
        let (mut state, mut now_ms, mut spans) = (PlaceState::default(), 0, Vec::new());
        let (turn, _) = admitted(state, now_ms).unwrap();
        state = state.failed(turn, now_ms, &rules()).unwrap();
        assert_eq!((state.phase, state.failures), (Phase::Ready, 1), "one failure is not enough");
        state = state.failed(turn, now_ms, &rules()).unwrap();
        for _ in 0..4 {
            assert_eq!(state.phase, Phase::Suspended);
            spans.push(state.until_ms - now_ms);
            assert_eq!(admitted(state, state.until_ms - 1), None, "its time is not over");
            now_ms = state.until_ms;
            let (trial, trying) = admitted(state, now_ms).unwrap();
            assert_eq!(admitted(trying, now_ms), None, "one tries at a time");
            state = trying.failed(trial, now_ms, &rules()).unwrap();
        }
        assert_eq!(spans, [100, 200, 350, 350]);
        let (trial, trying) = admitted(state, state.until_ms).unwrap();
        let ready = trying.answered(trial).unwrap();
        assert_eq!((ready.phase, ready.failures, ready.step), (Phase::Ready, 0, 0));
    }

    #[test]
    fn an_answer_between_failures_makes_them_be_in_no_row() {
        let (turn, state) = admitted(PlaceState::default(), 0).unwrap();
        let state = state.failed(turn, 0, &rules()).unwrap().answered(turn).unwrap();
        assert_eq!(state.failed(turn, 0, &rules()).unwrap().phase, Phase::Ready);
    }

    #[test]
    fn what_began_before_a_suspension_says_nothing_about_what_is_after_it() {
        let (before, state) = admitted(PlaceState::default(), 0).unwrap();
        let suspended = state.failed(before, 0, &rules()).unwrap().failed(before, 0, &rules()).unwrap();
        assert_eq!((suspended.failed(before, 5, &rules()), suspended.answered(before)), (None, None));
        let (trial, trying) = admitted(suspended, 100).unwrap();
        assert_eq!((trying.failed(before, 105, &rules()), trying.answered(before)), (None, None));
        assert_eq!(trying.given_up(before), None);
        let ready = trying.answered(trial).unwrap();
        assert_eq!((ready.failed(before, 110, &rules()), ready.failed(trial, 110, &rules())), (None, None));
    }

    #[test]
    fn a_trial_that_its_client_gave_up_is_followed_by_another() {
        let (turn, state) = admitted(PlaceState::default(), 0).unwrap();
        let suspended = state.failed(turn, 0, &rules()).unwrap().failed(turn, 0, &rules()).unwrap();
        let (trial, trying) = admitted(suspended, 100).unwrap();
        assert_eq!(trying.given_up(trial), Some(suspended));
    }

    #[test]
    fn checks_of_health_suspend_and_bring_back() {
        let unwell = |state: PlaceState, now_ms| state.checked(HealthVerdict::Unwell, now_ms, &rules());
        let suspended = unwell(unwell(PlaceState::default(), 0).unwrap(), 0).unwrap();
        assert_eq!((suspended.phase, suspended.until_ms), (Phase::Suspended, 100));
        assert_eq!(unwell(suspended, 99), None);
        let longer = unwell(suspended, 100).unwrap();
        assert_eq!((longer.phase, longer.until_ms), (Phase::Suspended, 300));
        assert_eq!(longer.checked(HealthVerdict::Well, 101, &rules()).unwrap().phase, Phase::Ready);
        let once = unwell(PlaceState::default(), 0).unwrap();
        assert_eq!(once.checked(HealthVerdict::Well, 1, &rules()).unwrap().failures, 0);
        assert_eq!(PlaceState::default().checked(HealthVerdict::Well, 1, &rules()), None);
    }

    prop_compose! {
        fn states()(phase in 0..3, failures in 0_u16..1024, step in 0_u8..64, epoch in 0_u8..64, until_ms in 0_u64..1 << 40)
            -> PlaceState
        {
            let phase = [Phase::Ready, Phase::Suspended, Phase::Trying][phase as usize];
            PlaceState { phase, failures, step, epoch, until_ms }
        }
    }

    /// Events at a place; the number chooses one of the requests under way.
    #[derive(Debug, Clone)]
    enum Event {
        Asked,
        Answered(usize),
        Failed(usize),
        GivenUp(usize),
        Checked(HealthVerdict),
        Reset,
        Passed { ms: u64 },
    }

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => Just(Event::Asked),
            2 => any::<usize>().prop_map(Event::Answered),
            4 => any::<usize>().prop_map(Event::Failed),
            1 => any::<usize>().prop_map(Event::GivenUp),
            1 => prop_oneof![Just(HealthVerdict::Well), Just(HealthVerdict::Unwell)].prop_map(Event::Checked),
            1 => Just(Event::Reset),
            3 => (1_u64..200).prop_map(|ms| Event::Passed { ms }),
        ]
    }

    proptest! {
        #[test]
        fn a_state_comes_back_out_of_its_word(state in states()) {
            prop_assert_eq!(PlaceState::from_word(state.to_word()), state);
        }

        #[test]
        fn whatever_happens_one_tries_at_a_time_and_nothing_is_suspended_for_ever(
            events in proptest::collection::vec(events(), 0..200)
        ) {
            let (mut state, mut now_ms, mut under_way) = (PlaceState::default(), 0, Vec::<Turn>::new());
            // Trials of the present suspension that have not ended.
            let mut trials = 0;
            for event in events {
                let before = state;
                let mut taken = |at: usize| (!under_way.is_empty()).then(|| under_way.swap_remove(at % under_way.len()));
                let next = match event {
                    Event::Asked => {
                        if let Some((turn, next)) = admitted(state, now_ms) {
                            trials += usize::from(turn.is_trial);
                            under_way.push(turn);
                            Some(next)
                        } else {
                            None
                        }
                    }
                    Event::Answered(at) => taken(at).and_then(|turn| state.answered(turn)),
                    Event::Failed(at) => taken(at).and_then(|turn| state.failed(turn, now_ms, &rules())),
                    Event::GivenUp(at) => taken(at).and_then(|turn| state.given_up(turn)),
                    Event::Checked(verdict) => state.checked(verdict, now_ms, &rules()),
                    Event::Reset => Some(state.ready()),
                    Event::Passed { ms } => {
                        now_ms += ms;
                        None
                    }
                };
                state = next.unwrap_or(state);
                if before.phase == Phase::Trying && state.phase != Phase::Trying {
                    trials = 0;
                }
                prop_assert_eq!(trials, usize::from(state.phase == Phase::Trying), "one tries, while it is being tried");
                if state.phase == Phase::Suspended {
                    prop_assert!(state.until_ms <= now_ms + 350, "no longer than the maximum");
                    prop_assert!(admitted(state, state.until_ms).is_some(), "then somebody may try");
                }
                prop_assert!(state.failures < rules().after_failures);
                prop_assert_eq!(PlaceState::from_word(state.to_word()), state);
            }
        }
    }
}
