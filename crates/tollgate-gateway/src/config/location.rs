//! Location of a database, as a URL: `sqlite::memory:`, `sqlite:shop.db`, `postgres://me@host/shop`.
//!
//! A password in it is never shown, neither here nor in text passed through [`hide_passwords`].

use std::fmt;
use std::path::PathBuf;

use crate::base::config_error::hide_passwords;
use crate::store::postgres::Address;

/// Location of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// SQLite in memory: gone with the process.
    Memory,
    /// SQLite in this file.
    File(PathBuf),
    /// A database on a PostgreSQL server.
    Postgres(Box<Address>),
}

/// The schemes of PostgreSQL's own URLs.
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

impl Location {
    /// Parses a URL.
    ///
    /// # Errors
    /// States what was expected. A password in `text` is not repeated.
    pub fn parse(text: &str) -> Result<Location, String> {
        if POSTGRES.iter().any(|scheme| text.starts_with(scheme)) {
            return Address::parse(text).map(|address| Location::Postgres(Box::new(address)));
        }
        match text.strip_prefix("sqlite:") {
            Some(":memory:") => Ok(Location::Memory),
            Some(path) => {
                // `sqlite:///var/shop.db` is the long form of `sqlite:/var/shop.db`; a host makes no sense.
                let path = path.strip_prefix("//").unwrap_or(path);
                if path.is_empty() || path.ends_with('/') {
                    return Err(format!("`{text}` names no file: expected such as sqlite:shop.db"));
                }
                Ok(Location::File(path.into()))
            }
            None => Err(format!(
                "expected sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE, found `{}`",
                hide_passwords(text)
            )),
        }
    }

    /// The database's own name: the file's without its ending, or that on the server.
    pub fn database_name(&self) -> Option<&str> {
        match self {
            Location::Memory => None,
            Location::File(path) => path.file_stem()?.to_str(),
            Location::Postgres(address) => Some(&address.database),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Memory => formatter.write_str("sqlite::memory:"),
            Location::File(path) => write!(formatter, "sqlite:{}", path.display()),
            Location::Postgres(address) => address.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Location, name: Option<&str>) {
        let location = Location::parse(text).unwrap();
        assert_eq!((location.database_name(), &location), (name, &expected), "{text}");
    }

    #[test]
    fn files_memory_and_servers_are_told_apart() {
        check("sqlite::memory:", Location::Memory, None);
        check("sqlite:shop.db", Location::File("shop.db".into()), Some("shop"));
        check("sqlite:../data/shop.sqlite3", Location::File("../data/shop.sqlite3".into()), Some("shop"));
        check("sqlite:/var/shop.db", Location::File("/var/shop.db".into()), Some("shop"));
        check("sqlite:///var/shop.db", Location::File("/var/shop.db".into()), Some("shop"));
        for url in ["postgres://me@host/shop", "postgresql://me:secret@host:5433/shop?sslmode=disable"] {
            check(url, Location::Postgres(Box::new(Address::parse(url).unwrap())), Some("shop"));
        }
    }

    #[test]
    fn what_is_no_database_is_refused_without_its_password() {
        for text in [
            "shop.db",
            "sqlite:",
            "sqlite:data/",
            "mysql://me:secret@host/shop",
            "",
            "postgres://me:secret@host:x/shop",
        ] {
            let error = Location::parse(text).unwrap_err();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
    }

    #[test]
    fn passwords_are_hidden_and_nothing_moves() {
        for (text, expected) in [
            ("postgres://me:secret@host/shop", "postgres://me:******@host/shop"),
            ("postgres://me:p@ss/w:rd@host:5432/shop", "postgres://me:*********@host:5432/shop"),
            ("postgres://me:gehêim@host\nnext", "postgres://me:*******@host\nnext"),
            ("postgres://host/shop?user=me&PassWord=secret&x=1", "postgres://host/shop?user=me&PassWord=******&x=1"),
            ("a = \"postgres://h/s?password=p q\"\n", "a = \"postgres://h/s?password=***\"\n"),
            ("postgres://host:5432/shop", "postgres://host:5432/shop"),
            ("me:secret@host", "me:secret@host"),
        ] {
            assert_eq!(hide_passwords(text), expected);
            assert_eq!(hide_passwords(text).len(), text.len());
        }
        let location = Location::parse("postgres://me:secret@host/shop").unwrap();
        assert_eq!(format!("{location} {location:?}").matches("secret").count(), 0);
    }
}
