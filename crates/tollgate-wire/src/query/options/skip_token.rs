//! `$skiptoken`: the start of the next page, as an opaque text. A token changed by a client is recognised and refused.
//!
//! The text is base64url of: the number of entities answered before, the values in order, a checksum. It deliberately
//! does not hide the values, and does not sign them: a forged token reads nothing that a `$filter` could not.

use crate::address::{Fault, Parsed, Problem, convert};
use crate::base64;
use crate::edm::{EntityType, LeafId, Primitive, Version};
use crate::plan::{Options, OrderBy, SkipToken};
use crate::query::context::Context;
use crate::value::Value;

/// The token as a next link has it.
pub fn write(token: &SkipToken) -> String {
    let mut bytes = Vec::with_capacity(64);
    bytes.push(FORM);
    bytes.extend_from_slice(&token.answered.to_be_bytes());
    for value in &token.after {
        let (tag, content): (u8, &[u8]) = match value {
            Value::Null => (b'n', &[]),
            Value::Boolean(value) => (b'b', &[u8::from(*value)]),
            Value::Integer(value) => (b'i', &value.to_be_bytes()),
            Value::Real(value) => (b'r', &value.to_bits().to_be_bytes()),
            Value::Decimal(text) => (b'd', text.as_bytes()),
            Value::String(text) => (b's', text.as_bytes()),
            Value::Text(primitive, text) => (text_tag(*primitive), text.as_bytes()),
            Value::Binary(bytes) => (b'x', bytes),
        };
        bytes.push(tag);
        bytes.extend_from_slice(&(content.len() as u32).to_be_bytes());
        bytes.extend_from_slice(content);
    }
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum.to_be_bytes());
    let mut out = Vec::with_capacity(bytes.len() * 4 / 3 + 3);
    base64::encode_url(&mut out, &bytes);
    String::from_utf8(out).expect("base64 is ASCII")
}

/// Reads a token that [`write()`] wrote; `None` for everything else. Whether its values fit an order is not looked at.
pub fn parse(text: &str) -> Option<SkipToken> {
    let bytes = base64::decode(text)?;
    let (content, sum) = bytes.split_last_chunk::<4>()?;
    if checksum(content) != u32::from_be_bytes(*sum) {
        return None;
    }
    let rest = content.strip_prefix(&[FORM])?;
    let (answered, mut rest) = rest.split_first_chunk::<8>()?;
    let mut after = Vec::new();
    while let Some((tag, tail)) = rest.split_first() {
        let (length, tail) = tail.split_first_chunk::<4>()?;
        let (content, tail) = tail.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        after.push(value(*tag, content)?);
        rest = tail;
    }
    Some(SkipToken { after, answered: u64::from_be_bytes(*answered) })
}

pub(super) fn parse_option(context: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    // Rows that are no entities are found by counting.
    let key = if options.apply.is_some() { &[][..] } else { &context.entity_type.key };
    let names = Names { token: "$skiptoken", order: "$orderby" };
    options.skip_token = Some(read(context.version, &names, text, (context.entity_type, key), &options.order_by)?);
    Ok(())
}

/// A protocol's names for a token and the order that it belongs to.
pub(in crate::query) struct Names {
    pub(in crate::query) token: &'static str,
    pub(in crate::query) order: &'static str,
}

/// Reads a token of entities with that key in that order.
pub(in crate::query) fn read(
    version: Version,
    names: &Names,
    text: &str,
    (entity_type, key): (&EntityType, &[LeafId]),
    order_by: &[OrderBy],
) -> Parsed<SkipToken> {
    let Names { token: name, order } = names;
    let bad = |what: String| Problem::whole(Fault::BadValue, what).hint("follow the next link as it was answered");
    let foreign = || bad(format!("the {name} belongs to another {order} or entity set"));
    let mut token =
        parse(text).ok_or_else(|| bad(format!("the {name} was not issued by this service, or it was changed")))?;
    let mut types: Vec<Option<Primitive>> = order_by.iter().map(|order| order.expression.primitive).collect();
    types.extend(key.iter().map(|leaf| Some(entity_type.leaves[leaf.0].primitive)));
    if token.after.len() != types.len() {
        return Err(foreign());
    }
    for (value, primitive) in token.after.iter_mut().zip(types) {
        let Some(primitive) = primitive.filter(|_| *value != Value::Null) else { continue };
        let taken = std::mem::replace(value, Value::Null);
        *value = convert(version, taken, primitive).map_err(|_| foreign())?;
    }
    Ok(token)
}

/// The form's number, to distinguish tokens of a later form.
const FORM: u8 = 1;

fn text_tag(primitive: Primitive) -> u8 {
    match primitive {
        Primitive::Guid => b'G',
        Primitive::Date => b'D',
        Primitive::DateTime { .. } => b'M',
        Primitive::DateTimeOffset { .. } => b'O',
        Primitive::TimeOfDay { .. } => b'T',
        Primitive::Duration => b'P',
        // The other types have a kind of value of their own.
        _ => b's',
    }
}

fn value(tag: u8, content: &[u8]) -> Option<Value> {
    let text = || std::str::from_utf8(content).ok().map(str::to_owned);
    // What a store handed out comes back as it was, canonical or not: the checksum vouches for it.
    let typed = |primitive| text().map(|text| Value::Text(primitive, text));
    match tag {
        b'n' => content.is_empty().then_some(Value::Null),
        b'b' => match content {
            [flag @ 0..=1] => Some(Value::Boolean(*flag == 1)),
            _ => None,
        },
        b'i' => Some(Value::Integer(i64::from_be_bytes(content.try_into().ok()?))),
        b'r' => Some(Value::Real(f64::from_bits(u64::from_be_bytes(content.try_into().ok()?)))),
        b'd' => text().map(Value::Decimal),
        b's' => text().map(Value::String),
        b'x' => Some(Value::Binary(content.to_vec())),
        b'G' => typed(Primitive::Guid),
        b'D' => typed(Primitive::Date),
        b'M' => typed(Primitive::DateTime { precision: 0 }),
        b'O' => typed(Primitive::DateTimeOffset { precision: 0 }),
        b'T' => typed(Primitive::TimeOfDay { precision: 0 }),
        b'P' => typed(Primitive::Duration),
        _ => None,
    }
}

/// FNV-1a over the bytes, folded to 32 bits: it recognises a slip, it is no signature.
fn checksum(bytes: &[u8]) -> u32 {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash >> 32) as u32 ^ hash as u32
}
