//! `$id` (V4): the URL of the entity whose reference is meant. What it names is resolved by whoever knows the service root.

use super::Context;
use crate::plan::Options;
use crate::url::Parsed;

pub(super) fn parse(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.id = Some(text.to_owned());
    Ok(())
}
