//! The gateway from outside, over real sockets: what each request is answered with.

mod admin;
mod bad_input;
mod batch;
mod client;
mod conditions;
mod drain;
mod found;
mod paging;
mod pool;
mod rest;
mod rest_arrays;
mod rest_writing;
mod streaming;
mod v2;
mod v4;
mod writers;
mod writing;
