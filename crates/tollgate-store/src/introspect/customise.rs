//! A mapping file: names, labels and restrictions that an operator adds to a database's catalogue.
//!
//! ```toml
//! others = "hidden"            # only the tables named here are served
//!
//! [tables.orders]
//! name = "Orders"              # of the entity set
//! type = "Order"
//! label = "Orders of customers"
//! read_only = true
//! key = ["number"]             # for a view or a table without a key of its own
//! etag = "changed_at"          # must change with each change of a row: managed, or kept by a trigger
//!
//! [tables.orders.columns.changed_at]
//! managed = "modified_at"      # written by the gateway: created_at, created_by, modified_at, modified_by
//!
//! [tables.orders.columns.cust_no]
//! name = "customer"
//! label = "Customer"
//!
//! [enumerations.Status]        # names for values; in V4 orders.Status'Open'
//! members = [{ name = "Open", stored = "o" }, { name = "Void", stored = "v" }]
//!
//! [tables.orders.columns.status]
//! enumeration = "Status"
//!
//! [tables.orders.columns.tags]
//! collection = "Edm.String"    # SQLite: a text with an array of JSON; of an array of PostgreSQL: without nulls
//!
//! [tables.orders.complex.shipping]   # columns together
//! type = "Address"
//! members = { street = "ship_street", city = "ship_city" }
//!
//! [tables.orders.columns.secret]
//! hidden = true
//!
//! [tables.people]              # rows of several types
//! type = "Person"
//! discriminator = "kind"       # the column with the type
//! stored = "p"                 # its value for a person; or abstract = true
//!
//! [tables.people.derived.Employee]
//! stored = "e"
//! columns = ["salary", "boss_id"]
//!
//! [tables.people.derived.Manager]
//! base = "Employee"
//! stored = "m"
//! columns = ["budget"]
//!
//! [singletons]                 # V4 names one entity without a key
//! Settings = "settings(1)"
//!
//! [functions.OrdersSince]      # of OData, in both versions
//! returns = "Orders"
//! where = "placed ge @since and status ne 'void'"
//! parameters = [{ name = "since", type = "Edm.Date" }]
//!
//! [functions.Large]            # V4: Customers(1)/shop.Large(than=100)
//! bound_to = "Customers"       # one of them; Collection(Customers): all at the end of a path
//! through = "Orders"           # from one entity to many
//! where = "total gt @than"
//! parameters = [{ name = "than", type = "Edm.Decimal" }]   # or the name of an enumeration
//!
//! [actions.Cancel]             # V4: POST Orders('A1')/shop.Cancel with {"reason":"…"}
//! bound_to = "Orders"          # or changes = "Orders" with key = ["number"] or where = "…": in both versions
//! when = "status eq 'open'"    # otherwise 409
//! set = { status = "'void'", note = "@reason" }
//! answers = "changed"
//! parameters = [{ name = "reason", type = "Edm.String" }]
//! ```
//!
//! All names in it must exist. It adds nothing that the database does not have.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use tollgate_wire::edm::{Enumeration, Item, Model, Primitive, Provided, Singleton, Version};
use tollgate_wire::plan::{Key, Plan, Resource, Shape};
use tollgate_wire::url;
use toml::Spanned;

use super::action::WantedAction;
use super::catalog::{Catalog, CatalogColumn, CatalogTable, Lists};
use super::collection;
use super::complex::{Group, WantedComplex};
use super::enumeration::{WantedEnumeration, unfit};
use super::error::CustomisationError;
use super::function::{WantedFunction, Wrong};
use super::hierarchy::{Kinds, WantedDerived, WantedHierarchy};
use super::keyable;
use super::managed::Managed;
use super::stored::Stored;
use crate::Form;

