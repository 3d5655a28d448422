//! Shared state of the expression parser: its place in the text, the meaning of names, and its limits.
//!
//! It deliberately knows no grammar: each part of the grammar is in a file of its own.

use super::operators;
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{EntityType, EnumerationId, Item, LeafId, NavigationId, Primitive, SetId, SubtypeId, Version};
use crate::plan::{Computed, Expression, Origin};
use crate::query::context::Context;
use crate::query::limits::{HEIGHT_MAX, NESTING_MAX, NODES_MAX};
use crate::relation::Column;

/// Reads expressions from the text of one option.
pub(in crate::query) struct Parser<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) text: &'c str,
    pub(super) position: usize,
    pub(super) nodes: usize,
    pub(super) nesting: usize,
    /// The owner of properties named without a prefix.
    pub(super) here: Origin,
    pub(super) here_type: &'c EntityType,
    /// The related entities of the questions around the place that is read, outermost first.
    pub(super) variables: Vec<Variable<'c>>,
    /// The columns that names mean once there are no entities any more.
    pub(super) columns: Option<&'c [Column]>,
    /// Expressions that have a name.
    pub(super) computed: &'c [Computed],
    /// Aliases whose text is being read, so that none refers to itself.
    pub(super) aliases: Vec<usize>,
    /// Whether a whole collection is allowed here, and the one that was read.
    pub(super) whole: Whole,
}

/// State of a collection without a question.
pub(super) enum Whole {
    /// It is an error.
    Refused,
    /// An operator takes it.
    Wanted,
    /// It was read; its last name is at this place.
    Read(Box<Collection>, usize),
}

/// The variable of a question; without a name if bare names are its properties, or `$this` is the value.
pub(super) struct Variable<'c> {
    pub(super) name: &'c str,
    pub(super) holds: Holds,
}

/// The value of a variable.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    /// An entity of the set, as which type it is seen.
    Entity(SetId, SubtypeId),
    /// A value of a collection.
    Value(Primitive, Option<EnumerationId>),
}

/// A finished part of the tree with its height.
pub(super) struct Node {
    pub(super) expression: Expression,
    pub(super) height: usize,
    /// The enumeration that its value is a member of; the expression has the stored value.
    pub(super) enumeration: Option<EnumerationId>,
}

/// The collection that a path leads to.
#[derive(Clone)]
pub(super) struct Collection {
    pub(super) of: Origin,
    pub(super) through: Vec<(NavigationId, SetId)>,
    pub(super) asked: Asked,
    /// The condition that is true for the entities of the type which they are cast to.
    pub(super) of_subtype: Option<Expression>,
    /// The condition under which there is such a collection, from the casts on the way.
    pub(super) only_if: Option<Expression>,
}

/// The subject of a question.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    /// The entities that to-many navigation leads to, and the type that they are cast to.
    Entities(NavigationId, SetId, SubtypeId),
    /// The values of a leaf, which may be members of an enumeration.
    Values(LeafId, Item, Option<EnumerationId>),
}

impl Asked {
    pub(super) fn held(self) -> Holds {
        match self {
            Asked::Entities(_, target, subtype) => Holds::Entity(target, subtype),
            Asked::Values(_, item, enumeration) => Holds::Value(item.primitive(), enumeration),
        }
    }
}

impl<'c> Parser<'c> {
    pub(in crate::query) fn new(context: &'c Context<'c>, text: &'c str) -> Parser<'c> {
        Parser {
            context,
            text,
            position: 0,
            nodes: 0,
            nesting: 0,
            here: Origin::It,
            here_type: context.entity_type,
            variables: Vec::new(),
            columns: None,
            computed: &[],
            aliases: Vec::new(),
            whole: Whole::Refused,
        }
    }

    /// The same over the rows that `$apply` has made, and with names for expressions.
    pub(in crate::query) fn over(
        context: &'c Context<'c>,
        text: &'c str,
        columns: Option<&'c [Column]>,
        computed: &'c [Computed],
    ) -> Parser<'c> {
        Parser { columns, computed, ..Parser::new(context, text) }
    }

