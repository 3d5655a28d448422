//! Foreign keys as navigation: one property each way, an association for V2, and distinct names for several foreign
//! keys to the same table.

use tollgate_wire::edm::{
    Association, AssociationEnd, EntityType, LeafId, Model, Multiplicity, NavigationProperty, SetId,
};

use super::Remark;
use super::catalog::{Catalog, CatalogTable, ForeignKey};
use super::name::{free, identifier, referred};
use crate::sql::class::Class;

/// A served table of the catalogue.
pub(super) struct Served {
    /// Its position in the catalogue.
    pub(super) table: usize,
    /// The leaf of each column of the catalogue, if it has one.
    pub(super) leaves: Vec<Option<LeafId>>,
}

/// A foreign key with both ends served.
struct Relation {
    dependent: SetId,
    principal: SetId,
    /// Pairs (leaf of the dependent, leaf of the principal).
    on: Vec<(LeafId, LeafId)>,
    /// The referring column, if it is a single one.
    column: Option<String>,
    columns: Vec<usize>,
}

/// Adds the foreign keys of `catalog` to `model`, whose sets are `served`.
pub(super) fn relate(model: &mut Model, catalog: &Catalog, served: &[Served], remarks: &mut Vec<Remark>) {
    let mut relations = Vec::new();
    for (dependent, here) in served.iter().enumerate() {
        let table = &catalog.tables[here.table];
        for foreign_key in &table.foreign_keys {
            let Some(principal) = served.iter().position(|there| refers(foreign_key, &catalog.tables[there.table]))
            else {
                continue;
            };
            match relation(model, catalog, served, (SetId(dependent), SetId(principal)), foreign_key) {
                Ok(relation) => relations.push(relation),
                Err(why) => {
                    let names: Vec<_> = foreign_key.columns.iter().map(|at| table.columns[*at].name.as_str()).collect();
                    let (names, target) = (names.join(", "), &foreign_key.target);
                    let message = format!("its reference ({names}) to {target} is no navigation: {why}");
                    remarks.push(Remark { table: table.full_name(), message });
                }
            }
        }
    }
    for index in 0..relations.len() {
        add(model, catalog, served, &relations, index);
    }
}

fn refers(foreign_key: &ForeignKey, table: &CatalogTable) -> bool {
    // SQLite's names differ not by case, and a reference may be written in another one.
    table.name.eq_ignore_ascii_case(&foreign_key.target) && table.schema == foreign_key.target_schema
}

fn relation(
    model: &Model,
    catalog: &Catalog,
    served: &[Served],
    (dependent, principal): (SetId, SetId),
    foreign_key: &ForeignKey,
) -> Result<Relation, String> {
    let (here, there) = (&served[dependent.0], &served[principal.0]);
    let (table, target) = (&catalog.tables[here.table], &catalog.tables[there.table]);
    let target_columns: Vec<usize> = if foreign_key.target_columns.is_empty() {
        target.primary_key.clone()
    } else {
        let column = |name: &String| {
            let found = target.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| format!("{} has no column {name}", target.full_name()))
        };
        foreign_key.target_columns.iter().map(column).collect::<Result<_, _>>()?
    };
    if target_columns.len() != foreign_key.columns.len() {
        return Err(format!("{} columns refer to {}", foreign_key.columns.len(), target_columns.len()));
    }
    let mut on = Vec::new();
    for (column, target_column) in foreign_key.columns.iter().zip(&target_columns) {
        let leaf = here.leaves[*column].ok_or_else(|| format!("{} is not served", table.columns[*column].name))?;
        let target_leaf = there.leaves[*target_column]
            .ok_or_else(|| format!("{} is not served", target.columns[*target_column].name))?;
        let class = |set: SetId, leaf: LeafId| Class::of(Some(model.type_of(set).leaves[leaf.0].primitive));
        let forms = [table.columns[*column].form, target.columns[*target_column].form];
        if class(dependent, leaf) != class(principal, target_leaf) || forms[0] != forms[1] {
            let name = &table.columns[*column].name;
            return Err(format!("{name} is of another type than {}", target.columns[*target_column].name));
        }
        on.push((leaf, target_leaf));
    }
    let column = match &foreign_key.columns[..] {
        [one] => {
            let leaf = here.leaves[*one].expect("it was found above");
            Some(model.type_of(dependent).leaves[leaf.0].path.clone())
        }
        _ => None,
    };
    Ok(Relation { dependent, principal, on, column, columns: foreign_key.columns.clone() })
}

