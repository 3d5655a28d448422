//! Asking places whether they are well, where their endpoint wants that: each in its own interval, a bounded number at once,
//! on one thread for the whole gateway. What it hears moves the place's state as requests do.
//!
//! What it deliberately does not do: use the connections of requests. A check opens one of its own, since whether that
//! goes well is part of the question.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{LocalSet, spawn_local};
use tollgate_net::http1::client::{Connector, Discard, RequestTemplate, Target};
use tollgate_net::http1::server::Shutdown;

use super::RoutingTable;
use super::endpoint::{Group, HealthVerdict, PlaceId};
use crate::config::Health;

/// How often it is looked whether a check is due; the shortest interval is as long.
const TICK: Duration = Duration::from_millis(100);

/// The same while no endpoint wants any: a new configuration may.
const UNASKED_TICK: Duration = Duration::from_secs(1);

/// Checks that are under way at once; those beyond it are due at the next tick.
const CHECKS_AT_ONCE_MAX: usize = 256;

/// Checks, until `shutdown` begins, the places of the endpoints that are in force, as `current` says.
///
/// # Errors
/// When there is no runtime to be had.
pub(crate) fn run(current: impl Fn() -> Arc<RoutingTable>, shutdown: &Shutdown) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build()?;
    LocalSet::new().block_on(&runtime, async {
        let (mut next, under_way) = (HashMap::new(), Rc::new(RefCell::new(HashSet::new())));
        loop {
            let period = begin(&current(), &mut next, &under_way);
            if tokio::time::timeout(period, shutdown.begun()).await.is_ok() {
                return;
            }
        }
    });
    Ok(())
}

/// Begins the checks that are due; when to look again.
fn begin(
    table: &RoutingTable,
    next: &mut HashMap<PlaceId, Instant>,
    under_way: &Rc<RefCell<HashSet<PlaceId>>>,
) -> Duration {
    let (now, mut period) = (Instant::now(), UNASKED_TICK);
    next.retain(|place, _| table.has(*place));
    for group in table.groups() {
        let Some(health) = &group.endpoint().health else { continue };
        period = TICK;
        for (index, member) in group.members().iter().enumerate() {
            let is_due = next.get(&member.id).is_none_or(|next| now >= *next);
            let is_room = under_way.borrow().len() < CHECKS_AT_ONCE_MAX;
            if !is_due || !is_room || !under_way.borrow_mut().insert(member.id) {
                continue;
            }
            next.insert(member.id, now + health.interval);
            let (group, under_way, id) = (Arc::clone(group), Rc::clone(under_way), member.id);
            spawn_local(async move {
                check(&group, index).await;
                under_way.borrow_mut().remove(&id);
            });
        }
    }
    period
}

/// Asks one place, and tells it what came of that.
async fn check(group: &Group, index: usize) {
    let member = &group.members()[index];
    let Some(health) = &group.endpoint().health else { return };
    let answered = tokio::time::timeout(health.answer_max, status(group.checker(), &member.target, health));
    let verdict = match answered.await {
        Ok(Some(200..=399)) => HealthVerdict::Well,
        _ => HealthVerdict::Unwell,
    };
    group.checked(index, verdict);
}

/// The status that the place answers; `None` where it does not.
async fn status(connector: &Connector, target: &Target, health: &Health) -> Option<u16> {
    let path = format!("{}{}", target.path_and_query().trim_end_matches('/'), health.path);
    let request = RequestTemplate::builder("GET", target.authority()).target_text(&path);
    let request = request.header("connection", "close").build().ok()?;
    let mut text = Vec::new();
    request.render::<&[u8]>(&[], &mut text);
    let mut connection = connector.open(target).await.ok()?;
    connection.exchange(&text, request.answers(), &mut Discard).await.ok()?;
    Some(connection.head().status())
}
