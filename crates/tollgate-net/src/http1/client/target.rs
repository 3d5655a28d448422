//! Target of a request: an http or https URL, parsed once and strictly.
//!
//! Nothing is encoded or normalised: what the user wrote is what is sent, or it is refused with its position.

use std::fmt;

use super::super::head::is_authority;

/// The scheme of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// http, port 80 unless given.
    Http,
    /// https, port 443 unless given.
    Https,
}

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    scheme: Scheme,
    host: String,
    port: u16,
    authority: String,
    path_and_query: String,
}

/// The error in a URL, with its byte, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    position: usize,
    message: &'static str,
}

impl Target {
    /// Parses `http://host:port/path?query`.
    ///
    /// ```
    /// # use tollgate_net::http1::client::Target;
    /// let target = Target::parse("http://127.0.0.1:8080/a?b=c")?;
    /// assert_eq!((target.host(), target.port(), target.path_and_query()), ("127.0.0.1", 8080, "/a?b=c"));
    /// # Ok::<(), tollgate_net::http1::client::TargetError>(())
    /// ```
    ///
    /// # Errors
    /// The error, with its place.
    pub fn parse(url: &str) -> Result<Target, TargetError> {
        let bytes = url.as_bytes();
        let begins =
            |prefix: &str| bytes.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()));
        let (scheme, start) = if begins("http://") {
            (Scheme::Http, "http://".len())
        } else if begins("https://") {
            (Scheme::Https, "https://".len())
        } else {
            return Err(TargetError { position: 0, message: "a URL begins with http:// or https://" });
        };
        let end = bytes[start..].iter().position(|byte| b"/?#".contains(byte)).map_or(bytes.len(), |at| start + at);
        let authority = &bytes[start..end];
        if let Some(at) = authority.iter().position(|&byte| byte == b'@') {
            let message = "credentials do not belong into a URL; --basic USER:PASSWORD takes them";
            return Err(TargetError { position: start + at, message });
        }
        if !is_authority(authority) {
            return Err(TargetError {
                position: start,
                message: "a host name or address with an optional port is expected here",
            });
        }
        for (position, &byte) in bytes.iter().enumerate().skip(end) {
            let message = match byte {
                b'#' => "a fragment is never sent; leave it out",
                b' ' => "a space must be written as %20",
                0x21..=0x7e => continue,
                0x80.. => "a letter outside ASCII must be percent-encoded",
                _ => "a control byte cannot be sent",
            };
            return Err(TargetError { position, message });
        }
        let authority = &url[start..end];
        let port_colon =
            authority.rfind(':').filter(|&colon| authority.rfind(']').is_none_or(|bracket| bracket < colon));
        let (host, port) = port_colon.map_or((authority, ""), |colon| (&authority[..colon], &authority[colon + 1..]));
        let default_port = match scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
        };
        // An authority's port is empty or at most 65535.
        let port = port.parse().unwrap_or(default_port);
        let path_and_query = match bytes.get(end) {
            Some(b'/') => url[end..].to_owned(),
            _ => format!("/{}", &url[end..]),
        };
        let authority = if port == default_port { host.to_owned() } else { format!("{host}:{port}") };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Target { scheme, host, port, authority, path_and_query })
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host, an IPv6 address without its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, the scheme's own where none was given.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The `Host` field: the host, and the port if it is not the scheme's own.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The path and query for the request line.
    #[must_use]
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }
}

impl TargetError {
    /// The byte of the error in the URL, counted from 0.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The error at that place.
    #[must_use]
    pub fn message(&self) -> &'static str {
        self.message
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        write!(formatter, "{scheme}://{}{}", self.authority, self.path_and_query)
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "column {}: {}", self.position + 1, self.message)
    }
}

impl std::error::Error for TargetError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let check = |url: &str, scheme, host: &str, port: u16, authority: &str, path_and_query: &str| {
            let target = Target::parse(url).unwrap();
            let parts = (target.scheme(), target.host(), target.port(), target.authority(), target.path_and_query());
            assert_eq!(parts, (scheme, host, port, authority, path_and_query), "{url}");
        };
        check("http://a/b?c", Scheme::Http, "a", 80, "a", "/b?c");
        check("HTTP://a", Scheme::Http, "a", 80, "a", "/");
        check("http://a?c", Scheme::Http, "a", 80, "a", "/?c");
        check("http://a:80/", Scheme::Http, "a", 80, "a", "/");
        check("http://a:/", Scheme::Http, "a", 80, "a", "/");
        check("https://a:80/", Scheme::Https, "a", 80, "a:80", "/");
        check("https://a", Scheme::Https, "a", 443, "a", "/");
        check("http://[::1]:8080/x", Scheme::Http, "::1", 8080, "[::1]:8080", "/x");
        check("http://[::1]/x", Scheme::Http, "::1", 80, "[::1]", "/x");
    }

    #[test]
    fn what_is_no_url_is_refused_at_its_place() {
        let check = |url: &str, position: usize| {
            let error = Target::parse(url).unwrap_err();
            assert_eq!(error.position(), position, "{url}: {error}");
        };
        check("", 0);
        check("ftp://a/", 0);
        check("a/b", 0);
        check("http://", 7);
        check("http://a:99999/", 7);
        check("http:///path", 7);
        check("http://user:secret@a/", 18);
        check("http://a/b c", 10);
        check("http://a/b#c", 10);
        check("http://a/ü", 9);
        check("http://a/\r\nx", 9);
    }
}
