//! Reads of unknown duration: they are attempted on the event loop, which they may block for a moment; one that takes
//! longer is ended and repeated outside it, and others of its form leave at once for a while.
//!
//! The least duration of a read is estimated elsewhere (`weight.rs`).

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tollgate_wire::plan::{Expand, Expression, ExpressionKind, Function, Options, Plan};

/// Longest time an attempt may block the loop.
///
/// Leaving the loop costs 30 µs of threads waking each other, whatever the read; an attempt that fails costs this, once
/// in [`REFRAIN`] reads of its form.
pub(crate) const HELD_UP_MAX: Duration = Duration::from_micros(200);

/// Number of reads of a form that leave the loop at once after an attempt has failed.
const REFRAIN: u8 = 64;

/// Number of distinguished forms. Two in one place are treated as one, which only costs time.
const PLACES: usize = 1024;

/// For each form, number of reads that still leave the loop at once.
#[derive(Debug)]
pub(crate) struct Attempts(Box<[AtomicU8]>);

/// Common part of reads that differ only in their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueryShape(u64);

impl Default for Attempts {
    fn default() -> Attempts {
        Attempts((0..PLACES).map(|_| AtomicU8::new(0)).collect())
    }
}

impl Attempts {
    /// Whether the next read of that form should be attempted.
    pub(crate) fn is_due(&self, form: QueryShape) -> bool {
        let place = self.place(form);
        let left = place.load(Ordering::Relaxed);
        // Another loop may count at the same time; how often exactly does not matter.
        place.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// Records that a read of that form took too long.
    pub(crate) fn failed(&self, form: QueryShape) {
        self.place(form).store(REFRAIN, Ordering::Relaxed);
    }

    fn place(&self, form: QueryShape) -> &AtomicU8 {
        // The upper bits are those that all others have moved.
        &self.0[(form.0 >> 32) as usize % PLACES]
    }
}

impl QueryShape {
    /// The form of a plan; `None` if a single value may take long, so that an attempt could not be ended in time.
    pub(crate) fn of(plan: &Plan) -> Option<QueryShape> {
        let mut form = QueryShape(0);
        form.note(plan.root.0);
        form.note(plan.key.is_some().into());
        for step in &plan.steps {
            form.note(step.navigation.0);
            form.note(step.key.is_some().into());
        }
        form.options(&plan.options)?;
        Some(form)
    }

    fn options(&mut self, options: &Options) -> Option<()> {
        if options.apply.is_some() {
            return None;
        }
        for expression in options.expressions() {
            self.expression(expression)?;
        }
        self.note(options.top.map_or(0, |top| top.min(1 << 20) as usize + 1));
        self.note(options.skip.map_or(0, |skip| skip.checked_ilog2().unwrap_or(0) as usize));
        self.note(options.skip_token.is_some().into());
        for Expand { navigation, target, options, .. } in &options.expand {
            self.note(navigation.0);
            self.note(target.0);
            self.options(options)?;
        }
        Some(())
    }

