//! The statements that change one entity or lock it: their texts are built once for each set and each choice of leaves,
//! and then only looked up.
//!
//! It binds nothing: a text comes with the leaves of its marks, in order.

use std::convert::Infallible;
use std::sync::Arc;

use tollgate_wire::edm::{EntityType, LeafId, Model, Provided, SetId};
use tollgate_wire::entry::Entry;

use super::Sql;
use super::class::Class;
use super::dialect::Dialect;
use super::expression::comparable;
use crate::Mapping;

/// Choices of leaves kept for each set and kind of change: clients send few, and a hostile one must not fill the
/// memory.
const CHOICES_MAX: usize = 16;

/// The texts that one connection has needed so far.
#[derive(Debug, Default)]
pub struct Texts {
    dialect: Dialect,
    sets: Vec<OfSet>,
}

#[derive(Debug, Clone, Default)]
struct OfSet {
    inserts: Choices,
    updates: Choices,
    delete: Option<Arc<str>>,
    find: Option<Arc<str>>,
}

/// Requested part of an inserted row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing of it.
    Nothing,
    /// All columns, in the order of the leaves.
    Row,
}

/// A statement for one choice of leaves.
#[derive(Debug, Clone)]
pub struct Change {
    /// Its text.
    pub text: Arc<str>,
    /// The leaves of its first marks; those of the key follow, if the entity is found by it.
    pub leaves: Box<[LeafId]>,
    /// Source of the row as stored.
    pub row: StoredRow,
    wanted: Wanted,
}

/// Source of the row as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredRow {
    /// The statement returns it.
    Returned,
    /// It equals the entry: the database adds nothing to it, or the caller does not need it.
    Entry,
}

/// Choices of leaves with their statements.
#[derive(Debug, Clone, Default)]
struct Choices {
    made: Vec<Change>,
    /// The one to replace next, once there are too many.
    oldest: usize,
}

impl Texts {
    /// Creates an empty cache.
    pub fn new(dialect: Dialect) -> Texts {
        Texts { dialect, sets: Vec::new() }
    }

    /// The statement that inserts the leaves set in `entry`. It returns the row if that is wanted and the database
    /// provides values, or stores other ones than were sent, as PostgreSQL does when rounding.
    pub fn insert(&mut self, model: &Model, mapping: &Mapping, set: SetId, entry: &Entry, wanted: Wanted) -> &Change {
        let dialect = self.dialect;
        self.of(set).inserts.find_or_make(entry, wanted, |leaves| {
            let row = match (wanted, dialect) {
                (Wanted::Row, Dialect::Postgres) => StoredRow::Returned,
                (Wanted::Row, Dialect::Sqlite) if database_adds(model.type_of(set), entry) => StoredRow::Returned,
                (Wanted::Row | Wanted::Nothing, _) => StoredRow::Entry,
            };
            (insert_text(dialect, model, mapping, set, leaves, row), row)
        })
    }

    /// The statement that updates the leaves set in `entry`, where the key matches. At least one must be set.
    pub fn update(&mut self, model: &Model, mapping: &Mapping, set: SetId, entry: &Entry) -> &Change {
        let dialect = self.dialect;
        self.of(set).updates.find_or_make(entry, Wanted::Nothing, |leaves| {
            (update_text(dialect, model, mapping, set, leaves), StoredRow::Entry)
        })
    }

    /// The statement that deletes the row with the key.
    pub fn delete(&mut self, model: &Model, mapping: &Mapping, set: SetId) -> &Arc<str> {
        let dialect = self.dialect;
        self.of(set).delete.get_or_insert_with(|| by_key(dialect, "DELETE FROM ", "", model, mapping, set))
    }

    /// The statement that returns a row if the key matches, and locks it where others could change it meanwhile.
    pub fn find(&mut self, model: &Model, mapping: &Mapping, set: SetId) -> &Arc<str> {
        let dialect = self.dialect;
        let end = match dialect {
            // The transaction holds the lock of the whole database.
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE",
        };
        self.of(set).find.get_or_insert_with(|| by_key(dialect, "SELECT 1 FROM ", end, model, mapping, set))
    }

    fn of(&mut self, set: SetId) -> &mut OfSet {
        if self.sets.len() <= set.0 {
            self.sets.resize_with(set.0 + 1, OfSet::default);
        }
        &mut self.sets[set.0]
    }
}

impl Choices {
    fn find_or_make(
        &mut self,
        entry: &Entry,
        wanted: Wanted,
        make: impl FnOnce(&[LeafId]) -> (String, StoredRow),
    ) -> &Change {
        let fits = |change: &Change| change.wanted == wanted && set_leaves(entry).eq(change.leaves.iter().copied());
        let at = self.made.iter().position(fits).unwrap_or_else(|| {
            let leaves: Box<[LeafId]> = set_leaves(entry).collect();
            let (text, row) = make(&leaves);
            self.keep(Change { text: text.into(), leaves, row, wanted })
        });
        &self.made[at]
    }

    fn keep(&mut self, made: Change) -> usize {
        if self.made.len() < CHOICES_MAX {
            self.made.push(made);
            return self.made.len() - 1;
        }
        let at = self.oldest;
        self.oldest = (at + 1) % CHOICES_MAX;
        self.made[at] = made;
        at
    }
}

fn set_leaves(entry: &Entry) -> impl Iterator<Item = LeafId> {
    (0..entry.leaves()).map(LeafId).filter(|leaf| entry.is_set(*leaf))
}

/// Whether the database provides a value missing in the entry.
fn database_adds(entity_type: &EntityType, entry: &Entry) -> bool {
    entity_type.provided.iter().any(|(leaf, provided)| match provided {
        Provided::Database | Provided::Computed => !entry.is_set(*leaf),
        Provided::Default(_)
        | Provided::Uuid
        | Provided::CreatedAt
        | Provided::CreatedBy
        | Provided::ModifiedAt
        | Provided::ModifiedBy => false,
    })
}

