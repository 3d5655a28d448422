//! The address of a client behind proxies that are trusted: the last one in `X-Forwarded-For` that is no such proxy's.
//!
//! What stands further left anyone may have written, and is never looked at.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use tollgate_net::http1::RequestHead;

const FIELD: &str = "x-forwarded-for";

/// The address of the client whose request came from `peer`. Where a trusted proxy says nothing that can be read, it is
/// the proxy's own.
pub(crate) fn client_address(request: &RequestHead, peer: IpAddr, trusted: &[IpNet]) -> IpAddr {
    let peer = peer.to_canonical();
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
    if !is_trusted(peer) {
        return peer;
    }
    let lines = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case(FIELD));
    let lines: Vec<&[u8]> = lines.map(|(_, value)| value).collect();
    let mut nearest = peer;
    for text in lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b',')) {
        let Some(address) = address(text) else { break };
        nearest = address;
        if !is_trusted(address) {
            break;
        }
    }
    nearest
}

/// An address, with a port as some proxies write it, or without.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse().map(|address: SocketAddr| address.ip());
    bare.parse().or_else(|_| with_port()).ok().map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use tollgate_net::limits::Limits;

    use super::*;

    fn found(peer: &str, lines: &[&[u8]]) -> String {
        let mut head = b"GET / HTTP/1.1\r\nHost: a\r\n".to_vec();
        for line in lines {
            head.extend_from_slice(b"x-forwarded-FOR: ");
            head.extend_from_slice(line);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        let mut request = RequestHead::default();
        request.parse(&head, &Limits::default()).unwrap().unwrap();
        let trusted = ["10.0.0.0/24", "fd00::/8"].map(|network| network.parse().unwrap());
        client_address(&request, peer.parse().unwrap(), &trusted).to_string()
    }

    #[test]
    fn only_what_trusted_proxies_wrote_is_believed() {
        let check = |peer: &str, lines: &[&[u8]], expected: &str| assert_eq!(found(peer, lines), expected, "{lines:?}");
        check("192.0.2.1", &[b"198.51.100.7"], "192.0.2.1");
        check("10.0.0.1", &[], "10.0.0.1");
        check("10.0.0.1", &[b"198.51.100.7"], "198.51.100.7");
        check("::ffff:10.0.0.1", &[b"198.51.100.7"], "198.51.100.7");
        check("10.0.0.1", &[b"203.0.113.9, 198.51.100.7 , 10.0.0.2"], "198.51.100.7");
        check("10.0.0.1", &[b"203.0.113.9", b"198.51.100.7,10.0.0.2"], "198.51.100.7");
        check("fd00::1", &[b"2001:db8::5"], "2001:db8::5");
        check("10.0.0.1", &[b"198.51.100.7:1234"], "198.51.100.7");
        check("10.0.0.1", &[b"[2001:db8::5]:1234"], "2001:db8::5");
        check("10.0.0.1", &[b"[2001:db8::5]"], "2001:db8::5");
        check("10.0.0.1", &[b"10.0.0.3, 10.0.0.2"], "10.0.0.3");
    }

    #[test]
    fn what_cannot_be_read_ends_the_search() {
        for line in [&b"203.0.113.9, unknown"[..], b"203.0.113.9, \xff\xfe", b"203.0.113.9,", b"203.0.113.9, 1.2.3"] {
            assert_eq!(found("10.0.0.1", &[line]), "10.0.0.1", "{line:?}");
        }
        assert_eq!(found("10.0.0.1", &[b"203.0.113.9", b"\xff"]), "10.0.0.1");
        assert_eq!(found("10.0.0.1", &[b"203.0.113.9, _hidden, 10.0.0.7"]), "10.0.0.7");
    }
}
