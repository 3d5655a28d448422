//! The library from outside: a corpus compared with `xsltproc`, XPath with a naive evaluator, and hostile input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod canonical;
mod cases;
mod corpus;
mod coverage;
mod generated;
mod hostile;
mod naive;
mod properties;
mod xsltproc;
