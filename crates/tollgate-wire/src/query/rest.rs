//! The query of plain REST: the entities of a list, their order, their number and the properties of each.
//!
//! | parameter | meaning |
//! |---|---|
//! | `carrid=AA` | the property has this value; `carrid=AA&carrid=LH` one of these |
//! | `PRICE.ge=100` | the property compares so ([`OPERATORS`]) |
//! | `flightDetails.cityFrom.starts=NEW` | the same of a property within a complex one |
//! | `sort=carrid,-PRICE` | the order, a minus for descending |
//! | `limit`, `offset`, `cursor` | how many entities on a page, and which page |
//! | `fields=carrid,PRICE` | what is answered of each |
//! | `count=true` | how many there are altogether |
//!
//! It ends in the same [`Options`] as those of OData do: there is one meaning, and one way to SQL. A property that is
//! named as one of these is compared by `.eq`. It is deliberately no language: no brackets, no alternatives of several
//! properties, no related entities. Clients that want those use OData.

use super::expression::{conjunction, number_of};
pub use super::limits::{CONDITIONS_MAX, LISTED_MAX, ORDER_KEYS_MAX};
use super::options::paging::whole_number;
use super::options::skip_token;
use crate::address::{Fault, Parsed, Place, Plus, Problem, UrlError, decode, quoted};
use crate::date;
use crate::edm::{EntityType, Enumeration, Item, Leaf, LeafId, Model, Primitive, Version};
use crate::plan::{
    Comparison, Counting, Direction, Expression, ExpressionKind, Function, Items, Logic, Options, OrderBy, Origin,
    Question, Select,
};
use crate::suggest;
use crate::value::Value;
use crate::value::document::Scalar;

/// A condition on a property, by the suffix of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operator {
    /// The text behind the last point; empty if there is none.
    pub suffix: &'static str,
    /// Its meaning, for a description.
    pub meaning: &'static str,
    asks: Asks,
}

/// The question of an operator about the property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    /// Whether the property is one of the values.
    OneOf,
    /// Whether the property is none of the values.
    NoneOf,
    /// The comparison with the value.
    Order(Comparison),
    /// The function of the property and the value.
    Text(Function),
    /// Whether it is null.
    Null,
}

/// All operators, in the order in which they are described.
pub static OPERATORS: [Operator; 10] = [
    Operator { suffix: "", meaning: "is this value, or one of these", asks: Asks::OneOf },
    Operator { suffix: "eq", meaning: "is this value, or one of these", asks: Asks::OneOf },
    Operator { suffix: "ne", meaning: "is not this value, nor any of these; null is none", asks: Asks::NoneOf },
    Operator { suffix: "gt", meaning: "is greater", asks: Asks::Order(Comparison::Greater) },
    Operator { suffix: "ge", meaning: "is greater or equal", asks: Asks::Order(Comparison::GreaterOrEqual) },
    Operator { suffix: "lt", meaning: "is less", asks: Asks::Order(Comparison::Less) },
    Operator { suffix: "le", meaning: "is less or equal", asks: Asks::Order(Comparison::LessOrEqual) },
    Operator { suffix: "starts", meaning: "begins with this", asks: Asks::Text(Function::StartsWith) },
    Operator { suffix: "contains", meaning: "has this in it", asks: Asks::Text(Function::Contains) },
    Operator { suffix: "null", meaning: "is null, or is not", asks: Asks::Null },
];

impl Operator {
    /// Whether it can be applied to such a property.
    pub fn applies_to(&self, leaf: &Leaf) -> bool {
        let primitive = leaf.primitive;
        match self.asks {
            Asks::OneOf | Asks::NoneOf => true,
            // Itself it is never null, and has no order.
            _ if primitive.item().is_some() => false,
            Asks::Order(_) => has_order(primitive) && primitive != Primitive::Boolean,
            // What may be stored as a text is a member for who asks.
            Asks::Text(_) => matches!(primitive, Primitive::String { .. }) && leaf.enumeration.is_none(),
            Asks::Null => leaf.nullable,
        }
    }

    /// Whether it may be given several values.
    pub fn takes_several(&self) -> bool {
        matches!(self.asks, Asks::OneOf | Asks::NoneOf)
    }

    /// Whether its value is true or false, independent of the type of the property.
    pub fn asks_for_null(&self) -> bool {
        self.asks == Asks::Null
    }
}

/// Members of an enumeration that a message names.
const MEMBERS_TOLD_MAX: usize = 8;

