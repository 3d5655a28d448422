//! Functions of texts (XPath 1.0, section 4.2). Positions count characters, from one.

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
            whole.push_str(&self.string(argument)?);
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

/// The characters at the positions `p` with `p >= round(start)` and, where a length is given,
/// `p < round(start) + round(length)`.
pub(super) fn substring<'e>(text: &str, start: f64, length: Option<f64>) -> Text<'e> {
    let first = round(start);
    let end = length.map_or(f64::INFINITY, |length| first + round(length));
    let mut part = String::new();
    for (index, character) in text.chars().enumerate() {
        let position = (index + 1) as f64;
        // Comparisons with NaN are false, as the recommendation wants.
        if position >= first && position < end {
            part.push(character);
        }
    }
    Text::Owned(part)
}

pub(super) fn before<'e>(text: &str, part: &str) -> Text<'e> {
    Text::Owned(text.split_once(part).map_or("", |(before, _)| before).to_owned())
}

pub(super) fn after<'e>(text: &str, part: &str) -> Text<'e> {
    Text::Owned(text.split_once(part).map_or("", |(_, after)| after).to_owned())
}

/// Each character of `from` becomes the one at its place in `to`, or nothing where `to` is shorter; the first occurrence
/// in `from` counts.
pub(super) fn translate<'e>(text: &str, from: &str, to: &str) -> Text<'e> {
    let to: Vec<char> = to.chars().collect();
    let mut translated = String::with_capacity(text.len());
    for character in text.chars() {
        match from.chars().position(|replaced| replaced == character) {
            None => translated.push(character),
            Some(index) => translated.extend(to.get(index)),
        }
    }
    Text::Owned(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substrings_follow_the_examples_of_the_recommendation() {
        let check = |start: f64, length: Option<f64>, expected: &str| {
            assert_eq!(&*substring("12345", start, length), expected, "{start} {length:?}");
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
        assert_eq!(&*translate("--aaa--", "abc-", "ABC"), "AAA");
        assert_eq!(&*translate("aab", "aa", "xy"), "xxb");
        assert_eq!(&*normalize_space(Text::Borrowed(" a \t\n b  c ")), "a b c");
        assert!(matches!(normalize_space(Text::Borrowed("a b")), Text::Borrowed("a b")));
    }
}
