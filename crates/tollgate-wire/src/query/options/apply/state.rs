//! The result of the transformations so far: entities with a filter, or a relation of columns with an order.
//!
//! It deliberately parses nothing: it is what the transformations read their names in, and change.

use crate::edm::{EnumerationId, Leaf, LeafId};
use crate::plan::{Computed, Direction, Expression, ExpressionKind, OrderBy, Origin};
use crate::query::context::Context;
use crate::query::expression::{Parser, conjunction};
use crate::query::options::compute::column;
use crate::relation::{Column, Parts, Relation};

/// The state between two transformations.
#[derive(Clone, Default)]
pub(super) struct State {
    pub(super) relation: Relation,
    /// `None` while they are entities.
    pub(super) columns: Option<Vec<Column>>,
    /// The condition on the entities, and their computed properties.
    pub(super) filter: Option<Expression>,
    pub(super) computed: Vec<Computed>,
    /// The order of the rows, as far as somebody has asked for one.
    pub(super) order: Vec<OrderBy>,
    /// The columns of each part of the rows, if not all rows have all.
    pub(super) parts: Option<Parts>,
    /// Number of columns, from the first on, that distinguish rows.
    pub(super) distinct: usize,
    /// Inside of `groupby`: the groups; a transformation is applied to each by itself.
    pub(super) groups: Option<Groups>,
}

/// The groups that transformations inside of `groupby` keep apart.
#[derive(Clone)]
pub(super) struct Groups {
    /// The paths of the columns whose values make a group.
    pub(super) keys: Vec<String>,
    /// The last filter. Aggregation applies it row by row, so that a group without remaining rows is aggregated too.
    pub(super) kept: Option<Expression>,
    /// Whether groups may have lost all of their rows.
    pub(super) thinned: bool,
}

/// An expression with the path of the column that it may become; the path is empty for a hidden one.
pub(super) struct Key {
    pub(super) path: String,
    pub(super) expression: Expression,
    /// The enumeration that its value is a member of.
    pub(super) enumeration: Option<EnumerationId>,
}

impl State {
    /// The rows, filtered as far as they are entities.
    pub(super) fn rows(&self) -> Relation {
        match &self.filter {
            Some(filter) => Relation::Filtered(Box::new(self.relation.clone()), filter.clone()),
            None => self.relation.clone(),
        }
    }

    /// Every leaf of an entity, and what was computed of it, as columns.
    pub(super) fn into_columns(self, context: &Context<'_>) -> State {
        self.into_columns_beside(context, Vec::new())
    }

