//! The users file: a line `name:hash:group,group` for each user, `#` before a remark. An asterisk in the place of the
//! hash matches no password: such a user needs a certificate.
//!
//! A wrong name gives the same result as a wrong password, and takes as long.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::fmt;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::caller::User;
use super::password::{Cost, Hash, PASSWORD_BYTES_MAX};

/// The users of a gateway.
#[derive(Debug, Default)]
pub struct Users {
    users: HashMap<Arc<str>, KnownUser>,
    /// Verification cost of each user with a password.
    costs: Vec<Cost>,
    chance: RandomState,
}

#[derive(Debug, PartialEq)]
struct KnownUser {
    user: Arc<User>,
    hash: Option<Hash>,
}

/// Result of verifying a name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The credentials are this user's.
    Verified(Arc<User>),
    /// The credentials are nobody's.
    Refused,
}

/// Error in a users file, with its place.
#[derive(Debug)]
pub struct UsersError {
    /// The file and the line, or the file alone.
    place: String,
    wrong: String,
}

// The table of limits.
const FILE_BYTES_MAX: u64 = 16 << 20;
const NAME_CHARACTERS_MAX: usize = 255;
const GROUP_CHARACTERS_MAX: usize = 64;
const GROUPS_MAX: usize = 64;

/// Placeholder for a hash that matches no password.
const NO_PASSWORD: &str = "*";

impl PartialEq for Users {
    fn eq(&self, other: &Users) -> bool {
        self.users == other.users
    }
}

impl Users {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or the first error in it.
    pub fn read(path: &Path) -> Result<Users, UsersError> {
        let place = path.display().to_string();
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
        let wrong = |error: io::Error| UsersError { place: place.clone(), wrong: format!("cannot be read: {error}") };
        read.map_err(wrong)?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(UsersError { place, wrong: format!("has more than {FILE_BYTES_MAX} bytes") });
        }
        Users::parse(&text, &place)
    }

    /// Parses the text of the file `file_name` (used in messages only).
    ///
    /// # Errors
    /// The first error, with its line. No part of a hash is repeated.
    pub fn parse(text: &str, file_name: &str) -> Result<Users, UsersError> {
        let mut users = Users::default();
        let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
        for (index, line) in lines.enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            users.add(line).map_err(|wrong| UsersError { place: format!("{file_name}:{}", index + 1), wrong })?;
        }
        Ok(users)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let mut fields = line.split(':');
        let (Some(name), Some(hash), groups, None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err("expected a line name:hash:group,group, as `tollgate password` prints it".to_owned());
        };
        check_name(name)?;
        let hash = match hash {
            NO_PASSWORD => None,
            text => Some(Hash::parse(text)?),
        };
        let groups: Vec<&str> =
            groups.filter(|groups| !groups.is_empty()).into_iter().flat_map(|g| g.split(',')).collect();
        check_groups(&groups)?;
        let name: Arc<str> = name.into();
        match self.users.entry(Arc::clone(&name)) {
            Entry::Occupied(_) => Err(format!("the user `{name}` stands there twice")),
            Entry::Vacant(place) => {
                self.costs.extend(hash.as_ref().map(Hash::cost));
                let groups = groups.into_iter().map(Box::from).collect();
                place.insert(KnownUser { user: Arc::new(User { name, groups }), hash });
                Ok(())
            }
        }
    }

    /// Number of users.
    pub fn count(&self) -> usize {
        self.users.len()
    }

    /// The user of this name, already authenticated in another way.
    pub fn user(&self, name: &str) -> Option<&Arc<User>> {
        self.users.get(name).map(|kept| &kept.user)
    }

    /// Verifies a name and a password. Takes some 20 ms and [`Cost::memory_kib`], whether there is such a user or not.
    pub fn verify(&self, name: &str, password: &[u8]) -> Verdict {
        if password.len() > PASSWORD_BYTES_MAX {
            return Verdict::Refused;
        }
        match self.users.get(name) {
            Some(KnownUser { user, hash: Some(hash) }) if hash.verifies(password) => {
                Verdict::Verified(Arc::clone(user))
            }
            Some(KnownUser { hash: Some(_), .. }) => Verdict::Refused,
            Some(KnownUser { hash: None, .. }) | None => {
                let _ = Hash::nobodys(self.cost_of_unknown(name)).verifies(password);
                Verdict::Refused
            }
        }
    }

    /// Cost of verifying an unknown name: that of one of the users, and always the same for the same name.
    fn cost_of_unknown(&self, name: &str) -> Cost {
        match self.costs.len() {
            0 => Cost::default(),
            users => self.costs[(self.chance.hash_one(name) % users as u64) as usize],
        }
    }
}

