//! The statements of a batch: text made of names of the catalogue and parameter marks, and the value for each mark.
//!
//! It runs nothing. No value ever becomes part of a text.

use super::names::{DependencyTable, Ledger, LedgerKind, TableName, Tables};
use crate::store::sql::Sql;
use crate::store::sql::dialect::Dialect;

/// Most rows of one dependency for one key; a document with more is set aside.
pub(super) const ROWS_MAX: usize = 10_000;

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) text: String,
    /// Values for its marks, in order.
    pub(super) slots: Vec<Slot>,
}

/// Kind of value for a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Key,
    Waiting,
    Done,
    Failed,
    Source,
    Error,
    Result,
    ComputeUs,
    DatabaseUs,
    WaitingUs,
}

/// All statements of a batch.
#[derive(Debug)]
pub(super) struct Statements {
    /// The next document's key and, if the documents' own table contains the states, the document. PostgreSQL locks its
    /// row.
    pub(super) claim: Statement,
    /// The same for keys after a given one, where no row can be locked.
    pub(super) claim_behind: Statement,
    /// The document of a key.
    pub(super) document: Statement,
    /// The rows of each dependency.
    pub(super) dependencies: Vec<Statement>,
    pub(super) store: Statement,
    /// Marks a waiting document as done.
    pub(super) mark: Statement,
    /// Marks a waiting document as failed.
    pub(super) set_aside: Statement,
    /// State of a document.
    pub(super) state: Statement,
    /// Number of waiting documents.
    pub(super) count: Statement,
}

impl Statements {
    pub(super) fn new(tables: &Tables, dialect: Dialect) -> Statements {
        let ledger = &tables.ledger;
        Statements {
            claim: claim(tables, dialect, Behind::Nothing),
            claim_behind: claim(tables, dialect, Behind::Key),
            document: made(dialect, |sql, slots| {
                sql.push("SELECT ");
                text_of(sql, &tables.document);
                sql.push(" FROM ");
                place(sql, &tables.source);
                sql.push(" WHERE ");
                equals(sql, slots, &tables.key, Slot::Key);
            }),
            dependencies: tables.dependencies.iter().map(|dependency| rows(dependency, dialect)).collect(),
            store: store(tables, dialect),
            mark: made(dialect, |sql, slots| {
                sql.push("UPDATE ");
                place(sql, &ledger.place);
                sql.push(" SET ");
                equals(sql, slots, &ledger.state, Slot::Done);
                if let Some(error) = &ledger.error {
                    sql.push(", ");
                    sql.identifier(error);
                    sql.push(" = NULL");
                }
                waiting_document(sql, slots, ledger);
            }),
            set_aside: made(dialect, |sql, slots| {
                sql.push("UPDATE ");
                place(sql, &ledger.place);
                sql.push(" SET ");
                equals(sql, slots, &ledger.state, Slot::Failed);
                if let Some(error) = &ledger.error {
                    sql.push(", ");
                    equals(sql, slots, error, Slot::Error);
                }
                waiting_document(sql, slots, ledger);
            }),
            state: made(dialect, |sql, slots| {
                sql.push("SELECT ");
                text_of(sql, &ledger.state);
                sql.push(" FROM ");
                place(sql, &ledger.place);
                sql.push(" WHERE ");
                equals(sql, slots, &ledger.key, Slot::Key);
                of_source(sql, slots, ledger);
            }),
            count: made(dialect, |sql, slots| {
                sql.push("SELECT count(*) FROM ");
                place(sql, &ledger.place);
                sql.push(" WHERE ");
                is_waiting(sql, slots, ledger);
                of_source(sql, slots, ledger);
            }),
        }
    }
}

/// Creates the table of claims if it is missing, and adds every document to it.
pub(super) fn fill_claims(tables: &Tables, dialect: Dialect) -> Option<(String, Statement)> {
    let LedgerKind::Beside(_) = &tables.ledger.kind else { return None };
    let ledger = &tables.ledger;
    let table = made(dialect, |sql, _| {
        sql.push("CREATE TABLE IF NOT EXISTS ");
        name(sql, &ledger.place);
        // SQLite keeps a key as it is where the column has no type.
        sql.push(match dialect {
            Dialect::Sqlite => " (source TEXT NOT NULL, \"key\" NOT NULL, state TEXT NOT NULL, error TEXT",
            Dialect::Postgres => " (source text NOT NULL, \"key\" text NOT NULL, state text NOT NULL, error text",
        });
        sql.push(", PRIMARY KEY (source, \"key\"))");
    });
    let fill = made(dialect, |sql, slots| {
        sql.push("INSERT INTO ");
        name(sql, &ledger.place);
        sql.push(" (source, \"key\", state) SELECT ");
        // What is only selected has no type of its own.
        let marked = |sql: &mut Sql<'_>, slots: &mut Vec<Slot>, slot| {
            sql.push("CAST(");
            mark(sql, slots, slot);
            sql.push(" AS text)");
        };
        marked(sql, slots, Slot::Source);
        sql.push(", ");
        text_of(sql, &tables.key);
        sql.push(", ");
        marked(sql, slots, Slot::Waiting);
        sql.push(" FROM ");
        place(sql, &tables.source);
        // SQLite takes ON for a join's without a condition before it.
        sql.push(" WHERE true ON CONFLICT DO NOTHING");
    });
    Some((table.text, fill))
}

