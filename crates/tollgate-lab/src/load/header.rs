//! Header fields of the user: checked before they are sent, by the template that will carry them.

use tollgate_net::http1::client::RequestTemplate;

/// Whether a user's header field may be sent.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let built = RequestTemplate::builder("GET", "host").target_text("/").header(name, value).build();
    built.map(drop).map_err(|error| format!("header field `{name}`: {error}"))
}

/// The same of a field of a single load, which may name the host that is asked for.
///
/// # Errors
/// What is wrong with it, in one sentence.
pub fn check_load_header(name: &str, value: &str) -> Result<(), String> {
    if !name.eq_ignore_ascii_case("host") {
        return check_header(name, value);
    }
    RequestTemplate::builder("GET", value).build().map(drop).map_err(|error| format!("header field `{name}`: {error}"))
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
