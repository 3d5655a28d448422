//! Prepares a load from the user's options: the target, the checks of its responses, and the script.
//!
//! Nothing is sent or resolved here.

use std::sync::Arc;

use tollgate_net::http1::client::{Route, Scheme, Target};
use tollgate_wire::batch::Outgoing;

use super::{AnswerLength, QuickLoad, Via, Wrapping};
use crate::load::answer::checks::{AnswerKind, Checks};
use crate::load::answer::odata_batch;
use crate::load::answer::soap;
use crate::load::scenario::{Conduct, Program};
use crate::load::script::{Body, Message, Script};
use crate::load::target::{Connection, LoadTarget, folder};
use crate::load::worker::Work;
use crate::secret;
use crate::subject::check_loadable;
use crate::traffic::feed::template::{self, Piece};
use crate::traffic::header::completed;
use crate::traffic::request::RequestShape;
use crate::traffic::scenario::Played;

/// Methods whose requests have a body even where it is empty.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// The target and the work of a load.
///
/// # Errors
/// The fault, in one sentence.
pub(super) fn prepare(load: &QuickLoad) -> Result<(Arc<LoadTarget>, Work), String> {
    let target = Target::parse(&load.url).map_err(|error| format!("`{}`: {error}", secret::hide(&load.url)))?;
    let (via, route) = via(load, &target)?;
    let (target, work) = match &load.scenario {
        Some(played) => scenario(load, target, played, (via, route))?,
        None => request(load, target, (via, route))?,
    };
    Ok((Arc::new(target), work))
}

/// The target of a scenario.
fn scenario(
    load: &QuickLoad,
    target: Target,
    played: &Played,
    (via, route): (Option<Target>, Route),
) -> Result<(LoadTarget, Work), String> {
    let shape = RequestShape { method: "GET".to_owned(), ..RequestShape::default() };
    let target = LoadTarget::new(target, shape, &load.headers, load.connection);
    let mut target = target.map_err(|error| error.to_string())?.with_tls(load.tls.clone());
    (target.socket, target.via, target.route) = (load.socket, via, route);
    let program = Arc::new(Program::new(played, &target)?);
    target.program = Some(Arc::clone(&program));
    Ok((target, Work::Scenario(program, Conduct { seed: load.seed, behind_rows: None })))
}

/// The target of the same request again and again.
fn request(
    load: &QuickLoad,
    target: Target,
    (via, mut route): (Option<Target>, Route),
) -> Result<(LoadTarget, Work), String> {
    let mut message = Message {
        method: load.method.clone(),
        authority: target.authority().to_owned(),
        target: target.path_and_query().to_owned(),
        headers: load.headers.clone(),
        body: (!load.body.is_empty() || WITH_BODY.contains(&load.method.as_str()))
            .then(|| Body::Plain(load.body.clone())),
        framing: load.framing,
    };
    // A virtual host by its name, as users of ab ask for one.
    if let Some(place) = message.headers.iter().rposition(|(name, _)| name.eq_ignore_ascii_case("host")) {
        message.authority = message.headers[place].1.clone();
        message.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("host"));
    }
    if let Route::Tunnel { authorization } = &mut route {
        // It is for the proxy alone: what goes through the tunnel is the server's.
        let is_proxys = |(name, _): &(String, String)| name.eq_ignore_ascii_case("proxy-authorization");
        *authorization = message.headers.iter().find(|field| is_proxys(field)).map(|(_, value)| value.clone());
        message.headers.retain(|field| !is_proxys(field));
    }
    let kind = wrap(load, &mut message)?;
    check_used(load, target.path_and_query(), &message.headers)?;
    if let (Some(Via::Proxy(_)), Scheme::Http) = (&load.via, target.scheme()) {
        message.target = format!("http://{}{}", target.authority(), message.target);
    }
    let script = Script::new(&message, load.feed.clone(), load.connection == Connection::New)?;
    let shape =
        RequestShape { method: message.method.clone(), contains: load.contains.clone(), ..RequestShape::default() };
    let length = (load.length == AnswerLength::AsFirst).then(Arc::default);
    let mut loaded = LoadTarget::new(target, shape, &[], load.connection)
        .map_err(|error| error.to_string())?
        .with_tls(load.tls.clone());
    loaded.checks = Checks { statuses: load.statuses.clone(), length, kind, json: load.json.clone() };
    loaded.socket = load.socket;
    (loaded.via, loaded.route) = (via, route);
    Ok((loaded, Work::Script(Arc::new(script))))
}

