//! Subjects that are far away packet by packet: the line between two network namespaces of an experiment whose levels say
//! how far. Our gateways are started at its far end, the workers load from its near one.
//!
//! What it deliberately does not do: stand in for the line by a proxy, through which a handshake would cost no round trip.

use std::time::Duration;

use tollgate_net::link::{Door, FarEcho, Side, Tun, TunSpec, round_trips};

use super::encrypting::Encrypting;
use super::remote;
use super::subjects::sites::{Origin, Site};
use crate::conduct::options::RunError;
use crate::cores::{self, Cores};
use crate::experiment::Experiment;
use crate::plan::Plan;
use tollgate_facts::results::{LinkCheck, Moment, Validity};

/// What a round trip may be off by: the line's own two wake-ups, and this share of what was asked.
const TOLERANCE: Duration = Duration::from_micros(60);
const TOLERANCE_DIVISOR: u32 = 20;
/// Messages that a round trip is measured with, and the time between them.
const MESSAGES: usize = 100;
const SPACING: Duration = Duration::from_millis(1);

/// The line of a run. While it is there, the thread that opened it is at the far end, and what it starts, too.
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
    /// Opens the line where the experiment's levels say how far away the subject is.
    ///
    /// # Errors
    /// What is missing for it.
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
    /// That it could not be.
    pub(crate) fn at(&self, level: u64) -> Result<(), String> {
        self.round_trip(level).map_or(Ok(()), |round_trip| self.set(round_trip))
    }

    /// How long the line is at a level.
    pub(crate) fn round_trip(&self, level: u64) -> Option<Duration> {
        self.levels.iter().find(|(known, _)| *known == level).map(|(_, round_trip)| *round_trip)
    }

    /// The round trip in the middle of all: long enough to be seen in a picture, short enough to be waited for.
    pub(crate) fn middle(&self) -> Option<Duration> {
        let lengths = self.lengths();
        lengths.get(lengths.len() / 2).copied()
    }

    /// Measures each length of the line.
    ///
    /// # Errors
    /// That it could not be.
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
    pub(crate) fn doubts(&self, checks: &[LinkCheck], experiment: &Experiment, plan: &Plan) -> Vec<Validity> {
        let mut doubts = Vec::new();
        for check in checks.iter().filter(|check| !check.is_kept()) {
            let is_so_long = |length: Duration| (length.as_secs_f64() * 1e3 - check.asked_ms).abs() < 1e-6;
            for (level, _) in self.levels.iter().filter(|(_, length)| is_so_long(*length)) {
                let names = plan.variants_of(experiment).map(|variant| &variant.name);
                doubts.extend(names.map(|name| remote::doubt(check, (name, *level), ("line", ""))));
            }
        }
        doubts
    }

    /// The words about the line in a result.
    pub(crate) fn words(&self) -> String {
        let lengths: Vec<String> =
            self.lengths().iter().map(|length| (length.as_secs_f64() * 1e3).to_string()).collect();
        format!("a line of packets between two network namespaces, of {} ms round trip", lengths.join(", "))
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
