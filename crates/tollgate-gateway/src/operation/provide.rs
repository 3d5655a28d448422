//! Values that the server provides ([`Provided`]): defaults, new keys, and author and time of creation and change.
//!
//! It knows no database: values that a database provides are left to it.

use std::cell::RefCell;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use ring::rand::SecureRandom;
use tollgate_wire::edm::{EntityType, LeafId, Primitive, Provided, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::value::Cell;

use super::author::Author;
use super::subtype;
use crate::error::Fault;

/// Completes an entity that is to be created. Values that the client sent for managed and computed leaves are dropped.
pub(crate) fn for_creation(entity_type: &EntityType, entry: &mut Entry, author: &Author) {
    for (leaf, provided) in &entity_type.provided {
        match provided {
            // What the type has not is null, which the database's default would not be.
            Provided::Default(_) if !subtype::has(entity_type, entry, *leaf) => {
                if entity_type.leaves[leaf.0].nullable {
                    entry.set_null(*leaf);
                }
            }
            Provided::Uuid if !subtype::has(entity_type, entry, *leaf) => {}
            Provided::Default(value) if !entry.is_set(*leaf) => entry.set(*leaf, value.cell()),
            Provided::Uuid if !entry.is_set(*leaf) => entry.set_text(*leaf, new_uuid(&mut [0; UUID_LENGTH])),
            Provided::Default(_) | Provided::Uuid | Provided::Database => {}
            Provided::Computed => entry.unset(*leaf),
            Provided::CreatedAt | Provided::ModifiedAt => set_time(entity_type, entry, *leaf, author),
            Provided::CreatedBy | Provided::ModifiedBy => set_user(entity_type, entry, *leaf, author),
        }
    }
}

/// Completes the changes of an entity. Values that the client sent for managed and computed leaves are dropped.
pub(crate) fn for_change(entity_type: &EntityType, entry: &mut Entry, author: &Author) {
    for (leaf, provided) in &entity_type.provided {
        match provided {
            Provided::Default(_) | Provided::Uuid | Provided::Database => {}
            Provided::Computed | Provided::CreatedAt | Provided::CreatedBy => entry.unset(*leaf),
            Provided::ModifiedAt => set_time(entity_type, entry, *leaf, author),
            Provided::ModifiedBy => set_user(entity_type, entry, *leaf, author),
        }
    }
}

/// Makes changes a replacement: properties that the client did not send get their defaults, or become null. Values that
/// the server provides in other ways stay, as does the key, and so do properties hidden in the client's version: nobody
/// can reset what they cannot see.
pub(crate) fn for_replacement(version: Version, entity_type: &EntityType, entry: &mut Entry, author: &Author) {
    for (position, declared) in entity_type.leaves.iter().enumerate() {
        let leaf = LeafId(position);
        let is_shown = entity_type.properties[declared.property].is_shown_in(version);
        let fixed = entity_type.key.contains(&leaf)
            || entity_type.hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.discriminator == leaf);
        if !is_shown || fixed || entry.is_set(leaf) || !subtype::has(entity_type, entry, leaf) {
            continue;
        }
        match entity_type.provided(leaf) {
            Some(Provided::Default(value)) => entry.set(leaf, value.cell()),
            Some(_) => {}
            None => entry.set_null(leaf),
        }
    }
    for_change(entity_type, entry, author);
}

/// Checks that a new entity has all required properties.
///
/// # Errors
/// 400 with the first property that is missing or null.
pub(crate) fn check_complete(entity_type: &EntityType, entry: &Entry) -> Result<(), Fault> {
    let needed = entity_type.leaves.iter().enumerate().filter(|(_, leaf)| !leaf.nullable);
    for (position, leaf) in needed {
        match entry.cell_of(LeafId(position)) {
            Some(Cell::Null) => return Err(not_null(&leaf.path)),
            Some(_) => {}
            None if !subtype::has(entity_type, entry, LeafId(position)) => {}
            None => match entity_type.provided(LeafId(position)) {
                Some(Provided::Database | Provided::Computed) => {}
                _ => {
                    let message = format!("expected a value for {}, which has none by default", leaf.path);
                    return Err(Fault::bad_request(&leaf.path, message));
                }
            },
        }
    }
    Ok(())
}

/// Checks that no required property becomes null.
///
/// # Errors
/// 400 with the first such property.
pub(crate) fn check_nulls(entity_type: &EntityType, entry: &Entry) -> Result<(), Fault> {
    let mut leaves = entity_type.leaves.iter().enumerate();
    match leaves.find(|(position, leaf)| !leaf.nullable && entry.cell_of(LeafId(*position)) == Some(Cell::Null)) {
        None => Ok(()),
        Some((_, leaf)) => Err(not_null(&leaf.path)),
    }
}

pub(super) fn not_null(path: &str) -> Fault {
    Fault::bad_request(path, format!("expected a value for {path}, which cannot be null"))
}

fn set_time(entity_type: &EntityType, entry: &mut Entry, leaf: LeafId, author: &Author) {
    entry.unset(leaf);
    author.stamp().canonical(entity_type.leaves[leaf.0].primitive, |text| entry.set_text(leaf, text));
}

/// Records the author, cut to the column's length: a long name is no reason to refuse a change.
fn set_user(entity_type: &EntityType, entry: &mut Entry, leaf: LeafId, author: &Author) {
    let user = author.user();
    let end = match entity_type.leaves[leaf.0].primitive {
        // No text has more characters than bytes.
        Primitive::String { length_max } if length_max > 0 && user.len() > length_max as usize => {
            user.char_indices().nth(length_max as usize).map_or(user.len(), |(at, _)| at)
        }
        _ => user.len(),
    };
    entry.set_text(leaf, &user[..end]);
}

const UUID_LENGTH: usize = 36;

/// A new random UUID (RFC 9562, version 4), written into `text`.
fn new_uuid(text: &mut [u8; UUID_LENGTH]) -> &str {
    thread_local! {
        /// Seeded by the system once for each thread, so that a key costs no system call.
        static RANDOM: RefCell<ChaCha12Rng> = RefCell::new(seeded());
    }
    let mut bytes = [0; 16];
    RANDOM.with_borrow_mut(|random| random.fill_bytes(&mut bytes));
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut at = 0;
    for (position, byte) in bytes.into_iter().enumerate() {
        if matches!(position, 4 | 6 | 8 | 10) {
            text[at] = b'-';
            at += 1;
        }
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 0x0f)];
        at += 2;
    }
    std::str::from_utf8(text).expect("hexadecimal digits and hyphens are ASCII")
}

fn seeded() -> ChaCha12Rng {
    let mut seed = [0; 32];
    ring::rand::SystemRandom::new().fill(&mut seed).expect("the system gives random bytes");
    ChaCha12Rng::from_seed(seed)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn uuids_are_random_and_say_their_version() {
        let keys: HashSet<String> = (0..1000).map(|_| new_uuid(&mut [0; UUID_LENGTH]).to_owned()).collect();
        assert_eq!(keys.len(), 1000);
        for key in keys {
            let hyphens: Vec<usize> = key.match_indices('-').map(|(at, _)| at).collect();
            assert_eq!(hyphens, [8, 13, 18, 23], "{key}");
            assert_eq!(&key[14..15], "4", "{key}");
            assert!(matches!(&key[19..20], "8" | "9" | "a" | "b"), "{key}");
        }
    }
}
