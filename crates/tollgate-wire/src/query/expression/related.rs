//! Questions about the entities that to-many navigation leads to, and about the values of a collection: the lambda
//! operators `any` and `all`, and `$count`.

use super::parser::{Asked, Collection, Node, Parser, Variable, Whole};
use super::{items, types};
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::edm::{Primitive, Version};
use crate::plan::{Expression, ExpressionKind, Items, Logic, Origin, Question, Related};
use crate::query::limits::QUESTIONS_MAX;
use crate::value::Value;

impl Parser<'_> {
    /// The question about the collection that was just read; its path begins at `at`, its last name at `name_at`.
    pub(super) fn question(&mut self, collection: Collection, name: &str, at: usize, name_at: usize) -> Parsed<Node> {
        if self.context.version == Version::V2 {
            return Err(no_value(name, name_at));
        }
        let Some(behind) = self.rest().strip_prefix('/') else {
            if let Asked::Values(..) = collection.asked {
                return self.whole_collection(collection, name, name_at);
            }
            return Err(match self.rest().starts_with('(') {
                true => Problem::not_implemented(name_at, format!("a key behind '{name}' in an expression")),
                false => Problem::not_implemented(name_at, format!("the collection '{name}' as a value")),
            });
        };
        if self.variables.len() == QUESTIONS_MAX {
            let what =
                format!("more than {QUESTIONS_MAX} questions about related entities or values within each other");
            return Err(Problem::new(Fault::Limit, name_at, what));
        }
        // It is asked; what stands in the question is another expression.
        self.whole = Whole::Refused;
        let word_at = self.position + 1;
        if behind.starts_with("$count") {
            self.position = word_at + "$count".len();
            return self.number_of(collection, at);
        }
        self.position = word_at;
        let word = self.word();
        let question = match word {
            _ if word.eq_ignore_ascii_case("any") => Question::Any,
            _ if word.eq_ignore_ascii_case("all") => Question::All,
            _ => return Err(self.not_asked(name, name_at, collection.asked)),
        };
        self.position += word.len();
        let opened_at = self.position;
        if !self.take('(') {
            return Err(Problem::syntax(opened_at, format!("expected '(' behind {word}")));
        }
        let condition = match (question, self.take(')')) {
            (Question::Any, true) => None,
            (_, true) => {
                return Err(Problem::syntax(self.position - 1, "all needs a condition").hint("as in all(x:x/A gt 1)"));
            }
            (_, false) => {
                self.space();
                let variable_at = self.position;
                let variable = self.word();
                self.position += variable.len();
                let is_name = !variable.is_empty() && !variable.starts_with(|first: char| first.is_ascii_digit());
                if !is_name || !self.take(':') {
                    return Err(Problem::syntax(variable_at, "expected a variable and a colon")
                        .hint(format!("as in {word}(x:x/A gt 1)")));
                }
                if self.variables.iter().any(|known| known.name == variable) {
                    return Err(Problem::syntax(
                        variable_at,
                        format!("the variable {} stands twice", quoted(variable)),
                    ));
                }
                self.variables.push(Variable { name: variable, holds: collection.asked.held() });
                let condition = self.nested(|parser| parser.binary(0));
                self.variables.pop();
                let condition = condition?;
                self.close(opened_at)?;
                Some(condition)
            }
        };
        self.asked(collection, question, condition, at)
    }

    /// `/$count`, in 4.01 with a condition on what is counted.
    fn number_of(&mut self, collection: Collection, at: usize) -> Parsed<Node> {
        let opened_at = self.position;
        if !self.rest().starts_with('(') {
            return self.asked(collection, Question::Count, None, at);
        }
        self.position += 1;
        self.space();
        let option_at = self.position;
        let taken = self.take('$');
        let word = self.word();
        if !word.eq_ignore_ascii_case("filter") {
            let what = match taken {
                true => format!("${word} behind $count in an expression"),
                false => "an option behind $count in an expression".to_owned(),
            };
            return Err(Problem::not_implemented(option_at, what));
        }
        self.position += word.len();
        if !self.take('=') {
            return Err(Problem::syntax(self.position, "expected '=' behind $filter"));
        }
        let around = (self.here, self.here_type);
        if let Asked::Entities(_, target, subtype) = collection.asked {
            self.here = Origin::Variable(self.variables.len());
            self.here_type = self.context.model.seen(self.context.version, target, subtype);
        }
        self.variables.push(Variable { name: "", holds: collection.asked.held() });
        let condition = self.nested(|parser| parser.binary(0));
        self.variables.pop();
        (self.here, self.here_type) = around;
        let condition = condition?;
        if self.take(';') {
            return Err(Problem::not_implemented(self.position, "a second option behind $count in an expression"));
        }
        self.close(opened_at)?;
        self.asked(collection, Question::Count, Some(condition), at)
    }

    pub(super) fn asked(
        &mut self,
        collection: Collection,
        question: Question,
        condition: Option<Node>,
        at: usize,
    ) -> Parsed<Node> {
        let height = condition.as_ref().map_or(0, |condition| condition.height);
        let condition = condition.map(|condition| condition.expression);
        if let Some(condition) = &condition {
            let name = match question {
                Question::Any => "any",
                Question::All => "all",
                Question::Count => "$filter",
            };
            types::expect_boolean(self.context.version, name, condition)?;
        }
        let primitive = match question {
            Question::Any | Question::All => Primitive::Boolean,
            Question::Count => Primitive::Int64,
        };
        let Collection { of, through, asked, of_subtype, only_if } = collection;
        let (condition, height) = only_of(question, of_subtype, condition, height);
        let kind = match asked {
            Asked::Entities(navigation, target, _) => {
                let related = Related { of, through, navigation, target, question, condition };
                ExpressionKind::Related(Box::new(related))
            }
            Asked::Values(leaf, ..) => {
                ExpressionKind::Items(Box::new(Items { of, through, leaf, question, condition }))
            }
        };
        let node = self.node(Expression { kind, primitive: Some(primitive), position: at }, height)?;
        self.only_if(only_if, node)
    }

    /// The error for a to-many navigation property, by the text behind its slash.
    fn not_asked(&self, name: &str, at: usize, asked: Asked) -> Box<Problem> {
        let behind = self.rest();
        let end = behind.find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '$')));
        match &behind[..end.unwrap_or(behind.len())] {
            segment if segment.starts_with('$') => {
                Problem::not_implemented(self.position, format!("{segment} in an expression"))
            }
            segment if behind[segment.len()..].starts_with(['.', '(']) => {
                Problem::not_implemented(self.position, format!("{} behind a collection", quoted(behind)))
            }
            _ => match asked {
                Asked::Entities(..) => no_value(name, at),
                Asked::Values(..) => items::no_value(name, at),
            },
        }
    }
}

/// The condition with that of a cast before it: what is not of the type is not asked.
fn only_of(
    question: Question,
    of_subtype: Option<Expression>,
    condition: Option<Expression>,
    height: usize,
) -> (Option<Expression>, usize) {
    let Some(of_subtype) = of_subtype else { return (condition, height) };
    let Some(condition) = condition else { return (Some(of_subtype), height + 2) };
    let position = condition.position;
    let boolean = |kind| Expression { kind, primitive: Some(Primitive::Boolean), position };
    let kind = match question {
        Question::Any | Question::Count => ExpressionKind::Logic(Logic::And, Box::new(of_subtype), Box::new(condition)),
        // True of whatever is of another type.
        Question::All => {
            let other = boolean(ExpressionKind::Literal(Value::Boolean(true)));
            let otherwise = boolean(ExpressionKind::Literal(Value::Boolean(true)));
            ExpressionKind::Case(vec![(of_subtype, condition), (otherwise, other)])
        }
    };
    (Some(boolean(kind)), height + 2)
}

fn no_value(name: &str, at: usize) -> Box<Problem> {
    Problem::new(Fault::Type, at, format!("'{name}' leads to many entities"))
        .hint("only navigation to one entity can stand in an expression")
}
