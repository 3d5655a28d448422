//! `$apply` and `$compute`: SQL gives the same results as a naive evaluation, on every store.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tollgate_wire::decimal;
use tollgate_wire::edm::Version;
use tollgate_wire::plan::{Computed, Plan, Resource};
use tollgate_wire::query::skip_token;
use tollgate_wire::url;
use tollgate_wire::value::{Cell, Value};

use crate::plans::rows;
use crate::stores::{self, on_every_store};
use crate::world::*;

fn plan(world: &World, path: &str, query: &str) -> Plan {
    match url::parse(&world.model, Version::V4, path, Some(query)) {
        Ok((Resource::Read(plan), _)) => *plan,
        other => panic!("{path}?{query}: {other:?}"),
    }
}

/// All rows of a URL over `Items`, page by page, as texts.
pub(crate) fn answered(world: &World, query: &str, columns: usize, page_size: Option<u64>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut token = String::new();
    loop {
        let plan = plan(world, "Items", &format!("{query}{token}"));
        let mut answer = Answer::of_columns(columns);
        let outcome =
            world.read_into(&plan, page_size, &mut answer).unwrap_or_else(|error| panic!("{query}: {error:?}"));
        all.extend(answer.rows);
        match outcome.next {
            Some(next) => token = format!("&$skiptoken={}", skip_token::write(&next)),
            None => return all,
        }
    }
}

fn few() -> World {
    let item = |id, number, amount: Option<&str>, text: Option<&str>, owner| {
        let mut item = bare_item(id, number, owner);
        item[5] = amount.map_or(Value::Null, |digits| Value::Decimal(digits.into()));
        item[6] = text.map_or(Value::Null, string);
        item
    };
    World::new(
        vec![
            item("a", 1, Some("1.50"), Some("x"), Some("ann")),
            item("b", 2, Some("2.25"), Some("y"), Some("ann")),
            item("c", 3, None, Some("x"), Some("bob")),
            item("d", 4, Some("10"), None, None),
        ],
        vec![owner("ann", Some(1)), owner("bob", Some(2))],
    )
}

fn check(query: &str, expected: &[&str]) {
    let world = few();
    let options = plan(&world, "Items", query).options;
    // Of entities the key is read, and behind it what is computed.
    let shown = options.apply.map_or(2 + Computed::shown(&options.compute).count(), |applied| applied.shown.len());
    for page_size in [None, Some(1), Some(2)] {
        let rows: Vec<String> = answered(&world, query, shown, page_size).iter().map(|row| row.join(" ")).collect();
        assert_eq!(rows, expected, "{query} in pages of {page_size:?}");
    }
}

/// Checks that a query is refused, and the reason.
fn refused(query: &str, expected: &str) {
    let mut items = few().rows[0].clone();
    items[0][4] = Value::Real(5.0);
    let world = World::new(items, Vec::new());
    let error = world.read_into(&plan(&world, "Items", query), None, &mut Answer::of_columns(1)).unwrap_err();
    assert!(error.to_string().contains(expected), "{query}: {error}");
}

