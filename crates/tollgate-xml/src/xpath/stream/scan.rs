//! The scanner: one pass over the bytes, nothing allocated, every rule of XML checked as far as it reads.
//!
//! All that it does not know for certain is a doubt: `None`.

use memchr::{memchr, memmem};

use super::Answer;
use super::automaton::{Automaton, Condition, Question};
use crate::budget::Budget;
use crate::characters::{Bracket, first_forbidden, is_space};
use crate::names::{XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::parse::{Options, utf8_declaration_length};

/// Deepest nesting of elements, declarations in scope and attributes of an element: more is a doubt.
const DEPTH_MAX: usize = 32;
const DECLARATIONS_MAX: usize = 32;
const ATTRIBUTES_MAX: usize = 16;

// Constants, since copying them costs less than making them anew for each message.
const NO_ELEMENTS: [Open; DEPTH_MAX] = [Open { name_start: 0, name_end: 0, declared: 0, wanted: 0 }; DEPTH_MAX];
const NO_DECLARATIONS: [Declaration<'static>; DECLARATIONS_MAX] =
    [Declaration { prefix: b"", uri: b"" }; DECLARATIONS_MAX];
const NO_ATTRIBUTES: [Attribute<'static>; ATTRIBUTES_MAX] =
    [Attribute { prefix: b"", local: b"", value: b"" }; ATTRIBUTES_MAX];

const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The answer for a message; `None` on any doubt.
pub(super) fn scan(automaton: &Automaton, source: &[u8], options: &Options<'_>) -> Option<Answer> {
    let default = Budget::default();
    let budget = options.budget.unwrap_or(&default);
    let fits = source.len() <= budget.document_bytes_max.min(u32::MAX as usize)
        && budget.depth_max >= DEPTH_MAX
        && budget.attributes_max >= ATTRIBUTES_MAX
        && options.whitespace.is_none();
    if !fits {
        return None;
    }
    // A text and a node take a byte at least.
    let seen = source.len().min(budget.text_bytes_max).min(budget.nodes_max.saturating_sub(1));
    let mut scanner = Scanner {
        automaton,
        bytes: &source[..seen],
        is_whole: seen == source.len(),
        at: 0,
        open: NO_ELEMENTS,
        depth: 0,
        declarations: NO_DECLARATIONS,
        declared: 0,
        attributes: NO_ATTRIBUTES,
        seen_element: false,
        pending: 0,
        known: 0,
        holding: 0,
    };
    scanner.document()
}

struct Scanner<'p, 's> {
    automaton: &'p Automaton,
    bytes: &'s [u8],
    /// Whether the message ends where the bytes do.
    is_whole: bool,
    at: usize,
    open: [Open; DEPTH_MAX],
    depth: usize,
    declarations: [Declaration<'s>; DECLARATIONS_MAX],
    declared: usize,
    /// The attributes of the element being begun.
    attributes: [Attribute<'s>; ATTRIBUTES_MAX],
    seen_element: bool,
    /// Last steps that led to the element just begun and wait for its value.
    pending: u64,
    /// The truths that are known, and those of them that are true.
    known: u64,
    holding: u64,
}

/// An open element.
#[derive(Debug, Clone, Copy)]
struct Open {
    name_start: u32,
    name_end: u32,
    /// Declarations in scope around it.
    declared: u32,
    /// Steps that its children may be.
    wanted: u64,
}

#[derive(Debug, Clone, Copy)]
struct Declaration<'s> {
    prefix: &'s [u8],
    uri: &'s [u8],
}

#[derive(Debug, Clone, Copy)]
struct Attribute<'s> {
    prefix: &'s [u8],
    local: &'s [u8],
    value: &'s [u8],
}

impl<'s> Scanner<'_, 's> {
    fn document(&mut self) -> Option<Answer> {
        self.declaration()?;
        loop {
            let start = self.at;
            self.text()?;
            let text = &self.bytes[start..self.at];
            if self.depth == 0 {
                if !text.iter().all(|byte| is_space(*byte)) {
                    return None;
                }
                if self.at == self.bytes.len() {
                    let at_end = self.is_whole && self.seen_element;
                    return at_end.then(|| self.ended());
                }
            }
            match self.bytes.get(self.at + 1)? {
                b'/' => {
                    self.texts(text)?;
                    let pending = std::mem::take(&mut self.pending);
                    if pending != 0 {
                        self.value(pending, text)?;
                    }
                    self.end_tag()?;
                }
                // A value with markup in it is put together by the full engine.
                _ if self.pending != 0 => return None,
                b'!' => {
                    self.texts(text)?;
                    self.comment()?;
                }
                b'?' => return None,
                _ => {
                    self.texts(text)?;
                    self.start_tag()?;
                }
            }
            if self.known != 0
                && let Some(holds) = self.decided(&self.automaton.condition)
            {
                return Some(Answer { holds, read_bytes: self.at });
            }
        }
    }

    /// A byte order mark and `<?xml …?>`.
    fn declaration(&mut self) -> Option<()> {
        if self.bytes.starts_with(BYTE_ORDER_MARK) {
            self.at = BYTE_ORDER_MARK.len();
        }
        if !self.bytes[self.at..].starts_with(b"<?xml") {
            return Some(());
        }
        self.at += utf8_declaration_length(&self.bytes[self.at..])?;
        Some(())
    }

    /// Goes over character data, to the next `<` or the end.
    fn text(&mut self) -> Option<()> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| TEXT_ENDS[usize::from(*byte)]).unwrap_or(rest.len());
        if length < rest.len() && rest[length] != b'<' {
            let whole = memchr(b'<', rest).unwrap_or(rest.len());
            let text = std::str::from_utf8(&rest[..whole]).ok()?;
            if memchr(b'&', text.as_bytes()).is_some() || first_forbidden(text, Bracket::MayNotEndSections).is_some() {
                return None;
            }
            self.at += whole;
        } else {
            self.at += length;
        }
        Some(())
    }

    /// A text node, for the steps that want such here.
    #[inline]
    fn texts(&mut self, text: &[u8]) -> Option<()> {
        if self.automaton.texts == 0 || self.depth == 0 || text.is_empty() {
            return Some(());
        }
        let found = self.open[self.depth - 1].wanted & self.automaton.texts;
        if found != 0 { self.value(found, text) } else { Some(()) }
    }

    /// Nodes with a value, found by these last steps.
    fn value(&mut self, steps: u64, value: &[u8]) -> Option<()> {
        for (index, truth) in self.automaton.truths.iter().enumerate() {
            let bit = 1 << index;
            if truth.step & steps == 0 || self.known & bit != 0 {
                continue;
            }
            if truth.question != Question::Exists && memchr(b'\r', value).is_some() {
                return None;
            }
            let holds = truth.question.holds(value, &truth.literal);
            if holds || truth.question.is_first() {
                self.known |= bit;
                self.holding |= if holds { bit } else { 0 };
            }
        }
        Some(())
    }

    /// The condition, as far as it is known.
    fn decided(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::True => Some(true),
            Condition::False => Some(false),
            Condition::Truth(index) => (self.known >> index & 1 == 1).then_some(self.holding >> index & 1 == 1),
            Condition::Not(inner) => self.decided(inner).map(|holds| !holds),
            Condition::And(left, right) => match (self.decided(left), self.decided(right)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(left, right) => match (self.decided(left), self.decided(right)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// The answer of a message that was read to its end: no further nodes come.
    fn ended(&mut self) -> Answer {
        for (index, truth) in self.automaton.truths.iter().enumerate() {
            let bit = 1 << index;
            if self.known & bit == 0 && truth.question.is_first() && truth.question.holds(b"", &truth.literal) {
                self.holding |= bit;
            }
        }
        self.known = u64::MAX;
        let holds = self.decided(&self.automaton.condition) == Some(true);
        Answer { holds, read_bytes: self.at }
    }

    /// `<!-- … -->`.
    fn comment(&mut self) -> Option<()> {
        let rest = self.bytes[self.at..].strip_prefix(b"<!--")?;
        let end = memmem::find(rest, b"--")?;
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        if first_forbidden(text, Bracket::Harmless).is_some() || rest.get(end + 2) != Some(&b'>') {
            return None;
        }
        self.at += b"<!--".len() + end + b"-->".len();
        Some(())
    }

    fn end_tag(&mut self) -> Option<()> {
        let open = self.open[self.depth.checked_sub(1)?];
        let name = &self.bytes[open.name_start as usize..open.name_end as usize];
        self.at += b"</".len();
        if !self.bytes[self.at..].starts_with(name) {
            return None;
        }
        self.at += name.len();
        self.spaces();
        self.expect(b'>')?;
        self.depth -= 1;
        self.declared = open.declared as usize;
        Some(())
    }

    fn start_tag(&mut self) -> Option<()> {
        if self.depth == 0 && std::mem::replace(&mut self.seen_element, true) {
            return None;
        }
        self.at += 1;
        let name_start = self.at;
        let (prefix, local) = self.name()?;
        let name_end = self.at;
        let declared_before = self.declared;
        let mut count = 0;
        let is_empty = loop {
            let before = self.at;
            self.spaces();
            match self.bytes.get(self.at)? {
                b'>' => {
                    self.at += 1;
                    break false;
                }
                b'/' => {
                    self.at += 1;
                    self.expect(b'>')?;
                    break true;
                }
                _ if self.at == before => return None,
                _ => {}
            }
            let attribute = self.attribute()?;
            let is_twice = |other: &Attribute<'_>| {
                // Two prefixes may mean one namespace: a doubt too.
                other.local == attribute.local && other.prefix.is_empty() == attribute.prefix.is_empty()
            };
            if count == ATTRIBUTES_MAX || self.attributes[..count].iter().any(is_twice) {
                return None;
            }
            match (attribute.prefix, attribute.local) {
                (b"", b"xmlns") => self.declare(b"", attribute.value)?,
                (b"xmlns", prefix) => self.declare(prefix, attribute.value)?,
                _ => {}
            }
            self.attributes[count] = attribute;
            count += 1;
        };
        let uri = self.resolve(prefix)?;
        let around = match self.depth.checked_sub(1) {
            Some(parent) => self.open[parent].wanted,
            None => self.automaton.first,
        };
        let found = self.automaton.elements.matching(around & self.automaton.elements.all, uri, local);
        let wanted = around & self.automaton.deep | (found & !self.automaton.last) << 1;
        self.meet(found & self.automaton.last, is_empty.then_some(b""))?;
        for index in 0..count {
            let attribute = self.attributes[index];
            let is_declaration =
                attribute.prefix == b"xmlns" || (attribute.prefix.is_empty() && attribute.local == b"xmlns");
            if is_declaration {
                continue;
            }
            let uri = if attribute.prefix.is_empty() { b"" } else { self.resolve(attribute.prefix)? };
            let steps = wanted & self.automaton.attributes.all;
            if steps != 0 {
                let found = self.automaton.attributes.matching(steps, uri, attribute.local);
                self.meet(found, Some(attribute.value))?;
            }
        }
        if is_empty {
            self.declared = declared_before;
            return Some(());
        }
        let number = crate::names::number;
        *self.open.get_mut(self.depth)? = Open {
            name_start: number(name_start),
            name_end: number(name_end),
            declared: number(declared_before),
            wanted,
        };
        self.depth += 1;
        Some(())
    }

    /// A node that these last steps led to; its value may still have to be read.
    #[inline]
    fn meet(&mut self, steps: u64, value: Option<&[u8]>) -> Option<()> {
        if steps == 0 {
            return Some(());
        }
        match value {
            Some(value) => self.value(steps, value),
            None => {
                self.pending = steps & self.automaton.valued;
                // Those that only ask whether there is one.
                self.value(steps & !self.automaton.valued, b"")
            }
        }
    }

    fn attribute(&mut self) -> Option<Attribute<'s>> {
        let (prefix, local) = self.name()?;
        self.spaces();
        self.expect(b'=')?;
        self.spaces();
        let quote = *self.bytes.get(self.at).filter(|quote| matches!(quote, b'"' | b'\''))?;
        self.at += 1;
        let rest = &self.bytes[self.at..];
        let length = memchr(quote, rest)?;
        let value = &rest[..length];
        if value.iter().any(|byte| NOT_PLAIN_IN_VALUES[usize::from(*byte)]) {
            let text = std::str::from_utf8(value).ok()?;
            let is_changed = value.iter().any(|byte| matches!(byte, b'&' | b'<' | b'\t' | b'\n' | b'\r'));
            if is_changed || first_forbidden(text, Bracket::Harmless).is_some() {
                return None;
            }
        }
        self.at += length + 1;
        Some(Attribute { prefix, local, value })
    }

    fn declare(&mut self, prefix: &'s [u8], uri: &'s [u8]) -> Option<()> {
        let is_special = matches!(prefix, b"xml" | b"xmlns")
            || uri == XML_NAMESPACE.as_bytes()
            || uri == XMLNS_NAMESPACE.as_bytes()
            || (uri.is_empty() && !prefix.is_empty());
        if is_special {
            return None;
        }
        *self.declarations.get_mut(self.declared)? = Declaration { prefix, uri };
        self.declared += 1;
        Some(())
    }

    fn resolve(&self, prefix: &[u8]) -> Option<&'s [u8]> {
        let declared = self.declarations[..self.declared].iter().rev().find(|known| known.prefix == prefix);
        match declared {
            Some(declaration) => Some(declaration.uri),
            None if prefix.is_empty() => Some(b""),
            None if prefix == b"xml" => Some(XML_NAMESPACE.as_bytes()),
            None => None,
        }
    }

    /// A name of ASCII: prefix and local part.
    fn name(&mut self) -> Option<(&'s [u8], &'s [u8])> {
        let first = self.plain_name()?;
        if self.bytes.get(self.at) != Some(&b':') {
            return Some((b"", first));
        }
        self.at += 1;
        Some((first, self.plain_name()?))
    }

    fn plain_name(&mut self) -> Option<&'s [u8]> {
        let rest = &self.bytes[self.at..];
        if !matches!(rest.first()?, b'A'..=b'Z' | b'a'..=b'z' | b'_') {
            return None;
        }
        let length = rest.iter().position(|byte| !NAME[usize::from(*byte)])?;
        self.at += length;
        Some(&rest[..length])
    }

    #[inline]
    fn spaces(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| is_space(*byte)) {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        if self.bytes.get(self.at) != Some(&byte) {
            return None;
        }
        self.at += 1;
        Some(())
    }
}

impl Question {
    /// Whether only the first node counts, and the empty text where there is none.
    fn is_first(self) -> bool {
        match self {
            Question::Exists | Question::AnyIs | Question::AnyIsNot => false,
            Question::FirstIs | Question::FirstIsNot | Question::FirstContains | Question::FirstStartsWith => true,
        }
    }

    fn holds(self, value: &[u8], literal: &[u8]) -> bool {
        match self {
            Question::Exists => true,
            Question::AnyIs | Question::FirstIs => value == literal,
            Question::AnyIsNot | Question::FirstIsNot => value != literal,
            Question::FirstContains => memmem::find(value, literal).is_some(),
            Question::FirstStartsWith => value.starts_with(literal),
        }
    }
}

/// Bytes that end a run of plain character data: `<`, and what needs a closer look.
const TEXT_ENDS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\t' | b'\n' | b'\r' => false,
            b'<' | b'&' | b']' | 0..0x20 | 0x80.. => true,
            _ => false,
        };
        byte += 1;
    }
    table
};

/// Bytes of a value that need a closer look.
const NOT_PLAIN_IN_VALUES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'<' | b'&' | 0..0x20 | 0x80..);
        byte += 1;
    }
    table
};

const NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
        byte += 1;
    }
    table
};
