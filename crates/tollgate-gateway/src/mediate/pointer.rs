//! Values in JSON by their location: a pointer (`/order/items/0`, RFC 6901) or a path of names and numbers
//! (`$.order.items[0]`, the singular paths of RFC 9535).
//!
//! It builds no tree: other values are skipped, to the document's end, so that invalid JSON is refused. Of a name that
//! occurs twice in an object the last one counts, as in most readers.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Location of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    steps: Box<[Step]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    /// A name in an object.
    name: Option<Box<str>>,
    /// A place in an array.
    index: Option<usize>,
}

/// Value at a location.
#[derive(Debug, Clone, PartialEq)]
pub enum Found<'j> {
    /// No value.
    Nothing,
    /// A text, a number, `true` or `false`, as text.
    Text(Cow<'j, str>),
    /// An object, an array or null.
    Other,
}

impl Pointer {
    /// Parses a pointer or a path.
    ///
    /// # Errors
    /// States what was expected.
    pub fn parse(text: &str) -> Result<Pointer, String> {
        let steps = match text.strip_prefix('$') {
            Some(path) => path_steps(path),
            None => pointer_steps(text),
        };
        let expected = "expected a pointer such as `/order/items/0`, or a path such as `$.order.items[0]`";
        steps.map(|steps| Pointer { steps: steps.into() }).ok_or_else(|| expected.to_owned())
    }

    /// Finds the value there in a document.
    ///
    /// # Errors
    /// The document is no JSON.
    pub fn find<'j>(&self, document: &'j [u8]) -> Result<Found<'j>, serde_json::Error> {
        let mut found = Found::Nothing;
        let mut reader = serde_json::Deserializer::from_slice(document);
        Seek { steps: &self.steps, found: &mut found }.deserialize(&mut reader)?;
        reader.end()?;
        Ok(found)
    }
}

fn pointer_steps(text: &str) -> Option<Vec<Step>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let step = |part: &str| {
        let has_bare_tilde = part.replace("~0", "").replace("~1", "").contains('~');
        let name = part.replace("~1", "/").replace("~0", "~");
        // Whether it is a name or a number is known only from the document.
        (!has_bare_tilde).then(|| Step { index: index(part), name: Some(name.into()) })
    };
    text.strip_prefix('/')?.split('/').map(step).collect()
}

fn path_steps(mut rest: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step = if let Some(behind) = rest.strip_prefix('.') {
            let end = behind.find(['.', '[']).unwrap_or(behind.len());
            let (name, behind) = behind.split_at(end);
            let plain = !name.is_empty() && !name.contains([' ', '*', '\'', '"', ']', '?', '@']);
            rest = behind;
            plain.then(|| Step { name: Some(name.into()), index: None })?
        } else {
            let behind = rest.strip_prefix('[')?;
            match behind.chars().next().filter(|quote| matches!(quote, '\'' | '"')) {
                Some(quote) => {
                    let (name, behind) = behind[1..].split_once(quote)?;
                    rest = behind.strip_prefix(']')?;
                    (!name.contains('\\')).then(|| Step { name: Some(name.into()), index: None })?
                }
                None => {
                    let (number, behind) = behind.split_once(']')?;
                    rest = behind;
                    Step { name: None, index: Some(index(number)?) }
                }
            }
        };
        steps.push(step);
    }
    Some(steps)
}

fn index(text: &str) -> Option<usize> {
    let is_number = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    is_number.then(|| text.parse().ok()).flatten()
}

/// Moves on to the location of a value.
struct Seek<'s, 'f, 'j> {
    steps: &'s [Step],
    found: &'f mut Found<'j>,
}

impl<'j> DeserializeSeed<'j> for Seek<'_, '_, 'j> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'j>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'j> Seek<'_, '_, 'j> {
    fn tell<E>(self, text: impl FnOnce() -> Cow<'j, str>) -> Result<(), E> {
        if self.steps.is_empty() {
            *self.found = Found::Text(text());
        }
        Ok(())
    }
}

impl<'j> Visitor<'j> for Seek<'_, '_, 'j> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_borrowed_str<E>(self, text: &'j str) -> Result<(), E> {
        self.tell(|| Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.tell(|| Cow::Owned(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.tell(|| Cow::Borrowed(if value { "true" } else { "false" }))
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.tell(|| Cow::Owned(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.tell(|| Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.tell(|| Cow::Owned(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        if self.steps.is_empty() {
            *self.found = Found::Other;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'j>>(self, mut entries: A) -> Result<(), A::Error> {
        let wanted = self.steps.first().and_then(|step| step.name.as_deref());
        if self.steps.is_empty() {
            *self.found = Found::Other;
        }
        while let Some(is_wanted) = entries.next_key_seed(Name(wanted))? {
            if is_wanted {
                *self.found = Found::Nothing;
                entries.next_value_seed(Seek { steps: &self.steps[1..], found: &mut *self.found })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'j>>(self, mut items: A) -> Result<(), A::Error> {
        let wanted = self.steps.first().and_then(|step| step.index);
        if self.steps.is_empty() {
            *self.found = Found::Other;
        }
        for index in 0.. {
            let more = if Some(index) == wanted {
                items.next_element_seed(Seek { steps: &self.steps[1..], found: &mut *self.found })?.is_some()
            } else {
                items.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a name is the wanted one.
struct Name<'s>(Option<&'s str>);

impl<'j> DeserializeSeed<'j> for Name<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'j>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &[u8] = br#"{"order": {"symbol": "IBM", "items": [{"n": 1}, {"n": -2.5}, "x\u0041"], "ok": true,
        "none": null, "a/b": {"~": "t"}, "symbol": "SUN", "0": "zero"}, "": "empty"}"#;

    #[test]
    fn values_are_found_where_they_stand() {
        let check = |pointer: &str, expected: Found<'_>| {
            assert_eq!(Pointer::parse(pointer).unwrap().find(ORDER).unwrap(), expected, "{pointer}");
        };
        let text = |text: &'static str| Found::Text(Cow::Borrowed(text));
        check("/order/symbol", text("SUN"));
        check("$.order.symbol", text("SUN"));
        check("$['order'][\"symbol\"]", text("SUN"));
        check("/order/items/0/n", text("1"));
        check("$.order.items[1].n", text("-2.5"));
        check("/order/items/2", text("xA"));
        check("/order/items/3", Found::Nothing);
        check("/order/items/01", Found::Nothing);
        check("/order/0", text("zero"));
        check("$.order[0]", Found::Nothing);
        check("/order/ok", text("true"));
        check("/order/none", Found::Other);
        check("/order/items", Found::Other);
        check("/order/a~1b/~0", text("t"));
        check("/", text("empty"));
        check("", Found::Other);
        check("$", Found::Other);
        check("/order/symbol/further", Found::Nothing);
    }

    #[test]
    fn what_is_neither_pointer_nor_path_is_refused() {
        for text in
            ["order", "$order", "$..a", "$.a[", "$.a[x]", "$.a[-1]", "$.*", "/a~2", "$[?(@.a)]", "$['a'", "$.a[01]"]
        {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_also_behind_the_value() {
        let pointer = Pointer::parse("/a").unwrap();
        let deep = "[".repeat(100_000);
        for document in ["", "{\"a\": 1", "{\"a\": 1} x", "{\"a\": 1, \"b\": }", "{a: 1}", &deep] {
            assert!(pointer.find(document.as_bytes()).is_err());
        }
    }
}
