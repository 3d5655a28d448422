//! Where a model's entities are stored: which table a set is, which column a leaf.
//!
//! It deliberately knows no types: those are the model's.

use tollgate_wire::edm::{LeafId, Model, SetId};

/// Tables by set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// One for each entity set, in the model's order.
    pub tables: Vec<Table>,
}

/// A table with its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Name as the database knows it, unquoted.
    pub name: String,
    /// One for each leaf of the type, in the order of `EntityType::leaves`.
    pub columns: Vec<String>,
}

impl Mapping {
    /// Tables named as the types are, columns as the leaves (`flightDetails/cityFrom` becomes
    /// `flightDetails_cityFrom`).
    pub fn by_type_name(model: &Model) -> Mapping {
        let table = |set: usize| {
            let entity_type = model.type_of(SetId(set));
            Table {
                name: entity_type.name.clone(),
                columns: entity_type.leaves.iter().map(|leaf| leaf.path.replace('/', "_")).collect(),
            }
        };
        Mapping { tables: (0..model.entity_sets.len()).map(table).collect() }
    }

    /// The table of a set.
    pub fn table(&self, set: SetId) -> &Table {
        &self.tables[set.0]
    }

    /// The column of a leaf of the entities in `set`.
    pub fn column(&self, set: SetId, leaf: LeafId) -> &str {
        &self.tables[set.0].columns[leaf.0]
    }

    /// Says where the mapping and a model differ in shape.
    pub fn mismatch(&self, model: &Model) -> Option<String> {
        if self.tables.len() != model.entity_sets.len() {
            return Some(format!("{} tables for {} entity sets", self.tables.len(), model.entity_sets.len()));
        }
        self.tables.iter().zip(&model.entity_sets).find_map(|(table, set)| {
            let leaves = model.entity_types[set.entity_type.0].leaves.len();
            (table.columns.len() != leaves).then(|| {
                format!("table {} has {} columns for {leaves} leaves of {}", table.name, table.columns.len(), set.name)
            })
        })
    }
}
