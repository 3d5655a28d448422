//! Making a document: nodes are only ever added at its end, in document order. The reader of XML and the writer of
//! result trees both use it.
//!
//! It trusts its caller that what is added is well-formed; it keeps the budget.

use std::borrow::Cow;
use std::ops::Range;

use super::scope::{Link, NO_LINK, ROOT_SCOPE};
use super::{Backing, Document, NodeId, NodeKind, Record};
use crate::budget::{Budget, PREFIXES_MAX, exceeded};
use crate::error::Error;
use crate::names::{Name, Names, Namespace, Prefix, number};

/// A document that still grows.
#[derive(Debug)]
pub(crate) struct Builder<'s> {
    document: Document<'s>,
    open: Vec<OpenNode>,
    /// For each prefix the number of its innermost declaration; empty while there are few declarations.
    innermost: Vec<u32>,
    nodes_max: usize,
    depth_max: usize,
}

/// An element that is not closed yet, or the root.
#[derive(Debug, Clone, Copy)]
struct OpenNode {
    node: NodeId,
    last_child: Option<NodeId>,
    scope: u32,
    /// Whether its source is its exact content.
    place: Backing,
}

/// Most declarations that are searched one by one for a prefix; a message has a handful.
const DECLARATIONS_FEW: usize = 16;

/// The memory of a document that is no longer needed, empty.
#[derive(Debug)]
pub(crate) struct Spare {
    unescaped: String,
    records: Vec<Record>,
    names: Names,
    scopes: Vec<Link>,
}

impl Spare {
    /// Bytes that are kept at most: a large document gives its memory back.
    const BYTES_MAX: usize = 1 << 20;

    /// The memory of a document, if it is worth keeping.
    pub(crate) fn of(document: Document<'_>) -> Option<Spare> {
        if document.memory_bytes() > Spare::BYTES_MAX || !document.names.is_small() {
            return None;
        }
        let Document { mut unescaped, mut records, mut names, mut scopes, .. } = document;
        unescaped.clear();
        records.clear();
        names.clear();
        scopes.clear();
        Some(Spare { unescaped, records, names, scopes })
    }
}

/// The place of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// In the source.
    Source(Range<usize>),
    /// Among the texts beside it, whose bytes [`Builder::beside`] wrote.
    Beside(Range<usize>),
}

impl Value {
    fn placed(self) -> (Backing, Range<usize>) {
        match self {
            Value::Source(span) => (Backing::Source, span),
            Value::Beside(span) => (Backing::Beside, span),
        }
    }
}

/// The origin of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is in the source.
    Source,
    /// It was made.
    Made,
}

/// A prefix as it is stored with each node.
fn narrow(prefix: Prefix) -> Result<u16, Error> {
    u16::try_from(prefix.0).map_err(|_| exceeded("prefixes of a document", u64::from(PREFIXES_MAX)))
}

impl<'s> Builder<'s> {
    pub(crate) fn new(source: Cow<'s, str>, budget: &Budget) -> Builder<'s> {
        Builder::within(source, budget, None)
    }

    /// As [`Builder::new`], in the memory of another document.
    pub(crate) fn within(source: Cow<'s, str>, budget: &Budget, spare: Option<Spare>) -> Builder<'s> {
        let Spare { unescaped, records, names, mut scopes } = spare.unwrap_or_else(|| Spare {
            unescaped: String::new(),
            // A node for each 16 bytes is the density of small messages; large documents have fewer.
            records: Vec::with_capacity((source.len() / 16).clamp(16, 1 << 16)),
            names: Names::new(),
            scopes: Vec::with_capacity(8),
        });
        scopes.push(Link { prefix: Prefix::XML, namespace: Namespace::XML, outer: ROOT_SCOPE, hidden: NO_LINK });
        let mut document = Document {
            source,
            unescaped,
            records,
            names,
            scopes,
            identifiers: Vec::new(),
            unparsed_entities: Vec::new(),
            steps_max: budget.instructions_max,
        };
        document.records.push(Record {
            kind: NodeKind::Root,
            place: Backing::Beside,
            prefix: 0,
            name: Name(0),
            parent: NodeId::ROOT,
            behind: NodeId(1),
            previous: NodeId::ROOT,
            start: 0,
            end: 0,
            scope: ROOT_SCOPE,
        });
        let root = OpenNode { node: NodeId::ROOT, last_child: None, scope: ROOT_SCOPE, place: Backing::Beside };
        let mut open = Vec::with_capacity(16);
        open.push(root);
        Builder { document, open, innermost: Vec::new(), nodes_max: budget.nodes_max, depth_max: budget.depth_max }
    }

    /// Names of the document.
    pub(crate) fn names(&mut self) -> &mut Names {
        &mut self.document.names
    }

    /// The document as built so far.
    pub(crate) fn document(&self) -> &Document<'s> {
        &self.document
    }

    /// Elements that are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len() - 1
    }

    /// The innermost open element, or the root.
    pub(crate) fn current(&self) -> NodeId {
        self.top().node
    }

    /// The texts beside the source, to be written at their end.
    pub(crate) fn beside(&mut self) -> &mut String {
        &mut self.document.unescaped
    }

    fn top(&self) -> &OpenNode {
        self.open.last().expect("the root is never closed")
    }

    fn top_mut(&mut self) -> &mut OpenNode {
        self.open.last_mut().expect("the root is never closed")
    }

