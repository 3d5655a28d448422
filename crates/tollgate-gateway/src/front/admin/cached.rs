//! The response cache for the operator: its contents, its answers, and their invalidation.
//!
//! A foreign page could make the operator's browser send such a form, so it must carry a token that only this
//! listener's own page has, and must come from there if the browser names the origin.

use ring::digest;
use ring::rand::{SecureRandom, SystemRandom};
use tollgate_net::http1::RequestHead;
use tollgate_wire::base64;
use tollgate_wire::url::decode_segment;

use super::status::{CacheEntryStatus, CacheStatus};
use crate::cache::{EntryInfo, ResponseCache, Which};
use crate::config;
use crate::error::Fault;

/// Path of the form.
pub(super) const INVALIDATE: &str = "/cache/invalidate";

/// Bytes of a form: the longest accepted target, each byte escaped, and the rest.
pub(super) const FORM_BYTES_MAX: usize = 32 * 1024;

/// Listed answers.
const LISTED_MAX: usize = 100;

/// Answers searched for a text.
const SEARCHED_MAX: usize = 10_000;

/// Selection of answers to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listing {
    /// None: counters need none.
    Nothing,
    /// Answers whose key contains this text; all, if it is empty.
    Holding(String),
}

/// A token that proves that the page made the form.
#[derive(Debug)]
pub(super) struct Token {
    text: String,
}

impl Token {
    /// Creates a new token.
    ///
    /// # Panics
    /// If the system has no random bytes.
    pub(super) fn new() -> Token {
        let mut bytes = [0; 24];
        SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
        let mut text = Vec::new();
        base64::encode_url(&mut text, &bytes);
        Token { text: String::from_utf8(text).expect("base64 is ASCII") }
    }

    /// Its text in the page.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn is(&self, said: &str) -> bool {
        // How long the comparison takes tells of the hashes only.
        let hash = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
        hash(&self.text).as_ref() == hash(said).as_ref()
    }
}

impl Listing {
    /// Selection by `find` in a query.
    pub(super) fn of(query: Option<&str>) -> Listing {
        let find = fields(query.unwrap_or_default()).find(|(name, _)| name == "find");
        Listing::Holding(find.map(|(_, text)| text).unwrap_or_default())
    }
}

/// Contents and counters of the cache.
pub(super) fn status(cache: &ResponseCache, config: &config::Cache, listing: &Listing) -> CacheStatus {
    let statistics = cache.statistics();
    CacheStatus {
        entries: statistics.entries,
        entries_max: config.entries_max as u64,
        bytes: statistics.bytes,
        bytes_max: config.bytes_max as u64,
        hits: statistics.hits_total,
        misses: statistics.misses_total,
        waits: statistics.waits_total,
        stored: statistics.stored_total,
        evicted: statistics.evicted_total,
        expired: statistics.expired_total,
        invalidated: statistics.invalidated_total,
        too_large: statistics.too_large_total,
        validated: statistics.validated_total,
        listed: match listing {
            Listing::Nothing => Vec::new(),
            Listing::Holding(text) if text.is_empty() => cache.entries(LISTED_MAX).into_iter().map(entry).collect(),
            Listing::Holding(text) => {
                let found = cache.entries(SEARCHED_MAX).into_iter().filter(|entry| entry.key.contains(text.as_str()));
                found.take(LISTED_MAX).map(entry).collect()
            }
        },
    }
}

/// Invalidates the answers that the form selects, and returns their number.
///
/// # Errors
/// 403 without the page's token or from elsewhere, 400 for a form without a selection.
pub(super) fn invalidate(cache: &ResponseCache, token: &Token, head: &RequestHead, form: &[u8]) -> Result<u64, Fault> {
    let form = checked_form(token, head, form)?;
    let said = fields(form).find_map(|(name, value)| match (name.as_str(), value.is_empty()) {
        ("one", false) => Some(cache.invalidate(Which::One(&value))),
        ("prefix", false) => Some(cache.invalidate(Which::Prefix(&value))),
        ("all", _) => Some(cache.invalidate(Which::All)),
        _ => None,
    });
    said.ok_or_else(|| {
        Fault::bad_request("body", "expected `one` with a key, `prefix` with a path's beginning, or `all`")
    })
}

/// Checks that this listener's own page sent a form, and returns its text.
///
/// # Errors
/// 403 without the page's token or from elsewhere, 400 if it is no text.
pub(super) fn checked_form<'f>(token: &Token, head: &RequestHead, form: &'f [u8]) -> Result<&'f str, Fault> {
    check_origin(head)?;
    let form = std::str::from_utf8(form).map_err(|_| Fault::bad_request("body", "expected a form in UTF-8"))?;
    match fields(form).any(|(name, value)| name == "token" && token.is(&value)) {
        true => Ok(form),
        false => Err(Fault::forbidden("token", "expected the token of the page: load it anew, and try again")),
    }
}

/// Checks that no foreign page sent the request.
fn check_origin(request: &RequestHead) -> Result<(), Fault> {
    let host = request.host().unwrap_or_default();
    let origin = request.header("origin").is_none_or(|origin| origin.strip_prefix("http://") == Some(host));
    let site = request.header("sec-fetch-site").is_none_or(|site| matches!(site, "same-origin" | "none"));
    if origin && site {
        return Ok(());
    }
    Err(Fault::forbidden("origin", "this can be asked for from this listener's own page only"))
}

/// The fields of a form or its query; fields that are not UTF-8 are left out.
pub(super) fn fields(form: &str) -> impl Iterator<Item = (String, String)> {
    let decoded = |text: &str| decode_segment(&text.replace('+', " ")).map(|text| text.into_owned());
    form.split('&').filter_map(move |field| {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        Some((decoded(name)?, decoded(value)?))
    })
}

fn entry(info: EntryInfo) -> CacheEntryStatus {
    CacheEntryStatus {
        key: info.key,
        varies: info.varies,
        bytes: info.bytes,
        age_seconds: info.age.as_secs(),
        lifetime_seconds: info.lifetime.as_secs(),
        hits: info.hits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_decoded_as_browsers_encode_it() {
        for (form, expected) in [
            ("", "=;"),
            ("a=b", "a=b;"),
            ("one=%2Frest%2Fflights%3Fa%3D1%262&token=x-_", "one=/rest/flights?a=1&2;token=x-_;"),
            ("find=two+words", "find=two words;"),
            ("all", "all=;"),
            ("bad=%FF&good=1", "good=1;"),
        ] {
            let read: String = fields(form).map(|(name, value)| format!("{name}={value};")).collect();
            assert_eq!(read, expected, "{form}");
        }
    }

    #[test]
    fn a_token_knows_itself_and_no_other() {
        let (one, other) = (Token::new(), Token::new());
        assert!(one.is(one.text()) && !one.is(other.text()) && !one.is(""));
    }

    #[test]
    fn what_is_looked_for_stands_in_the_query() {
        for (query, expected) in
            [(None, ""), (Some("find=%2Frest"), "/rest"), (Some("a=b&find="), ""), (Some("a=b"), "")]
        {
            assert_eq!(Listing::of(query), Listing::Holding(expected.to_owned()), "{query:?}");
        }
    }
}
