//! The sample: programs of a small made-up language, the units that they use, and a stylesheet that compiles them.
//!
//! It is the example of the repository, word for word. All programs are of one size and use the same number of units,
//! so that each document takes the same round trips; they are made from their numbers, the same everywhere.

use std::fmt::Write;
use std::path::Path;

use super::transform::Transform;
use crate::base::config_error::ConfigError;
use crate::config::Generate;
use crate::store::introspect::Catalog;
use crate::store::postgres::{self, Address};
use crate::store::{Mapping, StoreError, sqlite};

const CONFIGURATION: &str = include_str!("../../../../examples/generate.toml");
const STYLESHEET: &[u8] = include_bytes!("../../../../examples/generate/listing.xsl");

/// Name of the configuration in errors.
const CONFIGURATION_NAME: &str = "the sample's configuration";
const STYLESHEET_NAME: &str = "the sample's stylesheet";

/// Number of units, and of those that each program uses: five SELECTs.
const UNITS: u64 = 64;
const UNITS_USED: usize = 5;
/// Constants of a unit.
const CONSTANTS: u64 = 24;
/// Fields of a program.
const FIELDS: u64 = 24;
/// Programs stored by one statement.
const DOCUMENTS_AT_ONCE: u64 = 500;
/// Nesting depth of operations.
const DEPTH: u32 = 3;

/// The tables, in SQL that SQLite and PostgreSQL both understand. The index finds waiting documents among all done
/// ones.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS tollgate_document (
        id bigint PRIMARY KEY, program text NOT NULL, state text NOT NULL, error text
    );
    CREATE INDEX IF NOT EXISTS tollgate_document_waiting ON tollgate_document (state, id);
    CREATE TABLE IF NOT EXISTS tollgate_unit (name text PRIMARY KEY, content text NOT NULL);
    CREATE TABLE IF NOT EXISTS tollgate_result (
        id bigint PRIMARY KEY, listing text NOT NULL, compute_us bigint, database_us bigint, waiting_us bigint
    );
";

/// Parses the sample's configuration.
pub(super) fn configuration() -> Result<Generate, ConfigError> {
    Ok(Generate::parse(CONFIGURATION, CONFIGURATION_NAME)?.expect("the sample has a batch, as a test shows"))
}

/// Creates the sample's transformation.
pub(super) fn transform(generate: &Generate) -> Result<Transform, ConfigError> {
    Transform::new(generate, STYLESHEET, STYLESHEET_NAME)
}

/// Whether the sample exists in this database.
pub(super) fn is_there(catalog: &Catalog) -> bool {
    let there = |name: &str| catalog.tables.iter().any(|table| table.full_name() == name);
    ["tollgate_document", "tollgate_unit", "tollgate_result"].into_iter().all(there)
}

/// Creates it anew: rows that were changed repeatedly are stored differently from those of a first run.
pub(super) fn make_on_server(address: &Address, documents: u64) -> Result<(), StoreError> {
    let database = postgres::PostgresDatabase::open(address.clone(), Mapping { tables: Vec::new() })?;
    database.administer(|client| {
        client.batch_execute("SET statement_timeout = 0")?;
        let mut transaction = client.transaction()?;
        transaction.batch_execute(TABLES)?;
        transaction.batch_execute("TRUNCATE tollgate_document, tollgate_unit, tollgate_result")?;
        let (names, contents): (Vec<_>, Vec<_>) = (0..UNITS).map(|number| (unit_name(number), unit(number))).unzip();
        transaction
            .execute("INSERT INTO tollgate_unit SELECT * FROM unnest($1::text[], $2::text[])", &[&names, &contents])?;
        for first in (1..=documents).step_by(DOCUMENTS_AT_ONCE as usize) {
            let numbers = first..=documents.min(first + DOCUMENTS_AT_ONCE - 1);
            let (ids, programs): (Vec<_>, Vec<_>) = numbers.map(|number| (number as i64, program(number))).unzip();
            transaction.execute(
                "INSERT INTO tollgate_document \
                 SELECT d.id, d.program, 'waiting' FROM unnest($1::bigint[], $2::text[]) AS d(id, program)",
                &[&ids, &programs],
            )?;
        }
        transaction.commit()?;
        // What the planner knows of the tables is the same in each run.
        for table in ["tollgate_document", "tollgate_unit", "tollgate_result"] {
            client.batch_execute(&format!("VACUUM ANALYZE {table}"))?;
        }
        Ok(())
    })
}

