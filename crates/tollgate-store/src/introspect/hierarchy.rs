//! Derived types of a mapping file: rows of one table that are entities of several types, distinguished by a column.
//!
//! Everything stays in the one table: the columns give the type and the properties of each row.

use std::collections::BTreeMap;

use serde::Deserialize;
use tollgate_wire::edm::{EntityType, Hierarchy, LeafId, Model, NavigationId, Primitive, Subtype, SubtypeId};
use tollgate_wire::value::Value;
use toml::Spanned;

use super::catalog::CatalogTable;
use super::function::Wrong;
use super::name::identifier;
use super::stored::Stored;

/// Declared types of a table's rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedHierarchy<'w> {
    /// The column with the type of a row.
    pub(super) discriminator: Option<&'w Spanned<String>>,
    /// Its value for the table's own type.
    pub(super) stored: Option<&'w Spanned<Stored>>,
    /// The table's own type has no rows.
    pub(super) r#abstract: Option<&'w Spanned<bool>>,
    /// The types derived from it, by name.
    pub(super) derived: &'w BTreeMap<Spanned<String>, WantedDerived>,
}

/// A derived type as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedDerived {
    /// Another derived type; without it, the table's own.
    base: Option<Spanned<String>>,
    stored: Option<Spanned<Stored>>,
    #[serde(default)]
    r#abstract: Option<Spanned<bool>>,
    /// The columns that are properties of it and of types derived from it.
    #[serde(default)]
    columns: Vec<Spanned<String>>,
    label: Option<String>,
}

/// The types of a table's rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kinds {
    discriminator: usize,
    /// The table's own type first, each after its base.
    kinds: Vec<Kind>,
}

/// One type.
#[derive(Debug, Clone, PartialEq)]
struct Kind {
    /// `None` for the table's own.
    name: Option<String>,
    base: Option<SubtypeId>,
    stored: Option<Value>,
    columns: Vec<usize>,
    label: Option<String>,
}

