//! Hostile requests: values that look like SQL, endless expressions, growing texts, names with quotes.

use std::time::Duration;

use tollgate_store::sqlite::{Location, SqliteDatabase};
use tollgate_store::{Column, Fault, Mapping, Store, StoreError, Table};
use tollgate_wire::edm::Primitive;
use tollgate_wire::plan::{Comparison, Expression, Function, Logic, Options};

use crate::plans::{call, compare, item_leaf, literal, logic, not};
use crate::stores::on_every_store;
use crate::world::*;

const INJECTIONS: [&str; 6] =
    ["' OR '1'='1", "'; DROP TABLE \"Item\"; --", "\" OR 1=1 --", "a\u{0}' OR 1=1", "?1", "%"];

fn filtered(filter: Expression) -> Options {
    Options { filter: Some(filter), ..Options::default() }
}

fn text(text: &str) -> Expression {
    literal(STRING, string(text))
}

on_every_store! {
    #[test]
    fn values_that_look_like_sql_stay_values() {
        let rows = INJECTIONS.iter().enumerate().map(|(number, id)| bare_item(id, number as i64, None)).collect();
        let world = World::new(rows, Vec::new());
        for injection in INJECTIONS {
            for filter in [
                compare(Comparison::Equal, item_leaf("id"), text(injection)),
                call(Primitive::Boolean, Function::StartsWith, vec![item_leaf("id"), text(injection)]),
            ] {
                let (_, answer) = world.read(&collection(ITEMS, filtered(filter)), None).unwrap();
                let ids: Vec<_> = answer.rows.iter().map(|row| row[0].as_str()).collect();
                assert_eq!(ids, [string(injection)].map(|id| cell_text(id.cell())));
            }
        }
        let (all, _) = world.read(&collection(ITEMS, Options::default()), None).unwrap();
        assert_eq!(all.rows, INJECTIONS.len() as u64);
    }
}

#[test]
fn names_with_quotes_stay_names() {
    let model = model();
    let mut mapping = Mapping::by_type_name(&model);
    let quoted = |table: &Table| Table {
        identity: table.identity,
        schema: None,
        name: format!("{}\" WHERE 1=1 --", table.name),
        columns: table.columns.iter().map(|column| Column::canonical(format!("the \"{}\"", column.name))).collect(),
    };
    mapping.tables = mapping.tables.iter().map(quoted).collect();
    let database = SqliteDatabase::open(Location::Memory, mapping).unwrap();
    let mut connection = database.connection().unwrap();
    connection.create_tables(&model).unwrap();
    connection.transaction(|connection| insert(connection, &model, ITEMS, &bare_item("a", 1, None))).unwrap();
    let mut answer = Answer::default();
    let outcome = connection.read(&model, &collection(ITEMS, Options::default()), None, &mut answer).unwrap();
    assert_eq!(outcome.rows, 1);
}