/// Names that are no properties.
pub const RESERVED: [&str; 6] = ["limit", "offset", "cursor", "sort", "fields", "count"];

/// The query of a list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Asked {
    /// Everything but the size of a page; `top` is 0 where none is wanted.
    pub options: Options,
    /// Entities on a page at most.
    pub limit: Option<u64>,
}

/// The name of a property in a query: with points for the path.
pub fn name(path: &str) -> String {
    path.replace('/', ".")
}

/// Whether entities have an order by values of that type.
pub fn has_order(primitive: Primitive) -> bool {
    !matches!(primitive, Primitive::Binary { .. } | Primitive::Collection(_))
}

/// Reads the query of a list, which is still percent-encoded.
///
/// # Errors
/// The parameter that is unknown, is given twice or has an invalid value.
pub fn parse(model: &Model, entity_type: &EntityType, query: &str) -> Result<Asked, UrlError> {
    let mut reader =
        ListReader { model, entity_type, values: [const { None }; RESERVED.len()], conditions: Vec::new() };
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (raw_name, raw_value) = part.split_once('=').unwrap_or((part, ""));
        let name = decode(raw_name, Plus::Space)
            .map_err(|problem| problem.located(Place::Option(raw_name.to_owned().into()), raw_name))?;
        let place = || Place::Option(name.clone().into_owned().into());
        let value = decode(raw_value, Plus::Space).map_err(|problem| problem.located(place(), raw_value))?;
        reader.take(&name, &value).map_err(|problem| problem.located(place(), &value))?;
    }
    reader.finish()
}

/// Reads the query of one entity, which may choose what is answered of it.
///
/// # Errors
/// As [`parse`].
pub fn parse_of_one(entity_type: &EntityType, query: &str) -> Result<Options, UrlError> {
    let mut options = Options::default();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, raw_value) = part.split_once('=').unwrap_or((part, ""));
        let place = || Place::Option(name.to_owned().into());
        if name != "fields" {
            let what = format!("unknown parameter {}: one entity has `fields` only", quoted(name));
            return Err(Problem::whole(Fault::UnknownOption, what).located(place(), ""));
        }
        if options.select != Select::All {
            return Err(twice(name).located(place(), ""));
        }
        let value = decode(raw_value, Plus::Space).map_err(|problem| problem.located(place(), raw_value))?;
        options.select = fields(entity_type, &value).map_err(|problem| problem.located(place(), &value))?;
    }
    Ok(options)
}

/// A query as far as it is read.
struct ListReader<'m> {
    model: &'m Model,
    entity_type: &'m EntityType,
    /// The values of [`RESERVED`].
    values: [Option<String>; RESERVED.len()],
    conditions: Vec<Condition>,
}

/// One parameter by which entities are chosen, with all of its values.
struct Condition {
    leaf: LeafId,
    operator: &'static Operator,
    values: Vec<Value>,
}

