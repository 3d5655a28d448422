//! Conditional requests (RFC 9110, section 13): `If-None-Match` and `If-Match` against an ETag.
//!
//! Both compare weakly: OData's ETags are weak, and its clients send them back in `If-Match`.

/// Result of the conditions of a GET or HEAD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Answer in full.
    Answer,
    /// The client has it already: 304.
    NotModified,
    /// The client wants another state: 412.
    Failed,
}

/// A condition that fails for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unmet {
    /// `If-Match`: the entity has changed since.
    Match,
    /// `If-None-Match`: the entity is there, or in this state.
    NoneMatch,
}

/// Checks the request's conditions, each given by the lines of its header, against the ETag of the answer, `W/` and
/// quotes included.
pub(crate) fn judge<'a>(
    if_match: impl IntoIterator<Item = &'a str>,
    if_none_match: impl IntoIterator<Item = &'a str>,
    etag: &str,
) -> Verdict {
    let mut if_match = if_match.into_iter().peekable();
    if if_match.peek().is_some() && !if_match.any(|listed| lists(listed, etag)) {
        return Verdict::Failed;
    }
    match if_none_match.into_iter().any(|listed| lists(listed, etag)) {
        true => Verdict::NotModified,
        false => Verdict::Answer,
    }
}

/// Checks the conditions of a request that changes an entity, each given by the lines of its header, against the
/// current ETag; an entity without ETag matches `*` only.
///
/// # Errors
/// The failed condition.
pub(crate) fn judge_change(if_match: &[String], if_none_match: &[String], etag: Option<&str>) -> Result<(), Unmet> {
    let names = |lines: &[String]| {
        lines.iter().any(|line| match etag {
            Some(etag) => lists(line, etag),
            None => line.trim() == "*",
        })
    };
    if !if_match.is_empty() && !names(if_match) {
        return Err(Unmet::Match);
    }
    if names(if_none_match) {
        return Err(Unmet::NoneMatch);
    }
    Ok(())
}

/// The strong ETag of a document with constant bytes.
pub(crate) fn etag_of(bytes: &[u8]) -> String {
    // FNV-1a: it need not withstand an adversary, it must differ where the document does.
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("\"{hash:016x}\"")
}

/// Whether a list of ETags names this one. An ETag may contain commas inside its quotes.
fn lists(listed: &str, etag: &str) -> bool {
    let wanted = opaque(etag);
    let mut rest = listed.trim();
    if rest == "*" {
        return true;
    }
    while let Some(begin) = rest.find('"') {
        let Some(length) = rest[begin + 1..].find('"') else { return false };
        if &rest[begin..begin + length + 2] == wanted {
            return true;
        }
        rest = &rest[begin + length + 2..];
    }
    false
}

fn opaque(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare_weakly_and_if_match_goes_first() {
        let check = |if_match, if_none_match, expected| {
            assert_eq!(judge(if_match, if_none_match, "W/\"a,b\""), expected, "{if_match:?} {if_none_match:?}");
        };
        check(None, None, Verdict::Answer);
        check(None, Some("W/\"a,b\""), Verdict::NotModified);
        check(None, Some("\"a,b\""), Verdict::NotModified);
        check(None, Some("\"x\", W/\"a,b\""), Verdict::NotModified);
        check(None, Some("*"), Verdict::NotModified);
        check(None, Some("\"a\""), Verdict::Answer);
        check(None, Some("a,b"), Verdict::Answer);
        check(None, Some("\"unclosed"), Verdict::Answer);
        check(Some("*"), None, Verdict::Answer);
        check(Some("W/\"a,b\""), None, Verdict::Answer);
        check(Some("\"other\""), Some("*"), Verdict::Failed);
    }

    #[test]
    fn a_change_is_judged_by_the_state_that_the_client_knows() {
        let check = |if_match: &[&str], if_none_match: &[&str], etag: Option<&str>, passes: bool| {
            let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
            let judged = judge_change(&lines(if_match), &lines(if_none_match), etag);
            assert_eq!(judged.is_ok(), passes, "{if_match:?} {if_none_match:?} {etag:?}");
        };
        check(&[], &[], None, true);
        check(&["*"], &[], None, true);
        check(&["\"a\""], &[], None, false);
        check(&["\"a\""], &[], Some("W/\"a\""), true);
        check(&["\"b\"", "W/\"a\""], &[], Some("W/\"a\""), true);
        check(&["\"b\""], &[], Some("W/\"a\""), false);
        check(&[], &["*"], None, false);
        check(&[], &["*"], Some("W/\"a\""), false);
        check(&[], &["\"b\""], Some("W/\"a\""), true);
        check(&["*"], &["W/\"a\""], Some("W/\"a\""), false);
    }

    #[test]
    fn a_condition_may_list_on_several_lines() {
        let judged = |if_match: &[&'static str], if_none_match: &[&'static str]| {
            judge(if_match.iter().copied(), if_none_match.iter().copied(), "\"a\"")
        };
        assert_eq!(judged(&["\"b\"", "\"a\""], &[]), Verdict::Answer);
        assert_eq!(judged(&["\"b\"", "\"c\""], &[]), Verdict::Failed);
        assert_eq!(judged(&[], &["\"b\"", "\"a\""]), Verdict::NotModified);
    }
}
