//! Arrays of entities that arrive in parts: one record at a time is read into an [`Entry`], wherever the parts are cut.
//!
//! The array is the document itself, or a member of an object beside texts ([`Envelope`]); a single entity is an array
//! of one. A record is read directly in its part. Only one that is cut in two is first searched for its end, each byte
//! once, so that many small parts cost no more than few large ones. The records are those of plain REST. It
//! deliberately does not limit the whole: the caller counts.

use super::entry::Entry;
use super::error::{BodyError, Read};
use super::json::Json;
use super::shape::Shapes;
use super::{Compiled, Context, ENVELOPE_TEXT_BYTES_MAX, RECORD_BYTES_MAX, Reader};
use crate::address::quoted;
use crate::edm::SetId;
use crate::suggest;
use crate::syntax::{Lexer, MARK};
use std::sync::Arc;

/// An object that contains the array: `{"insEntity": "TestRecords", "insArray": […]}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The name of the member that is the array.
    pub array: String,
    /// The names of members that are texts, in any order before or behind the array.
    pub texts: Vec<String>,
}

/// The result of [`ArrayReader::next`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayStep {
    /// A record; the entry contains it.
    Entry,
    /// Nothing; more bytes are needed.
    NeedMore,
    /// The end of the document; only white space may follow.
    End,
}

/// Reads one array.
#[derive(Debug)]
pub struct ArrayReader {
    compiled: Arc<Compiled>,
    set: SetId,
    root: String,
    envelope: Option<Envelope>,
    /// The values of the envelope's texts, as far as they were seen.
    texts: Vec<Option<String>>,
    array_seen: bool,
    buffer: Vec<u8>,
    /// Offset in `buffer` of the first byte not read yet.
    at: usize,
    /// Number of bytes dropped before `buffer`.
    dropped: usize,
    records: u64,
    state: State,
    /// State of the search for the end of an incomplete record.
    cut: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first byte.
    Start,
    /// Before a name of the envelope; the first may be its end.
    Name { first: bool },
    /// Behind a value of the envelope.
    Member,
    /// Before an item of the array; the first may be its end.
    Item { first: bool },
    /// Behind an item of the array.
    Items,
    /// Before the only entity.
    Single,
    /// Behind the document.
    Behind,
}

impl Reader {
    /// Begins to read an array of entities of `set` in plain JSON, of any length. `root` is as in [`Reader::read`].
    pub fn array(&self, set: SetId, root: &str, envelope: Option<Envelope>) -> ArrayReader {
        let texts = envelope.as_ref().map_or(0, |envelope| envelope.texts.len());
        ArrayReader {
            compiled: self.compiled.clone(),
            set,
            root: root.to_owned(),
            envelope,
            texts: vec![None; texts],
            array_seen: false,
            buffer: Vec::new(),
            at: 0,
            dropped: 0,
            records: 0,
            state: State::Start,
            cut: None,
        }
    }
}

impl ArrayReader {
    /// Adds the next bytes of the document.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.dropped += self.at;
        self.buffer.drain(..self.at);
        self.at = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Number of records read.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The value of a text of the envelope, as soon as it was read.
    pub fn text(&self, name: &str) -> Option<&str> {
        let texts = &self.envelope.as_ref()?.texts;
        self.texts[texts.iter().position(|text| text == name)?].as_deref()
    }

    /// Takes the next record into `entry`, which is reset first.
    ///
    /// # Errors
    /// The error, with the record's index before the property's path; nothing can be read behind it.
    #[allow(clippy::should_implement_trait, reason = "it fills what it is given, and may need more")]
    pub fn next(&mut self, entry: &mut Entry) -> Result<ArrayStep, BodyError> {
        self.step(entry).map_err(|error| *error)
    }

    /// Says that no bytes come any more.
    ///
    /// # Errors
    /// If the document is not complete.
    pub fn finish(&mut self, entry: &mut Entry) -> Result<(), BodyError> {
        match self.step(entry).map_err(|error| *error)? {
            ArrayStep::End => return Ok(()),
            ArrayStep::Entry => {
                let message = "a record was left unread when the document ended";
                return Err(*self.fault(message));
            }
            ArrayStep::NeedMore => {}
        }
        if self.cut.is_some() {
            // What stands there is no whole record: reading it says where and why.
            self.record(entry, self.buffer.len()).map_err(|error| *error)?;
        }
        self.at = self.buffer.len();
        Err(*self.fault("the document ends before it is complete"))
    }

