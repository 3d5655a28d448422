//! Authentication and permissions: users and their passwords, basic authentication (RFC 7617), and the access rules.
//!
//! It keeps no sessions and does not know which sets a request reaches: the protocols check each entity set.

mod access;
mod authentication;
mod basic;
mod caller;
mod certificate;
pub(crate) mod config;
pub(crate) mod csrf;
mod current;
mod guesses;
mod hashing;
mod password;
mod users;
mod verified;

pub(crate) use access::{Access, Grants, Policy, is_within};
pub use access::{AccessRule, Allow, Principal, Verb};
pub use authentication::Authentication;
pub(crate) use authentication::Local;
pub use basic::Credentials;
pub use caller::{Caller, User};
pub use certificate::{CertificateUser, Mark};
pub use password::{Cost, Hash, PASSWORD_BYTES_MAX};
pub use users::{Users, UsersError, Verdict, line};
