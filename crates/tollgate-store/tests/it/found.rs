//! Existing databases: models of schemas not made for us, and the values in them.

use insta::assert_snapshot;
use tollgate_store::introspect::{Customisation, Introspected, introspected};
use tollgate_store::sqlite::{File, Location, Settings, SqliteDatabase};
use tollgate_store::{Connection, Discard, Fault, Mapping, Store, StoreError};
use tollgate_wire::edm::{LeafId, Primitive, SetId, Version};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{Columns, Key, Resource};
use tollgate_wire::url;
use tollgate_wire::value::Value;

use crate::world::Answer;

/// A shop from a foreign schema: dates with blanks, booleans and decimals as numbers, Guids as bytes.
const SHOP: &str = r#"
    CREATE TABLE customers (
        id INTEGER PRIMARY KEY,
        "full name" VARCHAR(40) NOT NULL,
        vip BOOLEAN NOT NULL DEFAULT 0,
        credit DECIMAL(10,2) DEFAULT 100.50,
        born DATE,
        seen DATETIME,
        token GUID UNIQUE,
        upper_name TEXT GENERATED ALWAYS AS (upper("full name")) VIRTUAL
    );
    CREATE TABLE "order details" (
        order_no INT NOT NULL,
        line SMALLINT NOT NULL,
        customer_id INTEGER REFERENCES customers,
        referred_by_id INTEGER REFERENCES customers (id) ON DELETE RESTRICT,
        at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
        logged INTEGER,
        price NUMERIC(9,3) CHECK (price >= 0),
        extra,
        PRIMARY KEY (order_no, line)
    ) WITHOUT ROWID;
    CREATE TABLE notes (note TEXT, at TIME);
    CREATE VIEW totals AS SELECT customer_id, sum(price) AS total FROM "order details" GROUP BY customer_id;
    CREATE VIRTUAL TABLE search USING rtree(id, low, high);
    INSERT INTO customers (id, "full name", vip, credit, born, seen, token) VALUES
        (1, 'Ann', 1, 12.5, '1990-02-28', '2013-09-25 11:00:00.250', x'0a1b2c3d00004000800000000000000f'),
        (2, 'Bob', 0, 7, NULL, NULL, x'ffffffff00004000800000000000000f');
    INSERT INTO "order details" VALUES
        (7, 1, 1, 2, '2013-09-25 11:00:00', 1380106800, 0.1, 'free'),
        (7, 2, 1, NULL, '2013-09-26 00:00:00', NULL, 19.999, NULL),
        (8, 1, NULL, NULL, '2013-09-27 00:00:00', NULL, NULL, NULL);
    INSERT INTO notes VALUES ('twice', '11:00'), ('twice', '11:00'), ('once', NULL);
"#;

const CUSTOM: &str = "[tables.\"order details\".columns.logged]\nstored = \"seconds\"\n";

struct Shop {
    found: Introspected,
    connection: Connection,
    _database: SqliteDatabase,
    folder: tempfile::TempDir,
}

fn shop(more: &str) -> Shop {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(SHOP).unwrap();
    raw.execute_batch(more).unwrap();
    let settings = Settings { file: File::Found, ..Settings::default() };
    let database = SqliteDatabase::open_with(Location::File(path), Mapping::default(), settings).unwrap();
    let custom = Customisation::parse(CUSTOM).unwrap();
    let found = introspected(&database.catalog().unwrap(), "shop", &custom).unwrap();
    let database = database.with_mapping(found.mapping.clone());
    let connection = Connection::Sqlite(database.connection().unwrap());
    Shop { found, connection, _database: database, folder }
}

impl Shop {
    /// The rows of a URL, a line each, or the reason why there are none.
    fn read(&mut self, path: &str, options: &str) -> String {
        let model = &self.found.model;
        let (mut lines, mut token) = (Vec::new(), None);
        loop {
            let options = match &token {
                None => options.to_owned(),
                Some(token) => format!("{options}&$skiptoken={}", tollgate_wire::query::skip_token::write(token)),
            };
            let (resource, _) = url::parse(model, Version::V4, path, Some(&options)).unwrap();
            let Resource::Read(plan) = resource else { panic!("{path} reads no data") };
            let columns = Columns::new(model.type_of(plan.set()), &plan.options.select, &plan.options.expand);
            let mut answer = Answer::of_columns(columns.leaves.len());
            let outcome = match self.connection.read(model, &plan, Some(2), &mut answer) {
                Ok(outcome) => outcome,
                Err(error) => return format!("{error} ({:?})", error.fault()),
            };
            lines.extend(answer.rows.into_iter().map(|row| row.join(" ")).chain(answer.expanded));
            token = outcome.next;
            if token.is_none() {
                return lines.join("\n");
            }
        }
    }

