//! Entities that earlier requests of a batch created or changed, by Content-ID, so that later ones can name them: `$1`
//! at the beginning of a URL, or as a link in a body.
//!
//! It does not know which requests may see each other: the code that runs the batch clears it.

use std::borrow::Cow;
use std::collections::HashMap;

/// Addresses below the service root, by Content-ID. Empty outside of batches.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContentIds(HashMap<String, String>);

impl ContentIds {
    /// Records the address of the entity that the request with this id created or changed.
    pub(crate) fn note(&mut self, id: &str, address: &[u8]) {
        // Addresses are percent-encoded.
        self.0.insert(id.to_owned(), String::from_utf8_lossy(address).into_owned());
    }

    /// Forgets an id whose entity is gone, or whose request was undone.
    pub(crate) fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The address for an id.
    pub(crate) fn address(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// Replaces an id at the beginning of a path below the service root by its address.
    pub(crate) fn resolve<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let named = path.strip_prefix('$').filter(|_| !self.0.is_empty());
        let address = named.and_then(|named| {
            let (id, rest) = named.split_at(named.find('/').unwrap_or(named.len()));
            Some((self.address(id)?, rest))
        });
        match address {
            None => Cow::Borrowed(path),
            Some((address, rest)) => Cow::Owned([address, rest].concat()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_at_the_beginning_of_a_path_stands_for_an_address() {
        let mut ids = ContentIds::default();
        assert_eq!(ids.resolve("$1/flightBookings"), "$1/flightBookings");
        ids.note("1", b"FlightCollection('A')");
        for (path, expected) in [
            ("$1", "FlightCollection('A')"),
            ("$1/flightBookings", "FlightCollection('A')/flightBookings"),
            ("$11", "$11"),
            ("$metadata", "$metadata"),
            ("A/$1", "A/$1"),
        ] {
            assert_eq!(ids.resolve(path), expected);
        }
        ids.note("2", b"A");
        ids.forget("1");
        assert_eq!((ids.resolve("$1"), ids.resolve("$2")), ("$1".into(), "A".into()));
        ids.clear();
        assert_eq!(ids.resolve("$1"), "$1");
    }
}
