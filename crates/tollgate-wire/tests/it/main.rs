//! Tests of the crate's public face: URLs in, plans or errors out; documents in, entities out.
#![allow(clippy::unwrap_used, reason = "all of this is tests, its helpers too")]

mod array;
mod batches;
mod bodies;
mod body;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod documents;
mod expression;
mod fixture;
mod fuzzed;
mod grammar;
mod option;
mod questions;
mod reading;
mod refused;
mod rest_query;
mod soap;
mod url;
