//! Launch of the configured services: databases are opened and filled, pools made, services mounted.
//!
//! It happens once, before the first request.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use tollgate_wire::edm::{Changes, Model, SetId, Version};

use crate::auth::{Policy, is_within};
use crate::built_in::BUILT_IN;
use crate::clients::ClientLimit;
use crate::config::{self, Config, ConfigError, Kind, Location, PlainBasic, Service};
use crate::front::start_error::StartError;
use crate::hosted::rest::Rest;
use crate::hosted::{Mount, Opened, Published, count_rows};
use crate::serve::proxy;
use crate::services::{flights, records};
use crate::store::introspect::{self, Catalog, Customisation, CustomisationError, Introspected};
use crate::store::postgres::{self, Address};
use crate::store::{Connection, Database, Mapping, StoreError, sqlite};
use crate::work::answer_room::{AnswerRoom, ROOM_BYTES};
use crate::work::pool::{Locking, Pool};
use crate::work::weight::Rows;

/// Paths of the OData services of the flights. `sdata` is an older name, under which it was once
/// measured.
const FLIGHTS: [(&str, Version); 3] = [
    ("/sap/opu/odata/iwfnd/RMTSAMPLEFLIGHT/", Version::V2),
    ("/sap/opu/sdata/iwfnd/RMTSAMPLEFLIGHT/", Version::V2),
    ("/odata/v4/flights/", Version::V4),
];

/// The names of the flight service's sets in URLs of plain REST, in the order of its model: list and single entity.
const FLIGHTS_REST: [(&str, &str); 4] =
    [("flights", "flight"), ("carriers", "carrier"), ("bookings", "booking"), ("travelagencies", "travel agency")];

/// Paths of the OData services of the records.
const RECORDS: [(&str, Version); 2] = [("/odata/v4/refsvc/", Version::V4), ("/sap/opu/odata/refsvc/", Version::V2)];

/// Largest mapping file, in bytes.
const MAPPING_BYTES_MAX: u64 = 1 << 20;

/// The launched services.
pub(super) struct Launched {
    /// The services, in the order of the configuration.
    pub(super) services: Vec<Published>,
    /// Remarks on them for the operator, a line each.
    pub(super) remarks: Vec<String>,
}

/// Launches all services of `config`.
///
/// # Errors
/// The service whose database cannot be opened, filled or understood.
pub(super) fn launch(config: &Config, policy: &Policy) -> Result<Launched, StartError> {
    let mut launched = Launched { services: Vec::with_capacity(config.services.len()), remarks: Vec::new() };
    let room = AnswerRoom::of(ROOM_BYTES);
    for service in &config.services {
        launched.services.push(published(service, &room, &mut launched.remarks)?);
    }
    launched.services.iter_mut().for_each(|service| service.govern(policy));
    check(config, launched.services.iter(), policy, Idle::Refused)?;
    Ok(launched)
}

/// Whether access rules may match no service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Idle {
    /// Rules for services that are not running yet are allowed.
    Allowed,
    /// Each rule must match a service.
    Refused,
}

/// Checks that the routes and the access rules of `config` fit `services`.
///
/// # Errors
/// A route that no request would ever reach, or a rule that matches nothing.
pub(super) fn check<'h>(
    config: &'h Config,
    services: impl Iterator<Item = &'h Published> + Clone,
    policy: &Policy,
    idle: Idle,
) -> Result<(), StartError> {
    let taken = services.clone().flat_map(|service| service.taken().map(|path| (&*service.hosted.name, path)));
    let others = config.built_in.iter().map(|service| (service.kind.name, service.kind.path.to_owned()));
    config::check_routes(&config.routes, taken.chain(others)).map_err(StartError::Config)?;
    if idle == Idle::Allowed {
        return Ok(());
    }
    let mut roots: Vec<&str> = services.clone().flat_map(Published::roots).collect();
    roots.extend(config.built_in.iter().map(|service| service.kind.path));
    roots.extend(config.routes.iter().map(|route| &*route.path));
    roots.push("/");
    let mut places: Vec<_> = services.flat_map(Published::places).collect();
    let built_in = BUILT_IN.iter().map(|kind| kind.path);
    places.extend(["/"].into_iter().chain(built_in).map(|path| (path.to_owned(), None)));
    places.extend(proxy::places(&config.routes, policy).map(|path| (path.to_owned(), None)));
    if let Some(rule) = policy.idle(&places).first() {
        return Err(StartError::IdleRule { place: rule.place.clone() });
    }
    let is_idle =
        |limit: &&ClientLimit| limit.path.as_ref().is_some_and(|path| !roots.iter().any(|root| is_within(root, path)));
    match config.clients.limits.iter().find(is_idle) {
        Some(limit) => Err(StartError::Config(limit.idle())),
        None => Ok(()),
    }
}

