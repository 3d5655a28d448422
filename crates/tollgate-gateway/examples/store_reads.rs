//! Cost of SQLite and the store by themselves: microseconds for a read by key and for each row of the list, in memory,
//! with every cell touched as a writer would.
//!
//! `cargo run --release -p tollgate-gateway --example store_reads [rounds]`; for a profile `perf record` it. It takes
//! the least of several rounds, since anything above that is other work.

use std::hint::black_box;
use std::time::Instant;

use tollgate_gateway::services::flights;
use tollgate_store::sqlite::{Location, SqliteDatabase};
use tollgate_store::{Flow, RowSink, StoreError};
use tollgate_wire::edm::{NavigationId, Primitive, SetId};
use tollgate_wire::plan::{Expand, Key, Options, Plan, Select, Shape};
use tollgate_wire::value::{Cell, Row, Value};

/// Touches every cell.
struct Touch {
    columns: usize,
    bytes: usize,
}

impl RowSink for Touch {
    fn entity<R: Row>(&mut self, row: &R) -> Flow {
        for column in 0..self.columns {
            self.bytes += match row.cell(column) {
                Cell::Null => 4,
                Cell::Integer(integer) => black_box(integer) as usize & 7,
                Cell::Real(real) => black_box(real) as usize & 7,
                Cell::Text(bytes) | Cell::Bytes(bytes) => black_box(bytes).len(),
            };
        }
        Flow::Continue
    }

    fn expand_entity<R: Row>(&mut self, _index: usize, row: &R) -> Flow {
        black_box(row.cell(0));
        Flow::Continue
    }
}

#[expect(clippy::print_stdout, reason = "an example shows its figures")]
fn main() -> Result<(), StoreError> {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(15);
    let model = flights::model();
    let database = SqliteDatabase::open(Location::Memory, flights::mapping())?;
    let mut connection = database.connection()?;
    flights::create(&mut connection, flights::SEED)?;

    let flights = model.set("FlightCollection").expect("the service has flights");
    let columns = model.type_of(flights).leaves.len();
    let one = plan(flights, Some(flight_key("2011-06-01")), Options::default());
    let all = plan(flights, None, Options::default());
    let carrier = model.type_of(flights).navigation("FlightCarrier").expect("a flight has a carrier");
    let expanded = plan(flights, None, Options { expand: vec![expand(carrier, SetId(1))], ..Options::default() });

    for (name, plan, reads) in
        [("read by key", &one, 20_000), ("list of 400", &all, 100), ("list of 400, carriers expanded", &expanded, 50)]
    {
        let mut least_us = f64::INFINITY;
        let mut touch = Touch { columns, bytes: 0 };
        let mut rows = 0;
        for _ in 0..rounds {
            let begun = Instant::now();
            rows = 0;
            for _ in 0..reads {
                rows += connection.read(&model, plan, None, &mut touch)?.rows;
            }
            least_us = least_us.min(begun.elapsed().as_secs_f64() * 1e6 / f64::from(reads));
        }
        let rows = rows as f64 / f64::from(reads);
        println!(
            "{name}: {least_us:.2} µs, {:.3} µs a row, {columns} columns ({} bytes)",
            least_us / rows,
            touch.bytes
        );
    }
    Ok(())
}

fn plan(root: SetId, key: Option<Key>, options: Options) -> Plan {
    let shape = if key.is_some() { Shape::Entity } else { Shape::Collection };
    Plan { root, key, steps: Vec::new(), shape, options }
}

fn expand(navigation: NavigationId, target: SetId) -> Expand {
    Expand::new(navigation, target, Select::All)
}

fn flight_key(date: &str) -> Key {
    let text = |text: &str| Value::String(text.to_owned());
    Key(vec![text("AA"), text("0017"), Value::Text(Primitive::Date, date.to_owned())])
}
