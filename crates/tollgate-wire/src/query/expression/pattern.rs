//! Patterns of `matchespattern`: what ECMAScript's regular expressions and every store's engine have in common, written anew
//! in one form that means the same to all of them.
//!
//! Literals, `.`, classes, groups, alternatives, `^`, `$` and repetitions, of bounded size. It deliberately has neither back
//! references nor looks around, which cannot be matched in a time that grows with the text alone, nor word boundaries.

use crate::query::limits::{PATTERN_CHARS_MAX, PATTERN_NESTING_MAX, PATTERN_SIZE_MAX};

/// The error in a pattern: at which character, from 0, and what.
type Wrong = (usize, String);

/// White space of ECMAScript.
const SPACE: &str = " \t\n\r\u{b}\u{c}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
const DIGIT: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
/// Characters that `.` does not match.
const LINE_ENDS: &str = "\n\r\u{2028}\u{2029}";

/// The pattern in the form of the stores.
///
/// # Errors
/// It is no pattern, or more than can be matched.
pub(super) fn canonical(pattern: &str) -> Result<String, Wrong> {
    let characters: Vec<char> = pattern.chars().collect();
    if characters.len() > PATTERN_CHARS_MAX {
        return Err((PATTERN_CHARS_MAX, format!("a pattern of more than {PATTERN_CHARS_MAX} characters")));
    }
    let mut reader =
        PatternReader { characters: &characters, position: 0, out: String::with_capacity(pattern.len() + 16) };
    reader.alternatives(0)?;
    match reader.peek() {
        None => Ok(reader.out),
        Some(_) => Err((reader.position, "a ')' without its '('".to_owned())),
    }
}

struct PatternReader<'p> {
    characters: &'p [char],
    position: usize,
    out: String,
}

