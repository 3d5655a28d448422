//! Reading: a plan becomes statements, and their rows go to the sink as they come.
//!
//! Few rows come at once; many come in parts from a portal, so that memory stays flat and a sink that stops leaves the
//! rest with the server. A plan that needs several statements (total, expansions) reads them from one snapshot.

use postgres::types::ToSql;
use postgres::{Client, IsolationLevel, Portal, Row as Sent, Statement, Transaction as Snapshot};
use tollgate_wire::edm::{Model, SetId};
use tollgate_wire::plan::{Columns, Computed, Plan, Shape};

use super::bind::Bound;
use super::expand::{Expansion, PARENTS_AT_ONCE, Parents};
use super::failure::{Failure, Purpose};
use super::row::{Kind, Reader};
use super::session::Statements;
use super::write::references;
use super::{PostgresConnection, Transaction};
use crate::sql::dialect::Dialect;
use crate::sql::page::{Page, Tokens};
use crate::sql::statement::Source;
use crate::sql::{Parameter, Sql};
use crate::{Flow, Outcome, RowSink, StoreError};

/// Rows fetched at once: a page up to this size is one round trip, a larger one a few with a portal.
const ROWS_AT_ONCE: i32 = 1_000;

/// Most parameters of a statement.
const PARAMETERS_MAX: usize = 32_766;

/// Reason why a read ended early.
pub(super) enum Stopped {
    Refused(StoreError),
    Failed(Failure),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Stopped {
        Stopped::Refused(error)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Stopped {
        Stopped::Failed(failure)
    }
}

impl From<postgres::Error> for Stopped {
    fn from(error: postgres::Error) -> Stopped {
        Stopped::Failed(error.into())
    }
}

/// Whether a sink has received anything: then a read cannot be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handed {
    Nothing,
    Something,
}

impl PostgresConnection {
    /// Reads the result of a plan, as in [`Store::read`](crate::Store::read).
    pub(super) fn read<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
    ) -> Result<Outcome, StoreError> {
        let mut repeated = false;
        loop {
            let mut handed = Handed::Nothing;
            match self.read_once(model, plan, page_size, sink, &mut handed) {
                Ok(outcome) => return Ok(outcome),
                Err(Stopped::Refused(error)) => return Err(error),
                Err(Stopped::Failed(failure)) => {
                    let again = !repeated
                        && handed == Handed::Nothing
                        && self.transaction == Transaction::None
                        && failure.is_worth_another_read();
                    let failure = self.noted(failure);
                    if !again {
                        return Err(failure.told(Purpose::Reading));
                    }
                    repeated = true;
                    if let Some(session) = &mut self.session {
                        session.parts().1.forget();
                    }
                }
            }
        }
    }

    fn read_once<S: RowSink>(
        &mut self,
        model: &Model,
        plan: &Plan,
        page_size: Option<u64>,
        sink: &mut S,
        handed: &mut Handed,
    ) -> Result<Outcome, Stopped> {
        self.flush_open()?;
        let PostgresConnection { session, mapping, reader, transaction, .. } = self;
        let source = Source { model, mapping, dialect: Dialect::Postgres };
        let page = Page::new(&source, plan, page_size);
        let few = plan.shape != Shape::Collection
            || page.window.limit.is_some_and(|limit| limit <= ROWS_AT_ONCE.unsigned_abs().into());
        let several = Source::counts(plan) && plan.shape != Shape::Count || !plan.options.expand.is_empty();
        let (client, statements) = session.as_mut().expect("it was opened before").parts();
        let mut reading = Reading { source, plan, page, sink, reader, handed };
        if *transaction != Transaction::None || (few && !several) {
            return reading.run(&mut Whole { client, statements });
        }
        let snapshot = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
        let mut parts = Parts { snapshot: snapshot.start()?, statements };
        let outcome = reading.run(&mut parts)?;
        // There is nothing to make last, but the server is told that it is over.
        parts.snapshot.rollback()?;
        Ok(outcome)
    }
}

/// Source of rows: all at once, or in parts.
pub(super) trait Reach {
    /// Handle for the rows of a statement that are still to come.
    type Cursor;

    fn statement(&mut self, text: &str) -> Result<Statement, Failure>;

