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
use crate::visit::Visit;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MassChange {
    Insert,
    Delete,
}

const METHODS: &str = "OPTIONS, POST";

/// Below the root of plain REST.
pub(super) const ROOT: &str = "mass-change";

impl MassChange {
    /// What a path below `/rest/` means.
    pub(super) fn of(below: &str) -> Option<MassChange> {
        match below {
            "mass-change/insertAll" => Some(MassChange::Insert),
            "mass-change/deleteAllRecs" => Some(MassChange::Delete),
            _ => None,
        }
    }

    /// Answers a request for it.
    ///
    /// # Errors
    /// What is wrong with it, and whatever the store says.
    pub(super) async fn answer(
        self,
        visit: &Visit<'_>,
        service: &Arc<Hosted>,
        set: SetId,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Failure> {
        let verb = match (exchange.request().method(), self) {
            (Method::Post, MassChange::Insert) => Verb::Post,
            (Method::Post, MassChange::Delete) => Verb::Delete,
            _ => Verb::Get,
        };
        visit.access.check(set, verb)?;
        let (request, response) = exchange.split();
        match (request.method(), self) {
            (Method::Options, _) => {
                response.status = 204;
                response.header("allow", METHODS);
                Ok(())
            }
            (Method::Post, MassChange::Insert) => {
                write::insert_array(visit, service, set, Framing::Named, exchange).await
            }
            // The reference server's action has no parameters; what a client sends for none is not looked at.
            (Method::Post, MassChange::Delete) => write::delete_all(visit, service, set, exchange).await,
            _ => Err(Fault::method_not_allowed(request.method_text(), METHODS).into()),
        }
    }
}
