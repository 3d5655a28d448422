//! A condition of a case: a part of a message, and a test of it.
//!
//! It changes nothing: bodies are read in place. A condition finds nothing in the body of messages without one, or with
//! another content type.

use std::borrow::Cow;
use std::cell::OnceCell;

use schemars::JsonSchema;
use serde::Deserialize;
use tollgate_xml::tree::NodeId;
use tollgate_xml::{Budget, Document, Options, Workspace, XPath};
use toml::Spanned;

use super::pattern::Pattern;
use super::pointer::{Found, Pointer};
use super::reading::{MediatorReader, Names, Namespaces};
use super::view::{Unreadable, View};
use crate::base::config_error::ConfigError;
use crate::error::Fault;
use crate::mediate::mediator::{Need, Touches};

/// A condition.
#[derive(Debug)]
pub(super) struct Condition {
    subject: Subject,
    test: Test,
}

/// Part of the message that is tested.
#[derive(Debug)]
enum Subject {
    Path,
    Query(Box<str>),
    Header(Box<str>),
    XPath(Box<XPath>),
    Json(Pointer),
}

/// Test of that part.
#[derive(Debug)]
enum Test {
    /// For an XPath: it is true of the message. For others: the value exists.
    Holds,
    HoldsNot,
    Equals(Box<[Box<str>]>),
    Matches(Pattern),
}

/// A condition as written in the file: exactly one of the first five keys, and at most one of the others.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionTable {
    /// The request's path as a pattern, such as `/quotes/*`: `*` means any characters.
    #[schemars(with = "Option<String>")]
    path: Option<Spanned<String>>,
    /// An option of the URL's query.
    #[schemars(with = "Option<String>")]
    query: Option<Spanned<String>>,
    /// A header field, as the mediators before left it.
    #[schemars(with = "Option<String>")]
    header: Option<Spanned<String>>,
    /// An XPath 1.0 that is true of the body; with `equals` or `matches`, the text that it returns.
    #[schemars(with = "Option<String>")]
    xpath: Option<Spanned<String>>,
    /// A value of a body in JSON, as a pointer (`/order/symbol`) or a path (`$.order.symbol`).
    #[schemars(with = "Option<String>")]
    json: Option<Spanned<String>>,
    /// The value is this text, or one of these.
    #[schemars(with = "Option<Names>")]
    equals: Option<Spanned<Names>>,
    /// The value matches this pattern: `*` means any characters.
    #[schemars(with = "Option<String>")]
    matches: Option<Spanned<String>>,
    /// Whether the value exists. Absent, like true.
    #[schemars(with = "Option<bool>")]
    exists: Option<Spanned<bool>>,
}

/// A body as read by the conditions of one mediator: parsed at most once, and only if needed.
pub(super) struct Looking<'l> {
    view: &'l View<'l>,
    workspace: &'l mut Workspace,
    limits: &'l Budget,
    text: &'l OnceCell<Cow<'l, str>>,
    document: Option<Document<'l>>,
}

impl Condition {
    /// Compiles a condition of the file.
    ///
    /// # Errors
    /// The condition is invalid.
    pub(super) fn read(
        table: Spanned<ConditionTable>,
        namespaces: &Namespaces,
        reading: &MediatorReader<'_>,
    ) -> Result<Condition, ConfigError> {
        let span = table.span();
        let ConditionTable { path, query, header, xpath, json, equals, matches, exists } = table.into_inner();
        let tested = [
            equals.as_ref().map(Spanned::span),
            matches.as_ref().map(Spanned::span),
            exists.as_ref().map(Spanned::span),
        ];
        if let Some(second) = tested.into_iter().flatten().nth(1) {
            return Err(reading.wrong(second, "expected one of `equals`, `matches` and `exists`"));
        }
        let test = match (equals, matches, exists.map(Spanned::into_inner)) {
            (Some(texts), _, _) => Test::Equals(texts.into_inner().into_vec().into_iter().map(String::into).collect()),
            (None, Some(pattern), _) => Test::Matches(Pattern::new(pattern.as_ref())),
            (None, None, Some(false)) => Test::HoldsNot,
            (None, None, Some(true) | None) => Test::Holds,
        };
        let subject = match (path, query, header, xpath, json) {
            (Some(pattern), None, None, None, None) => {
                if !matches!(test, Test::Holds) {
                    let wrong = "`path` is a pattern itself: expected nothing beside it";
                    return Err(reading.wrong(pattern.span(), wrong));
                }
                let test = Test::Matches(Pattern::new(pattern.as_ref()));
                return Ok(Condition { subject: Subject::Path, test });
            }
            (None, Some(name), None, None, None) => Subject::Query(name.into_inner().into()),
            (None, None, Some(name), None, None) => Subject::Header(reading.field_name(&name)?),
            (None, None, None, Some(text), None) => Subject::XPath(Box::new(reading.xpath(&text, namespaces)?)),
            (None, None, None, None, Some(text)) => {
                let pointer = Pointer::parse(text.as_ref());
                Subject::Json(pointer.map_err(|wrong| reading.wrong(text.span(), &wrong))?)
            }
            _ => {
                let wrong = "expected one of `path`, `query`, `header`, `xpath` and `json`";
                return Err(reading.wrong(span, wrong));
            }
        };
        Ok(Condition { subject, test })
    }

