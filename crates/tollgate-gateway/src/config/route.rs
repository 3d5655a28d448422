//! One `[[route]]`: requests to pass on, their endpoint, and how.
//!
//! [`RouteTable`] is the file's contents; [`Route`] is its meaning. Collisions with services are checked once those are
//! known, also the ones of the command line: see [`check`].

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_net::http1::Method;
use toml::Spanned;

use super::endpoint::Endpoint;
use crate::base::config_error::{ConfigError, Misplaced};
use crate::base::number::optional_within;
use crate::base::origin::Origin;
use crate::mediate::SequenceTable;

/// Requests that are forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The path, without a slash at its end: it and everything below it. Empty: every path.
    pub path: String,
    /// The methods; absent: all.
    pub methods: Option<Vec<Method>>,
    /// The requested host, in lower case and without a port; absent: any.
    pub host: Option<String>,
    /// Endpoint of the requests; absent: a mediator decides.
    pub endpoint: Option<Arc<str>>,
    /// Replacement of the path; absent: it stays.
    pub to: Option<String>,
    /// Protocol of the route.
    pub protocol: Protocol,
    /// Condition for sending a request again.
    pub retry: Retry,
    /// Bytes of a body that is gathered for a mediator; 413 beyond.
    pub body_bytes_max: usize,
    /// Whether answers are kept in the response cache.
    pub cache: Keeping,
    /// Names of endpoints that the mediators of its requests may choose; absent if there are none.
    pub(crate) chosen_endpoints: Option<Vec<String>>,
    /// Its place in the file.
    pub(crate) origin: Origin,
    /// Place of its endpoint's name in the file.
    pub(crate) endpoint_origin: Origin,
}

/// Protocol of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// HTTP, with any content.
    #[default]
    Http,
    /// SOAP: errors are faults of the request's version, and the addresses in a description (`?wsdl`) are rewritten.
    Soap,
}

/// Whether answers of a route are kept in the response cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keeping {
    /// As their `Cache-Control` or `Expires` allows (RFC 9111, for a shared cache).
    ByFields,
    /// Never.
    #[default]
    Never,
}

/// When a request is sent again, on a fresh connection, because a reused one ended without a byte of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Retry {
    /// If its method is idempotent (RFC 9110, section 9.2.2).
    #[default]
    Idempotent,
    /// Always, also POST: the backend tolerates it.
    Always,
    /// Never.
    Never,
}

/// Requests that are forwarded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Route")]
pub(super) struct RouteTable {
    /// This path and everything below it; of all matching routes and services, the longest path wins.
    #[schemars(with = "String")]
    path: Spanned<String>,
    /// The methods, such as `["GET", "POST"]`; absent: all.
    #[schemars(with = "Option<Vec<String>>", length(min = 1))]
    methods: Option<Spanned<Vec<Spanned<String>>>>,
    /// The requested host, without a port; absent: any.
    #[schemars(with = "Option<String>")]
    host: Option<Spanned<String>>,
    /// The name of the `[[endpoint]]` for them; absent if a mediator decides.
    #[schemars(with = "Option<String>")]
    endpoint: Option<Spanned<String>>,
    /// Replacement of the matched part of the path, such as `/services/Quote` or `/echo?bytes=1024`; absent: the same.
    #[schemars(with = "Option<String>")]
    to: Option<Spanned<String>>,
    /// Whether it is a SOAP service: errors are then faults, and the addresses in `?wsdl` are rewritten.
    #[serde(default)]
    soap: bool,
    /// When a request is sent again after a reused connection ended without a byte of answer.
    #[serde(default)]
    retry: Retry,
    /// Bytes of a body that is gathered for a mediator; 413 beyond. Bodies that no mediator reads are not limited by
    /// it.
    #[serde(default, deserialize_with = "optional_within::<1, BODY_BYTES_MAX, usize, _>")]
    #[schemars(range(min = 1, max = BODY_BYTES_MAX))]
    body_bytes_max: Option<usize>,
    /// Whether answers are kept in the response cache, as their `Cache-Control` or `Expires` allows. They are kept as
    /// changed by the mediators.
    #[serde(default)]
    cache: bool,
    /// The mediators for requests.
    #[serde(default)]
    request: Option<SequenceTable>,
    /// The mediators for answers.
    #[serde(default)]
    response: Option<SequenceTable>,
}

// What a configuration may ask for at most.
const ROUTES_MAX: usize = 10_000;
const PATH_BYTES_MAX: usize = 1_024;
const BODY_BYTES_MAX: i64 = 1 << 30;
/// Default limit of a gathered body.
const BODY_BYTES: usize = 1 << 20;

/// Methods allowed in a route.
const METHODS: [(&str, Method); 9] = [
    ("GET", Method::Get),
    ("HEAD", Method::Head),
    ("POST", Method::Post),
    ("PUT", Method::Put),
    ("PATCH", Method::Patch),
    ("MERGE", Method::Merge),
    ("DELETE", Method::Delete),
    ("OPTIONS", Method::Options),
    ("TRACE", Method::Trace),
];

