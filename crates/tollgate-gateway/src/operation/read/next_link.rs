//! Next links: the request's own URL, absolute, with its other options kept and the place of the next page inserted.
//!
//! It works on the text of the query, so that options unknown to this server are kept unchanged.

use tollgate_wire::url::{decode_segment, escape};

/// The place of the next page, as a protocol writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin<'t> {
    /// OData's `$skiptoken`.
    SkipToken(&'t str),
    /// Plain REST's `cursor`, which is the same token.
    Cursor(&'t str),
    /// Plain REST's `offset`.
    Offset(u64),
}

/// Writes `<service root><path>?<options>&<begin>`. `path` and `query` are as the client sent them, still
/// percent-encoded; characters not allowed in a URL are encoded. The begin of this page is replaced by that of the next
/// one: a token replaces `$skip`, too.
pub(crate) fn write_next(out: &mut String, service_root: &str, path: &str, query: Option<&str>, begin: Begin<'_>) {
    out.push_str(service_root);
    push_encoded(out, path, Keep::Escapes);
    let mut separator = '?';
    for option in query.into_iter().flat_map(|query| query.split('&')) {
        if option.is_empty() || begin.stands_in_the_place_of(option) {
            continue;
        }
        out.push(separator);
        push_encoded(out, option, Keep::Escapes);
        separator = '&';
    }
    out.push(separator);
    match begin {
        Begin::SkipToken(token) => {
            out.push_str("$skiptoken=");
            push_encoded(out, token, Keep::Nothing);
        }
        Begin::Cursor(token) => {
            out.push_str("cursor=");
            push_encoded(out, token, Keep::Nothing);
        }
        Begin::Offset(offset) => {
            out.push_str("offset=");
            out.push_str(&offset.to_string());
        }
    }
}

impl Begin<'_> {
    /// Whether the option is the place of this page. Its name may be encoded; V4.01 allows to omit the `$`.
    fn stands_in_the_place_of(self, option: &str) -> bool {
        let name = option.split('=').next().unwrap_or_default();
        let Some(name) = decode_segment(name) else { return false };
        match self {
            Begin::SkipToken(_) => matches!(name.strip_prefix('$').unwrap_or(&name), "skiptoken" | "skip"),
            Begin::Cursor(_) | Begin::Offset(_) => matches!(&*name, "cursor" | "offset"),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// `%` and the delimiters of a URL stay as they are.
    Escapes,
    /// Only unreserved characters stay as they are.
    Nothing,
}

fn push_encoded(out: &mut String, text: &str, keep: Keep) {
    for byte in text.bytes() {
        let stands = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => true,
            b'%' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@' | b'/' | b'!'
            | b'?' => keep == Keep::Escapes,
            _ => false,
        };
        if stands {
            out.push(char::from(byte));
        } else {
            out.extend(escape(byte).map(char::from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, query: Option<&str>, token: &str, expected: &str) {
        let mut out = String::new();
        write_next(&mut out, "http://host/odata/", path, query, Begin::SkipToken(token));
        assert_eq!(out, expected);
    }

    #[test]
    fn a_next_link_keeps_the_other_options() {
        check("Flights", None, "AA,17", "http://host/odata/Flights?$skiptoken=AA%2C17");
        check(
            "Flights",
            Some("$filter=a%20eq%20'%26'&$top=5&sap-client=100&$skip=3&$skiptoken=old"),
            "new",
            "http://host/odata/Flights?$filter=a%20eq%20'%26'&$top=5&sap-client=100&$skiptoken=new",
        );
        check(
            "Flights",
            Some("%24skip=3&skip=3&%24orderby=a"),
            "n",
            "http://host/odata/Flights?%24orderby=a&$skiptoken=n",
        );
    }

    #[test]
    fn a_next_link_of_plain_rest_begins_at_a_cursor_or_an_offset() {
        for (begin, expected) in [
            (Begin::Cursor("a+b"), "http://host/rest/a?limit=2&b=1&cursor=a%2Bb"),
            (Begin::Offset(7), "http://host/rest/a?limit=2&b=1&offset=7"),
        ] {
            let mut out = String::new();
            write_next(&mut out, "http://host/rest/", "a", Some("offset=5&limit=2&%63ursor=c&b=1"), begin);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn what_cannot_stand_in_a_url_is_encoded() {
        check("F(a='ü')", Some("x=\"<>\"&&"), "ü", "http://host/odata/F(a='%C3%BC')?x=%22%3C%3E%22&$skiptoken=%C3%BC");
    }

    proptest::proptest! {
        #[test]
        fn a_next_link_may_stand_in_xml_and_json_whatever_was_asked(path in ".{0,30}", query in ".{0,60}", token in ".{0,20}") {
            let mut out = String::new();
            write_next(&mut out, "http://host/", &path, Some(&query), Begin::SkipToken(&token));
            proptest::prop_assert!(out.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte)), "{}", out);
            proptest::prop_assert_eq!(out.matches("$skiptoken=").count(), 1);
        }
    }
}
