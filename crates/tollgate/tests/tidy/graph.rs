//! Knots of arrows: groups whose members reach each other, and the order that breaks the fewest arrows.

use std::collections::{BTreeMap, BTreeSet};

/// Number of arrows from one thing to another.
pub(crate) type Weights = BTreeMap<(String, String), usize>;

/// The sets of two and more that all reach each other, largest first (Tarjan, 1972).
pub(crate) fn knots(weights: &Weights) -> Vec<BTreeSet<String>> {
    struct Search<'a> {
        next: BTreeMap<&'a str, Vec<&'a str>>,
        number: BTreeMap<&'a str, usize>,
        lowest: BTreeMap<&'a str, usize>,
        open: Vec<&'a str>,
        found: Vec<BTreeSet<String>>,
    }
    impl<'a> Search<'a> {
        fn visit(&mut self, node: &'a str) {
            let number = self.number.len();
            self.number.insert(node, number);
            self.lowest.insert(node, number);
            self.open.push(node);
            for next in self.next.get(node).cloned().unwrap_or_default() {
                if !self.number.contains_key(next) {
                    self.visit(next);
                    self.lowest.insert(node, self.lowest[node].min(self.lowest[next]));
                } else if self.open.contains(&next) {
                    self.lowest.insert(node, self.lowest[node].min(self.number[next]));
                }
            }
            if self.lowest[node] == number {
                let at = self.open.iter().position(|open| *open == node).expect("what is visited is open");
                self.found.push(self.open.split_off(at).into_iter().map(str::to_owned).collect());
            }
        }
    }
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in weights.keys() {
        next.entry(from).or_default().push(to);
    }
    let starts: Vec<&str> = next.keys().copied().collect();
    let (number, lowest) = (BTreeMap::new(), BTreeMap::new());
    let mut search = Search { next, number, lowest, open: Vec::new(), found: Vec::new() };
    for start in starts {
        if !search.number.contains_key(start) {
            search.visit(start);
        }
    }
    let mut found: Vec<_> = search.found.into_iter().filter(|knot| knot.len() > 1).collect();
    found.sort_by_key(|knot| std::cmp::Reverse(knot.len()));
    found
}

/// An order from the ground up in which few arrows lead up: greedy (Eades, Lin and Smyth, 1993), then each moved to its
/// best place, until nothing improves.
pub(crate) fn order(nodes: &BTreeSet<String>, weights: &Weights) -> Vec<String> {
    let nodes: Vec<&String> = nodes.iter().collect();
    let weight = |from: usize, to: usize| {
        weights.get(&(nodes[from].clone(), nodes[to].clone())).copied().unwrap_or_default().cast_signed()
    };
    let matrix: Vec<Vec<isize>> =
        (0..nodes.len()).map(|from| (0..nodes.len()).map(|to| weight(from, to)).collect()).collect();
    let (mut left, mut ground, mut top): (Vec<usize>, Vec<usize>, Vec<usize>) =
        ((0..nodes.len()).collect(), Vec::new(), Vec::new());
    while !left.is_empty() {
        let out = |node: &usize| left.iter().map(|to| matrix[*node][*to]).sum::<isize>();
        let into = |node: &usize| left.iter().map(|from| matrix[*from][*node]).sum::<isize>();
        let at = left.iter().position(|node| out(node) == 0);
        let (at, is_ground) = match at {
            Some(at) => (at, true),
            None => ((0..left.len()).max_by_key(|at| out(&left[*at]) - into(&left[*at])).unwrap_or_default(), false),
        };
        if is_ground { &mut ground } else { &mut top }.push(left.remove(at));
    }
    ground.extend(top.into_iter().rev());
    while improve(&mut ground, &matrix) {}
    ground.into_iter().map(|node| nodes[node].clone()).collect()
}

/// Moves each to its best place; whether any was moved.
fn improve(order: &mut Vec<usize>, matrix: &[Vec<isize>]) -> bool {
    let mut better = false;
    for node in order.clone() {
        let at = order.iter().position(|other| *other == node).expect("an order holds each");
        order.remove(at);
        // What leads up when it stands on the very ground, and how that changes with each that it climbs over.
        let mut cost: isize = order.iter().map(|other| matrix[node][*other]).sum();
        let mut costs = vec![cost];
        for other in order.iter() {
            cost += matrix[*other][node] - matrix[node][*other];
            costs.push(cost);
        }
        let best = (0..costs.len()).min_by_key(|place| costs[*place]).unwrap_or(at);
        let place = if costs[best] < costs[at] { best } else { at };
        better |= place != at;
        order.insert(place, node);
    }
    better
}
