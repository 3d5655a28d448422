//! Version and action of a message, from `Content-Type` and `SOAPAction` (1.1, section 6.1.1; 1.2 part 2, section
//! 6.5.3; RFC 3902).
//!
//! It deliberately does not decode a body: its reader interprets the charset.

use super::Version;

/// The version that a media type announces.
pub(super) fn version(content_type: &str) -> Option<Version> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim_matches(is_space);
    if media_type.eq_ignore_ascii_case("text/xml") {
        Some(Version::V11)
    } else if media_type.eq_ignore_ascii_case("application/soap+xml") {
        Some(Version::V12)
    } else {
        None
    }
}

/// The action that a request wants: in 1.2 the parameter `action` of its `Content-Type`, else its field `SOAPAction`,
/// quotes taken off. `None` where neither says anything: an empty action means the address of the request. An action is
/// a URI, so that one with a backslash or a quote inside is none.
///
/// ```
/// use tollgate_wire::soap::action;
/// assert_eq!(action(Some("text/xml"), Some("\"urn:getQuote\"")), Some("urn:getQuote"));
/// assert_eq!(action(Some("application/soap+xml; action=\"urn:getQuote\""), None), Some("urn:getQuote"));
/// ```
pub fn action<'a>(content_type: Option<&'a str>, soap_action: Option<&'a str>) -> Option<&'a str> {
    let stated = match content_type {
        Some(content_type) if version(content_type) == Some(Version::V12) => parameter(content_type, "action")?,
        _ => soap_action?.trim_matches(is_space),
    };
    let stated = match stated.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"')?,
        None => stated,
    };
    (!stated.is_empty() && !stated.contains(['"', '\\'])).then_some(stated)
}

/// Writes the `Content-Type` of a request that wants `action` done. In 1.1 the action is in `SOAPAction`, and not here.
/// Characters that could end the quoted text, or the field, are left out.
pub fn write_content_type(out: &mut Vec<u8>, version: Version, action: Option<&str>) {
    out.extend_from_slice(version.content_type().as_bytes());
    if let (Version::V12, Some(action)) = (version, action) {
        out.extend_from_slice(b"; action=\"");
        out.extend(action.bytes().filter(|byte| !matches!(byte, b'"' | b'\\') && *byte >= b' ' && *byte != 0x7f));
        out.push(b'"');
    }
}

/// The value of a parameter as written, with its quotes; the first counts.
fn parameter<'a>(content_type: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = content_type.split_once(';')?.1;
    loop {
        let end = parameter_end(rest);
        if let Some((candidate, value)) = rest[..end].split_once('=')
            && candidate.trim_matches(is_space).eq_ignore_ascii_case(name)
        {
            return Some(value.trim_matches(is_space));
        }
        rest = rest.get(end + 1..)?;
    }
}

/// The end of the parameter at the front: at a semicolon outside of quotes, or with the text.
fn parameter_end(text: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b';' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_content_type_tells_the_version() {
        for (content_type, expected) in [
            ("text/xml", Some(Version::V11)),
            (" Text/XML ;charset=utf-8", Some(Version::V11)),
            ("application/soap+xml", Some(Version::V12)),
            ("APPLICATION/SOAP+XML; action=\"text/xml\"", Some(Version::V12)),
            ("application/xml", None),
            ("multipart/related; type=\"text/xml\"", None),
            ("text/xmlx", None),
            ("", None),
        ] {
            assert_eq!(version(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn the_action_stands_in_a_field_of_its_own_or_in_the_content_type() {
        const V11: &str = "text/xml; charset=utf-8";
        for (content_type, field, expected) in [
            (Some(V11), Some("\"urn:a\""), Some("urn:a")),
            (Some(V11), Some("  \"urn:a\" "), Some("urn:a")),
            (Some(V11), Some("urn:a"), Some("urn:a")),
            (None, Some("\"urn:a\""), Some("urn:a")),
            (Some(V11), Some("\"\""), None),
            (Some(V11), Some(""), None),
            (Some(V11), Some("\""), None),
            (Some(V11), Some("\"urn:a"), None),
            (Some(V11), Some("\"a\"b\""), None),
            (Some(V11), None, None),
            (Some("text/xml; action=\"urn:b\""), None, None),
            (Some("application/soap+xml;action=\"urn:a\""), None, Some("urn:a")),
            (Some("application/soap+xml; charset=utf-8; ACTION = urn:a"), None, Some("urn:a")),
            (Some("application/soap+xml; x=\"a;action=b\\\";\"; action=\"urn:a;b\""), None, Some("urn:a;b")),
            (Some("application/soap+xml; action=\"\""), Some("urn:b"), None),
            (Some("application/soap+xml; action=\"a\\\"b\""), None, None),
            (Some("application/soap+xml; action"), None, None),
            (Some("application/soap+xml"), Some("urn:b"), None),
        ] {
            assert_eq!(action(content_type, field), expected, "{content_type:?} {field:?}");
        }
    }

    #[test]
    fn no_action_ends_its_field() {
        let mut out = Vec::new();
        write_content_type(&mut out, Version::V12, Some("a\"; b\r\nc\\d"));
        assert_eq!(out, b"application/soap+xml; charset=utf-8; action=\"a; bcd\"");
        out.clear();
        write_content_type(&mut out, Version::V11, Some("urn:a"));
        assert_eq!(out, b"text/xml; charset=utf-8");
    }

    proptest! {
        #[test]
        fn an_action_is_read_as_it_was_written(stated in "[!#-\\[\\]-~]{1,40}") {
            let mut out = Vec::new();
            write_content_type(&mut out, Version::V12, Some(&stated));
            let written = String::from_utf8(out).unwrap();
            prop_assert_eq!(action(Some(&written), None), Some(&*stated));
        }
    }
}
