//! OpenAPI 3.1 description of plain REST below one root: `/rest/openapi.json`, `/rest/shop/openapi.json`.
//!
//! It is made of the models, the rules and the names of the lists on the first request, and kept as long as the
//! configuration is active. It describes only paths below that root.

mod operations;
mod parameters;
mod schemas;

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use tollgate_net::http1::Method;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::{EntityType, SetId};

use crate::auth::{Access, Caller, Verb};
use crate::error::Fault;
use crate::hosted::Published;
use crate::hosted::rest::{DESCRIPTION, Resource};
use crate::http::READING;
use crate::http::conditions::{self, Verdict};
use crate::visit::Visit;

/// The descriptions requested so far, each with its root. One per root: at most as many as services.
#[derive(Debug, Default)]
pub(crate) struct Descriptions(Mutex<Vec<(Box<str>, Arc<Description>)>>);

#[derive(Debug)]
struct Description {
    bytes: Vec<u8>,
    etag: String,
}

/// One list, with the data for describing it.
struct Subject<'s> {
    service: &'s Published,
    resource: &'s Resource,
    entity_type: &'s EntityType,
    /// The names of the schemas of all sets of the service, in the model's order.
    names: &'s [String],
    /// Authentication schemes for clients.
    schemes: &'s [&'static str],
}

/// Answers a request for the description of `root`, which is kept in `descriptions`.
///
/// # Errors
/// 401 and 403 by the rules, 405 for methods that do not read, 412 if `If-Match` fails.
pub(crate) fn answer(
    visit: &Visit<'_>,
    (descriptions, services): (&Descriptions, &[Published]),
    root: &str,
    exchange: &mut Exchange<'_>,
) -> Result<(), Fault> {
    let (request, response) = exchange.split();
    visit.access.check_document(Verb::of(request.method()))?;
    match request.method() {
        Method::Get | Method::Head => {}
        Method::Options => {
            response.status = 204;
            response.header("allow", READING);
            return Ok(());
        }
        _ => return Err(Fault::method_not_allowed(request.method_text(), READING)),
    }
    let description = descriptions.of(root, || document(visit, services, root));
    response.header("etag", &description.etag);
    match conditions::judge(request.values("if-match"), request.values("if-none-match"), &description.etag) {
        Verdict::Failed => return Err(Fault::precondition_failed()),
        Verdict::NotModified => response.status = 304,
        Verdict::Answer => {
            response.header("content-type", "application/json");
            response.body.extend_from_slice(&description.bytes);
        }
    }
    Ok(())
}

impl Descriptions {
    fn of(&self, root: &str, make: impl FnOnce() -> Value) -> Arc<Description> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, description)) = kept.iter().find(|(known, _)| **known == *root) {
            return Arc::clone(description);
        }
        let bytes = make().to_string().into_bytes();
        let description = Arc::new(Description { etag: conditions::etag_of(&bytes), bytes });
        kept.push((root.into(), Arc::clone(&description)));
        description
    }
}

fn document(visit: &Visit<'_>, services: &[Published], root: &str) -> Value {
    let authentication = &visit.common.authentication;
    let schemes = authentication.schemes();
    let services = || services.iter().filter(|service| *service.rest.root == *root);
    let mut names = Names::default();
    let mut paths = Map::new();
    let mut schemas = schemas::common();
    let mut parameters = parameters::common();
    let mut tags = Vec::new();
    for service in services() {
        let mut own = vec![String::new(); service.hosted.model.entity_sets.len()];
        for resource in &service.rest.resources {
            own[resource.set.0] = names.take(&resource.list);
        }
        for resource in &service.rest.resources {
            let entity_type = service.hosted.model.type_of(resource.set);
            let subject = Subject { service, resource, entity_type, names: &own, schemes: &schemes };
            let label = service.hosted.model.entity_sets[resource.set.0].label.as_ref().or(entity_type.label.as_ref());
            tags.push(json!({ "name": subject.name(), "description": label.map_or(&*resource.list, String::as_str) }));
            subject.schemas(&mut schemas);
            subject.parameters(&mut parameters);
            subject.paths(&mut paths);
        }
    }
    paths.insert(format!("{root}{DESCRIPTION}"), operations::description());
    let mut components = json!({
        "schemas": schemas,
        "parameters": parameters,
        "responses": operations::problems(),
        "headers": operations::headers(),
    });
    if !schemes.is_empty() {
        let schemes = schemes.iter().map(|scheme| ((*scheme).to_owned(), scheme_of(scheme)));
        components["securitySchemes"] = schemes.collect::<Map<_, _>>().into();
    }
    let names: Vec<&str> = services().map(|service| &*service.hosted.name).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": format!("{} as plain REST", names.join(" and ")),
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A list for each entity set, and one entity below its key. Parameters that are not described \
                            here are refused. Instead of JSON each document may be XML, by Accept and Content-Type.",
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "paths": paths,
        "components": components,
    })
}

fn scheme_of(scheme: &str) -> Value {
    match scheme {
        "basic" => json!({ "type": "http", "scheme": "basic" }),
        _ => json!({ "type": "mutualTLS", "description": "a client's certificate that is a known user's" }),
    }
}

/// Names of schemas: unique, with only letters and digits that OpenAPI allows.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn take(&mut self, list: &str) -> String {
        let stands = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
        let plain: String = list.chars().map(stands).collect();
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.0.contains(name));
        let name = name.unwrap_or(plain);
        self.0.push(name.clone());
        name
    }
}

impl Subject<'_> {
    /// The name of its schemas and operations.
    fn name(&self) -> &str {
        self.name_of(self.resource.set)
    }

    fn name_of(&self, set: SetId) -> &str {
        &self.names[set.0]
    }

    /// Authentication required for the operation; `None` without authentication.
    fn security(&self, verb: Verb) -> Option<Value> {
        let grants = self.service.rest.grants()?;
        let anonymous = Access::new(Caller::anonymous(), Some(grants)).permits(self.resource.set, verb);
        let mut ways: Vec<Value> = self.schemes.iter().map(|scheme| json!({ *scheme: [] })).collect();
        if anonymous {
            ways.push(json!({}));
        }
        Some(ways.into())
    }
}
