//! Parameter aliases (`@p`): an expression in an option of its own, read where it is mentioned.
//!
//! An alias that is not given is null (URL conventions 5.3.1). It deliberately keeps no tree of an alias: its text is read
//! again at each mention, since its literals take the type of what they meet.

use super::parser::{Node, Parser};
use crate::address::{Parsed, Problem, quoted};
use crate::plan::{Expression, ExpressionKind};
use crate::value::Value;

impl<'c> Parser<'c> {
    /// Reads the text of the alias at `at` with `part`.
    pub(super) fn alias(&mut self, at: usize, part: impl FnOnce(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        self.position = at + 1;
        let word = self.word();
        self.position += word.len();
        if word.is_empty() || self.rest().starts_with(['.', '/']) {
            return Err(Problem::not_implemented(at, "an annotation or a path behind an alias in an expression"));
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(Problem::syntax(at + 1, "expected a name behind '@'"));
        }
        let Some(number) = self.context.aliases.iter().position(|(name, _)| name[1..] == *word) else {
            let null = ExpressionKind::Literal(Value::Null);
            return self.node(Expression { kind: null, primitive: None, position: at }, 0);
        };
        if self.aliases.contains(&number) {
            return Err(Problem::syntax(at, format!("the alias '@{word}' stands in itself")));
        }
        self.aliases.push(number);
        let around = (self.text, self.position);
        (self.text, self.position) = (&self.context.aliases[number].1, 0);
        let read = self.nested(|parser| {
            let node = part(parser)?;
            parser.end()?;
            Ok(node)
        });
        let text = self.text;
        (self.text, self.position) = around;
        self.aliases.pop();
        read.map_err(|mut problem| {
            // The column of the option is that of the alias; the one within its text is told beside it.
            if let Some(inner) = problem.at.replace(at) {
                let column = text.char_indices().take_while(|(offset, _)| *offset < inner).count() + 1;
                problem.what.push_str(&format!(" at column {column} of {}", quoted(&format!("@{word}"))));
            }
            problem
        })
    }
}
