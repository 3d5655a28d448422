//! Edits of a message's fields by mediators, in their order: set, removed, renamed.
//!
//! The fields themselves are never copied: they stay in the head, and pass the edits on their way out. It does not know
//! which fields may be edited; the configuration has refused the others.

use std::ops::Range;

/// Edits of the fields of one message, in their order. The memory is reused for the next message.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// Names and values, concatenated.
    bytes: Vec<u8>,
    edits: Vec<Edit>,
}

#[derive(Debug, Clone)]
enum Edit {
    Set { name: Range<usize>, value: Range<usize> },
    Remove { name: Range<usize> },
    Rename { name: Range<usize>, new: Range<usize> },
}

impl Edits {
    /// Whether the fields leave unchanged.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Replaces all fields of this name, in any case, by one.
    pub(crate) fn set(&mut self, name: &str, value: &[u8]) {
        let (name, value) = (self.store(name.as_bytes()), self.store(value));
        self.edits.push(Edit::Set { name, value });
    }

    /// Removes all fields of this name, in any case.
    pub(crate) fn remove(&mut self, name: &str) {
        let name = self.store(name.as_bytes());
        self.edits.push(Edit::Remove { name });
    }

    /// Gives all fields of a name, in any case, another one.
    pub(crate) fn rename(&mut self, name: &str, new: &str) {
        let (name, new) = (self.store(name.as_bytes()), self.store(new.as_bytes()));
        self.edits.push(Edit::Rename { name, new });
    }

    /// Forgets all edits; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.edits.clear();
    }

    /// Writes the fields as they leave: those of the message in their order, then those that were set.
    pub(crate) fn apply<'f>(
        &'f self,
        fields: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        mut write: impl FnMut(&'f str, &'f [u8]),
    ) {
        for (name, value) in fields {
            if let Some(name) = self.passed(0, name) {
                write(name, value);
            }
        }
        for (name, value) in self.added() {
            write(name, value);
        }
    }

    /// The first field of this name, in any case, after all edits.
    pub(crate) fn find<'f>(
        &'f self,
        mut fields: impl Iterator<Item = (&'f str, &'f [u8])>,
        wanted: &str,
    ) -> Option<&'f [u8]> {
        let is_wanted = |name: Option<&str>| name.is_some_and(|name| name.eq_ignore_ascii_case(wanted));
        let found = fields.find(|(name, _)| is_wanted(self.passed(0, name))).map(|(_, value)| value);
        found.or_else(|| self.added().find(|(name, _)| is_wanted(Some(name))).map(|(_, value)| value))
    }

    /// The fields that were set, after all edits.
    fn added(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.edits.iter().enumerate().filter_map(|(index, edit)| match edit {
            Edit::Set { name, value } => Some((self.passed(index + 1, self.text(name))?, &self.bytes[value.clone()])),
            Edit::Remove { .. } | Edit::Rename { .. } => None,
        })
    }

    /// Name of a field after the edits from the one at `first` on; `None` if it is removed.
    fn passed<'n>(&'n self, first: usize, name: &'n str) -> Option<&'n str> {
        let mut current = name;
        for edit in &self.edits[first..] {
            match edit {
                Edit::Set { name, .. } | Edit::Remove { name } if self.is(name, current) => return None,
                Edit::Rename { name, new } if self.is(name, current) => current = self.text(new),
                Edit::Set { .. } | Edit::Remove { .. } | Edit::Rename { .. } => {}
            }
        }
        Some(current)
    }

    fn store(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }

    fn is(&self, name: &Range<usize>, other: &str) -> bool {
        self.bytes[name.clone()].eq_ignore_ascii_case(other.as_bytes())
    }

    fn text(&self, name: &Range<usize>) -> &str {
        std::str::from_utf8(&self.bytes[name.clone()]).expect("names are stored from texts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(&str, &[u8]); 4] = [("Host", b"a"), ("X-Symbol", b"IBM"), ("x-symbol", b"SUN"), ("Accept", b"*/*")];

    fn check(edit: impl FnOnce(&mut Edits), expected: &str) {
        let mut edits = Edits::default();
        edits.set("left", b"over");
        edits.clear();
        edit(&mut edits);
        let mut told = String::new();
        edits.apply(FIELDS, |name, value| {
            told.push_str(&format!("{name}={} ", String::from_utf8_lossy(value)));
        });
        assert_eq!(told.trim_end(), expected);
        for field in told.split_whitespace() {
            let (name, _) = field.split_once('=').unwrap();
            let first = told
                .split_whitespace()
                .find(|field| field.to_ascii_lowercase().starts_with(&format!("{}=", name.to_ascii_lowercase())));
            let value = edits.find(FIELDS.into_iter(), &name.to_ascii_uppercase()).unwrap();
            assert_eq!(first.unwrap().split_once('=').unwrap().1.as_bytes(), value, "{name}");
        }
    }

    #[test]
    fn edits_are_done_in_their_order() {
        check(|_| {}, "Host=a X-Symbol=IBM x-symbol=SUN Accept=*/*");
        check(|edits| edits.remove("X-SYMBOL"), "Host=a Accept=*/*");
        check(|edits| edits.set("x-symbol", b"one"), "Host=a Accept=*/* x-symbol=one");
        check(|edits| edits.rename("x-symbol", "Symbol"), "Host=a Symbol=IBM Symbol=SUN Accept=*/*");
        let swap = |edits: &mut Edits| {
            edits.rename("Host", "Kept");
            edits.set("Host", b"b");
            edits.rename("Accept", "Host");
        };
        check(swap, "Kept=a X-Symbol=IBM x-symbol=SUN Host=*/* Host=b");
        let twice = |edits: &mut Edits| {
            edits.set("Accept", b"text/xml");
            edits.rename("accept", "Takes");
            edits.remove("host");
            edits.set("Accept", b"none");
        };
        check(twice, "X-Symbol=IBM x-symbol=SUN Takes=text/xml Accept=none");
        let gone = |edits: &mut Edits| {
            edits.set("New", b"1");
            edits.remove("new");
        };
        check(gone, "Host=a X-Symbol=IBM x-symbol=SUN Accept=*/*");
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let mut edits = Edits::default();
        edits.remove("Host");
        assert_eq!(edits.find(FIELDS.into_iter(), "host"), None);
        assert_eq!(edits.find(FIELDS.into_iter(), "x-symbol"), Some(b"IBM".as_slice()));
    }
}
