//! `tollgate plan`: what a run would do and how long it would take, without touching the network.

use std::io::{self, Write};

use clap::Args;
use tollgate_lab::experiment::{Distance, Experiment, Location};
use tollgate_lab::plan::{ANSWERS_PER_USER, Plan, TRIALS_PER_BLOCK};
use tollgate_lab::secret::hide;

use super::list;
use super::selection::{self, Selection};
use crate::failure::{Exit, Failure};
use crate::readable::readable;

/// Arguments of `plan`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(super) selection: Selection,
}

/// Prints the plan.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let options = selection::run_options(&arguments.selection, None, None)?;
    let plan = tollgate_lab::run::check(&options).map_err(selection::failure)?;
    let experiment = options.experiment;
    let mut subjects = Vec::new();
    for subject in &arguments.selection.subjects {
        for variant in experiment.variants_named(&subject.name).map_err(Failure::usage)? {
            subjects.push((variant, subject.value.as_str()));
        }
    }
    write(&experiment, &plan, &subjects, out).map_err(Failure::output)?;
    Ok(Exit::Done)
}

fn write(experiment: &Experiment, plan: &Plan, subjects: &[(usize, &str)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}  {}", experiment.name, experiment.question)?;
    list::write_levels(experiment, &plan.levels, out)?;
    let width = plan.variants.iter().map(|position| experiment.variants[*position].name.len()).max().unwrap_or(0);
    for (row, position) in plan.variants.iter().enumerate() {
        let variant = &experiment.variants[*position];
        let label = if row == 0 { "variants" } else { "" };
        let given = subjects.iter().rev().find(|(variant, _)| variant == position).map(|(_, url)| *url);
        let at = match (given, &variant.at) {
            (Some(url), _) => hide(url),
            (None, Location::Url(url)) => hide(url),
            (None, Location::Link(away)) => format!("the batch, its database {} us further away", away.as_micros()),
            (None, Location::Gateway(path)) => match &variant.peer {
                Some(peer) => format!("{peer}, {path}"),
                None => format!("our gateway, {path}"),
            },
        };
        let afar = match variant.distance {
            Distance::Local => String::new(),
            Distance::Remote => format!(", {} ms away", plan.round_trip.as_millis()),
        };
        writeln!(out, "  {label:<8}  {:width$}  {at}{afar}", variant.name)?;
    }
    if let Some(ladder) = experiment.ladder {
        let (users, round_trip) = (ladder.users, plan.round_trip.as_millis());
        writeln!(out, "  users     {users}, over a PostgreSQL of the run's own that is {round_trip} ms away")?;
    }
    let at = |level: &u64| plan.variants.iter().map(|variant| plan.blocks_at(*variant, *level)).collect::<Vec<_>>();
    let blocks: Vec<u32> = plan.levels.iter().flat_map(at).collect();
    let (least, most) = (blocks.iter().min().unwrap_or(&0), blocks.iter().max().unwrap_or(&0));
    let blocks = if least == most { most.to_string() } else { format!("{least} to {most}") };
    writeln!(
        out,
        "  measured  {} cells x {blocks} blocks x {TRIALS_PER_BLOCK} = {} trials of {} ms, {} of {}",
        plan.cells(),
        plan.trials(),
        plan.slice.as_millis(),
        if plan.starts == 1 { "1 start".to_owned() } else { format!("{} starts", plan.starts) },
        if plan.subjects == 1 { "the subject".to_owned() } else { format!("each of {} subjects", plan.subjects) },
    )?;
    if let Some(width_ppm) = plan.until_width_ppm {
        let width = f64::from(width_ppm) / 1e4;
        writeln!(out, "  stops     after 8, 16 or 32 blocks already, if every toll is known within ± {width} % then")?;
    }
    if plan.presets > 0 {
        let trials = (plan.presets + 1) * plan.blocks * TRIALS_PER_BLOCK;
        writeln!(out, "  presets   {}, computed from those: at most {trials} trials more", plan.presets)?;
    }
    if plan.slice_most > plan.slice {
        let most = readable(plan.slice_most);
        let often = ANSWERS_PER_USER;
        writeln!(
            out,
            "            longer with many users: until each is answered about {often} times, but at most {most}"
        )?;
    }
    if let (Some(encrypting), Some(rate)) = (&experiment.encrypting, plan.equal_rate) {
        let share = encrypting.equal_rate.map_or(0.0, |shape| shape.share * 100.0);
        writeln!(
            out,
            "  at rate   {} trials of {} ms, at {share:.0} % of what the slowest variant of the level took",
            plan.rate_trials(),
            rate.slice.as_millis()
        )?;
        writeln!(out, "  users     {}, before each trial {} ms uncounted", encrypting.users, plan.settle.as_millis())?;
    }
    if let Some(places) = &experiment.places {
        let table = places.entity_path();
        writeln!(out, "  empties   {table}, before and after each transfer: all its rows go")?;
        writeln!(out, "            one of yours that holds rows is refused, unless --i-may-empty HOST allows it")?;
    }
    if let (Some(cell), Some(_)) = (plan.cell, experiment.ladder) {
        let least = "what takes longer gets fewer blocks, at least two; a trial ends on a whole pass";
        writeln!(out, "  cells     about {} of trials each: {least}", readable(cell))?;
    } else if let Some(cell) = plan.cell {
        let least = "a cell for whose time that is too much gets fewer blocks, or is skipped and labelled so";
        writeln!(out, "  cells     at most {} of trials each: {least}", readable(cell))?;
    }
    for (row, (position, level)) in plan.too_far.iter().enumerate() {
        let label = if row == 0 { "skipped" } else { "" };
        let name = &experiment.variants[*position].name;
        writeln!(out, "  {label:<8}  {name} from {level} on: its waits for the link alone are too long for a cell")?;
    }
    writeln!(out, "  duration  about {}", readable(plan.duration()))
}
