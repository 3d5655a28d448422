//! Users, passwords and access rules from outside.

mod by_certificate;
mod kept;
mod passwords;
mod refusals;
mod rules;
mod ways_round;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use tollgate_net::clock::ManualClock;

use super::client::Running;
use crate::auth;

/// `ann:secret`, of the group agents.
pub(super) const ANN: (&str, &str) = ("Authorization", "Basic YW5uOnNlY3JldA==");
/// `bob:secret`, of the group editors.
pub(super) const BOB: (&str, &str) = ("Authorization", "Basic Ym9iOnNlY3JldA==");
/// `ann:wrong`
pub(super) const WRONG: (&str, &str) = ("Authorization", "Basic YW5uOndyb25n");
/// `eve:secret`, an unknown user.
const NOBODY: (&str, &str) = ("Authorization", "Basic ZXZlOnNlY3JldA==");

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A gateway whose users are ann and bob.
pub(super) struct Guarded {
    pub(super) gateway: Running,
    pub(super) users: PathBuf,
    pub(super) folder: tempfile::TempDir,
}

/// Lines of a users file; created once, since each costs a hash.
pub(super) fn lines() -> &'static [String; 2] {
    static LINES: OnceLock<[String; 2]> = OnceLock::new();
    LINES.get_or_init(|| {
        [("ann", "agents"), ("bob", "editors")]
            .map(|(name, group)| auth::line(name, b"secret", &[group.to_owned()]).unwrap())
    })
}

impl Guarded {
    /// Starts a gateway with more configuration behind `[users]`.
    pub(super) fn start(more: &str) -> Guarded {
        let (folder, users) = Guarded::files();
        let gateway = Running::start(&with_users(&users, more));
        Guarded { gateway, users, folder }
    }

    /// The same with a clock that is moved by hand.
    pub(super) fn start_by_hand(more: &str) -> (Guarded, ManualClock) {
        let (folder, users) = Guarded::files();
        let from = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let (gateway, hand) = Running::start_by_hand(&with_users(&users, more), from);
        (Guarded { gateway, users, folder }, hand)
    }

    /// Its configuration with something else behind `[users]`.
    pub(super) fn config(&self, more: &str) -> String {
        with_users(&self.users, more)
    }

    fn files() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("users");
        std::fs::write(&users, lines().join("\n")).unwrap();
        (folder, users)
    }
}

fn with_users(users: &Path, more: &str) -> String {
    format!("users.file = {:?}\n{more}", users.to_str().unwrap())
}
