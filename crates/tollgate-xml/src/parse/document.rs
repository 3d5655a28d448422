//! A document out of its text or its bytes: what callers of the library begin with.
//!
//! The reader reads the text; a document itself reads nothing.

use std::borrow::Cow;

use super::{Options, decode, decode_as, parse, parse_bytes};
use crate::error::Error;
use crate::tree::Document;

impl<'s> Document<'s> {
    /// Reads a document with the default [`Options`]: no document type, the default budget.
    ///
    /// ```
    /// let document = tollgate_xml::Document::parse("<a><b>text</b></a>")?;
    /// let element = document.document_element().expect("a document has an element");
    /// assert_eq!(document.local_name(element), "a");
    /// assert_eq!(document.string_value(element), "text");
    /// # Ok::<(), tollgate_xml::Error>(())
    /// ```
    ///
    /// # Errors
    /// The text is not well-formed, with the place.
    pub fn parse(source: &'s str) -> Result<Document<'s>, Error> {
        parse(source, &Options::default())
    }

    /// Reads a document.
    ///
    /// # Errors
    /// As [`Document::parse`], and where the budget of `options` is exceeded.
    pub fn parse_with(source: &'s str, options: &Options<'_>) -> Result<Document<'s>, Error> {
        parse(source, options)
    }

    /// Reads a document of any encoding that its byte order mark or its declaration names; UTF-8 is not copied.
    ///
    /// # Errors
    /// As [`Document::parse_with`], and where the encoding is unknown or broken.
    pub fn parse_bytes(source: &'s [u8], options: &Options<'_>) -> Result<Document<'s>, Error> {
        parse_bytes(source, options)
    }

    /// The text of a document's bytes, in the encoding that a byte order mark or its declaration names; UTF-8 is not copied.
    ///
    /// # Errors
    /// The encoding is unknown or broken.
    pub fn decode(source: &[u8]) -> Result<Cow<'_, str>, Error> {
        decode(source)
    }

    /// The text of a document's bytes, with the encoding named by their source, as `charset` of a `Content-Type` does:
    /// a byte order mark goes before it, and it before the declaration (RFC 7303, section 3).
    ///
    /// # Errors
    /// As [`Document::decode`].
    pub fn decode_as<'b>(source: &'b [u8], charset: &str) -> Result<Cow<'b, str>, Error> {
        decode_as(source, charset)
    }
}
