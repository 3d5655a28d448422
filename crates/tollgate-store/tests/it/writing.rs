//! Writing: effects of a transaction and its units, values of every type, and refusals, on every store.

use tollgate_store::{Connection, Discard, Fault, Flow, Mapping, RowSink, Rule, Store, StoreError};
use tollgate_wire::edm::{LeafId, Model, Primitive};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Key, Options, Plan, Shape};
use tollgate_wire::value::{Row, Value};

use crate::stores::{self, Opened, on_every_store};
use crate::world::*;

/// An empty database with two connections to it.
struct Bench {
    model: Model,
    writer: Connection,
    other: Connection,
    _opened: Opened,
}

fn bench() -> Bench {
    let model = model();
    let opened = stores::open(&model, Mapping::by_type_name(&model));
    Bench { writer: opened.connection(), other: opened.connection(), model, _opened: opened }
}

impl Bench {
    fn insert(&mut self, id: &str, number: i64) -> Result<(), StoreError> {
        insert(&mut self.writer, &self.model, ITEMS, &bare_item(id, number, None))
    }

    fn update(&mut self, key: &Key, leaf: &str, value: Value) -> Result<bool, StoreError> {
        let entity_type = self.model.type_of(ITEMS);
        let mut entry = Entry::new(entity_type.leaves.len());
        entry.set(entity_type.leaf(leaf).unwrap(), value.cell());
        self.writer.update(&self.model, ITEMS, key, &entry)
    }

    fn delete(&mut self, id: &str, number: i64) -> Result<bool, StoreError> {
        self.writer.delete(&self.model, ITEMS, &item_key(id, number))
    }

    /// The keys of all items, as another connection sees them.
    fn seen(&mut self) -> String {
        keys(&mut self.other, &self.model)
    }

    /// The keys of all items, as the writer sees them.
    fn own(&mut self) -> String {
        keys(&mut self.writer, &self.model)
    }
}

fn keys(connection: &mut Connection, model: &Model) -> String {
    let mut answer = Answer::of_columns(2);
    connection.read(model, &collection(ITEMS, Options::default()), None, &mut answer).unwrap();
    answer.rows.iter().map(|row| row.concat()).collect::<Vec<_>>().join(" ")
}

fn entity(key: Key) -> Plan {
    Plan { root: ITEMS, key: Some(key), steps: Vec::new(), shape: Shape::Entity, options: Options::default() }
}

/// Extreme and unusual values of each type, as rows of items.
fn extremes() -> Vec<Vec<Value>> {
    let text = |primitive, text: &str| Value::Text(primitive, text.to_owned());
    let columns: [(&str, Vec<Value>); 12] = [
        ("flag", vec![Value::Boolean(false), Value::Boolean(true)]),
        ("whole", [i64::MIN, i64::MAX, (1 << 53) + 1, 0].map(Value::Integer).to_vec()),
        ("real", [f64::MAX, f64::MIN_POSITIVE, -1e-300, 0.1, 5e-324].map(Value::Real).to_vec()),
        (
            "amount",
            ["99999999999999999999.9999999999", "-0.00000000000000000001", "0", "422.940", "-12345678901234567890"]
                .map(|digits| Value::Decimal(digits.into()))
                .to_vec(),
        ),
        (
            "text",
            ["", " ", "Straße 😀", "'; DROP TABLE \"Item\"; --", "%_\\", "line\nbreak\ttab\r"].map(string).to_vec(),
        ),
        (
            "guid",
            ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"]
                .map(|guid| text(Primitive::Guid, guid))
                .to_vec(),
        ),
        ("date", ["0001-01-01", "2000-02-29", "9999-12-31"].map(|date| text(Primitive::Date, date)).to_vec()),
        ("moment", ["0001-01-01T00:00:00", "9999-12-31T23:59:59"].map(|moment| text(MOMENT, moment)).to_vec()),
        ("instant", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map(|moment| text(INSTANT, moment)).to_vec()),
        ("time", ["00:00:00", "23:59:59"].map(|time| text(TIME, time)).to_vec()),
        ("duration", ["PT0S", "PT36H"].map(|duration| text(Primitive::Duration, duration)).to_vec()),
        ("bytes", [vec![], vec![0, 255, 39, 92], vec![7; 70_000]].map(Value::Binary).to_vec()),
    ];
    let mut rows = Vec::new();
    for (name, values) in columns {
        let leaf = ITEM_LEAVES.iter().position(|(leaf, _)| *leaf == name).unwrap();
        for value in values {
            let mut row = bare_item("extreme", rows.len() as i64, Some("größer"));
            row[leaf] = value;
            rows.push(row);
        }
    }
    rows
}

