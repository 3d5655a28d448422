//! Errors at the start of a gateway, worded for the operator.
//!
//! It does not choose the exit code.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::auth::UsersError;
use crate::base::config_error::ConfigError;
use crate::config::Location;
use crate::store::StoreError;

/// Reason why a gateway could not start.
#[derive(Debug)]
pub enum StartError {
    /// Listening on an address failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The database of a service could not be opened, filled or understood.
    Database {
        /// Name of the service.
        service: String,
        /// Location of its database.
        location: Location,
        /// The store's error.
        error: StoreError,
    },
    /// A mapping file could not be read.
    MappingFile {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A mapping file does not fit its database.
    Mapping(ConfigError),
    /// The configuration contradicts itself, or names a file that cannot be used.
    Config(ConfigError),
    /// Certificate, key or authorities of a TLS listener cannot be used; with the line that names them.
    Tls(String),
    /// The users file cannot be read.
    Users(UsersError),
    /// An access rule names an unknown path or entity set.
    IdleRule {
        /// Its file and line.
        place: String,
    },
    /// Other machines would reach services that ask nobody who they are.
    Exposed {
        /// The address that they would reach.
        address: SocketAddr,
    },
    /// Names and passwords would be sent unencrypted.
    PlainBasic {
        /// The unencrypted address.
        address: SocketAddr,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Listen { address, error } => write!(formatter, "cannot listen on {address}: {error}"),
            StartError::Database { service, location, error } => {
                write!(formatter, "cannot serve `{service}` over {location}: {error}")?;
                // What the driver says is the operator's to read, and this is the operator.
                error.source().map_or(Ok(()), |inner| write!(formatter, ": {inner}"))
            }
            StartError::MappingFile { path, error } => write!(formatter, "cannot read {}: {error}", path.display()),
            StartError::Mapping(error) | StartError::Config(error) => write!(formatter, "{error}"),
            StartError::Tls(wrong) => formatter.write_str(wrong),
            StartError::Users(error) => write!(formatter, "{error}"),
            StartError::IdleRule { place } => write!(
                formatter,
                "{place}: the rule is for nothing: no service and no route has such a path, or no such entity set there"
            ),
            StartError::Exposed { address } => write!(
                formatter,
                "anyone who reaches {address} could use services without signing in: add users (`--users FILE`) and rules, listen on a loopback address, or say --i-may-expose (`may_expose = true` in [listen])"
            ),
            StartError::PlainBasic { address } => write!(
                formatter,
                "names and passwords would come to {address} as plain text: listen with TLS or on a loopback address, or say `plain_basic = \"anywhere\"` in [authentication]"
            ),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Listen { error, .. } => Some(error),
            StartError::Database { error, .. } => Some(error),
            StartError::MappingFile { error, .. } => Some(error),
            StartError::Mapping(error) | StartError::Config(error) => Some(error),
            StartError::Tls(_) => None,
            StartError::Users(error) => Some(error),
            StartError::IdleRule { .. } | StartError::Exposed { .. } | StartError::PlainBasic { .. } => None,
        }
    }
}
