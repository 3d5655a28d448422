//! The statements that answer a plan: a page of entities, their number, the existence of a path, and the entities of
//! one expansion.
//!
//! In all of them the answered entity's table is `t`; the entities on the way to it are `p0`, `p1` and so on.

use tollgate_wire::edm::{EntityType, LeafId, Model, SetId};
use tollgate_wire::plan::{Columns, Counting, Expand, Key, Plan, Shape, Step};

use super::class::Class;
use super::dialect::Dialect;
use super::expression::{Scope, Variables, comparable, condition};
use super::navigation::{ambiguous, related};
use super::{Parameter, Sql, order};
use crate::{Identity, Mapping, StoreError};

/// The alias of the answered entity's table.
pub(super) const ANSWER: &str = "t";

/// Source of statements.
#[derive(Clone, Copy)]
pub struct Source<'m> {
    /// The model of the plan.
    pub model: &'m Model,
    /// Its mapping to tables.
    pub mapping: &'m Mapping,
    /// Dialect of the statements.
    pub dialect: Dialect,
}

/// Requested rows of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Most rows.
    pub limit: Option<u64>,
    /// Number of skipped rows.
    pub offset: Option<u64>,
}

impl Source<'_> {
    /// The statement for the entities of a plan with these columns, followed by the values of the order's keys.
    ///
    /// # Errors
    ///
    /// The plan's expressions, keys or skip token are refused.
    pub fn page<'p>(&self, plan: &'p Plan, columns: &Columns, window: Window) -> Result<Sql<'p>, StoreError> {
        if let Some(applied) = &plan.options.apply {
            return self.applied_page(plan, applied, window);
        }
        let mut sql = Sql::new(self.dialect);
        let scope = self.scope(plan.set());
        self.select(&mut sql, plan.set(), columns);
        let options = &plan.options;
        order::computed_columns(&mut sql, &scope, &options.compute)?;
        if plan.shape == Shape::Collection {
            order::order_columns(&mut sql, &scope, &options.order_by)?;
        }
        let mut conditions = Conditions::default();
        self.from(&mut sql, plan.root, &plan.steps, plan.set());
        self.path_conditions(&mut sql, &mut conditions, plan, &plan.steps)?;
        match plan.shape {
            Shape::Collection => {
                if let Some(filter) = &options.filter {
                    conditions.next(&mut sql);
                    condition(&mut sql, &scope, filter)?;
                }
                if let Some(token) = &options.skip_token
                    && scope.mapping.table(plan.set()).identity == Identity::Key
                {
                    conditions.next(&mut sql);
                    // A database evaluates conditions in any order, and keys of an order may have no value for rows that
                    // the filter keeps out.
                    let guard = options.filter.as_ref().filter(|_| order::is_computed(&options.order_by));
                    if let Some(filter) = guard {
                        sql.push("CASE WHEN ");
                        condition(&mut sql, &scope, filter)?;
                        sql.push(" THEN ");
                    }
                    order::after(&mut sql, &scope, &options.order_by, token)?;
                    sql.push(if guard.is_some() { " ELSE false END" } else { "" });
                }
                order::order_by(&mut sql, &scope, &options.order_by)?;
                self.window(&mut sql, window);
            }
            // The path has narrowed it to one.
            Shape::Entity | Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) | Shape::Stream | Shape::Count => {
            }
        }
        Ok(sql)
    }

    /// The statement for the number of entities that match: beside a page all of them, by itself those left by `$skip`
    /// and `$top` (OData V2, "Entity Set Count"; V4 allows neither here).
    ///
    /// # Errors
    ///
    /// As [`Source::page`].
    pub fn count<'p>(&self, plan: &'p Plan) -> Result<Sql<'p>, StoreError> {
        if let Some(applied) = &plan.options.apply {
            return self.applied_count(plan, applied);
        }
        let mut sql = Sql::new(self.dialect);
        let window = match plan.shape {
            Shape::Count => Window { limit: plan.options.top, offset: plan.options.skip },
            Shape::Collection
            | Shape::Entity
            | Shape::Property(_)
            | Shape::Leaf(_)
            | Shape::RawValue(_)
            | Shape::Stream => Window { limit: None, offset: None },
        };
        let (least, greatest) = match self.dialect {
            Dialect::Sqlite => ("SELECT min(", "max(COUNT(*) - "),
            Dialect::Postgres => ("SELECT least(", "greatest(COUNT(*) - "),
        };
        sql.push(if window.limit.is_some() { least } else { "SELECT " });
        sql.push(if window.offset.is_some() { greatest } else { "COUNT(*)" });
        if let Some(offset) = window.offset {
            sql.parameter(bounded(offset));
            sql.push(", 0)");
        }
        if let Some(limit) = window.limit {
            sql.push(", ");
            sql.parameter(bounded(limit));
            sql.push(")");
        }
        let mut conditions = Conditions::default();
        self.from(&mut sql, plan.root, &plan.steps, plan.set());
        self.path_conditions(&mut sql, &mut conditions, plan, &plan.steps)?;
        if let Some(filter) = &plan.options.filter {
            conditions.next(&mut sql);
            condition(&mut sql, &self.scope(plan.set()), filter)?;
        }
        Ok(sql)
    }

    /// The statement that returns a row if the entity exists from which the last step of the path starts.
    ///
    /// # Errors
    ///
    /// [`StoreError::Key`].
    pub fn parent<'p>(&self, plan: &'p Plan) -> Result<Sql<'p>, StoreError> {
        let steps = plan.steps.split_last().map_or(&[][..], |(_, before)| before);
        let mut sql = Sql::new(self.dialect);
        sql.push("SELECT 1");
        let set = steps.last().map_or(plan.root, |step| step.target);
        self.from(&mut sql, plan.root, steps, set);
        self.path_conditions(&mut sql, &mut Conditions::default(), plan, steps)?;
        sql.push(" LIMIT 1");
        Ok(sql)
    }

    /// The leaves of the parent whose values are parameters of an expansion's statement.
    pub fn joined_leaves(&self, set: SetId, expand: &Expand) -> impl Iterator<Item = LeafId> {
        self.model.type_of(set).navigation[expand.navigation.0].on.iter().map(|(here, _)| *here)
    }

    /// Number of rows of the order before a page, beside those excluded by its skip token's values.
    pub fn offset(&self, plan: &Plan) -> Option<u64> {
        let skip = plan.options.skip.unwrap_or(0);
        let offset = match (&plan.options.skip_token, self.identity(plan)) {
            (None, _) => skip,
            // What was skipped lies before the token.
            (Some(_), Identity::Key) => 0,
            (Some(token), Identity::Nothing) => skip.saturating_add(token.answered),
        };
        (offset > 0).then_some(offset)
    }

    /// Identity of a plan's rows: those that `$apply` has made are counted.
    pub fn identity(&self, plan: &Plan) -> Identity {
        match plan.options.apply {
            Some(_) => Identity::Nothing,
            None => self.mapping.table(plan.set()).identity,
        }
    }

    /// The columns that a plan reads of each entity; empty if its rows are no longer entities.
    pub fn columns(&self, plan: &Plan) -> Columns {
        match plan.options.apply {
            Some(_) => Columns { leaves: Vec::new(), shown: 0 },
            None => Columns::new(self.model.type_of(plan.set()), &plan.options.select, &plan.options.expand),
        }
    }

    /// Whether a plan needs the total.
    pub fn counts(plan: &Plan) -> bool {
        match (plan.shape, plan.options.count) {
            (Shape::Count, _) | (Shape::Collection, Counting::Total) => true,
            (Shape::Collection, Counting::Without)
            | (Shape::Entity | Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) | Shape::Stream, _) => false,
        }
    }

    pub(super) fn scope(&self, set: SetId) -> Scope<'_> {
        Scope {
            model: self.model,
            mapping: self.mapping,
            set,
            alias: ANSWER,
            variables: Variables::default(),
            joins: None,
        }
    }

    pub(super) fn select(&self, sql: &mut Sql<'_>, set: SetId, columns: &Columns) {
        sql.push("SELECT ");
        sql.list(", ", &columns.leaves, |sql, leaf| self.answered(sql, set, *leaf));
    }

    /// Appends a column in the form for reading.
    pub(super) fn answered(&self, sql: &mut Sql<'_>, set: SetId, leaf: LeafId) {
        let primitive = self.model.type_of(set).leaves[leaf.0].primitive;
        sql.answered(Some(primitive), |sql| sql.column(ANSWER, self.mapping.column(set, leaf)));
    }

    /// Appends ` FROM …` with a join for each step; the last entity is [`ANSWER`].
    pub(super) fn from(&self, sql: &mut Sql<'_>, root: SetId, steps: &[Step], last: SetId) {
        sql.push(" FROM ");
        sql.table_as(self.mapping.table(last), ANSWER);
        let mut target = last;
        for (index, step) in steps.iter().enumerate().rev() {
            let from = if index == 0 { root } else { steps[index - 1].target };
            let navigation = &self.model.type_of(from).navigation[step.navigation.0];
            let here = parent_alias(index);
            sql.push(" JOIN ");
            sql.table_as(self.mapping.table(from), &here);
            sql.push(" ON ");
            related(sql, self.mapping, navigation, (from, &here), (target, &alias_of(index + 1, steps.len())));
            target = from;
        }
    }

    /// Appends the conditions of keys and type casts in a plan's path, for these of its steps, and the choice where
    /// to-one navigation leads to several entities.
    pub(super) fn path_conditions<'p>(
        &self,
        sql: &mut Sql<'p>,
        conditions: &mut Conditions,
        plan: &'p Plan,
        steps: &'p [Step],
    ) -> Result<(), StoreError> {
        if let Some(key) = &plan.key {
            self.key_condition(sql, conditions, plan.root, &alias_of(0, steps.len()), key)?;
        }
        for cast in plan.options.casts.iter().filter(|cast| cast.behind <= steps.len()) {
            let set = cast.behind.checked_sub(1).map_or(plan.root, |step| steps[step].target);
            let alias = alias_of(cast.behind, steps.len());
            conditions.next(sql);
            condition(sql, &Scope { alias: &alias, ..self.scope(set) }, &cast.condition)?;
        }
        let mut from = plan.root;
        for (index, step) in steps.iter().enumerate() {
            let navigation = &self.model.type_of(from).navigation[step.navigation.0];
            let target = self.model.type_of(step.target);
            let here = alias_of(index + 1, steps.len());
            if let Some(key) = &step.key {
                self.key_condition(sql, conditions, step.target, &here, key)?;
            } else if ambiguous(navigation, target) {
                conditions.next(sql);
                self.first_of(sql, (from, &alias_of(index, steps.len())), step, &here);
            }
            from = step.target;
        }
        Ok(())
    }

    fn key_condition<'p>(
        &self,
        sql: &mut Sql<'p>,
        conditions: &mut Conditions,
        set: SetId,
        alias: &str,
        key: &'p Key,
    ) -> Result<(), StoreError> {
        let entity_type = self.model.type_of(set);
        if key.0.len() != entity_type.key.len() {
            return Err(StoreError::Key { expected: entity_type.key.len(), found: key.0.len() });
        }
        for (leaf, value) in entity_type.key.iter().zip(&key.0) {
            conditions.next(sql);
            let class = Class::of(Some(entity_type.leaves[leaf.0].primitive));
            comparable::<StoreError>(sql, class, |sql| {
                sql.column(alias, self.mapping.column(set, *leaf));
                Ok(())
            })?;
            sql.push(" = ");
            comparable::<StoreError>(sql, class, |sql| {
                sql.parameter(Parameter::Key(value, self.mapping.form(set, *leaf)));
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Appends the condition that the entity `here` is the first, by key, of those that the step leads to.
    fn first_of(&self, sql: &mut Sql<'_>, (from, from_alias): (SetId, &str), step: &Step, here: &str) {
        let navigation = &self.model.type_of(from).navigation[step.navigation.0];
        let key = &self.model.type_of(step.target).key;
        let key_of = |sql: &mut Sql<'_>, alias: &str| {
            sql.list(", ", key, |sql, leaf| sql.column(alias, self.mapping.column(step.target, *leaf)));
        };
        sql.push("(");
        key_of(sql, here);
        sql.push(") = (SELECT ");
        key_of(sql, "f");
        sql.push(" FROM ");
        sql.table_as(self.mapping.table(step.target), "f");
        sql.push(" WHERE ");
        related(sql, self.mapping, navigation, (from, from_alias), (step.target, "f"));
        sql.push(" ORDER BY ");
        key_of(sql, "f");
        sql.push(" LIMIT 1)");
    }

    pub(super) fn window(&self, sql: &mut Sql<'_>, window: Window) {
        if let Some(limit) = window.limit {
            sql.push(" LIMIT ");
            sql.parameter(bounded(limit));
        }
        if let Some(offset) = window.offset {
            sql.push(match (self.dialect, window.limit) {
                // SQLite has no offset without a limit.
                (Dialect::Sqlite, None) => " LIMIT -1 OFFSET ",
                (Dialect::Sqlite, Some(_)) | (Dialect::Postgres, _) => " OFFSET ",
            });
            sql.parameter(bounded(offset));
        }
    }
}

/// The leaves of a type's key, as columns of a row.
///
/// # Panics
///
/// If `columns` are not those of [`Columns::new`], which always contain the key.
pub fn key_columns(entity_type: &EntityType, columns: &Columns) -> Vec<usize> {
    let column = |leaf: &LeafId| columns.of(*leaf).expect("the columns of a read hold the key");
    entity_type.key.iter().map(column).collect()
}

/// Writes ` WHERE ` before the first condition and ` AND ` before the others.
#[derive(Default)]
pub(super) struct Conditions {
    written: usize,
}

impl Conditions {
    pub(super) fn next(&mut self, sql: &mut Sql<'_>) {
        sql.push(if self.written == 0 { " WHERE " } else { " AND " });
        self.written += 1;
    }
}

pub(super) fn bounded(count: u64) -> Parameter<'static> {
    Parameter::Count(i64::try_from(count).unwrap_or(i64::MAX))
}

fn parent_alias(index: usize) -> String {
    format!("p{index}")
}

/// The alias of the entity before step `index`, of `steps` in all.
fn alias_of(index: usize, steps: usize) -> String {
    if index == steps { ANSWER.to_owned() } else { parent_alias(index) }
}
