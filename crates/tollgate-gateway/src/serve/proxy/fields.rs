//! Fields of forwarded messages: those that are passed on, and those that we write ourselves.
//!
//! Fields that are for one connection only stay behind (RFC 9110, section 7.6.1), those that `Connection` names too. A
//! client's own fields on its origin are dropped, since a backend would trust them as ours. `Upgrade` is for one
//! connection too: it is not passed on, so every upgrade is declined.

use std::io::Write;
use std::net::IpAddr;

use tollgate_net::http1::server::Response;
use tollgate_net::http1::{RequestHead, ResponseHead};

use super::address::Addresses;
use crate::mediate::Edits;

/// Our name in `Via`.
const VIA_VALUE: &[u8] = b"1.1 tollgate";
const VIA: &[u8] = b"Via: 1.1 tollgate\r\n";

/// Origin of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came<'r> {
    /// The client's address.
    pub(super) address: IpAddr,
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// Whether we authenticate clients: then `Authorization` is for us.
    pub(super) credentials: Credentials,
    /// The requested host.
    pub(super) host: Option<&'r str>,
}

/// Recipient of a request's credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    /// For us: they are not forwarded.
    Ours,
    /// For the backend: they are forwarded.
    TheBackends,
}

/// Writes the fields of a request for a backend, except `Host` and those that frame its body.
pub(super) fn write_request(out: &mut Vec<u8>, request: &RequestHead, came: &Came<'_>, edits: &Edits) {
    let named = Named::of(request.lines().map(|line| (line.name(), line.value())));
    if edits.is_empty() {
        for line in request.lines() {
            if travels(line.name(), &named) && !is_of_request_alone(line.name(), came.credentials) {
                line.write(out);
            }
        }
    } else {
        let own = request.headers().filter(|(name, _)| {
            travels(name.as_bytes(), &named) && !is_of_request_alone(name.as_bytes(), came.credentials)
        });
        edits.apply(own, |name, value| write_field(out, name, value));
    }
    out.extend_from_slice(VIA);
    write_origin(out, came);
}

/// Puts the fields of a backend's answer into the answer to the client; the backend's own address becomes ours.
pub(super) fn write_answer(response: &mut Response, head: &ResponseHead, edits: &Edits, addresses: &Addresses<'_>) {
    let rewritten = |name: &[u8], value: &[u8]| is_address(name).then(|| addresses.rewritten(value)).flatten();
    let named = Named::of(head.lines().map(|line| (line.name(), line.value())));
    if edits.is_empty() {
        for line in head.lines() {
            if travels(line.name(), &named) && !is_of_answer_alone(line.name()) {
                match rewritten(line.name(), line.value()) {
                    Some(value) => response.header(std::str::from_utf8(line.name()).unwrap_or("Location"), value),
                    None => response.pass_on(line),
                }
            }
        }
    } else {
        let own =
            head.headers().filter(|(name, _)| travels(name.as_bytes(), &named) && !is_of_answer_alone(name.as_bytes()));
        edits.apply(own, |name, value| match rewritten(name.as_bytes(), value) {
            Some(value) => response.header(name, value),
            None => response.header(name, value),
        });
    }
    response.header("Via", VIA_VALUE);
}

/// The fields named in `Connection`: they too are for this connection only.
#[derive(Debug, Default)]
struct Named<'h>(Vec<&'h [u8]>);

impl<'h> Named<'h> {
    fn of(fields: impl Iterator<Item = (&'h [u8], &'h [u8])>) -> Named<'h> {
        let mut named = Vec::new();
        for (name, value) in fields {
            if name.len() == 10 && name.eq_ignore_ascii_case(b"connection") {
                let options = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                // What is mostly named names no field.
                let usual = |option: &&[u8]| {
                    option.is_empty()
                        || option.eq_ignore_ascii_case(b"close")
                        || option.eq_ignore_ascii_case(b"keep-alive")
                };
                named.extend(options.filter(|option| !usual(option)));
            }
        }
        Named(named)
    }

    fn has(&self, name: &[u8]) -> bool {
        self.0.iter().any(|named| name.eq_ignore_ascii_case(named))
    }
}

