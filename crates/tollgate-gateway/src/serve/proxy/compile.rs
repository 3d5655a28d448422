//! The sequences of all routes of a configuration, compiled: stylesheets are read and everything is checked before any
//! of it is active.

use std::sync::Arc;

use crate::base::config_error::ConfigError;
use crate::base::log::Log;
use crate::config::{Endpoint, Protocol, Route};
use crate::mediate::{MEDIATORS, Mediation, MediatorReader, Sequence};
use crate::work::dispatcher::Dispatcher;

/// Compiles the mediation of each of `routes`, in their order. Mediators log to `log`, and large messages wait for one
/// of `processes`.
///
/// # Errors
/// The first error, with file and line.
pub(crate) fn compile(
    routes: &[Route],
    endpoints: &[Endpoint],
    log: &Arc<Log>,
    processes: &Dispatcher<()>,
) -> Result<Vec<Mediation>, ConfigError> {
    let Some(first) = routes.first() else { return Ok(Vec::new()) };
    let names: Vec<&str> = endpoints.iter().map(|endpoint| &*endpoint.name).collect();
    let reading = MediatorReader::new((first.origin.text(), first.origin.file_name()), &names, log, MEDIATORS);
    let sequences = reading.routes()?;
    let mediation = |(route, (request, answer)): (&Route, (Sequence, Sequence))| {
        let mediation = Mediation::new(request, answer, processes.clone());
        match route.protocol {
            Protocol::Http => mediation,
            Protocol::Soap => mediation.describing(&route.path, &path_there(route, endpoints)),
        }
    };
    Ok(routes.iter().zip(sequences).map(mediation).collect())
}

/// The path of a route at its backend, as far as known beforehand: that of the first place of its endpoint, or of the
/// first that its mediators may choose, followed by the route's own rewritten path.
fn path_there(route: &Route, endpoints: &[Endpoint]) -> String {
    let mut names =
        route.endpoint.as_deref().into_iter().chain(route.chosen_endpoints.iter().flatten().map(|name| &**name));
    let endpoint = names.next().and_then(|name| endpoints.iter().find(|endpoint| *endpoint.name == *name));
    let target = endpoint.and_then(|endpoint| endpoint.urls.first());
    let prefix = target.map_or("", |target| target.path_and_query()).trim_end_matches('/');
    let path = route.to.as_deref().map_or(&*route.path, |to| to.split('?').next().unwrap_or_default());
    format!("{prefix}{path}")
}
