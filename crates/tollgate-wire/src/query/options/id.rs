//! `$id` (V4): the URL of the entity whose reference is meant. The caller, who knows the service root, resolves it.

use crate::address::Parsed;
use crate::plan::Options;
use crate::query::context::Context;

pub(super) fn parse(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.id = Some(text.to_owned());
    Ok(())
}
