//! The limit that binds: from looks at a gateway's work processes and connections to the one that is used up while
//! somebody waits for it.
//!
//! It is a pure function of the looks, without I/O.

use crate::results::Reading;
use crate::results::{Binding, FULL_SHARE_MIN, Occupancy};
use crate::rules::CORES_BUSY_MAX;

/// Users bind if this share of them is being served on average, while nobody waits. It is not higher, since a pass
/// begins with a list that one of them gets alone.
pub const SERVED_SHARE_MIN: f64 = 0.6;
/// Work processes that are busy longer than this many round trips of the database compute, or wait for a core.
const ROUND_TRIPS_MAX: f64 = 3.0;

/// Looks at one gateway during the trials of one cell; means and shares are sums until `found` is called.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    sums: Occupancy,
}

impl Seen {
    /// Adds one look; one that does not report both work processes and connections does not count.
    pub fn add(&mut self, readings: &[Reading]) {
        let of = |name: &str| readings.iter().find(|reading| reading.name == name).map(|reading| reading.value);
        let work_processes =
            of("work-processes-busy").zip(of("work-processes-waiting")).zip(of("work-processes-limit"));
        let connections = of("connections-open").zip(of("connections-waiting")).zip(of("connections-limit"));
        let (Some(((busy, waiting), limit)), Some(((open, outside), open_max))) = (work_processes, connections) else {
            return;
        };
        let one = |is_so: bool| f64::from(u8::from(is_so));
        let sums = &mut self.sums;
        sums.looks += 1;
        sums.work_processes_full_share += one(busy >= limit && waiting > 0.0);
        sums.connections_full_share += one(open >= open_max && outside > 0.0);
        sums.nobody_waited_share += one(waiting == 0.0 && outside == 0.0);
        sums.busy_mean += busy;
        sums.waiting_mean += waiting;
        sums.connections_mean += open;
        sums.connections_waiting_mean += outside;
        (sums.work_processes, sums.connections_max) = (limit, open_max);
    }

    /// The result of the looks, with the values known already: users, cores, the cost of a look. `None` without looks.
    pub fn found(&self, known: Occupancy, requests_per_second: f64, round_trip_ms: f64) -> Option<Occupancy> {
        let sums = self.sums;
        if sums.looks == 0 {
            return None;
        }
        let mean = |sum: f64| sum / sums.looks as f64;
        let busy_mean = mean(sums.busy_mean);
        let mut found = Occupancy {
            looks: sums.looks,
            work_processes: sums.work_processes,
            connections_max: sums.connections_max,
            work_processes_full_share: mean(sums.work_processes_full_share),
            connections_full_share: mean(sums.connections_full_share),
            nobody_waited_share: mean(sums.nobody_waited_share),
            busy_mean,
            waiting_mean: mean(sums.waiting_mean),
            connections_mean: mean(sums.connections_mean),
            connections_waiting_mean: mean(sums.connections_waiting_mean),
            held_ms: if requests_per_second > 0.0 { busy_mean / requests_per_second * 1e3 } else { 0.0 },
            ..known
        };
        (found.binding, found.value, found.bound) = binding(&found, round_trip_ms);
        Some(found)
    }
}

