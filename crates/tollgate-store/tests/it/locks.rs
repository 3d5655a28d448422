//! Effects of SQLite's locks, limits and files on writers, the basis of the pool's own locks.

use std::sync::mpsc;
use std::time::Duration;

use tollgate_store::sqlite::{File, Location, Settings, SqliteConnection, SqliteDatabase};
use tollgate_store::{Fault, Mapping, Store, StoreError};
use tollgate_wire::plan::Options;

use crate::world::*;

/// A database whose connections do not wait for locks.
fn impatient(location: Location) -> SqliteDatabase {
    let settings = Settings { lock_wait: Duration::ZERO, ..Settings::default() };
    let database = SqliteDatabase::open_with(location, Mapping::by_type_name(&model()), settings).unwrap();
    database.connection().unwrap().create_tables(&model()).unwrap();
    database
}

fn file(folder: &tempfile::TempDir) -> Location {
    Location::File(folder.path().join("data.sqlite"))
}

fn add(connection: &mut SqliteConnection, number: i64) -> Result<(), StoreError> {
    insert(connection, &model(), ITEMS, &bare_item("a", number, None))
}

fn count(connection: &SqliteConnection) -> Result<u64, StoreError> {
    let plan = collection(ITEMS, Options::default());
    connection.read(&model(), &plan, None, &mut Answer::default()).map(|outcome| outcome.rows)
}

fn is_busy<T: std::fmt::Debug>(result: Result<T, StoreError>) -> bool {
    match result {
        Err(error @ StoreError::Busy(_)) => error.fault() == Fault::Overload,
        other => panic!("{other:?}"),
    }
}

#[test]
fn in_memory_a_writer_and_readers_are_in_each_others_way() {
    let database = impatient(Location::Memory);
    let (mut writer, reader) = (database.connection().unwrap(), database.connection().unwrap());
    writer.begin().unwrap();
    add(&mut writer, 1).unwrap();
    assert!(is_busy(count(&reader)), "a reader that begins while another writes");
    assert!(is_busy(database.connection().unwrap().begin()), "a second writer");
    writer.commit().unwrap();
    assert_eq!(count(&reader).unwrap(), 1);
}

#[test]
fn in_a_file_readers_see_what_was_committed_while_another_writes() {
    let folder = tempfile::tempdir().unwrap();
    let database = impatient(file(&folder));
    let (mut writer, reader) = (database.connection().unwrap(), database.connection().unwrap());
    writer.transaction(|writer| add(writer, 1)).unwrap();
    writer.begin().unwrap();
    add(&mut writer, 2).unwrap();
    assert_eq!(count(&reader).unwrap(), 1);
    assert!(is_busy(database.connection().unwrap().begin()), "a second writer");
    writer.commit().unwrap();
    assert_eq!(count(&reader).unwrap(), 2);
}

#[test]
fn a_single_change_lasts_once_it_is_made_and_nothing_comes_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for location in [Location::Memory, file(&folder)] {
        let database = impatient(location);
        let (mut writer, reader) = (database.connection().unwrap(), database.connection().unwrap());
        writer.single_change(|writer| add(writer, 1)).unwrap();
        assert_eq!(count(&reader).unwrap(), 1);
        let twice = writer.single_change(|writer| add(writer, 2).and_then(|()| add(writer, 3)));
        assert!(matches!(twice, Err(StoreError::Conflict(_))), "{twice:?}");
        assert_eq!(count(&reader).unwrap(), 2, "what was done before the second stands");
        let duplicate = writer.single_change(|writer| add(writer, 1));
        assert!(matches!(duplicate, Err(StoreError::Duplicate { .. })), "{duplicate:?}");
        assert!(writer.single_change(|writer| writer.savepoint()).is_err(), "a unit needs a transaction");
        assert!(writer.single_change(|_| Ok::<_, StoreError>(())).is_ok(), "no change is none");
        writer.transaction(|writer| add(writer, 4).and_then(|()| add(writer, 5))).unwrap();
        assert_eq!(count(&reader).unwrap(), 4);
        another_keeps_out(&database, &mut writer);
    }
}

/// Checks that a single change waits and gives up like a transaction.
fn another_keeps_out(database: &SqliteDatabase, writer: &mut SqliteConnection) {
    let mut other = database.connection().unwrap();
    other.begin().unwrap();
    add(&mut other, 6).unwrap();
    assert!(is_busy(writer.single_change(|writer| add(writer, 7))), "a second writer");
    other.rollback();
}