impl ListReader<'_> {
    fn take(&mut self, name: &str, value: &str) -> Parsed<()> {
        if let Some(index) = RESERVED.iter().position(|reserved| *reserved == name) {
            if self.values[index].is_some() {
                return Err(twice(name));
            }
            self.values[index] = Some(value.to_owned());
            return Ok(());
        }
        let (leaf, operator) = self.asked(name)?;
        let value = self.value(leaf, operator, value)?;
        let conditions = self.conditions.len();
        // `a=1&a.eq=2` asks for one of both, too.
        let known = |known: &&mut Condition| known.leaf == leaf && known.operator.asks == operator.asks;
        match self.conditions.iter_mut().find(known) {
            Some(_) if !operator.takes_several() => Err(twice(name)),
            Some(condition) if condition.values.len() == LISTED_MAX => {
                Err(Problem::whole(Fault::Limit, format!("more than {LISTED_MAX} values of {}", quoted(name))))
            }
            Some(condition) => {
                condition.values.push(value);
                Ok(())
            }
            None if conditions == CONDITIONS_MAX => {
                Err(Problem::whole(Fault::Limit, format!("more than {CONDITIONS_MAX} conditions")))
            }
            None => {
                self.conditions.push(Condition { leaf, operator, values: vec![value] });
                Ok(())
            }
        }
    }

    /// The property that a name is about, and what is asked of it.
    fn asked(&self, name: &str) -> Parsed<(LeafId, &'static Operator)> {
        let operator = |suffix: &str| OPERATORS.iter().find(|operator| operator.suffix == suffix);
        // A primitive property has no members, so that what stands behind it cannot be meant as one.
        let asked = match (leaf(self.entity_type, name), name.rsplit_once('.')) {
            (Some(leaf), _) => operator("").map(|operator| (leaf, operator)),
            (None, Some((path, suffix))) if !suffix.is_empty() => leaf(self.entity_type, path).zip(operator(suffix)),
            (None, _) => None,
        };
        let Some((leaf, operator)) = asked else { return Err(self.unknown(name)) };
        let declared = &self.entity_type.leaves[leaf.0];
        if operator.applies_to(declared) {
            return Ok((leaf, operator));
        }
        let what = match operator.asks {
            Asks::Null => format!("{} is never null", quoted(&declared.path)),
            Asks::Text(_) => {
                format!("{} is no text: .{} cannot be asked of it", quoted(&declared.path), operator.suffix)
            }
            _ => format!("values of {} have no order", quoted(&declared.path)),
        };
        Err(Problem::whole(Fault::Type, what))
    }

    fn unknown(&self, name: &str) -> Box<Problem> {
        let (path, suffix) = name.rsplit_once('.').unwrap_or((name, ""));
        let what = format!("unknown parameter {}", quoted(name));
        let hint = if leaf(self.entity_type, path).is_some() {
            let known: Vec<String> = OPERATORS
                .iter()
                .filter(|known| !known.suffix.is_empty())
                .map(|known| format!(".{}", known.suffix))
                .collect();
            format!("there is no .{suffix}, but {}", known.join(", "))
        } else {
            let names: Vec<String> = self.entity_type.leaves.iter().map(|leaf| self::name(&leaf.path)).collect();
            let all = names.iter().map(String::as_str).chain(RESERVED);
            match suggest::nearest(name, all.clone()).or_else(|| suggest::nearest(path, all)) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("expected a property of {}, or {}", self.entity_type.name, RESERVED.join(", ")),
            }
        };
        Problem::whole(Fault::UnknownOption, what).hint(hint)
    }

    /// A value of what an operator asks for.
    fn value(&self, leaf: LeafId, operator: &Operator, text: &str) -> Parsed<Value> {
        let declared = &self.entity_type.leaves[leaf.0];
        if let (Some(enumeration), false) = (self.enumeration(leaf), operator.asks_for_null()) {
            return enumeration.named(text).ok_or_else(|| no_member(enumeration, declared, text));
        }
        // Of a collection the values are asked for.
        let one = declared.primitive.item().map_or(declared.primitive, Item::primitive);
        let primitive = if operator.asks_for_null() { Primitive::Boolean } else { one };
        value(primitive, text).ok_or_else(|| {
            let what = format!("{} is no value for {}", quoted(text), quoted(&declared.path));
            Problem::whole(Fault::BadValue, what).hint(format!("expected {}", example(primitive)))
        })
    }

    fn finish(mut self) -> Result<Asked, UrlError> {
        let mut options = Options::default();
        for condition in std::mem::take(&mut self.conditions) {
            options.filter = Some(conjunction(options.filter.take(), self.expression(condition)));
        }
        let mut asked = Asked { options, limit: None };
        // The order of the names is that in which they are read: a cursor belongs to an order.
        for name in ["sort", "limit", "offset", "cursor", "fields", "count"] {
            let index = RESERVED.iter().position(|reserved| *reserved == name);
            let Some(text) = index.and_then(|index| self.values[index].take()) else { continue };
            self.option(name, &text, &mut asked)
                .map_err(|problem| problem.located(Place::Option(name.into()), &text))?;
        }
        Ok(asked)
    }

    fn option(&self, name: &str, text: &str, asked: &mut Asked) -> Parsed<()> {
        let options = &mut asked.options;
        match name {
            "sort" => options.order_by = self.order(text)?,
            "limit" => {
                asked.limit = Some(whole_number(text)?);
                options.top = asked.limit.filter(|limit| *limit == 0);
            }
            "offset" => options.skip = Some(whole_number(text)?),
            "cursor" => {
                if options.skip.is_some() {
                    let what = "a cursor says by itself where the page begins: expected no offset beside it";
                    return Err(Problem::whole(Fault::NotApplicable, what));
                }
                let names = skip_token::Names { token: "cursor", order: "sort" };
                let key = (self.entity_type, &self.entity_type.key[..]);
                options.skip_token = Some(skip_token::read(Version::V4, &names, text, key, &options.order_by)?);
            }
            "fields" => options.select = fields(self.entity_type, text)?,
            _ => {
                options.count = match text {
                    "true" => Counting::Total,
                    "false" => Counting::Without,
                    _ => {
                        let what = format!("expected count to be true or false, found {}", quoted(text));
                        return Err(Problem::whole(Fault::BadValue, what));
                    }
                };
            }
        }
        Ok(())
    }

    fn expression(&self, condition: Condition) -> Expression {
        let Condition { leaf, operator, mut values } = condition;
        let primitive = self.entity_type.leaves[leaf.0].primitive;
        if let Primitive::Collection(item) = primitive {
            return has_one_of((leaf, item.primitive()), operator.asks, values);
        }
        let property = || property(leaf, primitive);
        let literal = |value| typed(ExpressionKind::Literal(value), primitive);
        let compare = |comparison, right| {
            let kind = ExpressionKind::Compare(comparison, Box::new(property()), Box::new(right));
            typed(kind, Primitive::Boolean)
        };
        let null = || Expression { kind: ExpressionKind::Literal(Value::Null), primitive: None, position: 0 };
        let several = values.len() > 1;
        let among = |values| typed(ExpressionKind::In(Box::new(property()), values), Primitive::Boolean);
        let mut first = || values.swap_remove(0);
        match operator.asks {
            Asks::OneOf if several => among(values),
            Asks::OneOf => compare(Comparison::Equal, literal(first())),
            // Null is no member of the list, and `not null` would be null: it is asked for by itself.
            Asks::NoneOf if several => {
                let none = typed(ExpressionKind::Not(Box::new(among(values))), Primitive::Boolean);
                let is_null = Box::new(compare(Comparison::Equal, null()));
                typed(ExpressionKind::Logic(Logic::Or, is_null, Box::new(none)), Primitive::Boolean)
            }
            Asks::NoneOf => compare(Comparison::NotEqual, literal(first())),
            Asks::Order(comparison) => match self.enumeration(leaf) {
                None => compare(comparison, literal(first())),
                Some(enumeration) => {
                    let [left, right] = [property(), literal(first())].map(|side| number_of(enumeration, side));
                    let kind = ExpressionKind::Compare(comparison, Box::new(left), Box::new(right));
                    typed(kind, Primitive::Boolean)
                }
            },
            Asks::Text(function) => {
                let kind = ExpressionKind::Call(function, vec![property(), literal(first())]);
                typed(kind, Primitive::Boolean)
            }
            Asks::Null => {
                let is_null = first() == Value::Boolean(true);
                compare(if is_null { Comparison::Equal } else { Comparison::NotEqual }, null())
            }
        }
    }

    fn order(&self, text: &str) -> Parsed<Vec<OrderBy>> {
        let entity_type = self.entity_type;
        let mut keys = Vec::new();
        for (at, item) in items(text) {
            let (direction, name) = match item.strip_prefix('-') {
                Some(name) => (Direction::Descending, name),
                None => (Direction::Ascending, item),
            };
            let leaf = leaf(entity_type, name).ok_or_else(|| unknown_property(entity_type, name, at))?;
            let primitive = entity_type.leaves[leaf.0].primitive;
            if !has_order(primitive) {
                return Err(Problem::new(Fault::Type, at, format!("values of {} have no order", quoted(name))));
            }
            if keys.len() == ORDER_KEYS_MAX {
                return Err(Problem::new(Fault::Limit, at, format!("more than {ORDER_KEYS_MAX} keys of an order")));
            }
            let expression = match self.enumeration(leaf) {
                None => property(leaf, primitive),
                Some(enumeration) => number_of(enumeration, property(leaf, primitive)),
            };
            keys.push(OrderBy { expression, direction });
        }
        Ok(keys)
    }

    /// The enumeration whose members are the values of a property.
    fn enumeration(&self, leaf: LeafId) -> Option<&Enumeration> {
        let declared = &self.entity_type.leaves[leaf.0];
        declared.enumeration.map(|enumeration| &*self.model.enumerations[enumeration.0])
    }
}