impl PatternReader<'_> {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.position += usize::from(found);
        found
    }

    fn wrong<T>(&self, what: &str) -> Result<T, Wrong> {
        Err((self.position, what.to_owned()))
    }

    /// Alternatives up to the end of the group; how many characters they are as if all repetitions were written out.
    fn alternatives(&mut self, depth: usize) -> Result<usize, Wrong> {
        let mut size = 1;
        loop {
            while !matches!(self.peek(), None | Some(')' | '|')) {
                size += self.piece(depth)?;
                if size > PATTERN_SIZE_MAX {
                    return self.wrong(&format!("repetitions of more than {PATTERN_SIZE_MAX} characters"));
                }
            }
            if !self.take('|') {
                return Ok(size);
            }
            self.out.push('|');
        }
    }

    /// One piece of a pattern with its repetition.
    fn piece(&mut self, depth: usize) -> Result<usize, Wrong> {
        let at = self.position;
        let character = self.peek().expect("somebody looked");
        self.position += 1;
        let mut repeats = true;
        let size = match character {
            '(' => {
                if depth == PATTERN_NESTING_MAX {
                    return Err((at, format!("more than {PATTERN_NESTING_MAX} groups within each other")));
                }
                if self.take('?') && !self.take(':') {
                    return Err((at, "looks around and named groups are not built".to_owned()));
                }
                self.out.push_str("(?:");
                let size = self.alternatives(depth + 1)?;
                if !self.take(')') {
                    return Err((at, "a '(' without its ')'".to_owned()));
                }
                self.out.push(')');
                size
            }
            '[' => self.class(at)?,
            '.' => self.set("^", LINE_ENDS),
            '^' | '$' => {
                self.out.push(character);
                repeats = false;
                1
            }
            '\\' => match self.escape(at)? {
                Escape::One(character) => self.literal(character),
                Escape::Set(negated, set) => self.set(if negated { "^" } else { "" }, set),
            },
            '*' | '+' | '?' | '{' => return Err((at, format!("a '{character}' with nothing before it to repeat"))),
            other => self.literal(other),
        };
        let times = self.repetition()?;
        match times {
            Some(_) if !repeats => Err((at, format!("'{character}' cannot be repeated"))),
            times => Ok(size.saturating_mul(times.unwrap_or(1).max(1))),
        }
    }

    fn set(&mut self, negated: &str, set: &str) -> usize {
        for part in ["[", negated, set, "]"] {
            self.out.push_str(part);
        }
        1
    }

    fn literal(&mut self, character: char) -> usize {
        if "\\.+*?()|[]{}^$".contains(character) {
            self.out.push('\\');
        }
        self.out.push(character);
        1
    }

    /// The largest number of repetitions of the piece before, or `None`. Lazy or not is the same to a match.
    fn repetition(&mut self) -> Result<Option<usize>, Wrong> {
        let at = self.position;
        let times = match self.peek() {
            Some(sign @ ('*' | '+' | '?')) => {
                self.position += 1;
                self.out.push(sign);
                1
            }
            Some('{') => {
                self.position += 1;
                let least = self.number(at)?;
                let most = match self.take(',') {
                    false => Some(least),
                    true if self.peek() == Some('}') => None,
                    true => Some(self.number(at)?),
                };
                if !self.take('}') || most.is_some_and(|most| most < least) {
                    return Err((at, "expected a repetition such as {2}, {2,} or {2,5}".to_owned()));
                }
                self.out.push_str(&match most {
                    None => format!("{{{least},}}"),
                    Some(most) => format!("{{{least},{most}}}"),
                });
                most.unwrap_or(least)
            }
            _ => return Ok(None),
        };
        self.take('?');
        match self.peek() {
            Some('*' | '+' | '?' | '{') => self.wrong("a repetition of a repetition"),
            _ => Ok(Some(times)),
        }
    }

    fn number(&mut self, at: usize) -> Result<usize, Wrong> {
        let begin = self.position;
        while self.peek().is_some_and(|character| character.is_ascii_digit()) {
            self.position += 1;
        }
        let digits: String = self.characters[begin..self.position].iter().collect();
        // 255 is the most that PostgreSQL repeats.
        let number = digits.parse().ok().filter(|number| *number <= 255);
        number.ok_or_else(|| (at, "expected numbers from 0 to 255 in a repetition".to_owned()))
    }

    /// A class behind its opening bracket.
    fn class(&mut self, at: usize) -> Result<usize, Wrong> {
        self.out.push('[');
        if self.take('^') {
            self.out.push('^');
        }
        let mut is_empty = true;
        while !self.take(']') {
            let Some(first) = self.class_part(at)? else {
                is_empty = false;
                continue;
            };
            is_empty = false;
            self.member(first);
            // A hyphen at the end is itself.
            if self.peek() == Some('-') && self.characters.get(self.position + 1) != Some(&']') {
                self.position += 1;
                let range_at = self.position;
                match self.class_part(at)? {
                    Some(last) if last >= first => {
                        self.out.push('-');
                        self.member(last);
                    }
                    _ => return Err((range_at, "a range that ends before it begins".to_owned())),
                }
            }
        }
        if is_empty {
            return Err((at, "an empty class".to_owned()));
        }
        self.out.push(']');
        Ok(1)
    }

    /// A character of a class; nothing where it was a whole set, which is written.
    fn class_part(&mut self, at: usize) -> Result<Option<char>, Wrong> {
        let Some(character) = self.peek() else { return Err((at, "a '[' without its ']'".to_owned())) };
        let here = self.position;
        self.position += 1;
        match character {
            '\\' => match self.escape(here)? {
                Escape::One(character) => Ok(Some(character)),
                Escape::Set(false, set) => {
                    self.out.push_str(set);
                    Ok(None)
                }
                Escape::Set(true, _) => Err((here, "\\D, \\W and \\S within a class are not built".to_owned())),
            },
            other => Ok(Some(other)),
        }
    }

    fn member(&mut self, character: char) {
        if "\\[]^-&~".contains(character) {
            self.out.push('\\');
        }
        self.out.push(character);
    }

    /// The meaning of an escape, behind its backslash.
    fn escape(&mut self, at: usize) -> Result<Escape, Wrong> {
        let Some(character) = self.peek() else { return Err((at, "a backslash at the end".to_owned())) };
        self.position += 1;
        Ok(match character {
            'd' => Escape::Set(false, DIGIT),
            'D' => Escape::Set(true, DIGIT),
            'w' => Escape::Set(false, WORD),
            'W' => Escape::Set(true, WORD),
            's' => Escape::Set(false, SPACE),
            'S' => Escape::Set(true, SPACE),
            't' => Escape::One('\t'),
            'n' => Escape::One('\n'),
            'r' => Escape::One('\r'),
            'v' => Escape::One('\u{b}'),
            'f' => Escape::One('\u{c}'),
            'x' => Escape::One(self.coded(at, 2)?),
            'u' => Escape::One(self.coded(at, 4)?),
            letter if letter.is_alphanumeric() => return Err((at, format!("\\{letter} is not built"))),
            other => Escape::One(other),
        })
    }

    fn coded(&mut self, at: usize, digits: usize) -> Result<char, Wrong> {
        let end = (self.position + digits).min(self.characters.len());
        let code: String = self.characters[self.position..end].iter().collect();
        let is_code = code.len() == digits && code.bytes().all(|byte| byte.is_ascii_hexdigit());
        let character = u32::from_str_radix(&code, 16).ok().filter(|code| is_code && *code != 0);
        self.position = end;
        character.and_then(char::from_u32).ok_or_else(|| (at, format!("expected the {digits} digits of a character")))
    }
}