/// Changes requested by an operator.
#[derive(Debug, Clone, Default)]
pub struct Customisation {
    wanted: Wanted,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    others: Others,
    tables: BTreeMap<Spanned<String>, WantedTable>,
    enumerations: BTreeMap<Spanned<String>, WantedEnumeration>,
    functions: BTreeMap<Spanned<String>, WantedFunction>,
    actions: BTreeMap<Spanned<String>, WantedAction>,
    /// Addresses of entities, by the name of the singleton.
    singletons: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// Treatment of tables that the file does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Others {
    #[default]
    Served,
    Hidden,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WantedTable {
    name: Option<Spanned<String>>,
    r#type: Option<Spanned<String>>,
    label: Option<String>,
    hidden: bool,
    read_only: bool,
    key: Option<Vec<Spanned<String>>>,
    etag: Option<Spanned<String>>,
    columns: BTreeMap<Spanned<String>, WantedColumn>,
    complex: BTreeMap<Spanned<String>, WantedComplex>,
    discriminator: Option<Spanned<String>>,
    stored: Option<Spanned<Stored>>,
    r#abstract: Option<Spanned<bool>>,
    derived: BTreeMap<Spanned<String>, WantedDerived>,
}

impl WantedTable {
    fn hierarchy(&self) -> WantedHierarchy<'_> {
        WantedHierarchy {
            discriminator: self.discriminator.as_ref(),
            stored: self.stored.as_ref(),
            r#abstract: self.r#abstract.as_ref(),
            derived: &self.derived,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WantedColumn {
    name: Option<Spanned<String>>,
    label: Option<String>,
    hidden: bool,
    read_only: bool,
    stored: Option<EpochUnit>,
    managed: Option<Spanned<Managed>>,
    enumeration: Option<Spanned<String>>,
    collection: Option<Spanned<String>>,
}

/// Unit of a column that counts since 1970, where that cannot be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EpochUnit {
    Seconds,
    Milliseconds,
}

/// Requested changes of one table.
#[derive(Debug, Clone, Default)]
pub(super) struct TableWish {
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) label: Option<String>,
    pub(super) hidden: bool,
    pub(super) read_only: bool,
    pub(super) key: Option<Vec<String>>,
    pub(super) etag: Option<String>,
    pub(super) groups: Vec<Group>,
    /// The types of its rows, if there are several.
    pub(super) kinds: Option<Kinds>,
}

/// Requested changes of one column.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnWish {
    pub(super) name: Option<String>,
    pub(super) label: Option<String>,
    pub(super) hidden: bool,
    pub(super) read_only: bool,
    pub(super) stored: Option<Form>,
    pub(super) managed: Option<Provided>,
    /// The enumeration that its values are members of.
    pub(super) enumeration: Option<String>,
    /// It contains a collection of such values.
    pub(super) collection: Option<Item>,
}

impl ColumnWish {
    /// The type of a column's values.
    pub(super) fn primitive(&self, column: &CatalogColumn) -> Option<Primitive> {
        match self.collection {
            Some(item) => collection::primitive(item, column),
            None => self.stored.map(instant).or(column.primitive),
        }
    }

    /// The form of a column's values.
    pub(super) fn form(&self, column: &CatalogColumn) -> Form {
        match (self.collection, column.primitive) {
            // Whatever a strict table takes as a text.
            (Some(_), Some(Primitive::String { .. })) => Form::Checked,
            _ => self.stored.unwrap_or(column.form),
        }
    }
}

/// The type of a column that counts time.
fn instant(stored: Form) -> Primitive {
    Primitive::DateTimeOffset { precision: if stored == Form::Milliseconds { 3 } else { 0 } }
}

impl Customisation {
    /// Parses a mapping file.
    ///
    /// # Errors
    /// The first error, with its place.
    pub fn parse(text: &str) -> Result<Customisation, CustomisationError> {
        toml::from_str(text).map(|wanted| Customisation { wanted }).map_err(CustomisationError::Grammar)
    }

