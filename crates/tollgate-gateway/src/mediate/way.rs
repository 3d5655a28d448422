//! Which way a message goes.
//!
//! It deliberately holds nothing of the message but the head of an answer.

use tollgate_net::http1::ResponseHead;

/// Which way a message goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way<'p> {
    /// From the client.
    Request,
    /// To the client, with this head.
    Answer(&'p ResponseHead),
}