/// A value in the form that plain REST writes it in.
fn value(primitive: Primitive, text: &str) -> Option<Value> {
    match primitive {
        Primitive::Boolean => match text {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            _ => None,
        },
        _ => Scalar::Text(text.to_owned()).value(Version::V4, primitive).filter(is_comparable),
    }
}

/// Whether stores can compare it: years beyond four digits have no place in their order.
pub fn is_comparable(value: &Value) -> bool {
    match value {
        Value::Text(Primitive::Date | Primitive::DateTime { .. } | Primitive::DateTimeOffset { .. }, text) => {
            date::sorts_as_text(text)
        }
        _ => true,
    }
}

fn fields(entity_type: &EntityType, text: &str) -> Parsed<Select> {
    let mut leaves = Vec::new();
    for (at, item) in items(text) {
        let before = leaves.len();
        for (index, leaf) in entity_type.leaves.iter().enumerate() {
            let whole = entity_type.properties[leaf.property].name == item;
            if whole || is_named(&leaf.path, item) {
                leaves.push(LeafId(index));
            }
        }
        if leaves.len() == before {
            return Err(unknown_property(entity_type, item, at));
        }
    }
    leaves.sort_unstable();
    leaves.dedup();
    Ok(Select::Only { leaves, navigation: Vec::new() })
}

