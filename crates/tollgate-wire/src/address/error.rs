//! Errors in a URL: the fault, its place, and what would be correct.
//!
//! Inside the parsers a fault is a small boxed [`Problem`] with a byte offset; only at the border it becomes a
//! [`UrlError`] with its place and column, so that the good path carries one pointer.

use std::borrow::Cow;
use std::fmt;

/// The kinds of fault in a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The text does not follow the grammar.
    Syntax,
    /// The path names something that does not exist.
    UnknownSegment,
    /// An option names a property that does not exist.
    UnknownProperty,
    /// An expression calls a function that does not exist.
    UnknownFunction,
    /// A query option that the version does not have.
    UnknownOption,
    /// A query option is given twice.
    DuplicateOption,
    /// A query option that does not apply to what the path names.
    NotApplicable,
    /// An expression's operand has the wrong type.
    Type,
    /// A key predicate does not fit the key of its entity type.
    BadKey,
    /// An option's value is none of those it may have.
    BadValue,
    /// A limit of this parser is exceeded.
    Limit,
    /// Valid OData that is not built yet; the text names it.
    NotImplemented(String),
}

impl Fault {
    /// A short stable name, for the `code` of an error answer.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::Syntax => "Syntax",
            Fault::UnknownSegment => "UnknownSegment",
            Fault::UnknownProperty => "UnknownProperty",
            Fault::UnknownFunction => "UnknownFunction",
            Fault::UnknownOption => "UnknownOption",
            Fault::DuplicateOption => "DuplicateOption",
            Fault::NotApplicable => "NotApplicable",
            Fault::Type => "Type",
            Fault::BadKey => "BadKey",
            Fault::BadValue => "BadValue",
            Fault::Limit => "Limit",
            Fault::NotImplemented(_) => "NotImplemented",
        }
    }
}

/// The part of the URL that has the fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The path below the service root.
    Path,
    /// A query option, by its name with `$`.
    Option(Cow<'static, str>),
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Path => formatter.write_str("the path"),
            Place::Option(name) => formatter.write_str(name),
        }
    }
}

/// A URL that cannot be answered; always the client's fault, or something that is not built yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlError {
    /// The kind of fault.
    pub fault: Fault,
    /// The part of the URL.
    pub place: Place,
    /// Column in characters, from 0, in the decoded text of that part.
    pub position: usize,
    /// The whole sentence: what is wrong, where (columns from 1), and what would be right where that is known.
    pub message: String,
}

impl UrlError {
    /// The HTTP status for the fault: 400, 404 or 501.
    pub fn status(&self) -> u16 {
        match self.fault {
            Fault::UnknownSegment => 404,
            Fault::NotImplemented(_) => 501,
            _ => 400,
        }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}

/// A fault with its byte offset in the decoded text, before its place is known.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) fault: Fault,
    /// `None` where the part as a whole is at fault.
    pub(crate) at: Option<usize>,
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

/// Result of a parser inside this crate.
pub(crate) type Parsed<T> = Result<T, Box<Problem>>;

impl Problem {
    pub(crate) fn new(fault: Fault, at: usize, what: impl Into<String>) -> Box<Problem> {
        Box::new(Problem { fault, at: Some(at), what: what.into(), hint: None })
    }

    /// About a part of the URL as a whole, which `what` names.
    pub(crate) fn whole(fault: Fault, what: impl Into<String>) -> Box<Problem> {
        Box::new(Problem { fault, at: None, what: what.into(), hint: None })
    }

    pub(crate) fn syntax(at: usize, what: impl Into<String>) -> Box<Problem> {
        Problem::new(Fault::Syntax, at, what)
    }

    pub(crate) fn not_implemented(at: usize, name: impl Into<String>) -> Box<Problem> {
        let name = name.into();
        Problem::new(Fault::NotImplemented(name.clone()), at, format!("{name} is not implemented"))
    }

    pub(crate) fn hint(mut self: Box<Problem>, hint: impl Into<String>) -> Box<Problem> {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    pub(crate) fn hint_if(mut self: Box<Problem>, hint: Option<String>) -> Box<Problem> {
        self.hint = hint;
        self
    }

    /// Whether the text is no valid OData, so that no service could read it.
    pub(crate) fn is_of_grammar(&self) -> bool {
        matches!(self.fault, Fault::Syntax | Fault::Limit | Fault::BadValue)
    }

    /// Moves the place to the right by the length of the text before the parsed part.
    pub(crate) fn behind(mut self: Box<Problem>, bytes: usize) -> Box<Problem> {
        self.at = self.at.map(|at| at + bytes);
        self
    }

    /// The error for the client; `text` is the decoded text in which the offset counts.
    pub(crate) fn located(self, place: Place, text: &str) -> UrlError {
        let mut position = 0;
        let mut message = self.what;
        if let Some(at) = self.at {
            position = text.char_indices().take_while(|(offset, _)| *offset < at).count();
            message.push_str(&format!(" in {place} at column {}", position + 1));
        }
        if let Some(hint) = &self.hint {
            message.push_str(": ");
            message.push_str(hint);
        }
        UrlError { fault: self.fault, place, position, message }
    }
}

/// Longest part of a client's text that a message repeats, in characters.
const QUOTED_CHARS_MAX: usize = 60;

/// A client's text as a message repeats it: in quotes, without control characters, cut where it is long.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("'");
    for (count, character) in text.chars().enumerate() {
        if count == QUOTED_CHARS_MAX {
            out.push('…');
            break;
        }
        out.push(if character.is_control() { '\u{fffd}' } else { character });
    }
    out.push('\'');
    out
}
