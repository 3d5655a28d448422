//! `tollgate plan`: the trials of a run and their duration, without touching the network.

use std::io::{self, Write};

use clap::Args;
use tollgate_lab::experiment::{Experiment, Location};
use tollgate_lab::plan::{Plan, TRIALS_PER_BLOCK};
use tollgate_lab::secret::hide;

use super::list;
use super::selection::{self, Selection};
use crate::failure::{Exit, Failure};
use crate::readable::readable;
use tollgate_facts::results::Distance;

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
    let width = plan.variants_of(experiment).map(|variant| variant.name.len()).max().unwrap_or(0);
    for (row, position) in plan.variants.iter().enumerate() {
        let variant = &experiment.variants[*position];
        let label = if row == 0 { "variants" } else { "" };
        let given = subjects.iter().rev().find(|(variant, _)| variant == position).map(|(_, url)| *url);
        let at = match (given, &variant.at) {
            (Some(url), _) => hide(url),
            (None, Location::Url(url)) => hide(url),
            (None, Location::Here(what)) => what.clone(),
            (None, Location::Gateway(path)) => match &variant.peer {
                Some(peer) => format!("{peer}, {path}"),
                None => format!("our gateway, {path}"),
            },
        };
        let afar = match variant.distance {
            Distance::Local => String::new(),
            Distance::Remote => format!(", {} ms away", plan.round_trip.as_millis()),
        };
        let model = list::model(experiment, variant);
        writeln!(out, "  {label:<8}  {:width$}  {at}{afar}{model}", variant.name)?;
    }
    let at = |level: &u64| plan.variants.iter().map(|variant| plan.blocks_at(*variant, *level)).collect::<Vec<_>>();
    let blocks: Vec<u32> = plan.levels.iter().flat_map(at).collect();
    let is_ours = |position: &usize| {
        let at = &experiment.variants[*position].at;
        !subjects.iter().any(|(variant, _)| variant == position) && !matches!(at, Location::Url(_))
    };
    let ours = plan.variants.iter().filter(|position| is_ours(position)).count();
    let (least, most) = (blocks.iter().min().unwrap_or(&0), blocks.iter().max().unwrap_or(&0));
    let blocks = if least == most { most.to_string() } else { format!("{least} to {most}") };
    writeln!(
        out,
        "  measured  {} cells x {blocks} blocks x {TRIALS_PER_BLOCK} = {} trials of {} ms{}",
        plan.cells(),
        plan.trials(),
        plan.slice.as_millis(),
        match ours {
            // What was there before is not started.
            0 => String::new(),
            _ => format!(", {}", started(plan, ours < plan.variants.len())),
        },
    )?;
    if let Some(width_ppm) = plan.until_width_ppm {
        let width = f64::from(width_ppm) / 1e4;
        writeln!(out, "  stops     after 8, 16 or 32 blocks already, if every toll is known within ± {width} % then")?;
    }
    for (label, told) in plan.notes(experiment) {
        writeln!(out, "  {label:<8}  {told}")?;
    }
    writeln!(out, "  duration  about {}", readable(plan.duration()))
}

/// The number of starts of our own subjects.
fn started(plan: &Plan, are_some_theirs: bool) -> String {
    let starts = if plan.starts == 1 { "1 start".to_owned() } else { format!("{} starts", plan.starts) };
    match (are_some_theirs, plan.subjects) {
        (true, _) => format!("{starts} of each subject of ours"),
        (false, 1) => format!("{starts} of the subject"),
        (false, subjects) => format!("{starts} of each of {subjects} subjects"),
    }
}