/// Whether a field is forwarded. Framing is written anew.
fn travels(name: &[u8], named: &Named<'_>) -> bool {
    // By length first: most fields are none of these.
    let stays = match name.len() {
        2 => is(name, b"te"),
        7 => is(name, b"trailer") || is(name, b"upgrade"),
        10 => is(name, b"connection") || is(name, b"keep-alive"),
        14 => is(name, b"content-length"),
        16 => is(name, b"proxy-connection"),
        17 => is(name, b"transfer-encoding"),
        18 => is(name, b"proxy-authenticate"),
        19 => is(name, b"proxy-authorization"),
        25 => is(name, b"proxy-authentication-info"),
        _ => false,
    };
    !stays && !named.has(name)
}

/// Whether only we may write this field of a request, or nobody.
fn is_of_request_alone(name: &[u8], credentials: Credentials) -> bool {
    match name.len() {
        4 => is(name, b"host"),
        6 => is(name, b"expect"),
        9 => is(name, b"forwarded") || is_read_as(name, b"x-real-ip"),
        13 if is(name, b"authorization") => credentials == Credentials::Ours,
        12.. => is_read_as(&name[..12], b"x-forwarded-"),
        _ => false,
    }
}

/// Whether its value is an address.
fn is_address(name: &[u8]) -> bool {
    match name.len() {
        8 => is(name, b"location"),
        16 => is(name, b"content-location"),
        _ => false,
    }
}

/// Whether only we may write this field of an answer.
fn is_of_answer_alone(name: &[u8]) -> bool {
    // Behind us we are the origin (RFC 9110, section 3.7): the time of an answer is ours.
    name.len() == 4 && is(name, b"date")
}

/// Whether a backend may take it for this field: CGI and its successors read `_` and `-` as the same.
fn is_read_as(name: &[u8], known: &[u8]) -> bool {
    let as_read = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
    name.iter().map(as_read).eq(known.iter().copied())
}

fn is(name: &[u8], known: &[u8]) -> bool {
    name.eq_ignore_ascii_case(known)
}

