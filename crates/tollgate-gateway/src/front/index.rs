//! `/`: the index of services at the bare address: JSON, or a page of links for a browser.
//!
//! It describes nothing: each service describes itself below its own root.

use tollgate_net::http1::Method;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::Version;

use crate::error::Fault;
use crate::front::shared::Shared;
use crate::http::{READING, accept};

#[derive(Debug, Clone, Copy)]
enum IndexFormat {
    Json,
    Html,
}

const OFFERS: &[(&str, IndexFormat)] = &[("application/json", IndexFormat::Json), ("text/html", IndexFormat::Html)];

/// Answers the index of services.
pub(super) fn answer(exchange: &mut Exchange<'_>, shared: &Shared) -> Result<(), Fault> {
    let services = &shared.services;
    let (request, response) = exchange.split();
    if !matches!(request.method(), Method::Get | Method::Head) {
        return Err(Fault::method_not_allowed(request.method_text(), READING));
    }
    // Whoever takes neither is told in JSON all the same: there is nothing else to say it in.
    let form = accept::choose(request.values("accept"), OFFERS, |form, _| Some(form)).unwrap_or(IndexFormat::Json);
    let mounts = services.iter().flat_map(|service| &service.mounts);
    let odata = mounts.map(|mount| (name(mount.version), mount.root.to_string()));
    let lists = services.iter().flat_map(|service| service.rest.lists()).map(|list| ("REST", list));
    let mut described: Vec<_> = services.iter().map(|service| service.rest.description()).collect();
    described.sort_unstable();
    described.dedup();
    let described = described.into_iter().map(|path| ("OpenAPI", path));
    let built_in = shared.built_in.iter().map(|served| (served.kind.speaks.name(), served.kind.example.to_owned()));
    let links: Vec<_> = odata.chain(lists).chain(described).chain(built_in).collect();
    response.header("vary", "Accept");
    let (content_type, [before, between, after]) = match form {
        IndexFormat::Json => ("application/json", ["{\"services\":[", ",", "]}"]),
        IndexFormat::Html => (
            "text/html;charset=utf-8",
            ["<!doctype html><html lang=\"en\"><title>tollgate</title><h1>tollgate</h1><ul>", "", "</ul></html>"],
        ),
    };
    response.header("content-type", content_type);
    let mut text = before.to_owned();
    for (position, (protocol, path)) in links.iter().enumerate() {
        text.push_str(if position > 0 { between } else { "" });
        // Neither has a character that would have to be escaped.
        text.push_str(&match form {
            IndexFormat::Json => format!("{{\"protocol\":\"{protocol}\",\"url\":\"{path}\"}}"),
            IndexFormat::Html => format!("<li><a href=\"{path}\">{path}</a> {protocol}"),
        });
    }
    text.push_str(after);
    response.body.extend_from_slice(text.as_bytes());
    Ok(())
}

fn name(version: Version) -> &'static str {
    match version {
        Version::V2 => "OData V2",
        Version::V4 => "OData V4",
    }
}
