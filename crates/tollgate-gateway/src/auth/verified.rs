//! Cache of verified credentials, so that the next request with them needs no password hash.
//!
//! It contains neither names nor passwords, only a keyed hash of both, so reading this memory reveals neither. Refused
//! credentials are not kept.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::caller::User;

/// A keyed hash of a name and a password as sent.
pub(super) type Digest = [u8; 32];

/// Edition of the users file; results verified by another edition no longer count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Edition(pub(super) u64);

/// Verified credentials, a bounded number of them.
#[derive(Debug)]
pub(super) struct Verified {
    users: HashMap<Digest, Kept>,
    entries_max: usize,
}

/// Owner of verified credentials, and how long that is valid.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) user: Arc<User>,
    pub(super) until: Instant,
    pub(super) edition: Edition,
}

impl Verified {
    /// Creates an empty cache of at most so many entries.
    pub(super) fn new(entries_max: usize) -> Verified {
        Verified { users: HashMap::new(), entries_max }
    }

    /// Owner of these credentials, if verified by this edition and still valid at `now`.
    pub(super) fn find(&self, digest: &Digest, now: Instant, edition: Edition) -> Option<&Kept> {
        self.users.get(digest).filter(|kept| kept.until > now && kept.edition == edition)
    }

    /// Whether these credentials were verified once, however long ago and by whatever edition: they may not be right
    /// any more.
    pub(super) fn were_right(&self, digest: &Digest) -> bool {
        self.users.contains_key(digest)
    }

    /// Lets none of them count as verified any more.
    pub(super) fn expire(&mut self, now: Instant) {
        self.users.values_mut().for_each(|kept| kept.until = now);
    }

    /// Keeps one. If there is no room, invalid ones are removed, or else the first to expire.
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
        assert!(verified.were_right(&[1; 32]) && !verified.were_right(&[2; 32]));
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