/// The destination and route of connections; the destination must be allowed.
fn via(load: &QuickLoad, target: &Target) -> Result<(Option<Target>, Route), String> {
    let allowed = |host: &str| check_loadable(host, &load.may_load);
    match &load.via {
        None => allowed(target.host()).map(|()| (None, Route::Direct)),
        Some(Via::Address(address)) => {
            allowed(&address.ip().to_string())?;
            let reached = Target::parse(&format!("http://{address}/"));
            reached.map(|reached| (Some(reached), Route::Direct)).map_err(|error| format!("{address}: {error}"))
        }
        Some(Via::Proxy(place)) => {
            let proxy = Target::parse(&format!("http://{place}/")).map_err(|error| format!("`{place}`: {error}"))?;
            // The proxy passes the load on.
            allowed(target.host()).and_then(|()| allowed(proxy.host()))?;
            let route = match target.scheme() {
                Scheme::Http => Route::Direct,
                Scheme::Https => Route::Tunnel { authorization: None },
            };
            Ok((Some(proxy), route))
        }
        // It is a file of this machine, whatever host the URL names.
        Some(Via::Socket(path)) => Ok((None, Route::Unix(path.clone()))),
    }
}

/// Wraps the body in its envelope, and returns the kind of the responses.
fn wrap(load: &QuickLoad, message: &mut Message) -> Result<AnswerKind, String> {
    match &load.wrapping {
        Wrapping::None => Ok(AnswerKind::Plain),
        Wrapping::Soap { action, version } => {
            let found = soap::version_of(&without_places(load));
            let version = version.or(found).unwrap_or(soap::Version::V11);
            if found.is_some_and(|found| found != version) {
                return Err("the payload is in an envelope of the other version of SOAP already".to_owned());
            }
            let own = std::mem::take(&mut message.headers);
            message.headers = completed(own, soap::fields(version, action));
            message.body = Some(Body::Plain(soap::enveloped(&load.body, version)));
            Ok(AnswerKind::Soap)
        }
        Wrapping::Batch { form, requests, root } => {
            let requests = *requests;
            if requests == 0 || requests > odata_batch::REQUESTS_MAX {
                return Err(format!("a batch has from 1 to {} requests", odata_batch::REQUESTS_MAX));
            }
            let (root, target) = below(&message.target, root.as_deref())?;
            let is_of_part =
                |name: &str| name.eq_ignore_ascii_case("content-type") || name.eq_ignore_ascii_case("accept");
            let (of_part, own): (Vec<_>, Vec<_>) =
                message.headers.iter().cloned().partition(|(name, _)| is_of_part(name));
            let fields: Vec<(&str, &str)> =
                of_part.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let (method, target, headers, body) = (&*message.method, &*target, &*fields, &*load.body);
            let part = Outgoing { method, target, headers, body, ..Outgoing::default() };
            let parted = odata_batch::write(*form, requests, &part, load.feed.as_ref())?;
            message.body = Some(Body::Parted(parted));
            message.target = format!("{root}$batch");
            "POST".clone_into(&mut message.method);
            message.headers = vec![("Content-Type".to_owned(), form.content_type())];
            if form == &odata_batch::BatchForm::Json {
                message.headers.push(("Accept".to_owned(), "application/json".to_owned()));
            }
            // What has the name of one above is the parts'.
            message.headers.extend(own);
            Ok(AnswerKind::Batch { form: *form, requests })
        }
    }
}

/// Refuses a feed whose columns are never used. An invalid placeholder is refused where it occurs.
fn check_used(load: &QuickLoad, target: &str, headers: &[(String, String)]) -> Result<(), String> {
    let Some(feed) = &load.feed else { return Ok(()) };
    let is_place = |piece: &Piece<'_>| matches!(piece, Piece::Value { .. });
    let is_used = |text: &str| template::parse(text).map_or(true, |pieces| pieces.iter().any(is_place));
    let is_in_body = || is_used(&String::from_utf8_lossy(&load.body));
    if is_used(target) || headers.iter().any(|(_, value)| is_used(value)) || is_in_body() {
        return Ok(());
    }
    let column = feed.table.columns.first().map_or("", String::as_str);
    Err(format!("the feed's columns are used nowhere: write {{{{{column}}}}} into the URL, a header field or the body"))
}

/// The payload without the placeholders of a feed, which need not be XML.
fn without_places(load: &QuickLoad) -> Vec<u8> {
    let text = String::from_utf8_lossy(&load.body);
    let fixed = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => text.as_bytes().to_vec(),
        Piece::Value { .. } => Vec::new(),
    };
    match template::parse(&text) {
        Ok(pieces) if load.feed.is_some() => pieces.iter().flat_map(fixed).collect(),
        _ => load.body.clone(),
    }
}

