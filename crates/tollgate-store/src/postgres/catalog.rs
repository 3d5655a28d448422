//! PostgreSQL's catalogue of the tables, partitioned tables, views and materialized views on the search path: columns,
//! keys, foreign keys, comments, and this user's permissions.
//!
//! It decides no names: the model is made in one place for all kinds of databases. Types that no model has
//! (enumerations, arrays of such types, JSON, networks, intervals with their months and so on) are texts, which
//! PostgreSQL can write and read for all of them.

use postgres::{Client, IsolationLevel, Row, Transaction};
use tollgate_wire::edm::{Changes, Item, Primitive, Provided};
use tollgate_wire::items;
use tollgate_wire::value::Value;

use super::PostgresDatabase;
use super::failure::{Failure, Purpose};
use super::tables::LAYOUTS;
use crate::introspect::{Catalog, CatalogColumn, CatalogTable, ForeignKey, Remark, TableKind};
use crate::{Form, StoreError};

/// The tables. Allowed changes are returned as bits, of the catalogue's own kinds of commands.
const TABLES: &str = "SELECT c.oid, c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class'), \
     has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'), \
     pg_relation_is_updatable(c.oid, false) & 8 <> 0 AND has_table_privilege(c.oid, 'INSERT'), \
     pg_relation_is_updatable(c.oid, false) & 4 <> 0 AND has_table_privilege(c.oid, 'UPDATE'), \
     pg_relation_is_updatable(c.oid, false) & 16 <> 0 AND has_table_privilege(c.oid, 'DELETE') \
     FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND pg_table_is_visible(c.oid) \
     AND n.nspname = ANY(current_schemas(false)) \
     AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e') \
     ORDER BY c.relname";

/// The columns of a table, each with the base type of its domain, also through nested domains.
const COLUMNS: &str = "SELECT a.attnum, a.attname::text, format_type(a.atttypid, a.atttypmod), b.name, b.modifier, b.required, \
     a.attidentity::text, a.attgenerated::text, pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum), \
     has_column_privilege(a.attrelid, a.attnum, 'SELECT') \
     FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
     CROSS JOIN LATERAL ( \
       WITH RECURSIVE r(type, modifier, required, level) AS ( \
         SELECT a.atttypid, a.atttypmod, a.attnotnull, 0 \
         UNION ALL SELECT t.typbasetype, CASE WHEN r.modifier < 0 THEN t.typtypmod ELSE r.modifier END, \
         r.required OR t.typnotnull, r.level + 1 FROM r JOIN pg_type AS t ON t.oid = r.type WHERE t.typtype = 'd') \
       SELECT CASE WHEN t.typnamespace = 'pg_catalog'::regnamespace THEN t.typname::text ELSE '' END AS name, \
       r.modifier, r.required FROM r JOIN pg_type AS t ON t.oid = r.type ORDER BY r.level DESC LIMIT 1) AS b \
     WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

/// The unique indexes of a table over plain columns and all rows, the primary key first.
const KEYS: &str = "SELECT i.indisprimary, (i.indkey::int2[])[0:i.indnkeyatts - 1] FROM pg_index AS i \
     WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL \
     ORDER BY i.indisprimary DESC, i.indexrelid";

/// The foreign keys of a table.
const FOREIGN_KEYS: &str = "SELECT k.conkey, n.nspname::text, c.relname::text, pg_table_is_visible(c.oid), \
     (SELECT array_agg(a.attname::text ORDER BY u.position) FROM unnest(k.confkey) WITH ORDINALITY AS u(number, position) \
      JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = u.number) \
     FROM pg_constraint AS k JOIN pg_class AS c ON c.oid = k.confrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
     WHERE k.conrelid = $1 AND k.contype = 'f' ORDER BY k.conname";

impl PostgresDatabase {
    /// Reads the catalogue of tables and views, in the order of their names.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn catalog(&self) -> Result<Catalog, StoreError> {
        let mut session = self.opener.open().map_err(|failure| failure.told(Purpose::Reading))?;
        read(session.parts().0).map_err(|failure| failure.told(Purpose::Reading))
    }
}

