//! SQLite's query plans for the main shapes of statements: which must be searches of the key, and which must not sort.

use insta::assert_snapshot;
use tollgate_wire::edm::{Model, Version};
use tollgate_wire::plan::{Columns, Resource};
use tollgate_wire::{query, url};

use super::SqliteConnection;
use crate::fixture::filled;
use crate::sql::dialect::Dialect;
use crate::sql::statement::{Source, Window};
use crate::{Discard, Outcome};

/// SQLite's query plan of the statement for a URL's page.
fn explained(path: &str, options: &str) -> String {
    let (_database, connection, model) = filled();
    explain(&connection, &model, path, options)
}

fn explain(connection: &SqliteConnection, model: &Model, path: &str, options: &str) -> String {
    let (resource, _) = url::parse(model, Version::V4, path, Some(options)).unwrap();
    let Resource::Read(plan) = resource else { panic!("{path} reads no data") };
    let columns = Columns::new(model.type_of(plan.set()), &plan.options.select, &plan.options.expand);
    let source = Source { model, mapping: &connection.mapping, dialect: Dialect::Sqlite };
    let sql = source.page(&plan, &columns, Window { limit: Some(10), offset: None }).unwrap();
    let mut statement = connection.raw.prepare(&format!("EXPLAIN QUERY PLAN {}", sql.text)).unwrap();
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        lines.push(row.get::<_, String>("detail").unwrap());
    }
    lines.join("; ")
}

/// Its LIMIT has another value each time, and SQLite would otherwise plan by that.
#[test]
fn a_kept_statement_is_not_prepared_again_for_other_values() {
    let (_database, connection, model) = filled();
    let source = Source { model: &model, mapping: &connection.mapping, dialect: Dialect::Sqlite };
    let mut again = 0;
    for limit in [20, 10, 20] {
        let options = format!("$filter=PRICE gt {limit}");
        let (resource, _) = url::parse(&model, Version::V4, "FlightCollection", Some(&options)).unwrap();
        let Resource::Read(plan) = resource else { panic!("it reads data") };
        let columns = Columns::new(model.type_of(plan.set()), &plan.options.select, &plan.options.expand);
        let sql = source.page(&plan, &columns, Window { limit: Some(limit), offset: None }).unwrap();
        let mut statement = connection.prepared(&sql).unwrap();
        assert!(statement.raw_query().next().unwrap().is_some());
        again += statement.get_status(rusqlite::StatementStatus::RePrepare);
    }
    assert_eq!(again, 0);
}

const FLIGHT: &str = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";

#[test]
fn an_entity_is_searched_by_its_key() {
    assert_snapshot!(explained(FLIGHT, ""), @"SEARCH t USING PRIMARY KEY (carrid=? AND connid=? AND fldate=?)");
}

#[test]
fn a_collection_in_the_order_of_its_key_is_not_sorted() {
    assert_snapshot!(explained("FlightCollection", ""), @"SCAN t");
    assert_snapshot!(explained("FlightCollection", "$filter=PRICE gt 500"), @"SCAN t");
}

#[test]
fn a_filter_on_the_front_of_the_key_is_a_search() {
    assert_snapshot!(explained("FlightCollection", "$filter=carrid eq 'AA'"), @"SEARCH t USING PRIMARY KEY (carrid=?)");
    assert_snapshot!(explained("FlightCollection", "$filter=carrid eq 'AA' and connid gt '0020'"), @"SEARCH t USING PRIMARY KEY (carrid=? AND connid>?)");
}

#[test]
fn related_entities_are_searched_and_not_sorted() {
    assert_snapshot!(explained(&format!("{FLIGHT}/flightBookings"), ""), @"SEARCH p0 USING PRIMARY KEY (carrid=? AND connid=? AND fldate=?); SEARCH t USING PRIMARY KEY (carrid=? AND connid=? AND fldate=?)");
    assert_snapshot!(explained(&format!("{FLIGHT}/FlightCarrier"), ""), @"SEARCH p0 USING PRIMARY KEY (carrid=? AND connid=? AND fldate=?); SEARCH t USING PRIMARY KEY (carrid=?)");
}

#[test]
fn the_next_page_begins_with_a_search() {
    let (_database, connection, model) = filled();
    let (resource, _) = url::parse(&model, Version::V4, "FlightCollection", None).unwrap();
    let Resource::Read(plan) = resource else { panic!("it reads data") };
    let Outcome { next, .. } = connection.read(&model, &plan, Some(10), &mut Discard).unwrap();
    let token = query::skip_token::write(&next.expect("there are more than 10 flights"));
    assert_snapshot!(explain(&connection, &model, "FlightCollection", &format!("$skiptoken={token}")), @"SEARCH t USING PRIMARY KEY ((carrid,connid,fldate)>(?,?,?))");
}