/// A sink that keeps rows as text.
#[derive(Default)]
struct Rows(Vec<Vec<String>>);

impl RowSink for Rows {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        self.0.push((0..=ITEM_LEAVES.len()).map(|column| cell_text(row.cell(column))).collect());
        Flow::Continue
    }
}

on_every_store! {
    #[test]
    fn others_see_a_transaction_as_a_whole_once_it_is_committed() {
        let mut bench = bench();
        bench.writer.begin().unwrap();
        bench.insert("a", 1).unwrap();
        bench.insert("b", 2).unwrap();
        assert_eq!(bench.own(), "a1 b2");
        bench.writer.commit().unwrap();
        assert_eq!(bench.seen(), "a1 b2");
        bench.writer.begin().unwrap();
        bench.insert("c", 3).unwrap();
        assert!(bench.delete("a", 1).unwrap());
        bench.writer.rollback();
        assert_eq!((bench.seen(), bench.own()), ("a1 b2".into(), "a1 b2".into()));
    }

    #[test]
    fn a_unit_that_is_undone_leaves_nothing_and_the_others_stand() {
        let mut bench = bench();
        bench.writer.begin().unwrap();
        for (id, keep) in [("a", true), ("b", false), ("c", true)] {
            bench.writer.savepoint().unwrap();
            bench.insert(id, 1).unwrap();
            if keep { bench.writer.release().unwrap() } else { bench.writer.undo().unwrap() }
        }
        bench.writer.commit().unwrap();
        assert_eq!(bench.seen(), "a1 c1");
    }

    #[test]
    fn a_unit_that_failed_is_undone_and_the_next_one_goes_on() {
        let mut bench = bench();
        bench.writer.begin().unwrap();
        bench.insert("a", 1).unwrap();
        bench.writer.savepoint().unwrap();
        bench.insert("b", 1).unwrap();
        let error = bench.insert("a", 1).unwrap_err();
        assert_eq!(error.fault(), Fault::Client);
        assert_eq!(error.to_string(), "it exists already: id, number must be unique");
        bench.writer.undo().unwrap();
        bench.writer.savepoint().unwrap();
        bench.insert("c", 1).unwrap();
        bench.writer.release().unwrap();
        bench.writer.commit().unwrap();
        assert_eq!(bench.seen(), "a1 c1");
    }

    #[test]
    fn a_transaction_that_was_rolled_back_gives_way_to_the_next() {
        let mut bench = bench();
        bench.writer.begin().unwrap();
        bench.insert("a", 1).unwrap();
        bench.writer.rollback();
        // Once more is no harm.
        bench.writer.rollback();
        bench.writer.begin().unwrap();
        bench.insert("b", 1).unwrap();
        bench.writer.commit().unwrap();
        assert_eq!(bench.seen(), "b1");
    }

    #[test]
    fn work_that_fails_takes_its_whole_transaction_with_it() {
        let mut bench = bench();
        let model = bench.model.clone();
        let failed = bench.writer.transaction(|connection| {
            insert(connection, &model, ITEMS, &bare_item("a", 1, None))?;
            insert(connection, &model, ITEMS, &bare_item("a", 1, None))
        });
        assert!(matches!(failed, Err(StoreError::Duplicate { .. })), "{failed:?}");
        assert_eq!(bench.seen(), "");
    }

    #[test]
    fn a_change_tells_whether_there_was_anything_to_change() {
        let mut bench = bench();
        bench.writer.begin().unwrap();
        bench.insert("a", 1).unwrap();
        assert!(bench.update(&item_key("a", 1), "text", string("new")).unwrap());
        assert!(!bench.update(&item_key("a", 2), "text", string("new")).unwrap());
        let nothing = Entry::new(ITEM_LEAVES.len() + 1);
        let model = bench.model.clone();
        assert!(bench.writer.update(&model, ITEMS, &item_key("a", 1), &nothing).unwrap());
        assert!(!bench.writer.update(&model, ITEMS, &item_key("b", 1), &nothing).unwrap());
        assert!(bench.writer.lock(&model, ITEMS, &item_key("a", 1)).unwrap());
        assert!(!bench.writer.lock(&model, ITEMS, &item_key("b", 1)).unwrap());
        assert!(bench.delete("a", 1).unwrap());
        assert!(!bench.delete("a", 1).unwrap());
        bench.writer.commit().unwrap();
        assert_eq!(bench.seen(), "");
    }

    #[test]
    fn a_change_gives_values_to_what_is_set_and_to_nothing_else() {
        let mut bench = bench();
        let model = bench.model.clone();
        let mut row = bare_item("a", 1, Some("ann"));
        row[6] = string("old");
        bench.writer.begin().unwrap();
        insert(&mut bench.writer, &model, ITEMS, &row).unwrap();
        bench.update(&item_key("a", 1), "whole", Value::Integer(i64::MIN)).unwrap();
        bench.update(&item_key("a", 1), "owner", Value::Null).unwrap();
        bench.writer.commit().unwrap();
        let mut rows = Rows::default();
        bench.other.read(&model, &entity(item_key("a", 1)), None, &mut rows).unwrap();
        assert_eq!((rows.0[0][3].as_str(), rows.0[0][6].as_str()), ("-9223372036854775808", "old"));
        assert_eq!(rows.0[0][ITEM_OWNER_NAME.0], "null");
    }

    #[test]
    fn extreme_values_of_every_type_come_back_as_they_were_written() {
        let mut bench = bench();
        let model = bench.model.clone();
        let written = extremes();
        let mut returned = Rows::default();
        bench
            .writer
            .transaction(|connection| {
                written.iter().try_for_each(|row| {
                    connection.insert(&model, ITEMS, &Entry::of_values(row), Some(&mut returned))
                })
            })
            .unwrap();
        let mut read = Rows::default();
        bench.other.read(&model, &collection(ITEMS, Options::default()), None, &mut read).unwrap();
        let expected: Vec<Vec<String>> =
            written.iter().map(|row| row.iter().map(|value| cell_text(value.cell())).collect()).collect();
        assert_eq!(read.0, expected);
        assert_eq!(returned.0, expected, "whoever inserts gets the row as it is stored");
    }

    #[test]
    fn what_is_left_out_is_null_and_must_not_be_where_null_is_refused() {
        let mut bench = bench();
        let model = bench.model.clone();
        let mut entry = Entry::new(ITEM_LEAVES.len() + 1);
        entry.set_text(LeafId(0), "a");
        entry.set_integer(LeafId(1), 1);
        bench.writer.transaction(|connection| connection.insert(&model, ITEMS, &entry, None::<&mut Discard>)).unwrap();
        let mut rows = Rows::default();
        bench.other.read(&model, &entity(item_key("a", 1)), None, &mut rows).unwrap();
        assert!(rows.0[0][2..].iter().all(|cell| cell == "null"));
        entry.unset(LeafId(1));
        let refused = bench.writer.transaction(|connection| connection.insert(&model, ITEMS, &entry, None::<&mut Discard>));
        match refused {
            Err(StoreError::Constraint { rule: Rule::NotNull, name }) => assert_eq!(name.as_deref(), Some("number")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_key_of_another_shape_is_the_clients_fault() {
        let mut bench = bench();
        let model = bench.model.clone();
        bench.writer.begin().unwrap();
        let short = Key(vec![string("a")]);
        let error = bench.writer.delete(&model, ITEMS, &short).unwrap_err();
        assert!(matches!(error, StoreError::Key { expected: 2, found: 1 }), "{error:?}");
        bench.writer.rollback();
    }

    #[test]
    fn a_read_inside_a_transaction_sees_its_changes_and_does_not_end_it() {
        let mut bench = bench();
        let model = bench.model.clone();
        bench.writer.begin().unwrap();
        bench.insert("a", 1).unwrap();
        let counted = Plan { shape: Shape::Count, ..collection(ITEMS, Options::default()) };
        let mut answer = Answer::default();
        bench.writer.read(&model, &counted, None, &mut answer).unwrap();
        assert_eq!(answer.total, Some(1));
        bench.insert("b", 1).unwrap();
        bench.writer.rollback();
        assert_eq!(bench.seen(), "");
    }
}
