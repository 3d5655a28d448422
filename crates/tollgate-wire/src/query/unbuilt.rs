//! System query options that V4 has and tollgate does not answer yet: each is refused by its name.

use super::Context;
use crate::plan::Options;
use crate::url::{Parsed, Problem};

pub(super) fn search(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$search"))
}

pub(super) fn apply(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$apply"))
}

pub(super) fn compute(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$compute"))
}

pub(super) fn delta_token(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$deltatoken"))
}

pub(super) fn id(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$id"))
}

pub(super) fn index(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$index"))
}

pub(super) fn schema_version(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    Err(Problem::not_implemented(0, "$schemaversion"))
}
