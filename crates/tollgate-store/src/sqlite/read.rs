//! Reading: a plan becomes statements, their rows go to the sink directly from SQLite's memory.
//!
//! A plan that needs several statements (total, expansions, whether a path exists) reads them from one snapshot.

use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Statement};
use tollgate_wire::edm::{LeafId, Model, SetId};
use tollgate_wire::plan::{Columns, Key, Plan, Select, Shape, SkipToken};
use tollgate_wire::value::Value;

use super::SqliteConnection;
use super::budget::Budget;
use super::form::{Converter, stored};
use super::row::{SqliteRow, plain};
use crate::sql::dialect::Dialect;
use crate::sql::page::{Page, Tokens};
use crate::sql::statement::{Source, Window};
use crate::sql::{Parameter, Sql};
use crate::{Flow, Outcome, RowSink, StoreError};

/// Most parameters of one statement in SQLite.
const PARAMETERS_MAX: usize = 32_766;

impl SqliteConnection {
    /// Reads the result of a plan. `page_size` limits the entities of a collection passed on at once; if more follow,
    /// [`Outcome::next`] is the place to continue.
    ///
    /// # Errors
    ///
    /// See [`StoreError`]. The sink may have received entities before an error.
    pub fn read<S: RowSink>(
        &self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        self.budget.begin();
        if let Some(key) = &plan.key
            && plan.steps.is_empty()
            && plan.options.select == Select::All
            && plan.options.expand.is_empty()
            && plan.options.casts.is_empty()
            && plan.options.compute.is_empty()
        {
            return self.read_by_key(model, plan.root, key, sink);
        }
        let source = Source { model, mapping: &self.mapping, dialect: Dialect::Sqlite };
        let counts = Source::counts(plan);
        // One statement is a snapshot by itself.
        let several = counts || !plan.options.expand.is_empty() || !plan.steps.is_empty();
        // Inside a transaction everything is.
        let _snapshot =
            (several && self.raw.is_autocommit()).then(|| Snapshot::begin(&self.raw, &self.budget)).transpose()?;
        let mut outcome = Outcome { found: true, ..Outcome::default() };
        let mut total = None;
        if counts {
            let count = self.count(source.count(plan)?)?;
            total = Some(count);
            if sink.total(count) == Flow::Stop {
                return Ok(outcome);
            }
        }
        if plan.shape != Shape::Count {
            self.read_page(&source, plan, page_size, sink, &mut outcome)?;
        }
        if outcome.rows == 0 && total.is_none_or(|total| total == 0) {
            outcome.found = self.path_exists(&source, plan)?;
        }
        Ok(outcome)
    }

    /// Reads an entity by key, without building any text: the statement for a set's key is built once.
    fn read_by_key<S: RowSink>(
        &self,
        model: &Model,
        set: SetId,
        key: &Key,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        let expected = model.type_of(set).key.len();
        if key.0.len() != expected {
            return Err(StoreError::Key { expected, found: key.0.len() });
        }
        let text = self.key_statement(model, set)?;
        let mut statement = self.raw.prepare_cached(&text)?;
        let mut made = Vec::new();
        for (index, (leaf, value)) in model.type_of(set).key.iter().zip(&key.0).enumerate() {
            bind(&mut statement, index + 1, stored(value.cell(), self.mapping.form(set, *leaf), &mut made))?;
        }
        let mut rows = statement.raw_query();
        let Some(row) = rows.next()? else { return Ok(Outcome::default()) };
        let all = (0..model.type_of(set).leaves.len()).map(LeafId);
        let mut converter = Converter::new(model, &self.mapping, set, all);
        let row = converted(row, &mut converter)?;
        // There is nothing to stop after one entity.
        let _ = sink.entity(&row);
        let _ = sink.entity_end(&row);
        Ok(Outcome { rows: 1, next: None, found: true })
    }

    fn key_statement(&self, model: &Model, set: SetId) -> Result<Arc<str>, StoreError> {
        let mut texts = self.key_statements.borrow_mut();
        if texts.len() < model.entity_sets.len() {
            texts.resize(model.entity_sets.len(), None);
        }
        if let Some(text) = &texts[set.0] {
            return Ok(Arc::clone(text));
        }
        let entity_type = model.type_of(set);
        let plan = Plan {
            root: set,
            key: Some(Key(vec![Value::Integer(0); entity_type.key.len()])),
            steps: Vec::new(),
            shape: Shape::Entity,
            options: Default::default(),
        };
        let columns = Columns::new(entity_type, &Select::All, &[]);
        let source = Source { model, mapping: &self.mapping, dialect: Dialect::Sqlite };
        let sql = source.page(&plan, &columns, Window { limit: None, offset: None })?;
        let text: Arc<str> = sql.text.into();
        texts[set.0] = Some(Arc::clone(&text));
        Ok(text)
    }

