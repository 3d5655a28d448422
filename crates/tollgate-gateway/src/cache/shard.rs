//! A part of the cache: its answers by the hash of their key, in the order in which they came, and the fetches that
//! others wait for.
//!
//! SIEVE chooses the evicted answer: a hand goes from the eldest answer to the youngest, spares each that was hit since
//! it passed, and takes the first that was not. A hit then only sets a mark, where LRU would move the answer. It
//! neither locks nor takes the time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tollgate_net::http1::RequestHead;

use super::Which;
use super::entry::Entry;
use super::flight::Landing;
use super::key::{Key, KeyText};
use super::policy::{self, Reuse};
use super::statistics::Statistics;
use crate::http::cache_control::CacheControl;

/// Answers to one target stored beside each other, selected by fields of the request; the eldest makes room.
pub(super) const VARIANTS_MAX: usize = 8;

/// Query of a lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'r> {
    /// Key of the request.
    pub(crate) key: Key<'r>,
    /// The request, whose fields may select the answer.
    pub(crate) request: &'r RequestHead,
    /// Its directives on stored answers; empty where they do not count.
    pub(crate) control: CacheControl,
    /// Fields known to select answers before there are any.
    pub(crate) varies: &'static [&'static str],
    /// Fields that a route's mediators read: they select answers too.
    pub(crate) reads: &'r [Box<str>],
    /// Whether it may fetch for others.
    pub(crate) leads: Leads,
    /// Whether an answer that has outlived its lifetime is of use.
    pub(crate) validates: Validates,
    /// Whether it has conditions of its client, which go to the backend where nothing is stored.
    pub(crate) passes_conditions: bool,
}

/// Whether the fetching request can revalidate a stored answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Validates {
    /// The backend can be asked.
    Yes,
    /// The backend cannot be asked.
    #[default]
    No,
}

/// Whether a request may fetch an answer for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    /// It may fetch for others.
    Yes,
    /// It may not: its answer will have no body.
    No,
}

/// Result of a lookup.
#[derive(Debug)]
pub(super) enum Known {
    /// A stored answer was found.
    Hit(Arc<Entry>),
    /// Another request fetches the answer.
    Awaited(watch::Receiver<Landing>),
    /// Nobody else fetches it: the caller does from now on. The number of the fetch, and an answer that may still be
    /// good.
    Led(u64, watch::Sender<Landing>, Option<Arc<Entry>>),
    /// It is to be fetched, and nobody is to wait for it: the reason, an answer that may still be good, and the number
    /// of invalidations so far.
    Unknown(Why, Option<Arc<Entry>>, u64),
}

/// Reason why nobody waits for a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The caller wants it for itself, or must not fetch for others.
    Alone,
    /// The last answer was not for others: waiting would be useless.
    Unshared,
}

/// Record of a fetch whose answer was not for others.
#[derive(Debug, Clone, Copy)]
struct Unshared {
    flight_hash: u64,
    until: Instant,
}

/// How long that is remembered. If an answer is for others meanwhile, it is stored, and the record is removed.
const UNSHARED_FOR: Duration = Duration::from_secs(60);

/// Number remembered in each part: two of them may take the same place, and the later one stays.
const UNSHARED_MAX: usize = 1024;

/// A part of the cache.
#[derive(Debug)]
pub(super) struct Shard {
    /// First answer of the chain for each hash.
    index: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    nodes: Vec<Node>,
    free: Vec<u32>,
    youngest: u32,
    eldest: u32,
    hand: u32,
    bytes_max: usize,
    entries_max: usize,
    flights: HashMap<u64, Flight, BuildHasherDefault<Hashed>>,
    next_flight: u64,
    /// Unshared fetches by the last bits of the hash; empty until there is one.
    unshared: Vec<Option<Unshared>>,
    /// Number of invalidations.
    thrown_away: u64,
    pub(super) statistics: Statistics,
}

#[derive(Debug)]
struct Node {
    /// `None` if the place is free.
    entry: Option<Arc<Entry>>,
    hash: u64,
    /// The next answer with the same hash.
    sibling: u32,
    younger: u32,
    elder: u32,
    /// It was hit since the hand passed.
    marked: bool,
    hits: u64,
}

#[derive(Debug)]
struct Flight {
    number: u64,
    key: KeyText,
    landing: watch::Receiver<Landing>,
}

impl Question<'_> {
    /// Whether the caller can have this answer revalidated.
    fn worth(&self, entry: &Entry) -> bool {
        self.validates == Validates::Yes && self.leads == Leads::Yes && entry.has_validator() && entry.is_current()
    }
}

/// Marks the absence of a node.
const NONE: u32 = u32::MAX;

impl Shard {
    /// Creates an empty part with these limits.
    pub(super) fn new(bytes_max: usize, entries_max: usize) -> Shard {
        Shard {
            index: HashMap::default(),
            nodes: Vec::new(),
            free: Vec::new(),
            youngest: NONE,
            eldest: NONE,
            hand: NONE,
            bytes_max,
            entries_max,
            flights: HashMap::default(),
            next_flight: 0,
            unshared: Vec::new(),
            thrown_away: 0,
            statistics: Statistics::default(),
        }
    }

