//! The file of a ladder of work processes: the distance of the database, and the limit of connections of each variant.
//!
//! It does not start anything (see [`super::afar`]).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{Experiment, ExperimentError, Own, UpTo, place};
use crate::kinds::http::file::served::{self, LinkFile, Served};
use crate::kinds::http::file::{list, users};

/// Most work processes that a gateway accepts.
const WORK_PROCESSES_MAX: u64 = 1_000;
/// Highest limit of connections.
const CONNECTIONS_MAX: u32 = 1_000_000;

/// Placeholder for the level in the configuration.
pub(super) const WORK_PROCESSES: &str = "work-processes";
/// Placeholder for the variant's limit of connections.
pub(super) const CONNECTIONS: &str = "connections";
/// Placeholder for the URL of the database.
pub(super) const DATABASE: &str = "database";

/// The keys.
pub(super) const KEYS: &[&[Keys]] = &[
    served::KEYS,
    list::KEYS,
    users::KEYS,
    &[Keys::of::<DatabaseFile>(TableName::Top), Keys::of::<LimitFile>(TableName::Variant)],
];

/// The database of all gateways.
#[derive(Debug, Deserialize, JsonSchema)]
struct DatabaseFile {
    /// The PostgreSQL behind every gateway, which is started for the run from the machine's packages, and the link to
    /// it.
    database: Option<LinkFile>,
}

/// The limit of a variant.
#[derive(Debug, Deserialize, JsonSchema)]
struct LimitFile {
    /// Connections that the gateway has open at once; further ones wait.
    connections: Option<UpTo<CONNECTIONS_MAX>>,
}

/// Connections that a variant's gateway has open at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit(pub(super) u32);

/// Reads the experiment.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let DatabaseFile { database } = document.take(TableName::Top)?;
    let users = users::take(document)?;
    let limits: Vec<LimitFile> = document.each()?;
    let checker = &document.checker;
    if let Some(span) = served.remote_span() {
        let help = "here it is the database that is far away: `[database]` says how far";
        return Err(checker.fault(span, "`remote` has no meaning here", help));
    }
    let Some(LinkFile { round_trip_ms }) = database else {
        let help = "add `[database]` with `round_trip_ms = 20`";
        return Err(checker.fault(document.factor_span(), "it is not said how far away the database is", help));
    };
    let Some(configuration) = served.configuration_span() else {
        let help = "add `[subject]` with `configuration = \"gateway.toml\"`";
        let message = "the gateway has no configuration in which the level stands";
        return Err(checker.fault(document.factor_span(), message, help));
    };
    let mut experiment = document.experiment(document.levels(WORK_PROCESSES_MAX)?)?;
    experiment.users = users;
    experiment.round_trip_ms = Some(round_trip_ms.0);
    list::fill(document, &mut experiment)?;
    let mut experiment = served.fill(document, experiment, |_| None)?;
    let checker = &document.checker;
    let text = experiment.configuration.as_ref().map_or("", |configuration| &configuration.text);
    let missing = [WORK_PROCESSES, CONNECTIONS, DATABASE].map(place).into_iter().find(|at| !text.contains(at));
    if let Some(missing) = missing {
        let help = "`{work-processes}` stands for the level, `{connections}` for the variant's limit, `{database}` for the URL";
        return Err(checker.fault(configuration, &format!("it has no place for `{missing}`"), help));
    }
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(limits.iter().zip(&document.ways)) {
        let help = "add `connections`, such as `connections = 500`";
        let unsaid = || checker.unsaid(way, "how many connections are let in", help);
        variant.own = Own::new(Limit(file.connections.ok_or_else(unsaid)?.0));
    }
    Ok(experiment)
}

#[cfg(test)]
mod tests {
    use super::Limit;
    use crate::experiment::{Experiment, Files};
    use crate::kinds;

    /// The built-in ladder with a part of its text replaced.
    fn ladder(from: &str, to: &str) -> Result<Experiment, String> {
        let text = include_str!("../../../experiments/ladder.toml");
        assert!(text.contains(from), "{from}");
        kinds::read(&text.replacen(from, to, 1), "ladder.toml", &Files::BuiltIn).map_err(|error| error.to_string())
    }

    #[test]
    fn every_rung_has_its_users_its_limit_and_a_distance() {
        let experiment = Experiment::builtin("ladder").unwrap();
        assert_eq!((experiment.users(1), experiment.users(30)), (20, 20));
        let limits: Vec<Option<u32>> =
            experiment.variants.iter().map(|variant| variant.own().map(|Limit(limit)| *limit)).collect();
        assert_eq!(limits, [Some(500), Some(20), Some(10), Some(5)]);
        assert_eq!(experiment.round_trip_ms, Some(20));
        assert_eq!(ladder("users = 20\n", "").unwrap().users(5), 20, "that many where nothing is said");
    }

    #[test]
    fn a_limit_that_cannot_be_is_told_with_its_line() {
        let check = |from: &str, to: &str, line: &str, expected: &str| {
            let refused = ladder(from, to).unwrap_err();
            assert!(refused.contains(expected) && refused.contains(line), "{refused}");
        };
        check("connections = 500", "connections = 0", "connections = 0", "0 is not from 1 to");
        check("connections = 10\n", "connections = 1000001\n", "connections = 1000001", "from 1 to 1000000");
        check("connections = 5\n", "", "connections-5", "does not say how many connections are let in");
        check("[1, 2,", "[0, 2,", "levels = [0", "a level is 0");
        check("20, 30]\n\n[work", "20, 1001]\n\n[work", "1001", "it is from 1 to 1000");
        check("round_trip_ms = 20", "round_trip_ms = 0", "round_trip_ms = 0", "0 is not from 1 to 1000");
        check("[database]", "[remote]\nround_trip_ms = 5\n[database]", "[remote]", "`remote` has no meaning here");
        check("users = 20", "users = 0", "users = 0", "0 is not from 1 to 20000");
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
