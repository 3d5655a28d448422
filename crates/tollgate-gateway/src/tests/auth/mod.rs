//! Users, passwords and access rules from outside.

mod by_certificate;
mod kept;
mod passwords;
mod refusals;
mod rules;
mod ways_round;

use std::path::PathBuf;
use std::sync::OnceLock;

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
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("users");
        std::fs::write(&users, lines().join("\n")).unwrap();
        let gateway = Running::start(&format!("users.file = {:?}\n{more}", users.to_str().unwrap()));
        Guarded { gateway, users, folder }
    }
}
