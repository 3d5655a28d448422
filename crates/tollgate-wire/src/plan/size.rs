//! The size of a plan: a URL may mention an alias or a computed property often, and then its plan has it as often.

use std::convert::Infallible;

use super::{Expression, ExpressionKind, Options};

impl Expression {
    /// Number of its nodes.
    pub fn nodes(&self) -> usize {
        1 + match &self.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Leaf { .. }
            | ExpressionKind::Column(_)
            | ExpressionKind::Item(_) => 0,
            ExpressionKind::Not(inner) | ExpressionKind::Negate(inner) | ExpressionKind::Cast(inner) => inner.nodes(),
            ExpressionKind::In(inner, values) => inner.nodes() + values.len(),
            ExpressionKind::Logic(_, left, right)
            | ExpressionKind::Compare(_, left, right)
            | ExpressionKind::Arithmetic(_, left, right) => left.nodes() + right.nodes(),
            ExpressionKind::Call(_, arguments) => arguments.iter().map(Expression::nodes).sum(),
            ExpressionKind::Case(branches) => {
                branches.iter().map(|(condition, value)| condition.nodes() + value.nodes()).sum()
            }
            ExpressionKind::Related(related) => related.condition.as_ref().map_or(0, Expression::nodes),
            ExpressionKind::Items(items) => items.condition.as_ref().map_or(0, Expression::nodes),
        }
    }

    /// Height of an expression above its own node.
    pub(crate) fn height(&self) -> usize {
        let above = |inner: &Expression| inner.height() + 1;
        match &self.kind {
            ExpressionKind::Literal(_)
            | ExpressionKind::Leaf { .. }
            | ExpressionKind::Column(_)
            | ExpressionKind::Item(_) => 0,
            ExpressionKind::Not(inner)
            | ExpressionKind::Negate(inner)
            | ExpressionKind::Cast(inner)
            | ExpressionKind::In(inner, _) => above(inner),
            ExpressionKind::Logic(_, left, right)
            | ExpressionKind::Compare(_, left, right)
            | ExpressionKind::Arithmetic(_, left, right) => above(left).max(above(right)),
            ExpressionKind::Call(_, arguments) => arguments.iter().map(above).max().unwrap_or(0),
            ExpressionKind::Case(branches) => {
                branches.iter().map(|(condition, value)| above(condition).max(above(value))).max().unwrap_or(0)
            }
            ExpressionKind::Related(related) => related.condition.as_ref().map_or(0, above),
            ExpressionKind::Items(items) => items.condition.as_ref().map_or(0, above),
        }
    }
}

impl Options {
    /// Whether only a part of the path's entities is requested, so that more are read than answered.
    pub fn narrows(&self) -> bool {
        self.filter.is_some() || !self.casts.is_empty()
    }

    /// Conditions, orders and computed properties, those of expansions and of `$apply` left out.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let order = self.order_by.iter().map(|by| &by.expression);
        let computed = self.compute.iter().map(|computed| &computed.expression);
        let casts = self.casts.iter().map(|cast| &cast.condition);
        self.filter.iter().chain(order).chain(computed).chain(casts)
    }

    /// Number of nodes of its expressions, in all levels.
    pub fn nodes(&self) -> usize {
        let mut nodes: usize = self.expressions().map(Expression::nodes).sum();
        if let Some(applied) = &self.apply {
            let counted = applied.relation.try_each(&mut |expression| {
                nodes += expression.nodes();
                Ok::<_, Infallible>(())
            });
            let Ok(()) = counted;
        }
        nodes + self.expand.iter().map(|expand| 1 + expand.options.nodes()).sum::<usize>()
    }
}
