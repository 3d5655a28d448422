//! `$search` (OData V4.01 part 1, section 11.2.6.6): words and phrases; each must occur in one of the entity's texts,
//! in upper or lower case.
//!
//! The standard lets the service define a match; here it is a condition like that of `$filter`, so that both databases
//! answer the same and no text of a client is ever a pattern. It deliberately knows no ranking, stems or word borders.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, LeafId, Primitive};
use crate::plan::{Comparison, Expression, ExpressionKind, Function, Logic, Options, Origin};
use crate::query::context::Context;
use crate::query::expression::conjunction;
use crate::query::limits::{NESTING_MAX, NODES_MAX, SEARCH_TERMS_MAX};
use crate::value::Value;

pub(super) fn parse(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let found = condition(context.entity_type, text)?;
    options.filter = Some(conjunction(options.filter.take(), found));
    Ok(())
}

/// The search as a condition of the entity at hand.
pub(super) fn condition(entity_type: &EntityType, text: &str) -> Parsed<Expression> {
    // What is stored for a member is nothing that anybody sees.
    let is_text = |(_, leaf): &(usize, &crate::edm::Leaf)| {
        matches!(leaf.primitive, Primitive::String { .. }) && leaf.enumeration.is_none()
    };
    let texts: Vec<LeafId> = entity_type.leaves.iter().enumerate().filter(is_text).map(|(id, _)| LeafId(id)).collect();
    let mut search = Search { text, position: 0, texts, terms: 0 };
    let found = match text.trim().strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(free) => return search.free(&free.replace("''", "'")),
        None => search.alternatives(0)?,
    };
    search.space();
    match search.rest().chars().next() {
        None => Ok(found),
        Some(_) => {
            let what = format!("expected a word or the end, found {}", quoted(search.rest()));
            Err(Problem::syntax(search.position, what))
        }
    }
}

struct Search<'s> {
    text: &'s str,
    position: usize,
    texts: Vec<LeafId>,
    terms: usize,
}

impl<'s> Search<'s> {
    /// Text in single quotes is no expression: all of its words must be found (4.01, `searchExpr-incomplete`).
    fn free(&mut self, text: &str) -> Parsed<Expression> {
        let words = text.split(|character: char| character.is_whitespace() || character == '"');
        let mut found = None;
        for word in words.filter(|word| !word.is_empty()) {
            let condition = self.found(word.to_owned(), 0)?;
            found = Some(conjunction(found, condition));
        }
        found.ok_or_else(|| Problem::syntax(0, "expected a word between the quotes"))
    }

    fn alternatives(&mut self, depth: usize) -> Parsed<Expression> {
        let mut found = self.all(depth)?;
        while self.take_word("OR") {
            found = logic(Logic::Or, found, self.all(depth)?);
        }
        Ok(found)
    }

    /// Terms beside each other must all be found, with or without `AND` between them.
    fn all(&mut self, depth: usize) -> Parsed<Expression> {
        let mut found = self.term(depth)?;
        loop {
            let said = self.take_word("AND");
            self.space();
            if !said && (self.word() == "OR" || self.rest().is_empty() || self.rest().starts_with(')')) {
                return Ok(found);
            }
            found = logic(Logic::And, found, self.term(depth)?);
        }
    }

