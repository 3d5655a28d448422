//! Fields about the body and the effective method: its format, and a method in the place of POST.
//!
//! It reads no body.

use tollgate_net::http1::Method;
use tollgate_wire::edm::Version;
use tollgate_wire::format::{Format, Ieee754, Metadata, Release};

use crate::error::Fault;
use crate::http::accept::MediaRange;
use crate::http::headers::{Headers, values};

/// Returns the effective method: V2 clients tunnel methods that a firewall may not know through POST ([MS-ODATA]
/// 2.2.5.8).
///
/// # Errors
/// 400 if the tunnelled method is none of the four changing ones.
pub(crate) fn meant_method(version: Version, method: Method, headers: &dyn Headers) -> Result<Method, Fault> {
    if version != Version::V2 || method != Method::Post {
        return Ok(method);
    }
    let Some((name, said)) =
        ["X-HTTP-Method", "X-HTTP-Method-Override"].into_iter().find_map(|name| Some((name, headers.value(name, 0)?)))
    else {
        return Ok(method);
    };
    match Method::from_text(said.trim()) {
        tunnelled @ (Method::Post | Method::Merge | Method::Patch | Method::Put | Method::Delete) => Ok(tunnelled),
        _ => Err(Fault::bad_request(name, format!("expected MERGE, PATCH, PUT or DELETE, found `{said}`"))),
    }
}

/// Format of the body, by `Content-Type`, or by the version's default where it is missing.
///
/// # Errors
/// 415 for unsupported bodies: another type, another character set, any coding.
pub(crate) fn body_format(version: Version, headers: &dyn Headers) -> Result<Format, Fault> {
    check_coding(headers)?;
    let json = |ieee754| Format::V4Json { metadata: Metadata::Minimal, ieee754, release: Release::V40 };
    let Some(said) = headers.value("content-type", 0) else {
        return Ok(match version {
            Version::V2 => Format::V2Atom,
            Version::V4 => json(Ieee754::Number),
        });
    };
    let readable = match version {
        Version::V2 => "application/atom+xml, application/xml or application/json",
        Version::V4 => "application/json",
    };
    let refused = || Fault::unsupported_media_type(format!("expected a body of {readable}, found `{said}`"));
    if said == "application/json" {
        // Most say just this.
        return Ok(match version {
            Version::V2 => Format::V2Json,
            Version::V4 => json(Ieee754::Number),
        });
    }
    let range = MediaRange::parse(said).ok_or_else(refused)?;
    if range.parameter("charset").is_some_and(|charset| !charset.eq_ignore_ascii_case("utf-8")) {
        return Err(Fault::unsupported_media_type(format!("expected a body in UTF-8, found `{said}`")));
    }
    match version {
        Version::V2 if range.is("application/json") => Ok(Format::V2Json),
        Version::V2 if ["application/atom+xml", "application/xml", "text/xml"].iter().any(|xml| range.is(xml)) => {
            Ok(Format::V2Atom)
        }
        // `odata=verbose` and its kin are V2's and V3's.
        Version::V4 if range.is("application/json") && range.parameter("odata").is_none() => {
            Ok(json(match range.parameter("IEEE754Compatible") {
                Some("true") => Ieee754::String,
                _ => Ieee754::Number,
            }))
        }
        _ => Err(refused()),
    }
}

/// Refuses a body that is compressed or otherwise coded.
///
/// # Errors
/// 415.
pub(crate) fn check_coding(headers: &dyn Headers) -> Result<(), Fault> {
    let coded = values(headers, "content-encoding")
        .flat_map(|line| line.split(','))
        .map(str::trim)
        .find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"));
    match coded {
        None => Ok(()),
        Some(coding) => {
            Err(Fault::unsupported_media_type(format!("expected a body without Content-Encoding, found `{coding}`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::headers::Fields;

    const NUMBERS: Format =
        Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release: Release::V40 };
    const STRINGS: Format =
        Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::String, release: Release::V40 };

    #[test]
    fn the_content_type_decides_who_reads_the_body() {
        let check = |version, fields: &[(&str, &str)], expected: Option<Format>| {
            assert_eq!(body_format(version, &Fields(fields)).ok(), expected, "{version:?} {fields:?}");
        };
        let (v2, v4) = (Version::V2, Version::V4);
        check(v2, &[], Some(Format::V2Atom));
        check(v4, &[], Some(NUMBERS));
        check(v2, &[("Content-Type", "application/json")], Some(Format::V2Json));
        check(v2, &[("Content-Type", "application/atom+xml;type=entry;charset=utf-8")], Some(Format::V2Atom));
        check(v2, &[("Content-Type", "text/xml")], Some(Format::V2Atom));
        check(v2, &[("Content-Type", "image/png")], None);
        check(v4, &[("Content-Type", "application/json;odata.metadata=full")], Some(NUMBERS));
        check(v4, &[("Content-Type", "application/json;IEEE754Compatible=true;charset=UTF-8")], Some(STRINGS));
        check(v4, &[("Content-Type", "application/json;charset=iso-8859-1")], None);
        check(v4, &[("Content-Type", "application/json;odata=verbose")], None);
        check(v4, &[("Content-Type", "application/json;metadata=minimal;streaming=true")], Some(NUMBERS));
        check(v4, &[("Content-Type", "application/atom+xml")], None);
        check(v4, &[("Content-Type", "*/*")], None);
        check(v4, &[("Content-Type", "nonsense")], None);
        check(v4, &[("Content-Encoding", "gzip")], None);
        check(v4, &[("Content-Encoding", "identity")], Some(NUMBERS));
        check(v4, &[("Content-Encoding", "identity"), ("Content-Encoding", "br")], None);
    }

    #[test]
    fn another_method_may_stand_behind_a_post_of_v2() {
        let check = |version, method, fields: &[(&str, &str)], expected: Option<Method>| {
            assert_eq!(meant_method(version, method, &Fields(fields)).ok(), expected, "{version:?} {fields:?}");
        };
        check(Version::V2, Method::Post, &[], Some(Method::Post));
        check(Version::V2, Method::Post, &[("x-http-method", "MERGE")], Some(Method::Merge));
        check(Version::V2, Method::Post, &[("X-HTTP-Method-Override", "DELETE")], Some(Method::Delete));
        check(Version::V2, Method::Post, &[("X-HTTP-Method", "merge")], None);
        check(Version::V2, Method::Post, &[("X-HTTP-Method", "GET")], None);
        check(Version::V2, Method::Get, &[("X-HTTP-Method", "DELETE")], Some(Method::Get));
        check(Version::V4, Method::Post, &[("X-HTTP-Method", "DELETE")], Some(Method::Post));
    }
}
