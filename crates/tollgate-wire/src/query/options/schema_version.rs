//! `$schemaversion` and `$index` (V4.01): options for features that tollgate deliberately does not have. A model lives
//! as long as the service does, so there is one version of it, and no collection keeps an order of its own.

use super::paging::whole_number;
use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::Options;
use crate::query::context::Context;

/// `*` is the version that is in force; any other does not exist (Protocol 11.2.12).
pub(super) fn parse(_: &Context<'_>, text: &str, _: &mut Options) -> Parsed<()> {
    match text {
        "*" => Ok(()),
        other => {
            let what = format!("there is no version {} of the schema", quoted(other));
            Err(Problem::new(Fault::UnknownSegment, 0, what).hint("the only one is `*`"))
        }
    }
}

pub(super) fn index(_: &Context<'_>, text: &str, _: &mut Options) -> Parsed<()> {
    whole_number(text.strip_prefix('-').unwrap_or(text))?;
    let what = "$index does not apply: no collection keeps an order of its own";
    Err(Problem::whole(Fault::NotApplicable, what))
}
