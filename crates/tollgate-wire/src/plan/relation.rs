//! What `$apply` makes of a collection: rows of columns, in one form that stores lower and writers show.
//!
//! Names are resolved and types known, as in a plan. It deliberately says nothing about SQL or JSON.

use crate::edm::{EnumerationId, Primitive};
use crate::plan::{Direction, Expression, OrderBy};
use crate::value::Value;

/// The result of `$apply`.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// How its rows come about.
    pub relation: Relation,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Which of them are answered, in this order.
    pub shown: Vec<usize>,
    /// The order of the rows, where a request's own leaves it open; rows that it leaves open are the same to whoever sees
    /// them.
    pub order: Vec<OrderBy>,
    /// Which rows have which columns, where not all have all.
    pub parts: Option<Parts>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The names down to it, joined by `/`: `Total`, `FlightCarrier/CURRCODE`. Empty where it is there for an order alone.
    pub path: String,
    /// Its type.
    pub primitive: Primitive,
    /// Of which its values are members; they are what is stored for them.
    pub enumeration: Option<EnumerationId>,
}

impl Column {
    /// Whether nobody can name it, and nobody sees it.
    pub fn is_hidden(&self) -> bool {
        self.path.is_empty()
    }
}

/// Parts of the rows that lack some of the columns: they are no property of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The column that says of which part a row is.
    pub column: usize,
    /// By part: the columns that its rows do not have.
    pub absent: Vec<Vec<usize>>,
}

/// Rows, and from which others they come. Expressions name leaves where these are the entities themselves, whether
/// filtered or not, and [`ExpressionKind::Column`](crate::plan::ExpressionKind::Column) elsewhere.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Relation {
    /// The entities that the path leads to.
    #[default]
    Entities,
    /// Those of which a condition is true.
    Filtered(Box<Relation>, Expression),
    /// One row for each, of these columns.
    Projected(Box<Relation>, Vec<Expression>),
    /// One row for each group of rows with the same keys (without keys all rows are one group): keys, then aggregates.
    Grouped(Box<Relation>, Vec<Expression>, Vec<Aggregate>),
    /// A part of an order.
    Sliced(Box<Relation>, Slice),
    /// Each with its place in an order, as a column behind so many others.
    Numbered(Box<Relation>, Vec<OrderBy>, usize),
    /// As many rows from the beginning of an order as it takes.
    Ranked(Box<Relation>, Rank),
    /// The rows of all, one after the other; all have the same columns.
    United(Vec<Relation>),
}

/// An aggregated value.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregate {
    /// How it is aggregated.
    pub method: Method,
    /// What; nothing where rows are counted.
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
    /// How many columns there are.
    pub width: usize,
    /// The columns whose values make a group, of each of which a part is taken.
    pub within: Vec<Expression>,
}

/// As many rows as it takes until their values add up. They are added as floating-point numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// What is added.
    pub by: Expression,
    /// From which end.
    pub direction: Direction,
    /// Up to what.
    pub until: Until,
    /// What decides where the values do not.
    pub ties: Vec<OrderBy>,
    /// How many columns there are.
    pub width: usize,
    /// The columns whose values make a group, of each of which as many are taken.
    pub within: Vec<Expression>,
}

/// Up to what values are added.
#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// This sum.
    Sum(Value),
    /// So many per cent of the sum of all.
    Percent(Value),
}

impl Relation {
    /// Calls `each` with every expression, stopping at the first error.
    ///
    /// # Errors
    /// What `each` says.
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