    fn term(&mut self, depth: usize) -> Parsed<Expression> {
        self.space();
        let at = self.position;
        if depth == NESTING_MAX {
            return Err(Problem::new(Fault::Limit, at, format!("nested more than {NESTING_MAX} deep")));
        }
        // Where an operator makes no sense, it is a word.
        let rest = self.rest();
        if self.word() == "NOT" && !matches!(rest["NOT".len()..].trim_start().chars().next(), None | Some(')')) {
            self.position += "NOT".len();
            let kind = ExpressionKind::Not(Box::new(self.term(depth + 1)?));
            return Ok(Expression { kind, primitive: Some(Primitive::Boolean), position: at });
        }
        if rest.starts_with('(') {
            self.position += 1;
            let inside = self.alternatives(depth + 1)?;
            self.space();
            if !self.rest().starts_with(')') {
                return Err(Problem::syntax(self.position, "expected ')'"));
            }
            self.position += 1;
            return Ok(inside);
        }
        if let Some(phrase) = rest.strip_prefix('"') {
            let Some((content, length)) = phrase_of(phrase) else {
                return Err(Problem::syntax(at, "a phrase that does not end").hint("close it with a quotation mark"));
            };
            self.position += 1 + length;
            return self.found(content, at);
        }
        let word = self.word();
        if word.is_empty() {
            let found = if rest.is_empty() { "the end".to_owned() } else { quoted(rest) };
            return Err(Problem::syntax(at, format!("expected a word, a phrase or '(', found {found}")));
        }
        self.position += word.len();
        self.found(word.to_owned(), at)
    }

    /// Whether a term occurs in one of the texts; never in one that is null.
    fn found(&mut self, term: String, position: usize) -> Parsed<Expression> {
        if term.is_empty() {
            return Err(Problem::syntax(position, "expected something between the quotation marks"));
        }
        self.terms += 1;
        if self.terms > SEARCH_TERMS_MAX || self.terms * self.texts.len() > NODES_MAX {
            return Err(Problem::new(
                Fault::Limit,
                position,
                format!("more than {SEARCH_TERMS_MAX} words and phrases"),
            ));
        }
        let text = Some(Primitive::String { length_max: 0 });
        let expression = |kind, primitive| Expression { kind, primitive, position };
        let wanted = expression(ExpressionKind::Literal(Value::String(term.to_lowercase())), text);
        let boolean = Some(Primitive::Boolean);
        let mut conditions: Vec<Expression> = Vec::with_capacity(self.texts.len());
        for leaf in &self.texts {
            let leaf = expression(ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf: *leaf }, text);
            let lower = expression(ExpressionKind::Call(Function::ToLower, vec![leaf]), text);
            let contains = ExpressionKind::Call(Function::Contains, vec![lower, wanted.clone()]);
            let truth = expression(ExpressionKind::Literal(Value::Boolean(true)), boolean);
            let holds = Box::new(expression(contains, boolean));
            conditions.push(expression(ExpressionKind::Compare(Comparison::Equal, holds, Box::new(truth)), boolean));
        }
        let nowhere = expression(ExpressionKind::Literal(Value::Boolean(false)), boolean);
        Ok(balanced(conditions).unwrap_or(nowhere))
    }

    fn rest(&self) -> &'s str {
        &self.text[self.position..]
    }

    /// The next word.
    fn word(&self) -> &'s str {
        let rest = self.rest();
        let ends = |character: char| character.is_whitespace() || matches!(character, '(' | ')' | '"');
        &rest[..rest.find(ends).unwrap_or(rest.len())]
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.space();
        let taken = self.word() == word;
        if taken {
            self.position += word.len();
        }
        taken
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }
}

/// The content of a phrase and its length with the quotation mark at its end; a backslash takes the next character as it is.
fn phrase_of(text: &str) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((content, at + 1)),
            '\\' => content.push(characters.next()?.1),
            other => content.push(other),
        }
    }
    None
}

fn logic(logic: Logic, left: Expression, right: Expression) -> Expression {
    let position = left.position;
    let kind = ExpressionKind::Logic(logic, Box::new(left), Box::new(right));
    Expression { kind, primitive: Some(Primitive::Boolean), position }
}

/// Any of the conditions, as a balanced tree.
fn balanced(mut conditions: Vec<Expression>) -> Option<Expression> {
    while conditions.len() > 1 {
        let mut pairs = conditions.into_iter();
        conditions = std::iter::from_fn(|| {
            let left = pairs.next()?;
            Some(match pairs.next() {
                Some(right) => logic(Logic::Or, left, right),
                None => left,
            })
        })
        .collect();
    }
    conditions.pop()
}
