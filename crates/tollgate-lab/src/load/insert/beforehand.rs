//! How many rows a table holds before anything is done to it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use tollgate_net::http1::client::Connector;

use super::super::REQUEST_TIMEOUT;
use super::super::target::LoadTarget;
use super::super::user::User;
use super::aside::{self, Aside};
use super::beside;
use crate::traffic::places::InsertPlaces;

/// Counts the rows that stand in the table now.
///
/// # Errors
/// That they cannot be counted, and why.
pub fn count(reading: &Arc<LoadTarget>, places: &InsertPlaces) -> Result<u64, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime to ask with: {error}"))?;
    let connector = Rc::new(Connector::new(reading.tls.clone()).exchange_timeout(REQUEST_TIMEOUT));
    let asking = beside(&connector, reading);
    let mut aside = Aside {
        user: &mut User::default(),
        reading: &asking,
        emptying: &asking,
        places,
        recorder: &RefCell::default(),
        answer: &mut aside::answer(),
    };
    runtime.block_on(aside.count()).map_err(|failure| failure.text)
}
