//! Black-box tests of the HTTP engine: the codec over real bytes, the server over loopback, the client against it.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as its test does")]

mod both_halves;
mod connections;
#[allow(dead_code, reason = "other crates damage the files, too")]
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;
mod flow;
mod forward;
mod framing;
mod fuzzed;
mod limits;
mod link;
mod properties;
mod replay;
mod server;
mod support;
mod tls;
mod tls_client;
mod tls_hostile;
mod tls_peer;
mod tls_server;
mod tun;
