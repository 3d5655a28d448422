//! A queue that is fair to clients: the next one is whose client had least time of late, and among equals who came
//! first. Requests of one client keep their order.
//!
//! Clients that are served without waiting are not counted, so that nothing of this costs anything while there is no
//! queue. It knows neither clocks nor what is waited for.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::base::client::Client;

/// Interval at which the time that clients had counts for half.
const HALF_LIFE: Duration = Duration::from_secs(10);

/// Clients beyond which those are forgotten early that had little.
const CLIENTS_MAX: usize = 16_384;

/// Share of the last turn in the mean length of a turn, as a divisor.
const MEAN_OF: u64 = 8;

/// The queue.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    lines: HashMap<Client, Line<T>>,
    /// The lines in which somebody waits, by the time that their clients had, and by the first ticket.
    order: BTreeSet<(u64, u64, Client)>,
    waiting: usize,
    next_ticket: u64,
    /// Mean nanoseconds of a turn.
    turn_ns: u64,
    halved: Option<Instant>,
}

/// Whoever waits for one client, and the nanoseconds that it had.
#[derive(Debug)]
struct Line<T> {
    had_ns: u64,
    waiters: VecDeque<(u64, T)>,
}

/// A turn, charged to a client with the mean length of turns until it ends.
#[derive(Debug)]
pub(super) struct Charge {
    client: Client,
    charged_ns: u64,
    since: Instant,
}

impl<T> Default for FairQueue<T> {
    fn default() -> FairQueue<T> {
        FairQueue {
            lines: HashMap::new(),
            order: BTreeSet::new(),
            waiting: 0,
            next_ticket: 0,
            turn_ns: 1,
            halved: None,
        }
    }
}

impl<T> FairQueue<T> {
    /// Number of waiting requests.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Lets one more wait; returns its ticket.
    pub(super) fn push(&mut self, client: &Client, waiter: T, now: Instant) -> u64 {
        if self.lines.len() >= CLIENTS_MAX || self.halved.is_none_or(|at| now.duration_since(at) >= HALF_LIFE) {
            self.halve(now);
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += 1;
        // Cloned only for a new client.
        if !self.lines.contains_key(client) {
            self.lines.insert(client.clone(), Line { had_ns: 0, waiters: VecDeque::new() });
        }
        let line = self.lines.get_mut(client).expect("it is there now");
        line.waiters.push_back((ticket, waiter));
        if line.waiters.len() == 1 {
            self.order.insert((line.had_ns, ticket, client.clone()));
        }
        ticket
    }

    /// Takes the next one, whose turn begins.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(T, Charge)> {
        let (.., client) = self.order.first()?.clone();
        let (_, waiter) = self.change(&client, |line| line.waiters.pop_front()).flatten()?;
        self.waiting -= 1;
        Some((waiter, self.begin(client, now)))
    }

    /// Counts a turn that begins.
    fn begin(&mut self, client: Client, now: Instant) -> Charge {
        let charged_ns = self.turn_ns;
        self.change(&client, |line| line.had_ns = line.had_ns.saturating_add(charged_ns));
        Charge { client, charged_ns, since: now }
    }

    /// Counts a turn that ended.
    pub(super) fn end(&mut self, turn: &Charge, now: Instant) {
        let took = u64::try_from(now.saturating_duration_since(turn.since).as_nanos()).unwrap_or(u64::MAX);
        self.turn_ns = (self.turn_ns - self.turn_ns / MEAN_OF).saturating_add(took / MEAN_OF).max(1);
        self.change(&turn.client, |line| {
            line.had_ns = line.had_ns.saturating_sub(turn.charged_ns).saturating_add(took);
        });
    }

    /// Takes the last request of the client that had most, if that is more than `client` had.
    pub(super) fn displace(&mut self, client: &Client) -> Option<T> {
        let (most_ns, _, heaviest) = self.order.last()?.clone();
        if most_ns <= self.lines.get(client).map_or(0, |line| line.had_ns) {
            return None;
        }
        let (_, waiter) = self.change(&heaviest, |line| line.waiters.pop_back()).flatten()?;
        self.waiting -= 1;
        Some(waiter)
    }

    /// Takes one out that does not wait any longer.
    pub(super) fn remove(&mut self, client: &Client, ticket: u64) {
        let removed = self.change(client, |line| {
            // Tickets rise along the line.
            let found = line.waiters.binary_search_by_key(&ticket, |(ticket, _)| *ticket);
            found.ok().and_then(|index| line.waiters.remove(index))
        });
        self.waiting -= usize::from(removed.flatten().is_some());
    }

    /// Changes a line, and its place in the order.
    fn change<R>(&mut self, client: &Client, change: impl FnOnce(&mut Line<T>) -> R) -> Option<R> {
        let line = self.lines.get_mut(client)?;
        let key = |line: &Line<T>| line.waiters.front().map(|(ticket, _)| (line.had_ns, *ticket));
        let before = key(line);
        let result = change(line);
        let after = key(line);
        if before != after {
            let keyed = |key: Option<(u64, u64)>| key.map(|(had_ns, ticket)| (had_ns, ticket, client.clone()));
            if let Some(before) = keyed(before) {
                self.order.remove(&before);
            }
            self.order.extend(keyed(after));
        }
        Some(result)
    }

