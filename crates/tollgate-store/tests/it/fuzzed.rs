//! Properties that are true for any bytes: the body of the fuzz target of database URLs, which a test replays with its
//! corpus.

use tollgate_store::postgres::Address;

/// A URL of a PostgreSQL database: it is displayed without its password, and errors repeat none of its secrets.
pub(crate) fn postgres_url(bytes: &[u8]) {
    const SECRET: &str = "xyzzy-plugh";
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Address::parse(text);
    // The same with a password in its place, where there is one for it.
    let Some((scheme, rest)) = text.split_once("://") else { return };
    let Some((user, rest)) = rest.split_once('@') else { return };
    let user = user.split(':').next().unwrap_or_default();
    match Address::parse(&format!("{scheme}://{user}:{SECRET}@{rest}")) {
        Ok(address) => assert!(!format!("{address} {address:?}").contains(SECRET)),
        Err(message) => assert!(!message.contains(SECRET)),
    }
}
