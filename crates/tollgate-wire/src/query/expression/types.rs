//! Types of operands: what may be compared and computed, and to what literals are promoted on the way.
//!
//! The rule of both versions: a literal takes the type of what it meets; between two numbers Double wins over Single,
//! Single over Decimal, Decimal over the integers (OData V4.01 URL conventions 5.1.1.15, V2 section 4.5).

use crate::address::{Fault, Parsed, Problem, convert, type_name};
use crate::decimal;
use crate::edm::{Primitive, Version};
use crate::plan::{Arithmetic, Comparison, Expression, ExpressionKind, Logic};
use crate::value::Value;

/// Groups of types that functions take.
#[derive(Clone, Copy)]
pub(super) enum Class {
    /// Strings.
    Text,
    /// Any number.
    Number,
    /// Whole numbers.
    Integer,
    /// Types with a day.
    Dated,
    /// Types with an hour.
    Timed,
    /// Types with both.
    Instant,
    /// Durations.
    Duration,
}

impl Class {
    /// Whether a type belongs to the class; null belongs to each.
    pub(super) fn has(self, version: Version, primitive: Option<Primitive>) -> bool {
        use Primitive as P;
        let Some(primitive) = primitive else { return true };
        match self {
            Class::Text => is_text(version, primitive),
            Class::Number => primitive.is_number(),
            Class::Integer => primitive.is_integer(),
            Class::Dated => matches!(primitive, P::Date | P::DateTime { .. } | P::DateTimeOffset { .. }),
            // In V2 a date is a DateTime at midnight.
            Class::Timed if primitive == P::Date => version == Version::V2,
            Class::Timed => matches!(primitive, P::DateTime { .. } | P::DateTimeOffset { .. } | P::TimeOfDay { .. }),
            Class::Instant => matches!(primitive, P::DateTime { .. } | P::DateTimeOffset { .. }),
            Class::Duration => primitive == P::Duration,
        }
    }

    pub(super) fn describe(self, version: Version) -> &'static str {
        match (self, version) {
            (Class::Text, _) => "Edm.String",
            (Class::Number, _) => "a number",
            (Class::Integer, _) => "a whole number",
            (Class::Dated, Version::V2) => "Edm.DateTime or Edm.DateTimeOffset",
            (Class::Dated, Version::V4) => "Edm.Date or Edm.DateTimeOffset",
            (Class::Timed, Version::V2) => "Edm.DateTime, Edm.DateTimeOffset or Edm.Time",
            (Class::Timed, Version::V4) => "Edm.DateTimeOffset or Edm.TimeOfDay",
            (Class::Instant, _) => "Edm.DateTimeOffset",
            (Class::Duration, _) => "Edm.Duration",
        }
    }
}

pub(super) fn compare(
    version: Version,
    comparison: Comparison,
    mut left: Expression,
    mut right: Expression,
    at: usize,
) -> Parsed<Expression> {
    meet(version, &mut left, &mut right);
    let comparable = match (left.primitive, right.primitive) {
        (Some(a), Some(b)) => are_comparable(version, a, b),
        _ => true,
    };
    if !comparable {
        let (a, b) = (type_name(version, left.primitive), type_name(version, right.primitive));
        let problem = Problem::new(Fault::Type, at, format!("cannot compare {a} with {b}"));
        return Err(problem.hint_if(remedy(version, &left, &right)));
    }
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    if ordered && [&left, &right].iter().any(|side| matches!(side.primitive, Some(Primitive::Binary { .. }))) {
        return Err(Problem::new(Fault::Type, at, "Edm.Binary has no order").hint("it can be compared by eq and ne"));
    }
    let position = left.position;
    let kind = ExpressionKind::Compare(comparison, Box::new(left), Box::new(right));
    Ok(Expression { kind, primitive: Some(Primitive::Boolean), position })
}

