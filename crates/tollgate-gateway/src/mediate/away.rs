//! Mediation of large messages outside the loop, on a thread that may block, under a work process: as many at once as
//! there are permits, with a queue of bounded length.
//!
//! The message is copied for it, which costs little compared with parsing it as XML.

use tollgate_net::http1::{RequestHead, ResponseHead};

use super::effort::{Effort, INLINE_BYTES_MAX};
use super::message::{ClientOrigin, Memory, Passing};
use super::way::Way;
use crate::base::client::Client;
use crate::error::Fault;
use crate::mediate::mediator::{Need, Outcome};
use crate::mediate::sequence::Sequence;
use crate::work::board::Task;
use crate::work::dispatcher::Dispatcher;

/// A copied message.
struct Copy {
    client: Client,
    request: RequestHead,
    answer: Option<ResponseHead>,
    scheme: String,
    authority: String,
    body: Vec<u8>,
    endpoint: Option<usize>,
    memory: Memory,
}

/// Passes a message through a sequence: here, or under one of `processes` if it is large.
///
/// # Errors
/// The fault for the client; also if no work process was available.
pub(super) async fn run(
    sequence: &Sequence,
    passing: &mut Passing<'_>,
    processes: &Dispatcher<()>,
) -> Result<Outcome, Fault> {
    if sequence.need() == Need::WholeBody && passing.body.len() > INLINE_BYTES_MAX {
        return run_away(sequence, passing, processes).await;
    }
    passing.effort = Effort::begins();
    sequence.pass(passing)
}

async fn run_away(
    sequence: &Sequence,
    passing: &mut Passing<'_>,
    processes: &Dispatcher<()>,
) -> Result<Outcome, Fault> {
    let process = processes.acquire(&Task::of(passing.client, passing.request)).await?;
    let (sequence, mut copy) = (sequence.clone(), Box::new(Copy::of(passing)));
    let job = move || {
        // Held here: a client that goes away does not make the processor free.
        let _held = process;
        let outcome = copy.pass(&sequence);
        (outcome, copy)
    };
    let ended = tokio::task::spawn_blocking(job).await;
    let (outcome, copy) = ended.map_err(|panic| Fault::internal(format!("a mediation ended badly: {panic}")))?;
    passing.endpoint = copy.endpoint;
    *passing.memory = copy.memory;
    outcome
}

impl Copy {
    fn of(passing: &mut Passing<'_>) -> Copy {
        Copy {
            client: passing.client.clone(),
            request: passing.request.clone(),
            answer: match passing.way {
                Way::Request => None,
                Way::Answer(head) => Some(head.clone()),
            },
            scheme: passing.origin.scheme.to_owned(),
            authority: passing.origin.authority.to_owned(),
            body: passing.body.to_owned(),
            endpoint: passing.endpoint,
            memory: std::mem::take(passing.memory),
        }
    }

    fn pass(&mut self, sequence: &Sequence) -> Result<Outcome, Fault> {
        let mut passing = Passing {
            client: &self.client,
            request: &self.request,
            way: self.answer.as_ref().map_or(Way::Request, Way::Answer),
            origin: ClientOrigin { scheme: &self.scheme, authority: &self.authority },
            body: &self.body,
            endpoint: self.endpoint,
            effort: Effort::begins(),
            memory: &mut self.memory,
        };
        let outcome = sequence.pass(&mut passing);
        self.endpoint = passing.endpoint;
        outcome
    }
}
