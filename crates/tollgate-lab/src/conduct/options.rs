//! Options of a run, its observer, and its errors.

use std::path::PathBuf;
use std::time::Duration;

use tollgate_net::link::LinkMode;
use tollgate_net::tls::ClientSettings;

use crate::experiment::{Experiment, Variant};
use crate::load::record::live::LiveCounters;
use crate::plan::PlanOptions;
use crate::subject::{Peer, PostgresError};
use crate::traffic::request::{AnswerLength, OwnRequest};

/// The options of a run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The experiment.
    pub experiment: Experiment,
    /// The extent and its overrides.
    pub plan: PlanOptions,
    /// The folder of the result; absent: `runs/<experiment>-<time>`.
    pub out: Option<PathBuf>,
    /// `--subject VARIANT=URL`: a URL that replaces the file's subject. A URL without a path keeps the variant's path.
    pub subjects: Vec<(String, String)>,
    /// `--subjects`: the peers that variants of the experiment name.
    pub peers: Vec<Peer>,
    /// `--serve-arg`: further arguments of tollgate's own gateway, after those of the experiment.
    pub serve_arguments: Vec<String>,
    /// `--subject-pid VARIANT=PID`: processes whose CPU time and memory are measured; several for one variant are added
    /// up.
    pub subject_pids: Vec<(String, u32)>,
    /// The request to the user's subjects, instead of the experiment's.
    pub own_request: OwnRequest,
    /// `--header`: fields of every request, in order.
    pub headers: Vec<(String, String)>,
    /// `--basic`: user and password, sent with every request.
    pub basic: Option<(String, String)>,
    /// `--insecure` and `--ca`: TLS settings for the user's subjects.
    pub tls: ClientSettings,
    /// `--i-may-load`: hosts off loopback that may be loaded.
    pub may_load: Vec<String>,
    /// `--i-may-empty`: hosts whose tables a run of inserts may empty, whatever they contain.
    pub may_empty: Vec<String>,
    /// `--link`: the kind of link before a batch's database; absent: the user's own network, where two saved runs are
    /// compared.
    pub link: Option<LinkMode>,
    /// `--database`: the user's PostgreSQL for a batch; absent: one is started.
    pub database: Option<String>,
    /// Seed of every order; absent: drawn at random.
    pub seed: Option<u64>,
    /// The command line as it is stored, secrets removed.
    pub command_line: Vec<String>,
    /// The program that serves the built-in subjects: `PROGRAM serve --listen … --admin …`.
    pub serve_program: PathBuf,
    /// Version of tollgate, as stored.
    pub version: String,
}

impl RunOptions {
    /// The unchanged experiment, with the usual extent, on subjects that `serve_program` serves.
    pub fn of(experiment: Experiment, serve_program: PathBuf) -> RunOptions {
        let own_request = OwnRequest { length: AnswerLength::AsFirst, ..OwnRequest::default() };
        let link = Some(LinkMode::default());
        RunOptions { experiment, serve_program, own_request, link, ..RunOptions::default() }
    }

    /// The peer that does the work of a variant; `None` where the experiment's own subject does.
    ///
    /// # Errors
    /// The named peer does not exist.
    pub(crate) fn peer(&self, variant: &Variant) -> Result<Option<&Peer>, String> {
        let Some(name) = &variant.peer else { return Ok(None) };
        let peer = self.peers.iter().find(|peer| peer.name == *name);
        peer.map(Some).ok_or_else(|| format!("nothing is known of the subject `{name}`"))
    }
}

/// Is notified of the progress of a run, between trials, never during one.
pub trait Observer {
    /// Something was done.
    fn progress(&self, progress: &Progress<'_>);
}

/// An observer that does nothing.
impl Observer for () {
    fn progress(&self, _: &Progress<'_>) {}
}

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// The plan is made.
    Planned {
        /// Trials to come.
        trials: usize,
        /// Their minimum total duration.
        duration: Duration,
    },
    /// A subject is being started, or checked for being up.
    Starting {
        /// Name of the variant.
        variant: &'a str,
    },
    /// One transfer of each level is tried, to see how long it takes and whether errors begin.
    Surveying {
        /// Name of the variant.
        variant: &'a str,
    },
    /// A subject is being warmed up.
    WarmingUp {
        /// Name of the variant.
        variant: &'a str,
    },
    /// The workers exist: from here on, their counters can be read at any time.
    Loading {
        /// Their counts, which grow from trial to trial.
        counters: &'a LiveCounters,
    },
    /// A trial begins.
    Measuring {
        /// Name of the variant.
        variant: &'a str,
        /// The level in words.
        at: &'a str,
    },
    /// A trial is done and stored.
    Trial {
        /// Trials done.
        done: usize,
        /// Trials planned.
        planned: usize,
        /// Name of the variant.
        variant: &'a str,
        /// The level in words.
        at: &'a str,
        /// Estimated remaining time of the run.
        left: Duration,
        /// Requests, or runs of a command, that it had answered in a second; absent where it took no time.
        per_second: Option<f64>,
    },
    /// The run may have left something on a user's subject that it could not remove.
    Left {
        /// The message: subject, place and reason.
        what: &'a str,
    },
    /// The run is over; the result is final.
    Finished,
}

/// Reason for there being no result at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The caller's command line or file asks for something impossible.
    #[error("{0}")]
    Usage(String),
    /// A valid request, which failed before anything was measured.
    #[error("{0}")]
    Failed(String),
}

impl From<PostgresError> for RunError {
    fn from(error: PostgresError) -> RunError {
        match error {
            PostgresError::Missing => RunError::Usage(error.to_string()),
            PostgresError::Failed(_) => RunError::Failed(error.to_string()),
        }
    }
}
