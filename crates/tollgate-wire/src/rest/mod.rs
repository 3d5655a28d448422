//! Plain REST documents: the same data without any protocol, as the baseline that OData's cost is measured against.
//!
//! JSON is an object with its complex properties nested, a list is in `items`; XML has an element for each property, a
//! list is in an element named as the set. It deliberately has no links, no types and no namespaces. XML may be padded
//! to the size of Atom with elements that are named as padding, to separate the cost of bytes from that of the
//! protocol.

mod json;
mod xml;

pub(crate) use json::RestJson;
pub(crate) use xml::{RestXml, read as read_xml};
