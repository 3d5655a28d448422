//! The paths of the seed's reference server that change a set as a whole: `POST /rest/mass-change/insertAll` with
//! `{"insEntity": …, "insArray": […]}`, and `POST /rest/mass-change/deleteAllRecs`.

use std::sync::Arc;

use tollgate_net::http1::Method;
use tollgate_net::http1::server::Exchange;
use tollgate_wire::edm::SetId;

use super::insertion::Framing;
use super::write;
use crate::auth::Verb;
use crate::error::{Failure, Fault};
use crate::hosted::Hosted;
use crate::hosted::rest::MassChange;
use crate::visit::Visit;

const METHODS: &str = "OPTIONS, POST";

/// Answers a request for a mass change.
///
/// # Errors
/// An error in the request, and errors of the store.
pub(super) async fn answer(
    what: MassChange,
    visit: &Visit<'_>,
    service: &Arc<Hosted>,
    set: SetId,
    exchange: &mut Exchange<'_>,
) -> Result<(), Failure> {
    let verb = match (exchange.request().method(), what) {
        (Method::Post, MassChange::Insert) => Verb::Post,
        (Method::Post, MassChange::Delete) => Verb::Delete,
        _ => Verb::Get,
    };
    visit.access.check(set, verb)?;
    let changes = service.model.entity_sets[set.0].changes;
    if (verb == Verb::Post && !changes.insert) || (verb == Verb::Delete && !changes.delete) {
        return Err(Fault::method_not_allowed(exchange.request().method_text(), "OPTIONS").into());
    }
    let (request, response) = exchange.split();
    match (request.method(), what) {
        (Method::Options, _) => {
            response.status = 204;
            response.header("allow", METHODS);
            Ok(())
        }
        (Method::Post, MassChange::Insert) => write::insert_array(visit, service, set, Framing::Named, exchange).await,
        // The reference server's action has no parameters; what a client sends for none is not looked at.
        (Method::Post, MassChange::Delete) => write::delete_all(visit, service, set, exchange).await,
        _ => Err(Fault::method_not_allowed(request.method_text(), METHODS).into()),
    }
}