/// The limit that binds, the number that decided, and its bound. If both limits are used up it is the work processes:
/// they are further in, and more connections would only wait there. Busy cores bind if nobody waits for either limit;
/// if somebody does, only if work processes are occupied for long, as freeing them would then take a core.
fn binding(found: &Occupancy, round_trip_ms: f64) -> (Binding, f64, f64) {
    let cores = found.cores_busy_share;
    let (processes, connections) = (found.work_processes_full_share, found.connections_full_share);
    let served = found.busy_mean / found.users.max(1) as f64;
    match cores > CORES_BUSY_MAX {
        true if found.held_ms > ROUND_TRIPS_MAX * round_trip_ms => (Binding::Processor, cores, CORES_BUSY_MAX),
        _ if processes >= FULL_SHARE_MIN => (Binding::WorkProcesses, processes, FULL_SHARE_MIN),
        _ if connections >= FULL_SHARE_MIN => (Binding::Connections, connections, FULL_SHARE_MIN),
        _ if !found.is_without_queue() => (Binding::Unclear, processes.max(connections), FULL_SHARE_MIN),
        true => (Binding::Processor, cores, CORES_BUSY_MAX),
        false if served >= SERVED_SHARE_MIN => (Binding::Users, served, SERVED_SHARE_MIN),
        false => (Binding::Unclear, served, SERVED_SHARE_MIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look((busy, waiting, limit): (f64, f64, f64), (open, outside, open_max): (f64, f64, f64)) -> Vec<Reading> {
        [
            ("work-processes-busy", busy),
            ("work-processes-waiting", waiting),
            ("work-processes-limit", limit),
            ("connections-open", open),
            ("connections-waiting", outside),
            ("connections-limit", open_max),
        ]
        .map(|(name, value)| Reading { name, unit: "", value })
        .to_vec()
    }

    /// The result for 20 users over 20 ms, with this many cores busy and answers per second.
    fn found(seen: &Seen, cores_busy_share: f64, requests_per_second: f64) -> Option<Occupancy> {
        let known = Occupancy { users: 20, cores_busy_share, look_cpu_us: Some(100.0), ..Occupancy::default() };
        seen.found(known, requests_per_second, 20.0)
    }

    /// Busy cores (a share), and answers per second.
    const CALM: (f64, f64) = (0.4, 200.0);

    #[test]
    fn what_is_used_up_while_somebody_waits_for_it_binds() {
        let check = |work_processes, connections, (cores, rate): (f64, f64), expected: Binding, value: f64| {
            let mut seen = Seen::default();
            (0..10).for_each(|_| seen.add(&look(work_processes, connections)));
            let found = found(&seen, cores, rate).unwrap();
            assert_eq!(found.binding, expected, "{found:?}");
            assert!((found.value - value).abs() < 1e-9, "{found:?}");
        };
        check((5.0, 15.0, 5.0), (20.0, 0.0, 500.0), CALM, Binding::WorkProcesses, 1.0);
        check((10.0, 0.0, 20.0), (10.0, 10.0, 10.0), CALM, Binding::Connections, 1.0);
        check((5.0, 5.0, 5.0), (10.0, 10.0, 10.0), CALM, Binding::WorkProcesses, 1.0);
        check((19.0, 0.0, 30.0), (20.0, 0.0, 500.0), CALM, Binding::Users, 0.95);
        check((20.0, 0.0, 20.0), (20.0, 0.0, 20.0), CALM, Binding::Users, 1.0);
        check((5.0, 0.0, 30.0), (20.0, 0.0, 500.0), CALM, Binding::Unclear, 0.25);
        let slow = (0.99, 50.0);
        check((5.0, 15.0, 5.0), (20.0, 0.0, 500.0), slow, Binding::Processor, 0.99);
    }

    #[test]
    fn busy_cores_bind_before_the_users_where_nobody_waits() {
        // Held for 28 ms, which is 1.4 round trips.
        let crowded = (0.998, 670.0);
        let check = |work_processes, (cores, rate): (f64, f64), expected: Binding| {
            let mut seen = Seen::default();
            (0..10).for_each(|_| seen.add(&look(work_processes, (20.0, 0.0, 500.0))));
            let found = found(&seen, cores, rate).unwrap();
            assert_eq!(found.binding, expected, "{found:?}");
        };
        check((19.0, 0.0, 30.0), crowded, Binding::Processor);
        check((8.0, 0.0, 30.0), crowded, Binding::Processor);
        check((19.0, 0.0, 30.0), (0.9, 670.0), Binding::Users);
        check((10.0, 10.0, 10.0), crowded, Binding::WorkProcesses);
    }

    #[test]
    fn now_the_one_and_now_the_other_is_unclear_and_a_look_at_half_is_none() {
        let mut seen = Seen::default();
        seen.add(&look((5.0, 15.0, 5.0), (20.0, 0.0, 500.0)));
        seen.add(&look((4.0, 0.0, 5.0), (10.0, 10.0, 10.0)));
        seen.add(&look((4.0, 0.0, 5.0), (20.0, 0.0, 500.0)));
        seen.add(&[Reading { name: "work-processes-busy", unit: "", value: 5.0 }]);
        let of_calm = |seen: &Seen| found(seen, CALM.0, CALM.1);
        let found = of_calm(&seen).unwrap();
        assert_eq!((found.looks, found.binding), (3, Binding::Unclear));
        assert!(of_calm(&Seen::default()).is_none());
    }
}
