//! Entity of a path: finding it, and checking its existence and its ETag.
//!
//! It changes nothing. Its results are valid until the transaction ends.

use tollgate_wire::edm::Version;
use tollgate_wire::edm::{EntityType, LeafId, SetId};
use tollgate_wire::format::{Format, Ieee754, Metadata, Release};
use tollgate_wire::plan::{Key, Options, Plan, Select, Shape};
use tollgate_wire::stencil::Stencil;
use tollgate_wire::value::{Row, Value};

use crate::config::rules::IfMatch;
use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::conditions;
use crate::http::headers::Conditions;
use crate::store::{Connection, Flow, RowSink, Store};

/// Whether there is an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Present,
    Missing,
}

/// The set and the key of the entity that `plan` leads to; `None` if it leads nowhere. A key in the URL is taken as it
/// is: the entity's existence is checked only if its type is.
pub(super) fn locate(
    service: &Hosted,
    connection: &mut Connection,
    mut plan: Plan,
) -> Result<Option<(SetId, Key)>, Fault> {
    let set = plan.set();
    if plan.steps.is_empty()
        && plan.options.casts.is_empty()
        && let Some(key) = plan.key.take()
    {
        return Ok(Some((set, key)));
    }
    let wanted = service.model.type_of(set).key.clone();
    Ok(fetch(service, connection, plan, &wanted)?.map(|values| (set, Key(values))))
}

/// The values of some leaves of the entity that `plan` leads to, locked from now on; `None` if there is none.
pub(super) fn fetch(
    service: &Hosted,
    connection: &mut Connection,
    mut plan: Plan,
    leaves: &[LeafId],
) -> Result<Option<Vec<Value>>, Fault> {
    let model = &*service.model;
    let set = plan.set();
    let entity_type = model.type_of(set);
    let casts = std::mem::take(&mut plan.options.casts);
    if plan.steps.is_empty()
        && casts.is_empty()
        && let Some(key) = &plan.key
        && let Some(values) = of_key(entity_type, key, leaves)
    {
        return Ok(connection.lock(model, set, key)?.then_some(values));
    }
    // The key comes too, to hold what was found.
    let mut asked: Vec<LeafId> = leaves.to_vec();
    asked.extend(&entity_type.key);
    let mut shown = asked.clone();
    shown.sort_unstable();
    shown.dedup();
    plan.shape = Shape::Entity;
    let select = Select::Only { leaves: shown.clone(), navigation: Vec::new() };
    plan.options = Options { select, casts, ..Options::default() };
    let columns = asked.iter().map(|leaf| shown.partition_point(|candidate| candidate < leaf));
    let columns: Vec<_> =
        columns.zip(&asked).map(|(column, leaf)| (column, entity_type.leaves[leaf.0].primitive)).collect();
    let mut sink = ValueSink { columns, values: None };
    connection.read(model, &plan, None, &mut sink)?;
    let Some(mut values) = sink.values else { return Ok(None) };
    let key = Key(values.split_off(leaves.len()));
    Ok(connection.lock(model, set, &key)?.then_some(values))
}

/// The values of leaves, if all belong to the key.
fn of_key(entity_type: &EntityType, key: &Key, leaves: &[LeafId]) -> Option<Vec<Value>> {
    let value = |leaf: &LeafId| {
        let part = entity_type.key.iter().position(|part| part == leaf)?;
        key.0.get(part).cloned()
    };
    leaves.iter().map(value).collect()
}

/// Takes the values of one entity.
struct ValueSink {
    columns: Vec<(usize, tollgate_wire::edm::Primitive)>,
    values: Option<Vec<Value>>,
}

impl RowSink for ValueSink {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        let values = self.columns.iter().map(|(column, primitive)| Value::of(row.cell(*column), *primitive));
        self.values = Some(values.collect());
        Flow::Stop
    }
}

/// Locks the entity with this key and checks the conditions of the request against its state.
///
/// # Errors
/// 412 if the entity is in another state, or exists although it must not, or is missing although it must exist; 428 if
/// the service requires `If-Match` and the request has none.
pub(super) fn hold(
    service: &Hosted,
    connection: &mut Connection,
    version: Version,
    (set, key): (SetId, &Key),
    conditions: &Conditions,
) -> Result<Presence, Fault> {
    let model = &*service.model;
    if !connection.lock(model, set, key)? {
        return Ok(Presence::Missing);
    }
    let has_etag = model.type_of(set).etag.is_some();
    if has_etag && conditions.if_match.is_empty() && service.rules.if_match == IfMatch::Required {
        // `If-None-Match: *` fails in any case; everything else would change a state that the client may not know.
        if conditions.if_none_match.is_empty() {
            return Err(Fault::precondition_required());
        }
    }
    let etag = match has_etag && !conditions.is_empty() {
        true => Some(etag_of(service, connection, version, set, key)?),
        false => None,
    };
    conditions::judge_change(&conditions.if_match, &conditions.if_none_match, etag.as_deref())?;
    Ok(Presence::Present)
}

/// The ETag of a locked entity.
fn etag_of(
    service: &Hosted,
    connection: &mut Connection,
    version: Version,
    set: SetId,
    key: &Key,
) -> Result<String, Fault> {
    struct EtagSink<'s> {
        stencil: &'s Stencil,
        etag: Vec<u8>,
    }
    impl RowSink for EtagSink<'_> {
        fn entity<R: Row>(&mut self, row: &R) -> Flow {
            self.stencil.write_etag(&mut self.etag, row);
            Flow::Stop
        }
    }
    let model = &*service.model;
    let options = Options::default();
    let format = match version {
        Version::V2 => Format::V2Json,
        Version::V4 => Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 },
    };
    let stencil = service.stencils.of(model, set, Shape::Entity, format, &options);
    let plan = Plan { root: set, key: Some(key.clone()), steps: Vec::new(), shape: Shape::Entity, options };
    let mut sink = EtagSink { stencil: &stencil, etag: Vec::new() };
    connection.read(model, &plan, None, &mut sink)?;
    // Made of a URL's literal, so it is ASCII.
    Ok(String::from_utf8_lossy(&sink.etag).into_owned())
}
