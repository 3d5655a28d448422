//! System query options that V4 has and tollgate does not answer yet: each is refused by its name.

use crate::address::{Fault, Parsed, Problem};
use crate::plan::Options;
use crate::query::context::Context;

pub(super) fn delta_token(_: &Context<'_>, _: &str, _: &mut Options) -> Parsed<()> {
    refuse("$deltatoken")
}

fn refuse(name: &str) -> Parsed<()> {
    Err(Problem::whole(Fault::NotImplemented(name.to_owned()), format!("{name} is not implemented")))
}