/// Checks that other machines reach only listeners that ask who they are, and that passwords are accepted only where allowed.
pub(super) fn check_listeners(config: &Config) -> Result<(), StartError> {
    let authentication = &config.authentication;
    if let Some(address) = config.exposed_to_anyone() {
        return Err(StartError::Exposed { address: *address });
    }
    if !authentication.takes_basic() || authentication.plain_basic == PlainBasic::Anywhere {
        return Ok(());
    }
    match config.listen.addresses.iter().find(|address| !address.ip().is_loopback()) {
        None => Ok(()),
        Some(address) => Err(StartError::PlainBasic { address: *address }),
    }
}

fn published(service: &Service, room: &AnswerRoom, remarks: &mut Vec<String>) -> Result<Published, StartError> {
    let (opened, mounts, rest) = opened(service, remarks)?;
    Ok(Published::new(opened.hosted(service.name.clone(), service.rules.clone(), room), mounts, rest))
}

/// Opens a service; returns it with its OData mounts and its plain REST.
fn opened(service: &Service, remarks: &mut Vec<String>) -> Result<(Opened, Vec<Mount>, Rest), StartError> {
    let told =
        |error| StartError::Database { service: service.name.clone(), location: service.location.clone(), error };
    match &service.kind {
        Kind::Flights { seed } => {
            let create = |connection: &mut Connection| flights::create(connection, *seed);
            let opened = made(service, flights::model(), flights::mapping(), create).map_err(told)?;
            Ok((opened, mounts(&FLIGHTS), Rest::new("/rest/", FLIGHTS_REST)))
        }
        Kind::Records => {
            let opened = made(service, records::model(), records::mapping(), records::create).map_err(told)?;
            let rest = Rest::new("/rest/", [("records", "record")]).with_mass_change(SetId(0));
            Ok((opened, mounts(&RECORDS), rest))
        }
        Kind::Database { mapping } => {
            let file = mapping.as_deref().map(MappingFile::read).transpose()?.unwrap_or_default();
            let customisation = Customisation::parse(&file.text).map_err(|error| file.refused(&error))?;
            let (catalog, access) = catalog(service).map_err(told)?;
            let found = introspect::introspected(&catalog, &service.name, &customisation);
            let found = found.map_err(|error| file.refused(&error))?;
            let Introspected { mut model, mapping, remarks: found } = found;
            remarks.extend(found.iter().map(|remark| format!("{}: {remark}", service.name)));
            if access == DatabaseAccess::Read && !service.read_only {
                remarks.push(format!("{}: the database cannot be written: all of it is read-only", service.name));
            }
            if access == DatabaseAccess::Read {
                forbid_changes(&mut model);
            }
            if model.entity_sets.is_empty() {
                remarks.push(format!("{}: there is no table that could be served", service.name));
            }
            let names = model
                .entity_sets
                .iter()
                .map(|set| (set.name.clone(), model.entity_types[set.entity_type.0].name.clone()));
            let names: Vec<_> = names.collect();
            let name = &service.name;
            let rest = Rest::new(&format!("/rest/{name}/"), names.iter().map(|(set, item)| (&**set, &**item)));
            let roots = [(format!("/odata/v4/{name}/"), Version::V4), (format!("/sap/opu/odata/{name}/"), Version::V2)];
            let roots: Vec<_> = roots.iter().map(|(root, version)| (&**root, *version)).collect();
            let opened = found_database(service, model, mapping, access).map_err(told)?;
            Ok((opened, mounts(&roots), rest))
        }
    }
}

/// The mapping file; empty if there is none.
#[derive(Default)]
struct MappingFile {
    name: String,
    text: String,
}

