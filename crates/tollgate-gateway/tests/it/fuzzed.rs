//! Properties that are true for any bytes: the bodies of the fuzz targets of the gateway's own parsers, which tests
//! replay with their corpora.

// Each target takes what it needs.
#![allow(dead_code)]

use tollgate_gateway::auth::{Credentials, Users};
use tollgate_gateway::cache::control::CacheControl;
use tollgate_gateway::mediate::pointer::{Found, Pointer};

/// A users file is parsed or refused with its line, and no part of its hashes is repeated.
pub(crate) fn users_file(bytes: &[u8]) {
    const HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$xyzzyplugh$xyzzyplughxyzzyplughxyzzyplugh";
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(users) = Users::parse(text, "users") {
        assert!(users.count() <= text.lines().count());
    }
    if let Err(error) = Users::parse(&format!("ann:{HASH}:{text}"), "users") {
        assert!(!error.to_string().contains("xyzzyplugh") || text.contains("xyzzyplugh"));
    }
}

/// Text after `Basic `: a name without colon, and neither with control characters.
pub(crate) fn authorization(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(Credentials { name, password }) = Credentials::parse(text) else { return };
    assert!(!name.contains(':') && !name.chars().chain(password.chars()).any(char::is_control));
}

/// A `Cache-Control`: order and case of its lines do not matter, additions never make it laxer, and directives that an
/// operator may state are read back.
pub(crate) fn cache_control(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let control = CacheControl::of([text]);
    assert_eq!(CacheControl::of([text, text]), control);
    let upper = text.to_ascii_uppercase();
    assert_eq!(CacheControl::of([upper.as_str()]), control);
    let stricter = CacheControl::of([text, "max-age=0, no-store"]);
    assert_eq!(CacheControl::of(["max-age=0, no-store", text]), stricter);
    assert_eq!((stricter.max_age, stricter.no_store, stricter.private), (Some(0), true, control.private));
    if let Ok(stated) = CacheControl::stated(text) {
        assert_eq!(stated, control);
    }
}

/// A pointer on the first line, and JSON behind it: the result equals the one from a tree of the whole document.
pub(crate) fn json_pointer(bytes: &[u8]) {
    let Some(line_end) = bytes.iter().position(|byte| *byte == b'\n') else { return };
    let Ok(text) = std::str::from_utf8(&bytes[..line_end]) else { return };
    let Ok(pointer) = Pointer::parse(text) else { return };
    let found = pointer.find(&bytes[line_end + 1..]);
    // Of numbers that are too large and of what stands too deep it makes no tree.
    let Ok(tree) = serde_json::from_slice::<serde_json::Value>(&bytes[line_end + 1..]) else { return };
    let found = found.expect("what a tree can be made of is JSON");
    if text.starts_with('$') {
        return;
    }
    match (tree.pointer(text), found) {
        (None, found) => assert_eq!(found, Found::Nothing),
        (Some(serde_json::Value::String(value)), found) => assert_eq!(found, Found::Text(value.into())),
        (Some(serde_json::Value::Bool(value)), found) => assert_eq!(found, Found::Text(value.to_string().into())),
        (Some(serde_json::Value::Number(_)), found) => assert!(matches!(found, Found::Text(_))),
        (Some(_), found) => assert_eq!(found, Found::Other),
    }
}