    /// All rows of a statement that has few.
    fn few(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Sent>, Failure>;

    fn open(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Self::Cursor, Failure>;

    /// The next rows, at most so many; fewer only where there are no more.
    fn fetch(&mut self, cursor: &mut Self::Cursor, rows_max: i32) -> Result<Vec<Sent>, Failure>;
}

/// On the connection itself, in a writing transaction or in none.
struct Whole<'c> {
    client: &'c mut Client,
    statements: &'c mut Statements,
}

/// In a transaction of its own, with one snapshot of the database.
struct Parts<'c> {
    snapshot: Snapshot<'c>,
    statements: &'c mut Statements,
}

impl Reach for Whole<'_> {
    type Cursor = std::vec::IntoIter<Sent>;

    fn statement(&mut self, text: &str) -> Result<Statement, Failure> {
        self.statements.prepared(self.client, text)
    }

    fn few(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Sent>, Failure> {
        Ok(self.client.query(statement, values)?)
    }

    fn open(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Self::Cursor, Failure> {
        Ok(self.client.query(statement, values)?.into_iter())
    }

    fn fetch(&mut self, cursor: &mut Self::Cursor, rows_max: i32) -> Result<Vec<Sent>, Failure> {
        Ok(cursor.by_ref().take(rows_max.unsigned_abs() as usize).collect())
    }
}

impl Reach for Parts<'_> {
    type Cursor = Portal;

    fn statement(&mut self, text: &str) -> Result<Statement, Failure> {
        self.statements.prepared(&mut self.snapshot, text)
    }

    fn few(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Sent>, Failure> {
        Ok(self.snapshot.query(statement, values)?)
    }

    fn open(&mut self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Portal, Failure> {
        Ok(self.snapshot.bind(statement, values)?)
    }

    fn fetch(&mut self, portal: &mut Portal, rows_max: i32) -> Result<Vec<Sent>, Failure> {
        Ok(self.snapshot.query_portal(portal, rows_max)?)
    }
}

/// One read under way.
struct Reading<'r, S> {
    source: Source<'r>,
    plan: &'r Plan,
    page: Page,
    sink: &'r mut S,
    reader: &'r mut Reader,
    handed: &'r mut Handed,
}

impl<S: RowSink> Reading<'_, S> {
    fn run<R: Reach>(&mut self, reach: &mut R) -> Result<Outcome, Stopped> {
        let mut outcome = Outcome { found: true, ..Outcome::default() };
        let mut total = None;
        if Source::counts(self.plan) {
            let count = count(reach, &self.source.count(self.plan)?)?;
            total = Some(count);
            *self.handed = Handed::Something;
            if self.sink.total(count) == Flow::Stop {
                return Ok(outcome);
            }
        }
        if self.plan.shape != Shape::Count {
            self.rows(reach, &mut outcome)?;
        }
        if outcome.rows == 0 && total.is_none_or(|total| total == 0) {
            outcome.found = self.path_exists(reach)?;
        }
        Ok(outcome)
    }

    fn path_exists<R: Reach>(&self, reach: &mut R) -> Result<bool, Stopped> {
        let Some(last) = self.plan.steps.last() else {
            // Without steps a collection is always there, and an entity was not.
            return Ok(self.plan.key.is_none());
        };
        if last.key.is_some() {
            return Ok(false);
        }
        let sql = self.source.parent(self.plan)?;
        let statement = reach.statement(&sql.text)?;
        Ok(!reach.few(&statement, &references(&bound(&sql, &[])?))?.is_empty())
    }

    fn rows<R: Reach>(&mut self, reach: &mut R, outcome: &mut Outcome) -> Result<(), Stopped> {
        let plan = self.plan;
        let entity_type = self.source.model.type_of(plan.set());
        let columns = self.source.columns(plan);
        let tokens = Tokens::new(&self.source, plan, &columns);
        let sql = self.source.page(plan, &columns, self.page.window)?;
        let mut kinds: Vec<_> = columns.leaves.iter().map(|leaf| Kind::of_leaf(entity_type, *leaf)).collect();
        kinds.extend(Computed::shown(&plan.options.compute).map(|computed| Kind::of(Some(computed.primitive))));
        if let Some(applied) = &plan.options.apply {
            let answered = applied.shown.iter().chain(applied.parts.as_ref().map(|parts| &parts.column));
            kinds.extend(answered.map(|index| Kind::of(Some(applied.columns[*index].primitive))));
        } else if plan.shape == Shape::Collection {
            kinds.extend(plan.options.order_by.iter().map(|by| Kind::of_order(by.expression.primitive)));
        }
        let mut expansions = Expansion::<R>::all(&self.source, plan.set(), &plan.options.expand, &columns)?;
        let at_once = if expansions.is_empty() { ROWS_AT_ONCE } else { PARENTS_AT_ONCE };
        let statement = reach.statement(&sql.text)?;
        let values = bound(&sql, &[])?;
        let mut cursor = reach.open(&statement, &references(&values))?;
        let mut next = None;
        loop {
            let sent = reach.fetch(&mut cursor, at_once)?;
            for expansion in &mut expansions {
                let parents = Parents { source: &self.source, set: plan.set(), columns: &columns, kinds: &kinds };
                expansion.of_parents(reach, self.reader, &parents, sent.iter())?;
            }
            for (index, sent_row) in sent.iter().enumerate() {
                let row = match self.reader.read(sent_row, &kinds) {
                    Ok(row) => row,
                    Err(failure) => return Err(located(failure, &self.source, plan.set(), &columns, sent_row).into()),
                };
                if self.page.full(outcome.rows) {
                    outcome.next = next;
                    return Ok(());
                }
                outcome.rows += 1;
                *self.handed = Handed::Something;
                if self.sink.entity(&row) == Flow::Stop {
                    return Ok(());
                }
                for (position, expansion) in expansions.iter_mut().enumerate() {
                    if expansion.hand_out(reach, &self.source, (position, index), &row, self.sink)? == Flow::Stop {
                        return Ok(());
                    }
                }
                if self.sink.entity_end(&row) == Flow::Stop {
                    outcome.next = self.page.more_wanted(outcome.rows).then(|| tokens.after(&row, outcome.rows));
                    return Ok(());
                }
                if self.page.full(outcome.rows) {
                    next = Some(tokens.after(&row, outcome.rows));
                }
            }
            if sent.len() < at_once.unsigned_abs() as usize {
                return Ok(());
            }
        }
    }
}