pub(super) fn arithmetic(
    version: Version,
    arithmetic: Arithmetic,
    mut left: Expression,
    mut right: Expression,
    at: usize,
) -> Parsed<Expression> {
    if version == Version::V4 && is_moved_by_null(arithmetic, left.primitive, right.primitive) {
        // Whatever type it would have (Conventions 4.01 section 5.1.1.2).
        let kind = ExpressionKind::Literal(Value::Null);
        return Ok(Expression { kind, primitive: None, position: left.position });
    }
    if version == Version::V4
        && let Some(primitive) = temporal(arithmetic, left.primitive, right.primitive)
    {
        let position = left.position;
        let kind = ExpressionKind::Arithmetic(arithmetic, Box::new(left), Box::new(right));
        return Ok(Expression { kind, primitive: Some(primitive), position });
    }
    for side in [&left, &right] {
        let Some(primitive) = side.primitive else { continue };
        if primitive.is_number() {
            continue;
        }
        let temporal = matches!(
            primitive,
            Primitive::Date | Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. } | Primitive::Duration
        );
        if version == Version::V4 && temporal {
            let what = "arithmetic of dates and durations other than to move a moment or to find what lies between two";
            return Err(Problem::not_implemented(at, what));
        }
        let what = format!("{} takes numbers, not {}", name(arithmetic), type_name(version, side.primitive));
        return Err(Problem::new(Fault::Type, side.position, what));
    }
    meet(version, &mut left, &mut right);
    let zero = match &right.kind {
        ExpressionKind::Literal(Value::Integer(0)) => true,
        ExpressionKind::Literal(Value::Decimal(text)) => decimal::compare(text, "0").is_eq(),
        _ => false,
    };
    if zero && matches!(arithmetic, Arithmetic::Divide | Arithmetic::Modulo) {
        return Err(Problem::new(Fault::BadValue, right.position, "division by zero"));
    }
    let primitive = match (left.primitive, right.primitive) {
        (Some(a), Some(b)) => Some(wider(a, b)),
        (a, b) => a.or(b),
    };
    let position = left.position;
    let kind = ExpressionKind::Arithmetic(arithmetic, Box::new(left), Box::new(right));
    Ok(Expression { kind, primitive, position })
}

/// The type of a moment moved by a duration, or of what lies between two moments (Conventions 4.01 section 5.1.1.2).
fn temporal(arithmetic: Arithmetic, left: Option<Primitive>, right: Option<Primitive>) -> Option<Primitive> {
    use Primitive as P;
    let is_moment = |primitive| matches!(primitive, P::DateTime { .. } | P::DateTimeOffset { .. });
    match (arithmetic, left?, right?) {
        (Arithmetic::Add | Arithmetic::Subtract, P::Date, P::Duration) => Some(P::Date),
        (Arithmetic::Add | Arithmetic::Subtract, left, P::Duration) if is_moment(left) => {
            Some(P::DateTimeOffset { precision: 0 })
        }
        (Arithmetic::Subtract, P::Date, P::Date) => Some(P::Duration),
        (Arithmetic::Subtract, left, right) if is_moment(left) && is_moment(right) => Some(P::Duration),
        _ => None,
    }
}

/// Whether null is added to or subtracted from a moment or a duration, or the reverse.
fn is_moved_by_null(arithmetic: Arithmetic, left: Option<Primitive>, right: Option<Primitive>) -> bool {
    use Primitive as P;
    let is_temporal =
        |primitive| matches!(primitive, P::Date | P::DateTime { .. } | P::DateTimeOffset { .. } | P::Duration);
    match (arithmetic, left, right) {
        (Arithmetic::Add | Arithmetic::Subtract, Some(known), None)
        | (Arithmetic::Add | Arithmetic::Subtract, None, Some(known)) => is_temporal(known),
        _ => false,
    }
}

pub(super) fn not(version: Version, operand: Expression, at: usize) -> Parsed<Expression> {
    expect_boolean(version, "not", &operand)?;
    let kind = ExpressionKind::Not(Box::new(operand));
    Ok(Expression { kind, primitive: Some(Primitive::Boolean), position: at })
}