    /// The same with further columns of the entities.
    fn into_columns_beside(mut self, context: &Context<'_>, further: Vec<(Column, Expression)>) -> State {
        if self.columns.is_some() {
            return self;
        }
        let leaves = &context.entity_type.leaves;
        let of_leaf = |leaf: &Leaf| Column {
            // What the type has not nobody names.
            path: if context.entity_type.sees_property(leaf.property) { leaf.path.clone() } else { String::new() },
            primitive: leaf.primitive,
            enumeration: leaf.enumeration,
        };
        let mut columns: Vec<Column> = leaves.iter().map(of_leaf).collect();
        let mut expressions: Vec<Expression> = (0..leaves.len())
            .map(|leaf| {
                let kind = ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: LeafId(leaf) };
                Expression { kind, primitive: Some(leaves[leaf].primitive), position: 0 }
            })
            .collect();
        for computed in std::mem::take(&mut self.computed) {
            let Computed { name, primitive, enumeration, expression, .. } = computed;
            columns.push(Column { path: name, primitive, enumeration });
            expressions.push(expression);
        }
        for (column, expression) in further {
            columns.push(column);
            expressions.push(expression);
        }
        self.relation = Relation::Projected(Box::new(self.rows()), expressions);
        self.filter = None;
        self.distinct = columns.len();
        self.columns = Some(columns);
        self
    }

    /// The rows as columns, and expressions over what they were before as expressions over these: what is none of the
    /// columns yet becomes one, hidden where it has no path.
    pub(super) fn with_columns_for(self, context: &Context<'_>, expressions: Vec<Key>) -> (State, Vec<Expression>) {
        if self.columns.is_some() {
            return (self, expressions.into_iter().map(|key| key.expression).collect());
        }
        let own = context.entity_type.leaves.len();
        let mut width = own + self.computed.len();
        let mut further = Vec::new();
        let over = expressions.into_iter().map(|Key { path, expression, enumeration }| {
            let (Some(primitive), position) = (expression.primitive, expression.position) else { return expression };
            let index = match &expression.kind {
                ExpressionKind::Leaf { of: Origin::It, through, leaf } if through.is_empty() => leaf.0,
                _ => match self.computed.iter().position(|computed| computed.name == path) {
                    Some(computed) => own + computed,
                    None => {
                        further.push((Column { path, primitive, enumeration }, expression));
                        width += 1;
                        width - 1
                    }
                },
            };
            Expression { kind: ExpressionKind::Column(index), primitive: Some(primitive), position }
        });
        let over = over.collect();
        (self.into_columns_beside(context, further), over)
    }

    /// As [`State::with_columns_for`], for the keys of an order.
    pub(super) fn with_columns_for_order(self, context: &Context<'_>, order: Vec<OrderBy>) -> (State, Vec<OrderBy>) {
        let directions: Vec<Direction> = order.iter().map(|by| by.direction).collect();
        let key = |by: OrderBy| Key { path: String::new(), expression: by.expression, enumeration: None };
        let expressions = order.into_iter().map(key).collect();
        let (state, expressions) = self.with_columns_for(context, expressions);
        let order = expressions.into_iter().zip(directions);
        (state, order.map(|(expression, direction)| OrderBy { expression, direction }).collect())
    }

    pub(super) fn parser<'c>(&'c self, context: &'c Context<'c>, text: &'c str) -> Parser<'c> {
        Parser::over(context, text, self.columns.as_deref(), &self.computed)
    }

    pub(super) fn width(&self) -> usize {
        self.columns.as_ref().map_or(0, Vec::len)
    }

    /// The order of the rows; this many columns, from the first on, break ties.
    pub(super) fn whole_order(&self, columns: usize) -> Vec<OrderBy> {
        let ties = self.columns.iter().flatten().enumerate().take(columns).map(|known| {
            let expression = column(known);
            OrderBy { expression, direction: Direction::Ascending }
        });
        self.order.iter().cloned().chain(ties).collect()
    }

    /// The columns by which groups are kept apart, with their names.
    pub(super) fn within(&self) -> Vec<(Column, Expression)> {
        let columns = self.columns.as_deref().unwrap_or_default();
        let keys = self.groups.iter().flat_map(|groups| &groups.keys);
        let found = keys.filter_map(|key| columns.iter().enumerate().find(|(_, column)| column.path == *key));
        found.map(|known| (known.1.clone(), column(known))).collect()
    }

    /// The same as expressions.
    pub(super) fn within_each(&self) -> Vec<Expression> {
        self.within().into_iter().map(|(_, expression)| expression).collect()
    }

    pub(super) fn filtered(&mut self, condition: Expression) {
        if let Some(groups) = &mut self.groups {
            groups.kept = Some(conjunction(groups.kept.take(), condition));
        } else if self.columns.is_none() {
            self.filter = Some(conjunction(self.filter.take(), condition));
        } else {
            self.wrap(|rows| Relation::Filtered(rows, condition));
        }
    }

    /// Lets go of the rows of groups that were filtered out.
    pub(super) fn settle(&mut self) {
        let Some(groups) = &mut self.groups else { return };
        if let Some(condition) = groups.kept.take() {
            groups.thinned = true;
            self.wrap(|rows| Relation::Filtered(rows, condition));
        }
    }

    /// Puts another relation around the rows.
    pub(super) fn wrap(&mut self, around: impl FnOnce(Box<Relation>) -> Relation) {
        let rows = std::mem::take(&mut self.relation);
        self.relation = around(Box::new(rows));
    }
}
