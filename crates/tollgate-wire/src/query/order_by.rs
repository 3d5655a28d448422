//! `$orderby`: expressions, each with its direction.

use super::Context;
use super::expression::Parser;
use super::limits::ORDER_KEYS_MAX;
use crate::edm::{Primitive, Version};
use crate::plan::{Direction, Options, OrderBy};
use crate::url::{Fault, Parsed, Problem};

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let mut parser = Parser::new(context, text);
    loop {
        let expression = parser.expression()?;
        if matches!(expression.primitive, Some(Primitive::Binary { .. })) {
            return Err(Problem::new(Fault::Type, expression.position, "Edm.Binary has no order"));
        }
        let either_case = context.version == Version::V4;
        let direction = if parser.take_word("desc", either_case) {
            Direction::Descending
        } else {
            parser.take_word("asc", either_case);
            Direction::Ascending
        };
        if options.order_by.len() == ORDER_KEYS_MAX {
            let what = format!("more than {ORDER_KEYS_MAX} keys of an order");
            return Err(Problem::new(Fault::Limit, expression.position, what));
        }
        options.order_by.push(OrderBy { expression, direction });
        if !parser.take(',') {
            return parser.end();
        }
    }
}
