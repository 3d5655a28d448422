//! The function library of XPath 1.0 (section 4): names, arguments, types, and where each is evaluated.

mod nodes;
mod numbers;
mod strings;

use std::ops::RangeInclusive;

use super::Kind;
use super::evaluate::Context;
use super::expression::Expression;
use super::value::Text;
use crate::error::Error;
use crate::forest::Item;

/// A function of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Id,
    Lang,
    Last,
    LocalName,
    Name,
    NamespaceUri,
    NormalizeSpace,
    Not,
    Number,
    Position,
    Round,
    StartsWith,
    String,
    StringLength,
    Substring,
    SubstringAfter,
    SubstringBefore,
    Sum,
    Translate,
    True,
}

const NO_LIMIT: usize = usize::MAX;

/// Name, function, least and most arguments, type of the value.
const TABLE: [(&str, Function, usize, usize, Kind); 27] = [
    ("boolean", Function::Boolean, 1, 1, Kind::Boolean),
    ("ceiling", Function::Ceiling, 1, 1, Kind::Number),
    ("concat", Function::Concat, 2, NO_LIMIT, Kind::String),
    ("contains", Function::Contains, 2, 2, Kind::Boolean),
    ("count", Function::Count, 1, 1, Kind::Number),
    ("false", Function::False, 0, 0, Kind::Boolean),
    ("floor", Function::Floor, 1, 1, Kind::Number),
    ("id", Function::Id, 1, 1, Kind::Nodes),
    ("lang", Function::Lang, 1, 1, Kind::Boolean),
    ("last", Function::Last, 0, 0, Kind::Number),
    ("local-name", Function::LocalName, 0, 1, Kind::String),
    ("name", Function::Name, 0, 1, Kind::String),
    ("namespace-uri", Function::NamespaceUri, 0, 1, Kind::String),
    ("normalize-space", Function::NormalizeSpace, 0, 1, Kind::String),
    ("not", Function::Not, 1, 1, Kind::Boolean),
    ("number", Function::Number, 0, 1, Kind::Number),
    ("position", Function::Position, 0, 0, Kind::Number),
    ("round", Function::Round, 1, 1, Kind::Number),
    ("starts-with", Function::StartsWith, 2, 2, Kind::Boolean),
    ("string", Function::String, 0, 1, Kind::String),
    ("string-length", Function::StringLength, 0, 1, Kind::Number),
    ("substring", Function::Substring, 2, 3, Kind::String),
    ("substring-after", Function::SubstringAfter, 2, 2, Kind::String),
    ("substring-before", Function::SubstringBefore, 2, 2, Kind::String),
    ("sum", Function::Sum, 1, 1, Kind::Number),
    ("translate", Function::Translate, 3, 3, Kind::String),
    ("true", Function::True, 0, 0, Kind::Boolean),
];

impl Function {
    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        let found = TABLE.binary_search_by(|(known, ..)| known.cmp(&name)).ok()?;
        Some(TABLE[found].1)
    }

    fn row(self) -> &'static (&'static str, Function, usize, usize, Kind) {
        &TABLE[self as usize]
    }

    /// Allowed numbers of arguments.
    pub(crate) fn argument_counts(self) -> RangeInclusive<usize> {
        self.row().2..=self.row().3
    }

    /// The type of its value.
    pub(crate) fn kind(self) -> Kind {
        self.row().4
    }

    /// The argument that must be a set of nodes.
    pub(crate) fn nodes_argument(self) -> Option<usize> {
        matches!(self, Function::Count | Function::LocalName | Function::Name | Function::NamespaceUri | Function::Sum)
            .then_some(0)
    }
}

