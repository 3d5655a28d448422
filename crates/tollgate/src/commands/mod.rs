//! The verbs, one file each: its flags, and what it does. A verb writes its result to `out`, progress to stderr, and
//! ends with an exit code or a failure.
//!
//! Deliberately not here: the list of verbs (`cli.rs`), wording failures (`failure.rs`). The last four are what verbs
//! share.

pub(crate) mod cert;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod generate;
pub(crate) mod link;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod password;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod selfcheck;
pub(crate) mod serve;

mod expected;
mod input;
mod output;
mod secrets;
mod selection;
mod stored;
mod xml;
pub(crate) mod xpath;
pub(crate) mod xslt;
