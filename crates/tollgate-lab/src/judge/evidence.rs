//! What the rules look at in one cell.
//!
//! It deliberately does not judge.

use hdrhistogram::Histogram;

use super::negotiated::Claims;
use super::trend::Trend;
use crate::load::record::recorder::Tally;
use crate::probe::system::Ticks;
use tollgate_facts::results::load::LittlesLaw;
use tollgate_facts::results::{Cell, Connecting};

/// What the rules look at in one cell.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Valid answers whose content was checked.
    pub checked: u64,
    /// What the records find of the users; absent where nothing was recorded.
    pub littles_law: Option<LittlesLaw>,
    /// Answers for each user in a trial, on average; absent where a trial's length does not hang on its users.
    pub answers_per_user: Option<f64>,
    /// What was counted before its trials, in the time in which their connections are opened.
    pub settling: &'a Tally,
    /// What was seen during its trials with users who wait.
    pub beside: SeenBeside<'a>,
    /// The same during those at equal rate.
    pub rate_beside: SeenBeside<'a>,
    /// Starts of the subject after which response times did not settle.
    pub unsteady_starts: u32,
    /// Whether variant and baseline are measured on the same system.
    pub systems: Systems,
    /// What of an insert did not agree with what was acknowledged.
    pub unsettled: Option<&'a str>,
    /// How users were to connect; absent where connections are no part of the question.
    pub connecting: Option<Connecting>,
    /// What the experiment says of how they are encrypted.
    pub claims: &'a Claims,
    /// Cores on which subjects and what is behind them run; 0 where they are not pinned.
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

/// What was seen beside the figures of one load of a cell, while it lasted.
#[derive(Debug, Clone, Copy, Default)]
pub struct SeenBeside<'a> {
    /// What all cores did.
    pub ticks: Ticks,
    /// What was the load's own of it; absent where it is of other spans of time, as that of inserts is.
    pub own: Option<OwnCpu>,
    /// How late the generator noticed its own heartbeat; absent where it has none.
    pub beats: Option<&'a Histogram<u64>>,
    /// Connections that were opened beyond those that its users had opened before or might open: at equal rate one each,
    /// when they first come.
    pub fresh_connections: u64,
    /// How response times went within its trials; absent where nothing came at a rate.
    pub(crate) within: Option<WithinTrials>,
    /// How they went over all trials.
    pub(crate) over: Option<Trend>,
}

/// How response times went within trials at a rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithinTrials {
    pub(crate) trend: Trend,
    /// For how long something was due in each.
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
    /// One is the built-in gateway, the other a server of the user's: what is between them is no layer.
    BuiltInAndTheirs,
    /// Two servers of the user's, who alone can know whether only the layer differs.
    BothTheirs,
}
