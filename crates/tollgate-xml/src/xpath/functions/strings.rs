//! Functions of texts (XPath 1.0, section 4.2). Positions count characters, from one.

use std::ops::Range;

use memchr::memmem;

use crate::budget::Meter;
use crate::characters::is_space;
use crate::error::Error;
use crate::xpath::evaluate::Context;
use crate::xpath::expression::Expression;
use crate::xpath::number::round;
use crate::xpath::value::Text;

impl<'e> Context<'e, '_> {
    pub(super) fn concat(&self, arguments: &'e [Expression]) -> Result<Text<'e>, Error> {
        let mut whole = String::new();
        for argument in arguments {
            let text = self.string(argument)?;
            self.environment.meter.copy(text.len())?;
            whole.push_str(&text);
            self.environment.check_text(whole.len())?;
        }
        Ok(Text::Owned(whole))
    }
}

/// White space at both ends away, and one space for each run within.
pub(super) fn normalize_space(text: Text<'_>) -> Text<'_> {
    let bytes = text.as_bytes();
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| is_space(*byte));
    let is_normal = !is_edge(bytes.first())
        && !is_edge(bytes.last())
        && bytes.windows(2).all(|pair| !is_space(pair[1]) || (pair[1] == b' ' && !is_space(pair[0])));
    if is_normal {
        return text;
    }
    let mut normal = String::with_capacity(text.len());
    let is_white = |character: char| character.is_ascii() && is_space(character as u8);
    for word in text.split(is_white).filter(|word| !word.is_empty()) {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    Text::Owned(normal)
}

/// The range of the characters at the positions `p` with `p >= round(start)` and, if a length is given, `p <
/// round(start) + round(length)`.
pub(super) fn substring(text: &str, start: f64, length: Option<f64>) -> Range<usize> {
    let first = round(start);
    let end = length.map_or(f64::INFINITY, |length| first + round(length));
    let mut places = text.char_indices().map(|(place, _)| place).zip(1_u64..);
    // Comparisons with NaN are false, as the recommendation wants.
    let Some((from, position)) = places.find(|(_, position)| *position as f64 >= first) else {
        return text.len()..text.len();
    };
    let is_within = (position as f64) < end;
    if !is_within {
        return from..from;
    }
    if end == f64::INFINITY {
        return from..text.len();
    }
    let to = places.find(|(_, position)| *position as f64 >= end).map_or(text.len(), |(place, _)| place);
    from..to
}

pub(super) fn before<'e>(text: &str, part: &str) -> Text<'e> {
    let end = memmem::find(text.as_bytes(), part.as_bytes()).unwrap_or(0);
    Text::Owned(text[..end].to_owned())
}

pub(super) fn after<'e>(text: &str, part: &str) -> Text<'e> {
    let start = memmem::find(text.as_bytes(), part.as_bytes()).map_or(text.len(), |start| start + part.len());
    Text::Owned(text[start..].to_owned())
}

/// The replacement of each character: the one at its place in `to`, or nothing if `to` is shorter; the first occurrence
/// in `from` counts.
#[derive(Debug)]
pub(super) struct Replaced {
    ascii: [Becomes; 128],
    /// The replacements of characters beyond ASCII, in order.
    others: Vec<(char, Becomes)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Becomes {
    Itself,
    Nothing,
    Other(char),
}

/// Steps that making the table takes, beside its characters.
const TABLE_STEPS: u64 = 8;

impl Replaced {
    pub(super) fn new(from: &str, to: &str, meter: &Meter) -> Result<Replaced, Error> {
        meter.spend(TABLE_STEPS)?;
        meter.walk(from.len())?;
        let mut table = Replaced { ascii: [Becomes::Itself; 128], others: Vec::new() };
        let mut to = to.chars();
        for character in from.chars() {
            let becomes = to.next().map_or(Becomes::Nothing, Becomes::Other);
            match table.ascii.get_mut(character as usize) {
                Some(known @ Becomes::Itself) => *known = becomes,
                Some(_) => {}
                None => table.others.push((character, becomes)),
            }
        }
        if !table.others.is_empty() {
            meter.spend((table.others.len() * SORTED_STEPS) as u64)?;
            // The order of equal ones is kept: the first of them stays.
            table.others.sort_by_key(|(character, _)| *character);
            table.others.dedup_by_key(|(character, _)| *character);
        }
        Ok(table)
    }

    pub(super) fn translate<'e>(&self, text: &str, meter: &Meter) -> Result<Text<'e>, Error> {
        meter.walk(text.len())?;
        if !self.others.is_empty() {
            // Each of them is searched for.
            meter.spend(text.len() as u64)?;
        }
        let mut translated = String::with_capacity(text.len());
        for character in text.chars() {
            match self.becomes(character) {
                Becomes::Itself => translated.push(character),
                Becomes::Nothing => {}
                Becomes::Other(other) => translated.push(other),
            }
        }
        Ok(Text::Owned(translated))
    }

    fn becomes(&self, character: char) -> Becomes {
        match self.ascii.get(character as usize) {
            Some(becomes) => *becomes,
            None => match self.others.binary_search_by_key(&character, |(known, _)| *known) {
                Ok(found) => self.others[found].1,
                Err(_) => Becomes::Itself,
            },
        }
    }
}

/// Steps for each of the things that are sorted.
const SORTED_STEPS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substrings_follow_the_examples_of_the_recommendation() {
        let check = |start: f64, length: Option<f64>, expected: &str| {
            assert_eq!(&"12345"[substring("12345", start, length)], expected, "{start} {length:?}");
        };
        check(2.0, Some(3.0), "234");
        check(2.0, None, "2345");
        check(1.5, Some(2.6), "234");
        check(0.0, Some(3.0), "12");
        check(f64::NAN, Some(3.0), "");
        check(1.0, Some(f64::NAN), "");
        check(-42.0, Some(f64::INFINITY), "12345");
        check(f64::NEG_INFINITY, Some(f64::INFINITY), "");
        check(f64::NEG_INFINITY, None, "12345");
    }

    #[test]
    fn texts_are_taken_apart_and_translated() {
        assert_eq!(&*before("1999/04/01", "/"), "1999");
        assert_eq!(&*after("1999/04/01", "19"), "99/04/01");
        assert_eq!(&*after("abc", ""), "abc");
        assert_eq!(&*before("abc", "x"), "");
        let meter = Meter::new(1000);
        let translate = |text: &str, from: &str, to: &str| {
            Replaced::new(from, to, &meter).unwrap().translate(text, &meter).unwrap().into_string()
        };
        assert_eq!(translate("--aaa--", "abc-", "ABC"), "AAA");
        assert_eq!(translate("aab", "aa", "xy"), "xxb");
        assert_eq!(translate("aéöéz", "öéé", "oe"), "aeoez");
        assert_eq!(translate("aéöé", "xéö", "y"), "a");
        assert_eq!(&*normalize_space(Text::Borrowed(" a \t\n b  c ")), "a b c");
        assert!(matches!(normalize_space(Text::Borrowed("a b")), Text::Borrowed("a b")));
    }
}
