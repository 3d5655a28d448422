//! Navigation in SQL: which rows are related, which of several to-one navigation means, and leaves reached over it.

use tollgate_wire::edm::{EntityType, LeafId, Multiplicity, NavigationId, NavigationProperty, SetId};
use tollgate_wire::plan::Origin;

use super::class::Class;
use super::dialect::{Dialect, is_text_in_postgres};
use super::expression::Scope;
use super::{Sql, function};
use crate::store::{Form, Mapping};

/// What becomes of a decimal that SQLite keeps as a binary number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimals {
    /// It stays as it is stored: its column's affinity makes a number of whatever it is compared with, and an index serves
    /// it.
    AsStored,
    /// Its digits, as other expressions have them: beside a column nothing has an affinity, and numbers without one sort
    /// before all texts.
    Digits,
}

/// Appends a leaf of the entity at hand, or, over to-one navigation, a scalar subquery: a join could repeat the entity
/// where the target's key is not covered, and would have to be found again for each mention.
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

/// Appends a column so that it has the type of its leaf's class, whatever it is stored as. A cast from one kind of text to
/// another costs nothing and leaves indexes usable.
fn typed_column(sql: &mut Sql<'_>, scope: &Scope<'_>, alias: &str, (set, leaf): (SetId, LeafId), decimals: Decimals) {
    let column = scope.mapping.column(set, leaf);
    let primitive = scope.model.type_of(set).leaves[leaf.0].primitive;
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

/// Appends a column that SQLite lets hold anything so that it has the canonical form, where comparisons and functions need
/// that. Binary numbers and integers are canonical as they are stored.
fn canonical_column(sql: &mut Sql<'_>, class: Class, form: Form, column: impl FnOnce(&mut Sql<'_>)) {
    let kind = match class {
        Class::Null | Class::Boolean | Class::Integer | Class::Real | Class::String | Class::Binary => {
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

/// Whether to-one navigation may meet several entities, of which the first by key is meant.
pub(super) fn ambiguous(navigation: &NavigationProperty, target: &EntityType) -> bool {
    match navigation.multiplicity {
        Multiplicity::Many => false,
        Multiplicity::One | Multiplicity::ZeroOrOne => {
            !target.key.iter().all(|leaf| navigation.on.iter().any(|(_, there)| there == leaf))
        }
    }
}
