//! The client behind a request, as limits count it: a user, or an address.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use tollgate_net::listen::{CLIENT_BITS, client_at};

/// The client behind a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Client {
    /// An authenticated user.
    User(Arc<str>),
    /// An address; of IPv6 its network of 64 bits, all addresses of which one machine may use.
    Address(IpAddr),
}

impl Client {
    /// The client at an address.
    pub(crate) fn at(address: IpAddr) -> Client {
        Client::Address(client_at(address))
    }
}

impl fmt::Display for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::User(name) => write!(formatter, "user:{name}"),
            Client::Address(address @ IpAddr::V4(_)) => write!(formatter, "{address}"),
            Client::Address(network @ IpAddr::V6(_)) => write!(formatter, "{network}/{CLIENT_BITS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_is_one_client() {
        let shown = |address: &str| Client::at(address.parse().unwrap()).to_string();
        assert_eq!(shown("192.0.2.1"), "192.0.2.1");
        assert_eq!(shown("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(shown("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(Client::User("ann".into()).to_string(), "user:ann");
    }
}
