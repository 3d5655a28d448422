//! Health checks of places, if configured for their endpoint: each in its own interval, a bounded number at once, on
//! one thread for the whole gateway. Results change the place's state as requests do.
//!
//! It does not use the connections of requests. A check opens its own, since connecting is part of the check.

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

/// Interval of the search for due checks; the shortest check interval is as long.
const TICK: Duration = Duration::from_millis(100);

/// The same while no endpoint has checks: a new configuration may.
const UNASKED_TICK: Duration = Duration::from_secs(1);

/// Checks under way at once; others are due at the next tick.
const CHECKS_AT_ONCE_MAX: usize = 256;

/// Checks, until `shutdown` begins, the places of the active endpoints, from `current`.
///
/// # Errors
/// If no runtime can be created.
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

/// Begins the due checks, and returns the time of the next look.
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

/// Checks one place, and records the result.
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

/// The status of the place's answer; `None` without one.
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
