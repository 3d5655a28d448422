//! The verbs, grouped by purpose. A verb is one file or folder: its flags and its work. It writes its result to `out`,
//! progress to stderr, and ends with an exit code or a failure.
//!
//! The list of verbs is in `cli.rs`, the wording of failures in `failure.rs`. Several groups share `asking`, `input`,
//! `output` and `stored`.

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
