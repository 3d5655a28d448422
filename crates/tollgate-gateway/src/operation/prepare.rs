//! From a request to an [`Operation`](Prepared) that is ready to run: method, options and body read and checked.
//!
//! It queries no database, so that bad requests are refused without a work process.

use tollgate_net::http1::Method;
use tollgate_wire::edm::{Multiplicity, SetId, Version};
use tollgate_wire::entry::{Entry, Link};
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Counting, Options, Plan, Resource, Shape};

use super::author::Author;
use super::change::{Absent, How};
use super::request::{Meant, Request, method_text};
use super::{action, head, property, reference, spare, subtype};
use crate::auth::Verb;
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::headers::{Conditions, Headers};
use crate::operation::head::methods::{self, allowed};
use crate::operation::head::negotiation;
use crate::operation::head::preferences::{Preferences, Returning};

/// An operation with all data of the request, checked as far as that can be without a database. It owns its data, so
/// that it can go to another thread.
pub(crate) struct Prepared {
    pub(super) action: Action,
    pub(super) version: Version,
    pub(super) author: Author,
    pub(super) conditions: Conditions,
    pub(super) preferences: Preferences,
    pub(super) format: Format,
    pub(super) choice: Choice,
}

/// Action of an operation.
pub(super) enum Action {
    Create { plan: Box<Plan>, entry: Entry },
    Change { plan: Box<Plan>, entry: Entry, how: How, absent: Absent },
    Delete { plan: Box<Plan> },
    Relate { plan: Box<Plan>, change: reference::Change },
    Act(Box<action::Acting>),
}

/// Source of the answer's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// `$format`.
    Option,
    /// `Accept`; the answer then has `Vary`.
    Accept,
}

/// Reads and checks a writing request.
///
/// # Errors
/// All errors that can be found without a database.
pub(super) fn prepare(service: &Hosted, request: &Request<'_>, meant: Meant<'_>) -> Result<Prepared, Fault> {
    let Request { version, headers, .. } = *request;
    let Meant { method, resource, preferences, .. } = meant;
    let model = &*service.model;
    let refused =
        |resource: &Resource| Fault::method_not_allowed(method_text(method), allowed(model, version, resource));
    let mut plan = match resource {
        Resource::Read(plan) | Resource::References(plan) if plan.options.called.is_some() => {
            return Err(refused(&Resource::Read(plan)));
        }
        Resource::Read(plan) => plan,
        Resource::Act(act) => return action::prepare(service, request, (method, preferences), *act),
        Resource::References(plan) => return prepare_relation(service, request, (method, preferences), plan),
        Resource::Function(index) => {
            return Err(Fault::not_implemented(&format!("function {}", model.function_imports[index].name)));
        }
        Resource::ServiceDocument | Resource::Metadata | Resource::Batch => return Err(refused(&resource)),
    };
    let changes = model.entity_sets[plan.set().0].changes;
    let returning = preferences.returning;
    let is_patch = method == Method::Patch || method == Method::Merge && version == Version::V2;
    let kind = match (plan.shape, method) {
        (Shape::Collection, Method::Post) if changes.insert => WriteKind::Create,
        (Shape::Entity, Method::Put) if changes.update => WriteKind::Change(How::Replace),
        (Shape::Entity, _) if is_patch && changes.update => WriteKind::Change(How::Merge),
        (Shape::Entity, Method::Delete) if changes.delete && plan.options.singleton.is_none() => WriteKind::Delete,
        (Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_), Method::Put | Method::Delete) if changes.update => {
            WriteKind::Property
        }
        (Shape::Property(_) | Shape::Leaf(_), _) if is_patch && changes.update => WriteKind::Property,
        _ => return Err(refused(&Resource::Read(plan))),
    };
    if methods::counts_values(model, &plan) {
        return Err(refused(&Resource::Read(plan)));
    }
    if returning == Returning::Representation && matches!(kind, WriteKind::Change(_) | WriteKind::Property) {
        // What is answered is read.
        request.author.access().check(plan.set(), Verb::Get)?;
    }
    check_options(&plan.options)?;
    let option = plan.options.format.take();
    let choice = if option.is_some() { Choice::Option } else { Choice::Accept };
    let format = match (kind, returning) {
        (WriteKind::Create, _) | (WriteKind::Change(_) | WriteKind::Property, Returning::Representation) => {
            negotiation::document(version, option.as_deref(), headers)?
        }
        // Nothing but fields, or an upsert, which is answered in what is liked best as far as that can be said.
        _ => negotiation::document(version, option.as_deref(), headers)
            .unwrap_or_else(|_| negotiation::default(version, headers)),
    };
    let entry = || {
        let mut entry = read_entity(service, request, plan.set())?;
        subtype::cast(model.type_of(plan.set()), plan.options.subtype, &mut entry)?;
        Ok::<_, Fault>(entry)
    };
    let action = match kind {
        WriteKind::Create => Action::Create { entry: entry()?, plan },
        WriteKind::Change(how) => {
            let entry = entry()?;
            if !entry.children.is_empty() {
                return Err(deep_update(version, headers));
            }
            let absent = if plan.options.singleton.is_some() { Absent::Fail } else { Absent::Create };
            Action::Change { plan, entry, how, absent }
        }
        WriteKind::Property => {
            let entry = property::read(service, request, &plan, method)?;
            Action::Change { plan, entry, how: How::Merge, absent: Absent::Fail }
        }
        WriteKind::Delete => Action::Delete { plan },
    };
    let conditions = Conditions::of(headers);
    Ok(Prepared { action, version, author: request.author.clone(), conditions, preferences, format, choice })
}

