//! `$orderby`: expressions, each with its direction.

use crate::address::{Fault, Parsed, Problem};
use crate::edm::{Primitive, Version};
use crate::plan::{Direction, Options, OrderBy};
use crate::query::context::Context;
use crate::query::expression::Parser;
use crate::query::limits::ORDER_KEYS_MAX;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let columns = options.apply.as_ref().map(|applied| &applied.columns[..]);
    options.order_by = keys(&mut Parser::over(context, text, columns, &options.compute))?;
    Ok(())
}

/// The keys that are the whole text of a parser.
pub(super) fn keys(parser: &mut Parser<'_>) -> Parsed<Vec<OrderBy>> {
    let mut keys = Vec::new();
    loop {
        let expression = parser.ordered_expression()?;
        if matches!(expression.primitive, Some(Primitive::Binary { .. })) {
            return Err(Problem::new(Fault::Type, expression.position, "Edm.Binary has no order"));
        }
        let either_case = parser.version() == Version::V4;
        let direction = if parser.take_word("desc", either_case) {
            Direction::Descending
        } else {
            parser.take_word("asc", either_case);
            Direction::Ascending
        };
        if keys.len() == ORDER_KEYS_MAX {
            let what = format!("more than {ORDER_KEYS_MAX} keys of an order");
            return Err(Problem::new(Fault::Limit, expression.position, what));
        }
        keys.push(OrderBy { expression, direction });
        if !parser.take(',') {
            return parser.end().map(|()| keys);
        }
    }
}
