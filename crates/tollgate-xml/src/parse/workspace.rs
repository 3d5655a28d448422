//! Memory that goes from one document to the next: a reader of several messages allocates for the first only.
//!
//! It keeps the memory of one document and no contents. A large document's memory is given back.

use super::{Options, parse_bytes_within, parse_within};
use crate::error::Error;
use crate::tree::{Document, Spare};

/// Reads documents into the memory of those that are no longer needed. Each thread has its own.
///
/// ```
/// use tollgate_xml::{Options, Workspace};
///
/// let mut workspace = Workspace::default();
/// for message in ["<a>1</a>", "<a>2</a>"] {
///     let document = workspace.parse(message, &Options::default())?;
///     assert_eq!(document.node_count(), 3);
///     workspace.recycle(document);
/// }
/// # Ok::<(), tollgate_xml::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Workspace {
    spare: Option<Spare>,
}

impl Workspace {
    /// Reads a document.
    ///
    /// # Errors
    /// As [`Document::parse_with`].
    pub fn parse<'s>(&mut self, source: &'s str, options: &Options<'_>) -> Result<Document<'s>, Error> {
        parse_within(source, options, self.spare.take())
    }

    /// Reads a document of any encoding.
    ///
    /// # Errors
    /// As [`Document::parse_bytes`].
    pub fn parse_bytes<'s>(&mut self, source: &'s [u8], options: &Options<'_>) -> Result<Document<'s>, Error> {
        parse_bytes_within(source, options, self.spare.take())
    }

    /// Takes the memory of a document for the next one.
    pub fn recycle(&mut self, document: Document<'_>) {
        self.spare = Spare::of(document);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::NodeId;

    #[test]
    fn nothing_of_a_document_is_left_in_the_next() {
        let mut workspace = Workspace::default();
        let first = "<p:a xmlns:p='u' p:k='x&amp;y'>1&lt;2<b/></p:a>";
        let second = "<a><c k='1'>t</c></a>";
        for source in [first, second, first, second] {
            let fresh = Document::parse(source).unwrap();
            let document = workspace.parse(source, &Options::default()).unwrap();
            assert_eq!(document.node_count(), fresh.node_count());
            assert_eq!(document.name_count(), fresh.name_count());
            for node in fresh.descendants(NodeId::ROOT) {
                let told = |document: &Document<'_>| {
                    let attributes = document.attributes(node).map(|attribute| document.value(attribute).to_owned());
                    let attributes: Vec<String> = attributes.collect();
                    let name = (document.namespace_uri(node).to_owned(), document.local_name(node).to_owned());
                    let declared = document.namespaces_in_scope(node).count();
                    (name, attributes, declared, document.string_value(node).into_owned())
                };
                assert_eq!(told(&document), told(&fresh));
            }
            assert_eq!(document.find_name("u", "a").is_some(), source == first);
            workspace.recycle(document);
        }
    }

    #[test]
    fn large_documents_give_their_memory_back() {
        let mut workspace = Workspace::default();
        let names: String = (0..1000).map(|name| format!("<n{name}/>")).collect();
        for source in [format!("<a>{names}</a>"), format!("<a>{}</a>", "<b/>".repeat(100_000))] {
            let document = workspace.parse(&source, &Options::default()).unwrap();
            workspace.recycle(document);
            assert!(workspace.spare.is_none());
        }
    }
}
