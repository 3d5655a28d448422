//! Measures how fast entities are inserted, without any protocol, beside SQLite's own limit: the same rows by a
//! statement that is prepared once, in the same run. Both in memory and in a file whose every commit reaches the disk.
//!
//! `cargo run --release -p tollgate-gateway --example store_writes [ROUNDS]`
//!
//! Figures of one machine and minute: compare only what one run prints. It asserts nothing.

use std::path::Path;
use std::time::Instant;

use rusqlite::types::{ToSqlOutput, ValueRef};
use tollgate_gateway::services::records;
use tollgate_store::sqlite::{Location, SqliteDatabase};
use tollgate_store::{Discard, Store, StoreError};
use tollgate_wire::edm::{LeafId, Model, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::value::{Cell, Row};

const RECORDS: SetId = SetId(0);
const SIZES: [usize; 4] = [1, 10, 100, 1_000];
/// Rows inserted for each figure of a round.
const ROWS: usize = 2_000;

#[expect(clippy::print_stdout, reason = "an example shows its figures")]
fn main() -> Result<(), StoreError> {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(7);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!("{:<14} {:>10} {:>12} {:>12} {:>8}", "", "rows each", "bare us/row", "store us/row", "ratio");
    for (name, place) in [("memory", None), ("WAL, FULL", Some(folder.path()))] {
        for size in SIZES {
            let (mut bare_us, mut store_us) = (f64::INFINITY, f64::INFINITY);
            for round in 0..rounds {
                bare_us = bare_us.min(bare(place, size, round)?);
                store_us = store_us.min(store(place, size, round)?);
            }
            println!("{name:<14} {size:>10} {bare_us:>12.2} {store_us:>12.2} {:>8.2}", store_us / bare_us);
        }
    }
    Ok(())
}

/// Microseconds a row by a statement that is prepared once.
fn bare(folder: Option<&Path>, size: usize, round: u64) -> Result<f64, StoreError> {
    let (database, address) = made(folder, "bare")?;
    let raw = rusqlite::Connection::open(address)?;
    raw.pragma_update(None, "synchronous", "FULL")?;
    let marks = vec!["?"; records::model().type_of(RECORDS).leaves.len()].join(", ");
    let entries = entries(round);
    let mut statement = raw.prepare(&format!("INSERT INTO TestRecords VALUES ({marks})"))?;
    let begun = Instant::now();
    for some in entries.chunks(size) {
        raw.execute_batch("BEGIN IMMEDIATE")?;
        for entry in some {
            for leaf in 0..entry.leaves() {
                statement.raw_bind_parameter(leaf + 1, ToSqlOutput::Borrowed(value(entry.cell(leaf))))?;
            }
            statement.raw_execute()?;
        }
        raw.execute_batch("COMMIT")?;
    }
    let took = begun.elapsed();
    drop(database);
    Ok(took.as_secs_f64() * 1e6 / ROWS as f64)
}

/// Microseconds a row by the store.
fn store(folder: Option<&Path>, size: usize, round: u64) -> Result<f64, StoreError> {
    let (database, _) = made(folder, "store")?;
    let mut connection = database.connection()?;
    let model = records::model();
    let entries = entries(round);
    let begun = Instant::now();
    for some in entries.chunks(size) {
        connection.begin()?;
        for entry in some {
            connection.insert(&model, RECORDS, entry, None::<&mut Discard>)?;
        }
        connection.commit()?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e6 / ROWS as f64)
}

/// An empty database of records, and its address for a second connection.
fn made(folder: Option<&Path>, name: &str) -> Result<(SqliteDatabase, String), StoreError> {
    let location = match folder {
        None => Location::Memory,
        Some(folder) => {
            let path = folder.join(name);
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(folder.join(format!("{name}{end}")));
            }
            Location::File(path)
        }
    };
    let database = SqliteDatabase::open(location, records::mapping())?;
    records::create(&mut database.connection()?)?;
    let address = database.address().display().to_string();
    Ok((database, address))
}

fn entries(round: u64) -> Vec<Entry> {
    let model: Model = records::model();
    let leaf = |name: &str| model.type_of(RECORDS).leaf(name).expect("a record has this property");
    (0..ROWS as u64)
        .map(|number| {
            // A random key, as the server makes them, lands anywhere in the table.
            let scattered = (round * ROWS as u64 + number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let (high, low) = (scattered >> 32, scattered & 0xffff_ffff);
            let mut entry = Entry::new(model.type_of(RECORDS).leaves.len());
            let mut text = |name: &str, text: &str| entry.set_text(leaf(name), text);
            text("ID", &format!("{high:08x}-{:04x}-4{:03x}-8{:03x}-{low:012x}", low >> 16, high & 0xfff, low & 0xfff));
            text("createdAt", "2023-09-25T11:00:00.1234567Z");
            text("createdBy", "anonymous");
            text("modifiedAt", "2023-09-25T11:00:00.1234567Z");
            text("modifiedBy", "anonymous");
            text("stringField", "a text of some thirty letters");
            text("largeStringField", &"a longer text ".repeat(10));
            text("decimalField", "12345.6789");
            text("dateField", "2023-09-25");
            text("timeField", "11:00:00");
            text("dateTimeField", "2023-09-25T11:00:00Z");
            text("timeStampField", "2023-09-25T11:00:00.1234567Z");
            let mut integer = |name: &str, value: i64| entry.set_integer(leaf(name), value);
            integer("booleanField", 1);
            integer("integerField", number as i64);
            integer("integer64Field", 9_007_199_254_740_993);
            entry.set_real(leaf("doubleField"), 422.94);
            debug_assert!((0..entry.leaves()).all(|leaf| entry.is_set(LeafId(leaf))));
            entry
        })
        .collect()
}

fn value(cell: Cell<'_>) -> ValueRef<'_> {
    match cell {
        Cell::Null => ValueRef::Null,
        Cell::Integer(integer) => ValueRef::Integer(integer),
        Cell::Real(real) => ValueRef::Real(real),
        Cell::Text(text) => ValueRef::Text(text),
        Cell::Bytes(bytes) => ValueRef::Blob(bytes),
    }
}