pub(super) fn negate(version: Version, operand: Expression, at: usize) -> Parsed<Expression> {
    match operand.primitive {
        Some(Primitive::Duration) if version == Version::V4 => {
            return Err(Problem::not_implemented(at, "arithmetic of dates and durations"));
        }
        Some(primitive) if !primitive.is_number() => {
            let what = format!("'-' takes a number, not {}", type_name(version, operand.primitive));
            return Err(Problem::new(Fault::Type, at, what));
        }
        _ => {}
    }
    let primitive = operand.primitive;
    Ok(Expression { kind: ExpressionKind::Negate(Box::new(operand)), primitive, position: at })
}

pub(super) fn expect_boolean(version: Version, operator: &str, operand: &Expression) -> Parsed<()> {
    if matches!(operand.primitive, Some(Primitive::Boolean) | None) {
        return Ok(());
    }
    let what = format!("{operator} takes Boolean operands, not {}", type_name(version, operand.primitive));
    let problem = Problem::new(Fault::Type, operand.position, what);
    Err(if operator == "not" { problem.hint("it binds closest: write not (… eq …)") } else { problem })
}

/// A literal takes the type of the other side, where that loses nothing.
pub(super) fn meet(version: Version, left: &mut Expression, right: &mut Expression) {
    let (Some(left_type), Some(right_type)) = (left.primitive, right.primitive) else { return };
    let (left_literal, right_literal) = (is_literal(left), is_literal(right));
    match (left_literal, right_literal) {
        (false, true) => promote(version, right, left_type),
        (true, false) => promote(version, left, right_type),
        (true, true) if left_type.is_number() && right_type.is_number() => {
            let wider = wider(left_type, right_type);
            promote(version, left, wider);
            promote(version, right, wider);
        }
        _ => {}
    }
}

fn promote(version: Version, literal: &mut Expression, to: Primitive) {
    let ExpressionKind::Literal(value) = &mut literal.kind else { return };
    match convert(version, std::mem::replace(value, Value::Null), to) {
        Ok(converted) => {
            *value = converted;
            literal.primitive = Some(to);
        }
        Err(unchanged) => {
            *value = unchanged;
            // Where a date meets a moment inside of a day, the moment stays: as texts they still compare rightly, since
            // `2013-09-25` stands before `2013-09-25T12:00:00`, and that before `2013-09-26`.
            let inside_a_day = match value {
                Value::Text(Primitive::DateTimeOffset { .. }, text)
                    if to == Primitive::Date && version == Version::V4 =>
                {
                    text.trim_end_matches('Z').to_owned()
                }
                _ => return,
            };
            let (kept, primitive) = match inside_a_day.strip_suffix("T00:00:00") {
                Some(date) => (date.to_owned(), Primitive::Date),
                None => (inside_a_day, Primitive::DateTime { precision: 0 }),
            };
            *value = Value::Text(primitive, kept);
            literal.primitive = Some(primitive);
        }
    }
}

pub(super) fn are_comparable(version: Version, a: Primitive, b: Primitive) -> bool {
    use Primitive as P;
    if (a.is_number() && b.is_number()) || (is_text(version, a) && is_text(version, b)) {
        return true;
    }
    match (a, b) {
        (P::Boolean, P::Boolean)
        | (P::Guid, P::Guid)
        | (P::Duration, P::Duration)
        | (P::Binary { .. }, P::Binary { .. })
        | (P::TimeOfDay { .. }, P::TimeOfDay { .. })
        | (P::DateTimeOffset { .. }, P::DateTimeOffset { .. })
        | (P::Date | P::DateTime { .. }, P::Date | P::DateTime { .. }) => true,
        // In V4 a DateTime is a DateTimeOffset in UTC, and a Date its midnight.
        (P::Date | P::DateTime { .. }, P::DateTimeOffset { .. })
        | (P::DateTimeOffset { .. }, P::Date | P::DateTime { .. }) => version == Version::V4,
        _ => false,
    }
}

