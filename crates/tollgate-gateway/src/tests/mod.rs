//! The gateway from outside, over real sockets: the answer to each request.

mod actions;
mod admin;
mod answer_limits;
mod applied;
mod auth;
mod bad_input;
mod batch;
mod cache;
mod client;
mod clients;
#[allow(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../tollgate-store/tests/it/cluster.rs"]
mod cluster;
mod collections;
mod conditions;
mod derived;
mod drain;
mod echo;
mod endpoints;
mod esb;
mod expanding;
mod fibonacci;
mod found;
mod functions;
mod members;
mod openapi;
mod own;
mod paging;
mod pool;
mod postgres;
mod proxy;
mod query_limits;
mod references;
mod refused;
mod reload;
mod rest;
mod rest_arrays;
mod rest_query;
mod rest_writing;
mod stock_quote;
mod streaming;
mod typed;
mod v2;
mod v4;
mod writers;
mod writing;