    fn push(
        &mut self,
        kind: NodeKind,
        prefix: Prefix,
        name: Name,
        place: Backing,
        span: Range<usize>,
    ) -> Result<NodeId, Error> {
        let records = &mut self.document.records;
        if records.len() >= self.nodes_max {
            return Err(exceeded("nodes of a document", self.nodes_max as u64));
        }
        let node = NodeId(number(records.len()));
        let top = self.open.last_mut().expect("the root is never closed");
        let previous = match kind {
            NodeKind::Attribute => node,
            _ => top.last_child.replace(node).unwrap_or(node),
        };
        let prefix = narrow(prefix)?;
        records.push(Record {
            kind,
            place,
            prefix,
            name,
            parent: top.node,
            behind: NodeId(node.0 + 1),
            previous,
            start: number(span.start),
            end: number(span.end),
            scope: top.scope,
        });
        Ok(node)
    }

    /// Opens an element; its declarations come next, then its name by [`Builder::name_element`], then attributes.
    pub(crate) fn open_element(&mut self, source_start: usize, origin: Origin) -> Result<(), Error> {
        if self.depth() >= self.depth_max {
            return Err(exceeded("elements in each other", self.depth_max as u64));
        }
        let place = match origin {
            Origin::Source => Backing::Source,
            Origin::Made => Backing::Beside,
        };
        let scope = self.top().scope;
        let node = self.push(NodeKind::Element, Prefix::NONE, Name(0), place, source_start..source_start)?;
        self.open.push(OpenNode { node, last_child: None, scope, place });
        Ok(())
    }

    /// Adds a declaration to the element just opened.
    pub(crate) fn declare(&mut self, prefix: Prefix, namespace: Namespace) {
        let outer = self.top().scope;
        let scope = number(self.document.scopes.len());
        self.document.scopes.push(Link { prefix, namespace, outer, hidden: NO_LINK });
        let top = self.top_mut();
        top.scope = scope;
        let node = top.node;
        self.document.records[node.index()].scope = scope;
        if !self.innermost.is_empty() {
            self.enter(scope);
        } else if self.document.scopes.len() > DECLARATIONS_FEW {
            self.enter_all(scope);
        }
    }

    /// Makes the table of the innermost declarations, of those in scope.
    fn enter_all(&mut self, innermost: u32) {
        let mut chain = vec![innermost];
        let mut at = innermost;
        while at != ROOT_SCOPE {
            at = self.document.scopes[at as usize].outer;
            chain.push(at);
        }
        chain.into_iter().rev().for_each(|link| self.enter(link));
    }

    /// A declaration becomes the innermost of its prefix.
    fn enter(&mut self, link: u32) {
        let declared = &mut self.document.scopes[link as usize];
        let prefix = declared.prefix.0 as usize;
        if prefix >= self.innermost.len() {
            self.innermost.resize((prefix + 1).next_power_of_two(), NO_LINK);
        }
        declared.hidden = std::mem::replace(&mut self.innermost[prefix], link);
    }

    /// Ends the declarations of an element: from `innermost` out to `outer`, which stays in effect.
    fn leave(&mut self, innermost: u32, outer: u32) {
        let mut at = innermost;
        while at != outer {
            let link = self.document.scopes[at as usize];
            self.innermost[link.prefix.0 as usize] = link.hidden;
            at = link.outer;
        }
    }

    /// The namespace of a prefix where the document now grows; `None` if it is not declared. Without a prefix, no
    /// namespace is the answer too.
    pub(crate) fn resolve(&self, prefix: Prefix) -> Option<Namespace> {
        let found = if self.innermost.is_empty() {
            self.document.resolve(self.top().scope, prefix)
        } else {
            let link = self.innermost.get(prefix.0 as usize).filter(|link| **link != NO_LINK);
            link.map(|link| self.document.scopes[*link as usize].namespace)
        };
        match found {
            None if prefix == Prefix::NONE => Some(Namespace::NONE),
            found => found,
        }
    }

    /// Names the element just opened.
    pub(crate) fn name_element(&mut self, prefix: Prefix, name: Name) -> Result<(), Error> {
        let node = self.top().node;
        let record = &mut self.document.records[node.index()];
        record.name = name;
        record.prefix = narrow(prefix)?;
        Ok(())
    }

    /// Adds an attribute to the element just opened.
    pub(crate) fn attribute(&mut self, prefix: Prefix, name: Name, value: Value) -> Result<NodeId, Error> {
        let (place, span) = value.placed();
        self.push(NodeKind::Attribute, prefix, name, place, span)
    }

    /// Adds a text, a comment or a processing instruction (whose target is `name`).
    pub(crate) fn leaf(&mut self, kind: NodeKind, name: Name, value: Value) -> Result<NodeId, Error> {
        let (place, span) = value.placed();
        self.push(kind, Prefix::NONE, name, place, span)
    }

    /// Marks the source of the open elements as different from their content.
    pub(crate) fn departs_from_source(&mut self) {
        self.top_mut().place = Backing::Beside;
    }

    /// Closes the innermost element, whose source ends before `source_end`.
    pub(crate) fn close_element(&mut self, source_end: usize) {
        let closed = self.open.pop().expect("an element was opened before it is closed");
        let behind = NodeId(number(self.document.records.len()));
        let record = &mut self.document.records[closed.node.index()];
        record.behind = behind;
        record.place = closed.place;
        record.end = number(source_end);
        if closed.place == Backing::Beside {
            self.departs_from_source();
        }
        if !self.innermost.is_empty() {
            self.leave(closed.scope, self.top().scope);
        }
    }

    /// The document, once all is closed.
    pub(crate) fn finish(
        mut self,
        identifiers: Vec<(Box<str>, NodeId)>,
        unparsed_entities: Vec<(Box<str>, Box<str>)>,
    ) -> Document<'s> {
        let behind = NodeId(number(self.document.records.len()));
        self.document.records[0].behind = behind;
        self.document.identifiers = identifiers;
        self.document.unparsed_entities = unparsed_entities;
        self.document
    }
}
