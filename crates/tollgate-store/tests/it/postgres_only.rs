//! Features of PostgreSQL only: databases that others made, with types that no model has, and connections that break.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use insta::assert_snapshot;
use tollgate_store::introspect::{Customisation, introspected};
use tollgate_store::postgres::{Address, PostgresDatabase};
use tollgate_store::{Fault, Mapping, Store, StoreError, Tables};
use tollgate_wire::edm::{Item, LeafId, Model, Primitive, SetId};
use tollgate_wire::entry::Entry;
use tollgate_wire::plan::{
    Arithmetic, Columns, Comparison, Direction, Expand, Expression, ExpressionKind, Key, Options, OrderBy, Plan,
    Select, Shape,
};
use tollgate_wire::value::Value;

use crate::cluster::{Cluster, cluster};
use crate::plans::{compare, expression, item_leaf, literal};
use crate::stores::{self, Kind};
use crate::world::*;

/// A foreign schema.
const SHOP: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'content', 'happy');
    CREATE DOMAIN amount AS numeric(12, 2) NOT NULL CHECK (VALUE >= 0);
    CREATE TABLE country (code char(2) PRIMARY KEY, name varchar(40) NOT NULL UNIQUE);
    COMMENT ON TABLE country IS 'Countries that we ship to';
    CREATE TABLE customer (
        id serial PRIMARY KEY,
        name text NOT NULL,
        country char(2) REFERENCES country,
        feels mood DEFAULT 'content',
        tags text[],
        settings jsonb DEFAULT '{}',
        active boolean NOT NULL DEFAULT true,
        since timestamptz(3) NOT NULL DEFAULT now(),
        token uuid DEFAULT gen_random_uuid(),
        photo bytea,
        address inet
    );
    COMMENT ON COLUMN customer.name IS 'Full name';
    CREATE TABLE purchase (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        customer integer NOT NULL REFERENCES customer ON DELETE CASCADE,
        day date NOT NULL,
        at time(0),
        took interval,
        total amount DEFAULT 0,
        gross numeric GENERATED ALWAYS AS (total * 1.2) STORED,
        weight real,
        ratio double precision
    ) ;
    CREATE TABLE reading (sensor smallint, at timestamp, value double precision, PRIMARY KEY (sensor, at))
        PARTITION BY RANGE (at);
    CREATE TABLE reading_2024 PARTITION OF reading FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
    CREATE TABLE note (text varchar(10));
    CREATE VIEW happy AS SELECT id, name FROM customer WHERE feels = 'happy';
    CREATE MATERIALIZED VIEW totals AS SELECT customer, sum(total) AS total FROM purchase GROUP BY customer;
";

/// The server, for this thread's tests; `None` if PostgreSQL is not installed.
fn server() -> Option<&'static Cluster> {
    stores::run(Kind::Postgres, || {});
    cluster()
}

fn shop(cluster: &Cluster) -> PostgresDatabase {
    let schema = cluster.new_schema();
    cluster.run(&format!("SET search_path TO {schema}; {SHOP}"));
    open(&cluster.url(&format!("schema={schema}")), Mapping { tables: Vec::new() })
}

fn open(url: &str, mapping: Mapping) -> PostgresDatabase {
    PostgresDatabase::open(Address::parse(url).unwrap(), mapping).unwrap()
}