    /// Checks every name against the catalogue.
    pub(super) fn check(&self, catalog: &Catalog) -> Result<(), CustomisationError> {
        let tables: Vec<String> = catalog.tables.iter().map(CatalogTable::full_name).collect();
        for (name, wanted) in &self.wanted.tables {
            let Some(position) = tables.iter().position(|table| table == name.get_ref()) else {
                return Err(CustomisationError::unknown("table", name, tables.iter().map(String::as_str)));
            };
            self.check_table(&catalog.tables[position], wanted, catalog.lists)?;
        }
        self.check_names(catalog.tables.iter().filter(|table| !self.of(table).hidden).map(|table| {
            let wanted = self.wanted(table);
            (wanted.and_then(|wanted| wanted.name.as_ref()), super::name::identifier(&table.full_name()))
        }))?;
        self.check_names(self.wanted.tables.values().map(|wanted| (wanted.r#type.as_ref(), String::new())))
    }

    fn check_table(&self, table: &CatalogTable, wanted: &WantedTable, lists: Lists) -> Result<(), CustomisationError> {
        let columns = || table.columns.iter().map(|column| column.name.as_str());
        let column = |name: &Spanned<String>| {
            let found = table.columns.iter().find(|column| column.name == *name.get_ref());
            found.ok_or_else(|| CustomisationError::unknown("column", name, columns()))
        };
        for (name, wanted_column) in &wanted.columns {
            let column = column(name)?;
            self.check_collection(table, column, wanted_column, lists)?;
            self.check_managed(table, column, wanted_column)?;
            self.check_enumeration(table, column, wanted_column)?;
            let in_key = table.primary_key.iter().any(|key| table.columns[*key].name == column.name);
            if wanted_column.hidden && in_key && wanted.key.is_none() && !wanted.hidden {
                let wrong = format!("column `{}` is part of the key: hide the table, or name another key", column.name);
                return Err(CustomisationError::impossible(name.span(), wrong));
            }
        }
        self.check_groups(table, wanted)?;
        self.check_kinds(table, wanted)?;
        for name in wanted.key.iter().flatten().chain(&wanted.etag) {
            let column = column(name)?;
            if self.of_column(table, column).hidden || column.primitive.is_none() {
                return Err(CustomisationError::impossible(
                    name.span(),
                    format!("column `{}` is not served", column.name),
                ));
            }
        }
        for name in wanted.key.iter().flatten() {
            let column = column(name)?;
            if !self.of_column(table, column).primitive(column).is_some_and(keyable) {
                let (name_text, declared) = (&column.name, &column.declared);
                let wrong = format!("column `{name_text}` cannot be a key: it is of type {declared}");
                return Err(CustomisationError::impossible(name.span(), wrong));
            }
        }
        self.check_names(table.columns.iter().filter(|column| !self.of_column(table, column).hidden).map(|column| {
            let wanted = self.wanted_column(table, column);
            (wanted.and_then(|wanted| wanted.name.as_ref()), super::name::identifier(&column.name))
        }))
    }

    fn check_managed(
        &self,
        table: &CatalogTable,
        column: &CatalogColumn,
        wanted: &WantedColumn,
    ) -> Result<(), CustomisationError> {
        let Some(managed) = &wanted.managed else { return Ok(()) };
        let (name, declared) = (&column.name, &column.declared);
        let keys = self.wanted(table).and_then(|table| table.key.as_ref());
        let in_key = match keys {
            Some(key) => key.iter().any(|key| key.get_ref() == name),
            None => table.primary_key.iter().any(|key| table.columns[*key].name == *name),
        };
        let primitive = self.of_column(table, column).primitive(column);
        let wrong = if wanted.hidden || primitive.is_none() {
            format!("column `{name}` is not served")
        } else if in_key {
            format!("column `{name}` is part of the key, which never changes")
        } else if column.provided == Some(Provided::Computed) {
            format!("column `{name}` is computed by the database")
        } else if let Some(why) = managed.get_ref().unfit(primitive) {
            format!("column `{name}` is of type {declared}: {why}")
        } else {
            return Ok(());
        };
        Err(CustomisationError::impossible(managed.span(), wrong))
    }

    fn check_collection(
        &self,
        table: &CatalogTable,
        column: &CatalogColumn,
        wanted: &WantedColumn,
        lists: Lists,
    ) -> Result<(), CustomisationError> {
        let Some(asked) = &wanted.collection else { return Ok(()) };
        let is_etag = self.wanted(table).and_then(|table| table.etag.as_ref());
        let wrong = if wanted.stored.is_some() || wanted.managed.is_some() {
            Some("it is managed, or stored as a number".to_owned())
        } else if is_etag.is_some_and(|etag| *etag.get_ref() == column.name) {
            Some("it is the ETag".to_owned())
        } else {
            collection::unfit(asked.get_ref(), table, column, lists)
        };
        match wrong {
            None => Ok(()),
            Some(wrong) => {
                let wrong = format!("column `{}` cannot be a collection: {wrong}", column.name);
                Err(CustomisationError::impossible(asked.span(), wrong))
            }
        }
    }

    fn check_enumeration(
        &self,
        table: &CatalogTable,
        column: &CatalogColumn,
        wanted: &WantedColumn,
    ) -> Result<(), CustomisationError> {
        let Some(asked) = &wanted.enumeration else { return Ok(()) };
        let Some((name, enumeration)) = self.wanted.enumerations.get_key_value(asked.get_ref().as_str()) else {
            let known = self.wanted.enumerations.keys().map(|name| name.get_ref().as_str());
            return Err(CustomisationError::unknown("enumeration", asked, known));
        };
        let enumeration = enumeration.declared("", name)?;
        let in_key = match self.wanted(table).and_then(|table| table.key.as_ref()) {
            Some(key) => key.iter().any(|key| *key.get_ref() == column.name),
            None => table.primary_key.iter().any(|key| table.columns[*key].name == column.name),
        };
        let wrong = match self.of_column(table, column).primitive(column) {
            _ if in_key => "it is part of the key, which is no enumeration".to_owned(),
            _ if wanted.managed.is_some() => "it is managed".to_owned(),
            None => "it is not served".to_owned(),
            Some(primitive) => match unfit(&enumeration, primitive.item().map_or(primitive, Item::primitive)) {
                None => return Ok(()),
                Some(wrong) => format!("it is of type {}: {wrong}", column.declared),
            },
        };
        let wrong = format!("column `{}` cannot hold members of {}: {wrong}", column.name, asked.get_ref());
        Err(CustomisationError::impossible(asked.span(), wrong))
    }

    fn check_groups(&self, table: &CatalogTable, wanted: &WantedTable) -> Result<(), CustomisationError> {
        let mut grouped: Vec<usize> = Vec::new();
        for (name, complex) in &wanted.complex {
            let group = complex.group(table, name)?;
            for (member, column) in &group.members {
                let wish = self.of_column(table, &table.columns[*column]);
                if wish.primitive(&table.columns[*column]).is_some_and(|primitive| primitive.item().is_some()) {
                    let wrong = format!("the column of `{member}` is a collection, which stands by itself");
                    return Err(CustomisationError::impossible(name.span(), wrong));
                }
                let hidden = wish.hidden;
                let is_key = wanted.key.iter().flatten().any(|key| *key.get_ref() == table.columns[*column].name);
                if hidden || is_key || grouped.contains(column) {
                    let wrong = format!("the column of `{member}` is hidden, part of the key, or another member too");
                    return Err(CustomisationError::impossible(name.span(), wrong));
                }
                grouped.push(*column);
            }
        }
        Ok(())
    }

    /// The types of a table's rows: columns that are part of the key, managed or not served belong to no derived type.
    fn kinds(&self, table: &CatalogTable, wanted: &WantedTable) -> Result<Option<Kinds>, Wrong> {
        let typed = |position: usize| {
            let column = &table.columns[position];
            let in_key = match &wanted.key {
                Some(key) => key.iter().any(|key| *key.get_ref() == column.name),
                None => table.primary_key.contains(&position),
            };
            let wish = self.of_column(table, column);
            wish.primitive(column).filter(|_| !in_key && !wish.hidden && wish.managed.is_none())
        };
        wanted.hierarchy().kinds(table, typed)
    }

    fn check_kinds(&self, table: &CatalogTable, wanted: &WantedTable) -> Result<(), CustomisationError> {
        let kinds = self.kinds(table, wanted)?;
        let Some(kinds) = kinds else { return Ok(()) };
        for (name, complex) in &wanted.complex {
            let group = complex.group(table, name)?;
            let mut of = group.members.iter().map(|(_, column)| kinds.of_column(*column));
            let first = of.next();
            if of.any(|other| Some(other) != first) {
                return Err(CustomisationError::impossible(
                    name.span(),
                    "its columns are of one type, or of none that is derived",
                ));
            }
        }
        Ok(())
    }

    /// Checks the names of derived types against the rest of the model.
    pub(super) fn check_derived(&self, model: &Model) -> Result<(), CustomisationError> {
        for (table, wanted) in &self.wanted.tables {
            let taken = |name: &str| {
                let of_others = self
                    .wanted
                    .tables
                    .iter()
                    .any(|(other, known)| other.get_ref() != table.get_ref() && known.derived.contains_key(name));
                of_others
                    || model.entity_types.iter().any(|known| known.name == name)
                    || model.complex_types.iter().any(|known| known.name == name)
                    || model.enumerations.iter().any(|known| known.name() == name)
            };
            wanted.hierarchy().check_names(taken)?;
        }
        Ok(())
    }

    /// The enumerations of the file.
    pub(super) fn enumerations(&self, namespace: &str) -> Result<Vec<Arc<Enumeration>>, CustomisationError> {
        let declared = |(name, wanted): (&Spanned<String>, &WantedEnumeration)| {
            wanted.declared(namespace, name).map(Arc::new).map_err(CustomisationError::from)
        };
        self.wanted.enumerations.iter().map(declared).collect()
    }

    /// Checks the requested names against each other and against those from the database.
    fn check_names<'n>(
        &self,
        names: impl Iterator<Item = (Option<&'n Spanned<String>>, String)>,
    ) -> Result<(), CustomisationError> {
        let names: Vec<_> = names.collect();
        for (position, (asked, _)) in names.iter().enumerate() {
            let Some(asked) = asked else { continue };
            let identifier = super::name::identifier(asked.get_ref());
            if identifier != *asked.get_ref() {
                let wrong = format!("`{}` is no name: `{identifier}` would be one", asked.get_ref());
                return Err(CustomisationError::impossible(asked.span(), wrong));
            }
            let same = |(other, (given, natural)): (usize, &(Option<&Spanned<String>>, String))| {
                other != position && given.map_or(natural, Spanned::get_ref) == asked.get_ref()
            };
            if names.iter().enumerate().any(same) {
                return Err(CustomisationError::impossible(
                    asked.span(),
                    format!("the name `{}` is taken", asked.get_ref()),
                ));
            }
        }
        Ok(())
    }

    /// Adds the functions and actions to the rest of the model.
    pub(super) fn declare(&self, model: &mut Model) -> Result<(), CustomisationError> {
        for (name, wanted) in &self.wanted.functions {
            self.check_operation(model, name)?;
            let function = wanted.declared(model, name.get_ref())?;
            model.function_imports.push(function);
        }
        for (name, address) in &self.wanted.singletons {
            self.check_operation(model, name)?;
            let singleton = self.singleton(model, name, address)?;
            model.singletons.push(singleton);
        }
        for (name, wanted) in &self.wanted.actions {
            self.check_operation(model, name)?;
            let action = wanted.declared(model, name)?;
            model.function_imports.push(action);
        }
        Ok(())
    }

    /// Makes the entity with this address, such as `settings(1)`, a singleton.
    fn singleton(
        &self,
        model: &Model,
        name: &Spanned<String>,
        address: &Spanned<String>,
    ) -> Result<Singleton, CustomisationError> {
        let parsed = url::parse(model, Version::V4, address.get_ref(), None);
        let (resource, _) =
            parsed.map_err(|error| CustomisationError::impossible(address.span(), error.to_string()))?;
        if let Resource::Read(plan) = resource
            && let Plan { root, key: Some(Key(key)), steps, shape: Shape::Entity, .. } = *plan
            && steps.is_empty()
        {
            return Ok(Singleton { name: name.get_ref().clone(), set: root, key });
        }
        Err(CustomisationError::impossible(
            address.span(),
            "expected the address of one entity, as a URL has it: settings(1)",
        ))
    }

    /// Checks that an operation or a singleton can have this name.
    fn check_operation(&self, model: &Model, name: &Spanned<String>) -> Result<(), CustomisationError> {
        let text = name.get_ref();
        let taken = model.set(text).is_some()
            || model.singletons.iter().any(|known| known.name == *text)
            || model.function_imports.iter().any(|known| known.name == *text)
            || model.entity_types.iter().any(|known| known.name == *text)
            || model.complex_types.iter().any(|known| known.name == *text)
            || model.enumerations.iter().any(|known| known.name() == text);
        if super::name::identifier(text) == *text && !taken {
            return Ok(());
        }
        let wrong = format!("`{text}` is no name that it can have, or taken by a set, a type or another one");
        Err(CustomisationError::impossible(name.span(), wrong))
    }

    /// Requested changes of a table.
    pub(super) fn of(&self, table: &CatalogTable) -> TableWish {
        let Some(wanted) = self.wanted(table) else {
            return TableWish { hidden: self.wanted.others == Others::Hidden, ..TableWish::default() };
        };
        let text = |name: &Option<Spanned<String>>| name.as_ref().map(|name| name.get_ref().clone());
        TableWish {
            name: text(&wanted.name),
            kind: text(&wanted.r#type),
            label: wanted.label.clone(),
            hidden: wanted.hidden,
            read_only: wanted.read_only,
            key: wanted.key.as_ref().map(|key| key.iter().map(|name| name.get_ref().clone()).collect()),
            etag: text(&wanted.etag),
            // Those that are wrong were refused before.
            kinds: self.kinds(table, wanted).ok().flatten(),
            groups: wanted.complex.iter().filter_map(|(name, complex)| complex.group(table, name).ok()).collect(),
        }
    }

    /// Requested changes of a column.
    pub(super) fn of_column(&self, table: &CatalogTable, column: &CatalogColumn) -> ColumnWish {
        let Some(wanted) = self.wanted_column(table, column) else { return ColumnWish::default() };
        ColumnWish {
            name: wanted.name.as_ref().map(|name| name.get_ref().clone()),
            label: wanted.label.clone(),
            hidden: wanted.hidden,
            read_only: wanted.read_only,
            stored: wanted.stored.map(|stored| match stored {
                EpochUnit::Seconds => Form::Seconds,
                EpochUnit::Milliseconds => Form::Milliseconds,
            }),
            managed: wanted.managed.as_ref().map(|managed| managed.get_ref().provided()),
            enumeration: wanted.enumeration.as_ref().map(|name| name.get_ref().clone()),
            collection: wanted.collection.as_ref().and_then(|name| collection::item(name.get_ref())),
        }
    }

    fn wanted(&self, table: &CatalogTable) -> Option<&WantedTable> {
        self.wanted.tables.get(table.full_name().as_str())
    }

    fn wanted_column(&self, table: &CatalogTable, column: &CatalogColumn) -> Option<&WantedColumn> {
        self.wanted(table)?.columns.get(column.name.as_str())
    }
}
