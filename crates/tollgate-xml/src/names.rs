//! Names of one document, each stored once: namespaces, prefixes, and expanded names (a namespace with a local name), so
//! that comparing two names of a document compares two numbers.
//!
//! It does not know which prefix stands for which namespace where: that is the tree's.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A namespace name of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(pub(crate) u32);

impl Namespace {
    /// No namespace.
    pub const NONE: Namespace = Namespace(0);
    /// That of the prefix `xml`.
    pub const XML: Namespace = Namespace(1);
}

/// A prefix of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(pub(crate) u32);

impl Prefix {
    /// No prefix.
    pub const NONE: Prefix = Prefix(0);
    /// `xml`.
    pub const XML: Prefix = Prefix(1);
}

/// An expanded name of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub(crate) u32);

/// The namespace of the prefix `xml` (Namespaces in XML 1.0, section 3).
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace that declarations of namespaces stand in, as attributes.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// The names of one document.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    // All texts behind each other; the entries point into it.
    text: String,
    namespaces: Vec<Span>,
    prefixes: Vec<Span>,
    names: Vec<(u32, Span)>,
    // So that nobody can build names that all meet in one slot.
    seed: u64,
    // Open addressing over `names`, a power of two long; 0 is free, else the number of the name plus one.
    slots: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

/// Slots that a document begins with: most messages have fewer than half as many names.
const SLOTS_AT_FIRST: usize = 64;
/// Slots that are kept for another document.
const SLOTS_KEPT_MAX: usize = 512;

impl Names {
    pub(crate) fn new() -> Names {
        let mut names = Names {
            text: String::with_capacity(512),
            namespaces: Vec::with_capacity(8),
            prefixes: Vec::with_capacity(8),
            names: Vec::with_capacity(SLOTS_AT_FIRST / 2),
            seed: seed(),
            slots: vec![0; SLOTS_AT_FIRST],
        };
        names.begin();
        names
    }

    /// What every document has.
    fn begin(&mut self) {
        for namespace in ["", XML_NAMESPACE] {
            self.namespace(namespace);
        }
        for prefix in ["", "xml"] {
            self.prefix(prefix);
        }
    }

    /// Forgets all names and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.namespaces.clear();
        self.prefixes.clear();
        self.names.clear();
        self.slots.fill(0);
        self.begin();
    }

    /// Bytes that it takes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let spans = (self.namespaces.capacity() + self.prefixes.capacity()) * size_of::<Span>();
        self.text.capacity()
            + spans
            + self.names.capacity() * size_of::<(u32, Span)>()
            + self.slots.len() * size_of::<u32>()
    }

    /// Whether it is worth keeping: a table that has grown takes longer to clear than to make.
    pub(crate) fn is_small(&self) -> bool {
        self.slots.len() <= SLOTS_KEPT_MAX
    }

    fn store(text: &mut String, new: &str) -> Span {
        let start = text.len();
        text.push_str(new);
        Span { start: number(start), end: number(text.len()) }
    }

    fn at(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The namespace of this name, stored if it is new.
    pub(crate) fn namespace(&mut self, uri: &str) -> Namespace {
        if let Some(known) = self.find_namespace(uri) {
            return known;
        }
        self.namespaces.push(Names::store(&mut self.text, uri));
        Namespace(number(self.namespaces.len() - 1))
    }

    /// The namespace of this name, if the document has it.
    pub(crate) fn find_namespace(&self, uri: &str) -> Option<Namespace> {
        // A handful: comparing lengths first makes this cheaper than a hash.
        let position = self.namespaces.iter().position(|span| self.at(*span) == uri)?;
        Some(Namespace(number(position)))
    }

    pub(crate) fn prefix(&mut self, prefix: &str) -> Prefix {
        if let Some(known) = self.prefixes.iter().position(|span| self.at(*span) == prefix) {
            return Prefix(number(known));
        }
        self.prefixes.push(Names::store(&mut self.text, prefix));
        Prefix(number(self.prefixes.len() - 1))
    }

    /// The expanded name, stored if it is new.
    pub(crate) fn name(&mut self, namespace: Namespace, local: &str) -> Name {
        let mut slot = hash(self.seed, namespace, local) & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            let index = self.slots[slot] - 1;
            let (uri, span) = self.names[index as usize];
            if uri == namespace.0 && self.at(span) == local {
                return Name(index);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let span = Names::store(&mut self.text, local);
        self.names.push((namespace.0, span));
        let new = number(self.names.len() - 1);
        self.slots[slot] = new + 1;
        if self.names.len() * 2 > self.slots.len() {
            self.grow();
        }
        Name(new)
    }

    /// The expanded name, if the document has it.
    pub(crate) fn find(&self, namespace: Namespace, local: &str) -> Option<Name> {
        let mut slot = hash(self.seed, namespace, local) & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            let index = self.slots[slot] - 1;
            let (uri, span) = self.names[index as usize];
            if uri == namespace.0 && self.at(span) == local {
                return Some(Name(index));
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    fn grow(&mut self) {
        let mut slots = vec![0; self.slots.len() * 2];
        for (index, (uri, span)) in self.names.iter().enumerate() {
            let mut slot = hash(self.seed, Namespace(*uri), self.at(*span)) & (slots.len() - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (slots.len() - 1);
            }
            slots[slot] = number(index) + 1;
        }
        self.slots = slots;
    }

    pub(crate) fn namespace_text(&self, namespace: Namespace) -> &str {
        self.at(self.namespaces[namespace.0 as usize])
    }

    pub(crate) fn prefix_text(&self, prefix: Prefix) -> &str {
        self.at(self.prefixes[prefix.0 as usize])
    }

    pub(crate) fn local_text(&self, name: Name) -> &str {
        self.at(self.names[name.0 as usize].1)
    }

    pub(crate) fn namespace_of(&self, name: Name) -> Namespace {
        Namespace(self.names[name.0 as usize].0)
    }

    /// How many expanded names there are; they are numbered from zero.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }
}

/// One number for the process that nobody outside knows.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().hash_one(0))
}

/// A hash over eight bytes at a time: names are short.
fn hash(seed: u64, namespace: Namespace, local: &str) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = seed ^ u64::from(namespace.0) ^ (local.len() as u64) << 32;
    let (words, rest) = local.as_bytes().as_chunks::<8>();
    for word in words {
        state = (state ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(23);
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    state = (state ^ last).wrapping_mul(FACTOR);
    (state >> 32) as usize
}

/// Sizes are bounded by the budget's bytes, which are fewer than 4 GiB.
pub(crate) fn number(size: usize) -> u32 {
    u32::try_from(size).expect("a document is smaller than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_once_however_many_there_are() {
        let mut names = Names::new();
        let other = names.namespace("urn:other");
        let all: Vec<(Namespace, String)> = (0..1000)
            .map(|index| (if index % 2 == 0 { Namespace::NONE } else { other }, format!("name-{}", index / 2)))
            .collect();
        let first: Vec<Name> = all.iter().map(|(namespace, local)| names.name(*namespace, local)).collect();
        for ((namespace, local), expected) in all.iter().zip(&first) {
            assert_eq!(names.name(*namespace, local), *expected);
            assert_eq!(names.find(*namespace, local), Some(*expected));
            assert_eq!((names.namespace_of(*expected), names.local_text(*expected)), (*namespace, &**local));
        }
        assert_eq!(names.count(), 1000);
        assert_eq!(names.find(Namespace::XML, "name-1"), None);
    }
}
