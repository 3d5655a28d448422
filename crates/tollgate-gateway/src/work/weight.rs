//! Estimated duration of a read: a short one is done on the event loop, a long one leaves it, and one of unknown
//! duration is attempted there (`attempts.rs`).
//!
//! A statement borrows its connection and cannot be left half-way for the loop to do something else, so the choice is
//! made before it starts, from the plan and the number of rows in the tables, as far as the gateway knows. It need not
//! be exact: it must not let a long read stop the loop, nor send every read by key to another thread.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_wire::edm::{Model, Multiplicity, SetId};
use tollgate_wire::plan::{Columns, Counting, Expand, Expression, ExpressionKind, Options, Plan, Shape};

use crate::work::attempts::{Attempts, HELD_UP_MAX, QueryShape};

/// Place of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkPlace {
    /// On the event loop.
    Loop,
    /// On a thread that may block, with the answer in parts.
    Away,
}

/// Place of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadPlace {
    /// On the event loop.
    Loop,
    /// On the event loop if it blocks it only for a moment, and outside it if it takes longer.
    Attempt(QueryShape),
    /// Outside it.
    Away,
}

/// Cost of a written row (2.5 µs as Atom, 1.4 µs as JSON), of an examined row for each node of the expression, and of a
/// counted row, which SQLite need not decode.
const WRITTEN_NS: u64 = 2_500;
const NODE_NS: u64 = 100;
const COUNTED_NS: u64 = 10;

/// Least cost of a written value: short and as JSON.
const VALUE_NS_MIN: u64 = 30;

/// Longest read treated as short: about 20 rows of Atom.
///
/// Leaving the loop costs some 30 µs of threads waking each other. Not leaving it costs the others: 4 clients with
/// reads by key beside 2 with lists of 400 as Atom, on one core, had 16,000 reads a second, half of them within 75 µs
/// and 99 % within 11 ms; with the lists done on the loop 950, half within 2 ms and 99 % within 20 ms.
const LOOP_NS_MAX: u64 = 50_000;

/// Rows of each entity set, in the model's order: the counts from the start, and the rows inserted since.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    counted: Vec<AtomicU64>,
    attempts: Attempts,
}

impl Rows {
    /// Creates them with these counts.
    pub(crate) fn counted(rows: impl IntoIterator<Item = u64>) -> Rows {
        Rows { counted: rows.into_iter().map(AtomicU64::new).collect(), attempts: Attempts::default() }
    }

