//! Enumerations: names for values of a column. Documents of V4 and of plain REST have the names, the store and V2 have the
//! values.
//!
//! It deliberately knows neither literals nor documents.

use std::fmt::Write;

use super::primitive::Primitive;
use super::value::{Cell, Value};

/// Position of an enumeration in [`Model::enumerations`](super::Model::enumerations).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EnumerationId(pub usize);

/// A type whose values have names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enumeration {
    /// Name with its namespace, such as `shop.Status`.
    pub full_name: String,
    /// Whether a value may be several members at once.
    pub arity: Arity,
    /// The members, in the order of declaration.
    pub members: Vec<Member>,
}

/// Number of members that a value can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// One.
    One,
    /// Any number; each member is some bits of the value.
    Flags,
}

/// A value with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its number, by which members are ordered.
    pub number: i64,
    /// The text that is stored for it; nothing where its number is.
    pub stored: Option<String>,
}

impl Enumeration {
    /// The name without namespace.
    pub fn name(&self) -> &str {
        self.full_name.rsplit('.').next().unwrap_or(&self.full_name)
    }

    /// Whether texts are stored, and not numbers.
    pub fn stores_texts(&self) -> bool {
        self.members.iter().any(|member| member.stored.is_some())
    }

    /// The smallest type of V4 that can represent all numbers.
    pub fn underlying(&self) -> Primitive {
        let fits = |member: &Member| i32::try_from(member.number).is_ok();
        if self.members.iter().all(fits) { Primitive::Int32 } else { Primitive::Int64 }
    }

    /// The value that is stored for names of members, or for their numbers, with commas between them where it may be several
    /// (`Red,Green`). Nothing where one is no member.
    pub fn value(&self, text: &str) -> Option<Value> {
        match self.arity {
            Arity::One => {
                let text = text.trim();
                let is_it = |member: &&Member| member.name == text || text.parse() == Ok(member.number);
                self.members.iter().find(is_it).map(Member::value)
            }
            Arity::Flags => {
                let all = self.members.iter().fold(0, |all, member| all | member.number);
                let mut bits = 0;
                for part in text.split(',').map(str::trim) {
                    bits |= match self.members.iter().find(|member| member.name == part) {
                        Some(member) => member.number,
                        None => part.parse().ok().filter(|number: &i64| number & !all == 0)?,
                    };
                }
                Some(Value::Integer(bits))
            }
        }
    }

    /// The same for plain REST, which knows a member by its name alone: a stored text may look like a number. Flags
    /// without a common name are named by the number.
    pub fn named(&self, text: &str) -> Option<Value> {
        match self.arity {
            Arity::One => self.members.iter().find(|member| member.name == text).map(Member::value),
            Arity::Flags => self.value(text),
        }
    }

    /// The number by which a stored value is ordered; nothing where it is no member's.
    pub(crate) fn number(&self, cell: Cell<'_>) -> Option<i64> {
        match cell {
            Cell::Integer(number) => Some(number),
            cell => self.member(cell).map(|member| member.number),
        }
    }

    /// Whether a stored value belongs to members.
    pub fn has(&self, cell: Cell<'_>) -> bool {
        match (cell, self.arity) {
            (Cell::Integer(number), Arity::Flags) => {
                number & !self.members.iter().fold(0, |all, member| all | member.number) == 0
            }
            (cell, _) => self.member(cell).is_some(),
        }
    }

    /// The member that alone is a stored value.
    pub(crate) fn member(&self, cell: Cell<'_>) -> Option<&Member> {
        self.members.iter().find(|member| match (&member.stored, cell) {
            (Some(stored), Cell::Text(text)) => stored.as_bytes() == text,
            (None, Cell::Integer(number)) => member.number == number,
            _ => false,
        })
    }

    /// The type of what is stored.
    pub fn primitive(&self) -> Primitive {
        if self.stores_texts() { Primitive::String { length_max: 0 } } else { self.underlying() }
    }

    /// A literal of V4, such as `shop.Status'Open'`, of the members that a stored value is.
    pub fn literal(&self, cell: Cell<'_>) -> String {
        let mut literal = format!("{}'", self.full_name);
        self.write_names(&mut literal, cell);
        literal.push('\'');
        literal
    }

