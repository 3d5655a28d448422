//! Renewal of connections: users close theirs and open others, before the measurement.
//!
//! A server may treat connections differently for as long as they live: by the process or core that accepted them, or
//! by a path through a balancer. It does not decide when (see [`crate::experiment::Connections`]).

use std::cell::RefCell;
use std::rc::Rc;

use tokio::task::JoinSet;

use super::record::recorder::Recorder;
use super::user::{Asking, User};

/// Connections of one worker that are opened at once, so that a short backlog takes them.
const AT_ONCE_MAX: usize = 64;

/// Fate of the users' connections at the start of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renewal {
    /// Users keep them.
    #[default]
    Kept,
    /// Users close them and open others, unmeasured.
    Anew,
}

/// Requests on closed and opened connections; empty if no harmless request is known.
#[derive(Debug, Default)]
pub(super) struct Greetings {
    /// Last request on the old connection, so that the server closes it and keeps the port in TIME_WAIT.
    pub(super) last: Vec<u8>,
    /// First request on the new connection, which is then past its slow start.
    pub(super) first: Vec<u8>,
}

/// Lets each of these users close its connection and open another one.
pub(super) async fn renew(
    users: Vec<User>,
    asking: &Rc<Asking>,
    greetings: Greetings,
    recorder: &Rc<RefCell<Recorder>>,
) -> Vec<User> {
    let greetings = Rc::new(greetings);
    let (mut tasks, mut renewed) = (JoinSet::new(), Vec::with_capacity(users.len()));
    for mut user in users {
        if tasks.len() == AT_ONCE_MAX {
            renewed.extend(tasks.join_next().await.and_then(Result::ok));
        }
        let (asking, greetings, recorder) = (Rc::clone(asking), Rc::clone(&greetings), Rc::clone(recorder));
        tasks.spawn_local(async move {
            user.part(&asking, &greetings.last).await;
            user.meet(&asking, &greetings.first, &recorder).await;
            user
        });
    }
    renewed.extend(tasks.join_all().await);
    renewed
}

/// Lets each of these users close its connection.
pub(super) async fn part(users: Vec<User>, asking: &Rc<Asking>, last: &[u8]) {
    for mut user in users {
        user.part(asking, last).await;
    }
}
