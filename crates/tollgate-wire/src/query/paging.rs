//! `$top` and `$skip`: whole numbers from 0.

use super::Context;
use crate::plan::Options;
use crate::url::{Fault, Parsed, Problem, quoted};

pub(super) fn parse_top(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.top = Some(whole_number(text)?);
    Ok(())
}

pub(super) fn parse_skip(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.skip = Some(whole_number(text)?);
    Ok(())
}

/// Stores count with signed 64 bits, so that is the limit here too.
pub(super) fn whole_number(text: &str) -> Parsed<u64> {
    let digits = text.trim();
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = if all_digits { digits.parse::<i64>().ok() } else { None };
    value.map(i64::unsigned_abs).ok_or_else(|| {
        let what = format!("expected a whole number from 0 to {}, found {}", i64::MAX, quoted(text));
        Problem::new(Fault::BadValue, 0, what)
    })
}
