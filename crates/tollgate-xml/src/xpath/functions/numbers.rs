//! Functions of numbers that look at nodes (XPath 1.0, section 4.4).

use std::ops::ControlFlow;

use crate::error::Error;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xpath::number;
use crate::xpath::value::string_value;

impl<'e> Context<'e, '_> {
    pub(super) fn sum(&self, nodes: &'e Expression) -> Result<f64, Error> {
        let forest = self.environment.forest;
        let mut sum = 0.0;
        match nodes {
            // In the order of the document, so that the last digit does not depend on how it was asked.
            Expression::Path(path) if path.is_ordered() => {
                self.visit(nodes, &mut |item| {
                    sum += number::from_text(&string_value(forest, item));
                    ControlFlow::Continue(())
                })?;
            }
            _ => {
                for item in self.nodes(nodes)?.iter() {
                    sum += number::from_text(&string_value(forest, *item));
                }
            }
        }
        Ok(sum)
    }
}