on_every_store! {
    #[test]
    fn everything_is_aggregated_into_one_row() {
        check(
            "$apply=aggregate(amount with sum as S,amount with average as A,amount with min as L,amount with max as G,$count as N,text with countdistinct as D)",
            &["13.75 4.58333333333333333333 1.50 10 4 2"],
        );
        check("$apply=filter(id eq 'none')/aggregate(amount with sum as S,number with sum as T,number with average as A,$count as N)", &["null null null 0"]);
        check("$apply=aggregate(number with average as A,number mul 2 with sum as T)", &["2.5 20"]);
    }

    #[test]
    fn groups_have_their_keys_and_what_is_aggregated_of_them() {
        check("$apply=groupby((text),aggregate($count as N))", &["null 1", "x 2", "y 1"]);
        check("$apply=groupby((text))", &["null", "x", "y"]);
        check("$apply=filter(number gt 1)/groupby((peer/id),aggregate(number with sum as S))", &["null 4", "a 2", "c 3"]);
        check("$apply=groupby((text),aggregate(number with sum as S))&$filter=S gt 2&$orderby=S desc", &["null 4", "x 4"]);
        check("$apply=groupby((text),aggregate(number with sum as S))&$orderby=S,text desc&$top=2&$skip=1&$select=text", &["x", "null"]);
        check("$apply=groupby((text),aggregate(number with sum as S))/filter(S gt 2)/aggregate(S with max as M)", &["4"]);
        check("$apply=groupby((text),aggregate($count as N))&$compute=N mul 10 as T&$filter=T gt 10", &["x 2 20"]);
    }

    #[test]
    fn the_first_of_an_order_are_taken() {
        let ids = |transformation: &str| format!("$apply={transformation}&$select=id");
        check(&ids("topcount(2,number)"), &["c", "d"]);
        check(&ids("bottomcount(1,number)"), &["a"]);
        check(&ids("topsum(5,number)"), &["c", "d"]);
        check(&ids("toppercent(50,number)"), &["c", "d"]);
        check(&ids("bottomsum(3,number)"), &["a", "b"]);
        check(&ids("bottompercent(10,number)"), &["a"]);
        check(&ids("orderby(number desc)/top(1)"), &["d"]);
        check(&ids("orderby(number desc)/skip(1)/top(2)/filter(text eq 'x')"), &["c"]);
        check("$apply=topcount(3,number)/groupby((text),aggregate($count as N))", &["null 1", "x 1", "y 1"]);
    }

    #[test]
    fn a_rollup_is_every_level_after_the_other() {
        let sums = "aggregate(number with sum as S)";
        check(&format!("$apply=groupby((rollup(owner,text)),{sums})"), &["null null 4", "ann x 1", "ann y 2", "bob x 3", "null null 4", "ann null 3", "bob null 3"]);
        check(&format!("$apply=groupby((rollup($all,owner)),{sums})&$filter=S gt 3&$orderby=S"), &["null 4", "null 10"]);
        check(&format!("$apply=groupby((rollup($all,owner),rollup($all,text)),{sums})/aggregate(S with sum as T)"), &["40"]);
        check("$apply=groupby((rollup($all,owner)))", &["null", "ann", "bob", "null"]);
        check("$apply=filter(id eq 'none')/groupby((rollup($all,owner)))", &["null"]);
        check("$apply=groupby((rollup($all,owner)))/aggregate($count as N)", &["4"]);
    }

    #[test]
    fn a_group_is_transformed_by_itself() {
        check("$apply=groupby((owner),topcount(1,number))&$select=id", &["b", "c", "d"]);
        check("$apply=groupby((owner),filter(number gt 2)/aggregate($count as N,number with sum as S))", &["null 1 4", "ann 0 null", "bob 1 3"]);
        check("$apply=groupby((owner),concat(topcount(1,number),aggregate(number with sum as number)))&$select=owner,number", &["null 4", "ann 2", "bob 3", "null 4", "ann 3", "bob 3"]);
        check("$apply=groupby((peer/id),topcount(1,number))&$select=peer,id", &["b a", "c c", "d null"]);
    }

    #[test]
    fn what_is_computed_has_a_name() {
        check("$apply=compute(number mul 2 as twice)/filter(twice gt 4)/aggregate(twice with sum as S)", &["14"]);
        check("$compute=number mul 2 as twice&$filter=twice gt 4&$orderby=twice desc&$select=id,twice", &["d 4 8", "c 3 6"]);
        check("$compute=length(text) as size,size add 1 as more&$filter=more eq 2&$select=id,more", &["a 1 2", "b 2 2", "c 3 2"]);
    }

    #[test]
    fn results_stand_one_after_the_other() {
        check("$apply=concat(aggregate($count as N),groupby((text)))", &["4 null", "null null", "null x", "null y"]);
        check("$apply=concat(groupby((text),aggregate(number with sum as S))/orderby(S desc),aggregate(number with sum as S))", &["null 4", "x 4", "y 2", "null 10"]);
        check("$apply=orderby(number desc)/filter(number gt 1)/compute(number mul 2 as t)/topcount(2,number)&$select=id", &["d", "c"]);
        check("$apply=concat(identity,aggregate(number with sum as number))&$select=number&$orderby=number desc", &["10", "4", "3", "2", "1"]);
    }

    #[test]
    fn no_text_of_a_client_is_part_of_a_statement() {
        check("$apply=filter(text eq '''; DROP TABLE x; --')/groupby((text))", &[]);
        check("$apply=compute(concat(text,''' OR 1=1') as t)/groupby((t))", &["null", "x' OR 1=1", "y' OR 1=1"]);
        check("$apply=filter(text eq @p)/groupby((text))&@p='x'' OR ''1''=''1'", &[]);
    }

    #[test]
    fn decimals_that_left_their_column_are_compared_as_numbers() {
        check("$apply=groupby((text),aggregate(amount with min as m))/filter(m lt 3)&$select=text", &["x", "y"]);
        check("$apply=groupby((text),aggregate(amount with max as m))&$filter=m gt 9&$select=text", &["null"]);
        check("$apply=groupby((text),aggregate(amount with max as m))&$filter=m in (2.25,10.0)&$select=text", &["null", "y"]);
        check("$filter=case(true:amount) lt 3&$select=id", &["a 1", "b 2"]);
        check("$filter=case(amount ge 0:'10') lt '9'&$select=id", &["a 1", "b 2", "d 4"]);
        check("$filter=cast(amount ge 2,Edm.String) lt 'g'&$select=id", &["a 1", "c 3"]);
        check("$apply=concat(groupby((amount)),aggregate(amount with sum as amount))&$filter=amount gt 9.5&$compute=amount add 0 as v&$select=v", &["10", "13.75"]);
        check("$orderby=amount desc,case(true:amount)&$select=id", &["d 4", "b 2", "a 1", "c 3"]);
        check("$filter=cast(amount,Edm.String) eq '1.5'&$select=id", &["a 1"]);
        check("$compute=length(cast(amount,Edm.String)) as l&$filter=l gt 1&$select=id,l", &["a 1 3", "b 2 4", "d 4 2"]);
    }

    #[test]
    fn nothing_equals_nan_and_it_orders_with_nothing() {
        let ids = |filter: &str, expected: &[&str]| check(&format!("$filter={filter}&$select=id"), expected);
        let all = ["a 1", "b 2", "c 3", "d 4"];
        for filter in ["real eq NaN", "real lt NaN", "NaN ge real", "NaN eq NaN", "NaN eq null", "real in (NaN)"] {
            ids(filter, &[]);
        }
        ids("real ne NaN", &all);
        ids("not (real eq NaN)", &all);
        refused("$filter=real add NaN gt 1", "NaN outside of a comparison is not implemented");
        refused("$compute=NaN as x", "NaN outside of a comparison is not implemented");
        refused("$filter=INF sub INF gt 1", "arithmetic with INF is not implemented");
    }

    #[test]
    fn reals_overflow_with_an_error_and_averages_of_large_numbers_do_not() {
        refused("$filter=1e308 mul real mul 10 gt 1", "overflow");
        let mut items = few().rows[0].clone();
        for (item, (whole, real)) in items.iter_mut().zip([(i64::MAX, 1e308), (i64::MIN, 7e307), (0, 1.0), (0, -1.0)]) {
            item[3] = Value::Integer(whole);
            item[4] = Value::Real(real);
        }
        let world = World::new(items, Vec::new());
        let query = "$apply=filter(number lt 3)/aggregate(whole with average as A,real with average as B,real with max as C)";
        assert_eq!(answered(&world, query, 3, None), [["-0.5", "8.5e307", "1e308"]]);
    }

    #[test]
    fn a_literal_that_is_finer_than_any_stored_time_lies_between_two() {
        let mut items = few().rows[0].clone();
        for item in &mut items {
            item[10] = Value::Text(INSTANT, "2024-02-29T12:00:00.5Z".into());
            item[11] = Value::Text(TIME, "23:59:59.123".into());
        }
        let world = World::new(items, Vec::new());
        for (filter, expected) in [
            ("instant gt 2024-02-29T12:00:00.4999999999Z", 4),
            ("instant lt 2024-02-29T12:00:00.500000001Z", 4),
            ("instant ge 2024-02-29T12:00:00.500000001Z", 0),
            ("2024-02-29T12:00:00.500000001Z ge instant", 4),
            ("not (2024-02-29T12:00:00.500000001Z lt instant)", 4),
            ("instant eq 2024-02-29T12:00:00.5000000001Z", 0),
            ("instant ne 2024-02-29T12:00:00.5000000001Z", 4),
            ("instant in (2024-02-29T12:00:00.5000000001Z,2024-02-29T12:00:00.5000000000Z)", 4),
            ("time lt 23:59:59.1230001", 4),
            ("time gt 23:59:59.1230001", 0),
        ] {
            assert_eq!(answered(&world, &format!("$filter={filter}"), 1, None).len(), expected, "{filter}");
        }
    }

    #[test]
    fn random_groups_are_those_of_a_naive_evaluation() {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(stores::cases() / 4) };
        proptest!(config, |((items, owners) in rows(60))| {
            let world = World::new(items, owners);
            for key in ["text", "flag", "date", "amount", "guid", "instant", "peer/id"] {
                let query = format!(
                    "$apply=groupby(({key}),aggregate($count as N,number with sum as S,number divby 4 with sum as A,amount with min as L,text with max as G,date with min as E,guid with countdistinct as D))"
                );
                let mut found: Vec<String> = answered(&world, &query, 8, None).iter().map(|row| normal(row)).collect();
                let mut expected = naive(&world, key);
                found.sort();
                expected.sort();
                prop_assert_eq!(found, expected, "{}", key);
            }
        });
    }
}