fn add(model: &mut Model, catalog: &Catalog, served: &[Served], relations: &[Relation], index: usize) {
    let Relation { dependent, principal, on, column, columns } = &relations[index];
    let between = |relation: &&Relation| relation.dependent == *dependent && relation.principal == *principal;
    let alone = relations.iter().filter(between).count() == 1;
    let table = &catalog.tables[served[dependent.0].table];
    let (dependent_type, principal_type) = (model.type_of(*dependent), model.type_of(*principal));
    let joined = || {
        let names: Vec<_> = on.iter().map(|(leaf, _)| dependent_type.leaves[leaf.0].path.as_str()).collect();
        names.join("_")
    };

    let stem = column.as_deref().and_then(referred).map(identifier);
    let mut names: Vec<String> = stem.iter().cloned().collect();
    if alone {
        names.push(principal_type.name.clone());
    }
    names.push(format!("{}_{}", stem.unwrap_or_else(joined), principal_type.name));
    let forward = free(&names, |name| is_taken(dependent_type, name));

    let unique = |columns: &[usize]| {
        let within = |unique: &[usize]| !unique.is_empty() && unique.iter().all(|column| columns.contains(column));
        within(&table.primary_key) || table.unique.iter().any(|unique| within(unique))
    };
    let back = if unique(columns) { Multiplicity::ZeroOrOne } else { Multiplicity::Many };
    let dependents = match back {
        Multiplicity::Many => &model.entity_sets[dependent.0].name,
        Multiplicity::One | Multiplicity::ZeroOrOne => &dependent_type.name,
    };
    let mut names = Vec::new();
    if alone && dependent != principal {
        names.push(dependents.clone());
    }
    names.push(format!("{dependents}_by_{forward}"));
    let backward = free(&names, |name| is_taken(principal_type, name) || (dependent == principal && name == forward));

    let names = [format!("{}_{forward}", dependent_type.name)];
    let taken = |name: &str| model.associations.iter().any(|association| association.name == name);
    let association = free(&names, taken);
    let required = columns.iter().all(|column| !table.columns[*column].nullable);
    let multiplicity = if required { Multiplicity::One } else { Multiplicity::ZeroOrOne };
    let key = &principal_type.key;
    let by_key = key.len() == on.len() && key.iter().all(|leaf| on.iter().any(|(_, there)| there == leaf));
    let roles = [format!("{}_{forward}", principal_type.name), dependent_type.name.clone()];

    let reversed: Vec<_> = on.iter().map(|(here, there)| (*there, *here)).collect();
    let [principal_role, dependent_role] = roles;
    model.associations.push(Association {
        name: association.clone(),
        ends: [
            AssociationEnd { role: principal_role, set: *principal, multiplicity },
            AssociationEnd { role: dependent_role, set: *dependent, multiplicity: back },
        ],
        // A constraint of V2 names the principal's key and nothing else.
        constraint: if by_key { reversed.clone() } else { Vec::new() },
    });
    let navigation = |name: &String, target, multiplicity, on, partner: &String| NavigationProperty {
        name: name.clone(),
        target,
        multiplicity,
        on,
        association: association.clone(),
        partner: Some(partner.clone()),
    };
    let there = navigation(&forward, *principal, multiplicity, on.clone(), &backward);
    let here = navigation(&backward, *dependent, back, reversed, &forward);
    let types = [*dependent, *principal].map(|set| model.entity_sets[set.0].entity_type.0);
    model.entity_types[types[0]].navigation.push(there);
    model.entity_types[types[1]].navigation.push(here);
}

fn is_taken(entity_type: &EntityType, name: &str) -> bool {
    entity_type.name == name || entity_type.property(name).is_some() || entity_type.navigation(name).is_some()
}
