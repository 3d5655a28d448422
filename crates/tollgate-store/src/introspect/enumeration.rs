//! Enumerations of a mapping file: names for the values of columns.
//!
//! It does not check the tables: a value without a name is served unchanged, and is not accepted from clients.

use serde::Deserialize;
use tollgate_wire::edm::{Arity, Enumeration, Member, Primitive};
use toml::Spanned;

use super::function::Wrong;
use super::name::identifier;
use super::stored::Stored;

/// An enumeration as written in the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WantedEnumeration {
    members: Spanned<Vec<WantedMember>>,
    #[serde(default)]
    flags: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedMember {
    name: Spanned<String>,
    stored: Option<Stored>,
}

impl WantedEnumeration {
    /// Declares the enumeration in the model. If the file names no stored values, they are numbers: 0, 1, 2 and so on,
    /// of flags 1, 2, 4.
    pub(super) fn declared(&self, namespace: &str, name: &Spanned<String>) -> Result<Enumeration, Wrong> {
        if identifier(name.get_ref()) != *name.get_ref() {
            return Err((name.span(), format!("`{}` is no name that a type can have", name.get_ref())));
        }
        let arity = if self.flags { Arity::Flags } else { Arity::One };
        let mut members: Vec<Member> = Vec::new();
        for (position, wanted) in self.members.get_ref().iter().enumerate() {
            let name = wanted.name.get_ref();
            let wrong = |wrong: String| Err((wanted.name.span(), wrong));
            let position = i64::try_from(position).unwrap_or(i64::MAX);
            let (number, stored) = match (&wanted.stored, arity) {
                (Some(Stored::Number(number)), _) => (*number, None),
                (Some(Stored::Text(_)), Arity::Flags) => {
                    return wrong("flags are bits of a number: a text cannot be stored for one".to_owned());
                }
                (Some(Stored::Text(text)), Arity::One) => (position, Some(text.clone())),
                (None, Arity::One) => (position, None),
                (None, Arity::Flags) => (1_i64.checked_shl(position as u32).unwrap_or(0), None),
            };
            if identifier(name) != *name {
                return wrong(format!("`{name}` is no name that a member can have"));
            }
            if arity == Arity::Flags && number < 0 {
                return wrong(format!("`{name}` is {number}: flags are not negative"));
            }
            let same = |known: &Member| {
                known.name == *name || known.stored == stored && (stored.is_some() || known.number == number)
            };
            if members.iter().any(same) {
                return wrong(format!("`{name}` stands twice, by its name or by what is stored for it"));
            }
            if members.first().is_some_and(|first| first.stored.is_some() != stored.is_some()) {
                return wrong("numbers are stored for some members and texts for others".to_owned());
            }
            members.push(Member { name: name.clone(), number, stored });
        }
        if members.is_empty() {
            return Err((self.members.span(), "an enumeration has a member at least".to_owned()));
        }
        Ok(Enumeration { full_name: format!("{namespace}.{}", name.get_ref()), arity, members })
    }
}

/// Error of members of an enumeration in a column of this type.
pub(super) fn unfit(enumeration: &Enumeration, primitive: Primitive) -> Option<String> {
    use Primitive as P;
    let (least, most) = match primitive {
        P::String { length_max } => {
            let longer = |member: &&Member| {
                let length = member.stored.as_deref().map_or(0, |text| text.chars().count());
                length_max > 0 && length > length_max as usize
            };
            return match (enumeration.stores_texts(), enumeration.members.iter().find(longer)) {
                (false, _) => Some("its members are numbers: say what text is `stored` for each".to_owned()),
                (true, Some(member)) => Some(format!("what is stored for {} is too long", member.name)),
                (true, None) => None,
            };
        }
        P::Byte => (0, i64::from(u8::MAX)),
        P::SByte => (i64::from(i8::MIN), i64::from(i8::MAX)),
        P::Int16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        P::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        P::Int64 => (i64::MIN, i64::MAX),
        _ => return Some("only whole numbers and texts can be members".to_owned()),
    };
    if enumeration.stores_texts() {
        return Some("its members are texts".to_owned());
    }
    let beyond = enumeration.members.iter().find(|member| !(least..=most).contains(&member.number));
    beyond.map(|member| format!("{} is {}, which is beyond it", member.name, member.number))
}
