//! Who asks, and what they may do: users and their passwords, basic authentication (RFC 7617), and the access rules.
//!
//! What it deliberately does not do: keep sessions, or know what a request reaches: the protocols ask for each entity set.

mod access;
mod authentication;
mod basic;
mod caller;
mod certificate;
pub(crate) mod config;
pub(crate) mod csrf;
mod current;
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
