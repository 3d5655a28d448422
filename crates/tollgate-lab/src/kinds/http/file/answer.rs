//! The file of an experiment's single requests: method and body, and the criteria of a valid answer.
//!
//! It does not read an answer (see [`crate::load::answer`]).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Checker, Experiment, ExperimentError};
use crate::traffic::request::Element;

/// Deepest element of an answer that can be named.
const DEPTH_MAX: usize = 64;

/// The keys.
pub(crate) const KEYS: &[Keys] =
    &[Keys::of::<CommonFile>(TableName::Workload), Keys::of::<RequestFile>(TableName::Variant)];

/// Settings of all variants.
#[derive(Debug, Deserialize, JsonSchema)]
struct CommonFile {
    /// Text in every valid answer, for variants without their own.
    contains: Option<String>,
}

/// The request of a variant, and its answer.
#[derive(Debug, Deserialize, JsonSchema)]
struct RequestFile {
    /// Text that every valid answer of a `request` workload contains.
    contains: Option<String>,
    /// The method of a `request` workload; absent: GET.
    method: Option<At<String>>,
    /// The body of a `request` workload.
    body: Option<String>,
    /// A file beside this one that is the body of a `request` workload.
    body_file: Option<At<String>>,
    /// Criteria of every valid answer of a `request` workload, beside the text that it contains.
    #[serde(default)]
    answer: AnswerFile,
}

/// Criteria of a valid answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerFile {
    /// Its length in bytes.
    bytes: Option<u64>,
    /// An element of it, as XML, and the element's text.
    element: Option<At<ElementFile>>,
}

/// An element of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ElementFile {
    /// Local names from the outermost element on, such as `Envelope/Body/getQuoteResponse/return/symbol`.
    path: String,
    /// Namespace of the innermost one.
    namespace: String,
    /// Its text.
    text: String,
}

/// Takes the keys, and puts their values into an experiment.
pub(crate) fn fill(document: &mut Document<'_>, experiment: &mut Experiment) -> Result<(), ExperimentError> {
    let CommonFile { contains } = document.take(TableName::Workload)?;
    let files: Vec<RequestFile> = document.each()?;
    let checker = &document.checker;
    for (variant, file) in experiment.variants.iter_mut().zip(files) {
        if let Some(method) = &file.method {
            if method.as_ref().is_empty() || !method.as_ref().bytes().all(|byte| byte.is_ascii_uppercase()) {
                let message = format!("`{}` is not a method", method.as_ref());
                return Err(checker.fault(method.span(), &message, "write it in capitals, such as `POST`"));
            }
            variant.request.method.clone_from(method.as_ref());
        }
        variant.request.body = checker.body(&file)?;
        variant.request.answer_bytes = file.answer.bytes;
        variant.request.element = file.answer.element.as_ref().map(|element| checker.element(element)).transpose()?;
        variant.request.contains = file.contains.or_else(|| contains.clone());
    }
    Ok(())
}

impl Checker<'_> {
    fn body(&self, file: &RequestFile) -> Result<Vec<u8>, ExperimentError> {
        match (&file.body_file, &file.body) {
            (None, body) => Ok(body.clone().unwrap_or_default().into_bytes()),
            (Some(name), None) => Ok(self.file(name)?.into_bytes()),
            (Some(name), Some(_)) => {
                let help = "it goes in the place of `body`";
                Err(self.fault(name.span(), "`body_file` has no meaning here", help))
            }
        }
    }

    /// An element of a valid answer of a variant.
    fn element(&self, file: &At<ElementFile>) -> Result<Element, ExperimentError> {
        let ElementFile { path: named, namespace, text } = file.as_ref().clone();
        let path: Vec<String> = named.split('/').map(str::to_owned).collect();
        let is_name = |name: &String| !name.is_empty() && !name.contains([':', ' ', '<', '@', '[']);
        if path.len() > DEPTH_MAX || !path.iter().all(is_name) {
            let help = "write local names from the outermost element on, such as `Envelope/Body/answer`";
            return Err(self.fault(file.span(), &format!("`{named}` is no path"), help));
        }
        Ok(Element { path, namespace, text })
    }
}
