//! Random plans over random rows: SQL gives the same answers as the naive evaluation.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tollgate_store::StoreError;
use tollgate_wire::edm::Primitive;
use tollgate_wire::plan::{Comparison, ExpressionKind, Function, Options};
use tollgate_wire::value::{Cell, Value};

use crate::naive::{duration_ms, matching};
use crate::plans::{compare, expression, filter, leaf, literal, options, rows};
use crate::stores::{self, Kind, on_every_store};
use crate::world::{
    ITEM_LEAVES, ITEM_OWNER, ITEM_PEER, ITEMS, OWNERS, STRING, World, bare_item, cell_text, collection, owner, string,
};

/// Cases of each property; a database is made for each.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(stores::cases()) }
}

on_every_store! {
    #[test]
    fn a_filter_passes_the_same_rows() {
        proptest!(config(), |((items, owners) in rows(40), filters in proptest::collection::vec(filter(), 8))| {
            let world = World::new(items, owners);
            for filter in filters {
                same_answer(&world, &Options { filter: Some(filter), ..Options::default() }, None)?;
            }
        });
    }

    #[test]
    fn orders_and_pages_are_the_same() {
        let page_size = prop_oneof![Just(None), (1_u64..9).prop_map(Some)];
        let plans = proptest::collection::vec(options(), 6);
        proptest!(config(), |((items, owners) in rows(40), options in plans, page_size in page_size)| {
            let world = World::new(items, owners);
            for options in options {
                same_answer(&world, &options, page_size)?;
            }
        });
    }
}

on_every_store! {
    #[test]
    fn an_empty_text_is_not_null_however_it_was_made() {
        let text = |kind| expression(Some(STRING), kind);
        let number = |number| literal(Primitive::Int64, Value::Integer(number));
        let empty = text(ExpressionKind::Call(Function::Substring, vec![literal(STRING, string("")), number(0), number(0)]));
        let behind = text(ExpressionKind::Call(Function::Substring, vec![empty, number(2)]));
        let name = leaf(&[(ITEM_PEER, ITEMS), (ITEM_OWNER, OWNERS)], 0, STRING);
        let filter = compare(Comparison::Equal, behind, name);
        let world = World::new(vec![bare_item("", 0, None)], vec![owner("ann", None)]);
        same_answer(&world, &Options { filter: Some(filter), ..Options::default() }, None).unwrap();
    }
}

#[test]
fn rows_of_a_table_that_keeps_decimals_as_numbers_pass_and_stand_the_same() {
    stores::run(Kind::Found, a_filter_passes_the_same_rows::body);
    stores::run(Kind::Found, orders_and_pages_are_the_same::body);
}

/// Reads all pages and compares them with the naive answer: every row once, in order, no page longer than requested.
fn same_answer(world: &World, options: &Options, page_size: Option<u64>) -> Result<(), TestCaseError> {
    let Ok(all) = matching(world, ITEMS, options) else {
        let refused = world.read(&collection(ITEMS, options.clone()), page_size);
        let expected = match refused {
            Ok(_) | Err(StoreError::Undefined { .. }) => true,
            Err(StoreError::NotImplemented { .. }) => stores::kind() == Kind::Postgres,
            Err(_) => false,
        };
        prop_assert!(expected, "{:?}", refused.err());
        return Ok(());
    };
    let skip = options.skip.unwrap_or(0) as usize;
    let top = options.top.map_or(usize::MAX, |top| top as usize);
    let expected: Vec<_> = all.iter().skip(skip).take(top).map(|row| texts(row)).collect();

    let mut plan = collection(ITEMS, options.clone());
    let mut answered = Vec::new();
    loop {
        let (outcome, mut page) = match world.read(&plan, page_size) {
            Ok(answer) => answer,
            // PostgreSQL has no rest of a division of reals.
            Err(StoreError::NotImplemented { .. }) if stores::kind() == Kind::Postgres => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}"))),
        };
        page.rows.iter_mut().for_each(|row| by_length(row));
        prop_assert!(outcome.found);
        prop_assert_eq!(outcome.rows, page.rows.len() as u64);
        prop_assert!(page_size.is_none_or(|size| outcome.rows <= size));
        let total = matches!(options.count, tollgate_wire::plan::Counting::Total).then_some(all.len() as u64);
        prop_assert_eq!(page.total, total);
        answered.extend(page.rows);
        prop_assert!(answered.len() <= expected.len(), "a page repeats rows");
        let Some(next) = outcome.next else { break };
        prop_assert_eq!(Some(outcome.rows), page_size, "only a full page has another behind it");
        prop_assert_eq!(next.answered, answered.len() as u64);
        plan.options.skip_token = Some(next);
    }
    prop_assert_eq!(answered, expected);
    Ok(())
}

fn texts(row: &[Value]) -> Vec<String> {
    let cell = |value: &Value| match value {
        Value::Null => "null".into(),
        Value::Boolean(boolean) => cell_text(Cell::Integer(i64::from(*boolean))),
        Value::Integer(integer) => cell_text(Cell::Integer(*integer)),
        // SQLite keeps no negative zero.
        Value::Real(real) => cell_text(Cell::Real(*real + 0.0)),
        Value::Decimal(text) | Value::String(text) | Value::Text(_, text) => text.clone(),
        Value::Binary(bytes) => cell_text(Cell::Bytes(bytes)),
    };
    let mut texts: Vec<_> = row.iter().map(cell).collect();
    by_length(&mut texts);
    texts
}

/// Replaces a duration by its length: PostgreSQL keeps the length, not the units.
fn by_length(row: &mut [String]) {
    let duration = ITEM_LEAVES.iter().position(|(name, _)| *name == "duration").expect("items have durations");
    if stores::kind() == Kind::Postgres && row[duration] != "null" {
        row[duration] = duration_ms(&row[duration]).to_string();
    }
}