/// Returns the line of a users file for a user with this password.
///
/// # Errors
/// The name, a group or the password is invalid.
pub fn line(name: &str, password: &[u8], groups: &[String]) -> Result<String, String> {
    check_name(name)?;
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    check_groups(&groups)?;
    if password.is_empty() || password.len() > PASSWORD_BYTES_MAX {
        return Err(format!("expected a password of 1 to {PASSWORD_BYTES_MAX} bytes"));
    }
    if std::str::from_utf8(password).is_err() || password.iter().any(u8::is_ascii_control) {
        return Err("expected a password in UTF-8 without control characters: no client could send another".to_owned());
    }
    let hash = Hash::of(password, Cost::default())?;
    Ok(format!("{name}:{hash}:{}", groups.join(",")))
}

fn check_name(name: &str) -> Result<(), String> {
    let shaped = !name.is_empty() && name.trim() == name && !name.starts_with('#');
    let plain = !name.chars().any(|character| character == ':' || character.is_control());
    match shaped && plain && name.chars().count() <= NAME_CHARACTERS_MAX {
        true => Ok(()),
        false => Err(format!(
            "expected a name of 1 to {NAME_CHARACTERS_MAX} characters without `:`, control characters, `#` at its beginning or blanks at its ends"
        )),
    }
}

fn check_groups(groups: &[&str]) -> Result<(), String> {
    if groups.len() > GROUPS_MAX {
        return Err(format!("expected at most {GROUPS_MAX} groups"));
    }
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.');
    let shaped =
        |group: &str| !group.is_empty() && group.chars().count() <= GROUP_CHARACTERS_MAX && group.chars().all(plain);
    match groups.iter().find(|group| !shaped(group)) {
        None => Ok(()),
        Some(group) => Err(format!(
            "expected groups of 1 to {GROUP_CHARACTERS_MAX} letters, digits, `-`, `_` and `.` between commas, found `{group}`"
        )),
    }
}

impl fmt::Display for UsersError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "users file {}: {}", self.place, self.wrong)
    }
}

impl std::error::Error for UsersError {}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

    #[test]
    fn users_are_read_with_their_groups_and_verified() {
        let text = format!("\u{feff}# who may\r\n\r\nann:{HASH}:agents,night-shift\r\n  zoë:*\nbob:{HASH}:\n");
        let users = Users::parse(&text, "users").unwrap();
        assert_eq!(users.count(), 3);
        let ann = users.user("ann").unwrap();
        assert_eq!((&*ann.name, &*ann.groups), ("ann", &["agents".into(), "night-shift".into()][..]));
        assert_eq!(users.verify("ann", b"password"), Verdict::Verified(Arc::clone(ann)));
        for (name, password) in [("ann", "Password"), ("Ann", "password"), ("zoë", "password"), ("zoë", "*"), ("", "")]
        {
            assert_eq!(users.verify(name, password.as_bytes()), Verdict::Refused, "{name}");
        }
        assert_eq!(users.verify("ann", &[b'p'; PASSWORD_BYTES_MAX + 1]), Verdict::Refused);
    }

    #[test]
    fn a_name_of_nobody_costs_what_one_of_the_users_costs() {
        let users = Users::parse(&format!("ann:{HASH}\nbob:*\n"), "users").unwrap();
        assert_eq!(users.cost_of_unknown("eve").memory_kib, 65536);
        let nobody = Users::parse("", "users").unwrap();
        assert_eq!(nobody.cost_of_unknown("eve"), Cost::default());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_without_the_hash() {
        let long = "n".repeat(NAME_CHARACTERS_MAX + 1);
        for (line, expected) in [
            ("ann".to_owned(), "name:hash:group"),
            (format!("ann:{HASH}:a:b"), "name:hash:group"),
            (format!(":{HASH}"), "expected a name"),
            (format!("{long}:{HASH}"), "expected a name"),
            (format!("a\u{7}b:{HASH}"), "expected a name"),
            ("ann:c29tZXNhbHQ".to_owned(), "expected a hash"),
            ("ann:$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q".to_owned(), "weaker"),
            (format!("ann:{HASH}:a,,b"), "between commas"),
            (format!("ann:{HASH}:a b"), "found `a b`"),
            (format!("eve:{HASH}"), "twice"),
        ] {
            let error = Users::parse(&format!("eve:*\n{line}\n"), "users.txt").unwrap_err().to_string();
            assert!(error.starts_with("users file users.txt:2: ") && error.contains(expected), "{line}: {error}");
            assert!(!error.contains("c29tZXNhbHQ"), "{error}");
        }
    }

    #[test]
    fn a_line_is_read_as_it_was_made() {
        let groups = ["agents".to_owned(), "x.y".to_owned()];
        let made = line("ann", "pässword".as_bytes(), &groups).unwrap();
        let users = Users::parse(&made, "users").unwrap();
        let Verdict::Verified(user) = users.verify("ann", "pässword".as_bytes()) else { panic!("{made}") };
        assert_eq!(user.groups.len(), 2);
        for (name, password, group) in
            [("a:b", "x", "g"), ("#a", "x", "g"), ("a", "", "g"), ("a", "x", "g,h"), ("a", "x\n", "g")]
        {
            assert!(line(name, password.as_bytes(), &[group.to_owned()]).is_err(), "{name} {password} {group}");
        }
    }
}
