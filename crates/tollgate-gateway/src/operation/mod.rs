//! One OData operation, V2 or V4: a request that reads or writes becomes changes in a store and an [`Answer`].
//!
//! It is synchronous and knows no socket, no transaction and no lock: a single request and the parts of a batch are done by
//! the same code, inside a transaction that the caller began and ends. What is wrong is a [`Fault`]; the caller then undoes
//! whatever was done.

mod answer;
mod caller;
mod change;
mod content_ids;
mod create;
mod headers;
mod methods;
pub(crate) mod provide;
mod read;
mod relation;
mod represent;
pub(crate) mod spare;
mod target;

use std::borrow::Cow;

use tollgate_net::http1::Method;
use tollgate_wire::edm::{SetId, Version};
use tollgate_wire::entry::{Entry, Link};
use tollgate_wire::format::Format;
use tollgate_wire::plan::{Counting, Expand, Key, Options, Plan, Resource, Select, Shape};
use tollgate_wire::stencil::Base;
use tollgate_wire::url;

pub(crate) use answer::{Answer, Reply};
pub(crate) use caller::Caller;
pub(crate) use change::{Absent, Changed, How};
pub(crate) use content_ids::ContentIds;
pub(crate) use create::{Creation, is_alone};
pub(crate) use headers::{Conditions, Headers, check_coding, meant_method, values};
pub(crate) use methods::{READING, allowed};

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::odata::{negotiation, versions};
use crate::store::Connection;
use answer::EntityId;
use headers::Returning;
use represent::{Manner, Represent, Wanted};

/// A request for one operation.
pub(crate) struct Request<'a> {
    /// The method as it came; V2's tunnelled methods are found in the fields.
    pub(crate) method: Method,
    /// The path below the service root, percent-encoded.
    pub(crate) path: &'a str,
    /// What stands behind `?`, percent-encoded.
    pub(crate) query: Option<&'a str>,
    /// The version of the service root.
    pub(crate) version: Version,
    /// The absolute URL of the service, with its slash.
    pub(crate) root: &'a str,
    /// The fields.
    pub(crate) headers: &'a dyn Headers,
    /// The body.
    pub(crate) body: &'a [u8],
    /// What earlier requests of the same batch created; empty outside of batches.
    pub(crate) content_ids: &'a ContentIds,
    /// Who asks, and when.
    pub(crate) caller: &'a Caller,
    /// Entities of a collection that are answered at once.
    pub(crate) page_size: u64,
}

/// What an operation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Performed {
    /// It read: nothing has changed.
    Read,
    /// It wrote. [`Answer::address`] says where the entity stands, if there still is one.
    Wrote,
}

/// An operation with everything that the request said, checked as far as that can be without a database. It owns what it
/// needs, so that it can go to another thread.
pub(crate) struct Prepared {
    action: Action,
    version: Version,
    caller: Caller,
    conditions: Conditions,
    returning: Returning,
    format: Format,
    choice: Choice,
}

enum Action {
    Create { plan: Box<Plan>, entry: Entry },
    Change { plan: Box<Plan>, entry: Entry, how: How, absent: Absent },
    Delete { plan: Box<Plan> },
}

/// What chose the format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// `$format`.
    Option,
    /// `Accept`, which the answer then says.
    Accept,
}

/// Does one operation inside a transaction that the caller began. `answer` is begun anew.
///
/// # Errors
/// What is to be told to the client; the caller undoes whatever was done.
pub(crate) fn perform(
    service: &Hosted,
    connection: &mut Connection,
    request: &Request<'_>,
    answer: &mut Answer,
) -> Result<Performed, Fault> {
    let meant = Meant::of(service, request)?;
    match meant.method {
        Method::Get | Method::Head => read::perform(service, connection, request, meant, answer),
        _ => prepare_meant(service, request, meant)?.perform(service, connection, request.root, answer),
    }
}

/// Reads and checks a request that writes.
///
/// # Errors
/// Whatever can be found wrong without a database.
pub(crate) fn prepare(service: &Hosted, request: &Request<'_>) -> Result<Prepared, Fault> {
    prepare_meant(service, request, Meant::of(service, request)?)
}

/// What a request's head means.
struct Meant<'a> {
    method: Method,
    /// The path with a Content-ID at its beginning resolved.
    path: Cow<'a, str>,
    resource: Resource,
}

