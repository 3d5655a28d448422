//! One OData operation, V2 or V4: a request that reads or writes becomes changes in a store and an [`Answer`].
//!
//! It is synchronous and knows no socket, no transaction and no lock: a single request and the parts of a batch are
//! performed by the same code, inside a transaction that the caller began and ends. An error is a [`Fault`]; the caller
//! then undoes all changes.

mod action;
mod author;
mod change;
mod content_ids;
mod create;
pub(crate) mod head;
mod perform;
mod prepare;
mod property;
pub(crate) mod provide;
pub(crate) mod reach;
pub(crate) mod read;
mod reference;
mod relation;
mod represent;
mod request;
pub(crate) mod spare;
pub(crate) mod subtype;
mod target;
#[cfg(test)]
mod tests;

use tollgate_net::http1::Method;

pub(crate) use author::Author;
pub(crate) use change::{Absent, Changed, How, check_key};
pub(crate) use content_ids::ContentIds;
pub(crate) use create::{Creation, is_alone};
pub(crate) use prepare::Prepared;
pub(crate) use relation::{deletion_refused, refused};
use request::Meant;
pub(crate) use request::{Performed, Request};

use crate::error::Fault;
use crate::hosted::Hosted;
use crate::http::answer::Answer;
use crate::store::Connection;

/// Performs one operation inside a transaction that the caller began. `answer` is begun anew.
///
/// # Errors
/// The fault for the client; the caller undoes all changes.
pub(crate) fn perform(
    service: &Hosted,
    connection: &mut Connection,
    request: &Request<'_>,
    answer: &mut Answer,
) -> Result<Performed, Fault> {
    let meant = Meant::of(service, request)?;
    match meant.method {
        Method::Get | Method::Head => read::perform(service, connection, request, meant, answer),
        _ => prepare::prepare(service, request, meant)?.perform(service, connection, request.root, answer),
    }
}

/// Reads and checks a writing request.
///
/// # Errors
/// All errors that can be found without a database.
pub(crate) fn prepare(service: &Hosted, request: &Request<'_>) -> Result<Prepared, Fault> {
    prepare::prepare(service, request, Meant::of(service, request)?)
}
