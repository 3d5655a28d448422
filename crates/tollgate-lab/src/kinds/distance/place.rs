//! The address of the user's PostgreSQL: host and port in its URL, and the same URL through a link.
//!
//! It does not interpret the rest of the URL, which is for the client that connects.

use std::net::SocketAddr;

use crate::subject::reached;

/// The port of PostgreSQL if a URL names none.
const PORT: u16 = 5432;
/// Schemes of such URLs.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// A URL of a database, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl {
    before: String,
    /// Name or address, without brackets.
    pub(crate) host: String,
    port: u16,
    behind: String,
}

impl DatabaseUrl {
    /// Takes a URL apart.
    pub(crate) fn parse(url: &str) -> Result<DatabaseUrl, String> {
        let scheme = SCHEMES.iter().find(|scheme| url.starts_with(**scheme));
        let Some(scheme) = scheme else { return Err("expected postgres://USER@HOST/DATABASE".to_owned()) };
        let rest = &url[scheme.len()..];
        let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, place) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        if place.contains(',') {
            return Err("names several hosts: one of them is enough".to_owned());
        }
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => {
                (host, port.parse().map_err(|_| format!("`{port}` is no port"))?)
            }
            _ => (place, PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err("names no host: a link needs one, such as 127.0.0.1".to_owned());
        }
        Ok(DatabaseUrl { before: format!("{scheme}{user}"), host: host.to_owned(), port, behind: behind.to_owned() })
    }

    /// Its address, if a server listens there: behind a link the batch could name only the link's own port.
    ///
    /// # Errors
    /// Host and port, and why they cannot be reached.
    pub(crate) fn reached(&self) -> Result<SocketAddr, String> {
        reached(&self.host, self.port)
    }

    /// The URL with this address instead.
    pub(crate) fn by(&self, address: SocketAddr) -> String {
        format!("{}{address}{}", self.before, self.behind)
    }
}

#[cfg(test)]
mod tests {
    use tollgate_net::listen::Reserved;

    use super::*;

    #[test]
    fn host_and_port_are_found_and_all_else_is_kept() {
        let check = |url: &str, host: &str, port: u16, by: &str| {
            let place = DatabaseUrl::parse(url).unwrap();
            assert_eq!((place.host.as_str(), place.port), (host, port), "{url}");
            assert_eq!(place.by("127.0.0.1:9".parse().unwrap()), by);
        };
        check("postgres://me:p%40w@db:81/test?x=1", "db", 81, "postgres://me:p%40w@127.0.0.1:9/test?x=1");
        check("postgresql://[::1]/test", "::1", 5432, "postgresql://127.0.0.1:9/test");
        check("postgres://me@[::1]:7", "::1", 7, "postgres://me@127.0.0.1:9");
    }

    #[test]
    fn a_database_that_is_not_there_is_named_itself() {
        // Nobody listens there while it is kept.
        let reserved = Reserved::on_loopback().unwrap();
        let port = reserved.address().port();
        let place = DatabaseUrl::parse(&format!("postgres://me:secret@127.0.0.1:{port}/test")).unwrap();
        let told = place.reached().unwrap_err();
        assert!(told.starts_with(&format!("127.0.0.1, port {port}, cannot be reached: ")), "{told}");
        assert!(!told.contains("secret"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(DatabaseUrl::parse(&format!("postgres://me@{address}/test")).unwrap().reached(), Ok(address));
    }

    #[test]
    fn what_a_link_cannot_lead_to_is_refused() {
        let check =
            |url: &str, expected: &str| assert!(DatabaseUrl::parse(url).unwrap_err().contains(expected), "{url}");
        check("sqlite:x", "expected postgres://");
        check("postgres:///test?host=/run", "names no host");
        check("postgres://a:1,b:2/test", "several hosts");
        check("postgres://a:x/test", "no port");
    }
}