impl<'a> Meant<'a> {
    fn of(service: &Hosted, request: &Request<'a>) -> Result<Meant<'a>, Fault> {
        let Request { version, headers, .. } = *request;
        versions::check(version, |name| headers.value(name, 0))?;
        let method = meant_method(version, request.method, headers)?;
        let path = request.content_ids.resolve(request.path);
        let (resource, _) = url::parse(&service.model, version, &path, request.query).map_err(Fault::from)?;
        Ok(Meant { method, path, resource })
    }
}

fn prepare_meant(service: &Hosted, request: &Request<'_>, meant: Meant<'_>) -> Result<Prepared, Fault> {
    let Request { version, headers, .. } = *request;
    let Meant { method, resource, .. } = meant;
    let model = &*service.model;
    let refused =
        |resource: &Resource| Fault::method_not_allowed(method_text(method), allowed(model, version, resource));
    let Resource::Read(mut plan) = resource else {
        return Err(match resource {
            Resource::Function(index) => {
                Fault::not_implemented(&format!("function {}", model.function_imports[index].name))
            }
            _ => refused(&resource),
        });
    };
    let changes = model.entity_sets[plan.set().0].changes;
    let returning = Returning::of(version, headers);
    let is_patch = method == Method::Patch || method == Method::Merge && version == Version::V2;
    let kind = match (plan.shape, method) {
        (Shape::Collection, Method::Post) if changes.insert => Kind::Create,
        (Shape::Entity, Method::Put) if changes.update => Kind::Change(How::Replace),
        (Shape::Entity, _) if is_patch && changes.update => Kind::Change(How::Merge),
        (Shape::Entity, Method::Delete) if changes.delete => Kind::Delete,
        _ => return Err(refused(&Resource::Read(plan))),
    };
    check_options(&plan.options)?;
    let option = plan.options.format.take();
    let choice = if option.is_some() { Choice::Option } else { Choice::Accept };
    let format = match (kind, returning) {
        (Kind::Create, _) | (Kind::Change(_), Returning::Representation) => {
            negotiation::document(version, option.as_deref(), values(headers, "accept"))?
        }
        // Nothing but fields, or an upsert, which is answered in what is liked best as far as that can be said.
        _ => negotiation::document(version, option.as_deref(), values(headers, "accept"))
            .unwrap_or_else(|_| negotiation::default(version)),
    };
    let entry = || read_entity(service, request, plan.set());
    let action = match kind {
        Kind::Create => Action::Create { entry: entry()?, plan },
        Kind::Change(how) => {
            let entry = entry()?;
            if !entry.children.is_empty() {
                return Err(deep_update(version, headers));
            }
            Action::Change { plan, entry, how, absent: Absent::Create }
        }
        Kind::Delete => Action::Delete { plan },
    };
    let conditions = Conditions::of(headers);
    Ok(Prepared { action, version, caller: request.caller.clone(), conditions, returning, format, choice })
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Create,
    Change(How),
    Delete,
}

impl Prepared {
    /// Does the operation inside a transaction that the caller began. `answer` is begun anew; `root` is the absolute URL of
    /// the service.
    ///
    /// # Errors
    /// What is to be told to the client; the caller undoes whatever was done.
    pub(crate) fn perform(
        self,
        service: &Hosted,
        connection: &mut Connection,
        root: &str,
        answer: &mut Answer,
    ) -> Result<Performed, Fault> {
        let Prepared { action, version, caller, conditions, returning, format, choice } = self;
        answer.clear();
        let (name, said) = versions::answered(version);
        answer.header(name, said);
        let updated = if format == Format::V2Atom { caller.stamp().atom() } else { String::new() };
        let manner = Manner { format, root, updated: &updated };
        let mut work = Work {
            creation: Creation { service, connection, caller: &caller },
            version,
            returning,
            manner,
            choice,
            answer,
        };
        match action {
            Action::Create { plan, mut entry } => {
                work.create(*plan, &mut entry)?;
                spare::give_back(entry);
            }
            Action::Change { plan, mut entry, how, absent } => {
                work.change(*plan, &mut entry, (how, absent), &conditions)?;
                spare::give_back(entry);
            }
            Action::Delete { plan } => {
                work.creation.delete(version, *plan, &conditions)?;
                answer.status = 204;
            }
        }
        Ok(Performed::Wrote)
    }
}

/// An operation that is being done.
struct Work<'a> {
    creation: Creation<'a>,
    version: Version,
    returning: Returning,
    manner: Manner<'a>,
    choice: Choice,
    answer: &'a mut Answer,
}