fn read(client: &mut Client) -> Result<Catalog, Failure> {
    let snapshot = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let mut snapshot = snapshot.start()?;
    let mut catalog = Catalog::default();
    for row in snapshot.query(TABLES, &[])? {
        let (oid, name, kind): (u32, String, String) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if name == LAYOUTS {
            continue;
        }
        if !row.try_get::<_, bool>(4)? {
            let message = "it is left out: this user may not read it".to_owned();
            catalog.remarks.push(Remark { table: name, message });
            continue;
        }
        let changes = Changes { insert: row.try_get(5)?, update: row.try_get(6)?, delete: row.try_get(7)? };
        let kind = if kind == "v" || kind == "m" { TableKind::View } else { TableKind::Table };
        let found = Found { oid, name, kind, changes, label: row.try_get(3)? };
        let table = table(&mut snapshot, found, &mut catalog.remarks)?;
        catalog.tables.push(table);
    }
    snapshot.rollback()?;
    Ok(catalog)
}

/// A table without its columns and keys.
struct Found {
    oid: u32,
    name: String,
    kind: TableKind,
    changes: Changes,
    label: Option<String>,
}

fn table(snapshot: &mut Transaction<'_>, found: Found, remarks: &mut Vec<Remark>) -> Result<CatalogTable, Failure> {
    let Found { oid, name, kind, changes, label } = found;
    let (mut numbers, mut columns) = (Vec::new(), Vec::new());
    for row in snapshot.query(COLUMNS, &[&oid])? {
        let column = column(&row)?;
        if !row.try_get::<_, bool>(10)? {
            let message = format!("{} is left out: this user may not read it", column.name);
            remarks.push(Remark { table: name.clone(), message });
            continue;
        }
        numbers.push(row.try_get::<_, i16>(0)?);
        columns.push(column);
    }
    // A key or a reference of which a column is left out is none.
    let positions = |wanted: Vec<i16>| -> Option<Vec<usize>> {
        wanted.into_iter().map(|number| numbers.iter().position(|candidate| *candidate == number)).collect()
    };
    let (mut primary_key, mut unique) = (Vec::new(), Vec::new());
    for row in snapshot.query(KEYS, &[&oid])? {
        match (row.try_get(0)?, positions(row.try_get(1)?)) {
            (true, Some(key)) => primary_key = key,
            (false, Some(key)) => unique.push(key),
            (_, None) => {}
        }
    }
    let mut foreign_keys = Vec::new();
    for row in snapshot.query(FOREIGN_KEYS, &[&oid])? {
        let Some(columns) = positions(row.try_get(0)?) else { continue };
        let (schema, visible): (String, bool) = (row.try_get(1)?, row.try_get(3)?);
        let target_schema = (!visible).then_some(schema);
        foreign_keys.push(ForeignKey {
            columns,
            target_schema,
            target: row.try_get(2)?,
            target_columns: row.try_get(4)?,
        });
    }
    Ok(CatalogTable {
        schema: None,
        name,
        kind,
        changes,
        label,
        columns,
        primary_key,
        unique,
        row_id: None,
        foreign_keys,
    })
}

fn column(row: &Row) -> Result<CatalogColumn, Failure> {
    let (base, modifier): (String, i32) = (row.try_get(3)?, row.try_get(4)?);
    let primitive = primitive(&base, modifier);
    let (identity, generated): (String, String) = (row.try_get(6)?, row.try_get(7)?);
    let default: Option<String> = row.try_get(8)?;
    let provided = match (identity.as_str(), generated.as_str(), default) {
        ("a", _, _) | (_, "s" | "v", _) => Some(Provided::Computed),
        ("d", _, _) => Some(Provided::Database),
        (_, _, Some(default)) => Some(constant(&default, primitive).map_or(Provided::Database, Provided::Default)),
        (_, _, None) => None,
    };
    Ok(CatalogColumn {
        name: row.try_get(1)?,
        declared: row.try_get(2)?,
        primitive: Some(primitive),
        form: Form::Canonical,
        nullable: !row.try_get::<_, bool>(5)?,
        provided,
        label: row.try_get(9)?,
    })
}

