//! Next links: the request's own URL, absolute, with its other options kept and the place of the next page put in.
//!
//! It works on the text of the query, so that an option which this server does not know is kept as it came.

use tollgate_wire::url::escape;

/// Writes `<service root><path>?<options>&$skiptoken=<token>`. `path` and `query` are as the client sent them, still
/// percent-encoded; whatever in them could not stand in a URL is encoded. `$skiptoken` of this page is replaced, and
/// `$skip` is left out: the token stands behind what was skipped.
pub(crate) fn write_next(out: &mut String, service_root: &str, path: &str, query: Option<&str>, token: &str) {
    out.push_str(service_root);
    push_encoded(out, path, Keep::Escapes);
    let mut separator = '?';
    for option in query.into_iter().flat_map(|query| query.split('&')) {
        if option.is_empty() || names_place(option) {
            continue;
        }
        out.push(separator);
        push_encoded(out, option, Keep::Escapes);
        separator = '&';
    }
    out.push(separator);
    out.push_str("$skiptoken=");
    push_encoded(out, token, Keep::Nothing);
}

/// Writes `<service root><path>?offset=<offset>&limit=<limit>`.
pub(crate) fn write_offset(out: &mut String, service_root: &str, path: &str, offset: u64, limit: Option<u64>) {
    out.push_str(service_root);
    push_encoded(out, path, Keep::Escapes);
    out.push_str("?offset=");
    out.push_str(&offset.to_string());
    if let Some(limit) = limit {
        out.push_str("&limit=");
        out.push_str(&limit.to_string());
    }
}

/// Whether the option says where the page begins. The `$` may be encoded; V4.01 allows to leave it out.
fn names_place(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    let name = name.strip_prefix('$').or_else(|| name.strip_prefix("%24")).unwrap_or(name);
    matches!(name, "skiptoken" | "skip")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// `%` and the delimiters of a URL stand for themselves.
    Escapes,
    /// Only unreserved characters stand for themselves.
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
        write_next(&mut out, "http://host/odata/", path, query, token);
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
    fn a_next_link_by_offset_keeps_what_is_left_of_the_limit() {
        for (limit, expected) in
            [(None, "http://host/rest/a?offset=5"), (Some(2), "http://host/rest/a?offset=5&limit=2")]
        {
            let mut out = String::new();
            write_offset(&mut out, "http://host/rest/", "a", 5, limit);
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
            write_next(&mut out, "http://host/", &path, Some(&query), &token);
            proptest::prop_assert!(out.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte)), "{}", out);
            proptest::prop_assert_eq!(out.matches("$skiptoken=").count(), 1);
        }
    }
}