/// The items between commas, with their places.
fn items(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    text.split(',').map(move |item| {
        let at = from;
        from += item.len() + 1;
        (at, item)
    })
}

fn leaf(entity_type: &EntityType, name: &str) -> Option<LeafId> {
    entity_type.leaves.iter().position(|leaf| is_named(&leaf.path, name)).map(LeafId)
}

fn is_named(path: &str, name: &str) -> bool {
    let same = |(path, name): (u8, u8)| if path == b'/' { name == b'.' } else { path == name };
    path.len() == name.len() && path.bytes().zip(name.bytes()).all(same)
}

/// Whether a collection has one of the values, or none of them.
fn has_one_of((leaf, primitive): (LeafId, Primitive), asks: Asks, values: Vec<Value>) -> Expression {
    let value = Box::new(typed(ExpressionKind::Item(0), primitive));
    let among = Some(typed(ExpressionKind::In(value, values), Primitive::Boolean));
    let items = Items { of: Origin::It, through: Vec::new(), leaf, question: Question::Any, condition: among };
    let has = typed(ExpressionKind::Items(Box::new(items)), Primitive::Boolean);
    match asks {
        Asks::NoneOf => typed(ExpressionKind::Not(Box::new(has)), Primitive::Boolean),
        _ => has,
    }
}

fn property(leaf: LeafId, primitive: Primitive) -> Expression {
    typed(ExpressionKind::Leaf { of: Origin::It, through: Vec::new(), leaf }, primitive)
}

fn typed(kind: ExpressionKind, primitive: Primitive) -> Expression {
    Expression { kind, primitive: Some(primitive), position: 0 }
}

fn no_member(enumeration: &Enumeration, leaf: &Leaf, text: &str) -> Box<Problem> {
    let what = format!("{} is no value for {}", quoted(text), quoted(&leaf.path));
    let names = || enumeration.members.iter().map(|member| member.name.as_str());
    let hint = match suggest::nearest(text, names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("expected one of {}", names().take(MEMBERS_TOLD_MAX).collect::<Vec<_>>().join(", ")),
    };
    Problem::whole(Fault::BadValue, what).hint(hint)
}

fn twice(name: &str) -> Box<Problem> {
    Problem::whole(Fault::DuplicateOption, format!("the parameter {} stands twice", quoted(name)))
}

fn unknown_property(entity_type: &EntityType, name: &str, at: usize) -> Box<Problem> {
    let names: Vec<String> = entity_type.leaves.iter().map(|leaf| self::name(&leaf.path)).collect();
    let hint = match suggest::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{} has no such property", entity_type.name),
    };
    Problem::new(Fault::UnknownProperty, at, format!("unknown property {}", quoted(name))).hint(hint)
}

/// An example of a value of that type.
fn example(primitive: Primitive) -> &'static str {
    use Primitive as P;
    match primitive {
        P::Boolean => "true or false",
        P::Byte | P::SByte | P::Int16 | P::Int32 | P::Int64 => "a whole number that the type has room for",
        P::Single | P::Double | P::Decimal { .. } => "a number, such as 12.50",
        P::String { .. } => "text",
        P::Binary { .. } => "base64url",
        P::Guid => "01234567-89ab-cdef-0123-456789abcdef",
        P::Date => "a date, such as 2013-09-25",
        P::DateTime { .. } | P::DateTimeOffset { .. } => "a time, such as 2013-09-25T11:00:00Z",
        P::TimeOfDay { .. } => "a time of day, such as 11:00:00",
        P::Duration => "a duration, such as PT36H",
        P::Collection(item) => example(item.primitive()),
    }
}
