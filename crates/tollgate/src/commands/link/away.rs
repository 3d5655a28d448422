//! The distance of a link's other end: as typed, or as a run of `distance` computed it for a name.
//!
//! Computing such distances is not here. Names have no fixed delays: the delay of a virtual switch differs from machine
//! to machine, and its cost from batch to batch.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::commands::stored;
use crate::failure::Failure;
use crate::values::delay;

/// The distance of a link.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct Away {
    /// Round trip time, half of it each way, such as 500us or 20ms
    #[arg(long, value_name = "TIME", value_parser = delay, conflicts_with_all = ["preset", "of"])]
    rtt: Option<Duration>,

    /// Round trip that a run of `distance` computed under this name, such as `standard`
    #[arg(long, value_name = "NAME", requires = "of")]
    preset: Option<String>,

    /// Run of `distance` for --preset: its folder or result.json
    #[arg(long, value_name = "RUN", requires = "preset")]
    of: Option<PathBuf>,
}

impl Away {
    /// The round trip.
    pub(super) fn round_trip(&self) -> Result<Duration, Failure> {
        match (self.rtt, &self.preset, &self.of) {
            (Some(round_trip), ..) => Ok(round_trip),
            (None, Some(name), Some(of)) => {
                let run = stored::read(of)?;
                let presets = run.distance.map(|found| found.presets).unwrap_or_default();
                let known: Vec<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
                let Some(preset) = presets.iter().find(|preset| preset.name == *name) else {
                    let failure = Failure::usage(format_args!("no preset `{name}` in {}", of.display()));
                    return Err(failure.hint(match known.as_slice() {
                        [] => "only runs of `distance` have presets".to_owned(),
                        known => format!("it has {}", known.join(", ")),
                    }));
                };
                let asked_us = preset.asked_us.ok_or_else(|| {
                    Failure::usage(format_args!("{} has no delay for `{name}`: {}", of.display(), preset.reason))
                })?;
                Ok(Duration::from_nanos((asked_us * 1e3).round() as u64))
            }
            // The command line asks for one of them.
            (None, ..) => Err(Failure::usage("a link needs `--rtt`, or `--preset` with `--of`")),
        }
    }
}
