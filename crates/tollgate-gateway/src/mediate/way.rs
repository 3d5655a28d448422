//! Direction of a message.
//!
//! It contains nothing of the message but the head of an answer.

use tollgate_net::http1::ResponseHead;

/// Direction of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way<'p> {
    /// Request from the client.
    Request,
    /// Answer to the client, with this head.
    Answer(&'p ResponseHead),
}
