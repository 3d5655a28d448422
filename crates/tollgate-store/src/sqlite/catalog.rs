//! Catalogue of an SQLite file's tables: columns, keys, foreign keys, and the real content of columns from the first
//! rows, since SQLite does not enforce declared types.
//!
//! It decides no names: the model is made in one place for all kinds of databases.

use rusqlite::types::ValueRef;
use tollgate_wire::edm::{Changes, Primitive, Provided};

use super::SqliteDatabase;
use super::declared::{constant, declared};
use super::form::{canonical, shown};
use crate::introspect::{Catalog, CatalogColumn, CatalogTable, ForeignKey, Lists, Remark, TableKind};
use crate::sql::Sql;
use crate::{Form, StoreError};

/// Rows of each table that are examined.
const ROWS_LOOKED_AT: i64 = 200;

impl SqliteDatabase {
    /// Reads the catalogue of tables and views, in the order of their creation.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn catalog(&self) -> Result<Catalog, StoreError> {
        let connection = self.connection()?;
        connection.budget.begin();
        let raw = &connection.raw;
        let mut catalog = Catalog { lists: Lists::Texts, ..Catalog::default() };
        let mut statement = raw.prepare(
            "SELECT l.name, l.type, l.wr, l.strict FROM sqlite_schema AS s JOIN pragma_table_list AS l \
             ON l.name = s.name AND l.schema = 'main' WHERE s.type IN ('table', 'view') \
             AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let shape = Shape { rowid: !row.get::<_, bool>(2)?, strict: row.get(3)? };
            let kind = match kind.as_str() {
                "table" => TableKind::Table,
                "view" => TableKind::View,
                "virtual" => {
                    let message = "it is left out: tables of SQLite's modules are not served".to_owned();
                    catalog.remarks.push(Remark { table: name, message });
                    continue;
                }
                // Tables in which those keep what they know.
                _ => continue,
            };
            let table = table(raw, name, kind, shape, &mut catalog.remarks)?;
            catalog.tables.push(table);
        }
        Ok(catalog)
    }
}

/// Kind of a table.
#[derive(Debug, Clone, Copy)]
struct Shape {
    rowid: bool,
    /// Its columns contain only values of their declared types.
    strict: bool,
}

fn table(
    raw: &rusqlite::Connection,
    name: String,
    kind: TableKind,
    shape: Shape,
    remarks: &mut Vec<Remark>,
) -> Result<CatalogTable, StoreError> {
    let mut columns = Vec::new();
    let mut primary_key: Vec<(i64, usize)> = Vec::new();
    let mut statement = raw.prepare_cached(
        "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
    )?;
    let mut rows = statement.query([&name])?;
    while let Some(row) = rows.next()? {
        let (declared_type, hidden): (String, i64) = (row.get(1)?, row.get(5)?);
        let default: Option<String> = row.get(3)?;
        let key_position: i64 = row.get(4)?;
        if key_position > 0 {
            primary_key.push((key_position, columns.len()));
        }
        let primitive = declared(&declared_type, shape.strict);
        let provided = match (hidden, default) {
            (2 | 3, _) => Some(Provided::Computed),
            (_, Some(default)) => constant(&default, primitive),
            (_, None) => None,
        };
        columns.push(CatalogColumn {
            name: row.get(0)?,
            declared: declared_type,
            primitive,
            form: Form::Checked,
            nullable: !row.get::<_, bool>(2)? && key_position == 0,
            provided,
            label: None,
        });
    }
    primary_key.sort_unstable();
    let primary_key: Vec<usize> = primary_key.into_iter().map(|(_, column)| column).collect();
    let indexes = indexes(raw, &name)?;
    if let [only] = primary_key[..]
        && shape.rowid
        && !indexes.primary
        && columns[only].declared.eq_ignore_ascii_case("INTEGER")
    {
        // Another name of the row's number, which SQLite gives by itself.
        columns[only].provided = Some(Provided::Database);
    }
    look(raw, &name, shape, &mut columns, remarks)?;
    let row_name =
        || ["rowid", "_rowid_", "oid"].into_iter().find(|name| !columns.iter().any(|column| column.name == *name));
    let row_id = if kind == TableKind::Table && shape.rowid { row_name().map(str::to_owned) } else { None };
    Ok(CatalogTable {
        schema: None,
        foreign_keys: foreign_keys(raw, &name, &columns)?,
        name,
        kind,
        changes: match kind {
            TableKind::Table => Changes::ALL,
            TableKind::View => Changes::NONE,
        },
        label: None,
        columns,
        primary_key,
        unique: indexes.unique,
        row_id,
    })
}

struct Indexes {
    /// Whether the primary key has an index of its own.
    primary: bool,
    /// The columns of each unique index over plain columns and all rows.
    unique: Vec<Vec<usize>>,
}