/// A suggestion that would make a comparison correct, if there is one.
fn remedy(version: Version, left: &Expression, right: &Expression) -> Option<String> {
    let (value, other) = match (&left.kind, &right.kind) {
        (_, ExpressionKind::Literal(value)) => (value, left.primitive?),
        (ExpressionKind::Literal(value), _) => (value, right.primitive?),
        _ => return None,
    };
    match (value, other) {
        (Value::String(_), other) if other.is_number() => Some("write the number without quotes".to_owned()),
        (Value::Integer(_) | Value::Decimal(_) | Value::Text(..), Primitive::String { .. }) => {
            Some("write the text in quotes".to_owned())
        }
        (_, Primitive::Date | Primitive::DateTime { .. }) if version == Version::V2 => {
            Some("write datetime'2013-09-25T00:00:00'".to_owned())
        }
        (_, Primitive::DateTimeOffset { .. }) if version == Version::V2 => {
            Some("write datetimeoffset'2013-09-25T00:00:00Z'".to_owned())
        }
        (_, Primitive::TimeOfDay { .. }) if version == Version::V2 => Some("write time'PT11H00M00S'".to_owned()),
        (_, Primitive::Guid) if version == Version::V2 => Some("write guid'…'".to_owned()),
        (_, Primitive::Date) => Some("write the date without quotes, as 2013-09-25".to_owned()),
        (_, Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }) => {
            Some("write the moment without quotes, as 2013-09-25T00:00:00Z".to_owned())
        }
        (_, Primitive::TimeOfDay { .. }) => Some("write the time without quotes, as 11:00:00".to_owned()),
        (Value::String(_), Primitive::Guid) => Some("write the guid without quotes".to_owned()),
        _ => None,
    }
}

/// The type of a result of two numbers.
pub(super) fn wider(a: Primitive, b: Primitive) -> Primitive {
    use Primitive as P;
    let rank = |primitive| match primitive {
        P::Double => 5,
        P::Single => 4,
        P::Decimal { .. } => 3,
        P::Int64 => 2,
        _ => 1,
    };
    match rank(a).max(rank(b)) {
        5 => P::Double,
        4 => P::Single,
        3 => P::Decimal { precision: 0, scale: 0 },
        2 => P::Int64,
        _ => P::Int32,
    }
}

/// An operand of an exact division: a whole number is a decimal there.
pub(super) fn exact(operand: Expression) -> Expression {
    const DECIMAL: Primitive = Primitive::Decimal { precision: 0, scale: 0 };
    match operand.primitive {
        Some(primitive) if primitive.is_integer() => cast_to(operand, DECIMAL),
        _ => operand,
    }
}

/// A value as one of another type.
pub(super) fn cast_to(operand: Expression, primitive: Primitive) -> Expression {
    let position = operand.position;
    Expression { kind: ExpressionKind::Cast(Box::new(operand)), primitive: Some(primitive), position }
}

/// Both conditions, or the one that there is.
pub(in crate::query) fn conjunction(left: Option<Expression>, right: Expression) -> Expression {
    match left {
        None => right,
        Some(left) => {
            let position = left.position;
            let kind = ExpressionKind::Logic(Logic::And, Box::new(left), Box::new(right));
            Expression { kind, primitive: Some(Primitive::Boolean), position }
        }
    }
}

fn name(arithmetic: Arithmetic) -> &'static str {
    match arithmetic {
        Arithmetic::Add => "add",
        Arithmetic::Subtract => "sub",
        Arithmetic::Multiply => "mul",
        Arithmetic::Divide => "div",
        Arithmetic::Modulo => "mod",
    }
}

pub(super) fn is_literal(expression: &Expression) -> bool {
    matches!(expression.kind, ExpressionKind::Literal(_))
}

/// Strings; V2 shows a Duration as one.
fn is_text(version: Version, primitive: Primitive) -> bool {
    matches!(primitive, Primitive::String { .. }) || (primitive == Primitive::Duration && version == Version::V2)
}