#[derive(Debug, Clone, Copy)]
enum WriteKind {
    Create,
    Change(How),
    Property,
    Delete,
}

fn prepare_relation(
    service: &Hosted,
    request: &Request<'_>,
    (method, preferences): (Method, Preferences),
    mut plan: Box<Plan>,
) -> Result<Prepared, Fault> {
    let Request { version, headers, .. } = *request;
    let model = &*service.model;
    let multiplicity = methods::declared(model, &plan).map(|(_, declared)| declared.multiplicity);
    match (method, plan.shape, multiplicity) {
        (Method::Post, Shape::Collection, Some(_)) | (Method::Delete, _, Some(_)) => {}
        (Method::Put, _, Some(Multiplicity::ZeroOrOne | Multiplicity::One)) => {}
        _ => {
            let allow = allowed(model, version, &Resource::References(plan));
            return Err(Fault::method_not_allowed(method_text(method), allow));
        }
    }
    check_options(&plan.options)?;
    let change = reference::read(service, request, &mut plan, method)?;
    Ok(Prepared {
        action: Action::Relate { plan, change },
        version,
        author: request.author.clone(),
        conditions: Conditions::of(headers),
        preferences,
        format: negotiation::default(version, headers),
        choice: Choice::Option,
    })
}

/// Reads the body as an entity of `set`, with the Content-IDs in its links resolved.
fn read_entity(service: &Hosted, request: &Request<'_>, set: SetId) -> Result<Entry, Fault> {
    let format = head::body_format(request.version, request.headers)?;
    let mut entry = spare::entry();
    service.bodies.read(request.body, format, set, request.root, &mut entry).map_err(Fault::from)?;
    resolve_links(service, request, set, &mut entry)?;
    Ok(entry)
}

/// Replaces Content-IDs by keys, in the entity and in those created with it.
fn resolve_links(service: &Hosted, request: &Request<'_>, set: SetId, entry: &mut Entry) -> Result<(), Fault> {
    let model = &*service.model;
    for (navigation, link) in &mut entry.links {
        if let Link::ContentId(id) = link {
            let declared = &model.type_of(set).navigation[navigation.0];
            let named = Link::ContentId(std::mem::take(id));
            *link = Link::Key(reference::resolve_link(service, request, declared, named)?);
        }
    }
    for (navigation, children) in &mut entry.children {
        let target = model.type_of(set).navigation[navigation.0].target;
        for child in children {
            resolve_links(service, request, target, child)?;
        }
    }
    Ok(())
}

/// Refuses options that select entities, which have no meaning for writing one.
pub(super) fn check_options(options: &Options) -> Result<(), Fault> {
    let Options {
        filter,
        order_by,
        top,
        skip,
        skip_token,
        select: _,
        expand: _,
        count,
        format: _,
        id: _,
        compute,
        apply,
        called: _,
        singleton: _,
        subtype: _,
        casts: _,
    } = options;
    let looking = [
        ("$filter", filter.is_some()),
        ("$orderby", !order_by.is_empty()),
        ("$top", top.is_some()),
        ("$skip", skip.is_some()),
        ("$skiptoken", skip_token.is_some()),
        ("$count", *count == Counting::Total),
        ("$compute", !compute.is_empty()),
        ("$apply", apply.is_some()),
    ];
    match looking.into_iter().find(|option| option.1) {
        None => Ok(()),
        Some((name, _)) => Err(Fault::bad_request(name, format!("{name} does not apply to a request that writes"))),
    }
}

/// Fault for entities within a changed entity: 4.01 has that, 4.0 and V2 forbid it.
fn deep_update(version: Version, headers: &dyn Headers) -> Fault {
    let newer = version == Version::V4 && headers.value("odata-version", 0).is_some_and(|said| said.trim() == "4.01");
    match newer {
        true => Fault::not_implemented("changing related entities within an entity"),
        false => {
            Fault::bad_request("body", "expected no entities within the entity: related ones are changed by themselves")
        }
    }
}