on_every_store! {
    #[test]
    fn a_thousand_alternatives_are_answered() {
        let world = World::new((0..2_000).map(|number| bare_item("a", number, None)).collect(), Vec::new());
        let one = |number| {
            compare(
                Comparison::Equal,
                item_leaf("number"),
                literal(Primitive::Int32, tollgate_wire::value::Value::Integer(number)),
            )
        };
        let any = (1..1_000).map(one).fold(one(0), |any, one| logic(Logic::Or, any, one));
        let (outcome, _) = world.read(&collection(ITEMS, filtered(any)), None).unwrap();
        assert_eq!(outcome.rows, 1_000);
    }

    #[test]
    fn nesting_up_to_the_limit_is_answered_and_beyond_refused() {
        let world = World::new(vec![bare_item("a", 1, None)], Vec::new());
        let nested = |levels: usize| {
            let innermost = compare(Comparison::Less, item_leaf("number"), item_leaf("whole"));
            let filter = (0..levels).fold(innermost, |inner, _| not(inner));
            world.read(&collection(ITEMS, filtered(filter)), None)
        };
        // The comparison and its operand are the last two levels.
        let limit = tollgate_store::sql::expression::DEPTH_MAX - 1;
        assert!(nested(limit).is_ok());
        let error = nested(limit + 1).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
        assert_eq!(error.fault(), Fault::Client);
    }

    #[test]
    fn the_deepest_sql_that_a_level_can_become_is_within_sqlites_limit() {
        let world = World::new(vec![bare_item("a", 1, None)], Vec::new());
        let innermost = compare(Comparison::Less, item_leaf("number"), item_leaf("whole"));
        let levels = tollgate_store::sql::expression::DEPTH_MAX - 2;
        let filter = (0..levels).fold(innermost, |inner, _| {
            compare(Comparison::Less, inner, literal(Primitive::Boolean, tollgate_wire::value::Value::Boolean(true)))
        });
        assert!(world.read(&collection(ITEMS, filtered(not(filter))), None).is_ok());
    }

    #[test]
    fn more_values_than_a_statement_takes_are_refused() {
        let world = World::new(vec![bare_item("a", 1, None)], Vec::new());
        let two = compare(Comparison::NotEqual, text("a"), text("b"));
        let all = (0..14).fold(two, |half, _| logic(Logic::And, half.clone(), half));
        let error = world.read(&collection(ITEMS, filtered(all)), None).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    }

    #[test]
    fn a_text_that_grows_without_end_is_refused() {
        let world = World::new(vec![bare_item("a", 1, None)], Vec::new());
        let long = "a".repeat(200);
        let grow = |inner| call(STRING, Function::Replace, vec![inner, text("a"), text(&long)]);
        let filter = compare(Comparison::Equal, (0..5).fold(item_leaf("id"), |inner, _| grow(inner)), text("a"));
        let error = world.read(&collection(ITEMS, filtered(filter)), None).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    }

    #[test]
    fn a_text_that_is_doubled_again_and_again_is_refused_beyond_its_limit() {
        let long = "a".repeat(1_024);
        let world = World::new(vec![bare_item(&long, 1, None)], Vec::new());
        let double = |inner: Expression| call(STRING, Function::Concat, vec![inner.clone(), inner]);
        let doubled = |times| {
            let filter =
                compare(Comparison::NotEqual, (0..times).fold(item_leaf("id"), |inner, _| double(inner)), text("a"));
            world.read(&collection(ITEMS, filtered(filter)), None)
        };
        assert_eq!(doubled(2).unwrap().0.rows, 1);
        let error = doubled(3).unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    }
}

#[test]
fn a_read_beyond_its_time_budget_is_interrupted_and_the_next_one_works() {
    let model = model();
    let database =
        SqliteDatabase::open(Location::Memory, Mapping::by_type_name(&model)).unwrap().with_time_budget(Duration::ZERO);
    let mut connection = database.connection().unwrap();
    connection
        .transaction(|connection| {
            connection.create_tables(&model)?;
            (0..3_000).try_for_each(|number| insert(connection, &model, ITEMS, &bare_item("a", number, None)))
        })
        .unwrap();
    let error =
        connection.read(&model, &collection(ITEMS, Options::default()), None, &mut Answer::default()).unwrap_err();
    assert!(matches!(error, StoreError::TimeBudget), "{error:?}");
    assert_eq!(error.fault(), Fault::Overload);
    let few = collection(ITEMS, Options { top: Some(3), ..Options::default() });
    assert_eq!(connection.read(&model, &few, None, &mut Answer::default()).unwrap().rows, 3);
}

on_every_store! {
    #[test]
    fn types_without_a_common_meaning_are_refused_with_their_place() {
        let world = World::new(Vec::new(), Vec::new());
        let mut filter = compare(Comparison::Less, item_leaf("text"), item_leaf("whole"));
        filter.position = 17;
        let error = world.read(&collection(ITEMS, filtered(filter)), None).unwrap_err();
        assert_eq!(error.to_string(), "a string cannot be compared with an integer (at column 17)");
        assert_eq!(error.fault(), Fault::Client);
    }
}
