//! The corpus of the fuzz target of database URLs, replayed.
//!
//! It finds nothing new; that is the fuzzer's work.

use crate::{corpus, fuzzed};

#[test]
fn the_corpus_is_replayed() {
    corpus::files("postgres_url").iter().for_each(|bytes| fuzzed::postgres_url(bytes));
}