fn indexes(raw: &rusqlite::Connection, table: &str) -> Result<Indexes, StoreError> {
    let mut found = Indexes { primary: false, unique: Vec::new() };
    let mut list = raw.prepare_cached(
        "SELECT name, origin FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial ORDER BY name",
    )?;
    let mut columns = raw.prepare_cached("SELECT cid FROM pragma_index_info(?) ORDER BY seqno")?;
    let mut rows = list.query([table])?;
    while let Some(row) = rows.next()? {
        let (name, origin): (String, String) = (row.get(0)?, row.get(1)?);
        if origin == "pk" {
            found.primary = true;
            continue;
        }
        let ids = columns.query_map([&name], |row| row.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
        // Negative ones are expressions.
        if let Ok(ids) = ids.into_iter().map(usize::try_from).collect() {
            found.unique.push(ids);
        }
    }
    Ok(found)
}

fn foreign_keys(
    raw: &rusqlite::Connection,
    table: &str,
    columns: &[CatalogColumn],
) -> Result<Vec<ForeignKey>, StoreError> {
    // SQLite counts them from the last to the first.
    let mut statement = raw.prepare_cached(
        "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq",
    )?;
    let mut found: Vec<(i64, ForeignKey)> = Vec::new();
    let mut rows = statement.query([table])?;
    while let Some(row) = rows.next()? {
        let (id, target, from): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let to: Option<String> = row.get(3)?;
        let Some(column) = columns.iter().position(|column| column.name.eq_ignore_ascii_case(&from)) else { continue };
        if found.last().is_none_or(|(last, _)| *last != id) {
            let foreign_key =
                ForeignKey { columns: Vec::new(), target_schema: None, target, target_columns: Vec::new() };
            found.push((id, foreign_key));
        }
        let (_, foreign_key) = found.last_mut().expect("one was pushed");
        foreign_key.columns.push(column);
        foreign_key.target_columns.extend(to);
    }
    Ok(found.into_iter().map(|(_, foreign_key)| foreign_key).collect())
}

/// Kinds of values in one column of the first rows.
#[derive(Debug, Clone, Default)]
struct Seen {
    integers: bool,
    reals: bool,
    texts: bool,
    blobs: bool,
    /// The first value that is not of the declared type.
    foreign: Option<String>,
    /// The first text.
    text: Option<String>,
}

/// Reads the first rows and gives each column the type and the form of its values.
fn look(
    raw: &rusqlite::Connection,
    name: &str,
    shape: Shape,
    columns: &mut [CatalogColumn],
    remarks: &mut Vec<Remark>,
) -> Result<(), StoreError> {
    let mut sql = Sql::default();
    sql.push("SELECT ");
    sql.list(", ", columns.iter(), |sql, column| sql.identifier(&column.name));
    sql.push(" FROM ");
    sql.identifier(name);
    sql.push(" LIMIT ?");
    let mut seen = vec![Seen::default(); columns.len()];
    let mut statement = raw.prepare(&sql.text)?;
    let mut rows = statement.query([ROWS_LOOKED_AT])?;
    let mut made = Vec::new();
    while let Some(row) = rows.next()? {
        for (index, (column, seen)) in columns.iter().zip(&mut seen).enumerate() {
            seen.add(row.get_ref(index)?, column.primitive, &mut made);
        }
    }
    for (column, seen) in columns.iter_mut().zip(&seen) {
        settle(column, seen, shape, |message| {
            remarks.push(Remark { table: name.to_owned(), message });
        });
    }
    Ok(())
}

impl Seen {
    fn add(&mut self, value: ValueRef<'_>, primitive: Option<Primitive>, made: &mut Vec<u8>) {
        match value {
            ValueRef::Null => return,
            ValueRef::Integer(_) => self.integers = true,
            ValueRef::Real(_) => self.reals = true,
            ValueRef::Text(text) => {
                self.texts = true;
                self.text.get_or_insert_with(|| String::from_utf8_lossy(text).into_owned());
            }
            ValueRef::Blob(_) => self.blobs = true,
        }
        made.clear();
        let fits = primitive.is_none_or(|primitive| canonical(made, Form::Checked, primitive, value).is_some());
        if !fits {
            self.foreign.get_or_insert_with(|| shown(value));
        }
    }

    /// The common type of all values; text if there are none.
    fn primitive(&self) -> Option<Primitive> {
        match (self.blobs, self.texts, self.reals, self.integers) {
            (true, true, ..) | (true, _, true, _) | (true, _, _, true) => None,
            (true, ..) => Some(Primitive::Binary { length_max: 0 }),
            (_, true, ..) | (false, false, false, false) => Some(Primitive::String { length_max: 0 }),
            (_, _, true, _) => Some(Primitive::Double),
            (_, _, _, true) => Some(Primitive::Int64),
        }
    }
}

fn settle(column: &mut CatalogColumn, seen: &Seen, shape: Shape, mut tell: impl FnMut(String)) {
    if let (Some(value), Some(_)) = (&seen.foreign, column.primitive) {
        column.primitive = seen.primitive();
        let declared = &column.declared;
        let served = match column.primitive {
            Some(primitive) => format!("it is served as {primitive:?}"),
            None => "it is left out".to_owned(),
        };
        tell(format!("{} is declared {declared} and holds {value}: {served}", column.name));
        if column.provided.as_ref().is_some_and(|provided| matches!(provided, Provided::Default(_))) {
            column.provided = Some(Provided::Database);
        }
    } else if column.primitive.is_none() {
        column.primitive = seen.primitive();
    }
    let text = seen.text.as_deref().unwrap_or_default();
    column.form = match column.primitive {
        // What a strict table takes, and nothing else.
        Some(Primitive::Int64 | Primitive::Double | Primitive::String { .. } | Primitive::Binary { .. })
            if shape.strict && !column.declared.eq_ignore_ascii_case("ANY") =>
        {
            Form::Canonical
        }
        Some(Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }) if !text.contains('T') => Form::Blank,
        Some(Primitive::Guid) if seen.blobs => Form::Bytes,
        Some(Primitive::Guid)
            if text.bytes().any(|byte| byte.is_ascii_uppercase())
                && !text.bytes().any(|byte| byte.is_ascii_lowercase()) =>
        {
            Form::UpperCase
        }
        _ => Form::Checked,
    };
}
