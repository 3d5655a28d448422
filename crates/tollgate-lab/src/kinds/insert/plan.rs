//! The plan of a run of inserts: as many blocks of each cell as its time allows.

use std::time::Duration;

use crate::experiment::Experiment;
use crate::kinds::http::between;
use crate::kinds::http::plan::subjects;
use crate::plan::{Note, Plan, PlanOptions, TRIALS_PER_BLOCK, WARM_UP_LEAST, blocks_within, goes_through, seconds};
use crate::traffic::mode::Mode;
use crate::traffic::places::{InsertPlaces, OwnRecord, Record};
use tollgate_facts::results::Distance;

/// Plans the run.
pub(super) fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    goes_through(experiment, options, "its cells have different numbers of blocks")?;
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    let cell = plan.cell_of(experiment);
    plan.cell = Some(cell);
    plan.subjects = subjects(&plan, experiment, true);
    plan.warm_up = WARM_UP_LEAST * plan.subjects;
    for position in plan.variants.clone() {
        let variant = &experiment.variants[position];
        for level in plan.levels.clone() {
            let waits = variant.own().map_or(0, |mode: &Mode| mode.waits(level));
            let far = match variant.distance {
                Distance::Local => Duration::ZERO,
                Distance::Remote => plan.round_trip * u32::try_from(waits).unwrap_or(u32::MAX),
            };
            let blocks = blocks_within(cell, far.max(plan.slice), plan.blocks);
            // What is too far at one level is so at all above.
            if blocks == 0 {
                plan.too_far.push((position, level));
                break;
            }
            plan.trials_least += far + far.max(plan.slice) * (blocks * TRIALS_PER_BLOCK);
        }
    }
    plan.between = between::of_blocks(experiment, &plan);
    Ok(plan)
}

/// Notes on the plan.
pub(super) fn notes(experiment: &Experiment, plan: &Plan) -> Vec<Note> {
    let places = experiment.own::<InsertPlaces>();
    let table = places.map_or_else(String::new, InsertPlaces::entity_path);
    let cell = seconds(plan.cell.unwrap_or_default());
    let emptied = match places.is_some_and(|places| places.delete_all.is_none()) {
        true => vec![(
            "deletes",
            format!("from {table} after each transfer what it inserted, by its keys; other rows stay"),
        )],
        false => vec![
            ("empties", format!("{table}, before and after each transfer: all its rows go")),
            ("", "one of yours that holds rows is refused, unless --i-may-empty HOST allows it".to_owned()),
        ],
    };
    let mut notes = emptied;
    if let Some(Record::Described(OwnRecord { file: Some(file), .. })) = places.map(|places| &places.record) {
        notes.insert(0, ("records", format!("the {} of {}, in turn and then again", file.count(), file.name)));
    }
    notes.extend([
        (
            "cells",
            format!(
                "at most {cell} of trials each: a cell for whose time that is too much gets fewer blocks, or is skipped and labelled so"
            ),
        ),
    ]);
    for (row, (position, level)) in plan.too_far.iter().enumerate() {
        let name = &experiment.variants[*position].name;
        let label = if row == 0 { "skipped" } else { "" };
        notes.push((label, format!("{name} from {level} on: its waits for the link alone are too long for a cell")));
    }
    notes
}
