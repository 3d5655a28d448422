//! Wrong passwords by address: after some of them the next has to wait, each time for longer. The same wrong password
//! again is refused without a look, and counts once.
//!
//! Nothing is counted by user name: whoever guesses can keep nobody else out. Credentials that were right before are
//! never made to wait, so that others behind the same address stay in. Only passwords that were looked at are counted:
//! no flood makes the tables grow faster than passwords are hashed.

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

/// Entries of each table: as many passwords as are hashed within minutes.
const ENTRIES_MAX: usize = 16_384;

/// Wrong passwords of late.
#[derive(Debug, Default)]
pub(super) struct Guesses {
    by_address: HashMap<Client, Guessed>,
    refused: HashMap<Digest, (Instant, Edition)>,
}

/// Wrong passwords of one address.
#[derive(Debug, Clone, Copy)]
struct Guessed {
    /// Number of wrong passwords as of `last`.
    count: u32,
    last: Instant,
}

impl Guessed {
    /// Number of wrong passwords that are not forgotten.
    fn left(self, now: Instant) -> u32 {
        let forgotten = now.saturating_duration_since(self.last).as_secs() / FORGOTTEN.as_secs();
        self.count.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX))
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
    pub(super) fn add(&mut self, client: &Client, digest: Digest, now: Instant, edition: Edition) {
        if self.by_address.len() >= ENTRIES_MAX && !self.by_address.contains_key(client) {
            self.by_address.retain(|_, guessed| guessed.left(now) > 0);
        }
        if let Some(guessed) = self.by_address.get_mut(client) {
            *guessed = Guessed { count: guessed.left(now).saturating_add(1), last: now };
        } else if self.by_address.len() < ENTRIES_MAX {
            // Beyond a full table of others it is not counted, as if it were forgotten at once.
            self.by_address.insert(client.clone(), Guessed { count: 1, last: now });
        }
        if self.refused.len() >= ENTRIES_MAX {
            self.refused.retain(|_, (until, of)| *until > now && *of == edition);
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
            guesses.add(&client(1), [number; 32], now, Edition(0));
            waits.push(guesses.wait(&client(1), now, PATIENCE).as_secs());
            now += guesses.wait(&client(1), now, PATIENCE);
        }
        assert_eq!(waits, [0, 0, 0, 1, 2, 4, 8, 8]);
        assert_eq!(guesses.wait(&client(2), now, PATIENCE), Duration::ZERO, "others do not wait");
        assert_eq!(guesses.wait(&client(1), now, PATIENCE), Duration::ZERO);
        guesses.add(&client(1), [9; 32], now, Edition(0));
        let never = Patience { wait_max: Duration::ZERO, ..PATIENCE };
        assert_eq!(guesses.wait(&client(1), now, never), Duration::ZERO, "the rule in force counts");
        // Nine of them: after six minutes three are left, which are free.
        guesses.add(&client(1), [10; 32], now + FORGOTTEN * 6, Edition(0));
        assert_eq!(guesses.wait(&client(1), now + FORGOTTEN * 6, PATIENCE), Duration::from_secs(1));
    }

    #[test]
    fn the_same_wrong_password_is_known_for_a_while() {
        let (mut guesses, now) = (Guesses::default(), Instant::now());
        guesses.add(&client(1), [1; 32], now, Edition(1));
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
            guesses.add(&address(number), digest(number), now, Edition(0));
        }
        assert_eq!((guesses.by_address.len(), guesses.refused.len()), (ENTRIES_MAX, ENTRIES_MAX));
        let later = now + FORGOTTEN;
        guesses.add(&address(many + 10), digest(many + 10), later, Edition(0));
        assert_eq!((guesses.by_address.len(), guesses.refused.len()), (1, 1));
    }
}
