//! The table of limits for the operator: each limit, its current use, and how often it was reached.
//!
//! It sets none: those of the engine are in `tollgate-net`, those of a service in its rules and its work processes.

use tollgate_net::http1::Fault as ProtocolFault;
use tollgate_net::http1::server::{CloseCause, Counters};
use tollgate_net::limits::Amount;

use super::gather::Sources;
use super::status::{CacheStatus, LimitStatus, ListenerStatus, ServiceStatus};
use super::{clients, endpoints};
use crate::config::rules::Rules;
use crate::config::{self, MemoryBound};
use crate::front::shared::Shared;
use crate::hosted::Hosted;

/// Owner name for limits of all connections.
const CONNECTIONS: &str = "connections";

/// Owner name for limits of all services.
const SERVICES: &str = "services";

/// Owner name for limits of the response cache.
const CACHE: &str = "cache";

/// Owner name for the sum of all limits that bound memory.
const MEMORY: &str = "memory";

/// A limit of a service's rules: its name, unit and value.
type Rule = (&'static str, &'static str, fn(&Rules) -> u64);

const RULES: &[Rule] = &[
    ("batch_requests_max", "count", |rules| rules.batch_requests_max as u64),
    ("batch_bytes_max", "bytes", |rules| rules.batch_bytes_max as u64),
    ("batch_answer_bytes_max", "bytes", |rules| rules.batch_answer_bytes_max as u64),
    ("batch_ms_max", "milliseconds", |rules| rules.batch_ms_max.into()),
    ("body_bytes_max", "bytes", |rules| rules.body_bytes_max as u64),
    ("array_bytes_max", "bytes", |rules| rules.array_bytes_max),
    ("array_rows_max", "count", |rules| rules.array_rows_max),
    ("array_ms_max", "milliseconds", |rules| rules.array_ms_max.into()),
];

/// All limits: of each service, of their shared parts, of the connections.
pub(super) fn table(
    sources: &Sources,
    shared: &Shared,
    cache_limits: &config::Cache,
    (services, listeners, cache): (&[ServiceStatus], &[ListenerStatus], &CacheStatus),
) -> Vec<LimitStatus> {
    let mut rows = Vec::new();
    for service in services {
        of_service(&mut rows, service);
        if let Some(published) = shared.services.iter().find(|published| published.hosted.name == service.name) {
            rows.extend(
                RULES
                    .iter()
                    .map(|(name, unit, value)| plain(&service.name, name, unit, value(&published.hosted.rules))),
            );
            of_answers(&mut rows, &service.name, &published.hosted);
        }
    }
    let rooms = [
        ("batch_room_bytes", shared.common.batch_room.limit_bytes(), shared.common.batch_room.held_bytes()),
        ("array_room_bytes", shared.common.ahead.limit_bytes(), shared.common.ahead.held_bytes()),
    ];
    for (name, limit, now) in rooms {
        rows.push(LimitStatus { now: Some(now as u64), ..plain(SERVICES, name, "bytes", limit as u64) });
    }
    if let Some(room) = shared.services.first().map(|published| published.hosted.answers.room()) {
        let (now, peak, met) = room.use_of();
        rows.push(LimitStatus {
            now: Some(now as u64),
            peak: Some(peak as u64),
            met: Some(met),
            ..plain(SERVICES, "answer_room_bytes", "bytes", room.limit_bytes() as u64)
        });
    }
    for group in endpoints::refused(&shared.proxied) {
        let limit = plain(&group.endpoint, "in_flight_max", "count", group.in_flight_max);
        rows.push(LimitStatus { met: Some(group.full), ..limit });
    }
    rows.extend(clients::limits(&shared.common.clients));
    of_cache(&mut rows, cache_limits, cache);
    of_connections(&mut rows, sources, listeners);
    of_memory(&mut rows, &sources.memory.with_cache(cache_limits));
    rows
}

fn of_service(rows: &mut Vec<LimitStatus>, service: &ServiceStatus) {
    let (pool, of) = (&service.pool, &service.name);
    rows.push(LimitStatus {
        now: Some(pool.busy),
        peak: Some(pool.busy_peak),
        met: Some(pool.queued + pool.refused.queue_full + pool.refused.waited_too_long),
        ..plain(of, "work_processes", "count", pool.limit)
    });
    rows.push(LimitStatus {
        now: Some(pool.waiting),
        peak: Some(pool.waiting_peak),
        met: Some(pool.refused.queue_full),
        ..plain(of, "queue_max", "count", pool.waiting_max)
    });
    // Exact: it was made of whole milliseconds.
    let wait_ms_max = (pool.wait_seconds_max * 1000.0).round() as u64;
    rows.push(LimitStatus {
        met: Some(pool.refused.waited_too_long),
        ..plain(of, "wait_ms_max", "milliseconds", wait_ms_max)
    });
}

