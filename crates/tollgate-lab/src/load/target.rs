//! Target of a load: its address, and its requests. The common parts of requests are rendered once.

use std::num::NonZeroU32;
use std::sync::Arc;

use tollgate_net::connect::SocketOptions;
use tollgate_net::http1::client::{Answers, RequestTemplate, Route, Scheme, Target, TemplateError};
use tollgate_net::tls::{ClientSettings, Resumption};
use tollgate_wire::content::Checker;
use tollgate_wire::url::encode_beside;

use super::answer::checks::Checks;
use super::answer::read;
use super::scenario::Program;
use crate::traffic::request::RequestShape;
use crate::traffic::statuses::Statuses;

/// Target of a variant's requests. Shared by all workers.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    /// Host, port and the first path.
    pub target: Target,
    /// Interpretation of its answers.
    pub shape: RequestShape,
    /// Lifetime of its connections.
    pub connection: Connection,
    /// Settings of TLS, if its URL is https.
    pub tls: ClientSettings,
    /// Options of its sockets.
    pub socket: SocketOptions,
    /// Checks of answers beside those of the shape.
    pub checks: Checks,
    /// Address of connections, if not the target's own host and port.
    pub via: Option<Target>,
    /// Route of connections.
    pub route: Route,
    /// The scenario that is played there; absent for other work.
    pub program: Option<Arc<Program>>,
    /// Fields of all its requests, each name once.
    pub(super) fields: Vec<(String, String)>,
    /// Checker for the requested entity in an answer.
    pub(super) checker: Option<Checker>,
    /// Template of requests on a connection that goes on.
    template: RequestTemplate,
    /// Template of the last request on a connection: the server closes it, and keeps the port in TIME_WAIT.
    last: RequestTemplate,
}

impl LoadTarget {
    /// Creates a target whose requests have the shape's headers and then `headers`; a later field replaces an earlier
    /// one of the same name.
    ///
    /// # Errors
    /// An invalid method or field.
    pub fn new(
        target: Target,
        shape: RequestShape,
        headers: &[(String, String)],
        connection: Connection,
    ) -> Result<LoadTarget, TemplateError> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for field in shape.headers.iter().chain(headers) {
            fields.retain(|(name, _)| !name.eq_ignore_ascii_case(&field.0));
            fields.push(field.clone());
        }
        let build = |is_last: bool| {
            let mut template = RequestTemplate::builder(&shape.method, target.authority()).target_slot();
            for (name, value) in &fields {
                template = template.header(name, value);
            }
            if is_last {
                template = template.header("Connection", "close");
            }
            if !shape.body.is_empty() || matches!(shape.method.as_str(), "POST" | "PUT" | "PATCH") {
                template = template.body(shape.body.clone());
            }
            template.build()
        };
        Ok(LoadTarget {
            template: build(connection == Connection::New)?,
            last: build(true)?,
            checker: read::checker(&shape),
            target,
            shape,
            connection,
            tls: ClientSettings::default(),
            socket: SocketOptions::default(),
            checks: Checks::default(),
            via: None,
            route: Route::Direct,
            program: None,
            fields,
        })
    }

    /// Sets TLS; a [`TlsChoice`](tollgate_net::tls::TlsChoice) alone is enough.
    #[must_use]
    pub fn with_tls(mut self, tls: impl Into<ClientSettings>) -> LoadTarget {
        self.tls = tls.into();
        self
    }

    /// Sets the shape of its answers; requests stay the same.
    #[must_use]
    pub(crate) fn understood(self, shape: RequestShape) -> LoadTarget {
        LoadTarget { checker: read::checker(&shape), shape, ..self }
    }

    /// Whether connections are opened during the measurement and may resume a TLS session.
    pub(super) fn takes_up_sessions(&self) -> bool {
        let opens = self.connection != Connection::KeepAlive;
        opens && self.target.scheme() == Scheme::Https && self.tls.resumption == Resumption::Allowed
    }

    /// Writes a whole request for `path_and_query` into `out`.
    pub fn render(&self, path_and_query: &str, out: &mut Vec<u8>) {
        self.template.render(&[encoded(path_and_query)], out);
    }

    /// Writes it as the last request on its connection.
    pub(super) fn render_last(&self, path_and_query: &str, out: &mut Vec<u8>) {
        self.last.render(&[encoded(path_and_query)], out);
    }

    /// Returns the kind of answer to its requests.
    pub fn answers(&self) -> Answers {
        self.template.answers()
    }
}