/// Checks the tables of a file and returns their meaning.
///
/// # Errors
/// The first error.
pub(super) fn routes(
    tables: Vec<Spanned<RouteTable>>,
    endpoints: &[Endpoint],
    text: &Arc<str>,
    file_name: &Arc<str>,
) -> Result<Vec<Route>, ConfigError> {
    let mut routes: Vec<Route> = Vec::with_capacity(tables.len());
    for (index, table) in tables.into_iter().enumerate() {
        let whole = Origin::new(text, file_name, table.span());
        if index == ROUTES_MAX {
            return Err(whole.wrong(&format!("expected at most {ROUTES_MAX} routes")));
        }
        let route = table.into_inner().meaning(&whole).map_err(|(at, wrong)| whole.at(at).wrong(&wrong))?;
        if let Some(name) = &route.endpoint
            && !endpoints.iter().any(|endpoint| endpoint.name == *name)
        {
            let known: Vec<&str> = endpoints.iter().map(|endpoint| &*endpoint.name).collect();
            return Err(route.endpoint_origin.unknown("endpoint", name, &known));
        }
        if let Some(other) = routes.iter().find(|other| other.overlaps(&route)) {
            let wrong = format!("requests for this path go elsewhere already: {}", other.origin.line());
            return Err(route.origin.wrong(&wrong));
        }
        routes.push(route);
    }
    if let Some(route) = routes.iter().find(|route| route.endpoint.is_none() && route.chosen_endpoints.is_none()) {
        let wrong = "expected `endpoint`, or a sequence `request` that chooses one or answers";
        return Err(route.origin.wrong(wrong));
    }
    Ok(routes)
}

/// Checks that no route is at or below a path of a service (without its last slash), where it would never be used.
///
/// # Errors
/// The first such route.
pub(crate) fn check<'s>(
    routes: &[Route],
    services: impl Iterator<Item = (&'s str, String)>,
) -> Result<(), ConfigError> {
    for (service, taken) in services {
        let stands_within = |route: &&Route| {
            route.path.strip_prefix(&*taken).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(route) = routes.iter().find(stands_within) {
            let wrong = format!("the service `{service}` is there already, at `{taken}` and below");
            return Err(route.origin.wrong(&wrong));
        }
    }
    Ok(())
}

impl Route {
    /// Whether a request can match both, and neither is more specific.
    fn overlaps(&self, other: &Route) -> bool {
        let shares_a_method = match (&self.methods, &other.methods) {
            (Some(own), Some(others)) => own.iter().any(|method| others.contains(method)),
            // Who names methods comes first.
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.path == other.path && self.host == other.host && shares_a_method
    }
}

impl RouteTable {
    fn meaning(self, origin: &Origin) -> Result<Route, Misplaced> {
        let path = checked_path(&self.path)?.to_owned();
        let methods = self.methods.map(|methods| {
            if methods.as_ref().is_empty() {
                return Err((methods.span(), "expected at least one method".to_owned()));
            }
            methods.into_inner().iter().map(method).collect::<Result<Vec<Method>, Misplaced>>()
        });
        let host = self.host.map(|host| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
            let (name, bracketed) = (host.as_ref(), host.as_ref().starts_with('['));
            if name.is_empty() || !name.bytes().all(plain) || (!bracketed && name.contains(':')) {
                return Err((host.span(), "expected the name of a host, without a port".to_owned()));
            }
            Ok(name.to_ascii_lowercase())
        });
        let to = self.to.as_ref().map(checked_target).transpose()?;
        let chosen_endpoints = self.request.map(|sequence| sequence.endpoints);
        if let Some(name) = self.response.and_then(|sequence| sequence.endpoints.into_iter().next()) {
            let wrong = format!("an answer goes to the client: `{name}` cannot be chosen in `response`");
            return Err((self.path.span(), wrong));
        }
        let at = self.endpoint.as_ref().map_or_else(|| self.path.span(), Spanned::span);
        Ok(Route {
            methods: methods.transpose()?,
            host: host.transpose()?,
            endpoint_origin: origin.at(at),
            endpoint: self.endpoint.map(|name| name.into_inner().into()),
            to,
            protocol: if self.soap { Protocol::Soap } else { Protocol::Http },
            retry: self.retry,
            body_bytes_max: self.body_bytes_max.unwrap_or(BODY_BYTES),
            cache: if self.cache { Keeping::ByFields } else { Keeping::Never },
            chosen_endpoints,
            origin: origin.at(self.path.span()),
            path,
        })
    }
}

fn method(said: &Spanned<String>) -> Result<Method, Misplaced> {
    let known = METHODS.iter().find(|(name, _)| name == said.as_ref());
    known.map(|(_, method)| *method).ok_or_else(|| {
        let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        (said.span(), format!("expected one of {}", names.join(", ")))
    })
}

/// Checks a path and returns it without the slash at its end. Paths must be comparable byte by byte.
fn checked_path(path: &Spanned<String>) -> Result<&str, Misplaced> {
    let text = path.as_ref();
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"?#%*\"\\;".contains(&byte);
    let has_empty_or_dotted = || text[1..].trim_end_matches('/').split('/').any(|part| matches!(part, "." | ".."));
    if !text.starts_with('/') || !text.bytes().all(plain) || text.contains("//") || has_empty_or_dotted() {
        let wrong = "expected a path such as `/services/Quote`, without `%`, `;`, `?`, `*`, `//` and `..`";
        return Err((path.span(), wrong.to_owned()));
    }
    if text.len() > PATH_BYTES_MAX {
        return Err((path.span(), format!("expected at most {PATH_BYTES_MAX} bytes")));
    }
    Ok(text.strip_suffix('/').unwrap_or(text))
}

/// Checks the replacement of a path: a path, perhaps with a query.
fn checked_target(to: &Spanned<String>) -> Result<String, Misplaced> {
    let text = to.as_ref();
    if !text.starts_with('/') || !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err((to.span(), "expected a path such as `/services/Quote` or `/echo?bytes=1024`".to_owned()));
    }
    if text.len() > PATH_BYTES_MAX {
        return Err((to.span(), format!("expected at most {PATH_BYTES_MAX} bytes")));
    }
    Ok(text.to_owned())
}
