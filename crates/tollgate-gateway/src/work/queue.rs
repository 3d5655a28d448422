//! A queue that is fair to clients: by turns the next one is whose client had least time of late, and who came first.
//! Requests of one client keep their order.
//!
//! The first rule lets a newcomer in before whoever floods. The second one is for those who had a turn already: if
//! someone comes under ever new addresses, each of which had nothing, they are served as in a plain queue.
//!
//! Clients that are served without waiting are not counted, so that nothing of this costs anything while there is no
//! queue. It knows neither clocks nor what is waited for.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::base::client::Client;

/// Interval at which the time that clients had counts for half: longer than a thousand clients take to have a turn each
/// where passwords are hashed, or all of them would look new.
const HALF_LIFE: Duration = Duration::from_secs(60);

/// Part of a mean turn from which on it is remembered who had it, as a divisor.
const REMEMBERED: u64 = 8;

/// Clients from which on those are forgotten who wait for nothing and had little.
const CLIENTS_MAX: usize = 16_384;

/// Share of the last turn in the mean length of a turn, as a divisor.
const MEAN_OF: u64 = 8;

/// The queue.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    lines: HashMap<Client, Line<T>>,
    /// The lines in which somebody waits, by the time that their clients had, and by the first ticket.
    by_time: BTreeSet<(u64, u64, Client)>,
    /// The same by the first ticket.
    by_ticket: BTreeSet<(u64, Client)>,
    /// Those in which more than one waits, by their number.
    by_length: BTreeSet<(usize, Client)>,
    waiting: usize,
    next_ticket: u64,
    /// Whether the next turn is for whoever came first.
    is_by_ticket: bool,
    /// Mean nanoseconds of a turn.
    turn_ns: u64,
    halved: Option<Instant>,
    forget_from: usize,
}

/// Whether one that waits may be sent away for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// It may.
    Refusable,
    /// It began to answer, and is never refused.
    Kept,
}

/// Whoever waits for one client, and the nanoseconds that it had.
#[derive(Debug)]
struct Line<T> {
    had_ns: u64,
    waiters: VecDeque<(u64, Hold, T)>,
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
            by_time: BTreeSet::new(),
            by_ticket: BTreeSet::new(),
            by_length: BTreeSet::new(),
            waiting: 0,
            next_ticket: 0,
            is_by_ticket: false,
            turn_ns: 1,
            halved: None,
            forget_from: CLIENTS_MAX,
        }
    }
}

impl<T> FairQueue<T> {
    /// Number of waiting requests.
    pub(super) fn len(&self) -> usize {
        self.waiting
    }

    /// Lets one more wait; returns its ticket.
    pub(super) fn push(&mut self, client: &Client, hold: Hold, waiter: T, now: Instant) -> u64 {
        self.age(now);
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiting += 1;
        self.change(client, |line| line.waiters.push_back((ticket, hold, waiter)));
        ticket
    }