/// The model's type for one of PostgreSQL's own types; `modifier` contains its facets, as packed in the catalogue.
fn primitive(name: &str, modifier: i32) -> Primitive {
    let length_max = u32::try_from(modifier - 4).unwrap_or(0);
    let precision = u8::try_from(modifier).unwrap_or(6);
    match name {
        "bool" => Primitive::Boolean,
        "int2" => Primitive::Int16,
        "int4" => Primitive::Int32,
        "int8" => Primitive::Int64,
        "float4" => Primitive::Single,
        "float8" => Primitive::Double,
        "numeric" => decimal(modifier),
        "varchar" | "bpchar" => Primitive::String { length_max },
        "uuid" => Primitive::Guid,
        "date" => Primitive::Date,
        "timestamp" => Primitive::DateTime { precision },
        "timestamptz" => Primitive::DateTimeOffset { precision },
        "time" => Primitive::TimeOfDay { precision },
        "bytea" => Primitive::Binary { length_max: 0 },
        _ if ARRAYS.contains(&name) => {
            let item = Item::of(primitive(&name[1..], modifier));
            item.map_or(Primitive::String { length_max: 0 }, Primitive::Collection)
        }
        _ => Primitive::String { length_max: 0 },
    }
}

/// Arrays whose values have a type in every model. All others are texts, since their JSON may contain anything.
const ARRAYS: [&str; 15] = [
    "_bool",
    "_int2",
    "_int4",
    "_int8",
    "_float4",
    "_float8",
    "_numeric",
    "_text",
    "_varchar",
    "_bpchar",
    "_uuid",
    "_date",
    "_timestamp",
    "_timestamptz",
    "_time",
];

/// Decodes a decimal's facets: total digits in the upper half, digits after the point in the 11 lowest bits with a
/// sign; the whole is 4 too large. A model has no negative scale and none beyond the precision, so those are not
/// limited.
fn decimal(modifier: i32) -> Primitive {
    let packed = modifier - 4;
    let precision = u16::try_from(packed >> 16).unwrap_or(0);
    let scale = ((packed & 0x7ff) ^ 0x400) - 0x400;
    match u16::try_from(scale) {
        Ok(scale) if modifier >= 4 && scale <= precision => Primitive::Decimal { precision, scale },
        _ => Primitive::Decimal { precision: 0, scale: 0 },
    }
}

/// The value of a default that is a plain constant: a number, a Boolean or a text. All others are left to the database.
fn constant(default: &str, primitive: Primitive) -> Option<Value> {
    match primitive {
        Primitive::Boolean => default.parse().ok().map(Value::Boolean),
        Primitive::Int16 | Primitive::Int32 | Primitive::Int64 => default.parse().ok().map(Value::Integer),
        Primitive::Decimal { .. } => tollgate_wire::decimal::canonical(default).map(Value::Decimal),
        Primitive::String { .. } => {
            let (text, kind) = default.strip_prefix('\'')?.rsplit_once("'::")?;
            let plain = ["text", "character varying", "bpchar"].contains(&kind);
            // A quote inside is doubled; a single one ends a part of something larger.
            let quotes_pair = text.split("''").all(|part| !part.contains('\''));
            (plain && quotes_pair).then(|| Value::String(text.replace("''", "'")))
        }
        Primitive::Collection(item) => list(default, item).map(|array| Value::Text(primitive, array)),
        _ => None,
    }
}

