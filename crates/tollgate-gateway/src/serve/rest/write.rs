//! Requests of plain REST that write: from the head and the body to the change, and from its result to the answer.
//!
//! The change itself is in [`super::change`], and arrays are in [`super::insertion`].

use std::sync::Arc;

use tollgate_net::http1::RequestHead;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::SetId;
use tollgate_wire::entry::Entry;
use tollgate_wire::format::{DocumentKind, Format};
use tollgate_wire::plan::Plan;

use super::answer_format;
use super::change::{self, Change, Extent, Shown, in_transaction};
use super::insertion::{Framing, Insertion};
use super::intake::Ahead;
use crate::error::{Failure, Fault};
use crate::hosted::rest::Resource;
use crate::hosted::{Hosted, Published};
use crate::http::accept::MediaRange;
use crate::http::headers::Conditions;
use crate::http::rest_format::OFFERS;
use crate::operation::head::check_coding;
use crate::operation::{Author, How, is_alone, spare};
use crate::visit::Visit;
use crate::visit::room::AheadShare;

/// Creates the entity in the body, or an array of them.
pub(super) async fn create(
    visit: &Visit<'_>,
    Published { hosted: service, rest, .. }: &Published,
    resource: &Resource,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let set = resource.set;
    let sent = body_format(exchange.request())?;
    let ahead = read_ahead(visit, service, exchange).await?;
    if sent == Format::RestJson && ahead.first_byte() != Some(b'{') {
        return insert(visit, service, set, Framing::Bare, exchange, ahead).await;
    }
    let (mut entry, share) = entity(service, set, sent, ahead)?;
    let change = changing(visit, service, exchange.request())?;
    let format = change.format;
    let extent = if is_alone(&entry) { Extent::SingleChange } else { Extent::Any };
    let task = visit.task(exchange.request());
    let created = in_transaction(service, &task, extent, move |service, connection| {
        let created = change.create(service, connection, set, &mut entry);
        spare::give_back(entry);
        drop(share);
        created
    });
    let shown = created.await?;
    let mut location = visit.memory.service_root(exchange, &rest.root);
    location.push_str(&resource.segment);
    let mut location = location.into_bytes();
    location.extend_from_slice(&shown.key);
    let response = exchange.respond();
    response.status = 201;
    response.header("location", &location);
    answer(exchange, format, shown);
    Ok(())
}

/// Changes one entity.
pub(super) async fn change(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    plan: Plan,
    how: How,
) -> Result<(), Failure> {
    let sent = body_format(exchange.request())?;
    let ahead = read_ahead(visit, service, exchange).await?;
    let (mut entry, share) = entity(service, plan.set(), sent, ahead)?;
    if !entry.children.is_empty() {
        let message = "expected no entities within the entity: related ones are changed by themselves";
        return Err(Fault::bad_request("body", message).into());
    }
    let change = changing(visit, service, exchange.request())?;
    let format = change.format;
    let task = visit.task(exchange.request());
    let changed = in_transaction(service, &task, Extent::Any, move |service, connection| {
        let changed = change.change(service, connection, plan, &mut entry, how);
        spare::give_back(entry);
        drop(share);
        changed
    });
    let shown = changed.await?;
    answer(exchange, format, shown);
    Ok(())
}

/// Deletes one entity.
pub(super) async fn delete(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    exchange: &mut Exchange<'_>,
    plan: Plan,
) -> Result<(), Failure> {
    let change = changing(visit, service, exchange.request())?;
    let task = visit.task(exchange.request());
    in_transaction(service, &task, Extent::Any, move |service, connection| change.delete(service, connection, plan))
        .await?;
    exchange.respond().status = 204;
    Ok(())
}

/// Deletes all entities of a set, and answers their number.
pub(super) async fn delete_all(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    set: SetId,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let delete = move |service: &Hosted, connection: &mut _| change::delete_all(service, connection, set);
    let deleted = in_transaction(service, &visit.task(exchange.request()), Extent::SingleChange, delete).await?;
    service.rows.emptied(set);
    answer_count(exchange, 200, "deleted", deleted);
    Ok(())
}

/// Inserts an array of entities of any size.
pub(super) async fn insert_array(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    set: SetId,
    framing: Framing,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    if body_format(exchange.request())? != Format::RestJson {
        return Err(Fault::unsupported_media_type("expected an array as application/json").into());
    }
    let ahead = read_ahead(visit, service, exchange).await?;
    insert(visit, service, set, framing, exchange, ahead).await
}

async fn insert(
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    set: SetId,
    framing: Framing,
    exchange: &mut Exchange<'_>,
    ahead: Ahead,
) -> Result<(), Failure> {
    let author = Author::of(visit, service, exchange.request());
    let insertion = Insertion { service: Arc::clone(service), set, framing, author };
    let inserted = insertion.run(visit, exchange, ahead).await?;
    answer_count(exchange, 201, "inserted", inserted);
    Ok(())
}

async fn read_ahead(visit: &Visit<'_>, service: &Hosted, exchange: &mut Exchange<'_>) -> Result<Ahead, Failure> {
    let common = &visit.common;
    Ahead::read(exchange, service.rules.array_bytes_max, &common.buffers, &common.ahead).await
}

/// The one entity in a body, with its share of the memory for bodies: it may have to wait for a work process.
fn entity(service: &Hosted, set: SetId, format: Format, ahead: Ahead) -> Result<(Entry, AheadShare), Fault> {
    let (body, share) = ahead.into_whole(service.rules.body_bytes_max)?;
    let mut entry = spare::entry();
    service.bodies.read(&body, format, set, "", &mut entry)?;
    Ok((entry, share))
}

fn changing(visit: &Visit<'_>, service: &Hosted, request: &RequestHead) -> Result<Change, Fault> {
    Ok(Change {
        author: Author::of(visit, service, request),
        conditions: Conditions::of(request),
        format: answer_format(request)?,
    })
}

/// Format of the body.
///
/// # Errors
/// 415 for an unsupported one.
fn body_format(request: &RequestHead) -> Result<Format, Fault> {
    check_coding(request)?;
    let Some(said) = request.header("content-type") else { return Ok(Format::RestJson) };
    let range = MediaRange::parse(said);
    let offered = range.and_then(|range| OFFERS.iter().find(|(media_type, _)| range.is(media_type)));
    match offered {
        Some((_, format)) => Ok(*format),
        None => {
            let message = format!("expected a body of application/json or application/xml, found `{said}`");
            Err(Fault::unsupported_media_type(message))
        }
    }
}

fn answer(exchange: &mut Exchange<'_>, format: Format, shown: Shown) {
    let response = exchange.respond();
    response.header("vary", "Accept");
    response.header("content-type", format.content_type(DocumentKind::Entry));
    if !shown.etag.is_empty() {
        response.header("etag", &shown.etag);
    }
    response.body.extend_from_slice(&shown.body);
}

fn answer_count(exchange: &mut Exchange<'_>, status: u16, what: &str, count: u64) {
    let response = exchange.respond();
    response.status = status;
    response.header("content-type", Format::RestJson.content_type(DocumentKind::Entry));
    response.body.extend_from_slice(format!("{{\"{what}\":{count}}}").as_bytes());
}
