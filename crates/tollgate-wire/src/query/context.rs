//! Query options of the service and of OData, and the context in which the latter are read.
//!
//! It deliberately does not know which options there are: they come with the context, since an expansion has options of
//! its own.

use std::cell::Cell;

use crate::address::{Parsed, Plus};
use crate::edm::{EntityType, Model, Version};
use crate::plan::Options;

/// A query option without `$`: the service's own, such as `sap-client`. Decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomOption {
    /// Its name.
    pub name: String,
    /// Its value; empty if none was given.
    pub value: String,
}

/// A system query option.
pub struct SystemOption {
    /// Its name with `$`, in lower case.
    pub name: &'static str,
    /// The versions that have it.
    pub versions: &'static [Version],
    /// The other version's name for it, for the error; may be empty.
    pub elsewhere: &'static str,
    pub(super) applies_to: u8,
    pub(super) plus: Plus,
    pub(super) parse: fn(&Context<'_>, &str, &mut Options) -> Parsed<()>,
}

// What an option may apply to, as bits.
pub(super) const COLLECTION: u8 = 1;
pub(super) const ENTITY: u8 = 2;
pub(super) const COUNT: u8 = 4;
/// V2 counts what is left after `$top` and `$skip`; V4 forbids them with `/$count`.
pub(super) const COUNT_OF_V2: u8 = 8;
pub(super) const REFERENCES: u8 = 16;
/// References that are found like the entities of a collection.
pub(super) const REFERENCES_OF_MANY: u8 = 32;
pub(super) const ANYTHING: u8 = 0xff;

/// The context in which the options are read.
pub(crate) struct Context<'m> {
    pub(crate) model: &'m Model,
    pub(crate) version: Version,
    /// The type of the entities that are answered.
    pub(crate) entity_type: &'m EntityType,
    /// Parameter aliases with their `@`, and their texts.
    pub(crate) aliases: &'m [(String, String)],
    /// Number of expansions around these options.
    pub(crate) depth: usize,
    /// Number of expansions in the request so far.
    pub(crate) expansions: &'m Cell<usize>,
    /// The options that an expansion may have.
    pub(crate) options: &'m [SystemOption],
}

/// The position of the option of that name. V2 knows the exact name; V4.01 leaves out the `$` and does not mind the case.
pub(super) fn find(options: &[SystemOption], version: Version, name: &str) -> Option<usize> {
    let bare = name.strip_prefix('$');
    options.iter().position(|option| {
        option.versions.contains(&version)
            && match version {
                Version::V2 => option.name == name,
                Version::V4 => option.name[1..].eq_ignore_ascii_case(bare.unwrap_or(name)),
            }
    })
}