impl<'e> Context<'e, '_> {
    pub(super) fn call_boolean(&self, function: Function, arguments: &'e [Expression]) -> Result<bool, Error> {
        match function {
            Function::True => Ok(true),
            Function::False => Ok(false),
            Function::Not => Ok(!self.boolean(&arguments[0])?),
            Function::Boolean => self.boolean(&arguments[0]),
            Function::Contains => {
                let (text, part) = (self.string(&arguments[0])?, self.string(&arguments[1])?);
                self.environment.meter.search(text.len(), part.len())?;
                Ok(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
            }
            Function::StartsWith => {
                let (text, part) = (self.string(&arguments[0])?, self.string(&arguments[1])?);
                self.environment.meter.copy(part.len())?;
                Ok(text.starts_with(&*part))
            }
            Function::Lang => self.is_language(&self.string(&arguments[0])?),
            _ => unreachable!("the table says which functions are conditions"),
        }
    }

    pub(super) fn call_number(&self, function: Function, arguments: &'e [Expression]) -> Result<f64, Error> {
        match function {
            Function::Last => Ok(self.size as f64),
            Function::Position => Ok(self.position as f64),
            Function::Count => self.count(&arguments[0]),
            Function::Sum => self.sum(&arguments[0]),
            Function::Number => match arguments.first() {
                Some(argument) => self.number(argument),
                None => self.environment.number_of(self.item),
            },
            Function::Floor => Ok(self.number(&arguments[0])?.floor()),
            Function::Ceiling => Ok(self.number(&arguments[0])?.ceil()),
            Function::Round => Ok(super::number::round(self.number(&arguments[0])?)),
            Function::StringLength => {
                let text = self.text_argument(arguments)?;
                self.environment.meter.walk(text.len())?;
                Ok(text.chars().count() as f64)
            }
            _ => unreachable!("the table says which functions are numbers"),
        }
    }

    pub(super) fn call_string(&self, function: Function, arguments: &'e [Expression]) -> Result<Text<'e>, Error> {
        match function {
            Function::String => self.text_argument(arguments),
            Function::LocalName | Function::Name | Function::NamespaceUri => self.name_of(function, arguments.first()),
            Function::Concat => self.concat(arguments),
            Function::NormalizeSpace => {
                let text = self.text_argument(arguments)?;
                // It is looked at, and then it may be made.
                self.environment.meter.walk(2 * text.len())?;
                Ok(strings::normalize_space(text))
            }
            Function::Substring => {
                let text = self.string(&arguments[0])?;
                let start = self.number(&arguments[1])?;
                let length = arguments.get(2).map(|length| self.number(length)).transpose()?;
                let part = strings::substring(&text, start, length);
                // What stands behind it is not looked at.
                self.environment.meter.walk(part.end)?;
                Ok(Text::Owned(text[part].to_owned()))
            }
            Function::SubstringBefore => {
                let (text, part) = (self.string(&arguments[0])?, self.string(&arguments[1])?);
                self.environment.meter.search(text.len(), part.len())?;
                Ok(strings::before(&text, &part))
            }
            Function::SubstringAfter => {
                let (text, part) = (self.string(&arguments[0])?, self.string(&arguments[1])?);
                self.environment.meter.search(text.len(), part.len())?;
                Ok(strings::after(&text, &part))
            }
            Function::Translate => {
                let text = self.string(&arguments[0])?;
                let (from, to) = (self.string(&arguments[1])?, self.string(&arguments[2])?);
                let replaced = strings::Replaced::new(&from, &to, &self.environment.meter)?;
                replaced.translate(&text, &self.environment.meter)
            }
            _ => unreachable!("the table says which functions are texts"),
        }
    }

    pub(super) fn call_nodes(&self, arguments: &'e [Expression]) -> Result<Vec<Item>, Error> {
        // The library has one function that yields nodes.
        self.with_identifiers(&arguments[0])
    }

    /// The argument as a text, or the context node's.
    fn text_argument(&self, arguments: &'e [Expression]) -> Result<Text<'e>, Error> {
        match arguments.first() {
            Some(argument) => self.string(argument),
            None => self.environment.string_value(self.item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_functions_and_of_their_names() {
        for (index, (name, function, ..)) in TABLE.iter().enumerate() {
            assert_eq!(*function as usize, index, "{name}");
            assert_eq!(Function::named(name), Some(*function));
        }
        assert!(TABLE.is_sorted_by_key(|(name, ..)| *name));
    }
}
