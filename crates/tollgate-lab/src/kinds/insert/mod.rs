//! The speed of inserting records, by mode: transfers into an empty table, each settled.
//!
//! It does not send requests (see [`crate::load::insert`]).

mod emptying;
mod file;
mod onset;
mod page;
mod plan;
mod survey;
mod token;
mod transfers;
mod warming;

pub(super) use file::{of_entity_set, with_records};

use super::http;
use super::http::session::Session;
use super::http::subjects::sites::{Origin, Processes, Site};
use super::http::subjects::watched::Watched;
use super::http::trial::Asked;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::{Beginning, Halt, Stores, Turn};
use crate::conduct::options::{Progress, RunError, RunOptions};
use crate::experiment::Factor;
use crate::load::insert::Closeness;
use crate::load::record::recorder::Tally;
use crate::plan::schedule::Block;
use crate::traffic::model::End;
use crate::traffic::places::InsertPlaces;
use onset::Failed;
use tollgate_facts::results::Piece;
use transfers::Inserting;

/// Most records of a transfer that is compared record by record outside the survey; rows are counted every time.
const COMPARED_RECORDS_MAX: u64 = 1000;

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "insert",
    workload: "insert",
    about: "Insert as many records as the level says into an empty table, in the variant's mode; then count and compare what \
            is stored, and empty the table.",
    factors: &[Factor { name: "records", unit: "records", about: "Records that one unit of work inserts." }],
    unit_of_work: "transfer of as many records as the level says",
    piece: Piece::Record,
    keys: file::KEYS,
    read: file::read,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    ..http::kind::<Inserting>()
};

/// Checks that all variants insert into the set in which rows are counted and deleted.
fn one_set(options: &RunOptions, sites: &[Site]) -> Result<(), RunError> {
    let Some(places) = options.experiment.own::<InsertPlaces>() else { return Ok(()) };
    sites.iter().try_for_each(|site| match &site.place {
        Origin::There(target) => {
            let variant = &options.experiment.variants[site.variant];
            let elsewhere = file::elsewhere(places, variant, target.path_and_query());
            elsewhere.map_or(Ok(()), |why| Err(RunError::Usage(why)))
        }
        Origin::Child(_) => Ok(()),
    })
}

impl Way for Inserting {
    const SERVED_BY: &'static str = "tollgate serve";

    const PROCESSES: Processes = Processes::OfAll;

    // There are too many trials.
    const STORES: Stores = Stores::EachBlock;

    fn begin(beginning: &Beginning<'_>, sites: &[Site], headers: &[(String, String)]) -> Result<Inserting, RunError> {
        one_set(beginning.options, sites)?;
        emptying::check(beginning.options, sites, headers)?;
        let headers = token::of(beginning.options, sites, headers)?;
        Ok(Inserting { records: None, headers, tables: Vec::new() })
    }

    fn headers(&self, variant: usize) -> &[(String, String)] {
        self.headers.iter().find(|(of, _)| *of == variant).map_or(&[], |(_, fields)| fields)
    }

    fn warm_up(run: &mut Session<'_, '_, Self>, subjects: &mut [Watched]) -> Result<(), Halt> {
        run.make_records(subjects)?;
        run.warm_up_inserts(subjects)
    }

    fn blocks(run: &mut Session<'_, '_, Self>, subjects: &mut [Watched]) -> Result<Vec<Block>, Halt> {
        run.survey(subjects)
    }

    fn asked(run: &mut Session<'_, '_, Self>, turn: Turn<'_>, subject: &mut Watched, end: End) -> Result<Asked, Halt> {
        let (shape, level) = (&run.options.experiment.variants[turn.variant], turn.block.level);
        let closeness = if level <= COMPARED_RECORDS_MAX { Closeness::Compare } else { Closeness::Count };
        Ok(run.kind.way.transfers(shape, subject, level, end, closeness))
    }

    fn ended(run: &mut Session<'_, '_, Self>) {
        for left in run.kind.way.clean_up() {
            run.observer.progress(&Progress::Left { what: &left });
        }
    }

    fn tried(run: &mut Session<'_, '_, Self>, variant: usize, level: u64, tally: &Tally) -> Result<(), Halt> {
        if let Some(failed) = Failed::of(tally) {
            run.note_onset(variant, level, &failed);
        }
        Ok(())
    }
}
