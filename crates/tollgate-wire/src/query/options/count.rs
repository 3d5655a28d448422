//! `$count` of V4: `true` or `false`.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::{Counting, Options};
use crate::query::context::Context;

pub(super) fn parse(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    let word = text.trim();
    options.count = if word.eq_ignore_ascii_case("true") {
        Counting::Total
    } else if word.eq_ignore_ascii_case("false") {
        Counting::Without
    } else {
        let what = format!("expected true or false, found {}", quoted(text));
        return Err(Problem::new(Fault::BadValue, 0, what));
    };
    Ok(())
}
