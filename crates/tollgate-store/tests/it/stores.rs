//! The stores that the tests of reading and writing run on, one after the other: all must give the same answers to a
//! plan.

use std::cell::Cell;
use std::sync::Once;

use tollgate_store::sqlite::{self, Location};
use tollgate_store::{Connection, Database, Form, Mapping, Table, Tables, postgres};
use tollgate_wire::edm::{Model, Primitive, SetId};

use crate::cluster::cluster;

/// A kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// SQLite in memory.
    Memory,
    /// SQLite in a file, with its log.
    File,
    /// PostgreSQL, where it is installed.
    Postgres,
    /// SQLite in a foreign file: decimals are kept as binary numbers.
    Found,
}

/// A database with the empty tables of a model, deleted when dropped.
pub(crate) struct Opened {
    pub(crate) database: Database,
    _folder: Option<tempfile::TempDir>,
}

/// Makes one test for each store from a test, in a module of the test's name.
macro_rules! on_every_store {
    ($($(#[doc = $doc:literal])* #[test] fn $name:ident() $body:block)*) => {$(
        $(#[doc = $doc])*
        mod $name {
            use super::*;

            pub(super) fn body() $body

            #[test]
            fn memory() {
                $crate::stores::run($crate::stores::Kind::Memory, body);
            }

            #[test]
            fn file() {
                $crate::stores::run($crate::stores::Kind::File, body);
            }

            #[test]
            fn postgres() {
                $crate::stores::run($crate::stores::Kind::Postgres, body);
            }
        }
    )*};
}
pub(crate) use on_every_store;

thread_local! {
    static KIND: Cell<Kind> = const { Cell::new(Kind::Memory) };
}

/// Runs a test's body on a kind of store: databases that this thread opens are of that kind.
pub(crate) fn run(kind: Kind, body: fn()) {
    if kind == Kind::Postgres && cluster().is_none() {
        static SAID: Once = Once::new();
        #[expect(clippy::print_stderr, reason = "whoever runs the tests is to know what they did not show")]
        SAID.call_once(|| {
            eprintln!("skipped: all on PostgreSQL, since no initdb is on the path or in /usr/lib/postgresql")
        });
        return;
    }
    KIND.set(kind);
    body();
}

/// The kind of store on which this thread's test runs.
pub(crate) fn kind() -> Kind {
    KIND.get()
}

/// Number of random cases for this test's kind of store: a new file or new tables take milliseconds.
pub(crate) fn cases() -> u32 {
    match kind() {
        Kind::Memory => 200,
        Kind::File | Kind::Postgres | Kind::Found => 40,
    }
}

/// A new database of this test's kind with the tables of `model`.
pub(crate) fn open(model: &Model, mapping: Mapping) -> Opened {
    match kind() {
        Kind::Memory => sqlite(Location::Memory, model, mapping, None),
        Kind::File => {
            let folder = tempfile::tempdir().unwrap();
            sqlite(Location::File(folder.path().join("data.sqlite")), model, mapping, Some(folder))
        }
        Kind::Found => {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("found.sqlite");
            rusqlite::Connection::open(&path).unwrap().execute_batch(&found_tables(model, &mapping)).unwrap();
            sqlite(Location::File(path), model, with_checked_decimals(model, mapping), Some(folder))
        }
        Kind::Postgres => {
            let database = Database::Postgres(postgres(mapping));
            database.connection().unwrap().create_tables(model).unwrap();
            Opened { database, _folder: None }
        }
    }
}

fn sqlite(location: Location, model: &Model, mapping: Mapping, folder: Option<tempfile::TempDir>) -> Opened {
    let database = sqlite::SqliteDatabase::open(location, mapping).unwrap();
    database.connection().unwrap().create_tables(model).unwrap();
    Opened { database: Database::Sqlite(database), _folder: folder }
}

/// Tables as others declare them, in which SQLite keeps decimals as numbers.
fn found_tables(model: &Model, mapping: &Mapping) -> String {
    let table = |(set, table): (usize, &Table)| {
        let entity_type = model.type_of(SetId(set));
        let columns = entity_type.leaves.iter().zip(&table.columns).map(|(leaf, column)| {
            let declared = match leaf.primitive {
                Primitive::Decimal { .. } => "DECIMAL",
                Primitive::Single | Primitive::Double => "REAL",
                Primitive::Binary { .. } => "BLOB",
                Primitive::Boolean | Primitive::Int32 | Primitive::Int64 => "INTEGER",
                _ => "TEXT",
            };
            format!("\"{}\" {declared}{}", column.name, if leaf.nullable { "" } else { " NOT NULL" })
        });
        let key = entity_type.key.iter().map(|leaf| format!("\"{}\"", table.columns[leaf.0].name));
        let (columns, key): (Vec<_>, Vec<_>) = (columns.collect(), key.collect());
        format!("CREATE TABLE \"{}\" ({}, PRIMARY KEY ({}));", table.name, columns.join(", "), key.join(", "))
    };
    mapping.tables.iter().enumerate().map(table).collect()
}

fn with_checked_decimals(model: &Model, mut mapping: Mapping) -> Mapping {
    for (set, table) in mapping.tables.iter_mut().enumerate() {
        for (leaf, column) in model.type_of(SetId(set)).leaves.iter().zip(&mut table.columns) {
            if matches!(leaf.primitive, Primitive::Decimal { .. }) {
                column.form = Form::Checked;
            }
        }
    }
    mapping
}

/// An empty database of PostgreSQL.
pub(crate) fn postgres(mapping: Mapping) -> postgres::PostgresDatabase {
    let cluster = cluster().expect("tests of PostgreSQL run where it is installed");
    let url = cluster.url(&format!("schema={}", cluster.new_schema()));
    postgres::PostgresDatabase::open(postgres::Address::parse(&url).unwrap(), mapping).unwrap()
}

impl Opened {
    pub(crate) fn connection(&self) -> Connection {
        self.database.connection().unwrap()
    }
}
