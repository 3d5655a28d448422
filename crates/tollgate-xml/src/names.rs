//! Names of one document, each stored once: namespaces, prefixes, and expanded names (a namespace with a local name), so
//! that comparing two names of a document compares two numbers.
//!
//! It does not know the scope of prefixes: that is the tree's.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// A namespace name of one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Namespace(pub(crate) u32);

impl Namespace {
    /// No namespace.
    pub const NONE: Namespace = Namespace(0);
    /// The namespace of the prefix `xml`.
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
/// The namespace of namespace declarations, as attributes.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// The names of one document.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    // All texts behind each other; the entries point into it.
    text: String,
    namespaces: Distinct,
    prefixes: Distinct,
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

/// Texts that are each stored once: namespaces, or prefixes.
#[derive(Debug, Clone, Default)]
struct Distinct {
    spans: Vec<Span>,
    /// Hash slots as those of the names, and empty while the texts are few.
    slots: Vec<u32>,
}

/// Most texts that are searched one by one: comparing lengths first makes this cheaper than a hash.
const FEW: usize = 16;

impl Distinct {
    fn with_room() -> Distinct {
        Distinct { spans: Vec::with_capacity(8), slots: Vec::new() }
    }

    fn clear(&mut self) {
        self.spans.clear();
        self.slots.clear();
    }

    fn memory_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.slots.capacity() * size_of::<u32>()
    }

    /// The number of a text; `all` is what the spans point into.
    #[inline]
    fn find(&self, wanted: &str, all: &str, seed: u64) -> Option<u32> {
        if self.slots.is_empty() {
            // There are sixteen at most.
            return self.spans.iter().position(|span| span.of(all) == wanted).map(|index| index as u32);
        }
        self.find_among_many(wanted, all, seed)
    }

