//! Values of an experiment's file: their places, and the bounds of numbers.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::error::BOUNDS;

/// A value and its place in the text; in a schema, only the value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(crate) struct At<T>(Spanned<T>);

impl<T> At<T> {
    /// Its place in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// The value alone.
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> AsRef<T> for At<T> {
    fn as_ref(&self) -> &T {
        self.0.as_ref()
    }
}

// Not derived: that would name and describe the place instead of the value wherever one stands.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UpTo<const MOST: u32, const LEAST: u32 = 1>(pub(crate) u32);

impl<const MOST: u32, const LEAST: u32> UpTo<MOST, LEAST> {
    /// The value in seconds.
    pub(crate) fn seconds(self) -> Duration {
        Duration::from_secs(self.0.into())
    }

    /// The value in milliseconds.
    pub(crate) fn milliseconds(self) -> Duration {
        Duration::from_millis(self.0.into())
    }
}

impl<'de, const MOST: u32, const LEAST: u32> Deserialize<'de> for UpTo<MOST, LEAST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            number if (LEAST..=MOST).contains(&number) => Ok(UpTo(number)),
            number => Err(D::Error::custom(format!("{number}{BOUNDS}{LEAST} to {MOST}"))),
        }
    }
}

impl<const MOST: u32, const LEAST: u32> JsonSchema for UpTo<MOST, LEAST> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("From{LEAST}UpTo{MOST}").into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LEAST, "maximum": MOST })
    }
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;

    use super::*;

    #[test]
    fn a_value_and_where_it_stands_has_the_schema_of_the_value() {
        assert_eq!(schema_for!(Vec<At<String>>), schema_for!(Vec<String>));
        assert_eq!(schema_for!(Option<At<Vec<At<u64>>>>), schema_for!(Option<Vec<u64>>));
    }
}