/// Splits a path into the service root and the part below it.
fn below(path: &str, root: Option<&str>) -> Result<(String, String), String> {
    let root = match root {
        Some(root) if root.starts_with('/') && root.ends_with('/') => root,
        Some(root) => return Err(format!("`{root}` is no service root: it begins and ends with `/`")),
        None => folder(path),
    };
    match path.strip_prefix(root) {
        Some(below) if !below.is_empty() => Ok((root.to_owned(), below.to_owned())),
        _ => Err(format!(
            "nothing is asked for below the service root {root}: write the URL of what each request asks for"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::answer::odata_batch::BatchForm;

    #[test]
    fn the_service_root_is_where_the_last_segment_begins_or_where_it_is_said_to_be() {
        let check = |path: &str, root: Option<&str>, expected: Result<(&str, &str), &str>| {
            let found = below(path, root);
            let found = found.as_ref().map(|(root, below)| (root.as_str(), below.as_str())).map_err(String::as_str);
            assert_eq!(found, expected, "{path}");
        };
        check("/v4/Flights?$top=1&$x=a/b", None, Ok(("/v4/", "Flights?$top=1&$x=a/b")));
        check("/v4/Flights(1)/Carrier", Some("/v4/"), Ok(("/v4/", "Flights(1)/Carrier")));
        let nothing = "nothing is asked for below the service root /v4/: write the URL of what each request asks for";
        check("/v4/", None, Err(nothing));
        check("/v2/F", Some("/v4/"), Err(nothing));
        check("/v4/F", Some("v4"), Err("`v4` is no service root: it begins and ends with `/`"));
    }

    #[test]
    fn what_may_not_be_reached_is_not_loaded() {
        let check = |url: &str, via: Option<Via>, expected: Result<(), &str>| {
            let load = QuickLoad { via, ..QuickLoad::new(url) };
            let found = prepare(&load).map(drop);
            let begins = match (&found, expected) {
                (Err(found), Err(expected)) => found.contains(expected),
                (found, expected) => found.is_ok() == expected.is_ok(),
            };
            assert!(begins, "{url}: {found:?}");
        };
        let proxy = |place: &str| Some(Via::Proxy(place.to_owned()));
        let address = |text: &str| Some(Via::Address(text.parse().unwrap()));
        check("http://127.0.0.1/", None, Ok(()));
        check("http://far.example/", None, Err("far.example"));
        check("https://far.example/", address("127.0.0.1:8443"), Ok(()));
        check("http://127.0.0.1/", address("192.0.2.1:80"), Err("192.0.2.1"));
        check("http://127.0.0.1/", proxy("127.0.0.1:3128"), Ok(()));
        check("http://far.example/", proxy("127.0.0.1:3128"), Err("far.example"));
        check("http://127.0.0.1/", proxy("far.example:3128"), Err("far.example"));
        check("https://127.0.0.1/", proxy("127.0.0.1:3128"), Ok(()));
        check("https://far.example/", proxy("127.0.0.1:3128"), Err("far.example"));
        check("http://far.example/", Some(Via::Socket("/run/far.sock".into())), Ok(()));
    }

    #[test]
    fn a_convenience_makes_the_whole_message() {
        let sent = |wrapping: Wrapping, method: &str, body: &str| {
            let headers = vec![("Content-Type".to_owned(), "text/plain".to_owned()), ("X".to_owned(), "1".to_owned())];
            let (method, body) = (method.to_owned(), body.into());
            let load = QuickLoad { wrapping, method, body, headers, ..QuickLoad::new("http://127.0.0.1/s/Set") };
            let Ok((_, Work::Script(script))) = prepare(&load) else { panic!("{load:?}") };
            String::from_utf8(script.first(crate::load::script::Place::Last)).unwrap()
        };
        let batch = Wrapping::Batch { form: BatchForm::Json, requests: 2, root: None };
        let text = sent(batch, "POST", "{}");
        assert!(text.starts_with("POST /s/$batch HTTP/1.1\r\n") && text.contains("\r\nX: 1\r\n"), "{text}");
        assert!(text.contains("\r\nContent-Type: application/json\r\n") && text.ends_with("]}"), "{text}");
        let soap = Wrapping::Soap { action: "urn:a".to_owned(), version: None };
        let text = sent(soap, "POST", "<q/>");
        assert!(text.contains("SOAPAction: \"urn:a\"\r\n") && text.ends_with("</soap:Body></soap:Envelope>"), "{text}");
        assert!(text.contains("\r\nContent-Type: text/plain\r\n") && !text.contains("text/xml"), "{text}");
    }
}
