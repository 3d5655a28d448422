//! Introspection: from a database's catalogue to a served model and the mapping back.
//!
//! | in the database | in the model |
//! |---|---|
//! | table | entity set of the same name, type in the singular |
//! | view | read-only entity set |
//! | primary key, or else a unique index over columns that are never null | key |
//! | neither | read-only: by the database's own row number where there is one, otherwise with all columns for a key |
//! | foreign key | navigation both ways |
//! | default that is a constant | default of the property |
//! | any other default, a serial, an identity | provided by the database |
//! | generated column | computed |
//! | array of PostgreSQL, or text that the mapping file declares a collection | collection of values |
//! | column that the mapping file declares managed | written by the gateway: author or time of creation or change |
//!
//! Tables that are not served, or only in part, are reported in a [`Remark`]. It queries no database: the readers of
//! catalogues do, each for its kind.

mod action;
mod catalog;
mod collection;
mod complex;
mod customise;
mod enumeration;
mod error;
mod function;
mod hierarchy;
mod managed;
mod name;
mod relation;
mod stored;
#[cfg(test)]
mod tests;

pub use catalog::{Catalog, CatalogColumn, CatalogTable, ForeignKey, Lists, TableKind};
pub use customise::Customisation;
pub use error::CustomisationError;

use std::fmt;

use tollgate_wire::edm::{
    Annotations, Changes, ComplexId, ComplexType, EntitySet, EntityType, EnumerationId, LeafId, Model, Primitive,
    Property, PropertyKind, Provided, TypeId,
};

use self::complex::{Slot, slots};
use self::name::{free, identifier, singular};
use self::relation::Served;
use super::{Column, Form, Identity, Mapping, Table};

/// A model with its mapping, and remarks on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Introspected {
    /// The model.
    pub model: Model,
    /// Its mapping to tables.
    pub mapping: Mapping,
    /// Parts that are not served, or not as they are.
    pub remarks: Vec<Remark>,
}

/// A remark on a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its name in the database.
    pub table: String,
    /// The remark, a sentence that continues after the name.
    pub message: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.table, self.message)
    }
}

/// Makes a model of a catalogue. `name` is that of the service, from which the namespace follows.
///
/// # Errors
/// The customisation names something missing, or requests something impossible.
pub fn introspected(
    catalog: &Catalog,
    name: &str,
    customisation: &Customisation,
) -> Result<Introspected, CustomisationError> {
    customisation.check(catalog)?;
    let mut made = Introspected {
        model: Model {
            namespace: identifier(name),
            container: format!("{}_Entities", identifier(name)),
            ..Model::default()
        },
        mapping: Mapping { tables: Vec::new() },
        remarks: catalog.remarks.clone(),
    };
    made.model.enumerations = customisation.enumerations(&made.model.namespace)?;
    let mut served = Vec::new();
    for (position, table) in catalog.tables.iter().enumerate() {
        if let Some(leaves) = made.add(table, customisation) {
            served.push(Served { table: position, leaves });
        }
    }
    made.model.finish();
    relation::relate(&mut made.model, catalog, &served, &mut made.remarks);
    customisation.check_derived(&made.model)?;
    hierarchy::declare_navigation(&mut made.model);
    customisation.declare(&mut made.model)?;
    Ok(made)
}

/// Whether values of a type can be keys in a URL (OData V4 CSDL, section 6.5).
pub(crate) fn keyable(primitive: Primitive) -> bool {
    match primitive {
        Primitive::Single | Primitive::Double | Primitive::Binary { .. } | Primitive::Collection(_) => false,
        Primitive::Boolean
        | Primitive::Byte
        | Primitive::SByte
        | Primitive::Int16
        | Primitive::Int32
        | Primitive::Int64
        | Primitive::Decimal { .. }
        | Primitive::String { .. }
        | Primitive::Guid
        | Primitive::Date
        | Primitive::DateTime { .. }
        | Primitive::DateTimeOffset { .. }
        | Primitive::TimeOfDay { .. }
        | Primitive::Duration => true,
    }
}

/// Identity of a table's rows.
enum Key {
    /// These columns are the key.
    Columns(Vec<usize>),
    /// The database's own row number.
    RowId(String),
    /// Rows have no identity.
    Nothing,
}

