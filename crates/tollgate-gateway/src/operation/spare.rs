//! Reused entries, so that a small request allocates none.
//!
//! Each thread has its own; entries that an unusual body made large are not kept.

use std::cell::RefCell;

use tollgate_wire::entry::Entry;

/// Entries kept by a thread: an event loop seldom has more requests under way at once.
const ENTRIES_MAX: usize = 8;

/// Largest kept entry.
const ENTRY_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Returns an entry; the caller resets it before filling it.
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