impl MappingFile {
    fn read(path: &Path) -> Result<MappingFile, StartError> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAPPING_BYTES_MAX).read_to_string(&mut text));
        read.map_err(|error| StartError::MappingFile { path: path.to_owned(), error })?;
        Ok(MappingFile { name: path.display().to_string(), text })
    }

    fn refused(&self, error: &CustomisationError) -> StartError {
        StartError::Mapping(ConfigError::of_mapping(&self.text, &self.name, error))
    }
}

/// Whether a database that was found may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatabaseAccess {
    ReadWrite,
    Read,
}

/// Catalogue of the tables of an existing database.
fn catalog(service: &Service) -> Result<(Catalog, DatabaseAccess), StoreError> {
    let nothing = || Mapping { tables: Vec::new() };
    match database(service, nothing(), sqlite::File::Found) {
        Ok((database, _)) if service.read_only => Ok((database.catalog()?, DatabaseAccess::Read)),
        // A file that nobody may write is served all the same.
        Err(StoreError::ReadOnly(_)) => {
            let (database, _) = database(service, nothing(), sqlite::File::FoundToRead)?;
            Ok((database.catalog()?, DatabaseAccess::Read))
        }
        opened => Ok((opened?.0.catalog()?, DatabaseAccess::ReadWrite)),
    }
}

/// Makes the work processes over a database.
fn with_pool(service: &Service, model: Model, (database, locking): (Database, Locking)) -> Result<Opened, StoreError> {
    let work_processes = &service.work_processes;
    let connections = (0..work_processes.limit).map(|_| database.connection());
    let mut connections = connections.collect::<Result<Vec<_>, _>>()?;
    let rows = match &locking {
        // All reads leave the loop anyway, and counting a large table takes PostgreSQL long.
        Locking::Unlocked => Rows::default(),
        Locking::Whole(_) | Locking::Writers(_) => count_rows(&model, &mut connections[0])?,
    };
    let pool = Pool::new(connections, locking, work_processes.queue_max as usize, work_processes.wait_max());
    Ok(Opened { model, database, pool, rows })
}

/// Removes whatever changes anything from a model: changes of entities, and actions.
fn forbid_changes(model: &mut Model) {
    model.entity_sets.iter_mut().for_each(|set| set.changes = Changes::NONE);
    model.function_imports.retain(|import| import.effect().is_none());
}

/// Opens our own database, which `create` fills if it is empty.
fn made(
    service: &Service,
    mut model: Model,
    mapping: Mapping,
    create: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
) -> Result<Opened, StoreError> {
    let opened = database(service, mapping, sqlite::File::Made)?;
    create(&mut opened.0.connection()?)?;
    if service.read_only {
        forbid_changes(&mut model);
    }
    with_pool(service, model, opened)
}

/// Opens a foreign database.
fn found_database(
    service: &Service,
    model: Model,
    mapping: Mapping,
    access: DatabaseAccess,
) -> Result<Opened, StoreError> {
    let file = match access {
        DatabaseAccess::ReadWrite => sqlite::File::Found,
        DatabaseAccess::Read => sqlite::File::FoundToRead,
    };
    with_pool(service, model, database(service, mapping, file)?)
}

fn database(service: &Service, mapping: Mapping, file: sqlite::File) -> Result<(Database, Locking), StoreError> {
    let read_time = Duration::from_millis(u64::from(service.read_ms_max));
    let (location, locking) = match &service.location {
        Location::Memory => (sqlite::Location::Memory, Locking::whole()),
        Location::File(path) => (sqlite::Location::File(path.clone()), Locking::writers()),
        Location::Postgres(address) => {
            let database =
                postgres::PostgresDatabase::open(Address::clone(address), mapping)?.with_time_budget(read_time)?;
            return Ok((Database::Postgres(database), Locking::Unlocked));
        }
    };
    let settings =
        sqlite::Settings { file, synchronous: service.synchronous, read_time, ..sqlite::Settings::default() };
    Ok((Database::Sqlite(sqlite::SqliteDatabase::open_with(location, mapping, settings)?), locking))
}

fn mounts(roots: &[(&str, Version)]) -> Vec<Mount> {
    roots.iter().map(|(root, version)| Mount { root: (*root).into(), version: *version, grants: None }).collect()
}
