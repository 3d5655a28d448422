//! From the configuration to what is served: databases are opened and filled, pools made, services mounted.
//!
//! It happens once, before the first request.

use std::time::Duration;

use tollgate_wire::edm::{Model, SetId, Version};

use crate::config::{Config, Kind, Location, Service};
use crate::hosted::{Hosted, Mount, count_rows};
use crate::pool::{Locking, Pool};
use crate::rest::Rest;
use crate::server::StartError;
use crate::services::{flights, records};
use crate::store::sqlite::{self, Database};
use crate::store::{Connection, Mapping, StoreError};
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

/// Names that a database's service cannot have: those of the other services, and what stands in their URLs.
pub(crate) const RESERVED_NAMES: [&str; 7] =
    ["flights", "carriers", "bookings", "travelagencies", "records", "refsvc", "mass-change"];

/// All services that `config` asks for.
///
/// # Errors
/// Which one cannot be served, since its database cannot be opened or filled.
pub(crate) fn services(config: &Config) -> Result<Vec<Hosted>, StartError> {
    config.services.iter().map(hosted).collect()
}

fn hosted(service: &Service) -> Result<Hosted, StartError> {
    let told =
        |error| StartError::Database { service: service.name.clone(), location: service.location.clone(), error };
    match &service.kind {
        Kind::Flights { seed } => {
            let create = |connection: &mut sqlite::Connection| flights::create(connection, *seed);
            let opened = open(service, flights::model(), flights::mapping(), create).map_err(told)?;
            Ok(opened.hosted(service, mounts(&FLIGHTS), Rest::new("/rest/", FLIGHTS_REST)))
        }
        Kind::Records => {
            let opened = open(service, records::model(), records::mapping(), records::create).map_err(told)?;
            Ok(opened.hosted(
                service,
                mounts(&RECORDS),
                Rest::new("/rest/", [("records", "record")]).with_mass_change(SetId(0)),
            ))
        }
        Kind::Database { .. } => Err(told(StoreError::Unavailable("its tables cannot be read yet".into()))),
    }
}

/// A model with work processes over its database.
struct Opened {
    model: Model,
    pool: Pool,
    rows: Rows,
}

impl Opened {
    fn hosted(self, service: &Service, mounts: Vec<Mount>, rest: Rest) -> Hosted {
        Hosted::new(&service.name, self.model, mounts, rest, self.pool, self.rows, service.rules.clone())
    }
}

/// Opens the database of `service`, which `create` fills first.
fn open(
    service: &Service,
    model: Model,
    mapping: Mapping,
    create: impl FnOnce(&mut sqlite::Connection) -> Result<(), StoreError>,
) -> Result<Opened, StoreError> {
    let (location, locking) = match &service.location {
        Location::Memory => (sqlite::Location::Memory, Locking::whole()),
        Location::File(path) => (sqlite::Location::File(path.clone()), Locking::writers()),
        Location::Postgres(_) => return Err(StoreError::Unavailable("PostgreSQL cannot be reached yet".into())),
    };
    let read_max = Duration::from_millis(u64::from(service.read_ms_max));
    let database = Database::open(location, mapping)?.with_time_budget(read_max).with_synchronous(service.synchronous);
    let mut first = database.connection()?;
    create(&mut first)?;
    let mut connections = vec![Connection::Sqlite(first)];
    for _ in 1..service.work_processes.limit {
        connections.push(Connection::Sqlite(database.connection()?));
    }
    let rows = count_rows(&model, &mut connections[0])?;
    let work_processes = &service.work_processes;
    let pool = Pool::new(connections, locking, work_processes.queue_max as usize, work_processes.wait_max());
    Ok(Opened { model, pool, rows })
}

fn mounts(roots: &[(&str, Version)]) -> Vec<Mount> {
    roots.iter().map(|(root, version)| Mount { root: (*root).into(), version: *version }).collect()
}