impl Introspected {
    /// Adds a table, and returns the leaf of each of its columns. `None` if it is not served.
    fn add(&mut self, table: &CatalogTable, customisation: &Customisation) -> Option<Vec<Option<LeafId>>> {
        let custom = customisation.of(table);
        if custom.hidden {
            return None;
        }
        let mut remarks = Vec::new();
        let mut changes = if custom.read_only { Changes::NONE } else { table.changes };
        let mut leaves = vec![None; table.columns.len()];
        let mut entity_type = EntityType { label: custom.label.or(table.label.clone()), ..EntityType::default() };
        let mut columns = Vec::new();
        let mut property_of = Vec::new();
        for slot in slots(table.columns.len(), &custom.groups) {
            let members: Vec<(Option<&str>, usize)> = match &slot {
                Slot::Column(position) => vec![(None, *position)],
                Slot::Group(group) => group.members.iter().map(|(name, at)| (Some(name.as_str()), *at)).collect(),
            };
            let mut properties: Vec<Property> = Vec::new();
            for (name, position) in members {
                let column = &table.columns[position];
                let taken = |name: &str| match slot {
                    Slot::Column(_) => entity_type.property(name).is_some(),
                    Slot::Group(_) => properties.iter().any(|property| property.name == name),
                };
                let Some((property, provided)) = self.property(table, column, name, customisation, taken) else {
                    let custom = customisation.of_column(table, column);
                    let needed = !column.nullable && column.provided.is_none();
                    if needed && changes.insert {
                        changes.insert = false;
                        let name = &column.name;
                        remarks.push(format!("rows cannot be inserted: {name} must have a value and is not served"));
                    }
                    if !custom.hidden {
                        let (name, declared) = (&column.name, &column.declared);
                        remarks.push(format!("{name} is left out: nothing is like its type {declared}"));
                    }
                    continue;
                };
                let leaf = LeafId(columns.len());
                leaves[position] = Some(leaf);
                entity_type.provided.extend(provided.map(|provided| (leaf, provided)));
                let form = customisation.of_column(table, column).form(column);
                columns.push(Column { name: column.name.clone(), form });
                property_of.push(entity_type.properties.len());
                properties.push(property);
            }
            match slot {
                Slot::Column(_) => entity_type.properties.append(&mut properties),
                Slot::Group(_) if properties.is_empty() => {}
                Slot::Group(group) => {
                    let name = free(&[group.name], |name| entity_type.property(name).is_some());
                    let kind = PropertyKind::Complex(self.complex(&group.kind, properties));
                    let annotations = Annotations::default();
                    entity_type.properties.push(Property { name, kind, nullable: false, annotations });
                }
            }
        }

        let served = |column: &usize| {
            let column_of = &table.columns[*column];
            let primitive = customisation.of_column(table, column_of).primitive(column_of);
            leaves[*column].is_some_and(|_| primitive.is_some_and(keyable))
        };
        let key = match custom.key {
            Some(key) => Key::Columns(key.iter().filter_map(|name| table.column(name)).collect()),
            None => natural_key(table, served),
        };
        let identity = match key {
            Key::Columns(key) => {
                entity_type.key = key.iter().filter_map(|column| leaves[*column]).collect();
                Identity::Key
            }
            Key::RowId(name) => {
                remarks.push(format!("it has no key: it is read-only, by {name}"));
                changes = Changes::NONE;
                let wanted = [identifier(&name)];
                entity_type.key = vec![LeafId(columns.len())];
                entity_type.properties.push(Property {
                    name: free(&wanted, |name| entity_type.property(name).is_some()),
                    kind: PropertyKind::Primitive(Primitive::Int64),
                    nullable: false,
                    annotations: Annotations::default(),
                });
                entity_type.provided.push((LeafId(columns.len()), Provided::Computed));
                property_of.push(entity_type.properties.len() - 1);
                columns.push(Column { name, form: Form::Canonical });
                Identity::Key
            }
            Key::Nothing => {
                let keyed = (0..table.columns.len()).filter(served).filter_map(|column| leaves[column]);
                entity_type.key = keyed.collect();
                changes = Changes::NONE;
                if entity_type.key.is_empty() {
                    remarks.push("it is left out: none of its columns could be a key".to_owned());
                    self.tell(table, remarks);
                    return None;
                }
                let names = (0..table.columns.len()).filter(served).map(|column| table.columns[column].name.as_str());
                let names: Vec<_> = names.collect();
                let names = names.join(", ");
                remarks.push(format!(
                    "it has no key: it is read-only, and its rows are told apart by {names}, of which any may be null"
                ));
                Identity::Nothing
            }
        };
        for leaf in &entity_type.key {
            let property = &mut entity_type.properties[property_of[leaf.0]];
            property.annotations.not_updatable = true;
            // No key is nullable in a model (OData V4 CSDL, section 6.5), whatever a table without one holds.
            property.nullable = false;
        }
        if let Some(column) = custom.etag.and_then(|name| table.column(&name)) {
            entity_type.etag = leaves[column];
            if changes.update || changes.delete {
                let provided = leaves[column].and_then(|leaf| entity_type.provided(leaf));
                let primitive =
                    customisation.of_column(table, &table.columns[column]).primitive(&table.columns[column]);
                remarks.extend(stale_etag(&table.columns[column], provided, primitive));
            }
        }

        let hierarchy = |name: &str| custom.kinds.as_ref()?.hierarchy(name, &leaves, &property_of);
        let wanted = [custom.name.unwrap_or_else(|| identifier(&table.full_name()))];
        let set = free(&wanted, |name| self.model.set(name).is_some());
        let wanted = [custom.kind.unwrap_or_else(|| singular(&set)), format!("{set}Type")];
        entity_type.name = free(&wanted, |name| {
            entity_type.property(name).is_some()
                || self.model.entity_types.iter().any(|other| other.name == name)
                || self.model.complex_types.iter().any(|other| other.name == name)
                || self.model.enumerations.iter().any(|other| other.name() == name)
        });
        entity_type.hierarchy = hierarchy(&entity_type.name);
        if let Some(hierarchy) = &entity_type.hierarchy {
            // A type does not change.
            entity_type.properties[property_of[hierarchy.discriminator.0]].annotations.not_updatable = true;
        }
        self.model.entity_sets.push(EntitySet {
            name: set,
            entity_type: TypeId(self.model.entity_types.len()),
            label: entity_type.label.clone(),
            changes,
        });
        self.model.entity_types.push(entity_type);
        self.mapping.tables.push(Table { schema: table.schema.clone(), name: table.name.clone(), columns, identity });
        self.tell(table, remarks);
        Some(leaves)
    }

