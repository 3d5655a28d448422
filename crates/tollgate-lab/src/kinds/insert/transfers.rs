//! Inserts in a run: what a trial of transfers is asked.
//!
//! What it deliberately does not do: warm up, survey, or note where errors begin; each has a file of its own.

use std::sync::Arc;

use crate::conduct::conductor::Halt;
use crate::experiment::Variant;
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::watched::Watched;
use crate::kinds::http::trial::{Asked, Asking, Measured};
use crate::load::insert::{Closeness, Records, Transfer};
use crate::load::record::course::Course;
use crate::load::renewal::Renewal;
use crate::traffic::mode::Mode;
use crate::traffic::model::{End, Load};

/// What a run of inserts knows beyond its plan.
#[derive(Debug)]
pub(crate) struct Inserting {
    /// The records of every transfer.
    pub(crate) records: Arc<Records>,
}

impl Inserting {
    /// The records of the largest level.
    pub(crate) fn new(seed: u64, level_max: u64) -> Inserting {
        let count = usize::try_from(level_max).expect("levels are bounded");
        Inserting { records: Arc::new(Records::generate(seed, count)) }
    }

    /// So many transfers, settled so closely.
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
            records: Arc::clone(&self.records),
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
    /// One transfer before the trials.
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