#[test]
fn decimals_that_a_table_keeps_as_numbers_are_numbers_wherever_they_go() {
    stores::run(stores::Kind::Found, decimals_that_left_their_column_are_compared_as_numbers::body);
}

#[test]
fn random_groups_of_a_table_that_keeps_decimals_as_numbers_are_those_of_a_naive_evaluation() {
    stores::run(stores::Kind::Found, random_groups_are_those_of_a_naive_evaluation::body);
}

/// Decimals without trailing zeros, which those of a group may have.
pub(crate) fn normal(row: &[String]) -> String {
    row.iter().map(|text| trimmed(text)).collect::<Vec<_>>().join(" | ")
}

fn trimmed(text: &str) -> String {
    match decimal::canonical(text) {
        Some(digits) if digits.contains('.') => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        Some(digits) => digits,
        None => text.to_owned(),
    }
}

fn naive(world: &World, key: &str) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => "null".to_owned(),
        other => trimmed(&cell_text(other.cell())),
    };
    let key_of = |row: &[Value]| match key {
        "peer/id" => match &row[ITEM_OWNER_NAME.0] {
            Value::Null => "null".to_owned(),
            owner => {
                let peers = world.rows[0].iter().filter(|other| other[ITEM_OWNER_NAME.0] == *owner);
                let first = peers.min_by_key(|row| {
                    let Value::Integer(number) = row[1] else { panic!("numbers are never null") };
                    (cell_text(row[0].cell()), number)
                });
                first.map_or("null".to_owned(), |row| cell_text(row[0].cell()))
            }
        },
        name => text(&row[ITEM_LEAVES.iter().position(|(known, _)| *known == name).unwrap()]),
    };
    let mut groups: BTreeMap<String, Vec<&Vec<Value>>> = BTreeMap::new();
    for row in &world.rows[0] {
        groups.entry(trimmed(&key_of(row))).or_default().push(row);
    }
    let leaf = |name: &str| ITEM_LEAVES.iter().position(|(known, _)| *known == name).unwrap();
    let of = |rows: &[&Vec<Value>], name: &str| -> Vec<Value> {
        rows.iter().map(|row| row[leaf(name)].clone()).filter(|value| *value != Value::Null).collect()
    };
    let described = groups.into_iter().map(|(key, rows)| {
        let sum: i64 = of(&rows, "number").iter().map(|value| if let Value::Integer(n) = value { *n } else { 0 }).sum();
        let digits: Vec<String> = of(&rows, "amount").iter().map(|value| cell_text(value.cell())).collect();
        let total = Some(decimal::div(&sum.to_string(), "4").unwrap());
        let least = digits.iter().min_by(|left, right| decimal::compare(left, right)).cloned();
        let texts = |name| of(&rows, name).iter().map(|value| cell_text(value.cell())).collect::<Vec<_>>();
        let distinct: std::collections::BTreeSet<String> = texts("guid").into_iter().collect();
        let or_null = |value: Option<String>| value.map_or("null".to_owned(), |value| trimmed(&value));
        [
            key,
            rows.len().to_string(),
            sum.to_string(),
            or_null(total),
            or_null(least),
            or_null(texts("text").into_iter().max()),
            or_null(texts("date").into_iter().min()),
            distinct.len().to_string(),
        ]
        .join(" | ")
    });
    described.collect()
}

/// Tests the helpers: trailing zeros are dropped, and null is shown as `null`.
#[test]
fn digits_that_mean_the_same_are_the_same_here() {
    assert_eq!(trimmed("422.940"), "422.94");
    assert_eq!(cell_text(Cell::Null), "null");
}