    /// The property of a column, and the source of its values. `None` if it is not served.
    fn property(
        &self,
        table: &CatalogTable,
        column: &CatalogColumn,
        name: Option<&str>,
        customisation: &Customisation,
        taken: impl Fn(&str) -> bool,
    ) -> Option<(Property, Option<Provided>)> {
        let custom = customisation.of_column(table, column);
        let primitive = custom.primitive(column).filter(|_| !custom.hidden)?;
        let managed = custom.managed.is_some();
        let provided = match custom.managed {
            Some(managed) => Some(managed),
            None if custom.read_only => Some(Provided::Computed),
            None => column.provided.clone(),
        };
        let (provided, nullable) = match primitive {
            // It is nullable where its values are, which a mapping file can deny; itself it never is.
            Primitive::Collection(_) => (Some(collection::provided(primitive, provided)), custom.collection.is_none()),
            _ => (provided, column.nullable),
        };
        let not_writable = managed || provided == Some(Provided::Computed);
        let named = |name: &String| self.model.enumerations.iter().position(|known| known.name() == name);
        let kind = match custom.enumeration.as_ref().and_then(named) {
            Some(enumeration) => PropertyKind::Enumeration(EnumerationId(enumeration), primitive),
            None => PropertyKind::Primitive(primitive),
        };
        let wanted = [name.map(str::to_owned).or(custom.name).unwrap_or_else(|| identifier(&column.name))];
        let property = Property {
            name: free(&wanted, taken),
            kind,
            nullable,
            annotations: Annotations {
                label: custom.label.or(column.label.clone()),
                not_creatable: not_writable,
                not_updatable: not_writable,
                ..Annotations::default()
            },
        };
        Some((property, provided))
    }

    /// The complex type of that name with these members; if the name has other members, one with a number after its
    /// name.
    fn complex(&mut self, name: &str, properties: Vec<Property>) -> ComplexId {
        let types = &mut self.model.complex_types;
        let named = |known: &str| known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        if let Some(known) = types.iter().position(|known| named(&known.name) && known.properties == properties) {
            return ComplexId(known);
        }
        let name = free(&[name.to_owned()], |name| types.iter().any(|known| known.name == name));
        types.push(ComplexType { name, properties });
        ComplexId(types.len() - 1)
    }

    fn tell(&mut self, table: &CatalogTable, messages: Vec<String>) {
        let table = table.full_name();
        self.remarks.extend(messages.into_iter().map(|message| Remark { table: table.clone(), message }));
    }
}

/// Remark on an ETag that may stay the same when its row changes: a client would then overwrite another's change
/// unnoticed.
fn stale_etag(column: &CatalogColumn, provided: Option<&Provided>, primitive: Option<Primitive>) -> Option<String> {
    let name = &column.name;
    match (provided, primitive) {
        (
            Some(Provided::ModifiedAt),
            Some(Primitive::DateTime { precision } | Primitive::DateTimeOffset { precision }),
        ) if precision < TIMESTAMP_DIGITS => {
            let apart = match precision {
                0 => "second".to_owned(),
                digits => format!("{} s", 10_f64.powi(-i32::from(digits))),
            };
            Some(format!("its ETag is {name}: changes within the same {apart} are not told apart"))
        }
        (Some(Provided::ModifiedAt), _) => None,
        _ if column.provided == Some(Provided::Computed) => None,
        _ => Some(format!(
            "its ETag is {name}, which the gateway does not maintain: unless a trigger changes it with each change of \
             a row, a change of an outdated state is not refused (say managed = \"modified_at\" of a timestamp column)"
        )),
    }
}

/// Digits of a second in the times that the gateway writes.
const TIMESTAMP_DIGITS: u8 = 6;

/// The key in the catalogue, among columns that can be one.
fn natural_key(table: &CatalogTable, served: impl Fn(&usize) -> bool) -> Key {
    if !table.primary_key.is_empty() && table.primary_key.iter().all(&served) {
        return Key::Columns(table.primary_key.clone());
    }
    let certain = |unique: &&Vec<usize>| {
        unique.iter().all(|column| served(column) && !table.columns[*column].nullable) && !unique.is_empty()
    };
    if let Some(unique) = table.unique.iter().filter(certain).min_by_key(|unique| unique.len()) {
        return Key::Columns(unique.clone());
    }
    table.row_id.clone().map_or(Key::Nothing, Key::RowId)
}
