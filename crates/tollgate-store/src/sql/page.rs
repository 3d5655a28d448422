//! Pages: the number of rows to read, the size of a full page, and the skip token for the next one.

use tollgate_wire::edm::{EntityType, Multiplicity, Primitive, SetId};
use tollgate_wire::plan::{Columns, Computed, Expand, OrderBy, Plan, Shown, SkipToken};
use tollgate_wire::value::{Cell, Row, Value};

use super::statement::{Source, Window, key_columns};
use crate::Identity;

/// Extent of a page.
pub struct Page {
    /// The rows to read.
    pub window: Window,
    /// The size of a full page with possibly more rows after it; one row more is then read, to know.
    full_at: Option<u64>,
    /// Rest of the caller's `$top`.
    remaining: Option<u64>,
}

impl Page {
    /// A page of at most `page_size` entities.
    pub fn new(source: &Source<'_>, plan: &Plan, page_size: Option<u64>) -> Page {
        let options = &plan.options;
        let answered = options.skip_token.as_ref().map_or(0, |token| token.answered);
        let remaining = options.top.map(|top| top.saturating_sub(answered));
        let full_at = page_size.map(|size| size.max(1)).filter(|size| remaining.is_none_or(|left| left > *size));
        let limit = full_at.map(|size| size.saturating_add(1)).or(remaining);
        let offset = source.offset(plan);
        Page { window: Window { limit, offset }, full_at, remaining }
    }

    /// Whether it is full with so many rows, and more may follow.
    #[inline]
    pub fn full(&self, rows: u64) -> bool {
        self.full_at == Some(rows)
    }

    /// Whether the caller wants more than so many rows.
    pub fn more_wanted(&self, rows: u64) -> bool {
        self.remaining.is_none_or(|left| left > rows)
    }
}

/// Number of entities of one parent at which an expansion of these is cut, if at all: then more may follow.
pub fn cut_at(source: &Source<'_>, set: SetId, expand: &Expand) -> Option<u64> {
    let many = source.model.type_of(set).navigation[expand.navigation.0].multiplicity == Multiplicity::Many;
    let page = expand.page.filter(|_| many && expand.shown != Shown::Number)?.max(1);
    expand.options.top.is_none_or(|top| top > page).then_some(page)
}

/// Makes skip tokens from rows with the columns of a plan, followed by those of its order.
pub struct Tokens<'p> {
    order_by: &'p [OrderBy],
    /// Number of entities on the pages before.
    answered: u64,
    entity_type: &'p EntityType,
    identity: Identity,
    /// Index of the first column of the order.
    order_begin: usize,
    key_columns: Vec<usize>,
}

impl<'p> Tokens<'p> {
    /// Creates the tokens for a plan's rows with these columns.
    pub fn new(source: &Source<'p>, plan: &'p Plan, columns: &Columns) -> Tokens<'p> {
        let entity_type = source.model.type_of(plan.set());
        let identity = source.identity(plan);
        let key_columns = match plan.options.apply {
            Some(_) => Vec::new(),
            None => key_columns(entity_type, columns),
        };
        let options = &plan.options;
        let order_begin = columns.leaves.len() + Computed::shown(&options.compute).count();
        let answered = options.skip_token.as_ref().map_or(0, |token| token.answered);
        Tokens { order_by: &options.order_by, answered, entity_type, identity, order_begin, key_columns }
    }

    /// Creates the tokens for an expansion's rows with these columns.
    pub fn of_expansion(source: &Source<'p>, expand: &'p Expand, columns: &Columns) -> Tokens<'p> {
        let entity_type = source.model.type_of(expand.target);
        Tokens {
            order_by: &expand.options.order_by,
            answered: 0,
            entity_type,
            identity: source.mapping.table(expand.target).identity,
            order_begin: columns.leaves.len() + Computed::shown(&expand.options.compute).count(),
            key_columns: key_columns(entity_type, columns),
        }
    }

    /// Columns of the key in a row; empty if pages are cut by counting.
    pub fn key_columns(&self) -> &[usize] {
        match self.identity {
            Identity::Key => &self.key_columns,
            Identity::Nothing => &[],
        }
    }

    /// The token for the rows after `row`, which is the last of `rows` rows passed on from this page.
    pub fn after(&self, row: &impl Row, rows: u64) -> SkipToken {
        let answered = self.answered.saturating_add(rows);
        if self.identity == Identity::Nothing {
            // The next page is found by counting.
            let after = vec![Value::Null; self.order_by.len() + self.key_columns.len()];
            return SkipToken { after, answered };
        }
        let order = self.order_by.iter().enumerate();
        let order = order.map(|(index, by)| (self.order_begin + index, by.expression.primitive));
        let key = self.key_columns.iter().zip(&self.entity_type.key);
        let key = key.map(|(column, leaf)| (*column, Some(self.entity_type.leaves[leaf.0].primitive)));
        let after = order.chain(key).map(|(column, primitive)| owned(row.cell(column), primitive)).collect();
        SkipToken { after, answered }
    }
}

/// A cell as a value of that type.
fn owned(cell: Cell<'_>, primitive: Option<Primitive>) -> Value {
    match (cell, primitive) {
        (Cell::Null, _) | (_, None) => Value::Null,
        (Cell::Integer(integer), Some(Primitive::Boolean)) => Value::Boolean(integer != 0),
        (Cell::Integer(integer), Some(_)) => Value::Integer(integer),
        (Cell::Real(real), Some(_)) => Value::Real(real),
        (Cell::Bytes(bytes), Some(_)) => Value::Binary(bytes.to_vec()),
        (Cell::Text(text), Some(primitive)) => {
            let text = String::from_utf8_lossy(text).into_owned();
            match primitive {
                Primitive::Decimal { .. } => Value::Decimal(text),
                Primitive::String { .. } => Value::String(text),
                other => Value::Text(other, text),
            }
        }
    }
}