#[test]
fn a_database_of_others_is_described() {
    let Some(cluster) = server() else { return };
    let mut told = String::new();
    for table in &shop(cluster).catalog().unwrap().tables {
        let names = |columns: &[usize]| columns.iter().map(|column| &*table.columns[*column].name).collect::<Vec<_>>();
        writeln!(told, "{} {:?} key {:?} unique {:?}", table.name, table.kind, names(&table.primary_key), table.unique)
            .unwrap();
        for column in &table.columns {
            let null = if column.nullable { "null" } else { "not null" };
            let primitive = column.primitive.map(|primitive| format!("{primitive:?}")).unwrap_or_default();
            writeln!(told, "  {} {primitive} {null} {:?}", column.name, column.provided).unwrap();
        }
        for key in &table.foreign_keys {
            writeln!(told, "  {:?} -> {} {:?}", names(&key.columns), key.target, key.target_columns).unwrap();
        }
    }
    assert_snapshot!(told, @r#"
    country Table key ["code"] unique [[1]]
      code String { length_max: 2 } not null None
      name String { length_max: 40 } not null None
    customer Table key ["id"] unique []
      id Int32 not null Some(Database)
      name String { length_max: 0 } not null None
      country String { length_max: 2 } null None
      feels String { length_max: 0 } null Some(Database)
      tags Collection(String { length_max: 0 }) null None
      settings String { length_max: 0 } null Some(Database)
      active Boolean not null Some(Default(Boolean(true)))
      since DateTimeOffset { precision: 3 } not null Some(Database)
      token Guid null Some(Database)
      photo Binary { length_max: 0 } null None
      address String { length_max: 0 } null None
      ["country"] -> country ["code"]
    happy View key [] unique []
      id Int32 null None
      name String { length_max: 0 } null None
    note Table key [] unique []
      text String { length_max: 10 } null None
    purchase Table key ["id"] unique []
      id Int64 not null Some(Computed)
      customer Int32 not null None
      day Date not null None
      at TimeOfDay { precision: 0 } null None
      took String { length_max: 0 } null None
      total Decimal { precision: 12, scale: 2 } not null Some(Default(Decimal("0")))
      gross Decimal { precision: 0, scale: 0 } null Some(Computed)
      weight Single null None
      ratio Double null None
      ["customer"] -> customer ["id"]
    reading Table key ["sensor", "at"] unique []
      sensor Int16 not null None
      at DateTime { precision: 6 } not null None
      value Double null None
    totals View key [] unique []
      customer Int32 null None
      total Decimal { precision: 0, scale: 0 } null None
    "#);
}

/// A model of the shop, with a connection to it.
fn served(cluster: &Cluster) -> (Model, tollgate_store::postgres::PostgresConnection) {
    let database = shop(cluster);
    let found = introspected(&database.catalog().unwrap(), "shop", &Customisation::default()).unwrap();
    // The schema goes on with the address.
    let url = format!("schema={}", database.address().schemas[0]);
    let connection = open(&cluster.url(&url), found.mapping).connection().unwrap();
    (found.model, connection)
}

fn set(model: &Model, table: &str) -> SetId {
    let named = model.entity_sets.iter().position(|set| set.name.eq_ignore_ascii_case(table));
    SetId(named.unwrap_or_else(|| panic!("{table} is served")))
}

fn entry(model: &Model, set: SetId, values: &[(&str, Value)]) -> Entry {
    let entity_type = model.type_of(set);
    let mut entry = Entry::new(entity_type.leaves.len());
    for (name, value) in values {
        let leaf = entity_type.leaf(name).unwrap_or_else(|| panic!("{name} is a property"));
        entry.set(leaf, value.cell());
    }
    entry
}

/// Everything of a set, as text.
fn all(model: &Model, connection: &mut impl Store, set: SetId, options: Options) -> Vec<Vec<String>> {
    let columns = Columns::new(model.type_of(set), &options.select, &options.expand).leaves.len();
    let mut answer = Answer::of_columns(columns);
    connection.read(model, &collection(set, options), None, &mut answer).unwrap();
    answer.rows
}

#[test]
fn a_database_of_others_is_written_and_read() {
    let Some(cluster) = server() else { return };
    let (model, mut connection) = served(cluster);
    let text = |text: &str| Value::String(text.into());
    let (country, customer) = (set(&model, "country"), set(&model, "customer"));
    let mut stored = Answer::of_columns(model.type_of(customer).leaves.len());
    connection.begin().unwrap();
    let iceland = entry(&model, country, &[("code", text("I")), ("name", text("Iceland"))]);
    connection.insert(&model, country, &iceland, None::<&mut Answer>).unwrap();
    let values = [
        ("name", text("Ann \"the\" O'Neill")),
        ("country", text("I")),
        ("feels", text("happy")),
        ("tags", Value::Text(Primitive::Collection(Item::String { length_max: 0 }), "[\"a\",\"b c\"]".into())),
        ("settings", text("{\"b\": 1, \"a\": [2.50]}")),
        ("since", Value::Text(Primitive::DateTimeOffset { precision: 3 }, "2024-02-29T12:00:00.5Z".into())),
        ("token", Value::Text(Primitive::Guid, "0a1b2c3d-0000-4000-8000-00000000000f".into())),
        ("photo", Value::Binary(vec![0, 255])),
        ("address", text("192.168.0.1/24")),
    ];
    connection.insert(&model, customer, &entry(&model, customer, &values), Some(&mut stored)).unwrap();
    connection.commit().unwrap();
    assert_snapshot!(stored.rows[0].join(" | "), @r#"1 | Ann "the" O'Neill | I | happy | ["a","b c"] | {"a": [2.50], "b": 1} | 1 | 2024-02-29T12:00:00.5Z | 0a1b2c3d-0000-4000-8000-00000000000f | [00, ff] | 192.168.0.1/24"#);

    let feels = model.type_of(customer).leaf("feels").unwrap();
    let happy = compare(Comparison::Equal, crate::plans::leaf(&[], feels.0, STRING), literal(STRING, string("happy")));
    let found = all(&model, &mut connection, customer, Options { filter: Some(happy), ..Options::default() });
    assert_eq!(found.len(), 1);
    assert_eq!(all(&model, &mut connection, set(&model, "happy"), Options::default()).len(), 1);
    // A code that is filled with blanks is found, shown and related without them.
    let by_key = |key: &str| Plan {
        root: country,
        key: Some(Key(vec![string(key)])),
        steps: Vec::new(),
        shape: Shape::Entity,
        options: Options::default(),
    };
    let mut answer = Answer::of_columns(2);
    assert!(connection.read(&model, &by_key("I"), None, &mut answer).unwrap().found);
    assert!(!connection.read(&model, &by_key("II"), None, &mut answer).unwrap().found);
    assert_eq!(answer.rows, [["I", "Iceland"]]);
    let navigation = &model.type_of(customer).navigation;
    let to_country = navigation.iter().position(|navigation| navigation.target == country).unwrap();
    let expand = Expand::new(tollgate_wire::edm::NavigationId(to_country), country, Select::All);
    let options = Options { expand: vec![expand], ..Options::default() };
    let mut answer = Answer::of_columns(1);
    connection.read(&model, &collection(customer, options), None, &mut answer).unwrap();
    assert_eq!(answer.expanded, ["1[0: I]"]);
}

#[test]
fn what_breaks_a_rule_is_told_with_the_properties_names() {
    let Some(cluster) = server() else { return };
    let (model, mut connection) = served(cluster);
    let text = |text: &str| Value::String(text.into());
    let mut refused = |table: &str, values: &[(&str, Value)]| {
        let set = set(&model, table);
        let entry = entry(&model, set, values);
        let done = connection
            .transaction(|connection| connection.insert(&model, set, &entry, None::<&mut Answer>))
            .map_err(|error: StoreError| error);
        done.map_or_else(|error| format!("{error}"), |()| "inserted".to_owned())
    };
    let day = || Value::Text(Primitive::Date, "2024-02-29".into());
    let told = [
        refused("country", &[("code", text("IS")), ("name", text("Iceland"))]),
        refused("country", &[("code", text("IS")), ("name", text("Island"))]),
        refused("country", &[("code", text("IX")), ("name", text("Iceland"))]),
        refused("country", &[("code", text("IX"))]),
        refused("customer", &[("name", text("Ann")), ("country", text("XX"))]),
        refused("customer", &[("name", text("Ann")), ("feels", text("angry"))]),
        refused("customer", &[("name", text("Ann"))]),
        refused("purchase", &[("customer", Value::Integer(7)), ("day", day())]),
        refused("purchase", &[("customer", Value::Integer(3)), ("day", day()), ("total", Value::Decimal("-1".into()))]),
    ];
    assert_snapshot!(told.join("\n"), @"
    inserted
    it exists already: code must be unique
    it exists already: name must be unique
    a value must not be null: name
    a related entity does not exist, or still refers to this one: customer_country_fkey
    a value breaks a condition of the database
    inserted
    a related entity does not exist, or still refers to this one: purchase_customer_fkey
    a value breaks a condition of the database: amount_check
    ");
}

#[test]
fn what_no_model_has_is_served_as_what_comes_next_to_it() {
    let Some(cluster) = server() else { return };
    let schema = cluster.new_schema();
    cluster.run(&format!(
        "SET search_path TO {schema};
         CREATE TABLE term (id int PRIMARY KEY, begins date, ends timestamptz, lasts interval, share numeric,
             size int CHECK (size > 0));
         INSERT INTO term VALUES (1, '-infinity', 'infinity', '1 month -3 days', 1), (2, '2024-02-29', NULL, NULL, 'NaN')"
    ));
    let url = cluster.url(&format!("schema={schema}"));
    let catalog = open(&url, Mapping { tables: Vec::new() }).catalog().unwrap();
    let found = introspected(&catalog, "terms", &Customisation::default()).unwrap();
    let (model, term) = (&found.model, SetId(0));
    let mut connection = open(&url, found.mapping).connection().unwrap();
    let by_key = |key: i64| Plan {
        root: term,
        key: Some(Key(vec![Value::Integer(key)])),
        steps: Vec::new(),
        shape: Shape::Entity,
        options: Options::default(),
    };
    let mut answer = Answer::of_columns(6);
    connection.read(model, &by_key(1), None, &mut answer).unwrap();
    assert_snapshot!(answer.rows[0].join(" "), @"1 0001-01-01 9999-12-31T23:59:59Z P1M-3D 1 null");
    let error = connection.read(model, &by_key(2), None, &mut answer).unwrap_err();
    assert_snapshot!(error, @"a value in the database is wrong: term.share: a number is infinite or none (in the row id=2)");
    // Times without end have their place in an order, and pages go on behind them.
    for direction in [Direction::Ascending, Direction::Descending] {
        for leaf in ["begins", "ends"] {
            let leaf = model.type_of(term).leaf(leaf).unwrap();
            let kind = ExpressionKind::Leaf { of: tollgate_wire::plan::Origin::It, through: Vec::new(), leaf };
            let primitive = Some(model.type_of(term).leaves[leaf.0].primitive);
            let by = OrderBy { expression: Expression { kind, primitive, position: 0 }, direction };
            let select = Select::Only { leaves: vec![LeafId(0), leaf], navigation: Vec::new() };
            let options = Options { order_by: vec![by], select, ..Options::default() };
            let mut plan = Plan { root: term, key: None, steps: Vec::new(), shape: Shape::Collection, options };
            let mut seen = Vec::new();
            loop {
                let mut page = Answer::of_columns(2);
                let outcome = connection.read(model, &plan, Some(1), &mut page).unwrap();
                seen.extend(page.rows.into_iter().map(|row| row[0].clone()));
                let Some(next) = outcome.next else { break };
                let written = tollgate_wire::query::skip_token::write(&next);
                plan.options.skip_token = tollgate_wire::query::skip_token::parse(&written);
            }
            // Null is the least; of `begins` 1 is infinitely early, of `ends` 1 is infinitely late and 2 is null.
            let ascending = if model.type_of(term).leaves[leaf.0].path == "begins" { ["1", "2"] } else { ["2", "1"] };
            let mut expected = ascending.to_vec();
            if direction == Direction::Descending {
                expected.reverse();
            }
            assert_eq!(seen, expected, "{direction:?}");
        }
    }
    // What was read can be written, and is what it was.
    let lasts = entry(model, term, &[("lasts", Value::String(answer.rows[0][3].clone()))]);
    connection.transaction(|connection| connection.update(model, term, &Key(vec![Value::Integer(1)]), &lasts)).unwrap();
    let mut refused = |name: &str, value: Value| {
        let values = entry(model, term, &[("id", Value::Integer(3)), (name, value)]);
        let done = connection
            .transaction(|connection| connection.insert(model, term, &values, None::<&mut Answer>))
            .map_err(|error: StoreError| error);
        done.unwrap_err().to_string()
    };
    assert_snapshot!(refused("size", Value::Integer(0)), @"a value breaks a condition of the database: size");
    assert_snapshot!(refused("lasts", Value::String("\0".into())), @"a value breaks a condition of the database: lasts");
    let mut answer = Answer::of_columns(6);
    connection.read(model, &by_key(1), None, &mut answer).unwrap();
    assert_eq!(answer.rows[0][3], "P1M-3D");
}

#[test]
fn a_text_with_the_character_zero_is_nobodys_fault_but_the_clients() {
    let Some(_) = server() else { return };
    let world = World::new(vec![bare_item("a", 1, None)], Vec::new());
    let zero = literal(STRING, Value::String("a\0".into()));
    let filter = compare(Comparison::Equal, item_leaf("id"), zero);
    let error =
        world.read(&collection(ITEMS, Options { filter: Some(filter), ..Options::default() }), None).unwrap_err();
    assert_eq!(error.fault(), Fault::Client, "{error:?}");
}

#[test]
fn an_order_without_a_value_for_rows_that_the_filter_keeps_out_is_paged_all_the_same() {
    let Some(_) = server() else { return };
    let world = World::new((0..9).map(|number| bare_item("a", number, None)).collect(), Vec::new());
    let number = || item_leaf("number");
    let of_hundred = expression(
        Some(Primitive::Int32),
        ExpressionKind::Arithmetic(
            Arithmetic::Divide,
            Box::new(literal(Primitive::Int32, Value::Integer(100))),
            Box::new(number()),
        ),
    );
    let filter = compare(Comparison::NotEqual, number(), literal(Primitive::Int32, Value::Integer(0)));
    let order_by = vec![OrderBy { expression: of_hundred, direction: Direction::Ascending }];
    let mut plan = collection(ITEMS, Options { filter: Some(filter), order_by, ..Options::default() });
    let mut seen = Vec::new();
    loop {
        let (outcome, answer) = world.read(&plan, Some(3)).unwrap();
        seen.extend(answer.rows.into_iter().map(|row| row[1].clone()));
        let Some(next) = outcome.next else { break };
        plan.options.skip_token = Some(next);
    }
    assert_eq!(seen, ["8", "7", "6", "5", "4", "3", "2", "1"]);
}

#[test]
fn large_lists_come_in_parts_and_a_sink_that_stops_leaves_the_rest() {
    let Some(_) = server() else { return };
    let world =
        World::new((0..2_500).map(|number| bare_item("a", number, Some("ann"))).collect(), vec![owner("ann", None)]);
    let (outcome, answer) = world.read(&collection(ITEMS, Options::default()), None).unwrap();
    assert_eq!((outcome.rows, answer.rows.len()), (2_500, 2_500));
    let expand = Expand::new(OWNER_ITEMS, ITEMS, Select::All);
    let options = Options { expand: vec![expand], ..Options::default() };
    let (_, answer) = world.read(&collection(OWNERS, options), None).unwrap();
    assert_eq!(answer.expanded[0].matches(" a").count(), 2_500);
    let mut answer = Answer::stopping_after(3);
    let outcome = world.read_into(&collection(ITEMS, Options::default()), None, &mut answer).unwrap();
    assert_eq!((outcome.rows, outcome.next.is_some()), (3, true));
    assert_eq!(world.read(&collection(ITEMS, Options::default()), Some(2)).unwrap().0.rows, 2);
}

#[test]
fn a_connection_over_the_servers_socket_is_as_good() {
    let Some(cluster) = server() else { return };
    let mut connection = open(&cluster.socket_url(""), Mapping { tables: Vec::new() }).connection().unwrap();
    connection.begin().unwrap();
    connection.commit().unwrap();
}

#[test]
fn encryption_that_the_server_does_not_offer_is_not_done_without() {
    let Some(cluster) = server() else { return };
    let mut connection = open(&cluster.url("sslmode=require"), Mapping { tables: Vec::new() }).connection().unwrap();
    let error = connection.begin().unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains("server does not support TLS"), "{cause}");
    open(&cluster.url("sslmode=prefer"), Mapping { tables: Vec::new() }).connection().unwrap().begin().unwrap();
}

#[test]
fn after_a_crash_of_the_server_nothing_is_lost_or_doubled_and_errors_are_over_once_it_is_up() {
    const WRITERS: u32 = 4;
    const DOWN: u32 = 1;
    if server().is_none() {
        return;
    }
    // A server of its own, since the other tests go on meanwhile.
    let cluster = Cluster::another().expect("it is installed");
    let model = model();
    let url = cluster.url(&format!("schema={}", cluster.new_schema()));
    let database = open(&url, Mapping::by_type_name(&model));
    database.connection().unwrap().create_tables(&model).unwrap();
    let acknowledged = Mutex::new(BTreeSet::new());
    let unknown = Mutex::new(BTreeSet::new());
    // 0 before the crash, 1 while it is down, 2 after it.
    let (epoch, stop) = (AtomicU32::new(0), AtomicBool::new(false));
    let (done, refused_when_up) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (model, database) = (&model, &database);
            let (acknowledged, unknown, epoch, stop) = (&acknowledged, &unknown, &epoch, &stop);
            let (done, refused_when_up) = (&done, &refused_when_up);
            scope.spawn(move || {
                let mut connection = database.connection().unwrap();
                let mut number = i64::from(writer);
                while !stop.load(Ordering::SeqCst) {
                    number += i64::from(WRITERS);
                    let begun = epoch.load(Ordering::SeqCst);
                    let entry = Entry::of_values(&bare_item("a", number, None));
                    let inserted = connection.begin().and_then(|()| {
                        connection.savepoint()?;
                        connection.insert(model, ITEMS, &entry, None::<&mut Answer>)?;
                        connection.release()
                    });
                    match inserted.map(|()| connection.commit()) {
                        Ok(Ok(())) => {
                            acknowledged.lock().unwrap().insert(number);
                            done.fetch_add(1, Ordering::SeqCst);
                        }
                        Ok(Err(error)) => {
                            assert!(
                                matches!(
                                    error,
                                    StoreError::Unavailable(_) | StoreError::Broken(_) | StoreError::InDoubt(_)
                                ),
                                "{error:?}"
                            );
                            unknown.lock().unwrap().insert(number);
                        }
                        Err(error) => {
                            connection.rollback();
                            assert_eq!(error.fault(), Fault::Overload, "{error:?}");
                            let same = epoch.load(Ordering::SeqCst) == begun;
                            if same && begun != DOWN {
                                refused_when_up.fetch_add(1, Ordering::SeqCst);
                            }
                        }
                    }
                }
            });
        }
        let reach = |count: u32| {
            while done.load(Ordering::SeqCst) < count {
                std::thread::yield_now();
            }
        };
        reach(200);
        epoch.store(DOWN, Ordering::SeqCst);
        cluster.crash_and_restart();
        let until_now = done.load(Ordering::SeqCst);
        epoch.store(DOWN + 1, Ordering::SeqCst);
        reach(until_now + 400);
        stop.store(true, Ordering::SeqCst);
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    let unknown = unknown.into_inner().unwrap();
    let mut stored = BTreeSet::new();
    for row in
        cluster.client().query(&format!("SELECT number FROM {}.\"Item\"", database.address().schemas[0]), &[]).unwrap()
    {
        assert!(stored.insert(i64::from(row.get::<_, i32>(0))), "a row is there twice");
    }
    assert!(acknowledged.is_subset(&stored), "what was acknowledged is there");
    let others: BTreeSet<_> = stored.difference(&acknowledged).copied().collect();
    assert!(others.is_subset(&unknown), "what is there was acknowledged, or its commit was under way");
    assert!(database.reconnects() >= 1);
    assert_eq!(refused_when_up.into_inner(), 0, "what was begun once it was up succeeded");
}
