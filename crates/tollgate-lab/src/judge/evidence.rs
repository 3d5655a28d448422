//! Input of the rules for one cell.
//!
//! It does not judge.

use hdrhistogram::Histogram;

use super::negotiated::Claims;
use super::trend::Trend;
use crate::load::record::recorder::Tally;
use crate::probe::system::Ticks;
use tollgate_facts::results::load::LittlesLaw;
use tollgate_facts::results::{Cell, Connecting};

/// Input of the rules for one cell.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Valid answers whose content was checked.
    pub checked: u64,
    /// Users by Little's law from the records; absent where nothing was recorded.
    pub littles_law: Option<LittlesLaw>,
    /// Answers for each user in a trial, on average; absent where a trial's length does not hang on its users.
    pub answers_per_user: Option<f64>,
    /// Requests counted before its trials, while connections were opened.
    pub settling: &'a Tally,
    /// Observations during its trials with users who wait.
    pub beside: SeenBeside<'a>,
    /// Observations during its trials at equal rate.
    pub rate_beside: SeenBeside<'a>,
    /// Starts of the subject after which response times did not settle.
    pub unsteady_starts: u32,
    /// Systems on which variant and baseline are measured.
    pub systems: Systems,
    /// Difference between an insert and its acknowledgements; absent without one.
    pub unsettled: Option<&'a str>,
    /// The way users were to connect; absent where connections are not studied.
    pub connecting: Option<Connecting>,
    /// Claims of the experiment about encryption.
    pub claims: &'a Claims,
    /// Cores of the subjects and the servers behind them; 0 where they are not pinned.
    pub subject_cores: usize,
    /// Blocks that were planned: of an insert, those that its time did not suffice for are missing.
    pub blocks_planned: u32,
}

/// CPU time of those whose figures these are, while a load lasted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCpu {
    /// Of the generator's threads.
    pub generator_us: f64,
    /// Of the subject and of the servers behind it; absent where its process is not known.
    pub subject_us: Option<f64>,
}

/// Observations beside the figures of one load of a cell, while it lasted.
#[derive(Debug, Clone, Copy, Default)]
pub struct SeenBeside<'a> {
    /// Ticks of all cores.
    pub ticks: Ticks,
    /// The load's own part of them; absent where it covers other spans of time, as that of inserts does.
    pub own: Option<OwnCpu>,
    /// Lateness with which the generator noticed its own heartbeat; absent where it has none.
    pub beats: Option<&'a Histogram<u64>>,
    /// Connections that were opened beyond those that its users had opened before or might open: at equal rate one each,
    /// when they first come.
    pub fresh_connections: u64,
    /// Course of response times within its trials; absent for a load without a rate.
    pub(crate) within: Option<WithinTrials>,
    /// Course of response times over all trials.
    pub(crate) over: Option<Trend>,
}

/// Course of response times within trials at a rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithinTrials {
    pub(crate) trend: Trend,
    /// Time in each trial during which requests were due.
    pub(crate) lasted_ms: f64,
    /// Requests each second, until the last was answered.
    pub(crate) answered: f64,
}

/// The systems on which a variant and its baseline are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Systems {
    /// The same for both, or there is no baseline.
    #[default]
    Same,
    /// The built-in gateway and a server of the user's: they differ in more than a layer.
    BuiltInAndTheirs,
    /// Two servers of the user's: only the user knows whether just the layer differs.
    BothTheirs,
}
