//! The form of a request and of a valid response to it.
//!
//! It does not build the one or read the other.

use schemars::JsonSchema;
use serde::Deserialize;
pub use tollgate_wire::links::Template;

/// The form of a variant's requests, and the reading of its responses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestShape {
    /// The format in which a walk reads the collection's response; `None` for other workloads.
    pub format: Option<ListFormat>,
    /// URL of an entity, with properties in braces, relative to the collection's URL; `None`: at the response's links.
    pub detail: Option<Template>,
    /// The key properties, which identify the entity in a response.
    pub key: Vec<String>,
    /// Statuses by which an entity is left out of a pass instead of failing.
    pub leave_out: Vec<u16>,
    /// The method.
    pub method: String,
    /// Header fields, `Accept` among them.
    pub headers: Vec<(String, String)>,
    /// The body; empty if none.
    pub body: Vec<u8>,
    /// Text that every valid response of a `request` workload contains.
    pub contains: Option<String>,
    /// Length of every valid response, in bytes.
    pub answer_bytes: Option<u64>,
    /// An element that a valid response has.
    pub element: Option<Element>,
}

/// An element of a response and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Local names from the outermost element on.
    pub path: Vec<String>,
    /// Namespace of the innermost one.
    pub namespace: String,
    /// Its text.
    pub text: String,
}

/// The check of each response's length against the first one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerLength {
    /// Any length is valid.
    #[default]
    Any,
    /// The length must be that of the first one.
    AsFirst,
}

/// The request to the user's own servers, and the expected response, instead of the experiment's.
#[derive(Debug, Clone, Default)]
pub struct OwnRequest {
    /// The method; absent: the variant's.
    pub method: Option<String>,
    /// The body; absent: the variant's.
    pub body: Option<Vec<u8>>,
    /// Text that each answer must contain.
    pub contains: Option<String>,
    /// The check of each response's length, unless specified otherwise.
    pub length: AnswerLength,
    /// URL of an entity, for variants that walk, by name; the properties in it are its key.
    pub details: Vec<(String, Template)>,
    /// Statuses by which an entity of a walk is left out; empty: the variant's.
    pub leave_out: Vec<u16>,
}

impl OwnRequest {
    /// Whether another message is sent than the experiment describes.
    pub(crate) fn is_another_message(&self) -> bool {
        self.method.is_some() || self.body.is_some()
    }

    /// Whether it contains anything.
    pub(crate) fn is_said(&self) -> bool {
        let is_of_answers = self.contains.is_some() || self.length == AnswerLength::Any;
        let is_of_walks = !self.details.is_empty() || !self.leave_out.is_empty();
        self.is_another_message() || is_of_answers || is_of_walks
    }
}

/// The format in which a walk reads its responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    /// An Atom feed of OData V2.
    OdataV2Atom,
    /// Verbose JSON of OData V2.
    OdataV2Json,
    /// JSON of OData V4, at any level of metadata.
    OdataV4Json,
    /// Plain JSON: an array of objects, alone or as a member of the outermost object.
    Json,
    /// Plain XML: the children of the outermost element.
    Xml,
}
