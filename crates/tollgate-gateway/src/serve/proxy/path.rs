//! Other readings of a path: servers decode percent-encodings, resolve `.` and `..`, join slashes, cut parameters off,
//! and take backslashes for slashes, in various orders.
//!
//! It does not decide which reading is right: only whether all of them lead to the same route matters.

use std::borrow::Cow;

/// Whether `path` has only one reading.
pub(super) fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    !bytes.iter().any(|byte| matches!(byte, b'%' | b'\\' | b';'))
        && !bytes.windows(2).any(|pair| pair == b"//" || pair == b"/.")
}

/// Other ways to read `path`: with and without parameters, undecoded, decoded once and twice, each with empty and
/// dotted segments resolved.
pub(super) fn readings(path: &str) -> impl Iterator<Item = String> {
    let once = decoded(path).into_owned();
    let twice = decoded(&once).into_owned();
    let texts = [path.to_owned(), once, twice];
    texts.into_iter().flat_map(|text| [resolved(&text, Parameters::Kept), resolved(&text, Parameters::Cut)])
}

/// Treatment of the text behind a semicolon in a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameters {
    Kept,
    Cut,
}

/// The path without empty segments, and with `.` and `..` resolved.
fn resolved(path: &str, parameters: Parameters) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split(['/', '\\']) {
        let segment = match parameters {
            Parameters::Kept => segment,
            Parameters::Cut => segment.split(';').next().unwrap_or_default(),
        };
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let mut text = String::with_capacity(path.len());
    for segment in segments {
        text.push('/');
        text.push_str(segment);
    }
    if text.is_empty() {
        text.push('/');
    }
    text
}

/// The path with its percent-encodings decoded; invalid ones stay, and invalid UTF-8 is replaced.
fn decoded(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = path.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                at += 3;
            }
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_read_a_path_is_among_the_readings() {
        let check = |path: &str, expected: &str| {
            assert!(!is_plain(path), "{path}");
            assert!(
                readings(path).any(|reading| reading == expected),
                "{path}: {:?}",
                readings(path).collect::<Vec<_>>()
            );
        };
        check("/a/./b", "/a/b");
        check("/a/../b", "/b");
        check("/../../b", "/b");
        check("/a//b", "/a/b");
        check("/a/%2e%2E/b", "/b");
        check("/a%2fb", "/a/b");
        check("/a/%252e%252e/b", "/b");
        check("/a/%61", "/a/a");
        check("/a;x=1/b;y", "/a/b");
        check("/a/..;/b", "/b");
        check("/a\\b", "/a/b");
        check("/a/..", "/");
        check("/%zz/%", "/%zz/%");
        assert!(is_plain("/a/b.c/d-e_f~g/"));
    }
}