#[test]
fn a_second_writer_waits_for_the_first_instead_of_being_told_that_it_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let database = SqliteDatabase::open(file(&folder), Mapping::by_type_name(&model())).unwrap();
    let mut first = database.connection().unwrap();
    first.create_tables(&model()).unwrap();
    let mut second = database.connection().unwrap();
    first.begin().unwrap();
    add(&mut first, 1).unwrap();
    let (about_to_wait, waits) = mpsc::channel();
    std::thread::scope(|scope| {
        let second = scope.spawn(move || {
            about_to_wait.send(()).unwrap();
            second.transaction(|second| add(second, 2))
        });
        waits.recv().unwrap();
        first.commit().unwrap();
        second.join().unwrap().unwrap();
    });
    assert_eq!(count(&first).unwrap(), 2);
}

#[test]
fn writers_in_numbers_are_all_served() {
    const WRITERS: i64 = 4;
    const TRANSACTIONS: i64 = 25;
    let folder = tempfile::tempdir().unwrap();
    let database = SqliteDatabase::open(file(&folder), Mapping::by_type_name(&model())).unwrap();
    database.connection().unwrap().create_tables(&model()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let mut connection = database.connection().unwrap();
            scope.spawn(move || {
                for number in 0..TRANSACTIONS {
                    connection.transaction(|connection| add(connection, writer * TRANSACTIONS + number)).unwrap();
                }
            });
        }
    });
    assert_eq!(count(&database.connection().unwrap()).unwrap(), (WRITERS * TRANSACTIONS) as u64);
}

#[test]
fn a_change_outside_a_transaction_is_refused() {
    let database = impatient(Location::Memory);
    let mut connection = database.connection().unwrap();
    let error = add(&mut connection, 1).unwrap_err();
    assert!(matches!(error, StoreError::Conflict(_)), "{error:?}");
    assert_eq!(count(&connection).unwrap(), 0);
}

#[test]
fn without_room_nothing_is_stored_and_reading_goes_on_and_writing_too_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let database = impatient(file(&folder));
    let mut connection = database.connection().unwrap();
    connection.transaction(|connection| add(connection, 0)).unwrap();
    connection.limit_pages(12).unwrap();

    connection.begin().unwrap();
    let mut numbers = 1..100_000;
    let error = numbers.find_map(|number| add(&mut connection, number).err()).expect("12 pages hold less than that");
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert_eq!(error.fault(), Fault::Overload);
    // SQLite may have rolled back by itself or not: neither may lead to a commit of half of it.
    connection.rollback();
    assert_eq!(count(&connection).unwrap(), 1);

    connection.limit_pages(100_000).unwrap();
    connection.transaction(|connection| (1..1_000).try_for_each(|number| add(connection, number))).unwrap();
    assert_eq!(count(&connection).unwrap(), 1_000);
}

#[test]
fn a_unit_that_finds_no_room_ends_its_transaction_as_a_whole_or_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let database = impatient(file(&folder));
    let mut connection = database.connection().unwrap();
    connection.limit_pages(12).unwrap();
    connection.begin().unwrap();
    add(&mut connection, 0).unwrap();
    connection.savepoint().unwrap();
    let full = (1..100_000).find_map(|number| add(&mut connection, number).err()).unwrap();
    assert!(matches!(full, StoreError::Full(_)), "{full:?}");
    let expected = match connection.undo() {
        Ok(()) => {
            connection.commit().unwrap();
            1
        }
        Err(error) => {
            assert!(matches!(error, StoreError::Full(_)), "{error:?}");
            assert!(connection.commit().is_err(), "there is nothing left to commit");
            connection.rollback();
            0
        }
    };
    assert_eq!(count(&connection).unwrap(), expected);
    connection.begin().unwrap();
    connection.rollback();
}

#[test]
fn a_file_that_is_opened_to_read_refuses_changes_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    drop(impatient(file(&folder)));
    let settings = Settings { file: File::FoundToRead, ..Settings::default() };
    let database = SqliteDatabase::open_with(file(&folder), Mapping::by_type_name(&model()), settings).unwrap();
    let mut connection = database.connection().unwrap();
    assert_eq!(count(&connection).unwrap(), 0);
    let error = connection.transaction(|connection| add(connection, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the database is read-only");
    assert_eq!(error.fault(), Fault::Gateway);
}