    /// Looks up a request.
    pub(super) fn ask(
        &mut self,
        hash: u64,
        flight_hash: impl FnOnce() -> u64,
        question: &Question<'_>,
        now: Instant,
    ) -> Known {
        let mut stale = None;
        if let Some(place) = self.find(hash, |entry| entry.answers(&question.key, question.request)) {
            let node = &mut self.nodes[place as usize];
            let entry = node.entry.as_ref().expect(HELD);
            let reuse = match entry.is_current() {
                true => policy::reuse(&question.control, entry.age(now), entry.freshness.lifetime),
                false => Reuse::Stale,
            };
            match reuse {
                Reuse::Serve => {
                    node.marked = true;
                    node.hits += 1;
                    self.statistics.hits_total += 1;
                    return Known::Hit(Arc::clone(entry));
                }
                Reuse::Fetch => {
                    // Whoever wants it fresher than others fetches it alone.
                    let stale = question.worth(entry).then(|| Arc::clone(entry));
                    self.statistics.misses_total += 1;
                    return Known::Unknown(Why::Alone, stale, self.thrown_away);
                }
                // It stays until another one takes its place.
                Reuse::Stale if question.worth(entry) => stale = Some(Arc::clone(entry)),
                Reuse::Stale => {
                    let was_current = entry.is_current();
                    self.remove(place);
                    self.statistics.removed(was_current);
                }
            }
        }
        if question.control.no_cache || question.control.only_if_cached {
            self.statistics.misses_total += 1;
            return Known::Unknown(Why::Alone, stale, self.thrown_away);
        }
        let flight_hash = flight_hash();
        if self.is_unshared(flight_hash, now) {
            self.statistics.misses_total += 1;
            return Known::Unknown(Why::Unshared, stale, self.thrown_away);
        }
        if let Some(flight) = self.flights.get(&flight_hash).filter(|flight| flight.key.is(&question.key)) {
            self.statistics.waits_total += 1;
            return Known::Awaited(flight.landing.clone());
        }
        self.statistics.misses_total += 1;
        if question.leads == Leads::No {
            return Known::Unknown(Why::Alone, None, self.thrown_away);
        }
        let number = self.next_flight;
        self.next_flight += 1;
        let (sender, landing) = watch::channel(Landing::Awaited);
        self.flights.insert(flight_hash, Flight { number, key: question.key.to_text(), landing });
        Known::Led(number, sender, stale)
    }

    fn is_unshared(&self, flight_hash: u64, now: Instant) -> bool {
        let noted = self.unshared.get(flight_hash as usize % UNSHARED_MAX).copied().flatten();
        noted.is_some_and(|noted| noted.flight_hash == flight_hash && now < noted.until)
    }

    /// Records that a fetch's answer was not for others: for a while nobody waits for one like it.
    pub(super) fn note_unshared(&mut self, flight_hash: u64, now: Instant) {
        if self.unshared.is_empty() {
            self.unshared = vec![None; UNSHARED_MAX];
        }
        self.unshared[flight_hash as usize % UNSHARED_MAX] = Some(Unshared { flight_hash, until: now + UNSHARED_FOR });
    }

    /// Removes that record, since an answer was for others after all.
    pub(super) fn forget_unshared(&mut self, flight_hash: u64) {
        if let Some(place) = self.unshared.get_mut(flight_hash as usize % UNSHARED_MAX) {
            place.take_if(|noted| noted.flight_hash == flight_hash);
        }
    }

    /// Whether nothing was invalidated since `seen`.
    pub(super) fn is_as_it_was(&self, seen: u64) -> bool {
        self.thrown_away == seen
    }

    /// Ends a fetch. Returns whether its answer may be stored: not if answers were invalidated meanwhile.
    pub(super) fn land(&mut self, flight_hash: u64, number: u64) -> bool {
        let is_ours = self.flights.get(&flight_hash).is_some_and(|flight| flight.number == number);
        if is_ours {
            self.flights.remove(&flight_hash);
        }
        is_ours
    }

    /// Stores an answer, if it fits in this part at all.
    pub(super) fn keep(&mut self, hash: u64, entry: Arc<Entry>, now: Instant) {
        let bytes = entry.bytes();
        if let Some(place) = self.find(hash, |other| entry.replaces(other)) {
            self.remove(place);
        }
        if bytes > self.bytes_max || self.entries_max == 0 {
            self.statistics.too_large_total += 1;
            return;
        }
        let (variants, last) = self.variants(hash);
        if variants >= VARIANTS_MAX {
            self.remove(last);
            self.statistics.evicted_total += 1;
        }
        while self.statistics.bytes as usize + bytes > self.bytes_max
            || self.statistics.entries as usize + 1 > self.entries_max
        {
            self.evict(now);
        }
        self.insert(hash, entry);
        self.statistics.stored_total += 1;
    }

