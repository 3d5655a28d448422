//! The servers under test: children that the run starts and ends, or servers of the user that are only observed.
//!
//! This module sends no load (see [`crate::load`]), and does not know what kind of server a subject is.

mod child;
mod guard;
pub mod peer;
mod postgres;
mod reached;

pub use child::Child;
pub(crate) use child::{end_with_this_thread, ended, in_a_session_of_its_own};
pub use guard::{check_loadable, is_named};
pub use peer::{Peer, Surroundings, TlsListener};
pub(crate) use postgres::programs as postgres_programs;
pub use postgres::{Postgres, PostgresError};
pub(crate) use reached::reached;
