//! Wrong passwords by address: after some of them the next has to wait, each time for longer. The same wrong password
//! again is refused without a look, and counts once.
//!
//! Nothing is counted by user name: guesses from one address keep out nobody at others. Credentials that were right before
//! are never made to wait, so that those who were in stay in behind the same address, too. Only passwords that were hashed are counted: no
//! flood makes the tables grow faster than that.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::verified::{Digest, Edition};
use crate::base::client::Client;

/// How long an address waits after wrong passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patience {
    /// Wrong passwords without a wait.
    pub(super) free: u32,
    /// Longest wait; zero: none ever waits.
    pub(super) wait_max: Duration,
}

/// Time in which one wrong password of an address is forgotten.
const FORGOTTEN: Duration = Duration::from_mins(1);

/// Time for which a refused password is known to be wrong.
const REFUSED_FOR: Duration = Duration::from_mins(1);

/// Shortest time between two looks through full tables.
const SWEEPING: Duration = Duration::from_secs(1);

/// Wrong passwords beyond the free ones that count: with as many the wait is the longest that may be set.
const BEYOND_MAX: u32 = 13;

/// Entries of each table: as many passwords as are hashed within minutes.
const ENTRIES_MAX: usize = 16_384;

/// Wrong passwords of late.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    by_address: HashMap<Client, Guessed>,
    refused: HashMap<Digest, (Instant, Edition)>,
    /// When full tables were looked through for what is forgotten.
    swept: Option<Instant>,
}

/// Wrong passwords of one address.
#[derive(Debug, Clone, Copy)]
struct Guessed {
    /// Number of wrong passwords as of `since`, from when on they are forgotten one by one.
    count: u32,
    since: Instant,
    /// The last one, from when on the address waits.
    last: Instant,
}

impl Guessed {
    /// Number of wrong passwords that are not forgotten.
    fn left(self, now: Instant) -> u32 {
        self.count.saturating_sub(self.forgotten(now))
    }

    fn forgotten(self, now: Instant) -> u32 {
        let minutes = now.saturating_duration_since(self.since).as_secs() / FORGOTTEN.as_secs();
        u32::try_from(minutes).unwrap_or(u32::MAX)
    }

    /// The same with one more, of at most `max`.
    fn and_one(self, now: Instant, max: u32) -> Guessed {
        let since = match self.left(now) {
            0 => now,
            // Parts of a minute count on.
            _ => self.since + FORGOTTEN * self.forgotten(now),
        };
        Guessed { count: (self.left(now) + 1).min(max), since, last: now }
    }
}

impl Guesses {
    /// Whether these credentials were refused a moment ago, by this edition of the users.
    pub(super) fn is_refused(&self, digest: &Digest, now: Instant, edition: Edition) -> bool {
        self.refused.get(digest).is_some_and(|(until, of)| *until > now && *of == edition)
    }

    /// Time for which an address has to wait; zero if it need not.
    pub(super) fn wait(&self, client: &Client, now: Instant, patience: Patience) -> Duration {
        let Some(guessed) = self.by_address.get(client) else { return Duration::ZERO };
        let beyond = guessed.left(now).saturating_sub(patience.free);
        if beyond == 0 {
            return Duration::ZERO;
        }
        let wait = Duration::from_secs(1 << (beyond - 1).min(20)).min(patience.wait_max);
        (guessed.last + wait).saturating_duration_since(now)
    }