enum Escape {
    One(char),
    /// A set, or what is not in it.
    Set(bool, &'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_in_one_form() {
        for (pattern, expected) in [
            ("", ""),
            ("^A.*e$", "^A[^\n\r\u{2028}\u{2029}]*e$"),
            ("a|b|", "a|b|"),
            ("(ab)+(?:c|d)?", "(?:ab)+(?:c|d)?"),
            ("a{2}b{2,}c{2,5}?", "a{2,2}b{2,}c{2,5}"),
            ("a*?b+?c??", "a*b+c?"),
            (r"\d\D\w", "[0-9][^0-9][A-Za-z0-9_]"),
            (r"[\d\-x-z]", r"[0-9\-x-z]"),
            ("[^a-c&~]", r"[^a-c\&\~]"),
            ("[a-]", r"[a\-]"),
            ("[[:alpha:]", r"[\[:alph:]"),
            (r"\.\/\$\u00fc\x41", r"\./\$üA"),
            ("a]b}c", r"a\]b\}c"),
            ("***:x", ""),
        ] {
            if expected.is_empty() && !pattern.is_empty() {
                assert!(canonical(pattern).is_err(), "{pattern}");
            } else {
                // `alpha` has an `a` twice, which a class may.
                let expected = expected.replace(":alph:", ":alpha:");
                assert_eq!(canonical(pattern).as_deref(), Ok(expected.as_str()), "{pattern}");
            }
        }
    }

    #[test]
    fn what_cannot_be_matched_safely_is_refused_with_its_place() {
        for (pattern, at) in [
            ("a(b", 1),
            ("ab)", 2),
            ("a[bc", 1),
            ("[]", 0),
            ("[z-a]", 3),
            ("a**", 2),
            ("*a", 0),
            ("a|+", 2),
            ("^*", 0),
            ("a{3,2}", 1),
            ("a{256}", 1),
            ("a{x}", 1),
            (r"(a)\1", 3),
            (r"\bx", 0),
            ("(?=a)", 0),
            ("(?<n>a)", 0),
            ("(?i)a", 0),
            (r"a\", 1),
            (r"\u00g0", 0),
            (r"\x00", 0),
            (r"[\D]", 1),
        ] {
            assert_eq!(canonical(pattern).map_err(|wrong| wrong.0), Err(at), "{pattern}");
        }
    }

    #[test]
    fn limits_hold_at_the_bound_and_one_above() {
        assert!(canonical(&"a".repeat(PATTERN_CHARS_MAX)).is_ok());
        assert!(canonical(&"a".repeat(PATTERN_CHARS_MAX + 1)).is_err());
        let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
        assert!(canonical(&nested(PATTERN_NESTING_MAX)).is_ok());
        assert!(canonical(&nested(PATTERN_NESTING_MAX + 1)).is_err());
        assert!(canonical("(a{99}){9}").is_ok());
        assert!(canonical("((a{99}){99}){99}").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_panic_and_twice_is_once(pattern in r"[a-c.*+?(){}|\[\]^$\\0-9,dDwWsSux&~: -]{0,24}") {
            if let Ok(written) = canonical(&pattern) {
                proptest::prop_assert_eq!(canonical(&written), Ok(written.clone()), "{}", pattern);
            }
        }
    }
}
