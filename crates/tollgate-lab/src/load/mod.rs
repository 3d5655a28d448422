//! The load generator: workers that ask, check the answers and record.

mod header;

pub use header::check_header;
