//! `$inlinecount` of V2: `allpages` or `none`.

use crate::address::{Fault, Parsed, Problem, quoted};
use crate::plan::{Counting, Options};
use crate::query::context::Context;

pub(super) fn parse(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    options.count = match text.trim() {
        "allpages" => Counting::Total,
        "none" => Counting::Without,
        _ => {
            let what = format!("expected allpages or none, found {}", quoted(text));
            return Err(Problem::new(Fault::BadValue, 0, what));
        }
    };
    Ok(())
}
