//! How many work processes a gateway needs before a database that is far away: a process of its own on each rung.
//!
//! What it deliberately does not do: warm a link, which does not become warm.

mod afar;
mod file;
mod page;
mod plan;

use std::path::Path;
use std::time::Duration;

use super::http;
use super::http::remote::Linked;
use super::http::session::Session;
use super::http::subjects::backends::Laid;
use super::http::subjects::sites::{Processes, Site};
use super::http::trial::Asking;
use super::http::way::Way;
use super::listed::Listed;
use crate::conduct::conductor::Beginning;
use crate::conduct::options::RunError;
use crate::experiment::{Factor, Variant};
use crate::load::scenario::Conduct;
use crate::subject::postgres_programs;
use afar::Afar;

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "work-processes",
    workload: "walk",
    factors: &[Factor {
        name: "work-processes",
        unit: "work processes",
        about: "Work processes of the gateway, at so many users.",
    }],
    unit_of_work: http::PASS,
    keys: file::KEYS,
    read: file::read,
    plan: plan::plan,
    page: page::page,
    notes: plan::notes,
    ..http::kind::<Afar>()
};

impl Way for Afar {
    const ASKING: fn(Conduct) -> Asking = |_| Asking::Walk;

    const SERVED_BY: &'static str = "tollgate serve, a process of its own at each level";

    const PROCESSES: Processes = Processes::OfEachLevel;

    const LINKED: Linked = Linked::Database;

    const WARM_UP: Option<Duration> = Some(plan::WARM_UP);

    const IS_SEEN: bool = true;

    fn begin(beginning: &Beginning<'_>, _: &[Site], _: &[(String, String)]) -> Result<Afar, RunError> {
        let options = beginning.options;
        let own = options.experiment.variants.iter().all(|variant| variant.peer.is_none());
        if !options.subjects.is_empty() || !own {
            let name = &options.experiment.name;
            return Err(RunError::Usage(format!(
                "`{name}` gives each of its gateways another limit, so it starts all of them itself: leave --subject and --subjects out"
            )));
        }
        postgres_programs()?;
        Afar::start(beginning)
    }

    fn laid(&self, variant: &Variant, level: u64, folder: &Path) -> Result<Option<Laid>, String> {
        self.rung(variant, level, folder).map(Some)
    }

    // With one work process a whole pass takes long: its list is enough.
    fn first(_run: &mut Session<'_, '_, Self>) -> Asking {
        Asking::Request
    }
}