    fn set(&self, name: &str) -> SetId {
        self.found.model.set(name).unwrap()
    }

    fn entry(&self, set: SetId, values: &[(&str, Value)]) -> Entry {
        let entity_type = self.found.model.type_of(set);
        let mut entry = Entry::new(entity_type.leaves.len());
        values.iter().for_each(|(name, value)| entry.set(entity_type.leaf(name).unwrap(), value.cell()));
        entry
    }

    fn write(&mut self, work: impl FnOnce(&mut Connection) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.connection.transaction(work)
    }

    /// Stored value of a column.
    fn stored(&self, sql: &str) -> String {
        let raw = rusqlite::Connection::open(self.folder.path().join("shop.db")).unwrap();
        raw.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

#[test]
fn a_schema_of_somebody_elses_becomes_a_model() {
    let shop = shop("");
    let mut lines = Vec::new();
    for set in &shop.found.model.entity_sets {
        let entity_type = &shop.found.model.entity_types[set.entity_type.0];
        let can = if set.changes.insert { "" } else { ", read-only" };
        lines.push(format!("{} of {}{can}", set.name, entity_type.name));
        for (index, leaf) in entity_type.leaves.iter().enumerate() {
            let key = if entity_type.key.contains(&LeafId(index)) { "key " } else { "" };
            let null = if leaf.nullable { "?" } else { "" };
            let provided = entity_type.provided(LeafId(index)).map_or(String::new(), |how| format!(" by {how:?}"));
            lines.push(format!("  {key}{}{null}: {:?}{provided}", leaf.path, leaf.primitive));
        }
        lines.extend(entity_type.navigation.iter().map(|way| format!("  -> {} {:?}", way.name, way.multiplicity)));
    }
    lines.extend(shop.found.remarks.iter().map(|remark| format!("! {remark}")));
    assert_snapshot!(lines.join("\n"), @r#"
    customers of customer
      key id: Int64 by Database
      full_name: String { length_max: 40 }
      vip: Boolean by Default(Boolean(false))
      credit?: Decimal { precision: 10, scale: 2 } by Default(Decimal("100.50"))
      born?: Date
      seen?: DateTime { precision: 7 }
      token?: Guid
      upper_name?: String { length_max: 0 } by Computed
      -> order_details_by_customer Many
      -> order_details_by_referred_by Many
    order_details of order_detail
      key order_no: Int32
      key line: Int16
      customer_id?: Int64
      referred_by_id?: Int64
      at: DateTime { precision: 7 } by Database
      logged?: DateTimeOffset { precision: 0 }
      price?: Decimal { precision: 9, scale: 3 }
      extra?: String { length_max: 0 }
      -> customer ZeroOrOne
      -> referred_by ZeroOrOne
    notes of notesType, read-only
      note?: String { length_max: 0 }
      at?: TimeOfDay { precision: 7 }
      key rowid: Int64 by Computed
    totals of totalsType, read-only
      key customer_id: Int64
      total?: Double
    ! search: it is left out: tables of SQLite's modules are not served
    ! notes: it has no key: it is read-only, by rowid
    ! totals: it has no key: it is read-only, and its rows are told apart by customer_id, of which any may be null
    "#);
}

#[test]
fn values_are_canonical_however_they_are_stored() {
    let mut shop = shop("");
    assert_snapshot!(shop.read("customers", ""), @r"
    1 Ann 1 12.5 1990-02-28 2013-09-25T11:00:00.25 0a1b2c3d-0000-4000-8000-00000000000f ANN
    2 Bob 0 7 null null ffffffff-0000-4000-8000-00000000000f BOB
    ");
    assert_snapshot!(shop.read("order_details", ""), @r"
    7 1 1 2 2013-09-25T11:00:00 2013-09-25T11:00:00Z 0.1 free
    7 2 1 null 2013-09-26T00:00:00 null 19.999 null
    8 1 null null 2013-09-27T00:00:00 null null null
    ");
    assert_snapshot!(shop.read("order_details(order_no=7,line=1)", ""), @"7 1 1 2 2013-09-25T11:00:00 2013-09-25T11:00:00Z 0.1 free");
    assert_snapshot!(shop.read("order_details(order_no=7,line=1)/referred_by", ""), @"2 Bob 0 7 null null ffffffff-0000-4000-8000-00000000000f BOB");
    assert_snapshot!(shop.read("customers(1)", "$expand=order_details_by_customer"), @r"
    1 Ann 1 12.5 1990-02-28 2013-09-25T11:00:00.25 0a1b2c3d-0000-4000-8000-00000000000f ANN
    1[0: 7 7]
    ");
}

#[test]
fn rows_without_a_key_are_read_once_each() {
    let mut shop = shop("");
    assert_snapshot!(shop.read("notes", ""), @r"
    twice 11:00:00 1
    twice 11:00:00 2
    once null 3
    ");
    assert_snapshot!(shop.read("totals", ""), @r"
    null null
    1 20.099
    ");
    assert_snapshot!(shop.read("totals", "$orderby=total desc&$filter=total gt 0"), @"1 20.099");
}

#[test]
fn filters_and_orders_see_canonical_values() {
    let mut shop = shop("");
    let mut ids = |options: &str| {
        let rows = shop.read("customers", options);
        rows.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>().join(" ")
    };
    for (filter, expected) in [
        ("token eq 0a1b2c3d-0000-4000-8000-00000000000f", "1"),
        ("credit eq 12.50", "1"),
        ("credit add 0.5 gt 12.9", "1"),
        ("credit lt 7.1", "2"),
        ("credit ge id", "1 2"),
        ("seen eq 2013-09-25T11:00:00.25Z", "1"),
        ("hour(seen) eq 11", "1"),
        ("born lt 1990-03-01", "1"),
        ("vip", "1"),
        ("seen eq null", "2"),
    ] {
        assert_eq!(ids(&format!("$filter={filter}")), expected, "{filter}");
    }
    assert_eq!(ids("$orderby=credit"), "2 1");
    assert_eq!(ids("$orderby=token desc"), "2 1");
    assert_eq!(ids("$orderby=seen desc"), "1 2");
    let mut lines = |filter: &str| shop.read("order_details", filter).lines().count();
    assert_eq!(lines("$filter=logged eq 2013-09-25T11:00:00Z"), 1);
    assert_eq!(lines("$filter=customer/token eq 0a1b2c3d-0000-4000-8000-00000000000f"), 2);
}

#[test]
fn what_is_written_is_stored_as_the_column_has_it() {
    let mut shop = shop("");
    let (customers, details) = (shop.set("customers"), shop.set("order_details"));
    let text = |text: &str| Value::String(text.into());
    let carol = shop.entry(
        customers,
        &[
            ("full_name", text("Carol")),
            ("vip", Value::Boolean(true)),
            ("credit", text("3.10")),
            ("seen", text("2020-01-01T00:00:00")),
            ("token", text("00000000-0000-4000-8000-0000000000ab")),
        ],
    );
    let line = shop.entry(
        details,
        &[
            ("order_no", Value::Integer(9)),
            ("line", Value::Integer(1)),
            ("customer_id", Value::Integer(3)),
            ("logged", text("2013-09-25T11:00:00Z")),
        ],
    );
    let model = shop.found.model.clone();
    let mut answer = Answer::of_columns(model.type_of(customers).leaves.len());
    shop.write(|connection| {
        connection.insert(&model, customers, &carol, Some(&mut answer))?;
        connection.insert(&model, details, &line, None::<&mut Discard>)
    })
    .unwrap();
    assert_snapshot!(answer.rows[0].join(" "), @"3 Carol 1 3.1 null 2020-01-01T00:00:00 00000000-0000-4000-8000-0000000000ab CAROL");
    let row = "SELECT concat_ws('|', typeof(vip), credit, born, seen, hex(token)) FROM customers WHERE id = 3";
    assert_snapshot!(shop.stored(row), @"integer|3.1|2020-01-01 00:00:00|000000000000400080000000000000AB");
    assert_eq!(
        shop.stored("SELECT typeof(logged) || logged FROM \"order details\" WHERE order_no = 9"),
        "integer1380106800"
    );
    assert_eq!(shop.stored("SELECT length(at) || substr(at, 11, 1) FROM \"order details\" WHERE order_no = 9"), "19 ");

    let change = shop.entry(details, &[("at", text("2021-05-05T05:05:05")), ("price", text("7.125"))]);
    let key = Key(vec![Value::Integer(9), Value::Integer(1)]);
    shop.write(|connection| connection.update(&model, details, &key, &change).map(|found| assert!(found))).unwrap();
    assert_eq!(
        shop.stored("SELECT at || ' ' || price FROM \"order details\" WHERE order_no = 9"),
        "2021-05-05 05:05:05 7.125"
    );
}

#[test]
fn rules_of_the_database_are_kept_and_named_by_property() {
    let mut shop = shop("");
    let (customers, details) = (shop.set("customers"), shop.set("order_details"));
    let model = shop.found.model.clone();
    let mut refused = |set: SetId, values: &[(&str, Value)]| {
        let entry = shop.entry(set, values);
        let error = shop.write(|connection| connection.insert(&model, set, &entry, None::<&mut Discard>)).unwrap_err();
        assert_eq!(error.fault(), Fault::Client);
        error.to_string()
    };
    let text = |text: &str| Value::String(text.into());
    let line = [("order_no", Value::Integer(10)), ("line", Value::Integer(1))];
    assert_snapshot!(refused(customers, &[("vip", Value::Boolean(true))]), @"a value must not be null: full_name");
    assert_snapshot!(refused(customers, &[("full_name", text("A")), ("token", text("0a1b2c3d-0000-4000-8000-00000000000f"))]), @"it exists already: token must be unique");
    assert_snapshot!(refused(details, &[("order_no", Value::Integer(7)), ("line", Value::Integer(1))]), @"it exists already: order_no, line must be unique");
    assert_snapshot!(refused(details, &[&line[..], &[("price", text("-1"))]].concat()), @"a value breaks a condition of the database: price >= 0");
    assert_snapshot!(refused(details, &[&line[..], &[("customer_id", Value::Integer(77))]].concat()), @"a related entity does not exist, or still refers to this one");
    let error =
        shop.write(|connection| connection.delete(&model, customers, &Key(vec![Value::Integer(1)])).map(|_| ()));
    assert_snapshot!(error.unwrap_err(), @"a related entity does not exist, or still refers to this one");
}

#[test]
fn a_broken_condition_names_the_column_that_it_is_about() {
    let mut shop = shop(
        "CREATE TABLE parcels (
             id INTEGER PRIMARY KEY, weight NUMERIC CONSTRAINT \"has weight\" CHECK (weight > 0), high INT, low INT CHECK (low >= 0),
             CHECK (high > low)
         );
         CREATE TRIGGER guard BEFORE INSERT ON parcels WHEN new.low = 7 BEGIN SELECT RAISE(ABORT, 'low is not 7'); END;",
    );
    let (parcels, model) = (shop.set("parcels"), shop.found.model.clone());
    let mut check = |name: &str, value: Value, expected: Option<&str>| {
        let entry = shop.entry(parcels, &[(name, value), ("high", Value::Integer(1))]);
        let error =
            shop.write(|connection| connection.insert(&model, parcels, &entry, None::<&mut Discard>)).unwrap_err();
        match error {
            StoreError::Condition { condition: _, column } => assert_eq!(column.as_deref(), expected, "{name}"),
            other => assert_eq!(
                (other.to_string().as_str(), None),
                ("a value breaks a condition of the database: low is not 7", expected)
            ),
        }
    };
    check("weight", Value::Decimal("-1".into()), Some("weight"));
    check("low", Value::Integer(-1), Some("low"));
    check("low", Value::Integer(9), None);
    check("low", Value::Integer(7), None);
}

#[test]
fn decimals_of_which_nothing_is_declared_have_any_digits_that_are_kept() {
    let mut shop = shop(
        "CREATE TABLE sums (id INTEGER PRIMARY KEY, sum NUMERIC); INSERT INTO sums VALUES (1, 0.123456789012), (2, 12345678901234)",
    );
    let (sums, model) = (shop.set("sums"), shop.found.model.clone());
    assert_eq!(model.type_of(sums).leaves[1].primitive, Primitive::Decimal { precision: 0, scale: 0 });
    assert_snapshot!(shop.read("sums", ""), @"
    1 0.123456789012
    2 12345678901234
    ");
    let mut written = |sum: &str| {
        let entry = shop.entry(sums, &[("sum", Value::Decimal(sum.into()))]);
        let written = shop.write(|connection| connection.insert(&model, sums, &entry, None::<&mut Discard>));
        written.map_err(|error| error.to_string())
    };
    assert_eq!(written("-0.00123456789012345"), Ok(()));
    assert_eq!(written("123456789012345000"), Ok(()));
    assert_eq!(
        written("1234567890.123456"),
        Err("a value breaks a condition of the database: at most 15 digits".to_owned())
    );
    assert_eq!(shop.read("sums", "$filter=sum lt 0&$select=sum"), "-0.00123456789012345 3");
}

#[test]
fn a_deferred_foreign_key_fails_the_unit_that_breaks_it() {
    let mut shop = shop(
        "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INT REFERENCES customers (id) DEFERRABLE INITIALLY DEFERRED)",
    );
    let (child, customers, model) = (shop.set("child"), shop.set("customers"), shop.found.model.clone());
    let of = |shop: &Shop, parent: i64| shop.entry(child, &[("parent", Value::Integer(parent))]);
    let (good, bad, early) = (of(&shop, 1), of(&shop, 77), of(&shop, 78));
    let late = shop.entry(customers, &[("id", Value::Integer(78)), ("full_name", Value::String("Late".into()))]);
    let mut told = Vec::new();
    shop.write(|connection| {
        for entries in [vec![(child, &good)], vec![(child, &bad)], vec![(child, &early), (customers, &late)]] {
            connection.savepoint()?;
            for (set, entry) in entries {
                connection.insert(&model, set, entry, None::<&mut Discard>)?;
            }
            told.push(connection.release().map_err(|error| error.to_string()));
            if told.last().is_some_and(Result::is_err) {
                connection.undo()?;
            }
        }
        Ok(())
    })
    .unwrap();
    let refused = "a related entity does not exist, or still refers to this one".to_owned();
    assert_eq!(told, [Ok(()), Err(refused), Ok(())]);
    assert_eq!(shop.stored("SELECT group_concat(parent) FROM child"), "1,78");
    let alone =
        shop.connection.single_change(|connection| connection.insert(&model, child, &bad, None::<&mut Discard>));
    assert!(matches!(alone, Err(StoreError::Constraint { .. })), "{alone:?}");
    assert_eq!(shop.stored("SELECT group_concat(parent) FROM child"), "1,78");
}

#[test]
fn a_value_that_is_not_of_its_type_is_an_error_that_names_it() {
    let mut shop = shop("");
    let raw = rusqlite::Connection::open(shop.folder.path().join("shop.db")).unwrap();
    raw.execute_batch("UPDATE customers SET born = 'in spring' WHERE id = 2").unwrap();
    assert_snapshot!(shop.read("customers(2)", ""), @"a value in the database is wrong: customers.born: 'in spring' is no Date (in the row id=2) (Gateway)");
    assert_snapshot!(shop.read("customers", ""), @"a value in the database is wrong: customers.born: 'in spring' is no Date (in the row id=2) (Gateway)");
    assert_snapshot!(shop.read("customers", "$filter=year(born) eq 1990"), @"a value in the database is wrong: in a filter or an order: 'in spring' is no date (Gateway)");
    assert_eq!(shop.read("customers(1)", "$select=id").split(' ').next(), Some("1"));
}

#[test]
fn a_column_that_holds_something_else_than_it_is_declared_is_served_as_it_is() {
    let shop = shop(
        "CREATE TABLE odd (id TEXT PRIMARY KEY, at DATETIME, day DATE, flag BOOLEAN, raw GUID);
         INSERT INTO odd VALUES ('a', 1380106800, 2456560.5, 'yes', 'not a guid');",
    );
    let odd: Vec<_> =
        shop.found.remarks.iter().filter(|remark| remark.table == "odd").map(ToString::to_string).collect();
    assert_snapshot!(odd.join("\n"), @r"
        odd: at is declared DATETIME and holds 1380106800: it is served as Int64
        odd: day is declared DATE and holds 2456560.5: it is served as Double
        odd: flag is declared BOOLEAN and holds 'yes': it is served as String { length_max: 0 }
        odd: raw is declared GUID and holds 'not a guid': it is served as String { length_max: 0 }
        ");
}

#[test]
fn a_file_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.db");
    let settings = Settings { file: File::Found, ..Settings::default() };
    let error = SqliteDatabase::open_with(Location::File(path.clone()), Mapping::default(), settings).unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(!path.exists());
}
