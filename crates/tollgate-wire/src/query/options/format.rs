//! `$format`: a short name (`json`, `atom`, `xml`) or a media type. The service decides which of them it can answer.

use crate::address::{Fault, Parsed, Plus, Problem, decode, quoted};
use crate::edm::Version;
use crate::plan::Options;
use crate::query::context::Context;
use std::borrow::Cow;

/// The value of `$format`, even if the URL is otherwise invalid: errors too are answered in the requested format.
pub fn format_of(version: Version, query: Option<&str>) -> Option<Cow<'_, str>> {
    query?.split('&').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let name = decode(name, Plus::Plus).ok()?;
        let is_format = match version {
            Version::V2 => name == "$format",
            Version::V4 => name.strip_prefix('$').unwrap_or(&name).eq_ignore_ascii_case("format"),
        };
        if is_format { decode(value, Plus::Plus).ok() } else { None }
    })
}

pub(super) fn parse(_: &Context<'_>, text: &str, options: &mut Options) -> Parsed<()> {
    // Media types with parameters (RFC 9110 section 8.3.1), so that the value can be repeated in a header.
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~/;=\" ".contains(&byte);
    if text.is_empty() || !text.bytes().all(allowed) {
        let what = format!("expected json, atom, xml or a media type, found {}", quoted(text));
        return Err(Problem::new(Fault::BadValue, 0, what));
    }
    options.format = Some(text.to_owned());
    Ok(())
}
