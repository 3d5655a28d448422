//! The result of `$apply` on a collection: rows of columns, in one form that stores lower and writers show.
//!
//! Names are resolved and types known, as in a plan. It deliberately contains no SQL or JSON.

use crate::edm::{EnumerationId, Primitive};
use crate::plan::{Direction, Expression, OrderBy};
use crate::value::Value;

/// The result of `$apply`.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// The origin of its rows.
    pub relation: Relation,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The columns in the answer, in this order.
    pub shown: Vec<usize>,
    /// The order of the rows, where the request's own order leaves it open; rows that it leaves open too are identical.
    pub order: Vec<OrderBy>,
    /// The columns of each part of the rows, if not all rows have all.
    pub parts: Option<Parts>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The names down to it, joined by `/`: `Total`, `FlightCarrier/CURRCODE`. Empty where it is there for an order alone.
    pub path: String,
    /// Its type.
    pub primitive: Primitive,
    /// The enumeration whose members are its values, in stored form.
    pub enumeration: Option<EnumerationId>,
}

impl Column {
    /// Whether it can neither be named nor seen.
    pub fn is_hidden(&self) -> bool {
        self.path.is_empty()
    }
}

/// Parts of the rows that lack some of the columns: they are no property of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The column with the part that a row belongs to.
    pub column: usize,
    /// The columns that the rows of each part do not have.
    pub absent: Vec<Vec<usize>>,
}

/// Rows, and the relation that they come from. Expressions name leaves where these are the entities themselves, whether
/// filtered or not, and [`ExpressionKind::Column`](crate::plan::ExpressionKind::Column) elsewhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Relation {
    /// The entities that the path leads to.
    #[default]
    Entities,
    /// The rows that meet a condition.
    Filtered(Box<Relation>, Expression),
    /// One row for each, with these columns.
    Projected(Box<Relation>, Vec<Expression>),
    /// One row for each group of rows with the same keys (without keys all rows are one group): keys, then aggregates.
    Grouped(Box<Relation>, Vec<Expression>, Vec<Aggregate>),
    /// A part of an order.
    Sliced(Box<Relation>, Slice),
    /// Each with its place in an order, as a column behind this number of others.
    Numbered(Box<Relation>, Vec<OrderBy>, usize),
    /// As many rows from the beginning of an order as it takes.
    Ranked(Box<Relation>, Rank),
    /// The rows of all, one after the other; all have the same columns.
    United(Vec<Relation>),
}

/// An aggregated value.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// The method of aggregation.
    pub method: Method,
    /// The aggregated expression; `None` if rows are counted.
    pub operand: Option<Expression>,
    /// The type of the result.
    pub primitive: Primitive,
}

/// A standard method of aggregation (Data Aggregation 4.0, section 3.1.3). None of them minds null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `sum`.
    Sum,
    /// `min`.
    Least,
    /// `max`.
    Greatest,
    /// `average`.
    Average,
    /// `countdistinct`.
    CountDistinct,
    /// `$count`.
    Count,
}

/// A part of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// The order; what it leaves open, the columns decide.
    pub order: Vec<OrderBy>,
    /// Rows that are left out.
    pub skip: Option<u64>,
    /// Rows at most.
    pub top: Option<u64>,
    /// Number of columns.
    pub width: usize,
    /// The columns whose values make a group; a part is taken of each group.
    pub within: Vec<Expression>,
}

/// As many rows as it takes until their values add up to a limit. They are added as floating-point numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// The added expression.
    pub by: Expression,
    /// The end that is taken.
    pub direction: Direction,
    /// The limit of the sum.
    pub until: Until,
    /// The order of rows with equal values.
    pub ties: Vec<OrderBy>,
    /// Number of columns.
    pub width: usize,
    /// The columns whose values make a group; each group is ranked by itself.
    pub within: Vec<Expression>,
}

/// The limit up to which values are added.
#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// This sum.
    Sum(Value),
    /// This percentage of the sum of all.
    Percent(Value),
}

impl Relation {
    /// Calls `each` with every expression, stopping at the first error.
    ///
    /// # Errors
    /// The error of `each`.
    pub fn try_each<E>(&self, each: &mut impl FnMut(&Expression) -> Result<(), E>) -> Result<(), E> {
        match self {
            Relation::Entities => Ok(()),
            Relation::Filtered(of, condition) => {
                of.try_each(each)?;
                each(condition)
            }
            Relation::Projected(of, expressions) => {
                of.try_each(each)?;
                expressions.iter().try_for_each(each)
            }
            Relation::Grouped(of, keys, aggregates) => {
                of.try_each(each)?;
                let operands = aggregates.iter().filter_map(|aggregate| aggregate.operand.as_ref());
                keys.iter().chain(operands).try_for_each(each)
            }
            Relation::Sliced(of, slice) => {
                of.try_each(each)?;
                slice.order.iter().try_for_each(|by| each(&by.expression))
            }
            Relation::Numbered(of, order, _) => {
                of.try_each(each)?;
                order.iter().try_for_each(|by| each(&by.expression))
            }
            Relation::Ranked(of, rank) => {
                of.try_each(each)?;
                each(&rank.by)
            }
            Relation::United(relations) => relations.iter().try_for_each(|relation| relation.try_each(each)),
        }
    }
}