    fn step(&mut self, entry: &mut Entry) -> Read<ArrayStep> {
        loop {
            let Some(byte) = self.skip_space() else {
                return Ok(if self.state == State::Behind { ArrayStep::End } else { ArrayStep::NeedMore });
            };
            match (self.state, byte) {
                (State::Start, b'[') => self.enter_array(),
                (State::Start, b'{') => match self.is_envelope()? {
                    None => return Ok(ArrayStep::NeedMore),
                    Some(true) => {
                        self.at += 1;
                        self.state = State::Name { first: true };
                    }
                    Some(false) => self.state = State::Single,
                },
                (State::Start, _) if self.dropped + self.at == 0 && self.buffer.starts_with(MARK) => {
                    self.at = MARK.len()
                }
                (State::Start, _) if self.dropped + self.at == 0 && MARK.starts_with(&self.buffer) => {
                    return Ok(ArrayStep::NeedMore);
                }
                (State::Start, _) => return Err(self.fault("expected an array of entities, or one entity")),
                (State::Item { .. } | State::Single, b'{') => return self.next_record(entry),
                (State::Item { first: true }, b']') | (State::Items, b']') => {
                    self.at += 1;
                    self.state = if self.is_enveloped() { State::Member } else { State::Behind };
                }
                (State::Item { .. } | State::Single, _) => {
                    return Err(self.fault("expected an entity").inside_item(self.records, "."));
                }
                (State::Items, b',') => {
                    self.at += 1;
                    self.state = State::Item { first: false };
                }
                (State::Items, _) => return Err(self.fault("expected ',' or ']' behind an entity")),
                (State::Name { first: true } | State::Member, b'}') => {
                    let envelope = self.envelope.as_ref().expect("only an envelope has members");
                    if !self.array_seen {
                        return Err(self.fault(format!("the member '{}' is missing", envelope.array)));
                    }
                    self.at += 1;
                    self.state = State::Behind;
                }
                (State::Name { .. }, _) => {
                    if !self.member()? {
                        return Ok(ArrayStep::NeedMore);
                    }
                }
                (State::Member, b',') => {
                    self.at += 1;
                    self.state = State::Name { first: false };
                }
                (State::Member, _) => return Err(self.fault("expected ',' or '}'")),
                (State::Behind, _) => return Err(self.fault("the document goes on behind its value")),
            }
        }
    }

    fn skip_space(&mut self) -> Option<u8> {
        let mut lexer = Lexer { bytes: &self.buffer, at: self.at };
        let byte = lexer.skip_space();
        self.at = lexer.at;
        byte
    }

    fn is_enveloped(&self) -> bool {
        self.array_seen && self.envelope.is_some()
    }

    fn enter_array(&mut self) {
        self.at += 1;
        self.state = State::Item { first: true };
    }

    /// Whether the object that begins here is the envelope, by its first name; `None` if that is not there yet.
    fn is_envelope(&mut self) -> Read<Option<bool>> {
        let Some(envelope) = &self.envelope else { return Ok(Some(false)) };
        let mut lexer = Lexer { bytes: &self.buffer, at: self.at + 1 };
        Ok(match lexer.skip_space() {
            None => self.not_yet(lexer.at)?,
            Some(b'"') => match lexer.raw_string() {
                Ok(name) => {
                    let is = |known: &String| known.as_bytes() == name;
                    Some(is(&envelope.array) || envelope.texts.iter().any(is))
                }
                Err(_) => self.not_yet(lexer.at)?,
            },
            Some(_) => Some(false),
        })
    }

    /// A token of the envelope goes on behind the bytes that are there, unless it is too long already.
    fn not_yet<T>(&self, end: usize) -> Read<Option<T>> {
        if end - self.at > ENVELOPE_TEXT_BYTES_MAX {
            let message = format!("a member beside the array has more than {ENVELOPE_TEXT_BYTES_MAX} bytes");
            return Err(self.fault(message));
        }
        Ok(None)
    }

