//! Tokens of an expression (XPath 1.0, section 3.7), each with its place.

use crate::characters::{is_name_part, is_name_start, is_space};
use crate::error::{Error, ErrorKind};

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'e> {
    /// `( ) [ ] . .. @ , :: / // | + - = != < <= > >= * $` by what they are written as; `*` as the operator is `×`.
    Symbol(&'static str),
    /// `and`, `or`, `div`, `mod` as operators.
    Operator(&'static str),
    /// A text in quotes.
    Literal(&'e str),
    /// A number.
    Number(f64),
    /// A name, its prefix apart; `prefix:*` has the local part `*`.
    Name { prefix: &'e str, local: &'e str },
    /// The end.
    End,
}

/// The tokens of an expression and where each begins; the last one is [`Token::End`].
pub(super) fn tokens(expression: &str) -> Result<Vec<(Token<'_>, usize)>, Error> {
    let mut lexer = Lexer { text: expression, at: 0, found: Vec::with_capacity(expression.len() / 3 + 2) };
    while lexer.next()? {}
    lexer.found.push((Token::End, expression.len()));
    Ok(lexer.found)
}

struct Lexer<'e> {
    text: &'e str,
    at: usize,
    found: Vec<(Token<'e>, usize)>,
}

/// Longer ones first.
const SYMBOLS: [&str; 21] =
    ["..", "::", "//", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=", "<", ">", "$"];

impl<'e> Lexer<'e> {
    fn next(&mut self) -> Result<bool, Error> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && is_space(bytes[self.at]) {
            self.at += 1;
        }
        let Some(&first) = bytes.get(self.at) else { return Ok(false) };
        let start = self.at;
        let rest = &self.text[start..];
        let token = match first {
            b'"' | b'\'' => {
                let Some(length) = memchr::memchr(first, &bytes[start + 1..]) else {
                    return Err(self.wrong(start, "a text in quotes is not closed"));
                };
                self.at = start + length + 2;
                Token::Literal(&self.text[start + 1..start + 1 + length])
            }
            b'0'..=b'9' => self.number(),
            b'.' if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => self.number(),
            b'*' => {
                self.at += 1;
                if self.is_behind_operand() { Token::Symbol("×") } else { Token::Name { prefix: "", local: "*" } }
            }
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.at += symbol.len();
                    Token::Symbol(symbol)
                }
                None => self.name()?,
            },
        };
        self.found.push((token, start));
        Ok(true)
    }

    fn wrong(&self, at: usize, message: impl Into<String>) -> Error {
        Error::at(ErrorKind::Static, self.text, at, message)
    }

    /// Whether the token before ends an operand: then `*` multiplies, and `and` is an operator and no name.
    fn is_behind_operand(&self) -> bool {
        match self.found.last() {
            None | Some((Token::Operator(_), _)) => false,
            Some((Token::Symbol(symbol), _)) => matches!(*symbol, ")" | "]" | "." | ".."),
            Some((Token::Literal(_) | Token::Number(_) | Token::Name { .. } | Token::End, _)) => true,
        }
    }

    fn number(&mut self) -> Token<'e> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        self.at = digits(start);
        if bytes.get(self.at) == Some(&b'.') {
            self.at = digits(self.at + 1);
        }
        Token::Number(self.text[start..self.at].parse().unwrap_or(f64::NAN))
    }

    fn plain_name(&mut self) -> &'e str {
        let rest = &self.text[self.at..];
        let mut characters = rest.char_indices();
        let length = match characters.next() {
            Some((_, first)) if is_name_start(first) => {
                characters.find(|(_, character)| !is_name_part(*character)).map_or(rest.len(), |(end, _)| end)
            }
            _ => 0,
        };
        self.at += length;
        &rest[..length]
    }

    fn name(&mut self) -> Result<Token<'e>, Error> {
        let start = self.at;
        let first = self.plain_name();
        if first.is_empty() {
            let character = self.text[start..].chars().next().unwrap_or(' ');
            return Err(self.wrong(start, format!("`{character}` has no meaning in an expression")));
        }
        if self.is_behind_operand() {
            let operator = ["and", "or", "div", "mod"].into_iter().find(|operator| *operator == first);
            return match operator {
                Some(operator) => Ok(Token::Operator(operator)),
                None => Err(self.wrong(start, format!("an operator was expected, found `{first}`"))),
            };
        }
        let behind = &self.text[self.at..];
        // `a::b` is an axis, `a:b` a name with a prefix.
        if behind.starts_with(':') && !behind.starts_with("::") {
            self.at += 1;
            if self.text[self.at..].starts_with('*') {
                self.at += 1;
                return Ok(Token::Name { prefix: first, local: "*" });
            }
            let local = self.plain_name();
            if local.is_empty() {
                return Err(self.wrong(self.at, format!("a name was expected behind `{first}:`")));
            }
            return Ok(Token::Name { prefix: first, local });
        }
        Ok(Token::Name { prefix: "", local: first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: &str) {
        let shown = tokens(expression).unwrap().into_iter().map(|(token, _)| match token {
            Token::Symbol(symbol) => symbol.to_owned(),
            Token::Operator(operator) => format!("<{operator}>"),
            Token::Literal(text) => format!("{text:?}"),
            Token::Number(number) => format!("#{number}"),
            Token::Name { prefix: "", local } => local.to_owned(),
            Token::Name { prefix, local } => format!("{prefix}|{local}"),
            Token::End => "$end".to_owned(),
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{expression}");
    }

    #[test]
    fn names_stars_and_operators_are_told_apart_by_what_stands_before() {
        check("* * *", "* × * $end");
        check("and and and", "and <and> and $end");
        check("div div mod mod div", "div <div> mod <mod> div $end");
        check("//p:*[@*='a\"b']", "// p|* [ @ * = \"a\\\"b\" ] $end");
        check("child::or/text()", "child :: or / text ( ) $end");
        check("1.5.5-.5", "#1.5 #0.5 - #0.5 $end");
        check("a-1 -1", "a-1 - #1 $end");
        check("$p:v>=..", "$ p|v >= .. $end");
        check(". * 2", ". × #2 $end");
        check("@* * 2", "@ * × #2 $end");
    }

    #[test]
    fn what_is_no_token_is_refused_with_its_place() {
        for (expression, at) in [("a 'b", 2), ("a & b", 2), ("p: a", 2), ("a b", 2), ("!a", 0)] {
            let error = tokens(expression).unwrap_err();
            assert_eq!(error.position().unwrap().offset, at, "{expression}: {error}");
        }
    }
}
