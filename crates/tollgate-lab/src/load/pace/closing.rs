//! Connections after their last answer, until the server has closed them too.
//!
//! The last request on a connection says `Connection: close`, so the server ends it (RFC 9112, section 9.6) and the
//! port waits in TIME_WAIT on its side: a client that closed first would use up one of its own ports for every request.
//! The wait is in no response time.

use std::rc::Rc;
use std::time::Duration;

use tollgate_net::http1::client::ClientConnection;

/// A server that has not closed by then is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Connections that are waited for at once, each a port; beyond it we close first.
pub(crate) const CLOSING_MAX: usize = 1024;

/// The connections of one worker that are about to be closed.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    /// Shared with each of them.
    open: Rc<()>,
}

impl Closing {
    /// Waits in the background for the server to close `connection`.
    pub(crate) fn take(&self, connection: ClientConnection) {
        let one = Rc::clone(&self.open);
        if Rc::strong_count(&one) > CLOSING_MAX + 1 {
            return;
        }
        tokio::task::spawn_local(async move {
            // A server without an end is closed by us, as one with it would be.
            let _ = tokio::time::timeout(PATIENCE, connection.until_closed()).await;
            drop(one);
        });
    }
}
