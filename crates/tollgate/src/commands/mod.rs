//! The verbs, grouped by what they are for; a verb is one file or folder: its flags, and what it does. A verb writes its
//! result to `out`, progress to stderr, and ends with an exit code or a failure.
//!
//! Deliberately not here: the list of verbs (`cli.rs`), wording failures (`failure.rs`). `asking`, `input`, `output` and `stored` are
//! what several groups share.

mod asking;
pub(crate) mod experiment;
pub(crate) mod gateway;
mod input;
pub(crate) mod link;
pub(crate) mod load;
pub(crate) mod machine;
mod output;
mod stored;
pub(crate) mod tools;
