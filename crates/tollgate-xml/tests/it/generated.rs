//! Random small trees and random expressions, made from random bytes: what a byte means depends on those before it.

use super::naive::{AXES, Expression, Kind, Node, Step, Tree};

/// Bytes taken one by one; behind their end come zeros, which choose what is small.
pub(crate) struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

/// Nodes of a tree at most.
const NODES_MAX: usize = 24;

const NAMES: [&str; 3] = ["a", "b", "c"];
const TEXTS: [&str; 5] = ["1", "2", "x", " 3 ", "10"];

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Choices<'b> {
        Choices { bytes: bytes.iter() }
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(*self.bytes.next().unwrap_or(&0)) % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A tree with one element under its root.
    pub(crate) fn tree(&mut self) -> Tree {
        let root = Node { parent: None, kind: Kind::Root, name: "", value: String::new() };
        let mut nodes = vec![root];
        self.element(&mut nodes, 0);
        Tree(nodes)
    }

    fn element(&mut self, nodes: &mut Vec<Node>, parent: usize) {
        let name = self.one(&NAMES);
        let element = nodes.len();
        nodes.push(Node { parent: Some(parent), kind: Kind::Element, name, value: String::new() });
        for name in &NAMES[..self.below(NAMES.len())] {
            let value = self.one(&TEXTS).to_owned();
            nodes.push(Node { parent: Some(element), kind: Kind::Attribute, name, value });
        }
        let mut before = Kind::Root;
        for _ in 0..self.below(5) {
            if nodes.len() >= NODES_MAX {
                return;
            }
            // Two texts beside each other are one.
            let kind = self.one(&[Kind::Element, Kind::Text, Kind::Element, Kind::Comment]);
            let kind = if kind == before && kind == Kind::Text { Kind::Comment } else { kind };
            before = kind;
            if kind == Kind::Element {
                self.element(nodes, element);
            } else {
                let value = self.one(&TEXTS).to_owned();
                nodes.push(Node { parent: Some(element), kind, name: "", value });
            }
        }
    }

    /// An expression of any type; `depth` is how deep it may still go.
    pub(crate) fn expression(&mut self, depth: usize) -> Expression {
        const OPERATORS: [&str; 12] = ["=", "!=", "<", "<=", ">", ">=", "and", "or", "+", "-", "*", "mod"];
        let simple = if depth == 0 { 5 } else { 10 };
        match self.below(simple) {
            0 | 1 => self.path(depth.min(1)),
            2 => Expression::Number(self.one(&[1, 2, 3, 0])),
            3 => Expression::Position,
            4 if self.below(2) == 0 => Expression::Last,
            4 => Expression::Text(self.one(&TEXTS)),
            5 | 6 => {
                let operator = self.one(&OPERATORS);
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                Expression::Binary(operator, Box::new(left), Box::new(right))
            }
            7 => {
                let function = self.one(&["not", "boolean", "string", "number", "string-length"]);
                Expression::Call(function, Box::new(self.expression(depth - 1)))
            }
            8 => Expression::Call(self.one(&["count", "sum"]), Box::new(self.nodes(depth - 1))),
            _ => self.nodes(depth),
        }
    }

    /// An expression whose value is a set of nodes.
    pub(crate) fn nodes(&mut self, depth: usize) -> Expression {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 | 1 => self.path(depth),
            2 => Expression::Union(Box::new(self.nodes(depth - 1)), Box::new(self.nodes(depth - 1))),
            _ => {
                let (nodes, predicate) = (self.nodes(depth - 1), self.expression(depth - 1));
                Expression::Filter(Box::new(nodes), Box::new(predicate), self.steps(0, depth - 1))
            }
        }
    }

    fn path(&mut self, depth: usize) -> Expression {
        let is_absolute = self.below(2) == 1;
        Expression::Path(is_absolute, self.steps(1, depth))
    }

    fn steps(&mut self, least: usize, depth: usize) -> Vec<Step> {
        let count = least + self.below(3);
        (0..count).map(|_| self.step(depth)).collect()
    }

    fn step(&mut self, depth: usize) -> Step {
        let (axis, _) = self.one(&AXES);
        let test = self.one(&["*", "a", "b", "node()", "text()", "comment()", "c"]);
        let predicates = if depth == 0 { 0 } else { self.one(&[0, 1, 0, 2]) };
        Step { axis, test, predicates: (0..predicates).map(|_| self.expression(depth - 1)).collect() }
    }
}

/// The tree as a document.
pub(crate) fn source(tree: &Tree, node: usize) -> String {
    let Tree(nodes) = tree;
    let of_kind = |is_attribute: bool| {
        nodes
            .iter()
            .enumerate()
            .filter(move |(_, inner)| inner.parent == Some(node) && (inner.kind == Kind::Attribute) == is_attribute)
    };
    let Node { kind, name, value, .. } = &nodes[node];
    let children = || of_kind(false).map(|(child, _)| source(tree, child)).collect::<String>();
    match kind {
        Kind::Root => children(),
        Kind::Element => {
            let attributes: String =
                of_kind(true).map(|(_, attribute)| format!(" {}='{}'", attribute.name, attribute.value)).collect();
            format!("<{name}{attributes}>{}</{name}>", children())
        }
        Kind::Attribute | Kind::Text => value.clone(),
        Kind::Comment => format!("<!--{value}-->"),
    }
}