/// The same in a file.
pub(super) fn make_in_file(path: &Path, documents: u64) -> Result<(), StoreError> {
    let location = sqlite::Location::File(path.to_owned());
    let database = sqlite::SqliteDatabase::open(location, Mapping { tables: Vec::new() })?;
    let connection = database.plain_connection()?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(TABLES)?;
    connection
        .execute_batch("DELETE FROM tollgate_document; DELETE FROM tollgate_unit; DELETE FROM tollgate_result")?;
    let mut insert = connection.prepare("INSERT INTO tollgate_unit VALUES (?, ?)")?;
    for number in 0..UNITS {
        insert.execute((unit_name(number), unit(number)))?;
    }
    let mut insert = connection.prepare("INSERT INTO tollgate_document VALUES (?, ?, 'waiting', NULL)")?;
    for number in 1..=documents {
        insert.execute((number as i64, program(number)))?;
    }
    Ok(connection.execute_batch("COMMIT; ANALYZE")?)
}

fn unit_name(number: u64) -> String {
    format!("u{number:02}")
}

fn unit(number: u64) -> String {
    let mut numbers = Numbers(number ^ 0x756e_6974);
    let mut text = format!("<unit name=\"{}\">", unit_name(number));
    for constant in 0..CONSTANTS {
        let value = numbers.below(100_000);
        let (kind, value) = match numbers.below(2) {
            0 => ("integer", (value / 100).to_string()),
            _ => ("decimal", format!("{}.{:02}", value / 100, value % 100)),
        };
        append(&mut text, format_args!("<constant name=\"c{constant:02}\" type=\"{kind}\" value=\"{value}\"/>"));
    }
    text.push_str("</unit>");
    text
}

fn program(number: u64) -> String {
    let mut numbers = Numbers(number ^ 0x7072_6f67);
    let mut text = format!("<program name=\"p{number:06}\">");
    let mut units = Vec::with_capacity(UNITS_USED);
    while units.len() < UNITS_USED {
        let unit = unit_name(numbers.below(UNITS));
        if !units.contains(&unit) {
            append(&mut text, format_args!("<use unit=\"{unit}\"/>"));
            units.push(unit);
        }
    }
    for field in 0..FIELDS {
        append(&mut text, format_args!("<field name=\"f{field:02}\">"));
        operation(&mut text, &mut numbers, &units, field, DEPTH);
        text.push_str("</field>");
    }
    text.push_str("</program>");
    text
}

/// Writes a whole tree of operations over constants; its first operand is sometimes an earlier field, of the first
/// ones.
fn operation(text: &mut String, numbers: &mut Numbers, units: &[String], field: u64, depth: u32) {
    if depth == 0 {
        let unit = &units[numbers.below(units.len() as u64) as usize];
        let constant = numbers.below(CONSTANTS);
        return append(text, format_args!("<constant unit=\"{unit}\" name=\"c{constant:02}\"/>"));
    }
    let name = ["sum", "difference", "product"][numbers.below(3) as usize];
    append(text, format_args!("<{name}>"));
    match (depth, field) {
        (DEPTH, 4..) => append(text, format_args!("<read field=\"f{:02}\"/>", numbers.below(4))),
        _ => operation(text, numbers, units, field, depth - 1),
    }
    operation(text, numbers, units, field, depth - 1);
    append(text, format_args!("</{name}>"));
}

fn append(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("a text takes all that is written to it");
}

/// Numbers that look random (SplitMix64, by G. Steele, D. Lea and C. Flood, 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_of_the_sample_compiles_and_takes_the_same_round_trips() {
        let transform = transform(&configuration().unwrap()).unwrap();
        for number in [1, 2, 77] {
            let understood = transform.understand(&program(number)).unwrap();
            let units = understood.references[0].clone().unwrap();
            assert_eq!(units.len(), UNITS_USED, "{units:?}");
            let mut gathered = super::super::transform::Gathered::default();
            for name in &units {
                let content = unit(name[1..].parse().unwrap());
                transform.gather(&mut gathered, 0, Some(name), vec![vec![Some(content)]]).unwrap();
            }
            let listing = transform.transform(&understood, &gathered, &number.to_string()).unwrap();
            assert!(listing.starts_with(&format!("program p{number:06} ({number})\nuses ")), "{listing}");
            assert!(listing.contains("end: 24 fields, ") && !listing.contains("NaN"), "{listing}");
        }
    }
}