/// Method of a request, kind of its answer, and wanted statuses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner<'a> {
    pub(crate) answers: Answers,
    pub(crate) method: &'a str,
    pub(crate) statuses: &'a Statuses,
}

impl Manner<'_> {
    /// Whether a repeated request has the same effect as one (RFC 9110, section 9.2.2).
    pub(super) fn is_idempotent(&self) -> bool {
        matches!(self.method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }
}

/// Lifetime of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connection {
    /// As long as the server keeps them open.
    #[default]
    KeepAlive,
    /// A fixed number of requests each.
    Requests(NonZeroU32),
    /// One request each.
    New,
}

impl Connection {
    /// Whether a connection takes no more requests after `answered` answers.
    pub(super) fn is_spent(self, answered: u64) -> bool {
        match self {
            Connection::KeepAlive => false,
            Connection::Requests(most) => answered >= u64::from(most.get()),
            Connection::New => answered >= 1,
        }
    }
}

/// Percent-encodes all characters of a link that RFC 3986 forbids in a request target; `%` stays.
fn encoded(path_and_query: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path_and_query.len());
    encode_beside(&mut out, path_and_query.as_bytes(), b"-._~!$&'()*+,;=:@/?%[]");
    out
}

/// Resolves `link` in the answer for `base` (a path and query) into a path and query, by RFC 3986, section 5.2. The
/// authority is ignored: links are followed on the subject itself, whatever name it gives itself.
pub(super) fn resolve(base: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    let rest = match link.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Some(rest),
        _ => link.strip_prefix("//"),
    };
    if let Some(rest) = rest {
        let path = &rest[rest.find(['/', '?']).unwrap_or(rest.len())..];
        let slash = if path.starts_with('/') { "" } else { "/" };
        return format!("{slash}{path}");
    }
    let base_path = base.split('?').next().unwrap_or_default();
    match link.bytes().next() {
        None => base.to_owned(),
        Some(b'/') => link.to_owned(),
        Some(b'?') => format!("{base_path}{link}"),
        Some(_) => {
            let (path, query) = link.split_at(link.find('?').unwrap_or(link.len()));
            format!("{}{query}", without_dots(&format!("{}{path}", folder(base_path))))
        }
    }
}

/// Returns a path up to its last slash.
pub(crate) fn folder(path_and_query: &str) -> &str {
    let path = path_and_query.split('?').next().unwrap_or_default();
    path.rfind('/').map_or("/", |end| &path[..=end])
}

fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_on_the_subject_itself() {
        let base = "/sap/opu/Flights?$top=3";
        let check = |link: &str, expected: &str| assert_eq!(resolve(base, link), expected, "{link}");
        check("http://sap.example.com:8000/sap/opu/Flights(1)", "/sap/opu/Flights(1)");
        check("http://sap.example.com", "/");
        check("http://sap.example.com?a", "/?a");
        check("//other/x", "/x");
        check("Flights(carrid='AA')", "/sap/opu/Flights(carrid='AA')");
        check("../x/./y?z=/../", "/sap/x/y?z=/../");
        check("/rest/flights", "/rest/flights");
        check("?$skiptoken=4", "/sap/opu/Flights?$skiptoken=4");
        check("Flights(url='a://b')", "/sap/opu/Flights(url='a://b')");
        check("Flights(1)#top", "/sap/opu/Flights(1)");
    }

    #[test]
    fn a_connection_takes_as_many_requests_as_its_policy_says() {
        let check = |policy: Connection, answered: u64, expected: bool| {
            assert_eq!(policy.is_spent(answered), expected, "{policy:?} {answered}");
        };
        let ten = Connection::Requests(NonZeroU32::new(10).unwrap());
        check(Connection::KeepAlive, u64::MAX, false);
        check(ten, 9, false);
        check(ten, 10, true);
        check(Connection::New, 0, false);
        check(Connection::New, 1, true);
    }

    #[test]
    fn what_a_request_target_may_not_hold_is_encoded() {
        let check = |link: &str, expected: &str| assert_eq!(String::from_utf8(encoded(link)).unwrap(), expected);
        check("/F(carrid='AA',n=1)?$x=%20", "/F(carrid='AA',n=1)?$x=%20");
        check("/a b\r\nc", "/a%20b%0D%0Ac");
        check("/ü", "/%C3%BC");
    }
}
