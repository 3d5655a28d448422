//! Navigation in SQL: related rows, the choice of one for to-one navigation, and leaves reached over it.

use std::cell::{Cell, RefCell};

use tollgate_wire::edm::{EntityType, Item, LeafId, Multiplicity, NavigationId, NavigationProperty, Primitive, SetId};
use tollgate_wire::plan::Origin;

use super::class::Class;
use super::dialect::{Dialect, is_text_in_postgres};
use super::expression::Scope;
use super::{Sql, function};
use crate::{Form, Identity, Mapping};

/// Treatment of a decimal that SQLite keeps as a binary number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimals {
    /// It stays as it is stored: its column's affinity converts the other operand to a number, and an index can be
    /// used.
    AsStored,
    /// Its digits, as in other expressions: without a column beside it nothing has an affinity, and numbers without one
    /// sort before all texts.
    Digits,
}

/// Appends a leaf of the entity at hand, or, over to-one navigation, one of a table that the statement joins, or a scalar
/// subquery: a join could repeat the entity where the target's key is not covered.
pub(super) fn leaf_value(
    sql: &mut Sql<'_>,
    scope: &Scope<'_>,
    of: Origin,
    through: &[(NavigationId, SetId)],
    leaf: LeafId,
    decimals: Decimals,
) {
    let (own_set, own_alias) = scope.of(of);
    let Some((_, last_set)) = through.last() else {
        return typed_column(sql, scope, own_alias, (own_set, leaf), decimals);
    };
    if let (Origin::It, Some(joins)) = (of, scope.joins)
        && let Some(joined) = joins.alias(scope, through)
    {
        return typed_column(sql, scope, &joined, (*last_set, leaf), decimals);
    }
    sql.push("(SELECT ");
    typed_column(sql, scope, &alias(through.len() - 1), (*last_set, leaf), decimals);
    let (mut set, mut from) = (own_set, own_alias.to_owned());
    for (index, (navigation, target)) in through.iter().enumerate() {
        let here = alias(index);
        sql.push(if index == 0 { " FROM " } else { " LEFT JOIN " });
        sql.table_as(scope.mapping.table(*target), &here);
        if index > 0 {
            let navigation = &scope.model.type_of(set).navigation[navigation.0];
            sql.push(" ON ");
            related(sql, scope.mapping, navigation, (set, &from), (*target, &here));
        }
        (set, from) = (*target, here);
    }
    let (navigation, target) = &through[0];
    sql.push(" WHERE ");
    let first = &scope.model.type_of(own_set).navigation[navigation.0];
    related(sql, scope.mapping, first, (own_set, own_alias), (*target, &alias(0)));
    sql.push(" ORDER BY ");
    let keys = through.iter().enumerate().flat_map(|(index, (_, set))| {
        scope.model.type_of(*set).key.iter().map(move |leaf| (alias(index), scope.mapping.column(*set, *leaf)))
    });
    sql.list(", ", keys, |sql, (alias, column)| sql.column(&alias, column));
    sql.push(" LIMIT 1)");
}

/// The to-one paths from the entity at hand that a statement joins, each once, however often it is mentioned. They are
/// found while its columns are written, and joined after its table; paths found later become subqueries.
#[derive(Default)]
pub struct Joins {
    paths: RefCell<Vec<Vec<(NavigationId, SetId)>>>,
    written: Cell<bool>,
}

impl Joins {
    /// The alias of a path's target; `None` if it may lead to several entities, or if it is too late.
    fn alias(&self, scope: &Scope<'_>, through: &[(NavigationId, SetId)]) -> Option<String> {
        let mut paths = self.paths.borrow_mut();
        let known = |paths: &Vec<Vec<_>>, through: &[_]| paths.iter().position(|path| path == through);
        if let Some(index) = known(&paths, through) {
            return Some(joined_alias(index));
        }
        let mut set = scope.set;
        for (navigation, target) in through {
            let declared = &scope.model.type_of(set).navigation[navigation.0];
            let is_one = scope.mapping.table(*target).identity == Identity::Key;
            if !is_one || ambiguous(declared, scope.model.type_of(*target)) {
                return None;
            }
            set = *target;
        }
        if self.written.get() {
            return None;
        }
        for steps in 1..=through.len() {
            if known(&paths, &through[..steps]).is_none() {
                paths.push(through[..steps].to_vec());
            }
        }
        Some(joined_alias(paths.len() - 1))
    }

    /// Appends the joins after the table of the current entity.
    pub(super) fn write(&self, sql: &mut Sql<'_>, scope: &Scope<'_>) {
        self.written.set(true);
        let paths = self.paths.borrow();
        for (index, path) in paths.iter().enumerate() {
            let Some(((navigation, target), before)) = path.split_last() else { continue };
            let from = paths.iter().position(|path| path == before).map(joined_alias);
            let from_set = before.last().map_or(scope.set, |(_, set)| *set);
            let here = joined_alias(index);
            sql.push(" LEFT JOIN ");
            sql.table_as(scope.mapping.table(*target), &here);
            sql.push(" ON ");
            let navigation = &scope.model.type_of(from_set).navigation[navigation.0];
            let from = from.as_deref().unwrap_or(scope.alias);
            related(sql, scope.mapping, navigation, (from_set, from), (*target, &here));
        }
    }
}

