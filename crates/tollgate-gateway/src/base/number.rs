//! Range checks for numbers of a configuration.

use serde::{Deserialize, Deserializer};

pub(crate) fn within<'de, const LEAST: i64, const MOST: i64, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<i64>,
    D: Deserializer<'de>,
{
    let number = i64::deserialize(deserializer)?;
    let out_of_range = || serde::de::Error::custom(format!("expected a number from {LEAST} to {MOST}, found {number}"));
    if !(LEAST..=MOST).contains(&number) {
        return Err(out_of_range());
    }
    T::try_from(number).map_err(|_| out_of_range())
}

pub(crate) fn optional_within<'de, const LEAST: i64, const MOST: i64, T, D>(
    deserializer: D,
) -> Result<Option<T>, D::Error>
where
    T: TryFrom<i64>,
    D: Deserializer<'de>,
{
    within::<LEAST, MOST, T, D>(deserializer).map(Some)
}