    /// Writes the names of the members that a stored value is; a number, or a text, that is no member's stays as it is.
    pub fn write_names(&self, out: &mut String, cell: Cell<'_>) {
        match (cell, self.arity) {
            (Cell::Integer(number), Arity::Flags) if number != 0 && self.has(cell) => {
                let mut left = number;
                // A member of several bits stands for those of its parts, so the larger ones go first.
                let mut named: Vec<&Member> = Vec::new();
                let mut members: Vec<&Member> = self.members.iter().filter(|member| member.number != 0).collect();
                members.sort_by_key(|member| std::cmp::Reverse(member.number.count_ones()));
                for member in members {
                    if number & member.number == member.number && left & member.number != 0 {
                        left &= !member.number;
                        named.push(member);
                    }
                }
                if left != 0 {
                    let _ = write!(out, "{number}");
                    return;
                }
                named.sort_by_key(|member| self.members.iter().position(|known| known == *member));
                for (position, member) in named.into_iter().enumerate() {
                    out.push_str(if position > 0 { "," } else { "" });
                    out.push_str(&member.name);
                }
            }
            (cell, _) => match self.member(cell) {
                Some(member) => out.push_str(&member.name),
                None => match cell {
                    Cell::Integer(number) => {
                        let _ = write!(out, "{number}");
                    }
                    Cell::Text(text) => out.push_str(&String::from_utf8_lossy(text)),
                    Cell::Null | Cell::Real(_) | Cell::Bytes(_) => {}
                },
            },
        }
    }
}

impl Member {
    /// The value that is stored for it.
    pub fn value(&self) -> Value {
        match &self.stored {
            Some(text) => Value::String(text.clone()),
            None => Value::Integer(self.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enumeration(arity: Arity, members: &[(&str, i64, Option<&str>)]) -> Enumeration {
        let member = |(name, number, stored): &(&str, i64, Option<&str>)| Member {
            name: (*name).to_owned(),
            number: *number,
            stored: stored.map(str::to_owned),
        };
        Enumeration { full_name: "shop.Of".to_owned(), arity, members: members.iter().map(member).collect() }
    }

    #[test]
    fn names_are_values_and_values_names() {
        let check = |of: &Enumeration, text: &str, expected: Option<(Value, &str)>| {
            let value = of.value(text);
            assert_eq!(value, expected.as_ref().map(|(value, _)| value.clone()), "{text}");
            if let (Some(value), Some((_, names))) = (value, expected) {
                assert!(of.has(value.cell()), "{text}");
                let mut written = String::new();
                of.write_names(&mut written, value.cell());
                assert_eq!(written, names, "{text}");
            }
        };
        let number = |number| Value::Integer(number);
        let one = enumeration(Arity::One, &[("Open", 0, None), ("Void", 7, None)]);
        check(&one, "Void", Some((number(7), "Void")));
        check(&one, "7", Some((number(7), "Void")));
        for wrong in ["void", "1", "", "Open,Void"] {
            check(&one, wrong, None);
        }
        let text = enumeration(Arity::One, &[("Low", 0, Some("l")), ("High", 1, Some("h"))]);
        check(&text, "High", Some((Value::String("h".to_owned()), "High")));
        check(&text, "h", None);
        check(&text, "1", Some((Value::String("h".to_owned()), "High")));
        assert_eq!((text.named("1"), text.named("h"), text.named("High")), (None, None, text.value("High")));
        assert_eq!((one.named("7"), one.named("Void")), (None, Some(number(7))));
        let flags = [("None", 0, None), ("Red", 1, None), ("Green", 2, None), ("Blue", 4, None), ("White", 7, None)];
        let flags = enumeration(Arity::Flags, &flags);
        check(&flags, "Green, Red", Some((number(3), "Red,Green")));
        check(&flags, "Red,Green,4", Some((number(7), "White")));
        check(&flags, "0", Some((number(0), "None")));
        assert_eq!(
            (flags.named("Red,Green"), flags.named("0"), flags.named("8")),
            (Some(number(3)), Some(number(0)), None)
        );
        check(&flags, "8", None);
        check(&flags, "Red,", None);
    }

    #[test]
    fn what_is_no_member_is_written_as_it_is() {
        let one = enumeration(Arity::One, &[("Open", 0, None)]);
        let mut written = String::new();
        one.write_names(&mut written, Cell::Integer(5));
        one.write_names(&mut written, Cell::Text(b"x"));
        assert_eq!(written, "5x");
        assert!(!one.has(Cell::Integer(5)));
    }
}
