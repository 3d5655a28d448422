//! One element made the only one of its document, in place: the input of a stylesheet for the payload of an envelope.
//!
//! It copies no text and looks at no name: records move to the front, and the numbers in them with them.

use super::{Document, NodeId};

impl Document<'_> {
    /// Leaves out all but one element and what is in it. It is then the document element; the namespaces in scope stay as
    /// they were, and so do its places in the source.
    ///
    /// ```
    /// use tollgate_xml::{Document, tree::NodeId};
    ///
    /// let mut document = Document::parse("<e xmlns:p='u'><h/><p:b><c/></p:b></e>")?;
    /// let envelope = document.document_element().expect("a document has an element");
    /// let body = document.children(envelope).nth(1).expect("there are two");
    /// let body = document.isolate(body);
    /// assert_eq!(document.document_element(), Some(body));
    /// assert_eq!(document.source_of(body), Some("<p:b><c/></p:b>"));
    /// # Ok::<(), tollgate_xml::Error>(())
    /// ```
    pub fn isolate(&mut self, element: NodeId) -> NodeId {
        let (begin, end) = (element.index(), self.behind(element).index());
        // The root stays where it is, the element becomes the node behind it.
        let moved = |node: NodeId| NodeId(node.0 - element.0 + 1);
        self.records.copy_within(begin..end, 1);
        self.records.truncate(1 + end - begin);
        let isolated = NodeId(1);
        for record in &mut self.records[1..] {
            record.behind = moved(record.behind);
            // Those of the element itself stood before it.
            record.parent = if record.parent < element { NodeId::ROOT } else { moved(record.parent) };
            record.previous = if record.previous < element { isolated } else { moved(record.previous) };
        }
        self.records[0].behind = NodeId(isolated.0 + (end - begin) as u32);
        self.identifiers.retain(|(_, node)| (begin..end).contains(&node.index()));
        self.identifiers.iter_mut().for_each(|(_, node)| *node = moved(*node));
        isolated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::NodeKind;

    /// Everything that a tree can be asked.
    fn told(document: &Document<'_>) -> Vec<String> {
        let of = |node: NodeId| {
            let around = [document.parent(node), document.previous_sibling(node), document.next_sibling(node)];
            let attributes = document.attributes(node).map(|attribute| document.value(attribute).to_owned());
            let attributes: Vec<String> = attributes.collect();
            let (name, value) = (document.local_name(node), document.string_value(node));
            format!("{node:?} {:?} {name} {value} {around:?} {attributes:?}", document.kind(node))
        };
        [NodeId::ROOT].into_iter().chain(document.descendants(NodeId::ROOT)).map(of).collect()
    }

    #[test]
    fn every_element_isolated_is_what_its_own_text_would_be() {
        let source = "<a k='1'><b><c x='&lt;'>t<d/>u</c><!-- n --></b>v<?p q?><e y='2' z='3'><f>w</f></e></a>";
        let whole = Document::parse(source).unwrap();
        let elements = whole.descendants(NodeId::ROOT).filter(|node| whole.kind(*node) == NodeKind::Element);
        for element in elements {
            let mut isolated = whole.clone();
            let root = isolated.isolate(element);
            let text = whole.source_of(element).unwrap();
            assert_eq!(told(&isolated), told(&Document::parse(text).unwrap()), "{text}");
            assert_eq!(isolated.source_of(root), Some(text));
            assert_eq!(isolated.source_span(root).map(|span| &source[span]), Some(text));
        }
    }

    #[test]
    fn namespaces_in_scope_stay() {
        let mut document = Document::parse("<e xmlns='d' xmlns:p='u'><b xmlns:q='v'><p:c/></b></e>").unwrap();
        let payload = document.descendants(NodeId::ROOT).nth(2).unwrap();
        let payload = document.isolate(payload);
        assert_eq!(document.local_name(payload), "c");
        for (prefix, namespace) in [("", "d"), ("p", "u"), ("q", "v")] {
            assert_eq!(document.lookup(payload, prefix), Some(namespace), "{prefix}");
        }
    }
}
