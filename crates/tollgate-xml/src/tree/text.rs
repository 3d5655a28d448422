//! Texts of a node: its value, and the string-value of XPath (section 5).

use std::borrow::Cow;

use super::{Backing, Document, NodeId, NodeKind};

impl Document<'_> {
    /// The value of an attribute, a text, a comment or a processing instruction; empty for elements and the root.
    #[inline]
    pub fn value(&self, node: NodeId) -> &str {
        let record = self.record(node);
        let (start, end) = (record.start as usize, record.end as usize);
        match (record.kind, record.place) {
            (NodeKind::Root | NodeKind::Element, _) => "",
            (_, Backing::Source) => &self.source[start..end],
            (_, Backing::Beside) => &self.unescaped[start..end],
        }
    }

    /// The string-value: for the root and elements all texts in them, one behind the other.
    ///
    /// Copied only where there is more than one text.
    pub fn string_value(&self, node: NodeId) -> Cow<'_, str> {
        let mut texts = self.texts(node);
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let mut whole = String::with_capacity(first.len() + second.len());
                whole.push_str(first);
                whole.push_str(second);
                whole.extend(texts);
                Cow::Owned(whole)
            }
        }
    }

    /// The pieces of the string-value, in order.
    #[inline]
    pub fn texts(&self, node: NodeId) -> impl Iterator<Item = &str> {
        let (own, within) = match self.kind(node) {
            NodeKind::Root | NodeKind::Element => (None, Some(self.descendants(node))),
            _ => (Some(self.value(node)), None),
        };
        let within = within.into_iter().flatten();
        own.into_iter().chain(within.filter(|node| self.kind(*node) == NodeKind::Text).map(|node| self.value(node)))
    }

    /// Whether the string-value is `expected`, without putting it together.
    #[inline]
    pub fn string_value_is(&self, node: NodeId, expected: &str) -> bool {
        self.string_value_compared(node, expected).0
    }

    /// As [`Document::string_value_is`], with the number of nodes looked at.
    #[inline]
    pub(crate) fn string_value_compared(&self, node: NodeId, expected: &str) -> (bool, u32) {
        if !matches!(self.kind(node), NodeKind::Root | NodeKind::Element) {
            return (self.value(node) == expected, 1);
        }
        let mut rest = expected;
        for inner in self.descendants(node) {
            if self.kind(inner) == NodeKind::Text {
                match rest.strip_prefix(self.value(inner)) {
                    Some(left) => rest = left,
                    None => return (false, inner.0 - node.0),
                }
            }
        }
        (rest.is_empty(), self.size(node))
    }
}