    /// Adds inserted rows. Deleted ones are not counted: too large a number costs a little, too small a one could block
    /// the loop.
    pub(crate) fn inserted(&self, set: SetId, rows: u64) {
        if let Some(counted) = self.counted.get(set.0) {
            counted.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// Records that all rows were deleted.
    pub(crate) fn emptied(&self, set: SetId) {
        if let Some(counted) = self.counted.get(set.0) {
            counted.store(0, Ordering::Relaxed);
        }
    }

    /// Place where `plan` is to be read if a page has at most `page_size` entities.
    pub(crate) fn place(&self, model: &Model, plan: &Plan, page_size: u64) -> ReadPlace {
        if self.duration_ns(model, plan, page_size) <= LOOP_NS_MAX {
            return ReadPlace::Loop;
        }
        if u128::from(self.least_ns(model, plan, page_size)) > HELD_UP_MAX.as_nanos() {
            return ReadPlace::Away;
        }
        QueryShape::of(plan).filter(|form| self.attempts.is_due(*form)).map_or(ReadPlace::Away, ReadPlace::Attempt)
    }

    /// Records that an attempted read of that form took too long.
    pub(crate) fn attempt_failed(&self, form: QueryShape) {
        self.attempts.failed(form);
    }

    /// Least duration, as far as known: 0 if a filter may leave no rows. Counting in SQLite cannot be interrupted
    /// half-way.
    fn least_ns(&self, model: &Model, plan: &Plan, page_size: u64) -> u64 {
        let options = &plan.options;
        let reached = self.reached(model, plan);
        let counts = plan.shape == Shape::Count || options.count == Counting::Total;
        let counted = if counts { reached.saturating_mul(COUNTED_NS) } else { 0 };
        if options.narrows() || plan.shape == Shape::Count {
            return counted;
        }
        let page = page_size.min(options.top.unwrap_or(u64::MAX)).min(reached);
        counted
            .saturating_add(page.saturating_mul(self.values(model, plan.set(), options)).saturating_mul(VALUE_NS_MIN))
    }

    /// Number of values to write for each entity, at least and on average.
    fn values(&self, model: &Model, set: SetId, options: &Options) -> u64 {
        let entity_type = model.type_of(set);
        let own = Columns::new(entity_type, &options.select, &options.expand).shown as u64;
        let expanded = options.expand.iter().map(|expand| {
            let many = entity_type.navigation[expand.navigation.0].multiplicity == Multiplicity::Many;
            let related = match (many, expand.options.narrows()) {
                (_, true) => 0,
                (true, false) => self.related(set, expand.target).min(expand.options.top.unwrap_or(u64::MAX)),
                (false, false) => 1,
            };
            related.saturating_mul(self.values(model, expand.target, &expand.options))
        });
        expanded.fold(own, u64::saturating_add)
    }

    fn duration_ns(&self, model: &Model, plan: &Plan, page_size: u64) -> u64 {
        let options = &plan.options;
        if options.apply.is_some() {
            return u64::MAX;
        }
        let nodes = match nodes(options) {
            Nodes::Known(nodes) => nodes,
            Nodes::Calling => return u64::MAX,
        };
        let reached = self.reached(model, plan);
        let page = page_size.min(options.top.unwrap_or(u64::MAX)).min(reached);
        let all_looked_at = options.narrows() || !options.order_by.is_empty();
        let counted = if plan.shape == Shape::Count || options.count == Counting::Total { reached } else { 0 };
        let (looked_at, written) = match plan.shape {
            // Preparing an expression takes about as long as evaluating it once, rows or none.
            Shape::Count if all_looked_at => (reached.saturating_add(1), 0),
            Shape::Count => (0, 0),
            Shape::Collection if all_looked_at => (reached.saturating_add(1), page),
            Shape::Collection => (page.saturating_add(options.skip.unwrap_or(0)).min(reached), page),
            Shape::Entity | Shape::Property(_) | Shape::Leaf(_) | Shape::RawValue(_) | Shape::Stream => (1, 1),
        };
        let Some(expanded) = self.expanded(model, plan.set(), &options.expand) else { return u64::MAX };
        let written = written.saturating_mul(1 + expanded);
        [(counted, COUNTED_NS), (looked_at, NODE_NS.saturating_mul(nodes)), (written, WRITTEN_NS)]
            .into_iter()
            .fold(0, |sum: u64, (rows, each_ns)| sum.saturating_add(rows.saturating_mul(each_ns)))
    }

    /// Number of related entities for each, in all levels; `None` if finding them is more than a lookup.
    fn expanded(&self, model: &Model, set: SetId, expand: &[Expand]) -> Option<u64> {
        let entity_type = model.type_of(set);
        expand.iter().try_fold(0_u64, |sum, expand| {
            let options = &expand.options;
            if options.narrows() || !options.order_by.is_empty() || expand.counts() {
                return None;
            }
            let related = match entity_type.navigation[expand.navigation.0].multiplicity {
                Multiplicity::ZeroOrOne | Multiplicity::One => 1,
                Multiplicity::Many => self.related(set, expand.target),
            };
            let inner = self.expanded(model, expand.target, &options.expand)?;
            Some(sum.saturating_add(related.saturating_mul(1 + inner)))
        })
    }

    /// Number of entities that the path leads to, ignoring options.
    fn reached(&self, model: &Model, plan: &Plan) -> u64 {
        let mut reached = if plan.key.is_some() { 1 } else { self.of(plan.root) };
        let mut set = plan.root;
        for step in &plan.steps {
            reached = match model.type_of(set).navigation[step.navigation.0].multiplicity {
                Multiplicity::Many if step.key.is_none() => reached.saturating_mul(self.related(set, step.target)),
                _ => reached,
            };
            set = step.target;
        }
        reached
    }

    /// Average number of `target` that belong to one of `source`, at least one.
    fn related(&self, source: SetId, target: SetId) -> u64 {
        self.of(target).div_ceil(self.of(source).max(1)).max(1)
    }

    fn of(&self, set: SetId) -> u64 {
        self.counted.get(set.0).map_or(u64::MAX, |counted| counted.load(Ordering::Relaxed))
    }
}

/// Number of nodes to evaluate for an examined row.
enum Nodes {
    Known(u64),
    /// A function is called: its cost depends on its texts, which calls within calls make longer (8 carriers took 2 s
    /// with a filter of 1,650 characters).
    Calling,
}

fn nodes(options: &Options) -> Nodes {
    let mut pending: Vec<&Expression> = options.expressions().collect();
    // To step to a row and to decode it costs about as much as two nodes.
    let mut nodes = 2;
    while let Some(expression) = pending.pop() {
        nodes += 1;
        match &expression.kind {
            ExpressionKind::Literal(_) | ExpressionKind::Column(_) | ExpressionKind::Item(_) => {}
            ExpressionKind::Leaf { through, .. } => nodes += through.len() as u64,
            ExpressionKind::Not(inner) | ExpressionKind::Negate(inner) => pending.push(inner),
            ExpressionKind::Logic(_, left, right)
            | ExpressionKind::Compare(_, left, right)
            | ExpressionKind::Arithmetic(_, left, right) => pending.extend([&**left, &**right]),
            ExpressionKind::Cast(inner) => pending.push(inner),
            ExpressionKind::In(inner, values) => {
                nodes += values.len() as u64;
                pending.push(inner);
            }
            ExpressionKind::Case(branches) => {
                pending.extend(branches.iter().flat_map(|(condition, value)| [condition, value]));
            }
            // A question looks at other rows, or into a list, for each row.
            ExpressionKind::Call(..) | ExpressionKind::Related(_) | ExpressionKind::Items(_) => return Nodes::Calling,
        }
    }
    Nodes::Known(nodes)
}

#[cfg(test)]
mod tests {
    use tollgate_wire::edm::Version;
    use tollgate_wire::plan::Resource;
    use tollgate_wire::url;

    use super::*;
    use crate::services::flights;

    #[derive(Debug, PartialEq)]
    enum Expected {
        Loop,
        Attempt,
        Away,
    }

    use Expected::{Attempt, Away, Loop};

    fn check(path: &str, query: &str, expected: Expected) {
        let model = flights::model();
        let rows = Rows::counted([400, 8, 7_000, 100]);
        let (resource, _) = url::parse(&model, Version::V4, path, Some(query)).unwrap();
        let Resource::Read(plan) = resource else { panic!("{path} is read") };
        let place = match rows.place(&model, &plan, 1_000) {
            ReadPlace::Loop => Loop,
            ReadPlace::Attempt(_) => Attempt,
            ReadPlace::Away => Away,
        };
        assert_eq!(place, expected, "{path}?{query}");
    }

    #[test]
    fn one_entity_and_a_first_page_stay_on_the_loop() {
        let flight = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
        check(flight, "", Loop);
        check(&format!("{flight}/PRICE"), "", Loop);
        check(&format!("{flight}/FlightCarrier"), "", Loop);
        check("FlightCollection", "$top=15", Loop);
        check("FlightCollection/$count", "", Loop);
        check("CarrierCollection", "$filter=carrid%20eq%20'AA'&$count=true", Loop);
    }

    #[test]
    fn what_is_large_by_itself_leaves_it() {
        check("FlightCollection", "", Away);
        check("BookingCollection", "$select=PASSNAME&$top=20&$expand=bookedFlight($expand=flightBookings)", Away);
        check("FlightCollection", "$apply=groupby((carrid))", Away);
    }

    #[test]
    fn what_a_filter_leaves_and_what_a_sort_costs_is_attempted() {
        check("FlightCollection", "$top=15&$skip=390", Attempt);
        check("FlightCollection/$count", "$filter=PRICE%20gt%201", Attempt);
        check("FlightCollection", "$filter=PRICE%20gt%201", Attempt);
        check("FlightCollection", "$orderby=PRICE&$top=1", Attempt);
        check("BookingCollection", "$top=1&$count=true", Attempt);
        check("FlightCollection", "$top=5&$expand=flightBookings", Attempt);
        check("CarrierCollection('AA')/carrierFlights", "$select=PRICE", Attempt);
    }

    #[test]
    fn what_an_expression_costs_grows_with_its_size() {
        let few = "carrid%20eq%20'AA'%20or%20carrid%20eq%20'LH'";
        check("CarrierCollection", &format!("$filter={few}"), Loop);
        check("CarrierCollection", &format!("$filter={}", [few; 20].join("%20or%20")), Attempt);
        check("CarrierCollection/$count", "$filter=length(CARRNAME)%20gt%203", Attempt);
        check("CarrierCollection", "$orderby=carrid,tolower(CARRNAME)", Attempt);
        check("CarrierCollection", "$filter=concat(CARRNAME,CARRNAME)%20eq%20''", Away);
    }

    #[test]
    fn a_form_whose_attempt_failed_leaves_it() {
        let (model, rows) = (flights::model(), Rows::counted([400, 8, 7_000, 100]));
        let (resource, _) =
            url::parse(&model, Version::V4, "FlightCollection", Some("$filter=PRICE%20gt%201")).unwrap();
        let Resource::Read(plan) = resource else { panic!("it is read") };
        let ReadPlace::Attempt(form) = rows.place(&model, &plan, 20) else { panic!("it is attempted") };
        rows.attempt_failed(form);
        assert_eq!(rows.place(&model, &plan, 20), ReadPlace::Away);
    }
}
