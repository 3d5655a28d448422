//! Credentials that were verified a moment ago, so that the next request with them costs no hash of a password.
//!
//! It deliberately holds neither names nor passwords, only a keyed hash of both: whoever reads this memory has no more
//! than before. What was refused is not kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::caller::User;

/// A keyed hash of a name and a password as they were sent.
pub(super) type Digest = [u8; 32];

/// Which reading of the users file it was verified by: what another says counts no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Edition(pub(super) u64);

/// Verified credentials, a bounded number of them.
#[derive(Debug)]
pub(super) struct Verified {
    users: HashMap<Digest, Kept>,
    entries_max: usize,
}

/// Whose credentials they are, and how long that holds.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) user: Arc<User>,
    pub(super) until: Instant,
    pub(super) edition: Edition,
}

impl Verified {
    /// None yet; at most so many at once.
    pub(super) fn new(entries_max: usize) -> Verified {
        Verified { users: HashMap::new(), entries_max }
    }

    /// Whose these are, if that was verified by this edition and still holds at `now`.
    pub(super) fn find(&self, digest: &Digest, now: Instant, edition: Edition) -> Option<&Kept> {
        self.users.get(digest).filter(|kept| kept.until > now && kept.edition == edition)
    }

    /// Keeps one. Where there is no room, what holds no more goes, or else what ends first.
    pub(super) fn keep(&mut self, digest: Digest, kept: Kept, now: Instant) {
        if self.users.len() >= self.entries_max && !self.users.contains_key(&digest) {
            let edition = kept.edition;
            self.users.retain(|_, other| other.until > now && other.edition == edition);
            if self.users.len() >= self.entries_max {
                let first = self.users.iter().min_by_key(|entry| entry.1.until).map(|entry| *entry.0);
                first.map(|first| self.users.remove(&first));
            }
        }
        self.users.insert(digest, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn entries_end_with_their_time_their_edition_or_for_want_of_room() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let user = Arc::new(User { name: "ann".into(), groups: Box::new([]) });
        let kept = |until, edition| Kept { user: Arc::clone(&user), until: at(until), edition: Edition(edition) };
        let mut verified = Verified::new(2);
        verified.keep([1; 32], kept(10, 1), start);
        for (digest, now, edition, expected) in [(1, 9, 1, true), (1, 10, 1, false), (1, 9, 2, false), (2, 9, 1, false)]
        {
            assert_eq!(verified.find(&[digest; 32], at(now), Edition(edition)).is_some(), expected, "{digest} {now}");
        }
        verified.keep([2; 32], kept(20, 1), start);
        verified.keep([3; 32], kept(30, 1), start);
        let there = |verified: &Verified| -> Vec<u8> {
            let mut there: Vec<u8> = verified.users.keys().map(|digest| digest[0]).collect();
            there.sort_unstable();
            there
        };
        assert_eq!(there(&verified), [2, 3]);
        verified.keep([3; 32], kept(31, 1), start);
        assert_eq!(there(&verified), [2, 3]);
        verified.keep([4; 32], kept(40, 1), at(25));
        assert_eq!(there(&verified), [3, 4]);
        verified.keep([5; 32], kept(40, 2), at(25));
        assert_eq!(there(&verified), [5]);
    }
}