/// The canonical form of an array whose default is a plain constant: `'{1,2}'::integer[]`. Arrays with quoted values
/// are left to the database.
fn list(default: &str, item: Item) -> Option<String> {
    let is_type = |kind: &str| kind.strip_suffix("[]").is_some_and(|kind| !kind.contains(['\'', '|', '[']));
    let values = match default.strip_prefix("ARRAY[]::") {
        Some(kind) if is_type(kind) => "",
        _ => {
            let (values, kind) = default.strip_prefix("'{")?.rsplit_once("}'::")?;
            Some(values).filter(|_| is_type(kind))?
        }
    };
    let needs_care = |value: &str| value.contains(['"', '\\', '{', '}', '\'']) || value.eq_ignore_ascii_case("null");
    let mut array = String::from("[");
    for (position, value) in values.split(',').filter(|_| !values.is_empty()).enumerate() {
        if needs_care(value) {
            return None;
        }
        array.push_str(if position == 0 { "\"" } else { ",\"" });
        array.push_str(value);
        array.push('"');
    }
    array.push(']');
    let mut made = Vec::new();
    let is_one = items::append_canonical(&mut made, item, array.as_bytes());
    String::from_utf8(made).ok().filter(|_| is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facets_are_unpacked() {
        let check = |name, modifier, expected| assert_eq!(primitive(name, modifier), expected, "{name}({modifier})");
        check("numeric", (15 << 16 | 2) + 4, Primitive::Decimal { precision: 15, scale: 2 });
        check("numeric", (5 << 16 | 0x7fe) + 4, Primitive::Decimal { precision: 0, scale: 0 });
        check("numeric", -1, Primitive::Decimal { precision: 0, scale: 0 });
        check("varchar", 24, Primitive::String { length_max: 20 });
        check("varchar", -1, Primitive::String { length_max: 0 });
        check("timestamptz", 3, Primitive::DateTimeOffset { precision: 3 });
        check("timestamp", -1, Primitive::DateTime { precision: 6 });
        check("tsvector", -1, Primitive::String { length_max: 0 });
        check("_varchar", 24, Primitive::Collection(Item::String { length_max: 20 }));
        check("_int4", -1, Primitive::Collection(Item::Int32));
        check("_jsonb", -1, Primitive::String { length_max: 0 });
    }

    #[test]
    fn only_plain_constants_are_known() {
        let text = Primitive::String { length_max: 0 };
        assert_eq!(constant("'it''s'::text", text), Some(Value::String("it's".into())));
        assert_eq!(constant("('a'::text || 'b'::text)", text), None);
        assert_eq!(constant("'a'::text || 'b'::text", text), None);
        assert_eq!(constant("'sad'::mood", text), None);
        assert_eq!(constant("42", Primitive::Int32), Some(Value::Integer(42)));
        assert_eq!(constant("nextval('s'::regclass)", Primitive::Int32), None);
        assert_eq!(
            constant("0.50", Primitive::Decimal { precision: 0, scale: 0 }),
            Some(Value::Decimal("0.50".into()))
        );
        assert_eq!(constant("true", Primitive::Boolean), Some(Value::Boolean(true)));
    }

    #[test]
    fn arrays_of_plain_constants_are_known() {
        let check = |item, default, expected: Option<&str>| {
            let primitive = Primitive::Collection(item);
            let expected = expected.map(|array| Value::Text(primitive, array.to_owned()));
            assert_eq!(constant(default, primitive), expected, "{default}");
        };
        let text = Item::String { length_max: 0 };
        check(Item::Int64, "'{}'::bigint[]", Some("[]"));
        check(Item::Int64, "'{1,-2}'::bigint[]", Some("[1,-2]"));
        check(Item::Boolean, "'{t}'::boolean[]", None);
        check(text, "ARRAY[]::text[]", Some("[]"));
        check(text, "'{}'::character varying(3)[]", Some("[]"));
        check(text, "'{FRA,MUC}'::text[]", Some(r#"["FRA","MUC"]"#));
        check(text, "'{FRA,NULL}'::text[]", None);
        check(text, r#"'{"a,b"}'::text[]"#, None);
        check(text, "ARRAY['a'::text, 'b'::text]", None);
        check(text, "('{}'::text[] || '{a}'::text[])", None);
        check(text, "'{}'::text[] || '{a}'::text[]", None);
    }
}