    fn count(&self, sql: Sql<'_>) -> Result<u64, StoreError> {
        let mut statement = self.prepared(&sql)?;
        let mut rows = statement.raw_query();
        let row = rows.next()?.expect("a count has a row");
        let count: i64 = row.get(0)?;
        Ok(u64::try_from(count).expect("a count is not negative"))
    }

    fn path_exists(&self, source: &Source<'_>, plan: &Plan) -> Result<bool, StoreError> {
        let Some(last) = plan.steps.last() else {
            // Without steps a collection is always there, and an entity was not.
            return Ok(plan.key.is_none());
        };
        if last.key.is_some() {
            return Ok(false);
        }
        let mut statement = self.prepared(&source.parent(plan)?)?;
        let exists = statement.raw_query().next()?.is_some();
        Ok(exists)
    }

    fn read_page<S: RowSink>(
        &self,
        source: &Source<'_>,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
        outcome: &mut Outcome,
    ) -> Result<(), StoreError> {
        let page = Page::new(source, plan, page_size);
        let set = plan.set();
        let columns = source.columns(plan);
        let tokens = Tokens::new(source, plan, &columns);
        let mut converter = Converter::new(source.model, source.mapping, set, columns.leaves.iter().copied());
        let sql = source.page(plan, &columns, page.window)?;
        let mut statement = self.prepared(&sql)?;
        let mut expansions = self.expansions(source, set, &plan.options.expand, &columns)?;
        let mut rows = statement.raw_query();
        let mut next = None;
        while let Some(row) = rows.next()? {
            if page.full(outcome.rows) {
                outcome.next = next;
                break;
            }
            let entity = converted(row, &mut converter)?;
            outcome.rows += 1;
            if sink.entity(&entity) == Flow::Stop {
                break;
            }
            for (index, expansion) in expansions.iter_mut().enumerate() {
                if expansion.read(index, &entity, sink)? == Flow::Stop {
                    return Ok(());
                }
            }
            if sink.entity_end(&entity) == Flow::Stop {
                let more = page.more_wanted(outcome.rows);
                outcome.next = more.then(|| token(&tokens, &entity, outcome.rows)).transpose()?;
                break;
            }
            if page.full(outcome.rows) {
                next = Some(token(&tokens, &entity, outcome.rows)?);
            }
        }
        Ok(())
    }

    /// Prepares the statement of that text and binds its parameters.
    pub(super) fn prepared(&self, sql: &Sql<'_>) -> Result<CachedStatement<'_>, StoreError> {
        if sql.parameters.len() > PARAMETERS_MAX {
            return Err(StoreError::TooLarge { message: format!("it has more than {PARAMETERS_MAX} values") });
        }
        let mut statement = self.raw.prepare_cached(&sql.text)?;
        let mut made = Vec::new();
        for (index, parameter) in sql.parameters.iter().enumerate() {
            let value = match parameter {
                Parameter::Value(value) => plain(value.cell()),
                Parameter::Key(value, form) => stored(value.cell(), *form, &mut made),
                Parameter::Count(count) => ValueRef::Integer(*count),
                // Bound for each parent.
                Parameter::Parent(_) => continue,
            };
            bind(&mut statement, index + 1, value)?;
        }
        Ok(statement)
    }
}

/// The current row of a statement, checked and made canonical where its columns need it.
#[inline] // for each row, in code that is made for the sink of another crate
pub(super) fn converted<'r, 's>(
    raw: &'r rusqlite::Row<'s>,
    converter: &'r mut Option<Converter<'_>>,
) -> Result<SqliteRow<'r, 's>, StoreError> {
    let Some(converter) = converter else { return Ok(SqliteRow { raw, converter: None }) };
    converter.convert(raw)?;
    Ok(SqliteRow { raw, converter: Some(converter) })
}

/// The token for the rows after this one, whose key was not checked before.
pub(super) fn token(tokens: &Tokens<'_>, row: &SqliteRow<'_, '_>, rows: u64) -> Result<SkipToken, StoreError> {
    if let Some(converter) = row.converter {
        converter.check_key(row, tokens.key_columns())?;
    }
    Ok(tokens.after(row, rows))
}

/// One read transaction for several statements. It ends when it is dropped; there is nothing to commit.
struct Snapshot<'c> {
    raw: &'c rusqlite::Connection,
    budget: &'c Budget,
}

impl<'c> Snapshot<'c> {
    fn begin(raw: &'c rusqlite::Connection, budget: &'c Budget) -> Result<Snapshot<'c>, StoreError> {
        raw.prepare_cached("BEGIN")?.raw_execute()?;
        Ok(Snapshot { raw, budget })
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        // However long the read took, this is not to be ended half-way.
        self.budget.lift();
        // It can only fail where SQLite has rolled back already.
        let _ = self.raw.prepare_cached("ROLLBACK").and_then(|mut statement| statement.raw_execute());
    }
}

pub(super) fn bind(statement: &mut Statement<'_>, position: usize, value: ValueRef<'_>) -> Result<(), StoreError> {
    Ok(statement.raw_bind_parameter(position, ToSqlOutput::Borrowed(value))?)
}