/// Adds column and row to a failure of reading a row.
pub(super) fn located(failure: Failure, source: &Source<'_>, set: SetId, columns: &Columns, sent: &Sent) -> Failure {
    let Failure::Unreadable { position, message } = failure else { return failure };
    let entity_type = source.model.type_of(set);
    let table = &source.mapping.table(set).name;
    let place = match columns.leaves.get(position) {
        Some(leaf) => format!("{table}.{}", source.mapping.column(set, *leaf)),
        None => format!("an order of {table}"),
    };
    let mut reader = Reader::default();
    let key = entity_type.key.iter().filter_map(|leaf| {
        let value = reader.shown(sent, columns.of(*leaf)?, Kind::of_leaf(entity_type, *leaf));
        Some(format!("{}={value}", source.mapping.column(set, *leaf)))
    });
    let key = key.collect::<Vec<_>>().join(", ");
    Failure::Stored { place, message: format!("{message} (in the row {key})") }
}

fn count<R: Reach>(reach: &mut R, sql: &Sql<'_>) -> Result<u64, Stopped> {
    let statement = reach.statement(&sql.text)?;
    let rows = reach.few(&statement, &references(&bound(sql, &[])?))?;
    let count: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Values for the marks of a statement; `lists` are the values of the parents.
pub(super) fn bound<'p>(sql: &Sql<'p>, lists: &'p [String]) -> Result<Vec<Bound<'p>>, StoreError> {
    if sql.parameters.len() > PARAMETERS_MAX {
        return Err(StoreError::TooLarge { message: format!("it has more than {PARAMETERS_MAX} values") });
    }
    let bound = |parameter: &Parameter<'p>| match parameter {
        Parameter::Value(value) | Parameter::Key(value, _) => Bound::of(value),
        Parameter::Count(count) => Bound::Integer(*count),
        Parameter::Parent(position) => Bound::List(&lists[*position]),
    };
    Ok(sql.parameters.iter().map(bound).collect())
}
