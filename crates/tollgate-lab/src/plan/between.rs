//! What a run likely spends beside its trials and warm-ups: storing, opening and closing connections, answers and handshakes
//! that are still awaited when a slice is over, certificates, links.
//!
//! Estimates from runs on two cores: a default run of `encryption` took 397 s of which trials and warm-up were 234 s.

use std::time::Duration;

use super::{Plan, TRIALS_PER_BLOCK};
use crate::experiment::{Connections, Distance, Experiment, KeyKind};
use tollgate_facts::results::Encryption;

/// Between two trials: the result is stored, workers are told and report.
const TRIAL: Duration = Duration::from_millis(12);
/// So much longer for each trial that there is: the result that is stored behind each grows with them.
const STORED_TRIAL: Duration = Duration::from_micros(37);
/// To start a process until it listens.
const START: Duration = Duration::from_millis(150);
/// For each user whose connection is open for one trial: to open and close it, and the answers that end a slice.
const USER: Duration = Duration::from_micros(150);
/// What a run about encryption makes before, and observes behind its trials.
const ENCRYPTION: Duration = Duration::from_secs(5);
/// To make and start the database of a ladder, and to fill it.
const DATABASE: Duration = Duration::from_secs(4);
/// To check the emulated link once.
const LINK: Duration = Duration::from_secs(2);

/// All of it.
pub(super) fn between(experiment: &Experiment, plan: &Plan) -> Duration {
    let trials = (plan.trials() + plan.rate_trials()) as u32;
    let processes = plan.subjects + experiment.backends.len() as u32;
    let mut sum = TRIAL * trials + START * processes * plan.starts;
    // Of inserts a block is stored as a whole.
    if plan.cell.is_none() {
        sum += STORED_TRIAL * trials * trials;
    }
    if plan.variants.iter().any(|position| experiment.variants[*position].distance == Distance::Remote) {
        sum += LINK * 2;
    }
    if experiment.ladder.is_some() {
        sum += DATABASE + LINK * 2;
    }
    let of_level = plan.blocks * TRIALS_PER_BLOCK * plan.variants.len() as u32;
    if experiment.connections == Connections::PerTrial {
        let users: u64 = plan.levels.iter().map(|level| experiment.users(*level)).sum();
        sum += USER * users as u32 * of_level;
    }
    sum + handshakes(experiment, plan)
}

/// Handshakes that are awaited behind a slice. Sessions are prepared once, and then renewed by being used.
fn handshakes(experiment: &Experiment, plan: &Plan) -> Duration {
    let Some(encrypting) = &experiment.encrypting else { return Duration::ZERO };
    let mut sum = ENCRYPTION;
    for level in &plan.levels {
        let way = encrypting.levels.get((*level as usize).saturating_sub(1));
        let handshake = handshake(way.and_then(|way| way.key));
        for variant in &plan.variants {
            let connecting = experiment.variants[*variant].connecting;
            if connecting.is_some_and(|own| own.encryption == Encryption::Full) {
                // Behind the settling time, and behind the slice.
                sum += handshake * (2 * encrypting.users * plan.blocks * TRIALS_PER_BLOCK);
            }
        }
    }
    sum
}

/// A full handshake, both sides.
fn handshake(key: Option<KeyKind>) -> Duration {
    Duration::from_micros(match key {
        Some(KeyKind::P256) | None => 250,
        Some(KeyKind::Rsa2048) => 900,
        Some(KeyKind::Rsa4096) => 4500,
    })
}
