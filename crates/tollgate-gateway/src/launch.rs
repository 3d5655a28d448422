//! From the configuration to what is served: databases are opened and filled, pools made, services mounted.
//!
//! It happens once, before the first request.

use std::time::Duration;

use tollgate_wire::edm::{Model, Version};

use crate::config::{self, Config};
use crate::hosted::{Hosted, Mount, count_rows};
use crate::pool::{Locking, Pool};
use crate::rest::Rest;
use crate::rules::Rules;
use crate::services::{flights, records};
use crate::store::sqlite::{self, Database, Location};
use crate::store::{Connection, StoreError};
use crate::weight::Rows;

/// Where the OData services of the flights are mounted. `sdata` is the older name under which the same service was once
/// measured.
const FLIGHTS: [(&str, Version); 3] = [
    ("/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/", Version::V2),
    ("/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/", Version::V2),
    ("/odata/v4/flights/", Version::V4),
];

/// The names of the flight service's sets in URLs of plain REST, in the order of its model: a list, and one of it.
const FLIGHTS_REST: [(&str, &str); 4] =
    [("flights", "flight"), ("carriers", "carrier"), ("bookings", "booking"), ("travelagencies", "travel agency")];

/// Where the OData services of the records are mounted.
const RECORDS: [(&str, Version); 2] = [("/odata/v4/refsvc/", Version::V4), ("/sap/opu/odata/refsvc/", Version::V2)];

/// All services that `config` asks for.
///
/// # Errors
/// What a store says of a database that cannot be opened or filled.
pub(crate) fn services(config: &Config) -> Result<Vec<Hosted>, StoreError> {
    Ok(vec![flight_service(config)?, record_service(config)?])
}

fn flight_service(config: &Config) -> Result<Hosted, StoreError> {
    let model = flights::model();
    let (location, locking) = match &config.database.location {
        config::Location::Memory => (Location::Memory, Locking::whole()),
        config::Location::File(path) => (Location::File(path.clone()), Locking::writers()),
    };
    let database = Database::open(location, flights::mapping())?;
    let (pool, rows) =
        pool(config, database, locking, &model, |connection| flights::create(connection, config.database.seed))?;
    let rest = Rest::new("/rest/", FLIGHTS_REST);
    Ok(Hosted::new("flights", model, mounts(&FLIGHTS), rest, pool, rows, Rules::default()))
}

fn record_service(config: &Config) -> Result<Hosted, StoreError> {
    let model = records::model();
    let database = Database::open(Location::Memory, records::mapping())?;
    let (pool, rows) = pool(config, database, Locking::whole(), &model, records::create)?;
    let rest = Rest::new("/rest/", [("records", "record")]);
    Ok(Hosted::new("records", model, mounts(&RECORDS), rest, pool, rows, Rules::default()))
}

/// The work processes over `database`, which `create` fills first.
fn pool(
    config: &Config,
    database: Database,
    locking: Locking,
    model: &Model,
    create: impl FnOnce(&sqlite::Connection) -> Result<(), StoreError>,
) -> Result<(Pool, Rows), StoreError> {
    let read_max = Duration::from_millis(u64::from(config.database.read_ms_max));
    let database = database.with_time_budget(read_max);
    let first = database.connection()?;
    create(&first)?;
    let mut connections = vec![Connection::Sqlite(first)];
    for _ in 1..config.work_processes.limit {
        connections.push(Connection::Sqlite(database.connection()?));
    }
    let rows = count_rows(model, &mut connections[0])?;
    let work_processes = &config.work_processes;
    Ok((Pool::new(connections, locking, work_processes.queue_max as usize, work_processes.wait_max()), rows))
}

fn mounts(roots: &[(&str, Version)]) -> Vec<Mount> {
    roots.iter().map(|(root, version)| Mount { root: (*root).into(), version: *version }).collect()
}