    /// Part of a message that it needs.
    pub(super) fn need(&self) -> Need {
        match &self.subject {
            Subject::Path | Subject::Query(_) | Subject::Header(_) => Need::Head,
            Subject::XPath(_) | Subject::Json(_) => Need::WholeBody,
        }
    }

    /// Names the field that it looks at.
    pub(super) fn fields<'c>(&'c self, note: &mut dyn FnMut(Touches, &'c str)) {
        match &self.subject {
            Subject::Header(name) => note(Touches::Reads, name),
            // The path and query are part of what is asked for, and a message with a body is not one of those that are kept.
            Subject::Path | Subject::Query(_) | Subject::XPath(_) | Subject::Json(_) => {}
        }
    }

    /// Whether it is true of the message.
    ///
    /// # Errors
    /// The message cannot be read.
    pub(super) fn holds(&self, looking: &mut Looking<'_>) -> Result<bool, Fault> {
        let view = looking.view;
        Ok(match &self.subject {
            Subject::Path => self.test.judge(Some(view.request.path())),
            Subject::Query(name) => self.test.judge(view.query(name).as_deref()),
            Subject::Header(name) => self.test.judge(view.field(name)),
            Subject::XPath(_) if view.body.is_empty() || !view.may_be_xml() => matches!(self.test, Test::HoldsNot),
            Subject::XPath(xpath) => match &self.test {
                Test::Holds => looking.is_true(xpath)?,
                Test::HoldsNot => !looking.is_true(xpath)?,
                test => test.judge(Some(&looking.string(xpath)?)),
            },
            Subject::Json(_) if view.body.is_empty() || !view.may_be_json() => matches!(self.test, Test::HoldsNot),
            Subject::Json(pointer) => {
                let body = view.plain_body().map_err(|why| view.refuse(why))?;
                let wrong =
                    |error: serde_json::Error| view.refuse(Unreadable::Wrong(format!("expected JSON: {error}")));
                match pointer.find(body).map_err(wrong)? {
                    Found::Text(text) => self.test.judge(Some(&text)),
                    Found::Nothing => self.test.judge(None),
                    // It is there, and is no text that could be compared.
                    Found::Other => matches!(self.test, Test::Holds),
                }
            }
        })
    }
}

impl Test {
    /// Tests a value, if there is one.
    fn judge(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Test::Holds, value) => value.is_some(),
            (Test::HoldsNot, value) => value.is_none(),
            (Test::Equals(texts), Some(value)) => texts.iter().any(|text| **text == *value),
            (Test::Matches(pattern), Some(value)) => pattern.matches(value),
            (Test::Equals(_) | Test::Matches(_), None) => false,
        }
    }
}

impl<'l> Looking<'l> {
    /// Prepares reading a message; `text` is a buffer for its text, if it must be decoded.
    pub(super) fn new(
        view: &'l View<'l>,
        workspace: &'l mut Workspace,
        limits: &'l Budget,
        text: &'l OnceCell<Cow<'l, str>>,
    ) -> Looking<'l> {
        Looking { view, workspace, limits, text, document: None }
    }

    /// Returns the memory that it used.
    pub(super) fn end(self) {
        if let Some(document) = self.document {
            self.workspace.recycle(document);
        }
    }

    fn is_true(&mut self, xpath: &XPath) -> Result<bool, Fault> {
        let view = self.view;
        let body = view.plain_body().map_err(|why| view.refuse(why))?;
        if let Some(stream) = xpath.stream().filter(|_| self.document.is_none() && view.is_utf8()) {
            let options = Options { budget: Some(self.limits), ..Options::default() };
            if let Some(answer) = stream.test(body, &options) {
                return Ok(answer.holds);
            }
        }
        let told = xpath.boolean(self.document()?, NodeId::ROOT);
        told.map_err(|error| view.refuse_xml(&error, xpath.text()))
    }

    fn string(&mut self, xpath: &XPath) -> Result<String, Fault> {
        let view = self.view;
        let told = xpath.string(self.document()?, NodeId::ROOT);
        told.map_err(|error| view.refuse_xml(&error, xpath.text()))
    }

    fn document(&mut self) -> Result<&Document<'l>, Fault> {
        let view = self.view;
        let document = match self.document.take() {
            Some(document) => document,
            None => {
                let text = view.xml_text().map_err(|why| view.refuse(why))?;
                let text = self.text.get_or_init(|| text);
                let options = Options { budget: Some(self.limits), ..Options::default() };
                self.workspace.parse(text, &options).map_err(|error| view.refuse_xml(&error, "a condition"))?
            }
        };
        Ok(self.document.insert(document))
    }
}
