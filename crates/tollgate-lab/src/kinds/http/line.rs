//! Subjects behind a line of packets between two network namespaces, for experiments whose levels name distances. Our
//! gateways are started at its far end, the workers load from its near one.
//!
//! A proxy cannot replace the line: through it a handshake would cost no round trip.

use std::time::Duration;

use tollgate_net::link::{Door, FarEcho, Side, Tun, TunSpec, round_trips};

use super::encrypting::Encrypting;
use super::remote;
use super::subjects::sites::{Origin, Site};
use crate::conduct::options::RunError;
use crate::cores::{self, Cores};
use crate::experiment::Experiment;
use crate::plan::Plan;
use tollgate_facts::results::{Cell, LinkCheck, Moment, RunResult, Validity};
use tollgate_facts::rules::{LINK, marked_above};
use tollgate_facts::stats;

/// Tolerance of a round trip: the line's own two wake-ups, and this share of the round trip asked.
const TOLERANCE: Duration = Duration::from_micros(60);
const TOLERANCE_DIVISOR: u32 = 20;
/// Messages that measure a round trip, and the time between them.
const MESSAGES: usize = 100;
const SPACING: Duration = Duration::from_millis(1);

/// The line of a run. While it exists, the thread that opened it and all that it starts are at the far end.
#[derive(Debug)]
pub(crate) struct Line {
    echo: FarEcho,
    line: Tun,
    home: Door,
    levels: Vec<(u64, Duration)>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.home.enter().expect("whoever came from there may go back");
    }
}

impl Line {
    /// Opens the line if the experiment's levels name distances.
    ///
    /// # Errors
    /// A missing requirement.
    pub(crate) fn open(
        experiment: &Experiment,
        plan: &Plan,
        sites: &[Site],
        cores: &Cores,
    ) -> Result<Option<Line>, RunError> {
        let Some(encrypting) = experiment.own::<Encrypting>().filter(|encrypting| encrypting.is_afar()) else {
            return Ok(None);
        };
        let is_strange =
            |site: &&Site| matches!(site.place, Origin::There(_)) || experiment.variants[site.variant].peer.is_some();
        if let Some(site) = sites.iter().find(is_strange) {
            let name = &experiment.variants[site.variant].name;
            return Err(RunError::Usage(format!(
                "{name}: only tollgate's own gateway is started at the far end of a line; measure a server of yours \
                 with the experiment `encryption`, or run it with `tollgate link tun`"
            )));
        }
        let round_trip_of = |level: &u64| Some((*level, encrypting.level(*level)?.round_trip?));
        let levels: Vec<(u64, Duration)> = plan.levels.iter().filter_map(round_trip_of).collect();
        let first = levels.first().map_or(Duration::ZERO, |(_, round_trip)| *round_trip);
        let generator = cores.generator.clone();
        let line = Tun::open_on(&TunSpec::of_round_trip(first), move || cores::pin(&generator)).map_err(|error| {
            RunError::Usage(format!(
                "`{}` {error}: round trips of a handshake are real only between network namespaces, and a proxy would \
                 hide them; run it as root",
                experiment.name
            ))
        })?;
        let failed = |error: std::io::Error| RunError::Failed(format!("the line cannot be used: {error}"));
        let (home, echo) = (Door::here().map_err(failed)?, FarEcho::start(&line).map_err(failed)?);
        line.enter(Side::Far).map_err(failed)?;
        Ok(Some(Line { echo, line, home, levels }))
    }

    /// The way to the near end, where the load comes from.
    pub(crate) fn near(&self) -> &Door {
        self.line.door(Side::Near)
    }

    /// Makes the line as long as a level says.
    ///
    /// # Errors
    /// The length cannot be set.
    pub(crate) fn at(&self, level: u64) -> Result<(), String> {
        self.round_trip(level).map_or(Ok(()), |round_trip| self.set(round_trip))
    }

    /// Round trip of the line at a level.
    pub(crate) fn round_trip(&self, level: u64) -> Option<Duration> {
        self.levels.iter().find(|(known, _)| *known == level).map(|(_, round_trip)| *round_trip)
    }

    /// The median round trip: long enough to be seen in a picture, short enough to wait for.
    pub(crate) fn middle(&self) -> Option<Duration> {
        let lengths = self.lengths();
        lengths.get(lengths.len() / 2).copied()
    }

    /// Measures each length of the line.
    ///
    /// # Errors
    /// A length cannot be set or measured.
    pub(crate) fn check(&self, moment: Moment) -> Result<Vec<LinkCheck>, String> {
        let failed = |error: std::io::Error| format!("the line cannot be measured: {error}");
        // Here, at the far end, the echo is no way off.
        let direct = round_trips(self.echo.address(), MESSAGES, SPACING).map_err(failed)?;
        let one = |round_trip: Duration| {
            self.set(round_trip)?;
            let got = self.echo.round_trips(&self.line, MESSAGES, SPACING).map_err(failed)?;
            Ok(remote::checked(moment, round_trip, (&got, &direct), TOLERANCE + round_trip / TOLERANCE_DIVISOR))
        };
        self.lengths().into_iter().map(one).collect()
    }

