//! Hosts that the lab may load: loopback, and hosts that the user named.

use std::net::IpAddr;

/// Checks whether `host` (a name or an address, without port) may be loaded.
///
/// A name other than `localhost` must be allowed, even if it resolves to loopback today.
///
/// # Errors
/// The refused host, and the option that allows it.
pub fn check_loadable(host: &str, allowed: &[String]) -> Result<(), String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let loopback = match bare.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => address.to_canonical().is_loopback(),
        Ok(address) => address.is_loopback(),
        Err(_) => bare.eq_ignore_ascii_case("localhost"),
    };
    if loopback || is_named(host, allowed) {
        return Ok(());
    }
    Err(format!("{bare} is not loopback, and load can harm it: if you may load it, say --i-may-load {bare}"))
}

/// Whether `host` is one of these, with or without the brackets of an address.
pub fn is_named(host: &str, names: &[String]) -> bool {
    let bare = |name: &str| name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    names.iter().any(|name| bare(name) == bare(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_named_hosts_may_be_loaded() {
        let check = |host: &str, allowed: &[&str], expected: bool| {
            let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(check_loadable(host, &allowed).is_ok(), expected, "{host} with {allowed:?}");
        };
        check("127.0.0.1", &[], true);
        check("127.8.9.10", &[], true);
        check("[::1]", &[], true);
        check("::ffff:127.0.0.1", &[], true);
        check("LocalHost", &[], true);
        check("10.0.0.1", &[], false);
        check("127.0.0.1.example.com", &[], false);
        check("localhost.example.com", &[], false);
        check("sap.example.com", &[], false);
        check("sap.example.com", &["SAP.example.com"], true);
        check("fe80::1", &["[fe80::1]"], true);
    }

    #[test]
    fn the_refusal_says_what_to_do() {
        assert_eq!(
            check_loadable("10.0.0.1", &[]).unwrap_err(),
            "10.0.0.1 is not loopback, and load can harm it: if you may load it, say --i-may-load 10.0.0.1"
        );
    }
}
