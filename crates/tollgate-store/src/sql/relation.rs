//! The statements of `$apply`: each relation is a `SELECT` over the one that it comes from, whose columns are `c0`,
//! `c1` and so on. Conditions are in the same `SELECT` as the rows they filter, so that a group of filtered entities is
//! the statement that a person would write.

use tollgate_wire::plan::{Direction, Expression, OrderBy, Plan};
use tollgate_wire::relation::{Aggregate, Applied, Method, Relation, Slice, Until};

use super::class::Class;
use super::dialect::Dialect;
use super::expression::{Scope, as_real, comparable, condition, in_order, number, sortable, value};
use super::navigation::Joins;
use super::statement::{ANSWER, Conditions, Source, Window, bounded};
use super::{DECIMAL_COLLATION, Sql, function};
use crate::StoreError;

/// The alias of rows that are no entities.
const ROWS: &str = "x";

impl Source<'_> {
    /// The statement for a page of the rows that `$apply` has made.
    ///
    /// # Errors
    ///
    /// Errors of the expressions.
    pub fn applied_page<'p>(
        &self,
        plan: &'p Plan,
        applied: &'p Applied,
        window: Window,
    ) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        sql.push("SELECT ");
        let answered = applied.shown.iter().chain(applied.parts.as_ref().map(|parts| &parts.column));
        sql.list(", ", answered, |sql, index| {
            let primitive = applied.columns[*index].primitive;
            sql.answered(Some(primitive), |sql| sql.push(&format!("{ROWS}.c{index}")));
        });
        sql.push(" FROM (");
        self.rows(&mut sql, plan, &applied.relation)?;
        sql.push(&format!(") AS {ROWS} ORDER BY "));
        let scope = self.over_rows(plan);
        self.order(&mut sql, &scope, plan.options.order_by.iter().chain(&applied.order))?;
        self.window(&mut sql, window);
        Ok(sql)
    }

    /// The statement for the number of rows.
    ///
    /// # Errors
    ///
    /// Errors of the expressions.
    pub fn applied_count<'p>(&self, plan: &'p Plan, applied: &'p Applied) -> Result<Sql<'p>, StoreError> {
        let mut sql = Sql::new(self.dialect);
        sql.push("SELECT COUNT(*) FROM (");
        self.rows(&mut sql, plan, &applied.relation)?;
        sql.push(&format!(") AS {ROWS}"));
        Ok(sql)
    }

    /// Appends the `SELECT` of a relation.
    fn rows<'p>(&self, sql: &mut Sql<'p>, plan: &'p Plan, relation: &'p Relation) -> Result<(), StoreError> {
        match relation {
            Relation::Entities => {
                sql.push("SELECT 1 AS c0");
                self.source_of(sql, plan, relation)
            }
            Relation::Filtered(..) => {
                sql.push(&format!("SELECT {ROWS}.*"));
                self.source_of(sql, plan, relation)
            }
            Relation::Projected(of, expressions) => {
                sql.push("SELECT ");
                let joins = Joins::default();
                let scope = Scope { joins: Some(&joins), ..self.over(plan, of) };
                for (index, expression) in expressions.iter().enumerate() {
                    sql.push(if index == 0 { "" } else { ", " });
                    value(sql, &scope, expression)?;
                    sql.push(&format!(" AS c{index}"));
                }
                self.source_of_joined(sql, plan, of, &joins)
            }
            Relation::Grouped(of, keys, aggregates) => self.groups(sql, plan, of, (keys, aggregates)),
            Relation::Sliced(of, slice) if !slice.within.is_empty() => {
                self.selected(sql, slice.width);
                self.placed(sql, plan, of, (&slice.within, &slice.order))?;
                sql.push(") AS y WHERE y.place > ");
                let skip = slice.skip.unwrap_or(0);
                sql.parameter(bounded(skip));
                if let Some(top) = slice.top {
                    sql.push(" AND y.place <= ");
                    sql.parameter(bounded(skip.saturating_add(top)));
                }
                Ok(())
            }
            Relation::Numbered(of, order, width) => {
                sql.push(&format!("SELECT y.*, y.place AS c{width} FROM ("));
                self.placed(sql, plan, of, (&[], order))?;
                sql.push(") AS y");
                Ok(())
            }
            Relation::Sliced(of, slice) => {
                sql.push(&format!("SELECT {ROWS}.*"));
                self.source_of(sql, plan, of)?;
                self.slice(sql, plan, slice)
            }
            Relation::Ranked(of, rank) => {
                let scope = self.over(plan, of);
                self.selected(sql, rank.width);
                sql.push(&format!("SELECT {ROWS}.*, SUM("));
                as_real(sql, &scope, &rank.by)?;
                sql.push(") OVER (");
                self.partition(sql, plan, &rank.within)?;
                sql.push("ORDER BY ");
                as_real(sql, &scope, &rank.by)?;
                self.direction(sql, rank.direction);
                sql.push(if rank.ties.is_empty() { "" } else { ", " });
                self.order(sql, &scope, &rank.ties)?;
                sql.push(" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier, SUM(");
                as_real(sql, &scope, &rank.by)?;
                sql.push(") OVER (");
                self.partition(sql, plan, &rank.within)?;
                sql.push(") AS whole");
                self.source_of(sql, plan, of)?;
                sql.push(") AS y WHERE coalesce(y.earlier, 0) < ");
                match &rank.until {
                    Until::Sum(sum) => sql.literal(sum),
                    Until::Percent(percent) => {
                        sql.push("y.whole / 100 * ");
                        sql.literal(percent);
                    }
                }
                Ok(())
            }
            Relation::United(relations) => {
                for (index, relation) in relations.iter().enumerate() {
                    sql.push(if index == 0 { "" } else { " UNION ALL " });
                    self.rows(sql, plan, relation)?;
                }
                Ok(())
            }
        }
    }

    /// Appends the columns of a subquery `y`, up to its parenthesis.
    fn selected(&self, sql: &mut Sql<'_>, width: usize) {
        sql.push("SELECT ");
        sql.list(", ", 0..width, |sql, index| sql.push(&format!("y.c{index}")));
        sql.push(" FROM (");
    }

    /// Appends the rows of a relation, each with its `place` in an order, within its group if there are groups.
    fn placed<'p>(
        &self,
        sql: &mut Sql<'p>,
        plan: &'p Plan,
        of: &'p Relation,
        (within, order): (&'p [Expression], &'p [OrderBy]),
    ) -> Result<(), StoreError> {
        sql.push(&format!("SELECT {ROWS}.*, ROW_NUMBER() OVER ("));
        self.partition(sql, plan, within)?;
        sql.push("ORDER BY ");
        self.order(sql, &self.over_rows(plan), order)?;
        sql.push(") AS place");
        self.source_of(sql, plan, of)
    }

    /// Appends `PARTITION BY` and the columns, if there are any.
    fn partition<'p>(&self, sql: &mut Sql<'p>, plan: &Plan, columns: &'p [Expression]) -> Result<(), StoreError> {
        for (index, column) in columns.iter().enumerate() {
            sql.push(if index == 0 { "PARTITION BY " } else { ", " });
            sortable(sql, &self.over_rows(plan), column)?;
        }
        sql.push(if columns.is_empty() { "" } else { " " });
        Ok(())
    }

    /// Appends ` FROM …` and ` WHERE …`.
    fn source_of<'p>(&self, sql: &mut Sql<'p>, plan: &'p Plan, relation: &'p Relation) -> Result<(), StoreError> {
        self.source_of_joined(sql, plan, relation, &Joins::default())
    }

    /// The same with the to-one paths that the columns before it name, each joined once.
    fn source_of_joined<'p>(
        &self,
        sql: &mut Sql<'p>,
        plan: &'p Plan,
        relation: &'p Relation,
        joins: &Joins,
    ) -> Result<(), StoreError> {
        let (base, filters) = peeled(relation);
        let scope = Scope { joins: Some(joins), ..self.over(plan, relation) };
        let mut conditions = Conditions::default();
        match base {
            Relation::Entities => {
                self.from(sql, plan.root, &plan.steps, plan.set());
                joins.write(sql, &scope);
                self.path_conditions(sql, &mut conditions, plan, &plan.steps)?;
            }
            rows => {
                sql.push(" FROM (");
                self.rows(sql, plan, rows)?;
                sql.push(&format!(") AS {ROWS}"));
            }
        }
        // The first that was asked for stands first.
        for filter in filters.into_iter().rev() {
            conditions.next(sql);
            condition(sql, &scope, filter)?;
        }
        Ok(())
    }

    fn groups<'p>(
        &self,
        sql: &mut Sql<'p>,
        plan: &'p Plan,
        of: &'p Relation,
        (keys, aggregates): (&'p [Expression], &'p [Aggregate]),
    ) -> Result<(), StoreError> {
        let joins = Joins::default();
        let scope = Scope { joins: Some(&joins), ..self.over(plan, of) };
        sql.push("SELECT ");
        for (index, key) in keys.iter().enumerate() {
            sql.push(if index == 0 { "" } else { ", " });
            value(sql, &scope, key)?;
            if sql.dialect == Dialect::Sqlite && Class::of(key.primitive) == Class::Decimal {
                // Digits that mean the same are one group.
                sql.push(" COLLATE ");
                sql.identifier(DECIMAL_COLLATION);
            }
            sql.push(&format!(" AS c{index}"));
        }
        for (index, aggregate) in aggregates.iter().enumerate() {
            let index = keys.len() + index;
            sql.push(if index == 0 { "" } else { ", " });
            aggregated(sql, &scope, aggregate)?;
            sql.push(&format!(" AS c{index}"));
        }
        if keys.is_empty() && aggregates.is_empty() {
            // All are one group of which nothing is asked. Without a column SQLite has no such statement, and without an
            // aggregate it would have a row for each.
            sql.push("COUNT(*) AS c0");
        }
        self.source_of_joined(sql, plan, of, &joins)?;
        if !keys.is_empty() {
            sql.push(" GROUP BY ");
            // By place: a parameter in a key would make it another expression.
            sql.list(", ", 1..=keys.len(), |sql, place| sql.push(&place.to_string()));
        }
        Ok(())
    }

    fn slice<'p>(&self, sql: &mut Sql<'p>, plan: &'p Plan, slice: &'p Slice) -> Result<(), StoreError> {
        sql.push(" ORDER BY ");
        self.order(sql, &self.over_rows(plan), &slice.order)?;
        self.window(sql, Window { limit: slice.top, offset: slice.skip });
        Ok(())
    }

    /// Appends the keys of an order.
    fn order<'p>(
        &self,
        sql: &mut Sql<'p>,
        scope: &Scope<'_>,
        order: impl IntoIterator<Item = &'p OrderBy>,
    ) -> Result<(), StoreError> {
        for (index, by) in order.into_iter().enumerate() {
            sql.push(if index == 0 { "" } else { ", " });
            sortable(sql, scope, &by.expression)?;
            self.direction(sql, by.direction);
        }
        Ok(())
    }

    fn direction(&self, sql: &mut Sql<'_>, direction: Direction) {
        sql.push(match (direction, self.dialect) {
            (Direction::Ascending, Dialect::Sqlite) => "",
            (Direction::Descending, Dialect::Sqlite) => " DESC",
            (Direction::Ascending, Dialect::Postgres) => " NULLS FIRST",
            (Direction::Descending, Dialect::Postgres) => " DESC NULLS LAST",
        });
    }

    /// Scope of the expressions over a relation.
    fn over(&self, plan: &Plan, relation: &Relation) -> Scope<'_> {
        let alias = if *peeled(relation).0 == Relation::Entities { ANSWER } else { ROWS };
        Scope { alias, ..self.scope(plan.set()) }
    }

    fn over_rows(&self, plan: &Plan) -> Scope<'_> {
        Scope { alias: ROWS, ..self.scope(plan.set()) }
    }
}