    /// A doubt of every cell whose line was off.
    pub(crate) fn doubts(&self, result: &RunResult) -> Vec<Validity> {
        result.cells.iter().filter_map(|cell| off(result, cell, self.round_trip(cell.level)?)).collect()
    }

    /// Describes the line in a result, with the lengths by the trials' own TCP handshakes.
    pub(crate) fn words(&self, result: &RunResult) -> String {
        let asked: Vec<String> = self.lengths().iter().map(|length| (length.as_secs_f64() * 1e3).to_string()).collect();
        let found = |length: &Duration| {
            let is_so_long = |level: u64| self.round_trip(level) == Some(*length);
            let cells = result.cells.iter().filter(|cell| is_so_long(cell.level));
            let lengths_ms = cells.filter_map(|cell| result.line_ms(&cell.variant, cell.level));
            stats::mean(&lengths_ms.collect::<Vec<f64>>()).map(|length_ms| format!("{length_ms:.3}"))
        };
        let found: Option<Vec<String>> = self.lengths().iter().map(found).collect();
        let found = found.map(|found| format!(", measured {} ms by the trials' own handshakes", found.join(", ")));
        let asked = asked.join(", ");
        format!(
            "a line of packets between two network namespaces, of {asked} ms round trip{}",
            found.unwrap_or_default()
        )
    }

    /// All lengths, ascending.
    fn lengths(&self) -> Vec<Duration> {
        let mut lengths: Vec<Duration> = self.levels.iter().map(|(_, length)| *length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }

    fn set(&self, round_trip: Duration) -> Result<(), String> {
        let changed = self.line.change(&TunSpec::of_round_trip(round_trip));
        changed.map_err(|error| format!("the line cannot be made {round_trip:?} long: {error}"))
    }
}

/// A doubt of a cell whose line was not as long as `asked`: by its own trials' TCP handshakes, or, if its level had
/// none, by the first measurement that was off.
fn off(result: &RunResult, cell: &Cell, asked: Duration) -> Option<Validity> {
    let asked_ms = asked.as_secs_f64() * 1e3;
    let Some(found_ms) = result.line_in_trials_ms(&cell.variant, cell.level) else {
        let is_so_long = |check: &&LinkCheck| (check.asked_ms - asked_ms).abs() < 1e-6;
        let check = result.links.iter().filter(is_so_long).find(|check| !check.is_kept())?;
        return Some(remote::doubt(check, (&cell.variant, cell.level), ("line", "")));
    };
    let tolerance_ms = (TOLERANCE + asked / TOLERANCE_DIVISOR).as_secs_f64() * 1e3;
    let reason =
        format!("handshakes of TCP in the trials found {found_ms:.3} ms of line, where {asked_ms} ms were asked");
    let remedy = "stop what else runs on this machine; slopes are over what was found";
    let found = marked_above(reason, remedy, ((found_ms - asked_ms).abs(), tolerance_ms))?;
    Some(found.of(&cell.variant, cell.level, LINK.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;

    /// The doubts about the cell of `https-new` 10 ms away.
    fn reasons(connect_ms: f64, got_ms: f64) -> Vec<String> {
        let mut run = fixture::encryption_afar();
        for cell in run.cells.iter_mut().filter(|cell| cell.level == 11) {
            cell.connected.as_mut().unwrap().phases.connect_ms.mean = connect_ms;
        }
        let check =
            |moment| LinkCheck { moment, asked_ms: 10.0, got_ms, direct_ms: 0.05, tolerance_ms: 0.56, samples: 100 };
        run.links = [Moment::Before, Moment::After].map(check).to_vec();
        let cell = run.cell("https-new", 11).unwrap();
        off(&run, cell, Duration::from_millis(10)).into_iter().map(|doubt| doubt.reason).collect()
    }

    #[test]
    fn a_line_is_held_against_what_was_asked_by_the_trials_that_went_over_it() {
        assert_eq!(reasons(10.60, 10.0), [""; 0]);
        // Measurements at another time say nothing of it.
        assert_eq!(reasons(10.60, 16.0), [""; 0]);
        assert!(reasons(10.62, 10.0).concat().starts_with("handshakes of TCP in the trials found 10.570 ms of line"));
        assert!(reasons(0.0, 16.0).concat().contains("the line took 16.000 ms before the trials"));
        assert_eq!(reasons(0.0, 10.5), [""; 0]);
    }
}