fn write_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Writes the origin of a request, by RFC 7239 and by the older fields.
fn write_origin(out: &mut Vec<u8>, came: &Came<'_>) {
    let address = came.address.to_canonical();
    out.extend_from_slice(b"X-Forwarded-For: ");
    let begin = out.len();
    write_address(out, address);
    let told = begin..out.len();
    out.extend_from_slice(b"\r\nX-Forwarded-Proto: ");
    out.extend_from_slice(came.scheme.as_bytes());
    if let Some(host) = came.host {
        out.extend_from_slice(b"\r\nX-Forwarded-Host: ");
        out.extend_from_slice(host.as_bytes());
    }
    out.extend_from_slice(b"\r\nForwarded: for=");
    match address {
        IpAddr::V4(_) => out.extend_from_within(told),
        // Colons want quotes, and an address of so many of them brackets.
        IpAddr::V6(_) => {
            out.extend_from_slice(b"\"[");
            out.extend_from_within(told);
            out.extend_from_slice(b"]\"");
        }
    }
    out.extend_from_slice(b";proto=");
    out.extend_from_slice(came.scheme.as_bytes());
    if let Some(host) = came.host {
        // A host is checked to hold no quote.
        out.extend_from_slice(b";host=\"");
        out.extend_from_slice(host.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"\r\n");
}

fn write_address(out: &mut Vec<u8>, address: IpAddr) {
    match address {
        // Four numbers are told faster than by way of a formatter.
        IpAddr::V4(address) => {
            for (index, octet) in address.octets().into_iter().enumerate() {
                if index > 0 {
                    out.push(b'.');
                }
                if octet >= 100 {
                    out.push(b'0' + octet / 100);
                }
                if octet >= 10 {
                    out.push(b'0' + octet / 10 % 10);
                }
                out.push(b'0' + octet % 10);
            }
        }
        IpAddr::V6(address) => write!(out, "{address}").expect("a vector takes any text"),
    }
}

#[cfg(test)]
mod tests {
    use tollgate_net::http1::client::{Answers, Target};
    use tollgate_net::limits::Limits;

    use super::*;
    use crate::serve::proxy::ProxyRoute;
    use crate::serve::proxy::address::Reverse;

    fn request(fields: &str) -> RequestHead {
        let mut head = RequestHead::default();
        let text = format!("POST / HTTP/1.1\r\nHost: shop.example\r\n{fields}\r\n");
        head.parse(text.as_bytes(), &Limits::default()).unwrap().unwrap();
        head
    }

    fn check(fields: &str, credentials: Credentials, expected: &str) {
        let request = request(fields);
        let came = Came { address: "192.0.2.107".parse().unwrap(), scheme: "https", credentials, host: request.host() };
        let ours = "Via: 1.1 tollgate\r\nX-Forwarded-For: 192.0.2.107\r\nX-Forwarded-Proto: https\r\n\
            X-Forwarded-Host: shop.example\r\nForwarded: for=192.0.2.107;proto=https;host=\"shop.example\"\r\n";
        let mut out = Vec::new();
        write_request(&mut out, &request, &came, &Edits::default());
        let expected = format!("{expected}{ours}");
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{fields}");
        // Edits that change nothing lead to the same.
        let (mut out, mut edits) = (Vec::new(), Edits::default());
        edits.remove("never-there");
        write_request(&mut out, &request, &came, &edits);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{fields}");
    }

    #[test]
    fn what_is_for_one_connection_stays_behind() {
        let passed = "SOAPAction: \"urn:a\"\r\nCookie: a=b\r\nVia: 1.0 fred\r\n";
        check(passed, Credentials::TheBackends, passed);
        let stays = "Connection: close, X-Secret\r\nconnection: keep-alive, Other ,\r\nx-secret: 1\r\nOTHER: 2\r\n\
            Keep-Alive: 5\r\nTE: trailers\r\nTrailer: x\r\nUpgrade: h2c\r\nProxy-Connection: close\r\n\
            Proxy-Authorization: Basic x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n";
        check(&format!("{stays}{passed}"), Credentials::TheBackends, passed);
    }

    #[test]
    fn where_a_request_came_from_is_never_taken_from_strangers() {
        check(
            "X-Forwarded-For: 10.0.0.1\r\nForwarded: for=10.0.0.1\r\nx-forwarded-client-cert: admin\r\n\
             X-Forwarded-Host: x\r\nX-FORWARDED-PROTO: https\r\nX-Real-IP: 10.0.0.1\r\nX-Forwarded-: x\r\n\
             X_Forwarded_For: 10.0.0.1\r\nx-forwarded_PROTO: https\r\nx_real-ip: 10.0.0.1\r\nX_FORWARDED-A: b\r\n",
            Credentials::TheBackends,
            "",
        );
    }

    #[test]
    fn credentials_go_to_whom_they_are_for() {
        let field = "Authorization: Basic YTpi\r\n";
        check(field, Credentials::TheBackends, field);
        check(field, Credentials::Ours, "");
    }

    #[test]
    fn addresses_are_told_as_they_are_read() {
        let check = |address: &str| {
            let mut out = Vec::new();
            write_address(&mut out, address.parse().unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), address);
        };
        ["0.9.10.99", "100.109.110.255", "255.1.0.200", "::1", "2001:db8::ff"].into_iter().for_each(check);
        let mut out = Vec::new();
        let came = Came {
            address: "2001:db8::1".parse().unwrap(),
            scheme: "http",
            credentials: Credentials::TheBackends,
            host: None,
        };
        write_origin(&mut out, &came);
        let expected = "X-Forwarded-For: 2001:db8::1\r\nX-Forwarded-Proto: http\r\n\
            Forwarded: for=\"[2001:db8::1]\";proto=http\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn answers_lose_what_is_for_one_connection_and_keep_the_rest() {
        let mut head = ResponseHead::default();
        let text = "HTTP/1.1 200 OK\r\nDate: x\r\nServer: y\r\nConnection: Hop\r\nHop: 1\r\nKeep-Alive: timeout=5\r\n\
            Set-Cookie: a\r\nSet-Cookie: b\r\nTransfer-Encoding: chunked\r\nEmpty:\r\nTight:z\r\n\r\n";
        head.parse(text.as_bytes(), Answers::Ordinary, &Limits::default()).unwrap().unwrap();
        let expected = "Server: y\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nEmpty: \r\nTight: z\r\nVia: 1.1 tollgate\r\n";
        let mut edits = Edits::default();
        let (target, route) = (Target::parse("http://back:9").unwrap(), ProxyRoute::at("/"));
        let addresses = Addresses { reverse: Reverse::new(&target, &route), scheme: "http", host: None };
        for _ in 0..2 {
            let mut response = Response::default();
            write_answer(&mut response, &head, &edits, &addresses);
            assert_eq!(String::from_utf8_lossy(response.rendered_headers()), expected);
            edits.remove("never-there");
        }
    }
}
