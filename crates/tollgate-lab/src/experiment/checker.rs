//! Common parts of all checks of an experiment's file: the place of a fault, and bounds of names and numbers.
//!
//! It does not know the keys of the file.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Range, RangeBounds};

use super::error::ExperimentError;
use super::file::VariantFile;
use super::files::Files;
use super::values::At;

/// Most users of a closed load: above it the ports of one address run out.
pub const LEVEL_MAX: u64 = 20_000;
/// Longest name.
const NAME_LENGTH_MAX: usize = 64;

/// An experiment's text, and the place of the files that it names.
#[derive(Clone, Copy)]
pub(crate) struct Checker<'a> {
    pub(crate) text: &'a str,
    pub(crate) file: &'a str,
    pub(crate) files: &'a Files,
}

impl Checker<'_> {
    pub(crate) fn name(&self, name: &At<String>) -> Result<(), ExperimentError> {
        let text = name.as_ref();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || text.len() > NAME_LENGTH_MAX || !text.bytes().all(plain) {
            return Err(self.fault(
                name.span(),
                &format!("`{text}` is not a name"),
                "use lower-case letters, digits and hyphens, at most 64",
            ));
        }
        Ok(())
    }

    pub(crate) fn file(&self, name: &At<String>) -> Result<String, ExperimentError> {
        let fault = |why: &str| self.fault(name.span(), &format!("`{}` cannot be read", name.as_ref()), why);
        self.files.read(name.as_ref()).map_err(|why| fault(&why))
    }

    /// Checks that the names of things of one kind are valid and unique.
    pub(crate) fn names<'n>(
        &self,
        what: &str,
        names: impl IntoIterator<Item = &'n At<String>>,
    ) -> Result<(), ExperimentError> {
        let mut known = BTreeSet::new();
        for name in names {
            self.name(name)?;
            if !known.insert(name.as_ref()) {
                let message = format!("{what} `{}` stands twice", name.as_ref());
                return Err(self.fault(name.span(), &message, &format!("give each {what} a name of its own")));
            }
        }
        Ok(())
    }

    /// A number of this key, if it is in range.
    pub(crate) fn number<T: Copy + Display + PartialOrd>(
        &self,
        key: &str,
        number: &At<T>,
        range: impl RangeBounds<T>,
        help: &str,
    ) -> Result<T, ExperimentError> {
        let value = *number.as_ref();
        match range.contains(&value) {
            true => Ok(value),
            false => Err(self.fault(number.span(), &format!("`{key}` is {value}"), help)),
        }
    }

    /// A fault of a variant with a missing key.
    pub(crate) fn unsaid(&self, way: &VariantFile, what: &str, help: &str) -> ExperimentError {
        let message = format!("variant `{}` does not say {what}", way.name.as_ref());
        self.fault(way.name.span(), &message, help)
    }

    pub(crate) fn fault(&self, span: Range<usize>, message: &str, help: &str) -> ExperimentError {
        ExperimentError {
            message: message.to_owned(),
            help: Some(help.to_owned()),
            file: self.file.to_owned(),
            text: self.text.to_owned(),
            span: Some(span),
        }
    }
}