    /// In which version is read.
    pub(in crate::query) fn version(&self) -> Version {
        self.context.version
    }

    /// The offset up to which the text was read.
    pub(in crate::query) fn position(&self) -> usize {
        self.position
    }

    /// Goes on from there.
    pub(in crate::query) fn begin_at(&mut self, position: usize) {
        self.position = position;
    }

    /// Takes the next word, with its place.
    pub(in crate::query) fn next_word(&mut self) -> (&'c str, usize) {
        self.space();
        let (word, at) = (self.word(), self.position);
        self.position += word.len();
        (word, at)
    }

    /// Takes `as Name`.
    pub(in crate::query) fn alias_name(&mut self) -> Parsed<(&'c str, usize)> {
        if !self.take_word("as", false) {
            return Err(Problem::syntax(self.position, "expected a name, as in 'as Total'"));
        }
        let (name, at) = self.next_word();
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(Problem::syntax(at, "expected a name behind 'as'"));
        }
        Ok((name, at))
    }

    /// Checks that only spaces are left.
    pub(in crate::query) fn end(&mut self) -> Parsed<()> {
        self.space();
        if self.position == self.text.len() {
            return Ok(());
        }
        let word = self.word();
        let found = if word.is_empty() { &self.text[self.position..] } else { word };
        let problem =
            Problem::syntax(self.position, format!("expected an operator or the end, found {}", quoted(found)));
        Err(problem.hint_if(operators::hint(self.context.version, word)))
    }

    /// Takes a word if it is next and complete.
    pub(in crate::query) fn take_word(&mut self, word: &str, either_case: bool) -> bool {
        self.space();
        let found = self.word();
        let same = if either_case { found.eq_ignore_ascii_case(word) } else { found == word };
        if same {
            self.position += word.len();
        }
        same
    }

    /// Takes a character if it is next, with spaces before it.
    pub(in crate::query) fn take(&mut self, character: char) -> bool {
        self.space();
        let taken = self.rest().starts_with(character);
        if taken {
            self.position += character.len_utf8();
        }
        taken
    }

    /// Runs a part that costs stack.
    pub(super) fn nested(&mut self, part: impl FnOnce(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        if self.nesting == NESTING_MAX {
            let what = format!("nested more than {NESTING_MAX} deep");
            return Err(Problem::new(Fault::Limit, self.position, what));
        }
        self.nesting += 1;
        let node = part(self);
        self.nesting -= 1;
        node
    }

    pub(super) fn node(&mut self, expression: Expression, height_below: usize) -> Parsed<Node> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let what = format!("more than {NODES_MAX} names, literals and operators");
            return Err(Problem::new(Fault::Limit, expression.position, what));
        }
        let height = height_below + 1;
        if height > HEIGHT_MAX {
            let what = format!("an expression of more than {HEIGHT_MAX} levels");
            return Err(Problem::new(Fault::Limit, expression.position, what));
        }
        Ok(Node { expression, height, enumeration: None })
    }

    pub(super) fn close(&mut self, opened_at: usize) -> Parsed<()> {
        if self.take(')') {
            return Ok(());
        }
        let found = match self.rest() {
            "" => "the end".to_owned(),
            rest => quoted(rest),
        };
        let column = self.text[..opened_at].chars().count() + 1;
        let problem = Problem::syntax(self.position, format!("expected ')', found {found}"));
        let hint = operators::hint(self.context.version, self.word());
        Err(problem.hint(hint.unwrap_or_else(|| format!("it closes the parenthesis at column {column}"))))
    }

    pub(super) fn rest(&self) -> &'c str {
        &self.text[self.position..]
    }

    /// The next identifier; empty if there is none.
    pub(super) fn word(&self) -> &'c str {
        self.word_behind(0)
    }

    /// The identifier this many bytes further on.
    pub(super) fn word_behind(&self, bytes: usize) -> &'c str {
        let rest = &self.rest()[bytes..];
        let length = rest
            .bytes()
            .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80))
            .unwrap_or(rest.len());
        &rest[..length]
    }

    pub(super) fn space(&mut self) {
        self.position += self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }
}

pub(super) fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}
