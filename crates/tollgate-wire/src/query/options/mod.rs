//! The system query options, one file each, and [`OPTIONS`], their list.
//!
//! To add an option: a file with its parse function, one line in [`OPTIONS`], and where it asks for something new a
//! field of the plan, which the stores then match. An option deliberately does not know the list.

mod apply;
mod compute;
mod count;
mod expand;
pub(in crate::query) mod filter;
pub(in crate::query) mod format;
mod id;
mod inline_count;
pub(in crate::query) mod link;
mod order_by;
pub(in crate::query) mod paging;
mod schema_version;
mod search;
mod select;
pub mod skip_token;
mod unbuilt;

use super::context::{
    ANYTHING, COLLECTION, COUNT, COUNT_OF_V2, Context, ENTITY, REFERENCES, REFERENCES_OF_MANY, SystemOption,
};
use crate::address::{Parsed, Plus};
use crate::edm::Version;
use crate::plan::Options;

/// All system query options in the order in which they are read: nearly all need `$apply` and `$compute`, `$select` needs
/// `$expand`, `$skiptoken` needs `$orderby`.
pub static OPTIONS: [SystemOption; 17] = [
    SystemOption { applies_to: ANYTHING, plus: Plus::Plus, ..option("$format", BOTH, format::parse) },
    SystemOption { applies_to: COLLECTION | COUNT, ..option("$apply", ONLY_V4, apply::parse) },
    SystemOption { applies_to: COLLECTION | ENTITY, ..option("$compute", ONLY_V4, compute::parse) },
    SystemOption { applies_to: COLLECTION | COUNT | REFERENCES_OF_MANY, ..option("$filter", BOTH, filter::parse) },
    SystemOption { applies_to: COLLECTION | REFERENCES_OF_MANY, ..option("$orderby", BOTH, order_by::parse) },
    SystemOption {
        applies_to: COLLECTION | COUNT_OF_V2 | REFERENCES_OF_MANY,
        ..option("$top", BOTH, paging::parse_top)
    },
    SystemOption {
        applies_to: COLLECTION | COUNT_OF_V2 | REFERENCES_OF_MANY,
        ..option("$skip", BOTH, paging::parse_skip)
    },
    SystemOption { applies_to: COLLECTION | ENTITY, ..option("$expand", BOTH, expand::parse) },
    SystemOption { applies_to: COLLECTION | ENTITY, ..option("$select", BOTH, select::parse) },
    SystemOption {
        elsewhere: "V4 writes $count=true",
        applies_to: COLLECTION | REFERENCES_OF_MANY,
        ..option("$inlinecount", ONLY_V2, inline_count::parse)
    },
    SystemOption {
        elsewhere: "V2 writes $inlinecount=allpages",
        applies_to: COLLECTION | REFERENCES_OF_MANY,
        ..option("$count", ONLY_V4, count::parse)
    },
    SystemOption {
        plus: Plus::Plus,
        applies_to: COLLECTION | REFERENCES_OF_MANY,
        ..option("$skiptoken", BOTH, skip_token::parse_option)
    },
    SystemOption { applies_to: COLLECTION | COUNT | REFERENCES_OF_MANY, ..option("$search", ONLY_V4, search::parse) },
    SystemOption { applies_to: ANYTHING, ..option("$deltatoken", ONLY_V4, unbuilt::delta_token) },
    SystemOption { applies_to: REFERENCES, ..option("$id", ONLY_V4, id::parse) },
    SystemOption { applies_to: ANYTHING, ..option("$index", ONLY_V4, schema_version::index) },
    SystemOption { applies_to: ANYTHING, ..option("$schemaversion", ONLY_V4, schema_version::parse) },
];

const BOTH: &[Version] = &[Version::V2, Version::V4];
const ONLY_V2: &[Version] = &[Version::V2];
const ONLY_V4: &[Version] = &[Version::V4];

/// A descriptor with the common values; [`OPTIONS`] sets those that differ.
const fn option(
    name: &'static str,
    versions: &'static [Version],
    parse: fn(&Context<'_>, &str, &mut Options) -> Parsed<()>,
) -> SystemOption {
    SystemOption { name, versions, elsewhere: "", applies_to: COLLECTION, plus: Plus::Space, parse }
}