fn insert_text(
    dialect: Dialect,
    model: &Model,
    mapping: &Mapping,
    set: SetId,
    leaves: &[LeafId],
    row: StoredRow,
) -> String {
    let table = mapping.table(set);
    let mut sql = Sql::new(dialect);
    sql.push("INSERT INTO ");
    sql.table(table);
    if leaves.is_empty() {
        sql.push(" DEFAULT VALUES");
    } else {
        sql.push(" (");
        sql.list(", ", leaves, |sql, leaf| sql.identifier(&table.columns[leaf.0].name));
        sql.push(") VALUES (");
        sql.list(", ", leaves, |sql, _| sql.mark());
        sql.push(")");
    }
    match row {
        StoredRow::Returned => {
            sql.push(" RETURNING ");
            let columns = model.type_of(set).leaves.iter().zip(&table.columns);
            sql.list(", ", columns, |sql, (leaf, column)| {
                sql.answered(Some(leaf.primitive), |sql| sql.identifier(&column.name));
            });
        }
        StoredRow::Entry => {}
    }
    sql.text
}

fn update_text(dialect: Dialect, model: &Model, mapping: &Mapping, set: SetId, leaves: &[LeafId]) -> String {
    let mut sql = Sql::new(dialect);
    sql.push("UPDATE ");
    sql.table(mapping.table(set));
    sql.push(" SET ");
    sql.list(", ", leaves, |sql, leaf| {
        sql.identifier(mapping.column(set, *leaf));
        sql.push(" = ");
        sql.mark();
    });
    key_matches(&mut sql, model, mapping, set);
    sql.text
}

fn by_key(dialect: Dialect, verb: &str, end: &str, model: &Model, mapping: &Mapping, set: SetId) -> Arc<str> {
    let mut sql = Sql::new(dialect);
    sql.push(verb);
    sql.table(mapping.table(set));
    key_matches(&mut sql, model, mapping, set);
    sql.push(end);
    sql.text.into()
}

fn key_matches(sql: &mut Sql<'_>, model: &Model, mapping: &Mapping, set: SetId) {
    sql.push(" WHERE ");
    let entity_type = model.type_of(set);
    sql.list(" AND ", &entity_type.key, |sql, leaf| {
        let class = Class::of(Some(entity_type.leaves[leaf.0].primitive));
        let Ok(()) = comparable::<Infallible>(sql, class, |sql| {
            sql.identifier(mapping.column(set, *leaf));
            Ok(())
        });
        sql.push(" = ");
        let Ok(()) = comparable::<Infallible>(sql, class, |sql| {
            sql.mark();
            Ok(())
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::records;

    const RECORDS: SetId = SetId(0);

    fn with(leaves: &[usize]) -> Entry {
        let mut entry = Entry::new(16);
        leaves.iter().for_each(|leaf| entry.set_null(LeafId(*leaf)));
        entry
    }

    #[test]
    fn a_text_names_the_leaves_that_are_set_and_is_built_once() {
        let model = records();
        let mapping = Mapping::by_type_name(&model);
        let mut texts = Texts::default();
        let first = texts.insert(&model, &mapping, RECORDS, &with(&[0, 5]), Wanted::Nothing).text.clone();
        assert_eq!(&*first, r#"INSERT INTO "TestRecords" ("ID", "stringField") VALUES (?, ?)"#);
        let again = texts.insert(&model, &mapping, RECORDS, &with(&[0, 5]), Wanted::Nothing);
        assert!(Arc::ptr_eq(&first, &again.text));
        let none = texts.insert(&model, &mapping, RECORDS, &with(&[]), Wanted::Nothing);
        assert_eq!(&*none.text, r#"INSERT INTO "TestRecords" DEFAULT VALUES"#);
        let update = texts.update(&model, &mapping, RECORDS, &with(&[7]));
        assert_eq!(&*update.text, r#"UPDATE "TestRecords" SET "booleanField" = ? WHERE "ID" = ?"#);
        assert_eq!(&**texts.delete(&model, &mapping, RECORDS), r#"DELETE FROM "TestRecords" WHERE "ID" = ?"#);
    }

    #[test]
    fn a_row_is_returned_where_it_is_wanted_and_the_database_adds_to_it() {
        let mut model = records();
        model.entity_types[0].provided = vec![(LeafId(0), Provided::Uuid)];
        let mapping = Mapping::by_type_name(&model);
        let row = |model: &Model, leaves: &[usize], wanted| {
            Texts::default().insert(model, &mapping, RECORDS, &with(leaves), wanted).row
        };
        assert_eq!(row(&model, &[5], Wanted::Row), StoredRow::Entry);
        model.entity_types[0].provided = vec![(LeafId(0), Provided::Database)];
        assert_eq!(row(&model, &[5], Wanted::Row), StoredRow::Returned);
        assert_eq!(row(&model, &[5], Wanted::Nothing), StoredRow::Entry);
        assert_eq!(row(&model, &[0, 5], Wanted::Row), StoredRow::Entry);
    }

    #[test]
    fn no_more_than_so_many_choices_are_kept() {
        let model = records();
        let mapping = Mapping::by_type_name(&model);
        let mut texts = Texts::default();
        for number in 0..3 * CHOICES_MAX {
            let leaves: Vec<usize> = (0..16).filter(|leaf| number >> leaf & 1 == 1).collect();
            texts.insert(&model, &mapping, RECORDS, &with(&leaves), Wanted::Nothing);
        }
        assert_eq!(texts.of(RECORDS).inserts.made.len(), CHOICES_MAX);
    }
}
