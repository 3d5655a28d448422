//! A subject as a run sees it: where it is loaded, which processes are watched, and whether it is alive.

use std::path::Path;
use std::sync::Arc;

use tollgate_net::http1::client::Target;

use super::options::RunOptions;
use super::sites::{Place, Site};
use crate::cores::Cores;
use crate::experiment::Variant;
use crate::load::Connection;
use crate::load::target::LoadTarget;
use crate::probe::cpu::CpuClocks;
use crate::probe::metrics::Metrics;
use crate::probe::{PROBES, Reading};
use crate::subject::Child;

/// A subject that is there.
#[derive(Debug)]
pub(super) struct Watched {
    /// What is loaded.
    pub(super) target: Arc<LoadTarget>,
    /// Its CPU clocks.
    pub(super) clocks: CpuClocks,
    processes: Vec<u32>,
    metrics: Option<Metrics>,
    child: Option<Child>,
}

impl Watched {
    /// Starts the subject of `site`, or takes the one that is there.
    pub(super) fn begin(
        site: &Site,
        variant: &Variant,
        options: &RunOptions,
        headers: &[(String, String)],
        cores: &Cores,
    ) -> Result<Watched, String> {
        let (target, processes, metrics, child) = match &site.place {
            Place::There(target) => (target.clone(), site.processes.clone(), None, None),
            Place::Child(path) => {
                let child =
                    Child::start(Path::new(&options.serve_program), &[], cores).map_err(|error| error.to_string())?;
                let url = format!("{}{path}", child.url.trim_end_matches('/'));
                let target = Target::parse(&url).map_err(|error| format!("the subject listens at `{url}`: {error}"))?;
                let metrics = child.admin_url.as_deref().and_then(Metrics::new);
                (target, vec![child.process()], metrics, Some(child))
            }
        };
        let target = LoadTarget::new(target, variant.request.clone(), headers, Connection::Kept)
            .map_err(|error| error.to_string())?;
        let clocks = CpuClocks::new(&processes)?;
        Ok(Watched { target: Arc::new(target), clocks, processes, metrics, child })
    }

    /// Whether the run started it, and so may start it anew.
    pub(super) fn is_ours(&self) -> bool {
        self.child.is_some()
    }

    /// How it ended, if it did.
    pub(super) fn death(&mut self) -> Option<String> {
        if let Some(child) = &mut self.child {
            return child.death().map(|death| death.to_string());
        }
        let gone = !self.processes.is_empty() && self.clocks.read_ns().is_none();
        gone.then(|| "is gone: its watched process does not exist any more".to_owned())
    }

    /// What its probes and its metrics say now.
    pub(super) fn sample(&mut self) -> Vec<Reading> {
        let mut readings: Vec<Reading> = PROBES.iter().filter_map(|probe| probe.sample(&self.processes)).collect();
        if let Some(metrics) = &mut self.metrics {
            readings.extend(metrics.sample());
        }
        readings
    }
}
