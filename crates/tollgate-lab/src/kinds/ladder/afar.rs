//! What is behind the rungs of a ladder: one PostgreSQL of the run's own, the link through which all gateways reach it, and
//! the configuration of each of them.
//!
//! What it deliberately does not do: start the gateways (see [`crate::kinds::http::session`]).

use std::net::Ipv4Addr;
use std::path::Path;

use tollgate_net::link::Link;

use super::file::{CONNECTIONS, DATABASE, Limit, WORK_PROCESSES};
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::{Configuration, Variant};
use crate::kinds::http::remote;
use crate::kinds::http::subjects::backends::{Laid, lay};
use crate::subject::{Child, Postgres};

/// The database of all rungs, and how they are configured. The server ends with this value, and the link before it.
#[derive(Debug)]
pub(crate) struct Afar {
    link: Link,
    postgres: Postgres,
    configuration: Configuration,
}

impl Afar {
    /// Starts the server and the link, and has a gateway beside it make the tables; absent where no ladder is climbed.
    ///
    /// # Errors
    /// What is not there, or could not be started.
    pub(crate) fn start(beginning: &Beginning<'_>) -> Result<Afar, RunError> {
        let Beginning { options, plan, cores, store, .. } = beginning;
        let configuration = options.experiment.configuration.clone().expect("a ladder is checked to have one");
        let postgres = Postgres::start(Ipv4Addr::LOCALHOST.into(), &[], cores)?;
        let link = remote::link(postgres.address(), plan.round_trip, cores)
            .map_err(|error| RunError::Failed(format!("the link of {:?}: {error}", plan.round_trip)))?;
        let afar = Afar { link, postgres, configuration };
        // Past the link: what fills the tables is no part of the question, and would take seconds through it.
        let laid = afar.laid((1, 1), &afar.postgres.url(), store.directory()).map_err(RunError::Failed)?;
        let filled =
            Child::start(Ipv4Addr::LOCALHOST, &options.serve_program, &[laid.file.display().to_string()], cores);
        filled.map_err(|error| RunError::Failed(laid.told(&error)))?;
        Ok(afar)
    }

    /// The configuration of a gateway of so many work processes that lets in as many connections as the variant says.
    ///
    /// # Errors
    /// That it cannot be written.
    pub(crate) fn rung(&self, variant: &Variant, work_processes: u64, run: &Path) -> Result<Laid, String> {
        let connections = variant.own().map_or(0, |Limit(limit)| *limit);
        self.laid((work_processes, connections), &self.postgres.url_by(self.link.address()), run)
    }

    fn laid(&self, (work_processes, connections): (u64, u32), url: &str, run: &Path) -> Result<Laid, String> {
        let values = [
            (WORK_PROCESSES, work_processes.to_string()),
            (CONNECTIONS, connections.to_string()),
            (DATABASE, url.to_owned()),
        ];
        lay(&self.configuration, &values.map(|(name, value)| (name.to_owned(), value)), run)
    }
}