    /// Takes the next one, whose turn begins.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(T, Charge)> {
        let client = match self.is_by_ticket {
            true => self.by_ticket.first()?.1.clone(),
            false => self.by_time.first()?.2.clone(),
        };
        self.is_by_ticket = !self.is_by_ticket;
        let charged_ns = self.turn_ns;
        let (.., waiter) = self.change(&client, |line| {
            line.had_ns = line.had_ns.saturating_add(charged_ns);
            line.waiters.pop_front()
        })?;
        self.waiting -= 1;
        Some((waiter, Charge { client, charged_ns, since: now }))
    }

    /// Counts a turn that ended.
    pub(super) fn end(&mut self, turn: &Charge, now: Instant) {
        let took = u64::try_from(now.saturating_duration_since(turn.since).as_nanos()).unwrap_or(u64::MAX);
        self.turn_ns = (self.turn_ns - self.turn_ns / MEAN_OF).saturating_add(took / MEAN_OF).max(1);
        self.change(&turn.client, |line| {
            line.had_ns = line.had_ns.saturating_sub(turn.charged_ns).saturating_add(took);
        });
    }

    /// Takes the last request of the client that has most of them waiting, if `client` would have fewer even with one
    /// more.
    pub(super) fn displace(&mut self, client: &Client) -> Option<T> {
        let own = self.lines.get(client).map_or(0, |line| line.waiters.len());
        let (length, longest) = self.by_length.last()?.clone();
        if own + 1 >= length {
            return None;
        }
        let displaced = self.change(&longest, |line| line.waiters.pop_back_if(|(_, hold, _)| *hold == Hold::Refusable));
        let (.., waiter) = displaced?;
        self.waiting -= 1;
        Some(waiter)
    }

    /// Takes one out that does not wait any longer.
    pub(super) fn remove(&mut self, client: &Client, ticket: u64) {
        let removed = self.change(client, |line| {
            // Tickets rise along the line.
            let found = line.waiters.binary_search_by_key(&ticket, |(ticket, ..)| *ticket);
            found.ok().and_then(|index| line.waiters.remove(index))
        });
        self.waiting -= usize::from(removed.is_some());
    }

    /// Changes the line of a client, and its places in the orders.
    fn change<R>(&mut self, client: &Client, change: impl FnOnce(&mut Line<T>) -> R) -> R {
        // Cloned only for a new client.
        if !self.lines.contains_key(client) {
            self.lines.insert(client.clone(), Line { had_ns: 0, waiters: VecDeque::new() });
        }
        let line = self.lines.get_mut(client).expect("it is there now");
        let key = |line: &Line<T>| Some((line.had_ns, line.waiters.front()?.0, line.waiters.len()));
        let before = key(line);
        let result = change(line);
        let after = key(line);
        if before != after {
            if let Some((had_ns, ticket, length)) = before {
                self.by_time.remove(&(had_ns, ticket, client.clone()));
                self.by_ticket.remove(&(ticket, client.clone()));
                self.by_length.remove(&(length, client.clone()));
            }
            if let Some((had_ns, ticket, length)) = after {
                self.by_time.insert((had_ns, ticket, client.clone()));
                self.by_ticket.insert((ticket, client.clone()));
                if length > 1 {
                    self.by_length.insert((length, client.clone()));
                }
            }
        }
        result
    }

    /// Halves what all had, once in a while, and forgets those who wait for nothing and had little.
    fn age(&mut self, now: Instant) {
        let is_due = self.halved.is_none_or(|at| now.duration_since(at) >= HALF_LIFE);
        if !is_due && self.lines.len() < self.forget_from {
            return;
        }
        let remembered_ns = (self.turn_ns / REMEMBERED).max(1);
        if is_due {
            self.halved = Some(now);
            self.lines.values_mut().for_each(|line| line.had_ns /= 2);
            let waiting = self.lines.iter();
            let keyed =
                waiting.filter_map(|(client, line)| Some((line.had_ns, line.waiters.front()?.0, client.clone())));
            self.by_time = keyed.collect();
        }
        self.lines.retain(|_, line| !line.waiters.is_empty() || line.had_ns >= remembered_ns);
        if self.lines.len() >= CLIENTS_MAX {
            self.lines.retain(|_, line| !line.waiters.is_empty());
        }
        // So that they are looked through once for each client that comes, on average.
        self.forget_from = (self.lines.len() * 2).max(CLIENTS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    /// Who is served by a queue of these, each for its milliseconds, one after the other.
    fn order(mut queue: FairQueue<(u8, u64)>, mut now: Instant) -> Vec<u8> {
        let mut served = Vec::new();
        while let Some(((number, ms), turn)) = queue.pop(now) {
            served.push(number);
            now += Duration::from_millis(ms);
            queue.end(&turn, now);
        }
        check(&queue, 0);
        served
    }

    /// Whether the orders are those of the lines, and so many wait.
    fn check<T>(queue: &FairQueue<T>, waiting: usize) {
        let lines = queue.lines.iter().filter(|(_, line)| !line.waiters.is_empty());
        let (mut by_time, mut by_ticket, mut by_length) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (client, line) in lines {
            by_time.insert((line.had_ns, line.waiters[0].0, client.clone()));
            by_ticket.insert((line.waiters[0].0, client.clone()));
            if line.waiters.len() > 1 {
                by_length.insert((line.waiters.len(), client.clone()));
            }
        }
        assert_eq!((&by_time, &by_ticket, &by_length), (&queue.by_time, &queue.by_ticket, &queue.by_length));
        assert_eq!(queue.lines.values().map(|line| line.waiters.len()).sum::<usize>(), waiting);
        assert_eq!(queue.len(), waiting);
    }

    #[test]
    fn one_client_is_served_in_its_order_and_several_by_turns() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        for _ in 0..5 {
            queue.push(&client(1), Hold::Refusable, (1, 10), now);
        }
        queue.push(&client(2), Hold::Refusable, (2, 10), now);
        queue.push(&client(3), Hold::Refusable, (3, 10), now);
        // Every second turn is of whoever came first.
        assert_eq!(order(queue, now), [1, 1, 2, 1, 3, 1, 1]);
    }

    #[test]
    fn whoever_takes_long_waits_for_those_who_do_not() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        for _ in 0..3 {
            queue.push(&client(1), Hold::Refusable, (1, 100), now);
        }
        for _ in 0..3 {
            queue.push(&client(2), Hold::Refusable, (2, 10), now);
        }
        assert_eq!(order(queue, now), [1, 1, 2, 1, 2, 2]);
    }

    #[test]
    fn ever_new_clients_do_not_starve_one_that_had_a_turn() {
        let mut now = Instant::now();
        let mut queue = FairQueue::default();
        queue.push(&client(0), Hold::Refusable, 0, now);
        let (_, turn) = queue.pop(now).unwrap();
        now += Duration::from_millis(10);
        queue.end(&turn, now);
        queue.push(&client(0), Hold::Refusable, 0, now);
        let (mut until, mut number) = (None, 0_u8);
        for turns in 1..100 {
            for _ in 0..2 {
                number += 1;
                queue.push(&client(number), Hold::Refusable, number, now);
            }
            let (served, turn) = queue.pop(now).unwrap();
            now += Duration::from_millis(10);
            queue.end(&turn, now);
            if served == 0 {
                until = Some(turns);
                break;
            }
        }
        assert!(until.is_some_and(|turns| turns <= 2), "{until:?}");
    }

    #[test]
    fn a_full_queue_makes_room_for_whoever_has_fewer_waiting() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        for waiter in ["first", "second", "third"] {
            queue.push(&client(1), Hold::Refusable, waiter, now);
        }
        assert_eq!(queue.displace(&client(1)), None, "not for itself");
        assert_eq!(queue.displace(&client(2)), Some("third"));
        queue.push(&client(2), Hold::Refusable, "other", now);
        assert_eq!(queue.displace(&client(2)), None, "it would have as many");
        assert_eq!(queue.displace(&client(3)), Some("second"));
        assert_eq!(queue.displace(&client(3)), None, "nobody loses the only one");
        check(&queue, 2);
        queue.push(&client(1), Hold::Kept, "begun", now);
        assert_eq!(queue.displace(&client(3)), None, "one that began to answer stays");
        check(&queue, 3);
    }

    #[test]
    fn whoever_leaves_is_gone_and_what_was_had_is_forgotten() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        let [first, second] = ["a", "b"].map(|waiter| queue.push(&client(1), Hold::Refusable, waiter, now));
        queue.remove(&client(1), first);
        queue.remove(&client(1), first);
        check(&queue, 1);
        let (waiter, turn) = queue.pop(now).unwrap();
        assert_eq!((waiter, queue.len()), ("b", 0));
        queue.remove(&client(1), second);
        let mut later = now + HALF_LIFE;
        queue.age(later);
        queue.end(&turn, later);
        assert_eq!(
            queue.lines[&client(1)].had_ns,
            HALF_LIFE.as_nanos() as u64,
            "a turn counts whole, though halved amid"
        );
        for _ in 0..64 {
            later += HALF_LIFE;
            queue.age(later);
        }
        assert_eq!(queue.lines.len(), 0);
    }

    #[test]
    fn many_clients_are_looked_through_only_once_in_a_while_and_keep_what_they_had() {
        let now = Instant::now();
        let mut queue = FairQueue::default();
        let address = |number: u32| Client::at(std::net::Ipv4Addr::from_bits(number).into());
        for number in 0..3 * CLIENTS_MAX as u32 {
            queue.push(&address(number), Hold::Refusable, number, now);
        }
        check(&queue, 3 * CLIENTS_MAX);
        assert!(queue.forget_from > queue.lines.len(), "{}", queue.forget_from);
    }

    proptest::proptest! {
        #[test]
        fn nobody_is_lost_or_served_twice(steps in proptest::collection::vec((0_u8..4, 1_u8..6, 1_u64..50), 0..80)) {
            let (mut queue, mut now) = (FairQueue::default(), Instant::now());
            let (mut expected, mut turns) = (BTreeSet::new(), Vec::new());
            for (step, number, ms) in steps {
                now += Duration::from_millis(ms * 100);
                match step {
                    0 | 1 => {
                        let ticket = queue.next_ticket;
                        let hold = if ms % 5 == 0 { Hold::Kept } else { Hold::Refusable };
                        queue.push(&client(number), hold, ticket, now);
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
                check(&queue, expected.len());
            }
            while let Some((ticket, _)) = queue.pop(now) {
                proptest::prop_assert!(expected.remove(&ticket));
            }
            proptest::prop_assert!(expected.is_empty());
        }
    }
}
