//! Header fields of the user: checked before sending, with the template that will carry them.

use tollgate_net::http1::client::RequestTemplate;

/// Checks whether a user's header field may be sent.
///
/// # Errors
/// Its fault, in one sentence.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let built = RequestTemplate::builder("GET", "host").target_text("/").header(name, value).build();
    built.map(drop).map_err(|error| format!("header field `{name}`: {error}"))
}

/// The same for a field of a single load, which may be `Host`.
///
/// # Errors
/// Its fault, in one sentence.
pub fn check_load_header(name: &str, value: &str) -> Result<(), String> {
    if !name.eq_ignore_ascii_case("host") {
        return check_header(name, value);
    }
    RequestTemplate::builder("GET", value).build().map(drop).map_err(|error| format!("header field `{name}`: {error}"))
}

/// The user's own fields, all of them and in order, after those of `ours` with names that the user's do not have.
pub fn completed(
    own: Vec<(String, String)>,
    ours: impl IntoIterator<Item = (String, String)>,
) -> Vec<(String, String)> {
    let is_said = |name: &str| own.iter().any(|(said, _)| said.eq_ignore_ascii_case(name));
    let mut fields: Vec<(String, String)> = ours.into_iter().filter(|(name, _)| !is_said(name)).collect();
    fields.extend(own);
    fields
}

/// The value of an `Authorization` field by which user and password are sent at once (RFC 7617).
pub fn basic_authorization(user: &str, password: &str) -> String {
    let mut value = b"Basic ".to_vec();
    tollgate_wire::base64::encode(&mut value, format!("{user}:{password}").as_bytes());
    String::from_utf8(value).expect("base64 is ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7617_is_encoded_as_there() {
        assert_eq!(basic_authorization("Aladdin", "open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn fields_of_the_user_replace_ours_and_never_each_other() {
        let fields = |text: &str| -> Vec<(String, String)> {
            text.split_terminator(';')
                .map(|field| field.split_once(':').unwrap())
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect()
        };
        let check = |own: &str, expected: &str| {
            assert_eq!(completed(fields(own), fields("Content-Type:t;Accept:*;")), fields(expected), "{own}");
        };
        check("", "Content-Type:t;Accept:*;");
        check("A:1;a:2;A:1;", "Content-Type:t;Accept:*;A:1;a:2;A:1;");
        check("B:1;accept:x;accept:y;", "Content-Type:t;B:1;accept:x;accept:y;");
    }

    #[test]
    fn a_field_that_could_break_the_framing_is_refused() {
        let check = |name: &str, value: &str, expected: Result<(), &str>| {
            assert_eq!(check_header(name, value), expected.map_err(str::to_owned));
        };
        check("X-Trace", "a b", Ok(()));
        check("X Trace", "a", Err("header field `X Trace`: a field name is a token, but \"X Trace\" was given"));
        check(
            "Content-Length",
            "3",
            Err("header field `Content-Length`: this field is set by the engine, but \"Content-Length\" was given"),
        );
        check(
            "X",
            "a\r\nX: b",
            Err("header field `X`: a field value holds no control bytes, but \"a\\r\\nX: b\" was given"),
        );
    }
}