impl WantedHierarchy<'_> {
    /// Whether the file declares any types.
    fn is_wanted(&self) -> bool {
        let WantedHierarchy { discriminator, stored, r#abstract, derived } = self;
        discriminator.is_some() || stored.is_some() || r#abstract.is_some() || !derived.is_empty()
    }

    /// Reads the types for `table`; `typed` returns the type of columns that may be discriminators or properties of one
    /// type. `None` if no types are declared.
    pub(super) fn kinds(
        &self,
        table: &CatalogTable,
        typed: impl Fn(usize) -> Option<Primitive>,
    ) -> Result<Option<Kinds>, Wrong> {
        let Some(discriminator) = self.discriminator else {
            let begin = self.derived.keys().next().map(Spanned::span);
            let begin = begin.or(self.stored.map(Spanned::span));
            let begin = begin.or(self.r#abstract.map(Spanned::span)).unwrap_or_default();
            let wrong = "expected `discriminator`: the column that says of which type a row is".to_owned();
            return if self.is_wanted() { Err((begin, wrong)) } else { Ok(None) };
        };
        if self.derived.is_empty() {
            let wrong = "expected derived types beside it, such as [tables.….derived.Employee]".to_owned();
            return Err((discriminator.span(), wrong));
        }
        let column = |name: &Spanned<String>| {
            let wrong = |wrong: &str| (name.span(), format!("column `{}` {wrong}", name.get_ref()));
            let position = table.column(name.get_ref()).ok_or_else(|| wrong("is not in the table"))?;
            let primitive = typed(position).ok_or_else(|| wrong("is not served, managed, or part of the key"))?;
            Ok((position, primitive))
        };
        let (position, primitive) = column(discriminator)?;
        let root = stored(discriminator, (self.stored, self.r#abstract), primitive)?;
        let root = Kind { name: None, base: None, stored: root, columns: Vec::new(), label: None };
        let mut kinds = Kinds { discriminator: position, kinds: vec![root] };
        let mut waiting: Vec<_> = self.derived.iter().collect();
        while !waiting.is_empty() {
            let known = |wanted: &WantedDerived| match &wanted.base {
                None => Some(SubtypeId::ROOT),
                Some(base) => kinds.position(base.get_ref()),
            };
            let Some(next) = waiting.iter().position(|(_, wanted)| known(wanted).is_some()) else {
                let (name, wanted) = waiting[0];
                let base = wanted.base.as_ref().unwrap_or(name);
                let wrong = format!("`{}` is no derived type of this table, or derives from this one", base.get_ref());
                return Err((base.span(), wrong));
            };
            let (name, wanted) = waiting.remove(next);
            let base = known(wanted);
            if identifier(name.get_ref()) != *name.get_ref() {
                return Err((name.span(), format!("`{}` is no name that a type can have", name.get_ref())));
            }
            let stored = stored(name, (wanted.stored.as_ref(), wanted.r#abstract.as_ref()), primitive)?;
            if stored.is_some() && kinds.kinds.iter().any(|known| known.stored == stored) {
                return Err((name.span(), format!("what is stored for `{}` means another type", name.get_ref())));
            }
            let mut columns = Vec::new();
            for wanted in &wanted.columns {
                let (column, _) = column(wanted)?;
                let known = kinds.kinds.iter().any(|known| known.columns.contains(&column));
                if known || column == position || columns.contains(&column) {
                    let wrong = format!("column `{}` is of another type, or tells them apart", wanted.get_ref());
                    return Err((wanted.span(), wrong));
                }
                columns.push(column);
            }
            let label = wanted.label.clone();
            kinds.kinds.push(Kind { name: Some(name.get_ref().clone()), base, stored, columns, label });
        }
        let childless = |at: usize| !kinds.kinds.iter().any(|other| other.base == Some(SubtypeId(at)));
        let empty = kinds.kinds.iter().enumerate().find(|(at, kind)| kind.stored.is_none() && childless(*at));
        if let Some((name, _)) = empty.and_then(|(_, kind)| self.derived.get_key_value(kind.name.as_deref()?)) {
            let wrong = format!("`{}` is abstract, and nothing derives from it", name.get_ref());
            return Err((name.span(), wrong));
        }
        Ok(Some(kinds))
    }

    /// Checks that no derived type has a name that is taken.
    ///
    /// # Errors
    /// The first such type, with its place.
    pub(super) fn check_names(&self, taken: impl Fn(&str) -> bool) -> Result<(), Wrong> {
        match self.derived.keys().find(|name| taken(name.get_ref())) {
            None => Ok(()),
            Some(name) => Err((name.span(), format!("the name `{}` is taken", name.get_ref()))),
        }
    }
}

impl Kinds {
    fn position(&self, name: &str) -> Option<SubtypeId> {
        self.kinds.iter().position(|kind| kind.name.as_deref() == Some(name)).map(SubtypeId)
    }

    /// The type that declares a column as property.
    pub(super) fn of_column(&self, column: usize) -> SubtypeId {
        let declares = |kind: &Kind| kind.columns.contains(&column);
        self.kinds.iter().position(declares).map_or(SubtypeId::ROOT, SubtypeId)
    }

    /// The hierarchy of a type; `leaves` gives the leaf of each column, `property_of` the property of each leaf. The
    /// navigation of its types is found by [`declare_navigation`].
    pub(super) fn hierarchy(&self, name: &str, leaves: &[Option<LeafId>], property_of: &[usize]) -> Option<Hierarchy> {
        let subtype = |kind: &Kind| {
            let properties = kind.columns.iter().filter_map(|column| leaves[*column]).map(|leaf| property_of[leaf.0]);
            let mut properties: Vec<usize> = properties.collect();
            properties.dedup();
            Subtype {
                name: kind.name.clone().unwrap_or_else(|| name.to_owned()),
                base: kind.base,
                stored: kind.stored.clone(),
                properties,
                navigation: Vec::new(),
                label: kind.label.clone(),
            }
        };
        let discriminator = leaves[self.discriminator]?;
        Some(Hierarchy { discriminator, subtypes: self.kinds.iter().map(subtype).collect() })
    }
}

/// Assigns navigation that begins at a property of a derived type to that type.
pub(super) fn declare_navigation(model: &mut Model) {
    for entity_type in &mut model.entity_types {
        let declared: Vec<(SubtypeId, NavigationId)> = (0..entity_type.navigation.len())
            .map(|at| (declares(entity_type, at), NavigationId(at)))
            .filter(|(subtype, _)| *subtype != SubtypeId::ROOT)
            .collect();
        let Some(hierarchy) = &mut entity_type.hierarchy else { continue };
        for (subtype, navigation) in declared {
            hierarchy.subtypes[subtype.0].navigation.push(navigation);
        }
    }
    model.finish_hierarchies();
}

/// The type with all the leaves from which navigation begins; of several, the last in the order of the hierarchy.
fn declares(entity_type: &EntityType, navigation: usize) -> SubtypeId {
    let on = &entity_type.navigation[navigation].on;
    on.iter().map(|(here, _)| entity_type.declares(*here)).max().unwrap_or_default()
}

/// The column's value for entities of a type; `None` if it is abstract.
fn stored(
    name: &Spanned<String>,
    (stored, r#abstract): (Option<&Spanned<Stored>>, Option<&Spanned<bool>>),
    primitive: Primitive,
) -> Result<Option<Value>, Wrong> {
    let is_abstract = r#abstract.is_some_and(|said| *said.get_ref());
    let Some(stored) = stored else {
        let wrong = "expected `stored`, what the column holds for rows of the type, or `abstract = true`".to_owned();
        return if is_abstract { Ok(None) } else { Err((name.span(), wrong)) };
    };
    if is_abstract {
        return Err((stored.span(), "no rows are of an abstract type".to_owned()));
    }
    match (stored.get_ref(), primitive) {
        (Stored::Number(number), primitive) if primitive.is_integer() => Ok(Some(Value::Integer(*number))),
        (Stored::Text(text), Primitive::String { length_max }) => {
            if length_max > 0 && text.chars().count() > length_max as usize {
                return Err((stored.span(), format!("the column holds no more than {length_max} characters")));
            }
            Ok(Some(Value::String(text.clone())))
        }
        (Stored::Number(_), _) => {
            Err((stored.span(), "the column that tells types apart holds no whole numbers".to_owned()))
        }
        (Stored::Text(_), _) => Err((stored.span(), "the column that tells types apart holds no texts".to_owned())),
    }
}
