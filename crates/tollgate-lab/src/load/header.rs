//! Header fields of the user: checked before they are sent.

/// Fields that the engine writes itself.
const OURS: &[&str] = &["host", "content-length", "transfer-encoding", "connection"];

/// Whether a user's header field may be sent.
///
/// # Errors
/// What is wrong with it, in one sentence. The grammar is that of RFC 9110, section 5.
pub fn check_header(name: &str, value: &str) -> Result<(), String> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("`{name}` is not the name of a header field"));
    }
    if OURS.iter().any(|ours| ours.eq_ignore_ascii_case(name)) {
        return Err(format!("header field `{name}` is written by the load engine itself"));
    }
    if value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
        return Err(format!("the value of header field `{name}` has a control character"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_could_break_the_framing_is_refused() {
        let check = |name: &str, value: &str, expected: Result<(), &str>| {
            assert_eq!(check_header(name, value), expected.map_err(str::to_owned));
        };
        check("X-Trace", "a b", Ok(()));
        check("X Trace", "a", Err("`X Trace` is not the name of a header field"));
        check("", "a", Err("`` is not the name of a header field"));
        check("Content-Length", "3", Err("header field `Content-Length` is written by the load engine itself"));
        check("X-Trace", "a\r\nX: b", Err("the value of header field `X-Trace` has a control character"));
    }
}