    /// Halves what all had, and forgets those who wait for nothing and had less than a turn.
    fn halve(&mut self, now: Instant) {
        self.halved = Some(now);
        let turn_ns = self.turn_ns;
        self.lines.retain(|_, line| {
            line.had_ns /= 2;
            !line.waiters.is_empty() || line.had_ns >= turn_ns
        });
        let waiting = self.lines.iter();
        let keyed = waiting.filter_map(|(client, line)| Some((line.had_ns, line.waiters.front()?.0, client.clone())));
        self.order = keyed.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    /// Who is served by a queue of these, each for `ms` from its number's table, one after the other.
    fn order(mut queue: FairQueue<(u8, u64)>, mut now: Instant) -> Vec<u8> {
        let mut served = Vec::new();
        while let Some(((number, ms), turn)) = queue.pop(now) {
            served.push(number);
            now += Duration::from_millis(ms);
            queue.end(&turn, now);
        }
        assert_eq!((queue.len(), queue.order.len()), (0, 0));
        served
    }

    #[test]
    fn one_client_is_served_in_its_order_and_several_by_turns() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        for _ in 0..4 {
            queue.push(&client(1), (1, 10), now);
        }
        queue.push(&client(2), (2, 10), now);
        queue.push(&client(3), (3, 10), now);
        assert_eq!(order(queue, now), [1, 2, 3, 1, 1, 1]);
    }

    #[test]
    fn whoever_takes_long_waits_for_those_who_do_not() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        for _ in 0..3 {
            queue.push(&client(1), (1, 100), now);
            queue.push(&client(2), (2, 40), now);
        }
        assert_eq!(order(queue, now), [1, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn a_full_queue_makes_room_for_whoever_had_less() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        queue.push(&client(1), "first", now);
        assert_eq!(queue.displace(&client(2)), None, "nobody had anything yet");
        let (_, turn) = queue.pop(now).unwrap();
        queue.push(&client(1), "second", now);
        queue.push(&client(1), "third", now);
        assert_eq!(queue.displace(&client(1)), None, "not for itself");
        assert_eq!(queue.displace(&client(2)), Some("third"));
        queue.end(&turn, now + Duration::from_millis(5));
        assert_eq!(queue.displace(&client(2)), Some("second"));
        assert_eq!((queue.displace(&client(2)), queue.len()), (None, 0));
    }

    #[test]
    fn whoever_leaves_is_gone_and_what_was_had_is_forgotten() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        let [first, second] = ["a", "b"].map(|waiter| queue.push(&client(1), waiter, now));
        queue.remove(&client(1), first);
        queue.remove(&client(1), first);
        assert_eq!(queue.len(), 1);
        let (waiter, turn) = queue.pop(now).unwrap();
        assert_eq!((waiter, queue.len()), ("b", 0));
        queue.remove(&client(1), second);
        queue.end(&turn, now + Duration::from_millis(5));
        assert_eq!(queue.lines.len(), 1);
        let later = now + HALF_LIFE * 64;
        (0..64).for_each(|_| queue.halve(later));
        assert_eq!(queue.lines.len(), 0);
    }

    proptest::proptest! {
        #[test]
        fn nobody_is_lost_or_served_twice(steps in proptest::collection::vec((0_u8..4, 1_u8..6, 1_u64..50), 0..80)) {
            let (mut queue, mut now) = (FairQueue::default(), Instant::now());
            let (mut expected, mut turns) = (std::collections::BTreeSet::new(), Vec::new());
            for (step, number, ms) in steps {
                now += Duration::from_millis(ms * 100);
                match step {
                    0 | 1 => {
                        let ticket = queue.next_ticket;
                        queue.push(&client(number), ticket, now);
                        expected.insert(ticket);
                    }
                    2 => if let Some((ticket, turn)) = queue.pop(now) {
                        proptest::prop_assert!(expected.remove(&ticket));
                        turns.push(turn);
                    },
                    _ => if let Some(ticket) = queue.displace(&client(number)) {
                        proptest::prop_assert!(expected.remove(&ticket));
                    },
                }
                if ms % 3 == 0 && let Some(turn) = turns.pop() {
                    queue.end(&turn, now);
                }
                proptest::prop_assert_eq!(queue.len(), expected.len());
                let lines = queue.lines.values().filter(|line| !line.waiters.is_empty()).count();
                proptest::prop_assert_eq!(queue.order.len(), lines);
            }
            while let Some((ticket, _)) = queue.pop(now) {
                proptest::prop_assert!(expected.remove(&ticket));
            }
            proptest::prop_assert!(expected.is_empty());
        }
    }
}
