//! `tollgate list`: every built-in experiment with its question, variants and levels, and every subject that tollgate can
//! start beside itself, all read from their own files.

use std::io::{self, Write};

use clap::Args;
use tollgate_facts::results::{CLOSED, OpenModel};
use tollgate_lab::experiment::{Experiment, TOLLGATE, Variant};
use tollgate_lab::kinds::BUILT_IN;
use tollgate_lab::subject::Peer;

use crate::failure::{Exit, Failure};

/// Arguments of `list`: there are none.
#[derive(Debug, Args)]
pub(crate) struct Arguments {}

/// Prints the list.
pub(crate) fn run(_: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    for (position, (name, _)) in BUILT_IN.iter().enumerate() {
        let experiment = Experiment::builtin(name).map_err(Failure::failed)?;
        if position > 0 {
            writeln!(out).map_err(Failure::output)?;
        }
        write(&experiment, out).map_err(Failure::output)?;
    }
    let peers = Peer::known().map_err(Failure::usage)?;
    write_subjects(&peers, out).map_err(Failure::output)?;
    Ok(Exit::Done)
}

/// Lists the subjects for `--subjects`.
fn write_subjects(peers: &[Peer], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nsubjects  for `tollgate run EXPERIMENT --subjects NAME,tollgate`")?;
    let names = peers.iter().map(|peer| peer.name.len()).chain([TOLLGATE.len()]);
    let width = names.max().unwrap_or_default();
    writeln!(out, "  {TOLLGATE:width$}  our own gateway, built in")?;
    for peer in peers {
        let served: Vec<&str> = peer.experiments().collect();
        let state = if peer.missing().is_some() { "not installed" } else { "installed" };
        writeln!(out, "  {:width$}  {}, {state}, for {}", peer.name, peer.title, served.join(", "))?;
        if peer.missing().is_some() {
            writeln!(out, "  {:width$}  install it by hand: {}", "", peer.install)?;
        }
    }
    Ok(())
}

/// The levels, by their titles if they have any.
pub(super) fn write_levels(experiment: &Experiment, levels: &[u64], out: &mut dyn Write) -> io::Result<()> {
    let factor = experiment.heading.factor.name;
    let named = &experiment.named_levels;
    if named.is_empty() {
        let levels: Vec<String> = levels.iter().map(u64::to_string).collect();
        return writeln!(out, "  levels    {} ({factor})", levels.join(", "));
    }
    for (row, named) in named.iter().filter(|named| levels.contains(&named.level)).enumerate() {
        let label = if row == 0 { "levels" } else { "" };
        writeln!(out, "  {label:<8}  {}: {}", named.level, named.title)?;
    }
    Ok(())
}

fn write(experiment: &Experiment, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}  {}", experiment.name, experiment.question)?;
    write_levels(experiment, &experiment.levels, out)?;
    let width = experiment.variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0);
    for (position, variant) in experiment.variants.iter().enumerate() {
        let label = if position == 0 { "variants" } else { "" };
        let baseline = match &variant.baseline {
            Some(baseline) => format!(" (over {baseline})"),
            None => " (the bottom)".to_owned(),
        };
        let model = model(experiment, variant);
        writeln!(out, "  {label:<8}  {:width$}  {}{baseline}{model}", variant.name, variant.title)?;
    }
    Ok(())
}

/// The load of a variant, where it is not the same for all of them.
pub(super) fn model(experiment: &Experiment, variant: &Variant) -> String {
    if experiment.variants.iter().all(|variant| variant.model.is_none()) {
        return String::new();
    }
    format!(", {}", variant.model.as_ref().map_or_else(|| CLOSED.to_owned(), OpenModel::words))
}