/// Counts the documents whose keys are not unique, or cannot be claimed in order: a column of SQLite may contain
/// anything, and a primary key nulls.
pub(super) fn unusable_keys(tables: &Tables, dialect: Dialect) -> Option<Statement> {
    let counts = |sql: &mut Sql<'static>, slots: &mut Vec<Slot>| {
        sql.push("SELECT count(*) FROM ");
        place(sql, &tables.source);
        sql.push(" WHERE typeof(");
        sql.column("d", &tables.key);
        sql.push(") NOT IN ('text', 'integer')");
        if tables.ledger.kind == LedgerKind::Source {
            sql.push(" AND ");
            is_waiting(sql, slots, &tables.ledger);
        }
    };
    (dialect == Dialect::Sqlite).then(|| made(dialect, counts))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Nothing,
    Key,
}

fn claim(tables: &Tables, dialect: Dialect, behind: Behind) -> Statement {
    let ledger = &tables.ledger;
    made(dialect, |sql, slots| {
        sql.push("SELECT ");
        text_of(sql, &ledger.key);
        if ledger.kind == LedgerKind::Source {
            sql.push(", ");
            text_of(sql, &tables.document);
        }
        sql.push(" FROM ");
        place(sql, &ledger.place);
        sql.push(" WHERE ");
        is_waiting(sql, slots, ledger);
        of_source(sql, slots, ledger);
        if behind == Behind::Key {
            sql.push(" AND d.");
            sql.identifier(&ledger.key);
            sql.push(" > ");
            mark(sql, slots, Slot::Key);
        }
        sql.push(" ORDER BY d.");
        sql.identifier(&ledger.key);
        sql.push(" LIMIT 1");
        if dialect == Dialect::Postgres {
            sql.push(" FOR UPDATE SKIP LOCKED");
        }
    })
}

fn rows(dependency: &DependencyTable, dialect: Dialect) -> Statement {
    made(dialect, |sql, slots| {
        sql.push("SELECT ");
        sql.list(", ", &dependency.columns, |sql, column| text_of(sql, column));
        sql.push(" FROM ");
        place(sql, &dependency.place);
        sql.push(" WHERE ");
        equals(sql, slots, &dependency.key, Slot::Key);
        // The same rows make the same document.
        sql.push(" ORDER BY ");
        sql.list(", ", &dependency.columns, |sql, column| sql.column("d", column));
        sql.push(&format!(" LIMIT {}", ROWS_MAX + 1));
    })
}

fn store(tables: &Tables, dialect: Dialect) -> Statement {
    let target = &tables.target;
    let mut columns = vec![(&target.key, Slot::Key), (&target.result, Slot::Result)];
    columns.extend(target.compute_us.as_ref().map(|column| (column, Slot::ComputeUs)));
    columns.extend(target.database_us.as_ref().map(|column| (column, Slot::DatabaseUs)));
    columns.extend(target.waiting_us.as_ref().map(|column| (column, Slot::WaitingUs)));
    made(dialect, |sql, slots| {
        sql.push("INSERT INTO ");
        name(sql, &target.place);
        sql.push(" (");
        sql.list(", ", &columns, |sql, (column, _)| sql.identifier(column));
        sql.push(") VALUES (");
        sql.list(", ", &columns, |sql, (_, slot)| mark(sql, slots, *slot));
        sql.push(")");
    })
}

