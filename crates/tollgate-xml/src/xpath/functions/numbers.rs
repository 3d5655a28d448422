//! Functions of numbers that look at nodes (XPath 1.0, section 4.4).

use std::ops::ControlFlow;

use crate::error::Error;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;

impl<'e> Context<'e, '_> {
    pub(super) fn sum(&self, nodes: &'e Expression) -> Result<f64, Error> {
        let mut sum = 0.0;
        match nodes {
            // In the order of the document, so that the last digit does not depend on how it was asked.
            Expression::Path(path) if path.is_ordered() => {
                self.visit(nodes, &mut |item| match self.environment.number_of(item) {
                    Ok(number) => {
                        sum += number;
                        ControlFlow::Continue(())
                    }
                    Err(error) => ControlFlow::Break(error.into()),
                })?;
            }
            _ => {
                for item in self.nodes(nodes)?.iter() {
                    sum += self.environment.number_of(*item)?;
                }
            }
        }
        Ok(sum)
    }
}
