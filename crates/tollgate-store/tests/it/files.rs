//! Databases in files and in memory: persistence, sharing and refusals.

use tollgate_store::sqlite::{Location, SqliteDatabase};
use tollgate_store::{Fault, Mapping, Store, StoreError};
use tollgate_wire::plan::Options;

use crate::world::*;

fn rows(database: &SqliteDatabase) -> u64 {
    let connection = database.connection().unwrap();
    let plan = collection(ITEMS, Options::default());
    connection.read(&model(), &plan, None, &mut Answer::default()).unwrap().rows
}

fn insert(database: &SqliteDatabase, number: i64) -> Result<(), StoreError> {
    let mut connection = database.connection()?;
    connection.create_tables(&model())?;
    connection
        .transaction(|connection| crate::world::insert(connection, &model(), ITEMS, &bare_item("a", number, None)))
}

#[test]
fn a_file_keeps_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let location = Location::File(folder.path().join("data.sqlite"));
        SqliteDatabase::open(location, Mapping::by_type_name(&model())).unwrap()
    };
    insert(&open(), 1).unwrap();
    assert_eq!(rows(&open()), 1);
}

#[test]
fn connections_to_memory_share_it_and_databases_do_not() {
    let open = || SqliteDatabase::open(Location::Memory, Mapping::by_type_name(&model())).unwrap();
    let (one, other) = (open(), open());
    insert(&one, 1).unwrap();
    insert(&one, 2).unwrap();
    insert(&other, 1).unwrap();
    assert_eq!((rows(&one), rows(&other)), (2, 1));
}

#[test]
fn connections_read_at_the_same_time_from_several_threads() {
    let database = SqliteDatabase::open(Location::Memory, Mapping::by_type_name(&model())).unwrap();
    insert(&database, 1).unwrap();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| (0..50).map(|_| rows(&database)).sum::<u64>())).collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == 50));
    });
}

#[test]
fn a_key_that_is_there_is_refused_and_the_transaction_leaves_nothing() {
    let database = SqliteDatabase::open(Location::Memory, Mapping::by_type_name(&model())).unwrap();
    let mut connection = database.connection().unwrap();
    connection.create_tables(&model()).unwrap();
    let twice = connection.transaction(|connection| {
        crate::world::insert(connection, &model(), ITEMS, &bare_item("a", 1, None))?;
        crate::world::insert(connection, &model(), ITEMS, &bare_item("a", 1, None))
    });
    assert_eq!(twice.unwrap_err().fault(), Fault::Client);
    assert_eq!(rows(&database), 0);
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "these are notes, and quite a lot of them. ".repeat(100)).unwrap();
    let error = SqliteDatabase::open(Location::File(path), Mapping::by_type_name(&model())).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
}

#[test]
fn a_mapping_that_does_not_fit_the_model_is_refused() {
    let database = SqliteDatabase::open(Location::Memory, Mapping { tables: Vec::new() }).unwrap();
    let error = database.connection().unwrap().create_tables(&model()).unwrap_err();
    assert_eq!(error.to_string(), "the mapping does not fit the model: 0 tables for 2 entity sets");
}