fn joined_alias(index: usize) -> String {
    format!("j{index}")
}

/// Appends a column so that it has the type of its leaf's class, whatever its stored type. A cast from one kind of text
/// to another costs nothing and leaves indexes usable.
fn typed_column(sql: &mut Sql<'_>, scope: &Scope<'_>, alias: &str, (set, leaf): (SetId, LeafId), decimals: Decimals) {
    let column = scope.mapping.column(set, leaf);
    let primitive = scope.model.type_of(set).leaves[leaf.0].primitive;
    if let (Dialect::Sqlite, Primitive::Collection(item)) = (sql.dialect, primitive) {
        let place = (&*scope.mapping.table(set).name, column);
        return canonical_list(sql, item, scope.mapping.form(set, leaf), (alias, place));
    }
    let class = Class::of(Some(primitive));
    match sql.dialect {
        Dialect::Postgres if class == Class::String || is_text_in_postgres(primitive) => {
            sql.cast(class, |sql| sql.column(alias, column));
        }
        Dialect::Sqlite if class == Class::Decimal && decimals == Decimals::AsStored => sql.column(alias, column),
        Dialect::Sqlite if scope.mapping.form(set, leaf) != Form::Canonical => {
            canonical_column(sql, class, scope.mapping.form(set, leaf), |sql| sql.column(alias, column));
        }
        Dialect::Sqlite | Dialect::Postgres => sql.column(alias, column),
    }
}

/// Appends a column that may contain anything in SQLite so that it has the canonical form, where comparisons and
/// functions need that. Binary numbers and integers are canonical as they are stored.
fn canonical_column(sql: &mut Sql<'_>, class: Class, form: Form, column: impl FnOnce(&mut Sql<'_>)) {
    let kind = match class {
        // A list is made canonical by the type of its values.
        Class::Null | Class::Boolean | Class::Integer | Class::Real | Class::String | Class::Binary | Class::List => {
            return column(sql);
        }
        Class::Decimal => "decimal",
        Class::Guid => "guid",
        Class::Date => "date",
        Class::DateTime => "datetime",
        Class::Instant => "instant",
        Class::TimeOfDay => "time",
        Class::Duration => "duration",
    };
    sql.push(function::CANONICAL.text);
    sql.push("(");
    column(sql);
    sql.push(", '");
    sql.push(kind);
    sql.push(match form {
        Form::Canonical | Form::Checked | Form::Blank | Form::UpperCase | Form::Bytes => "')",
        Form::Seconds => " seconds')",
        Form::Milliseconds => " milliseconds')",
    });
}

/// Appends a column with an array of JSON so that it and all of its values have the canonical form. The error for one
/// without it names the table and the column.
fn canonical_list(sql: &mut Sql<'_>, item: Item, form: Form, (alias, (table, column)): (&str, (&str, &str))) {
    if form == Form::Canonical {
        return sql.column(alias, column);
    }
    sql.push(function::CANONICAL.text);
    sql.push("(");
    sql.column(alias, column);
    sql.push(match item {
        Item::Boolean => ", 'list of boolean in ",
        Item::Int16 => ", 'list of int16 in ",
        Item::Int32 => ", 'list of int32 in ",
        Item::Int64 => ", 'list of int64 in ",
        Item::Single => ", 'list of single in ",
        Item::Double => ", 'list of double in ",
        Item::Decimal { .. } => ", 'list of decimal in ",
        Item::String { .. } => ", 'list of string in ",
        Item::Guid => ", 'list of guid in ",
        Item::Date => ", 'list of date in ",
        Item::DateTime { .. } => ", 'list of datetime in ",
        Item::DateTimeOffset { .. } => ", 'list of instant in ",
        Item::TimeOfDay { .. } => ", 'list of time in ",
    });
    sql.push(&format!("{table}.{column}").replace('\'', "''"));
    sql.push("')");
}

fn alias(index: usize) -> String {
    format!("n{index}")
}

/// Appends the condition under which two entities are related.
pub(super) fn related(
    sql: &mut Sql<'_>,
    mapping: &Mapping,
    navigation: &NavigationProperty,
    (from, from_alias): (SetId, &str),
    (to, to_alias): (SetId, &str),
) {
    sql.list(" AND ", &navigation.on, |sql, (here, there)| {
        sql.column(to_alias, mapping.column(to, *there));
        sql.push(" = ");
        sql.column(from_alias, mapping.column(from, *here));
    });
}

/// Whether to-one navigation may lead to several entities; the first by key is then used.
pub(super) fn ambiguous(navigation: &NavigationProperty, target: &EntityType) -> bool {
    match navigation.multiplicity {
        Multiplicity::Many => false,
        Multiplicity::One | Multiplicity::ZeroOrOne => {
            !target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf))
        }
    }
}
