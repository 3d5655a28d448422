//! Surroundings of the gateways of a ladder: one PostgreSQL of the run's own, the link from all gateways to it, and
//! each gateway's configuration.
//!
//! It does not start the gateways (see [`crate::kinds::http::session`]).

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use tollgate_net::link::Link;

use super::file::{CONNECTIONS, DATABASE, Limit, WORK_PROCESSES};
use super::plan;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::{Configuration, Variant};
use crate::kinds::http::remote::{self, Linked};
use crate::kinds::http::session::Session;
use crate::kinds::http::subjects::backends::{Laid, lay};
use crate::kinds::http::subjects::sites::{Processes, Site};
use crate::kinds::http::trial::Asking;
use crate::kinds::http::way::Way;
use crate::load::scenario::Conduct;
use crate::subject::{Child, Postgres, postgres_programs};

/// The database of all gateways, and their configuration. On drop the link ends first, then the server.
#[derive(Debug)]
pub(crate) struct Afar {
    link: Link,
    postgres: Postgres,
    configuration: Configuration,
}

impl Way for Afar {
    const ASKING: fn(Conduct) -> Asking = |_| Asking::Walk;

    const SERVED_BY: &'static str = "tollgate serve, a process of its own at each level";

    const PROCESSES: Processes = Processes::OfEachLevel;

    const LINKED: Linked = Linked::Database;

    const WARM_UP: Option<Duration> = Some(plan::WARM_UP);

    const IS_SEEN: bool = true;

    /// Starts the server and the link, and lets a gateway bypassing the link make the tables.
    fn begin(beginning: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Afar, RunError> {
        let Beginning { options, plan, cores, store, .. } = beginning;
        let own = options.experiment.variants.iter().all(|variant| variant.peer.is_none());
        if !options.subjects.is_empty() || !own {
            let name = &options.experiment.name;
            return Err(RunError::Usage(format!(
                "`{name}` gives each of its gateways another limit, so it starts all of them itself: leave --subject and --subjects out"
            )));
        }
        postgres_programs()?;
        let configuration = options.experiment.configuration.clone().expect("a ladder is checked to have one");
        let postgres = Postgres::start(Ipv4Addr::LOCALHOST.into(), &[], cores)?;
        let link = remote::link(postgres.address(), plan.round_trip, cores)
            .map_err(|error| RunError::Failed(format!("the link of {:?}: {error}", plan.round_trip)))?;
        let afar = Afar { link, postgres, configuration };
        // Past the link: what fills the tables is no part of the question, and would take seconds through it.
        let laid = afar.configured((1, 1), &afar.postgres.url(), store.directory()).map_err(RunError::Failed)?;
        let filled =
            Child::start(Ipv4Addr::LOCALHOST, &options.serve_program, &[laid.file.display().to_string()], cores);
        filled.map_err(|error| RunError::Failed(laid.told(&error)))?;
        Ok(afar)
    }

    /// The configuration of a gateway with the level's work processes and the variant's limit of connections.
    fn laid(&self, variant: &Variant, level: u64, folder: &Path) -> Result<Option<Laid>, String> {
        let connections = variant.own().map_or(0, |Limit(limit)| *limit);
        self.configured((level, connections), &self.postgres.url_by(self.link.address()), folder).map(Some)
    }

    // With one work process a whole pass takes long: its list is enough.
    fn first(_run: &mut Session<'_, '_, Self>) -> Asking {
        Asking::Request
    }
}

impl Afar {
    fn configured(&self, (work_processes, connections): (u64, u32), url: &str, run: &Path) -> Result<Laid, String> {
        let values = [
            (WORK_PROCESSES, work_processes.to_string()),
            (CONNECTIONS, connections.to_string()),
            (DATABASE, url.to_owned()),
        ];
        lay(&self.configuration, &values.map(|(name, value)| (name.to_owned(), value)), run)
    }
}
