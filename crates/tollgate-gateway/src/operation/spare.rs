//! Entries that are used again: a small request then allocates none.
//!
//! Each thread has its own; what an unusual body made large is not kept.

use std::cell::RefCell;

use tollgate_wire::entry::Entry;

/// Entries kept by a thread: an event loop seldom has more requests in the making at once.
const ENTRIES_MAX: usize = 8;

/// Largest entry that is kept.
const ENTRY_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// An entry; whoever fills it resets it first.
pub(crate) fn entry() -> Entry {
    ENTRIES.with_borrow_mut(Vec::pop).unwrap_or_default()
}

/// Keeps an entry for the next request.
pub(crate) fn give_back(entry: Entry) {
    if entry.capacity_bytes() > ENTRY_BYTES_MAX {
        return;
    }
    ENTRIES.with_borrow_mut(|entries| {
        if entries.len() < ENTRIES_MAX {
            entries.push(entry);
        }
    });
}
