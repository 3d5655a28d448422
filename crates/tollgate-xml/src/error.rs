//! An error in a document, an expression or a stylesheet, with its place: a byte offset and, counted from one, line and
//! column in characters.
//!
//! It does not render sources: the caller has the text and decides how much of it to show.

use std::fmt;

/// An error with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Details>);

/// The details of an error, boxed so that a result is small without one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    kind: ErrorKind,
    message: String,
    position: Option<Position>,
    source_name: Option<Box<str>>,
    messages: Vec<String>,
}

/// The party at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not well-formed XML, or uses a namespace wrongly.
    Document,
    /// The expression or the stylesheet is wrong: it would fail on any input.
    Static,
    /// Evaluation failed on this input.
    Dynamic,
    /// A limit of the budget was reached.
    Budget,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub offset: usize,
    /// Its line, from one.
    pub line: u32,
    /// Its column in characters, from one.
    pub column: u32,
}

impl Position {
    /// The place behind `offset` bytes of `text`.
    pub fn of(text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
        Position {
            offset,
            line: count(memchr::memchr_iter(b'\n', before.as_bytes()).count()),
            column: count(before[line_start..].chars().count()),
        }
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Box::new(Details {
            kind,
            message: message.into(),
            position: None,
            source_name: None,
            messages: Vec::new(),
        }))
    }

    pub(crate) fn at(kind: ErrorKind, text: &str, offset: usize, message: impl Into<String>) -> Error {
        Error(Box::new(Details {
            kind,
            message: message.into(),
            position: Some(Position::of(text, offset)),
            source_name: None,
            messages: Vec::new(),
        }))
    }

    /// The same error, in the source of this name.
    pub(crate) fn within(mut self, source_name: &str) -> Error {
        self.0.source_name = Some(source_name.into());
        self
    }

    /// The same error at a place of a text, unless it has a place already.
    pub(crate) fn or_at(mut self, source_name: &str, text: &str, offset: usize) -> Error {
        if self.0.position.is_none() {
            self.0.position = Some(Position::of(text, offset));
            self.0.source_name = Some(source_name.into());
        }
        self
    }

    /// The same error, which came after a stylesheet said something.
    pub(crate) fn after(mut self, messages: Vec<String>) -> Error {
        self.0.messages = messages;
        self
    }

    /// The texts of `xsl:message` before the error, in order.
    pub fn messages(&self) -> &[String] {
        &self.0.messages
    }

    /// The name of the text that it is about, such as a stylesheet's file, where there are several.
    pub fn source_name(&self) -> Option<&str> {
        self.0.source_name.as_deref()
    }

    /// The party at fault.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place of the error, if it is known.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)?;
        match (&self.0.source_name, self.0.position) {
            (None, None) => Ok(()),
            (Some(name), None) => write!(formatter, " ({name})"),
            (None, Some(Position { line, column, .. })) => write!(formatter, " (line {line}, column {column})"),
            (Some(name), Some(Position { line, column, .. })) => write!(formatter, " ({name}:{line}:{column})"),
        }
    }
}

impl std::error::Error for Error {}