    /// Reads a member of the envelope: a text, or the array up to its bracket. Whether it was all there.
    fn member(&mut self) -> Read<bool> {
        let mut lexer = Lexer { bytes: &self.buffer, at: self.at };
        if lexer.skip_space() != Some(b'"') {
            return Err(self.fault("expected a name in quotes"));
        }
        let whole = lexer.raw_string().is_ok() && lexer.skip_space().is_some();
        if !whole {
            return Ok(self.not_yet::<()>(lexer.at)?.is_some());
        }
        lexer.at = self.at;
        let envelope = self.envelope.as_ref().expect("only an envelope has members");
        let name = lexer.string().map_err(|error| self.located(error.into()))?;
        if lexer.skip_space() != Some(b':') {
            return Err(self.fault_at(lexer.at, "expected ':' behind a name"));
        }
        lexer.at += 1;
        let Some(byte) = lexer.skip_space() else { return Ok(self.not_yet::<()>(lexer.at)?.is_some()) };
        if name == envelope.array {
            if self.array_seen {
                return Err(self.fault("the member stands twice").inside(&name));
            }
            if byte != b'[' {
                return Err(self.fault_at(lexer.at, "expected an array of entities").inside(&name));
            }
            (self.at, self.array_seen) = (lexer.at, true);
            self.enter_array();
            return Ok(true);
        }
        let Some(text) = envelope.texts.iter().position(|text| *text == name) else {
            let names = envelope.texts.iter().chain([&envelope.array]).map(String::as_str);
            let hint = suggest::nearest(&name, names).map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(self.fault(format!("unknown member {}{hint}", quoted(&name))));
        };
        if self.texts[text].is_some() {
            return Err(self.fault("the member stands twice").inside(&name));
        }
        if byte != b'"' {
            return Err(self.fault_at(lexer.at, "expected a text").inside(&name));
        }
        let begin = lexer.at;
        if lexer.raw_string().is_err() {
            return Ok(self.not_yet::<()>(lexer.at)?.is_some());
        }
        lexer.at = begin;
        let value = lexer.string().map_err(|error| self.located(error.into()))?.into_owned();
        let end = lexer.at;
        self.not_too_long(end)?;
        (self.at, self.texts[text], self.state) = (end, Some(value), State::Member);
        Ok(true)
    }

    fn not_too_long(&self, end: usize) -> Read<()> {
        self.not_yet::<()>(end).map(|_| ())
    }

    fn next_record(&mut self, entry: &mut Entry) -> Read<ArrayStep> {
        let end = match &mut self.cut {
            None => match self.record(entry, self.buffer.len()) {
                Ok(()) => return Ok(ArrayStep::Entry),
                // Only a whole record is really wrong.
                Err(_) => self.cut.insert(End::default()).find(&self.buffer[self.at..]),
            },
            Some(cut) => cut.find(&self.buffer[self.at..]),
        };
        match end {
            Some(length) => self.record(entry, self.at + length).map(|()| ArrayStep::Entry),
            None if self.buffer.len() - self.at > RECORD_BYTES_MAX => Err(self.too_long()),
            None => Ok(ArrayStep::NeedMore),
        }
    }

    /// Reads the record that begins here, within the bytes up to `end`.
    #[inline]
    fn record(&mut self, entry: &mut Entry, end: usize) -> Read<()> {
        let Compiled { model, shapes } = &*self.compiled;
        let context = Context { model, shapes: shapes as &Shapes, root: &self.root, protocol: None };
        let mut json = Json::within(&self.buffer[self.at..end], context, std::mem::take(&mut entry.scratch));
        let read = json.entity(self.set, entry);
        let length = json.lexer.at;
        entry.scratch = json.scratch;
        read.map_err(|error| self.located(error.moved(self.at)).inside_item(self.records, "."))?;
        if length > RECORD_BYTES_MAX {
            return Err(self.too_long());
        }
        self.at += length;
        self.records += 1;
        self.cut = None;
        self.state = if self.state == State::Single { State::Behind } else { State::Items };
        Ok(())
    }

    #[cold]
    fn too_long(&self) -> Box<BodyError> {
        self.fault(format!("a record has more than {RECORD_BYTES_MAX} bytes")).inside_item(self.records, ".")
    }

    fn fault(&self, message: impl Into<String>) -> Box<BodyError> {
        self.fault_at(self.at, message)
    }

    #[cold]
    fn fault_at(&self, at: usize, message: impl Into<String>) -> Box<BodyError> {
        self.located(BodyError::new(at, message))
    }

    /// An error with a place in the buffer, with its place in the document.
    fn located(&self, error: Box<BodyError>) -> Box<BodyError> {
        error.moved(self.dropped)
    }
}

/// Looks for the end of an object, as far as the bytes go.
#[derive(Debug, Default)]
struct End {
    /// Number of bytes searched.
    seen: usize,
    open: usize,
    quoted: bool,
}

impl End {
    /// The length of the object at the front of `bytes`, which may have grown since the last call.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.seen < bytes.len() {
            let rest = &bytes[self.seen..];
            if self.quoted {
                let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                    self.seen = bytes.len();
                    return None;
                };
                if rest[found] == b'"' {
                    self.quoted = false;
                    self.seen += found + 1;
                } else if found + 1 < rest.len() {
                    self.seen += found + 2;
                } else {
                    self.seen += found;
                    return None;
                }
                continue;
            }
            let Some(found) = memchr::memchr3(b'"', b'{', b'}', rest) else {
                self.seen = bytes.len();
                return None;
            };
            self.seen += found + 1;
            match rest[found] {
                b'"' => self.quoted = true,
                b'{' => self.open += 1,
                _ => self.open = self.open.saturating_sub(1),
            }
            if self.open == 0 && !self.quoted {
                return Some(self.seen);
            }
        }
        None
    }
}
