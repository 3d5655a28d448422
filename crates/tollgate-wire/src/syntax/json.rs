//! A pull reader of JSON (RFC 8259) over a byte slice: one event at a time, texts borrowed where nothing is escaped,
//! numbers as their digits.
//!
//! It checks strictly (one value, no trailing comma, valid UTF-8, whole surrogate pairs) and stays within [`Limits`]. It
//! deliberately builds no tree and converts no number: a Decimal must not pass through a float.

use super::ReadError;
use super::lexer::Lexer;
use std::borrow::Cow;

/// Depth beyond which no document is read: the stack of open brackets is one word.
pub const DEPTH_MAX: u32 = 64;
/// Bytes beyond which no document is read, unless the caller says otherwise.
pub const BYTES_MAX: usize = 256 << 20;

/// The limits of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Open brackets, at most [`DEPTH_MAX`].
    pub depth_max: u32,
    /// Bytes of the document.
    pub bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth_max: DEPTH_MAX, bytes_max: BYTES_MAX }
    }
}

/// The next item of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// `{`.
    ObjectBegin,
    /// `}`.
    ObjectEnd,
    /// `[`.
    ArrayBegin,
    /// `]`.
    ArrayEnd,
    /// The name of a member; its value is the next event.
    Name(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
    /// The text of a number.
    Number(&'a str),
    /// `true` or `false`.
    Boolean(bool),
    /// `null`.
    Null,
    /// The document is over.
    End,
}

/// Reads one document.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    lexer: Lexer<'a>,
    depth: u32,
    depth_max: u32,
    /// One bit for each open bracket, the innermost lowest: set for an object.
    objects: u64,
    expects: Expects,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// A value, at the top, behind a colon or behind a comma of an array.
    Value,
    /// The first value of an array, or its end.
    FirstValue,
    /// The first name of an object, or its end.
    FirstName,
    /// A name behind a comma.
    Name,
    /// A comma or the end of the innermost bracket; at the top the end of the document.
    Next,
}

impl<'a> Reader<'a> {
    /// Begins to read a document; a byte order mark before it is ignored.
    ///
    /// # Errors
    /// If the document is larger than the limit.
    pub fn new(bytes: &'a [u8], limits: Limits) -> Result<Reader<'a>, ReadError> {
        if bytes.len() > limits.bytes_max {
            let message = format!("the document has {} bytes, at most {} are read", bytes.len(), limits.bytes_max);
            return Err(ReadError { position: limits.bytes_max, message });
        }
        Ok(Reader { lexer: Lexer::of_document(bytes), ..Reader::within(bytes, limits.depth_max) })
    }

    /// Begins to read a value within a document.
    pub(crate) fn within(bytes: &'a [u8], depth_max: u32) -> Reader<'a> {
        let depth_max = depth_max.min(DEPTH_MAX);
        Reader { lexer: Lexer { bytes, at: 0 }, depth: 0, depth_max, objects: 0, expects: Expects::Value }
    }

    /// Byte offset of what will be read next.
    pub fn position(&self) -> usize {
        self.lexer.at
    }

    /// Number of open brackets.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The error in the document, with its byte.
    #[allow(clippy::should_implement_trait, reason = "an event can fail, and the end is an event")]
    pub fn next(&mut self) -> Result<Event<'a>, ReadError> {
        let byte = self.lexer.skip_space();
        match (self.expects, byte) {
            (Expects::Next, None) if self.depth == 0 => Ok(Event::End),
            (Expects::Next, Some(b',')) if self.depth > 0 => {
                self.lexer.at += 1;
                self.expects = if self.in_object() { Expects::Name } else { Expects::Value };
                self.next()
            }
            (Expects::Next | Expects::FirstName, Some(b'}')) if self.depth > 0 && self.in_object() => {
                self.close();
                Ok(Event::ObjectEnd)
            }
            (Expects::Next | Expects::FirstValue, Some(b']')) if self.depth > 0 && !self.in_object() => {
                self.close();
                Ok(Event::ArrayEnd)
            }
            (Expects::Next, Some(_)) if self.depth == 0 => Err(self.fault("the document goes on behind its value")),
            (Expects::Next, _) if self.in_object() => Err(self.fault("expected ',' or '}'")),
            (Expects::Next, _) => Err(self.fault("expected ',' or ']'")),
            (Expects::FirstName | Expects::Name, Some(b'"')) => {
                let name = self.lexer.string()?;
                if self.lexer.skip_space() != Some(b':') {
                    return Err(self.fault("expected ':' behind a name"));
                }
                self.lexer.at += 1;
                self.expects = Expects::Value;
                Ok(Event::Name(name))
            }
            (Expects::FirstName | Expects::Name, _) => Err(self.fault("expected a name in quotes")),
            (Expects::Value | Expects::FirstValue, byte) => self.value(byte),
        }
    }

    /// Takes the next name of the innermost object, or its end (`None`), without decoding the name: escapes are left as
    /// they are, and it may be no UTF-8. For scanners, which only compare names.
    ///
    /// # Errors
    /// The error in the document, with its byte.
    pub(crate) fn raw_name(&mut self) -> Result<Option<&'a [u8]>, ReadError> {
        let mut byte = self.lexer.skip_space();
        if (self.expects, byte) == (Expects::Next, Some(b',')) && self.in_object() {
            self.lexer.at += 1;
            self.expects = Expects::Name;
            byte = self.lexer.skip_space();
        }
        if byte != Some(b'"') || !matches!(self.expects, Expects::FirstName | Expects::Name) {
            return match self.next()? {
                Event::ObjectEnd => Ok(None),
                _ => Err(self.fault("expected a name or the end of an object")),
            };
        }
        let name = self.lexer.raw_string()?;
        if self.lexer.skip_space() != Some(b':') {
            return Err(self.fault("expected ':' behind a name"));
        }
        self.lexer.at += 1;
        self.expects = Expects::Value;
        Ok(Some(name))
    }

