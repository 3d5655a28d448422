//! Addresses in the fields of answers: a backend's own authority is replaced by the one by which the client reached us.
//!
//! Relative addresses stay as they are, and so do those that the route does not reach.

use tollgate_net::http1::client::{Scheme, Target};

use super::ProxyRoute;

/// The reverse mapping: from the addresses of a place to those of a route.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reverse<'r> {
    target: &'r Target,
    route: &'r ProxyRoute,
}

/// The same for one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addresses<'r> {
    /// The reverse mapping.
    pub(super) reverse: Reverse<'r>,
    /// The scheme by which the client reached us.
    pub(super) scheme: &'static str,
    /// The requested host.
    pub(super) host: Option<&'r str>,
}

impl<'r> Reverse<'r> {
    /// Creates the mapping for this place.
    pub(super) fn new(target: &'r Target, route: &'r ProxyRoute) -> Reverse<'r> {
        Reverse { target, route }
    }

    /// Our path, and everything after it, for a URL of the backend.
    pub(super) fn path_here(&self, url: &str) -> Option<String> {
        let (scheme, port) = match self.target.scheme() {
            Scheme::Http => ("http", ":80"),
            Scheme::Https => ("https", ":443"),
        };
        let rest = match url.split_once("//")? {
            ("", rest) => rest,
            (said, rest) => {
                said.strip_suffix(':').filter(|said| said.eq_ignore_ascii_case(scheme))?;
                rest
            }
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let bare = |authority: &'_ str| authority.strip_suffix(port).unwrap_or(authority).to_ascii_lowercase();
        if bare(authority) != bare(self.target.authority()) {
            return None;
        }
        self.route.path_here(self.target.path_and_query(), path)
    }
}

impl Addresses<'_> {
    /// A value of `Location` or `Content-Location` rewritten for the client; `None` if it stays.
    pub(super) fn rewritten(&self, value: &[u8]) -> Option<String> {
        let path = self.reverse.path_here(std::str::from_utf8(value).ok()?)?;
        Some(match self.host {
            Some(host) => format!("{}://{host}{path}", self.scheme),
            // Whoever names no host knows where it is.
            None => path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rewritten `value` for a client that used `https://shop`, from a backend at `place` and a route.
    fn told(place: &str, route: &ProxyRoute, value: &str) -> Option<String> {
        let target = Target::parse(place).unwrap();
        let addresses = Addresses { reverse: Reverse::new(&target, route), scheme: "https", host: Some("shop") };
        addresses.rewritten(value.as_bytes())
    }

    fn check(place: &str, route: &ProxyRoute, rows: &[(&str, Option<&str>)]) {
        for (value, expected) in rows {
            assert_eq!(told(place, route, value).as_deref(), *expected, "{value}");
        }
    }

    #[test]
    fn the_backends_own_authority_becomes_that_by_which_the_client_came() {
        let (stays, everything) = (ProxyRoute::at("/app"), ProxyRoute::at("/"));
        check(
            "http://back:9001",
            &stays,
            &[
                ("http://back:9001/app/1?x=/y#z", Some("https://shop/app/1?x=/y#z")),
                ("HTTP://BACK:9001/app/login", Some("https://shop/app/login")),
                ("http://back:9001/app", Some("https://shop/app")),
                ("http://back:9001/app?a", Some("https://shop/app?a")),
                ("//back:9001/app/a", Some("https://shop/app/a")),
                // The route does not lead there.
                ("http://back:9001/login", None),
                ("http://back:9001/apple", None),
                ("http://back:9001", None),
                ("https://back:9001/a", None),
                ("http://back/a", None),
                ("http://back:9001.evil/a", None),
                ("http://user@back:9001/a", None),
                ("http://other:9001/a", None),
                ("/app/1", None),
                ("app/1", None),
                ("", None),
                ("\u{e9}//", None),
            ],
        );
        check(
            "http://back",
            &everything,
            &[
                ("http://back:80/a", Some("https://shop/a")),
                ("http://back/a", Some("https://shop/a")),
                ("http://back", Some("https://shop/")),
                ("http://back?a", Some("https://shop/?a")),
            ],
        );
        check(
            "https://back:443",
            &everything,
            &[("https://back/a", Some("https://shop/a")), ("http://back:443/a", None)],
        );
    }

    #[test]
    fn paths_are_those_of_the_route() {
        let quote = ProxyRoute::at("/quote").to("/services/Quote");
        check(
            "http://back:1/base",
            &quote,
            &[
                ("http://back:1/base/services/Quote/1", Some("https://shop/quote/1")),
                ("http://back:1/base/services/Quote", Some("https://shop/quote")),
                ("http://back:1/base/services/Quotes", None),
                ("http://back:1/base/services", None),
                ("http://back:1/services/Quote", None),
            ],
        );
        let below = ProxyRoute::at("/").to("/app/");
        check(
            "http://back:1",
            &below,
            &[("http://back:1/app/x", Some("https://shop/x")), ("http://back:1/app", Some("https://shop/"))],
        );
    }
}