/// The limits of each answer of a service.
fn of_answers(rows: &mut Vec<LimitStatus>, of: &str, service: &Hosted) {
    let Rules { answer_bytes_max, answer_entities_max, .. } = service.rules;
    let (bytes_met, entities_met) = service.answers.met();
    rows.push(LimitStatus { met: Some(bytes_met), ..plain(of, "answer_bytes_max", "bytes", answer_bytes_max) });
    rows.push(LimitStatus {
        met: Some(entities_met),
        ..plain(of, "answer_entities_max", "count", answer_entities_max)
    });
}

/// The limits of the response cache.
fn of_cache(rows: &mut Vec<LimitStatus>, limits: &config::Cache, cache: &CacheStatus) {
    let entry_bytes_max = limits.entry_bytes_max as u64;
    rows.extend([
        LimitStatus { now: Some(cache.entries), ..plain(CACHE, "entries_max", "count", cache.entries_max) },
        LimitStatus {
            now: Some(cache.bytes),
            met: Some(cache.evicted),
            ..plain(CACHE, "bytes_max", "bytes", cache.bytes_max)
        },
        LimitStatus { met: Some(cache.too_large), ..plain(CACHE, "entry_bytes_max", "bytes", entry_bytes_max) },
        plain(CACHE, "wait_ms_max", "milliseconds", limits.wait_ms_max.into()),
    ]);
}

/// The limits of the engine, which apply to each connection or each listener; use and reaching are totals.
fn of_connections(rows: &mut Vec<LimitStatus>, sources: &Sources, listeners: &[ListenerStatus]) {
    for (limit, amount) in sources.limits.amounts() {
        let (value, unit) = match amount {
            Amount::Time(time) => (u64::try_from(time.as_millis()).unwrap_or(u64::MAX), "milliseconds"),
            Amount::Count(count) if limit.name.contains("bytes_per_second") => (count, "bytes-per-second"),
            Amount::Count(count) if limit.name.contains("bytes") => (count, "bytes"),
            Amount::Count(count) => (count, "count"),
        };
        let now = match limit.name {
            "connections_max" => Some(listeners.iter().map(|listener| listener.connections.open).sum()),
            "connections_waiting_max" => Some(listeners.iter().map(|listener| listener.connections.waiting).sum()),
            "held_bytes_max" => Some(listeners.iter().map(|listener| listener.held_bytes).sum()),
            "unsent_bytes_max" => Some(listeners.iter().map(|listener| listener.unsent_bytes).sum()),
            _ => None,
        };
        let peak = match limit.name {
            "connections_max" => Some(listeners.iter().map(|listener| listener.connections.open_peak).sum()),
            "unsent_bytes_max" => Some(listeners.iter().map(|listener| listener.unsent_bytes_peak).sum()),
            _ => None,
        };
        let met = sources.listeners.iter().map(|listener| met(&listener.counters, limit.metric)).sum();
        rows.push(LimitStatus { now, peak, met, ..plain(CONNECTIONS, limit.name, unit, value) });
    }
}

/// The memory that requests and answers may take, by kind and altogether.
fn of_memory(rows: &mut Vec<LimitStatus>, memory: &MemoryBound) {
    rows.extend(memory.shares().iter().map(|(name, bytes)| plain(MEMORY, name, "bytes", *bytes)));
    rows.push(plain(MEMORY, "total", "bytes", memory.bytes()));
}

/// Number of times a limit of the engine was reached, counted there as a fault or as a cause of closing.
fn met(counters: &Counters, metric: &str) -> Option<u64> {
    let fault = ProtocolFault::ALL.iter().find(|fault| fault.name() == metric);
    let cause = CloseCause::ALL.iter().find(|cause| cause.name() == metric);
    fault.map(|fault| counters.faults(*fault)).or_else(|| Some(counters.connections_closed(*cause?)))
}

fn plain(of: &str, name: &'static str, unit: &'static str, limit: u64) -> LimitStatus {
    LimitStatus { of: of.to_owned(), name, limit, unit, now: None, peak: None, met: None }
}
