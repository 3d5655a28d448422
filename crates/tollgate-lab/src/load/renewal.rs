//! Connections drawn anew: users part with those that they kept and open others, before anything counts.
//!
//! A server may treat connections unlike for as long as they live: by the process or the core that took them, or by a
//! path through a balancer. What it deliberately does not do: decide when (see [`crate::experiment::Connections`]).

use std::cell::RefCell;
use std::rc::Rc;

use tokio::task::JoinSet;

use super::record::recorder::Recorder;
use super::user::{Asking, User};

/// Connections of one worker that are opened at once, so that a short backlog takes them.
const AT_ONCE_MAX: usize = 64;

/// Whether the users of a trial keep the connections that they have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Renewal {
    /// They go on with them.
    #[default]
    Kept,
    /// They part with them and open others, of which nothing counts.
    Anew,
}

/// What is asked on connections that go and come; empty where nobody knows what may be asked there.
#[derive(Debug, Default)]
pub(super) struct Greetings {
    /// Asked as the last request on the old one, so that the server closes it and keeps the port that waits.
    pub(super) last: Vec<u8>,
    /// Asked as the first one on the new one, which is then past its slow start.
    pub(super) first: Vec<u8>,
}

/// Has each of these users part with its connection and open another one.
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

/// Has each of these users part with its connection.
pub(super) async fn part(users: Vec<User>, asking: &Rc<Asking>, last: &[u8]) {
    for mut user in users {
        user.part(asking, last).await;
    }
}
