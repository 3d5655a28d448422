//! Complex properties of a mapping file: columns of a table that form one value with members.
//!
//! It adds no columns: grouped ones stay where they are.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::catalog::CatalogTable;
use super::function::Wrong;
use super::name::identifier;

/// A complex property as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedComplex {
    r#type: Spanned<String>,
    /// Columns by the name of the member.
    members: BTreeMap<Spanned<String>, Spanned<String>>,
}

/// A complex property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    /// The name of its type.
    pub(super) kind: String,
    /// Names with column positions, in the order of the table.
    pub(super) members: Vec<(String, usize)>,
}

/// Source of one property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slot {
    /// A column by itself.
    Column(usize),
    /// Grouped columns, at the place of the first of them.
    Group(Group),
}

impl WantedComplex {
    /// The group of columns in `table` for it.
    pub(super) fn group(&self, table: &CatalogTable, name: &Spanned<String>) -> Result<Group, Wrong> {
        let names = [name, &self.r#type].into_iter().chain(self.members.keys());
        if let Some(wrong) = names.into_iter().find(|name| identifier(name.get_ref()) != *name.get_ref()) {
            return Err((wrong.span(), format!("`{}` is no name", wrong.get_ref())));
        }
        let mut members = Vec::new();
        for (member, column) in &self.members {
            let wrong = |wrong: &str| Err((column.span(), format!("column `{}` {wrong}", column.get_ref())));
            let Some(position) = table.column(column.get_ref()) else { return wrong("is not in the table") };
            if table.primary_key.contains(&position) {
                return wrong("is part of the key, which complex properties are not");
            }
            if table.foreign_keys.iter().any(|foreign_key| foreign_key.columns.contains(&position)) {
                return wrong("refers to another table, which members of complex properties do not");
            }
            members.push((member.get_ref().clone(), position));
        }
        if members.is_empty() {
            return Err((name.span(), "expected `members`: names with their columns".to_owned()));
        }
        members.sort_by_key(|(_, position)| *position);
        Ok(Group { name: name.get_ref().clone(), kind: self.r#type.get_ref().clone(), members })
    }
}

/// The properties of a table in order.
pub(super) fn slots(columns: usize, groups: &[Group]) -> Vec<Slot> {
    let slot = |column: usize| {
        let group = groups.iter().find(|group| group.members.iter().any(|(_, member)| *member == column));
        match group {
            None => Some(Slot::Column(column)),
            Some(group) if group.members[0].1 == column => Some(Slot::Group(group.clone())),
            Some(_) => None,
        }
    };
    (0..columns).filter_map(slot).collect()
}