    fn expression(&mut self, expression: &Expression) -> Option<()> {
        let mut pending = vec![expression];
        while let Some(expression) = pending.pop() {
            match &expression.kind {
                ExpressionKind::Literal(_) => self.note(1),
                ExpressionKind::Column(column) => self.note(2 + column),
                ExpressionKind::Leaf { through, leaf, .. } => {
                    self.note(leaf.0);
                    through.iter().for_each(|(navigation, _)| self.note(navigation.0));
                }
                ExpressionKind::Not(inner) | ExpressionKind::Negate(inner) | ExpressionKind::Cast(inner) => {
                    self.note(3);
                    pending.push(inner);
                }
                ExpressionKind::Logic(logic, left, right) => {
                    self.note(*logic as usize);
                    pending.extend([&**left, &**right]);
                }
                ExpressionKind::Compare(comparison, left, right) => {
                    self.note(*comparison as usize);
                    pending.extend([&**left, &**right]);
                }
                ExpressionKind::Arithmetic(arithmetic, left, right) => {
                    self.note(*arithmetic as usize);
                    pending.extend([&**left, &**right]);
                }
                // They make texts longer within each other, compile a pattern, or read a list for each part of another.
                ExpressionKind::Call(
                    Function::Concat | Function::Replace | Function::MatchesPattern | Function::HasSubsequence,
                    _,
                ) => return None,
                ExpressionKind::Call(function, arguments) => {
                    self.note(*function as usize);
                    pending.extend(arguments);
                }
                ExpressionKind::In(inner, values) => {
                    self.note(values.len());
                    pending.push(inner);
                }
                ExpressionKind::Case(branches) => {
                    self.note(branches.len());
                    pending.extend(branches.iter().flat_map(|(condition, value)| [condition, value]));
                }
                ExpressionKind::Related(related) => {
                    self.note(related.navigation.0);
                    self.note(related.target.0);
                    pending.extend(&related.condition);
                }
                ExpressionKind::Items(items) => {
                    self.note(items.leaf.0);
                    items.through.iter().for_each(|(navigation, _)| self.note(navigation.0));
                    pending.extend(&items.condition);
                }
                ExpressionKind::Item(number) => self.note(*number),
            }
        }
        Some(())
    }

    fn note(&mut self, number: usize) {
        // Fibonacci hashing: each number moves all the bits above its own.
        self.0 = (self.0.rotate_left(5) ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use tollgate_wire::edm::Version;
    use tollgate_wire::plan::Resource;
    use tollgate_wire::url;

    use super::*;
    use crate::services::flights;

    fn form(query: &str) -> Option<QueryShape> {
        let (resource, _) = url::parse(&flights::model(), Version::V4, "FlightCollection", Some(query)).unwrap();
        let Resource::Read(plan) = resource else { panic!("{query} is read") };
        QueryShape::of(&plan)
    }

    fn check(left: &str, right: &str, same: bool) {
        assert_eq!(form(left).unwrap() == form(right).unwrap(), same, "{left} and {right}");
    }

    #[test]
    fn a_form_is_all_but_the_values() {
        check("$filter=PRICE%20gt%201", "$filter=PRICE%20gt%20422.94", true);
        check("$filter=PRICE%20gt%201", "$filter=PRICE%20lt%201", false);
        check("$filter=PRICE%20gt%201", "$filter=PAYMENTSUM%20gt%201", false);
        check("$orderby=PRICE", "$orderby=PAYMENTSUM", false);
        check("$top=10", "$top=20", false);
        check("$expand=flightBookings", "$expand=FlightCarrier", false);
        check("$expand=flightBookings($orderby=bookid)", "$expand=flightBookings($orderby=PASSNAME)", false);
    }

    #[test]
    fn what_may_take_long_for_one_row_has_none() {
        for query in [
            "$filter=concat(carrid,connid)%20eq%20'AA0017'",
            "$filter=matchesPattern(carrid,'A')",
            "$expand=flightBookings($filter=matchesPattern(PASSNAME,'A'))",
            "$filter=flightBookings/any(b:concat(b/PASSNAME,b/PASSNAME)%20eq%20'')",
            "$apply=groupby((carrid))",
        ] {
            assert_eq!(form(query), None, "{query}");
        }
        assert!(form("$filter=contains(tolower(flightDetails/cityFrom),'new')").is_some());
    }

    #[test]
    fn a_form_that_took_too_long_is_attempted_again_after_a_while() {
        let attempts = Attempts::default();
        let [long, other] = ["$orderby=PRICE", "$orderby=PAYMENTSUM"].map(|query| form(query).unwrap());
        assert!(attempts.is_due(long));
        attempts.failed(long);
        assert!((0..REFRAIN).all(|_| !attempts.is_due(long)) && attempts.is_due(other));
        assert!(attempts.is_due(long));
    }
}
