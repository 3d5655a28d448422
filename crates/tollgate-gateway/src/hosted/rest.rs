//! Plain REST names of one service: its lists, their description, and the seed's own paths.
//!
//! It answers nothing.

use std::sync::Arc;

use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::url::{decode_segment, escape};

use crate::auth::{Grants, Policy};

/// Name of the description below its root.
pub(crate) const DESCRIPTION: &str = "openapi.json";

/// Below the root of plain REST.
const MASS_CHANGE: &str = "mass-change";

/// Plain REST names of one service.
#[derive(Debug, Clone)]
pub(crate) struct Rest {
    pub(crate) root: Box<str>,
    pub(crate) resources: Vec<Resource>,
    /// The set changed by the seed's own paths.
    pub(crate) mass_changed: Option<SetId>,
    /// Grants there.
    grants: Option<Arc<Grants>>,
}

impl Rest {
    /// Names the sets of a service below `root`, in the order of its model: list and single entity.
    pub(crate) fn new<'n>(root: &str, names: impl IntoIterator<Item = (&'n str, &'n str)>) -> Rest {
        let resource = |(index, (list, item)): (usize, (&str, &str))| Resource::new(list, item, SetId(index));
        Rest {
            root: root.into(),
            resources: names.into_iter().enumerate().map(resource).collect(),
            mass_changed: None,
            grants: None,
        }
    }

    /// Allows mass changes of this set by the seed's own paths.
    pub(crate) fn with_mass_change(mut self, set: SetId) -> Rest {
        self.mass_changed = Some(set);
        self
    }

    /// Mass change at `below`, one of the seed's own paths, with the set it changes.
    pub(crate) fn mass_change_of(&self, below: &str) -> Option<(SetId, MassChange)> {
        Some((self.mass_changed?, MassChange::of(below)?))
    }

    /// Whether `path` is a list of this service, or below one.
    pub(crate) fn has(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&*self.root) else { return false };
        let name = below.split('/').next().unwrap_or_default();
        self.resources.iter().any(|resource| resource.is(name)) || self.mass_change_of(below).is_some()
    }

    /// Whether `path` is that of the description.
    pub(crate) fn describes(&self, path: &str) -> bool {
        path.strip_prefix(&*self.root) == Some(DESCRIPTION)
    }

    /// The path of that document.
    pub(crate) fn description(&self) -> String {
        format!("{}{}", self.root, DESCRIPTION)
    }

    /// Root of its lists.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Grants there.
    pub(crate) fn grants(&self) -> Option<&Arc<Grants>> {
        self.grants.as_ref()
    }

    /// Applies the access rules of `policy`; `model` is that of the service.
    pub(crate) fn govern(&mut self, policy: &Policy, model: &Model) {
        self.grants = policy.grants(&self.root, self.places(model));
    }

    /// The entity sets, each with the path of its list.
    pub(crate) fn places<'m>(&self, model: &'m Model) -> impl Iterator<Item = (&'m str, String)> {
        let list = |resource: &Resource| format!("{}{}", self.root, resource.segment);
        self.resources.iter().map(move |resource| (&*model.entity_sets[resource.set.0].name, list(resource)))
    }

    /// The paths of this service, with everything below them.
    pub(crate) fn taken(&self) -> impl Iterator<Item = String> {
        let mass_change = self.mass_changed.map(|_| format!("{}{}", self.root, MASS_CHANGE));
        self.lists().chain(mass_change).chain([self.description()])
    }

    /// The paths of the lists.
    pub(crate) fn lists(&self) -> impl Iterator<Item = String> {
        self.resources.iter().map(|resource| format!("{}{}", self.root, resource.segment))
    }
}

/// A REST name for an entity set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    /// The list's name: `flights`.
    pub(crate) list: Box<str>,
    /// The same, encoded for URLs.
    pub(crate) segment: Box<str>,
    /// The name of a single entity: `flight`.
    pub(crate) item: Box<str>,
    /// The set.
    pub(crate) set: SetId,
}

impl Resource {
    /// The REST names of `set`.
    pub(crate) fn new(list: &str, item: &str, set: SetId) -> Resource {
        let mut segment = Vec::new();
        write_segment(&mut segment, list.as_bytes());
        let segment = String::from_utf8_lossy(&segment).into();
        Resource { list: list.into(), segment, item: item.into(), set }
    }

    /// Whether a segment of a path is the list's name, in any encoding.
    pub(crate) fn is(&self, segment: &str) -> bool {
        *self.segment == *segment
            || segment.contains('%') && decode_segment(segment).is_some_and(|name| *self.list == *name)
    }
}

/// Kind of mass change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MassChange {
    Insert,
    Delete,
}

impl MassChange {
    /// Mass change of a path below `/rest/`.
    pub(crate) fn of(below: &str) -> Option<MassChange> {
        match below {
            "mass-change/insertAll" => Some(MassChange::Insert),
            "mass-change/deleteAllRecs" => Some(MassChange::Delete),
            _ => None,
        }
    }
}

/// Writes bytes to a path segment, percent-encoded where needed.
pub(crate) fn write_segment(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        // The unreserved characters of RFC 3986, and what stands in times.
        match byte {
            b'-' | b'.' | b'_' | b'~' | b':' => out.push(*byte),
            byte if byte.is_ascii_alphanumeric() => out.push(*byte),
            byte => out.extend_from_slice(&escape(*byte)),
        }
    }
}