    /// Counts a wrong password.
    pub(super) fn add(
        &mut self,
        client: &Client,
        (digest, edition): (Digest, Edition),
        now: Instant,
        patience: Patience,
    ) {
        let is_full = self.by_address.len() >= ENTRIES_MAX || self.refused.len() >= ENTRIES_MAX;
        if is_full && self.swept.is_none_or(|at| now.duration_since(at) >= SWEEPING) {
            self.swept = Some(now);
            self.by_address.retain(|_, guessed| guessed.left(now) > 0);
            self.refused.retain(|_, (until, of)| *until > now && *of == edition);
        }
        if let Some(guessed) = self.by_address.get_mut(client) {
            *guessed = guessed.and_one(now, patience.free.saturating_add(BEYOND_MAX));
        } else if self.by_address.len() < ENTRIES_MAX {
            // Beyond a full table of others it is not counted, as if it were forgotten at once.
            self.by_address.insert(client.clone(), Guessed { count: 1, since: now, last: now });
        }
        if self.refused.len() < ENTRIES_MAX {
            self.refused.insert(digest, (now + REFUSED_FOR, edition));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience { free: 3, wait_max: Duration::from_secs(8) };

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    #[test]
    fn waits_grow_and_are_forgotten() {
        let (mut guesses, mut now) = (Guesses::default(), Instant::now());
        let mut waits = Vec::new();
        for number in 0..8 {
            guesses.add(&client(1), ([number; 32], Edition(0)), now, PATIENCE);
            waits.push(guesses.wait(&client(1), now, PATIENCE).as_secs());
            now += guesses.wait(&client(1), now, PATIENCE);
        }
        assert_eq!(waits, [0, 0, 0, 1, 2, 4, 8, 8]);
        assert_eq!(guesses.wait(&client(2), now, PATIENCE), Duration::ZERO, "others do not wait");
        assert_eq!(guesses.wait(&client(1), now, PATIENCE), Duration::ZERO);
        guesses.add(&client(1), ([9; 32], Edition(0)), now, PATIENCE);
        let never = Patience { wait_max: Duration::ZERO, ..PATIENCE };
        assert_eq!(guesses.wait(&client(1), now, never), Duration::ZERO, "the rule in force counts");
        // Nine of them: after six minutes three are left, which are free.
        guesses.add(&client(1), ([10; 32], Edition(0)), now + FORGOTTEN * 6, PATIENCE);
        assert_eq!(guesses.wait(&client(1), now + FORGOTTEN * 6, PATIENCE), Duration::from_secs(1));
    }

    #[test]
    fn whoever_is_wrong_now_and_then_never_waits_and_no_flood_counts_for_days() {
        let (mut guesses, mut now) = (Guesses::default(), Instant::now());
        for number in 0..100 {
            guesses.add(&client(1), ([number; 32], Edition(0)), now, PATIENCE);
            assert_eq!(guesses.wait(&client(1), now, PATIENCE), Duration::ZERO, "{number}");
            now += FORGOTTEN * 5 / 6 + Duration::from_secs(25 * u64::from(number % 2));
        }
        for number in 0..100 {
            guesses.add(&client(2), ([number; 32], Edition(1)), now, PATIENCE);
        }
        let later = now + FORGOTTEN * (PATIENCE.free + BEYOND_MAX);
        assert_eq!(guesses.wait(&client(2), later, PATIENCE), Duration::ZERO);
        assert_eq!(guesses.by_address[&client(2)].left(later), 0);
    }

    #[test]
    fn the_same_wrong_password_is_known_for_a_while() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        guesses.add(&client(1), ([1; 32], Edition(1)), now, PATIENCE);
        for (digest, later, edition, expected) in
            [(1, 59, 1, true), (1, 60, 1, false), (1, 0, 2, false), (2, 0, 1, false)]
        {
            let at = now + Duration::from_secs(later);
            assert_eq!(guesses.is_refused(&[digest; 32], at, Edition(edition)), expected, "{digest} {later}");
        }
    }

    #[test]
    fn the_tables_are_bounded_and_make_room_for_what_counts() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        let digest = |number: u32| {
            let mut digest = [0; 32];
            digest[..4].copy_from_slice(&number.to_le_bytes());
            digest
        };
        let address = |number: u32| Client::at(std::net::Ipv4Addr::from_bits(number).into());
        let many = ENTRIES_MAX as u32;
        for number in 0..many + 10 {
            guesses.add(&address(number), (digest(number), Edition(0)), now, PATIENCE);
        }
        assert_eq!((guesses.by_address.len(), guesses.refused.len()), (ENTRIES_MAX, ENTRIES_MAX));
        let later = now + FORGOTTEN;
        guesses.add(&address(many + 10), (digest(many + 10), Edition(0)), later, PATIENCE);
        assert_eq!((guesses.by_address.len(), guesses.refused.len()), (1, 1));
    }
}
