//! Readable parts of a refused head: method, path, query and fields, so that the refusal can be sent in the caller's
//! protocol.
//!
//! Nothing here decides anything: no framing, no host, no connection option is taken from a head that is none.

use super::super::chunked::is_token_byte;
use super::fields::Fields;
use crate::limits::{HEADERS_CEILING, Limits};

/// The content of a request line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestLine<'i> {
    pub(super) method: &'i str,
    pub(super) target: &'i str,
}

/// Copies the head's bytes from `input` into `fields`, and finds the request line and the well-formed fields on whole
/// lines. `None` if the request line is incomplete or has no path.
pub(super) fn salvage<'i>(fields: &mut Fields, input: &'i [u8], limits: &Limits) -> Option<RequestLine<'i>> {
    fields.clear();
    let lead = input.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let head = &input[lead..input.len().min(lead + limits.head_bytes_max)];
    let line_end = head.iter().position(|&byte| byte == b'\n')?;
    let mut parts = head[..line_end].split(|&byte| byte == b' ');
    let (method, target) = (parts.next()?, parts.next()?);
    let is_path = target.first() == Some(&b'/') && target.iter().all(|&byte| (0x21..=0x7e).contains(&byte));
    if method.is_empty() || !method.iter().all(|&byte| is_token_byte(byte)) || !is_path || target.contains(&b'#') {
        return None;
    }
    // Both are ASCII then.
    let line = RequestLine { method: std::str::from_utf8(method).ok()?, target: std::str::from_utf8(target).ok()? };
    fields.copy(head);
    let mut start = line_end + 1;
    for _ in 0..HEADERS_CEILING {
        let Some(length) = head[start..].iter().position(|&byte| byte == b'\n') else { break };
        let text = head[start..start + length].trim_ascii_end();
        if text.is_empty() {
            break;
        }
        if let Some(colon) = text.iter().position(|&byte| byte == b':')
            && colon > 0
            && text[..colon].iter().all(|&byte| is_token_byte(byte))
            && !text[colon..].iter().any(|&byte| byte.is_ascii_control() && byte != b'\t')
        {
            let value_start = start + text.len() - text[colon + 1..].trim_ascii_start().len();
            fields.add(start..start + colon, value_start..start + text.len());
        }
        start += length + 1;
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::super::{Method, RequestHead};
    use super::*;

    fn salvaged(input: &[u8], limits: &Limits) -> Option<RequestHead> {
        let mut head = RequestHead::default();
        head.salvage(input, limits).then_some(head)
    }

    #[test]
    fn the_target_and_the_good_fields_of_a_bad_head_are_read() {
        let input = b"\r\nHEAD /a?b=c HTTP/1.1\r\nHost: a b\nAccept : x\r\nX: \0\r\naccept:  application/json \r\nAccept:\r\nCut";
        let head = salvaged(input, &Limits::default()).unwrap();
        assert_eq!((head.method(), head.path(), head.query()), (Method::Head, "/a", Some("b=c")));
        assert_eq!(head.values("accept").collect::<Vec<_>>(), ["application/json", ""]);
        assert_eq!((head.headers().count(), head.host(), head.keep_alive()), (3, None, false));
    }

    #[test]
    fn without_a_whole_request_line_there_is_nothing_to_read() {
        for input in
            ["", "\r\n", "GET", "GET / HTTP/1.1", "GET\r\n", "GET a HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "GET /#\r\n"]
        {
            assert!(salvaged(input.as_bytes(), &Limits::default()).is_none(), "{input:?}");
        }
        let limits = Limits { head_bytes_max: 10, ..Limits::default() };
        assert!(salvaged(b"GET /long HTTP/1.1\r\n", &limits).is_none());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(input in "(GET /[a?#]{0,3} HTTP/1.1\r?\n)?([A:\r\n \t\u{0}\u{e9}]{0,12})*") {
            if let Some(head) = salvaged(input.as_bytes(), &Limits::default()) {
                let fields = head.headers().map(|(name, value)| name.len() + value.len()).sum::<usize>();
                proptest::prop_assert!(fields + head.target().len() + head.method_text().len() <= input.len());
            }
        }
    }
}