    /// Invalidates what `which` selects, and does not store fetches under way.
    pub(super) fn invalidate(&mut self, which: &Which<'_>) -> u64 {
        let mut removed = 0;
        let mut place = self.youngest;
        while place != NONE {
            let node = &self.nodes[place as usize];
            let elder = node.elder;
            if which.means(&node.entry.as_ref().expect(HELD).key) {
                self.remove(place);
                removed += 1;
            }
            place = elder;
        }
        self.flights.retain(|_, flight| !which.means(&flight.key));
        self.thrown_away += 1;
        self.statistics.invalidated_total += removed;
        removed
    }

    /// Invalidates all answers for one key, in one lookup.
    pub(super) fn invalidate_key(&mut self, hash: u64, key: &Key<'_>) {
        while let Some(place) = self.find(hash, |entry| entry.key.is(key)) {
            self.remove(place);
            self.statistics.invalidated_total += 1;
        }
        self.flights.retain(|_, flight| !flight.key.is(key));
        self.thrown_away += 1;
    }

    /// The stored answers, the youngest first, with the hits of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<Entry>, u64)> {
        let mut place = self.youngest;
        std::iter::from_fn(move || {
            let node = self.nodes.get(place as usize)?;
            place = node.elder;
            Some((node.entry.as_ref().expect(HELD), node.hits))
        })
    }

    fn find(&self, hash: u64, is_meant: impl Fn(&Entry) -> bool) -> Option<u32> {
        let mut place = *self.index.get(&hash)?;
        while let Some(node) = self.nodes.get(place as usize) {
            if is_meant(node.entry.as_ref().expect(HELD)) {
                return Some(place);
            }
            place = node.sibling;
        }
        None
    }

    /// Number of answers with this hash, and the last of their chain, which is the eldest.
    fn variants(&self, hash: u64) -> (usize, u32) {
        let (mut count, mut last) = (0, NONE);
        let mut place = self.index.get(&hash).copied().unwrap_or(NONE);
        while let Some(node) = self.nodes.get(place as usize) {
            (count, last) = (count + 1, place);
            place = node.sibling;
        }
        (count, last)
    }

    fn insert(&mut self, hash: u64, entry: Arc<Entry>) {
        self.statistics.bytes += entry.bytes() as u64;
        self.statistics.entries += 1;
        let sibling = self.index.get(&hash).copied().unwrap_or(NONE);
        let elder = self.youngest;
        let node = Node { entry: Some(entry), hash, sibling, younger: NONE, elder, marked: false, hits: 0 };
        let place = match self.free.pop() {
            Some(place) => {
                self.nodes[place as usize] = node;
                place
            }
            None => {
                self.nodes.push(node);
                // The limit of entries lies far below.
                (self.nodes.len() - 1) as u32
            }
        };
        match self.nodes.get_mut(elder as usize) {
            Some(elder) => elder.younger = place,
            None => self.eldest = place,
        }
        self.youngest = place;
        self.index.insert(hash, place);
    }

    fn remove(&mut self, place: u32) {
        let node = &mut self.nodes[place as usize];
        let entry = node.entry.take().expect(HELD);
        let (hash, sibling, younger, elder) = (node.hash, node.sibling, node.younger, node.elder);
        self.statistics.bytes -= entry.bytes() as u64;
        self.statistics.entries -= 1;
        match self.nodes.get_mut(younger as usize) {
            Some(younger) => younger.elder = elder,
            None => self.youngest = elder,
        }
        match self.nodes.get_mut(elder as usize) {
            Some(elder) => elder.younger = younger,
            None => self.eldest = younger,
        }
        if self.hand == place {
            self.hand = younger;
        }
        self.unchain(hash, place, sibling);
        self.free.push(place);
    }

    /// Removes a node from the chain of its hash.
    fn unchain(&mut self, hash: u64, place: u32, sibling: u32) {
        let first = self.index.get(&hash).copied().unwrap_or(NONE);
        if first == place {
            match sibling {
                NONE => self.index.remove(&hash),
                sibling => self.index.insert(hash, sibling),
            };
            return;
        }
        let mut before = first;
        while let Some(node) = self.nodes.get_mut(before as usize) {
            if node.sibling == place {
                node.sibling = sibling;
                return;
            }
            before = node.sibling;
        }
    }

    /// Makes room: removes answers without a hit since the hand passed, and those that are of no use any more.
    fn evict(&mut self, now: Instant) {
        let mut place = if self.hand == NONE { self.eldest } else { self.hand };
        while let Some(node) = self.nodes.get_mut(place as usize) {
            let spent = node.entry.as_ref().expect(HELD).is_spent(now);
            if !node.marked || spent {
                self.hand = node.younger;
                self.remove(place);
                match spent {
                    true => self.statistics.expired_total += 1,
                    false => self.statistics.evicted_total += 1,
                }
                return;
            }
            node.marked = false;
            place = if node.younger == NONE { self.eldest } else { node.younger };
        }
    }
}

const HELD: &str = "a node that is linked holds an answer";

/// Hasher of these tables, whose keys are hashes already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        // Never called for a u64; as good as any for the rest.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