fn made(dialect: Dialect, write: impl FnOnce(&mut Sql<'static>, &mut Vec<Slot>)) -> Statement {
    let (mut sql, mut slots) = (Sql::new(dialect), Vec::new());
    write(&mut sql, &mut slots);
    Statement { text: sql.text, slots }
}

fn mark(sql: &mut Sql<'_>, slots: &mut Vec<Slot>, slot: Slot) {
    sql.mark();
    slots.push(slot);
}

/// Adds a table under the name `d`, without which it would be ordered by the column's text.
fn place(sql: &mut Sql<'_>, place: &TableName) {
    name(sql, place);
    sql.push(" AS d");
}

fn name(sql: &mut Sql<'_>, place: &TableName) {
    if let Some(schema) = &place.schema {
        sql.identifier(schema);
        sql.push(".");
    }
    sql.identifier(&place.name);
}

fn equals(sql: &mut Sql<'_>, slots: &mut Vec<Slot>, column: &str, slot: Slot) {
    sql.identifier(column);
    sql.push(" = ");
    mark(sql, slots, slot);
}

/// Adds a column unchanged in SQLite, and as a text in PostgreSQL, which can convert any type.
fn text_of(sql: &mut Sql<'_>, column: &str) {
    match sql.dialect {
        Dialect::Sqlite => sql.column("d", column),
        Dialect::Postgres => {
            sql.push("CAST(");
            sql.column("d", column);
            sql.push(" AS text)");
        }
    }
}

fn is_waiting(sql: &mut Sql<'_>, slots: &mut Vec<Slot>, ledger: &Ledger) {
    match &ledger.waiting {
        Some(_) => equals(sql, slots, &ledger.state, Slot::Waiting),
        None => {
            sql.identifier(&ledger.state);
            sql.push(" IS NULL");
        }
    }
}

fn of_source(sql: &mut Sql<'_>, slots: &mut Vec<Slot>, ledger: &Ledger) {
    if let LedgerKind::Beside(_) = &ledger.kind {
        sql.push(" AND ");
        equals(sql, slots, "source", Slot::Source);
    }
}

fn waiting_document(sql: &mut Sql<'_>, slots: &mut Vec<Slot>, ledger: &Ledger) {
    sql.push(" WHERE ");
    equals(sql, slots, &ledger.key, Slot::Key);
    sql.push(" AND ");
    is_waiting(sql, slots, ledger);
    of_source(sql, slots, ledger);
}

#[cfg(test)]
mod tests {
    use super::super::names::ResultTable;
    use super::*;

    fn tables(kind: LedgerKind) -> Tables {
        let place = |name: &str| TableName { schema: None, name: name.to_owned() };
        Tables {
            source: TableName { schema: Some("s".to_owned()), name: "order\"s".to_owned() },
            key: "No".to_owned(),
            document: "body".to_owned(),
            ledger: Ledger {
                place: if kind == LedgerKind::Source { place("order\"s") } else { place("tollgate_claim") },
                key: if kind == LedgerKind::Source { "No".to_owned() } else { "key".to_owned() },
                state: "state".to_owned(),
                error: Some("error".to_owned()),
                error_characters_max: 100,
                waiting: (kind != LedgerKind::Source).then(|| "waiting".to_owned()),
                done: "done".to_owned(),
                failed: "failed".to_owned(),
                kind,
            },
            dependencies: vec![DependencyTable {
                place: place("parts"),
                key: "name".to_owned(),
                columns: vec!["a".to_owned(), "b".to_owned()],
            }],
            target: ResultTable {
                place: place("results"),
                key: "No".to_owned(),
                result: "text".to_owned(),
                compute_us: None,
                database_us: None,
                waiting_us: Some("waited".to_owned()),
            },
        }
    }

    #[test]
    fn names_are_quoted_and_values_are_marks() {
        let statements = Statements::new(&tables(LedgerKind::Source), Dialect::Postgres);
        let check = |statement: &Statement, text: &str, slots: &[Slot]| {
            assert_eq!((statement.text.as_str(), &*statement.slots), (text, slots));
        };
        check(
            &statements.claim,
            "SELECT CAST(d.\"No\" AS text), CAST(d.\"body\" AS text) FROM \"order\"\"s\" AS d WHERE \"state\" IS NULL \
             ORDER BY d.\"No\" LIMIT 1 FOR UPDATE SKIP LOCKED",
            &[],
        );
        check(
            &statements.dependencies[0],
            "SELECT CAST(d.\"a\" AS text), CAST(d.\"b\" AS text) FROM \"parts\" AS d WHERE \"name\" = $1 \
             ORDER BY d.\"a\", d.\"b\" LIMIT 10001",
            &[Slot::Key],
        );
        check(
            &statements.store,
            "INSERT INTO \"results\" (\"No\", \"text\", \"waited\") VALUES ($1, $2, $3)",
            &[Slot::Key, Slot::Result, Slot::WaitingUs],
        );
        check(
            &statements.mark,
            "UPDATE \"order\"\"s\" AS d SET \"state\" = $1, \"error\" = NULL WHERE \"No\" = $2 AND \"state\" IS NULL",
            &[Slot::Done, Slot::Key],
        );
    }

    #[test]
    fn a_table_of_claims_tells_sources_apart() {
        let tables = tables(LedgerKind::Beside("s.order\"s".to_owned()));
        let statements = Statements::new(&tables, Dialect::Sqlite);
        let expected = "SELECT d.\"key\" FROM \"tollgate_claim\" AS d WHERE \"state\" = ? AND \"source\" = ? \
                        AND d.\"key\" > ? ORDER BY d.\"key\" LIMIT 1";
        assert_eq!(statements.claim_behind.text, expected);
        assert_eq!(statements.claim_behind.slots, [Slot::Waiting, Slot::Source, Slot::Key]);
        assert_eq!(statements.set_aside.slots, [Slot::Failed, Slot::Error, Slot::Key, Slot::Waiting, Slot::Source]);
    }
}