impl Work<'_> {
    fn create(&mut self, mut plan: Plan, entry: &mut Entry) -> Result<(), Fault> {
        let set = plan.set();
        let mut options = std::mem::take(&mut plan.options);
        self.creation.relate_to_parent(plan, entry)?;
        self.insert(set, entry, &mut options)
    }

    /// Creates the entity and answers it.
    fn insert(&mut self, set: SetId, entry: &mut Entry, options: &mut Options) -> Result<(), Fault> {
        let wanted = if self.returning == Returning::Minimal { Wanted::Fields } else { Wanted::Body };
        let service = self.creation.service;
        let plain = *options == Options::default();
        if plain && create::is_alone(entry) {
            let stencil = service.stencils.of(&service.model, set, Shape::Entity, self.manner.format, options);
            let base = Base::new(self.manner.root, self.manner.updated);
            let mut represent = Represent::new(&stencil, base, wanted, self.answer);
            self.creation.alone(set, entry, &mut represent)?;
        } else {
            // What was created together is answered together, as far as one level of expansion goes.
            let entity_type = service.model.type_of(set);
            if options.expand.is_empty() {
                let created_with = entry.children.iter().map(|(navigation, _)| Expand {
                    navigation: *navigation,
                    target: entity_type.navigation[navigation.0].target,
                    select: Select::All,
                });
                options.expand = created_with.collect();
            }
            let key = self.creation.with_related(set, entry)?.key(entity_type);
            self.show(set, key, std::mem::take(options), wanted)?;
        }
        self.answer.status = if wanted == Wanted::Body { 201 } else { 204 };
        self.answer.say_location(
            self.manner.root,
            match self.version {
                Version::V2 => EntityId::Unsaid,
                Version::V4 => EntityId::Said,
            },
        );
        self.say_what_chose(wanted);
        Ok(())
    }

    fn change(
        &mut self,
        mut plan: Plan,
        entry: &mut Entry,
        how: (How, Absent),
        conditions: &Conditions,
    ) -> Result<(), Fault> {
        let mut options = std::mem::take(&mut plan.options);
        let service = self.creation.service;
        match self.creation.change(self.version, plan, entry, how, conditions)? {
            Changed::Missing(set) => self.insert(set, entry, &mut options),
            Changed::Updated(set, key) => {
                let wanted = match self.returning {
                    Returning::Representation => Wanted::Body,
                    Returning::Minimal | Returning::Unsaid => Wanted::Fields,
                };
                if wanted == Wanted::Body || service.model.type_of(set).etag.is_some() {
                    self.show(set, key, options, wanted)?;
                } else {
                    url::write_address(&mut self.answer.address, self.version, &service.model, set, &key);
                }
                self.answer.status = if wanted == Wanted::Body { 200 } else { 204 };
                self.say_what_chose(wanted);
                Ok(())
            }
        }
    }

    fn show(&mut self, set: SetId, key: Key, options: Options, wanted: Wanted) -> Result<(), Fault> {
        let Creation { service, connection, .. } = &mut self.creation;
        represent::as_stored(service, connection, (set, key), options, self.manner, wanted, self.answer)
    }

    fn say_what_chose(&mut self, wanted: Wanted) {
        if let Some(applied) = self.returning.applied() {
            self.answer.header("preference-applied", applied);
        }
        if wanted == Wanted::Body && self.choice == Choice::Accept {
            self.answer.header("vary", "Accept");
        }
    }
}

/// Reads the body as an entity of `set`, with the Content-IDs in its links resolved.
fn read_entity(service: &Hosted, request: &Request<'_>, set: SetId) -> Result<Entry, Fault> {
    let format = headers::body_format(request.version, request.headers)?;
    let mut entry = spare::entry();
    service.bodies.read(request.body, format, set, request.root, &mut entry).map_err(Fault::from)?;
    resolve_links(service, request, set, &mut entry)?;
    Ok(entry)
}

/// Puts keys into the place of Content-IDs, in the entity and in those that are created with it.
fn resolve_links(service: &Hosted, request: &Request<'_>, set: SetId, entry: &mut Entry) -> Result<(), Fault> {
    let model = &*service.model;
    for (navigation, link) in &mut entry.links {
        let Link::ContentId(id) = link else { continue };
        let declared = &model.type_of(set).navigation[navigation.0];
        let unknown = || {
            let message = format!("`${id}` is no earlier request of this change set that left such an entity");
            Fault::bad_request(&declared.name, message)
        };
        let address = request.content_ids.address(id).ok_or_else(unknown)?;
        let Ok((Resource::Read(plan), _)) = url::parse(model, request.version, address, None) else {
            return Err(unknown());
        };
        match *plan {
            Plan { root, key: Some(key), steps, .. } if root == declared.target && steps.is_empty() => {
                *link = Link::Key(key);
            }
            _ => return Err(unknown()),
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

/// Options that look for entities say nothing about writing one.
fn check_options(options: &Options) -> Result<(), Fault> {
    let Options { filter, order_by, top, skip, skip_token, select: _, expand: _, count, format: _ } = options;
    let looking = [
        ("$filter", filter.is_some()),
        ("$orderby", !order_by.is_empty()),
        ("$top", top.is_some()),
        ("$skip", skip.is_some()),
        ("$skiptoken", skip_token.is_some()),
        ("$count", *count == Counting::Total),
    ];
    match looking.into_iter().find(|option| option.1) {
        None => Ok(()),
        Some((name, _)) => Err(Fault::bad_request(name, format!("{name} does not apply to a request that writes"))),
    }
}

/// Entities within an entity that is changed: 4.01 has that, 4.0 and V2 forbid it.
fn deep_update(version: Version, headers: &dyn Headers) -> Fault {
    let newer = version == Version::V4 && headers.value("odata-version", 0).is_some_and(|said| said.trim() == "4.01");
    match newer {
        true => Fault::not_implemented("changing related entities within an entity"),
        false => {
            Fault::bad_request("body", "expected no entities within the entity: related ones are changed by themselves")
        }
    }
}

fn method_text(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Head => "HEAD",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
        Method::Merge => "MERGE",
        Method::Options => "OPTIONS",
        Method::Trace => "TRACE",
        Method::Other => "this method",
    }
}
