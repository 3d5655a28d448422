//! Relations by themselves (V2 `$links`, V4 `$ref`): setting or clearing a foreign key, at either end.
//!
//! Reading references is elsewhere: they are read like entities, in documents of their own.

use tollgate_net::http1::Method;
use tollgate_wire::edm::{LeafId, NavigationProperty, SubtypeId, Version};
use tollgate_wire::entry::{Entry, Link};
use tollgate_wire::plan::{Key, Plan, Resource, Shape};
use tollgate_wire::url;

use super::change::{Absent, How};
use super::create::Creation;
use super::head::methods::declared;
use super::relation::{self, Holder};
use super::request::Request;
use super::{head, provide, target};
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::headers::Conditions;
use crate::store::Store;

/// Change of a relation.
#[derive(Debug)]
pub(super) enum Change {
    /// It leads to this entity, or to this one too.
    Lead(Key),
    /// It no longer leads to the entity.
    Leave,
}

/// Reads the change of the relation that `plan` ends in. If the URL names one of many (`$id`), its key is put into the
/// plan.
///
/// # Errors
/// An error in the body or the URL.
pub(super) fn read(service: &Hosted, request: &Request<'_>, plan: &mut Plan, method: Method) -> Result<Change, Fault> {
    let id = plan.options.id.take();
    let Some((_, declared)) = declared(&service.model, plan) else {
        return Err(Fault::internal("a path to references ends in no navigation"));
    };
    if method != Method::Delete {
        let format = head::body_format(request.version, request.headers)?;
        let link = service.bodies.read_reference(request.body, format, declared.target, request.root)?;
        return Ok(Change::Lead(resolve_link(service, request, declared, link)?));
    }
    if let Some(url) = id {
        let link = service.bodies.resolve(&url, request.version, declared.target, request.root);
        let link = link.map_err(|message| Fault::bad_request("$id", message))?;
        let key = resolve_link(service, request, declared, link)?;
        if let Some(step) = plan.steps.last_mut() {
            step.key = Some(key);
        }
        plan.shape = Shape::Entity;
    }
    if plan.shape == Shape::Collection {
        return Err(Fault::bad_request("$id", format!("expected which of {} is meant, in $id", declared.name)));
    }
    Ok(Change::Leave)
}

/// The key of the entity that a link over this navigation property names.
pub(super) fn resolve_link(
    service: &Hosted,
    request: &Request<'_>,
    declared: &NavigationProperty,
    link: Link,
) -> Result<Key, Fault> {
    let id = match link {
        Link::Key(key) => return Ok(key),
        Link::ContentId(id) => id,
    };
    let address = request.content_ids.address(&id);
    let resource = address.and_then(|address| url::parse(&service.model, request.version, address, None).ok());
    if let Some((Resource::Read(plan), _)) = resource
        && let Plan { root, key: Some(key), steps, .. } = *plan
        && root == declared.target
        && steps.is_empty()
    {
        return Ok(key);
    }
    let message = format!("`${id}` is no earlier request of this change set that left such an entity");
    Err(Fault::bad_request(&declared.name, message))
}

impl Creation<'_> {
    /// Changes the relation that `plan` ends in.
    ///
    /// # Errors
    /// 404 if the path leads nowhere, 400 if the foreign key is invalid, and errors of the store.
    pub(super) fn relate(
        &mut self,
        version: Version,
        mut plan: Plan,
        change: Change,
        conditions: &Conditions,
    ) -> Result<(), Fault> {
        let model = &*self.service.model;
        let whole = plan.clone();
        let Some(step) = plan.steps.pop() else {
            return Err(Fault::internal("a path to references ends in no navigation"));
        };
        plan.shape = Shape::Entity;
        // A cast behind the last step was of what that leads to.
        plan.options.subtype = SubtypeId::ROOT;
        let set = plan.set();
        let entity_type = model.type_of(set);
        let declared = &entity_type.navigation[step.navigation.0];
        let holder = relation::holder(model, set, step.navigation)?;
        let held_in = if holder == Holder::Here { set } else { declared.target };
        relation::check_changeable(model, held_in, declared, self.author.access())?;
        if holder == Holder::Here {
            let mut entry = Entry::new(entity_type.leaves.len());
            match change {
                Change::Lead(key) => {
                    let links = vec![(step.navigation, Link::Key(key))];
                    self.refer_to_links(set, &mut entry, links)?;
                }
                Change::Leave => declared.on.iter().for_each(|(here, _)| entry.set_null(*here)),
            }
            self.change(version, plan, &mut entry, (How::Merge, Absent::Fail), conditions)?;
            return Ok(());
        }
        let here: Vec<LeafId> = declared.on.iter().map(|pair| pair.0).collect();
        let values = target::fetch(self.service, self.connection, plan, &here)?
            .ok_or_else(|| Fault::not_found("there is no entity with this key"))?;
        let mut stored = Entry::new(entity_type.leaves.len());
        for (leaf, value) in here.iter().zip(&values) {
            stored.set(*leaf, value.cell());
        }
        // Whoever is related now, over a path that leads to one entity.
        let related = match whole.shape {
            Shape::Entity => {
                let key = model.type_of(declared.target).key.clone();
                target::fetch(self.service, self.connection, whole, &key)?.map(Key)
            }
            _ => None,
        };
        match change {
            Change::Lead(key) => {
                if let Some(related) = related.filter(|related| *related != key) {
                    self.clear(declared, &related)?;
                }
                self.point_here(set, &stored, vec![(step.navigation, key)])
            }
            Change::Leave => match related {
                Some(related) => self.clear(declared, &related),
                None => Err(Fault::not_found("there is no such relation")),
            },
        }
    }

    /// Clears the foreign key of the entity with this key, at the far end of a navigation property.
    fn clear(&mut self, declared: &NavigationProperty, key: &Key) -> Result<(), Fault> {
        let model = &*self.service.model;
        let entity_type = model.type_of(declared.target);
        let mut changes = Entry::new(entity_type.leaves.len());
        for (_, there) in &declared.on {
            changes.set_null(*there);
        }
        if entity_type.key.iter().any(|part| changes.is_set(*part)) {
            let what = format!("{} holds the relation in its key, which cannot change", entity_type.name);
            return Err(Fault::bad_request(&declared.name, what));
        }
        provide::check_nulls(entity_type, &changes)?;
        provide::for_change(entity_type, &mut changes, self.author);
        self.connection.update(model, declared.target, key, &changes)?;
        Ok(())
    }
}
