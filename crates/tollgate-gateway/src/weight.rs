//! How long a read will take, about: a short one is done on the event loop, a long one leaves it.
//!
//! A statement borrows its connection and cannot be left half-way for the loop to do something else, so the choice is
//! made before it starts, from what the plan asks for and how many rows the tables have, as far as the gateway knows. It
//! need not be exact: it must not let a long read stop the loop, nor send every read by key to another thread.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_wire::edm::{Model, Multiplicity, SetId};
use tollgate_wire::plan::{Counting, Expand, Expression, ExpressionKind, Options, Plan, Shape};

/// Where a read is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the event loop.
    Loop,
    /// On a thread that may block, its answer in parts.
    Away,
}

/// What a row costs that is written (2.5 us as Atom, 1.4 us as JSON), one that is looked at for each node of what looks at
/// it, and one that is only counted, for which SQLite need not decode it.
const WRITTEN_NS: u64 = 2_500;
const NODE_NS: u64 = 100;
const COUNTED_NS: u64 = 10;

/// The longest read that may hold up the loop: about 20 rows of Atom.
///
/// Leaving the loop costs some 30 us of threads waking each other. Not leaving it costs the others: 4 clients with reads
/// by key beside 2 with lists of 400 as Atom, on one core, had 16,000 reads a second, half of them within 75 us and 99 %
/// within 11 ms; with the lists done on the loop 950, half within 2 ms and 99 % within 20 ms.
const LOOP_NS_MAX: u64 = 50_000;

/// Rows of each entity set, in the model's order: as they were counted at the start, with those that were inserted since.
#[derive(Debug, Default)]
pub(crate) struct Rows(Vec<AtomicU64>);

impl Rows {
    /// As many as were counted.
    pub(crate) fn counted(rows: impl IntoIterator<Item = u64>) -> Rows {
        Rows(rows.into_iter().map(AtomicU64::new).collect())
    }

    /// More were inserted. Those that are deleted are not noted: too large a number costs a little, too small a one could
    /// stop the loop.
    pub(crate) fn inserted(&self, set: SetId, rows: u64) {
        if let Some(counted) = self.0.get(set.0) {
            counted.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// All were deleted.
    pub(crate) fn emptied(&self, set: SetId) {
        if let Some(counted) = self.0.get(set.0) {
            counted.store(0, Ordering::Relaxed);
        }
    }

    /// Where `plan` is to be read when a page holds at most `page_size` entities.
    pub(crate) fn place(&self, model: &Model, plan: &Plan, page_size: u64) -> Place {
        if self.duration_ns(model, plan, page_size) <= LOOP_NS_MAX { Place::Loop } else { Place::Away }
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
        let all_looked_at = options.filter.is_some() || !options.order_by.is_empty();
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

    /// How many related entities there are for each, in all levels; nothing where that is more than a lookup.
    fn expanded(&self, model: &Model, set: SetId, expand: &[Expand]) -> Option<u64> {
        let entity_type = model.type_of(set);
        expand.iter().try_fold(0_u64, |sum, expand| {
            let options = &expand.options;
            if options.filter.is_some() || !options.order_by.is_empty() || expand.counts() {
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

    /// How many entities the path leads to, options left out.
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

    /// How many of `target` belong to one of `source` on average, and at least one.
    fn related(&self, source: SetId, target: SetId) -> u64 {
        self.of(target).div_ceil(self.of(source).max(1)).max(1)
    }

    fn of(&self, set: SetId) -> u64 {
        self.0.get(set.0).map_or(u64::MAX, |counted| counted.load(Ordering::Relaxed))
    }
}

/// How much there is to evaluate for a row that is looked at.
enum Nodes {
    Known(u64),
    /// A function is called: what it costs depends on its texts, which calls within calls make longer (8 carriers took
    /// 2 s with a filter of 1,650 characters).
    Calling,
}

fn nodes(options: &Options) -> Nodes {
    let mut pending: Vec<&Expression> = options.order_by.iter().map(|by| &by.expression).collect();
    pending.extend(&options.filter);
    pending.extend(options.compute.iter().map(|computed| &computed.expression));
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

    fn check(path: &str, query: &str, expected: Place) {
        let model = flights::model();
        let rows = Rows::counted([400, 8, 7_000, 100]);
        let (resource, _) = url::parse(&model, Version::V4, path, Some(query)).unwrap();
        let Resource::Read(plan) = resource else { panic!("{path} is read") };
        assert_eq!(rows.place(&model, &plan, 1_000), expected, "{path}?{query}");
    }

    #[test]
    fn one_entity_and_a_first_page_stay_on_the_loop() {
        let flight = "FlightCollection(carrid='AA',connid='0017',fldate=2011-06-01)";
        check(flight, "", Place::Loop);
        check(&format!("{flight}/PRICE"), "", Place::Loop);
        check(&format!("{flight}/FlightCarrier"), "", Place::Loop);
        check("FlightCollection", "$top=15", Place::Loop);
        check("FlightCollection/$count", "", Place::Loop);
        check("CarrierCollection", "$filter=carrid%20eq%20'AA'&$count=true", Place::Loop);
    }

    #[test]
    fn large_collections_and_scans_leave_it() {
        check("FlightCollection", "", Place::Away);
        check("FlightCollection", "$top=15&$skip=390", Place::Away);
        check("FlightCollection/$count", "$filter=PRICE%20gt%201", Place::Away);
        check("FlightCollection", "$orderby=PRICE&$top=1", Place::Away);
        check("BookingCollection", "$top=1&$count=true", Place::Away);
        check("FlightCollection", "$top=5&$expand=flightBookings", Place::Away);
        check("CarrierCollection('AA')/carrierFlights", "", Place::Away);
    }

    #[test]
    fn what_an_expression_costs_grows_with_its_size_and_a_call_always_leaves_the_loop() {
        let few = "carrid%20eq%20'AA'%20or%20carrid%20eq%20'LH'";
        check("CarrierCollection", &format!("$filter={few}"), Place::Loop);
        check("CarrierCollection", &format!("$filter={}", [few; 20].join("%20or%20")), Place::Away);
        check("CarrierCollection/$count", "$filter=length(CARRNAME)%20gt%203", Place::Away);
        check("CarrierCollection", "$orderby=carrid,tolower(CARRNAME)", Place::Away);
    }
}
