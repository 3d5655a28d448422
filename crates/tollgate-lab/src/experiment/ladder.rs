//! What an experiment about limits says beyond others: who walks, over which database, from how far away it is asked, and
//! the limits that are tried.
//!
//! What it deliberately does not do: start anything (see [`crate::run`]), or say which limit binds (see
//! [`tollgate_facts::toll::occupancy`]).

use toml::Spanned;

use super::checker::{Checker, LEVEL_MAX};
use super::error::ExperimentError;
use super::file::{DistantFile, ExperimentFile, FactorName, VariantFile, WorkloadKind};
use super::mediation::{Configuration, place};

/// Most work processes of one gateway: more than that it would refuse.
const WORK_PROCESSES_MAX: u64 = 1_000;
/// Highest limit of connections that can be tried.
const CONNECTIONS_MAX: u32 = 1_000_000;
/// Users where the file says nothing.
const USERS_DEFAULT: u32 = 20;

/// Stands for the level in the configuration.
pub(crate) const WORK_PROCESSES: &str = "work-processes";
/// Stands for the variant's limit of connections.
pub(crate) const CONNECTIONS: &str = "connections";
/// Stands for the URL of the database.
pub(crate) const DATABASE: &str = "database";

/// What all rungs of a ladder share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// Users at every level.
    pub users: u32,
    /// Round trip to the database in milliseconds, where an extent does not say otherwise.
    pub round_trip_ms: u32,
}

impl Checker<'_> {
    /// What the rungs share; absent where no work processes are swept.
    pub(super) fn ladder(&self, parsed: &ExperimentFile) -> Result<Option<Ladder>, ExperimentError> {
        let factor = &parsed.factor.name;
        if *factor.as_ref() != FactorName::WorkProcesses {
            if let Some(DistantFile { round_trip_ms }) = &parsed.database {
                let help = "it goes with the factor `work-processes`";
                return Err(self.fault(round_trip_ms.span(), "`database` has no meaning here", help));
            }
            return Ok(None);
        }
        for level in parsed.factor.levels.iter().flat_map(|levels| levels.as_ref()) {
            if *level.as_ref() == 0 || *level.as_ref() > WORK_PROCESSES_MAX {
                let help = format!("work processes are from 1 to {WORK_PROCESSES_MAX}");
                return Err(self.fault(level.span(), &format!("a level is {}", level.as_ref()), &help));
            }
        }
        let workload = parsed.workload.as_ref();
        if !matches!(workload.kind, WorkloadKind::Walk) {
            let help = "work processes are swept under `kind = \"walk\"`";
            return Err(self.fault(parsed.workload.span(), "factor and workload do not fit", help));
        }
        let Some(database) = &parsed.database else {
            let help = "add `[database]` with `round_trip_ms = 20`";
            return Err(self.fault(factor.span(), "it is not said how far away the database is", help));
        };
        self.round_trip(&database.round_trip_ms)?;
        let users = match &workload.users {
            None => USERS_DEFAULT,
            Some(users) if (1..=LEVEL_MAX).contains(&u64::from(*users.as_ref())) => *users.as_ref(),
            Some(users) => {
                let help = format!("they are from 1 to {LEVEL_MAX}");
                return Err(self.fault(users.span(), &format!("`users` is {}", users.as_ref()), &help));
            }
        };
        if parsed.subject.configuration.is_none() {
            let help = "add `[subject]` with `configuration = \"gateway.toml\"`";
            return Err(self.fault(factor.span(), "the gateway has no configuration in which the level stands", help));
        }
        Ok(Some(Ladder { users, round_trip_ms: *database.round_trip_ms.as_ref() }))
    }

    /// Sees to it that the configuration has a place for each of what is tried.
    pub(super) fn rung(
        &self,
        configuration: Option<&Configuration>,
        named: Option<&Spanned<String>>,
    ) -> Result<(), ExperimentError> {
        let Some((configuration, named)) = configuration.zip(named) else { return Ok(()) };
        let missing =
            [WORK_PROCESSES, CONNECTIONS, DATABASE].map(place).into_iter().find(|at| !configuration.text.contains(at));
        match missing {
            None => Ok(()),
            Some(missing) => {
                let help = "`{work-processes}` stands for the level, `{connections}` for the variant's limit, `{database}` for the URL";
                Err(self.fault(named.span(), &format!("it has no place for `{missing}`"), help))
            }
        }
    }

    /// The limit of connections of a variant; every variant of a ladder has one, and no other.
    pub(super) fn connections_limit(
        &self,
        file: &VariantFile,
        factor: FactorName,
    ) -> Result<Option<u32>, ExperimentError> {
        match (&file.connections, factor) {
            (Some(limit), FactorName::WorkProcesses) => {
                self.bounded(Some(limit), CONNECTIONS_MAX, "connections")?;
                Ok(Some(*limit.as_ref()))
            }
            (None, FactorName::WorkProcesses) => Err(self.fault(
                file.name.span(),
                &format!("variant `{}` does not say how many connections are let in", file.name.as_ref()),
                "add `connections`, such as `connections = 500`",
            )),
            (Some(limit), _) => {
                let help = "it goes with the factor `work-processes`";
                Err(self.fault(limit.span(), "`connections` has no meaning here", help))
            }
            (None, _) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Experiment, Files, check};

    /// The built-in one with a piece of its text replaced.
    fn ladder(from: &str, to: &str) -> Result<Experiment, String> {
        let text = include_str!("../../experiments/ladder.toml");
        assert!(text.contains(from), "{from}");
        check::experiment(&text.replacen(from, to, 1), "ladder.toml", &Files::BuiltIn)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_rung_has_its_users_its_limit_and_a_distance() {
        let experiment = Experiment::builtin("ladder").unwrap();
        assert_eq!((experiment.users(1), experiment.users(30)), (20, 20));
        let limits: Vec<Option<u32>> = experiment.variants.iter().map(|variant| variant.connections_max).collect();
        assert_eq!(limits, [Some(500), Some(20), Some(10), Some(5)]);
        assert_eq!(experiment.ladder.unwrap().round_trip_ms, 20);
        assert_eq!(ladder("users = 20\n", "").unwrap().users(5), 20, "that many where nothing is said");
    }

    #[test]
    fn a_limit_that_cannot_be_is_told_with_its_line() {
        let check = |from: &str, to: &str, line: &str, expected: &str| {
            let refused = ladder(from, to).unwrap_err();
            assert!(refused.contains(expected) && refused.contains(line), "{refused}");
        };
        check("connections = 500", "connections = 0", "connections = 0", "`connections` is 0");
        check("connections = 10\n", "connections = 1000001\n", "connections = 1000001", "from 1 to 1000000");
        check("connections = 5\n", "", "connections-5", "does not say how many connections are let in");
        check("[1, 2,", "[0, 2,", "levels = [0", "a level is 0");
        check("20, 30]\n\n[work", "20, 1001]\n\n[work", "1001", "work processes are from 1 to 1000");
        check("round_trip_ms = 20", "round_trip_ms = 0", "round_trip_ms = 0", "`round_trip_ms` is 0");
        check("users = 20", "users = 0", "users = 0", "`users` is 0");
        check("[database]\nround_trip_ms = 20\n", "", "work-processes", "how far away the database is");
        check(
            "configuration = \"ladder/gateway.toml\"",
            "",
            "work-processes",
            "no configuration in which the level stands",
        );
        check("ladder/gateway.toml\"", "mediation/request.xsl\"", "request.xsl", "no place for `{work-processes}`");
        check("\"work-processes\"\nlevels", "\"concurrency\"\nlevels", "", "has no meaning here");
    }
}