/// The relation below the filters, and the filters, the last one first.
fn peeled(mut relation: &Relation) -> (&Relation, Vec<&Expression>) {
    let mut filters = Vec::new();
    while let Relation::Filtered(of, filter) = relation {
        filters.push(filter);
        relation = of;
    }
    (relation, filters)
}

fn aggregated<'p>(sql: &mut Sql<'p>, scope: &Scope<'_>, aggregate: &'p Aggregate) -> Result<(), StoreError> {
    let Some(operand) = &aggregate.operand else {
        sql.push("COUNT(*)");
        return Ok(());
    };
    let class = Class::of(operand.primitive);
    let dialect = sql.dialect;
    let (before, after) = match (aggregate.method, class, dialect) {
        (Method::Count | Method::CountDistinct, ..) => {
            sql.push("COUNT(DISTINCT ");
            comparable(sql, class, |sql| value(sql, scope, operand))?;
            sql.push(")");
            return Ok(());
        }
        (Method::Least | Method::Greatest, ..) => {
            let name = if aggregate.method == Method::Least { "MIN(" } else { "MAX(" };
            let (before, after) = match (class, dialect) {
                (Class::Instant, Dialect::Sqlite) => ("(", ") || 'Z')"),
                // Found as it is stored, and made digits once for each group.
                (Class::Decimal, Dialect::Sqlite) => {
                    sql.push(function::CANONICAL.text);
                    ("(", "), 'decimal')")
                }
                (Class::Integer, Dialect::Postgres) => ("CAST(", ") AS int8)"),
                (Class::Real, Dialect::Postgres) => ("CAST(", ") AS float8)"),
                _ => ("", ")"),
            };
            sql.push(before);
            sql.push(name);
            in_order(sql, class, |sql| number(sql, scope, operand))?;
            sql.push(after);
            return Ok(());
        }
        (Method::Sum, Class::Decimal, Dialect::Sqlite) => (function::DECIMAL_SUM, ")"),
        (Method::Average, Class::Decimal, Dialect::Sqlite) => (function::DECIMAL_AVERAGE, ")"),
        (Method::Sum, Class::Integer, Dialect::Sqlite) => (function::INTEGER_SUM, ")"),
        (Method::Sum, _, Dialect::Sqlite) => (function::REAL_SUM, ")"),
        (Method::Average, Class::Integer, Dialect::Sqlite) => ("AVG(", ")"),
        (Method::Average, _, Dialect::Sqlite) => (function::REAL_AVERAGE, ")"),
        (Method::Sum, Class::Integer, Dialect::Postgres) => ("CAST(SUM(", ") AS int8)"),
        (Method::Sum, Class::Real, Dialect::Postgres) => ("SUM(CAST(", " AS float8))"),
        (Method::Sum, _, Dialect::Postgres) => ("SUM(", ")"),
        (Method::Average, Class::Decimal, Dialect::Postgres) => {
            // As many digits as a division has.
            sql.push("trim_scale(round(SUM(");
            value(sql, scope, operand)?;
            sql.push(") * 1.00000000000000000000 / nullif(COUNT(");
            value(sql, scope, operand)?;
            sql.push("), 0), 20))");
            return Ok(());
        }
        // The sum of integers is exact, and PostgreSQL's own average of reals adds their squares, which may be too large.
        (Method::Average, _, Dialect::Postgres) => {
            sql.push(if class == Class::Integer { "CAST(SUM(" } else { "(SUM(CAST(" });
            value(sql, scope, operand)?;
            sql.push(if class == Class::Integer {
                ") AS float8) / nullif(COUNT("
            } else {
                " AS float8)) / nullif(COUNT("
            });
            value(sql, scope, operand)?;
            sql.push(if class == Class::Integer { "), 0)" } else { "), 0))" });
            return Ok(());
        }
    };
    sql.push(before);
    number(sql, scope, operand)?;
    sql.push(after);
    Ok(())
}