    /// Skips the value, of any kind, whose first event was not taken yet. Brackets inside of it are not paired by kind,
    /// and its texts and numbers are not checked.
    ///
    /// # Errors
    /// If the document ends within the value.
    pub fn skip_value(&mut self) -> Result<(), ReadError> {
        let mut open = 0usize;
        loop {
            match self.lexer.skip_space() {
                None => return Err(self.fault("the document ends within a value")),
                Some(b'"') => drop(self.lexer.raw_string()?),
                Some(b'{' | b'[') => {
                    self.lexer.at += 1;
                    open += 1;
                }
                Some(b'}' | b']') if open > 0 => {
                    self.lexer.at += 1;
                    open -= 1;
                }
                Some(b',' | b':') if open > 0 => {
                    self.lexer.at += 1;
                    continue;
                }
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    let rest = self.lexer.rest();
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b'"');
                    self.lexer.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
                Some(_) => return Err(self.fault("expected a value")),
            }
            if open == 0 {
                self.expects = Expects::Next;
                return Ok(());
            }
        }
    }

    fn value(&mut self, byte: Option<u8>) -> Result<Event<'a>, ReadError> {
        let event = match byte {
            Some(b'{') => {
                self.open(1)?;
                self.expects = Expects::FirstName;
                return Ok(Event::ObjectBegin);
            }
            Some(b'[') => {
                self.open(0)?;
                self.expects = Expects::FirstValue;
                return Ok(Event::ArrayBegin);
            }
            Some(b'"') => Event::Text(self.lexer.string()?),
            Some(b'-' | b'0'..=b'9') => Event::Number(self.lexer.number()?),
            Some(b't') => self.lexer.word("true").map(|()| Event::Boolean(true))?,
            Some(b'f') => self.lexer.word("false").map(|()| Event::Boolean(false))?,
            Some(b'n') => self.lexer.word("null").map(|()| Event::Null)?,
            None => return Err(self.fault("the document ends where a value is expected")),
            Some(_) => return Err(self.fault("expected a value")),
        };
        self.expects = Expects::Next;
        Ok(event)
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }

    fn open(&mut self, object: u64) -> Result<(), ReadError> {
        if self.depth == self.depth_max {
            return Err(self.fault(format!("brackets are nested deeper than {}", self.depth_max)));
        }
        self.lexer.at += 1;
        self.depth += 1;
        self.objects = self.objects << 1 | object;
        Ok(())
    }

    fn close(&mut self) {
        self.lexer.at += 1;
        self.depth -= 1;
        self.objects >>= 1;
        self.expects = Expects::Next;
    }

    fn fault(&self, message: impl Into<String>) -> ReadError {
        self.lexer.fault(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(text: &[u8]) -> Result<Vec<Event<'_>>, ReadError> {
        let mut reader = Reader::new(text, Limits::default())?;
        let mut events = Vec::new();
        loop {
            match reader.next()? {
                Event::End => return Ok(events),
                event => events.push(event),
            }
        }
    }

    #[test]
    fn events_come_in_order_and_numbers_keep_their_digits() {
        let found = events(br#" {"a":[1,-0.50,1e+9,"x\u00e9\n\ud83d\udeeb\/"],"b":{},"c":[],"d":null,"e":true} "#);
        use Event::*;
        let name = |name: &'static str| Name(Cow::Borrowed(name));
        let expected = vec![
            ObjectBegin,
            name("a"),
            ArrayBegin,
            Number("1"),
            Number("-0.50"),
            Number("1e+9"),
            Text(Cow::Borrowed("xé\n🛫/")),
            ArrayEnd,
            name("b"),
            ObjectBegin,
            ObjectEnd,
            name("c"),
            ArrayBegin,
            ArrayEnd,
            name("d"),
            Null,
            name("e"),
            Boolean(true),
            ObjectEnd,
        ];
        assert_eq!(found.unwrap(), expected);
        assert!(matches!(&events(br#""plain""#).unwrap()[0], Text(Cow::Borrowed("plain"))));
    }

    #[test]
    fn faults_have_their_place() {
        let check = |text: &str, position: usize, message: &str| {
            let error = events(text.as_bytes()).unwrap_err();
            assert_eq!((error.position, error.message.as_str()), (position, message), "{text}");
        };
        check("", 0, "the document ends where a value is expected");
        check("{\"a\":1,}", 7, "expected a name in quotes");
        check("[1,]", 3, "expected a value");
        check("[1 2]", 3, "expected ',' or ']'");
        check("{\"a\" 1}", 5, "expected ':' behind a name");
        check("{\"a\":1]", 6, "expected ',' or '}'");
        check("1 1", 2, "the document goes on behind its value");
        check("01", 0, "a number begins with a needless zero");
        check("1.", 2, "expected a digit");
        check("-", 1, "expected a digit");
        check("1e", 2, "expected a digit");
        check("nul", 0, "expected a value");
        check("\"a", 2, "a string does not end");
        check("\"\n\"", 1, "a control character stands unescaped in a string");
        check("\"\\x\"", 1, "an unknown escape in a string");
        check("\"\\ud800\"", 1, "half of a surrogate pair in a string");
        check("\"\\udc00\\ud800\"", 1, "half of a surrogate pair in a string");
        check("\"\\u12\"", 1, "expected four hexadecimal digits behind '\\u'");
        assert_eq!(events(b"\"a\xff\"").unwrap_err().position, 2);
    }

    #[test]
    fn a_byte_order_mark_may_stand_before_a_document_and_nowhere_else() {
        assert_eq!(events("\u{feff}[1]".as_bytes()).unwrap().len(), 3);
        let check =
            |text: &str, position| assert_eq!(events(text.as_bytes()).unwrap_err().position, position, "{text}");
        check("\u{feff}[x]", 4);
        check("\u{feff}\u{feff}[1]", 3);
        check(" \u{feff}[1]", 1);
        check("[\u{feff}1]", 1);
        check("[1]\u{feff}", 3);
    }

    #[test]
    fn the_limits_hold_at_the_limit_and_one_above() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(events(nested(64).as_bytes()).is_ok());
        assert_eq!(events(nested(65).as_bytes()).unwrap_err().message, "brackets are nested deeper than 64");
        let limits = Limits { bytes_max: 2, ..Limits::default() };
        assert!(Reader::new(b"[]", limits).is_ok());
        assert!(Reader::new(b"[] ", limits).is_err());
    }

    #[test]
    fn a_skipped_value_leaves_the_reader_behind_it() {
        let text = br#"{"a":{"x":["}]\"",{"y":[]}],"z":-1.5e3},"b":"s\\","c":true , "d":[],"e":7}"#;
        let mut reader = Reader::new(text, Limits::default()).unwrap();
        assert_eq!(reader.next().unwrap(), Event::ObjectBegin);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(reader.next().unwrap(), Event::Name(Cow::Borrowed(name)));
            reader.skip_value().unwrap();
        }
        assert_eq!(reader.next().unwrap(), Event::Name(Cow::Borrowed("e")));
        assert_eq!(reader.next().unwrap(), Event::Number("7"));
        assert_eq!(reader.next().unwrap(), Event::ObjectEnd);
        assert_eq!(reader.next().unwrap(), Event::End);
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_as_it_was_written(text in ".*") {
            let mut json = b"\"".to_vec();
            crate::escape::json_text(&mut json, text.as_bytes());
            json.push(b'"');
            prop_assert_eq!(events(&json).unwrap(), vec![Event::Text(Cow::Owned(text))]);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![
            3 => proptest::sample::select(b"{}[]:,\"\\u0d8ntf-1.e \n".to_vec()), 1 => any::<u8>(),
        ], 0..60)) {
            let _ = events(&bytes);
            if let Ok(mut reader) = Reader::new(&bytes, Limits::default()) {
                let _ = reader.skip_value();
            }
        }
    }
}
