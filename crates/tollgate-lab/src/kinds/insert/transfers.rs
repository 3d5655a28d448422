//! Transfers of records as the work of a trial.
//!
//! It does not warm up, survey, or detect the onset of errors; each has a file of its own.

use std::sync::Arc;

use super::token::Tokens;
use crate::conduct::conductor::Halt;
use crate::experiment::Variant;
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::kinds::http::subjects::watched::Watched;
use crate::kinds::http::trial::{Asked, Asking, Measured};
use crate::load::insert::{Beside, Closeness, Emptying, Records, Transfer, described, forgotten};
use crate::load::record::course::Course;
use crate::load::renewal::Renewal;
use crate::traffic::mode::Mode;
use crate::traffic::model::{End, Load};
use crate::traffic::places::Record;

/// Additional state of a run of inserts.
#[derive(Debug)]
pub(crate) struct Inserting {
    /// The records of every transfer; absent before the service has described them.
    pub(super) records: Option<Arc<Records>>,
    /// Header fields that requests of a variant need.
    pub(super) headers: Tokens,
    /// The tables from which records are deleted by their keys.
    pub(super) tables: Vec<Beside>,
}

impl Inserting {
    /// Deletes the rows that an aborted transfer, as by Ctrl-C, may have left; returns descriptions of those that may
    /// remain.
    pub(super) fn clean_up(&self) -> Vec<String> {
        let Some(records) = &self.records else { return Vec::new() };
        self.tables.iter().filter_map(|table| forgotten(table, records).err()).collect()
    }

    /// The work and load of transfers until `end`, settled with this closeness.
    pub(crate) fn transfers(
        &self,
        variant: &Variant,
        subject: &Watched,
        level: u64,
        end: End,
        closeness: Closeness,
    ) -> Asked {
        let mode = *variant.own::<Mode>().expect("every variant of an insert has a mode");
        let transfer = Transfer {
            mode,
            count: level as usize,
            records: Arc::clone(self.records.as_ref().expect("records are made before the first transfer")),
            beside: subject.beside.clone().expect("an insert asks beside its transfers"),
            clocks: subject.meter.subject.clone(),
            counters: subject.meter.subject_instructions.clone(),
            closeness,
        };
        let load = Load::closed(mode.connections_for(level) as usize, end);
        Asked { work: Asking::Insert(Box::new(transfer)), load, level, renewal: Renewal::Kept }
    }
}

impl Session<'_, '_, Inserting> {
    /// Makes the records of the largest level, by the experiment or the first subject's description, unless they are
    /// made already.
    pub(super) fn make_records(&mut self, subjects: &[Watched]) -> Result<(), Halt> {
        // What a server of ours holds goes with it.
        let theirs = |variant: usize| {
            let is_it = |site: &Site| site.variant == variant && matches!(site.place, Origin::There(_));
            self.kind.sites.iter().any(is_it)
        };
        let tables = subjects.iter().filter(|subject| theirs(subject.variant)).filter_map(|one| one.beside.clone());
        self.kind.way.tables = tables.filter(|beside| beside.permission == Emptying::OwnKeys).collect();
        if self.kind.way.records.is_some() {
            return Ok(());
        }
        let level_max = self.plan.levels.iter().copied().max().unwrap_or(0);
        let (seed, count) = (self.result.seed, usize::try_from(level_max).expect("levels are bounded"));
        let first = &subjects[0];
        let beside = first.beside.as_ref().expect("an insert asks beside its transfers");
        let records = match &beside.places.record {
            Record::Published => Records::generate(seed, count),
            Record::Described(own) => {
                let records = described(beside, own).and_then(|set| Records::of(set, own.file.as_deref(), seed, count));
                records.map_err(|why| self.failed(first.variant, format!("cannot be given records: {why}")))?
            }
        };
        self.kind.way.records = Some(Arc::new(records));
        Ok(())
    }

    /// Runs one transfer before the trials.
    pub(super) fn transfer(
        &mut self,
        subject: &mut Watched,
        level: u64,
        closeness: Closeness,
    ) -> Result<Measured, Halt> {
        let (shape, end) = (&self.options.experiment.variants[subject.variant], End { after: None, units: Some(1) });
        let asked = self.kind.way.transfers(shape, subject, level, end, closeness);
        self.load(subject, asked, Course::Unrecorded)
    }
}
