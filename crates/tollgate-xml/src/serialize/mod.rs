//! Results as bytes: the output methods xml, html and text (XSLT 1.0, section 16).
//!
//! XML that is not indented is written as it is made. Output that depends on later nodes (indentation, html) is written
//! from a finished tree.

mod escape;
mod html;
mod layout;
mod xml;

pub(crate) use self::layout::write_tree;
pub(crate) use self::xml::XmlWriter;
use crate::budget::exceeded;
use crate::characters::is_latin1;
use crate::error::{Error, ErrorKind};

/// The output settings of a result, from `xsl:output`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputSettings {
    /// The method; absent: html where the document element is `html`, else xml (section 16).
    pub method: Option<Method>,
    /// Version of the method.
    pub version: Option<String>,
    /// Encoding; absent: UTF-8.
    pub encoding: Option<String>,
    /// Whether there is no XML declaration; absent: there is one with the method xml.
    pub omit_xml_declaration: Option<bool>,
    /// `standalone` of the declaration.
    pub standalone: Option<bool>,
    /// Public identifier of the document type.
    pub doctype_public: Option<String>,
    /// System identifier of the document type.
    pub doctype_system: Option<String>,
    /// Elements, as namespace and local name, whose texts become CDATA sections.
    pub cdata_section_elements: Vec<(String, String)>,
    /// Whether white space may be added; absent: with the method html.
    pub indent: Option<bool>,
    /// Media type; nothing is written for it but html's `meta`.
    pub media_type: Option<String>,
}

/// An output method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Well-formed XML.
    Xml,
    /// HTML 4.
    Html,
    /// Texts alone.
    Text,
}

impl OutputSettings {
    /// The media type: what is stated, or that of the method.
    pub fn media_type(&self, method: Method) -> &str {
        self.media_type.as_deref().unwrap_or(match method {
            Method::Xml => "text/xml",
            Method::Html => "text/html",
            Method::Text => "text/plain",
        })
    }

    /// The encoding's name.
    pub fn encoding(&self) -> &str {
        self.encoding.as_deref().unwrap_or("UTF-8")
    }
}

/// Bytes of a result in its encoding, kept within the budget.
#[derive(Debug)]
pub(crate) struct Bytes {
    pub(crate) text: Vec<u8>,
    encoding: Encoding,
    bytes_max: usize,
    /// A character that the encoding does not have, in a place without a substitute.
    lacking: Option<char>,
}

/// The characters that can be written as they are.
#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    /// Everything beyond ASCII as a reference.
    Ascii,
    /// ISO-8859-1: characters up to U+00FF as one byte each. The library takes it for windows-1252, as browsers do.
    Latin1,
    /// In two or four bytes each, written when all is there.
    Utf16,
    /// As a library does it, with references for characters that it does not have.
    Other(&'static encoding_rs::Encoding),
}

impl Bytes {
    pub(crate) fn new(encoding: &str, bytes_max: usize) -> Result<Bytes, Error> {
        let encoding = if encoding.eq_ignore_ascii_case("UTF-8") || encoding.eq_ignore_ascii_case("UTF8") {
            Encoding::Utf8
        } else if encoding.eq_ignore_ascii_case("US-ASCII") || encoding.eq_ignore_ascii_case("ASCII") {
            Encoding::Ascii
        } else if is_latin1(encoding) {
            Encoding::Latin1
        } else if encoding.to_ascii_uppercase().starts_with("UTF-16") {
            Encoding::Utf16
        } else {
            match encoding_rs::Encoding::for_label(encoding.as_bytes()) {
                Some(known) => Encoding::Other(known),
                None => return Err(Error::new(ErrorKind::Static, format!("unknown encoding `{encoding}`"))),
            }
        };
        Ok(Bytes { text: Vec::with_capacity(1024), encoding, bytes_max, lacking: None })
    }

    /// Whether a character can be written as it is.
    fn has(&self, character: char) -> bool {
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf16 => true,
            Encoding::Ascii => character.is_ascii(),
            Encoding::Latin1 => u32::from(character) <= 0xFF,
            Encoding::Other(encoding) => character.is_ascii() || !encoding.encode(character.encode_utf8(&mut [0; 4])).2,
        }
    }

    /// Whether every character can be written as it is.
    fn has_all(&self) -> bool {
        matches!(self.encoding, Encoding::Utf8 | Encoding::Utf16)
    }

    #[inline]
    pub(crate) fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Writes text other than character data, such as a name or a comment: no reference can replace a character in it
    /// that the encoding does not have (XSLT 1.0, section 16.1), and [`Bytes::check`] reports it.
    #[inline]
    pub(crate) fn push_bare(&mut self, text: &str) {
        if !self.has_all() {
            self.find_lacking(text);
        }
        self.push(text);
    }

    #[cold]
    fn find_lacking(&mut self, text: &str) {
        if self.lacking.is_none() && !text.is_ascii() {
            self.lacking = text.chars().find(|character| !self.has(*character));
        }
    }

    /// # Errors
    /// The result is larger than its budget, or has a character that its encoding does not have.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(character) = self.lacking {
            return Err(self.has_none(character));
        }
        if self.text.len() > self.bytes_max {
            return Err(exceeded("bytes of a result", self.bytes_max as u64));
        }
        Ok(())
    }

    #[cold]
    fn has_none(&self, character: char) -> Error {
        let encoding = match self.encoding {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16 => "UTF-16",
            Encoding::Ascii => "US-ASCII",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Other(encoding) => encoding.name(),
        };
        let code = u32::from(character);
        let message = format!(
            "`{character}` (U+{code:04X}) cannot be written in {encoding}, and no reference may stand for it here"
        );
        Error::new(ErrorKind::Dynamic, message)
    }

    /// All bytes, in the encoding.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Error> {
        self.check()?;
        Ok(match self.encoding {
            Encoding::Utf8 | Encoding::Ascii => self.text,
            Encoding::Latin1 => {
                let text = String::from_utf8_lossy(&self.text);
                let lacks_none = "what the encoding does not have was refused or written as a reference";
                text.chars().map(|character| u8::try_from(u32::from(character)).expect(lacks_none)).collect()
            }
            Encoding::Utf16 => {
                let text = String::from_utf8_lossy(&self.text);
                let mark = std::iter::once('\u{FEFF}');
                let units = mark.chain(text.chars()).flat_map(|character| {
                    let mut units = [0; 2];
                    let count = character.encode_utf16(&mut units).len();
                    units.into_iter().take(count)
                });
                units.flat_map(u16::to_be_bytes).collect()
            }
            Encoding::Other(encoding) => encoding.encode(&String::from_utf8_lossy(&self.text)).0.into_owned(),
        })
    }
}