    #[cold]
    fn find_among_many(&self, wanted: &str, all: &str, seed: u64) -> Option<u32> {
        let mut slot = hash(seed, Namespace::NONE, wanted) & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            let index = self.slots[slot] - 1;
            if self.spans[index as usize].of(all) == wanted {
                return Some(index);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// Stores a text that is new; its number.
    #[cold]
    fn add(&mut self, new: &str, all: &mut String, seed: u64) -> u32 {
        self.spans.push(Span::store(all, new));
        let count = self.spans.len();
        if count > FEW {
            if count * 2 > self.slots.len() {
                self.slots.clear();
                self.slots.resize((count * 4).next_power_of_two(), 0);
                (0..count).for_each(|index| self.enter(index, all, seed));
            } else {
                self.enter(count - 1, all, seed);
            }
        }
        number(count - 1)
    }

    fn enter(&mut self, index: usize, all: &str, seed: u64) {
        let mut slot = hash(seed, Namespace::NONE, self.spans[index].of(all)) & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.slots[slot] = number(index) + 1;
    }
}

impl Span {
    fn store(all: &mut String, new: &str) -> Span {
        let start = all.len();
        all.push_str(new);
        Span { start: number(start), end: number(all.len()) }
    }

    #[inline]
    fn of(self, all: &str) -> &str {
        &all[self.start as usize..self.end as usize]
    }
}

/// Slots that a document begins with: most messages have fewer than half as many names.
const SLOTS_AT_FIRST: usize = 64;
/// Slots that are kept for another document.
const SLOTS_KEPT_MAX: usize = 512;

impl Names {
    pub(crate) fn new() -> Names {
        let mut names = Names {
            text: String::with_capacity(512),
            namespaces: Distinct::with_room(),
            prefixes: Distinct::with_room(),
            names: Vec::with_capacity(SLOTS_AT_FIRST / 2),
            seed: seed(),
            slots: vec![0; SLOTS_AT_FIRST],
        };
        names.begin();
        names
    }

    /// Adds the names that every document has.
    fn begin(&mut self) {
        for namespace in ["", XML_NAMESPACE] {
            self.namespace(namespace);
        }
        for prefix in ["", "xml"] {
            self.prefixes.add(prefix, &mut self.text, self.seed);
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
        self.text.capacity()
            + self.namespaces.memory_bytes()
            + self.prefixes.memory_bytes()
            + self.names.capacity() * size_of::<(u32, Span)>()
            + self.slots.len() * size_of::<u32>()
    }

    /// Whether the table is worth keeping: one that has grown takes longer to clear than to make.
    pub(crate) fn is_small(&self) -> bool {
        self.slots.len() <= SLOTS_KEPT_MAX
    }

    fn at(&self, span: Span) -> &str {
        span.of(&self.text)
    }

    /// The namespace of this name, stored if it is new.
    pub(crate) fn namespace(&mut self, uri: &str) -> Namespace {
        match self.find_namespace(uri) {
            Some(known) => known,
            None => Namespace(self.namespaces.add(uri, &mut self.text, self.seed)),
        }
    }

    /// The namespace of this name, if the document has it.
    pub(crate) fn find_namespace(&self, uri: &str) -> Option<Namespace> {
        self.namespaces.find(uri, &self.text, self.seed).map(Namespace)
    }

    #[inline]
    pub(crate) fn prefix(&mut self, prefix: &str) -> Prefix {
        if prefix.is_empty() {
            return Prefix::NONE;
        }
        match self.find_prefix(prefix) {
            Some(known) => known,
            None => Prefix(self.prefixes.add(prefix, &mut self.text, self.seed)),
        }
    }

    /// The number of this prefix, if the document has it.
    pub(crate) fn find_prefix(&self, prefix: &str) -> Option<Prefix> {
        self.prefixes.find(prefix, &self.text, self.seed).map(Prefix)
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
        let span = Span::store(&mut self.text, local);
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
        self.at(self.namespaces.spans[namespace.0 as usize])
    }

    pub(crate) fn prefix_text(&self, prefix: Prefix) -> &str {
        self.at(self.prefixes.spans[prefix.0 as usize])
    }

    pub(crate) fn local_text(&self, name: Name) -> &str {
        self.at(self.names[name.0 as usize].1)
    }

    pub(crate) fn namespace_of(&self, name: Name) -> Namespace {
        Namespace(self.names[name.0 as usize].0)
    }

    /// Number of expanded names; they are numbered from zero.
    pub(crate) fn count(&self) -> usize {
        self.names.len()
    }
}

/// A random number of the process, unknown outside.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().hash_one(0))
}

/// A hash over eight bytes at a time: names are short.
///
/// Both halves of each product count, so that which names meet depends on the seed.
fn hash(seed: u64, namespace: Namespace, local: &str) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let folded = |state: u64| {
        let product = u128::from(state) * u128::from(FACTOR);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut state = seed ^ u64::from(namespace.0) ^ (local.len() as u64) << 32;
    let (words, rest) = local.as_bytes().as_chunks::<8>();
    for word in words {
        state = folded(state ^ u64::from_le_bytes(*word));
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    folded(state ^ last) as usize
}

/// Sizes are bounded by the budget's bytes, which are fewer than 4 GiB.
pub(crate) fn number(size: usize) -> u32 {
    u32::try_from(size).expect("a document is smaller than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_and_namespaces_are_stored_once_however_many_there_are() {
        let mut names = Names::new();
        for round in 0..2 {
            for index in 0..500 {
                let (prefix, uri) = (format!("p{index}"), format!("urn:{index}"));
                assert_eq!(names.find_prefix(&prefix).is_some(), round == 1);
                let (known_prefix, known_uri) = (names.prefix(&prefix), names.namespace(&uri));
                // The empty one and that of `xml` come first.
                assert_eq!((known_prefix.0, known_uri.0), (index + 2, index + 2));
                assert_eq!((names.prefix_text(known_prefix), names.namespace_text(known_uri)), (&*prefix, &*uri));
            }
        }
        names.clear();
        assert_eq!((names.find_prefix("p1"), names.find_namespace("urn:1")), (None, None));
        assert_eq!(names.prefix("xml"), Prefix::XML);
    }

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
