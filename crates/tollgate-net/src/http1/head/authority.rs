//! The bytes of a host's name: `Host` fields, absolute targets and the URLs of requests.

/// The text where it is a host name or an address with an optional port, and nothing else.
///
/// Narrower than RFC 3986: no user information, and no sub-delimiters in names, which no resolver knows and which would
/// travel into every link of an answer.
pub(crate) fn authority(text: &[u8]) -> Option<&str> {
    let (host, port) = if text.first() == Some(&b'[') {
        let end = text.iter().position(|&byte| byte == b']')?;
        let address = &text[1..end];
        let of_address = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
        (address.iter().all(of_address).then_some(address)?, &text[end + 1..])
    } else {
        text.split_at(text.iter().position(|&byte| !OF_NAMES[usize::from(byte)]).unwrap_or(text.len()))
    };
    // All of it is ASCII then.
    (!host.is_empty() && is_port(port)).then(|| std::str::from_utf8(text).ok())?
}

/// Whether `text` is an authority.
pub(crate) fn is_authority(text: &[u8]) -> bool {
    authority(text).is_some()
}

/// The bytes of host names, by a table: each request has a host.
const OF_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'-' | b'.' | b'_' | b'~' | b'%');
        byte += 1;
    }
    table
};

/// Whether the text is empty, a colon alone, or a colon and a port number.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] | [b':'] => true,
        [b':', digits @ ..] => {
            digits.len() <= 5
                && digits.iter().all(u8::is_ascii_digit)
                && digits.iter().fold(0_u32, |port, digit| port * 10 + u32::from(digit - b'0')) <= 65_535
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_or_addresses_with_an_optional_port() {
        let check = |text: &str, expected: bool| assert_eq!(is_authority(text.as_bytes()), expected, "{text:?}");
        check("example.org", true);
        check("example.org:80", true);
        check("example.org:", true);
        check("127.0.0.1:65535", true);
        check("[::1]:8080", true);
        check("[::1]", true);
        check("", false);
        check(":80", false);
        check("example.org:65536", false);
        check("example.org:123456", false);
        check("example.org:+80", false);
        check("example.org:80:80", false);
        check("user@example.org", false);
        check("example.org/path", false);
        check("exa mple", false);
        check("a,b", false);
        check("\"<x>\"", false);
        check("[::1", false);
        check("[]:80", false);
        check("[::1]80", false);
        check("bücher.example", false);
    }
}
