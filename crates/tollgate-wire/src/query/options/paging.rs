//! `$top` and `$skip`: whole numbers from 0.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::Options;
use crate::query::context::Context;

pub(super) fn parse_top(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.top = Some(whole_number(text)?);
    Ok(())
}

pub(super) fn parse_skip(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.skip = Some(whole_number(text)?);
    Ok(())
}

/// Stores count with signed 64 bits, so that is the limit here too.
pub(in crate::query) fn whole_number(text: &str) -> Parsed<u64> {
    let digits = text.trim();
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let value = if all_digits { digits.parse::<i64>().ok() } else { None };
    value.map(i64::unsigned_abs).ok_or_else(|| {
        let what = format!("expected a whole number from 0 to {}, found {}", i64::MAX, quoted(text));
        Problem::new(Fault::BadValue, 0, what)
    })
}
