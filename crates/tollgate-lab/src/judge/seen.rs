//! Observations of one load of a cell, of users who wait or at equal rate, for the rules that both share.
//!
//! It does not judge.

use std::collections::BTreeMap;

use super::evidence::{Evidence, SeenBeside};
use super::held_up::Shown;
use tollgate_facts::results::{GeneratorUse, Negotiated, Percentiles, TcpCounts};

/// One load, and the state of generator, machine and network while it lasted.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadSeen<'a> {
    /// Of the cell as a whole.
    pub(super) evidence: &'a Evidence<'a>,
    /// Valid answers.
    pub(super) answered: u64,
    /// Answers whose content was checked; absent at equal rate, where the count of the other load applies.
    pub(super) checked: Option<u64>,
    pub(super) errors: &'a BTreeMap<String, u64>,
    pub(super) error_examples: &'a BTreeMap<String, String>,
    /// Evidence in it for what the kernel counts of TCP for all programs together: requests and answers are as large at
    /// equal rate as with users who wait.
    pub(super) shown: Shown,
    /// Response times without the generator's own delay, where it is known.
    pub(super) undelayed_ms: Option<Percentiles>,
    pub(super) generator: GeneratorUse,
    pub(super) tcp: Option<TcpCounts>,
    pub(super) beside: SeenBeside<'a>,
    /// Full and resumed handshakes, where they are counted.
    pub(super) handshakes: Option<(u64, u64)>,
    /// Parameters that its connections negotiated.
    pub(super) negotiated: &'a [Negotiated],
}

impl Evidence<'_> {
    /// The load of users who wait.
    pub(super) fn closed(&self) -> LoadSeen<'_> {
        let cell = self.cell;
        let failed: u64 = cell.errors.values().sum();
        let asked = cell.requests + failed;
        let larger_bytes = cell.bytes_received.max(cell.bytes_sent) as f64 / asked.max(1) as f64;
        LoadSeen {
            evidence: self,
            answered: cell.requests,
            checked: Some(self.checked),
            errors: &cell.errors,
            error_examples: &cell.error_examples,
            shown: Shown { response_ms: cell.response_time_ms, failed, asked, larger_bytes },
            undelayed_ms: cell.undelayed_ms,
            generator: cell.generator,
            tcp: cell.tcp,
            beside: self.beside,
            handshakes: cell.connected.map(|connected| (connected.handshakes_full, connected.handshakes_resumed)),
            negotiated: &cell.negotiated,
        }
    }

    /// The load at equal rate, if there was one.
    pub(super) fn at_rate(&self) -> Option<LoadSeen<'_>> {
        let rate = self.cell.equal_rate.as_ref()?;
        let (closed, failed) = (self.closed(), rate.errors.values().sum());
        let (response_ms, asked) = (rate.response_time_ms, rate.answered + failed);
        Some(LoadSeen {
            answered: rate.answered,
            checked: None,
            errors: &rate.errors,
            error_examples: &rate.error_examples,
            shown: Shown { response_ms, failed, asked, ..closed.shown },
            undelayed_ms: rate.undelayed_ms,
            generator: rate.generator,
            tcp: rate.tcp,
            beside: self.rate_beside,
            handshakes: Some((rate.handshakes_full, rate.handshakes_resumed)),
            negotiated: &rate.negotiated,
            ..closed
        })
    }
}
