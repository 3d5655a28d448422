//! Format of an OData answer: `$format` before `Accept`, and the parameters of V4's media type (`odata.metadata`,
//! `IEEE754Compatible`, `odata.streaming`, `charset` …).
//!
//! V2: Atom or plain XML unless JSON is requested. V4: JSON only; the metadata document is XML unless JSON is
//! requested.

use tollgate_wire::edm::Version;
use tollgate_wire::format::{Format, Ieee754, Metadata, Release};
use tollgate_wire::query::format_of;

use super::versions;
use crate::error::Fault;
use crate::http::accept::{self, MediaRange};
use crate::http::answer::Reply;
use crate::http::headers::{Headers, values};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Xml,
    Json,
}

const V2_OFFERS: &[(&str, Family)] = &[
    ("application/atom+xml", Family::Xml),
    ("application/atomsvc+xml", Family::Xml),
    ("application/xml", Family::Xml),
    ("application/json", Family::Json),
    ("text/xml", Family::Xml),
];
const V4_OFFERS: &[(&str, Family)] = &[("application/json", Family::Json)];
/// V2's metadata is XML alone, V4's also JSON.
const METADATA_OFFERS: &[(&str, Family)] =
    &[("application/xml", Family::Xml), ("text/xml", Family::Xml), ("application/json", Family::Json)];

/// V4's default format.
const fn v4_default(release: Release) -> Format {
    Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number, release }
}

/// Format of a metadata document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Csdl {
    /// CSDL XML.
    Xml,
    /// CSDL JSON.
    Json,
}

/// An unsupported parameter of a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unserved<'a> {
    name: &'a str,
    value: &'a str,
    served: &'static str,
}

/// Chooses the format of a data or service document.
///
/// # Errors
/// 406 if none is acceptable, 400 or 406 if `$format` asks for an unknown one.
pub(crate) fn document<'a>(
    version: Version,
    format: Option<&'a str>,
    headers: &'a dyn Headers,
) -> Result<Format, Fault> {
    let release = versions::release(headers);
    let offers = match version {
        Version::V2 => V2_OFFERS,
        Version::V4 => V4_OFFERS,
    };
    chosen(offers, format, values(headers, "accept"), |family, range| match (version, family) {
        (Version::V2, Family::Xml) => Ok(Format::V2Atom),
        (Version::V2, Family::Json) => range.map_or(Ok(Format::V2Json), v2_json),
        (Version::V4, _) => range.map_or(Ok(v4_default(release)), |range| v4_json(range, release)),
    })
}

/// The default format of that version.
pub(crate) fn default(version: Version, headers: &dyn Headers) -> Format {
    match version {
        Version::V2 => Format::V2Atom,
        Version::V4 => v4_default(versions::release(headers)),
    }
}

/// Chooses the format of the metadata document.
///
/// # Errors
/// 406 if no format is acceptable.
pub(crate) fn metadata<'a>(version: Version, format: Option<&'a str>, headers: &'a dyn Headers) -> Result<Csdl, Fault> {
    let offers = match version {
        Version::V2 => &METADATA_OFFERS[..2],
        Version::V4 => METADATA_OFFERS,
    };
    chosen(offers, format, values(headers, "accept"), |family, _| {
        Ok(match family {
            Family::Xml => Csdl::Xml,
            Family::Json => Csdl::Json,
        })
    })
}

/// Adds `Vary: Accept`, unless `$format` chose the format. An entity has one ETag for all its formats (OData's ETags
/// are of entities, not of documents), so this keeps a cache from answering one format for another.
pub(crate) fn say_choice(format: Option<&str>, reply: &mut impl Reply) {
    if format.is_none() {
        reply.field("vary", b"Accept");
    }
}

/// Format of an error: that of the expected answer, as far as known.
pub(crate) fn error(version: Version, query: Option<&str>, headers: Option<&dyn Headers>) -> Format {
    match version {
        Version::V4 => v4_default(headers.map_or(Release::V40, versions::release)),
        Version::V2 => {
            let json = match format_of(version, query) {
                Some(format) => format.starts_with("json") || format.starts_with("application/json"),
                None => {
                    let accept = headers.into_iter().flat_map(|headers| values(headers, "accept"));
                    accept::choose(accept, V2_OFFERS, |family, _| Some(family)) == Some(Family::Json)
                }
            };
            if json { Format::V2Json } else { Format::V2Atom }
        }
    }
}

/// Chooses among the offers by `$format`, else by `Accept`; `serve` returns the result for an offer and a range.
fn chosen<'a, T: Copy>(
    offers: &[(&str, Family)],
    format: Option<&'a str>,
    accept: impl IntoIterator<Item = &'a str>,
    serve: impl Fn(Family, Option<MediaRange<'a>>) -> Result<T, Unserved<'a>>,
) -> Result<T, Fault> {
    let Some(format) = format else {
        let mut unserved = None;
        let chosen = accept::choose(accept, offers, |family, range| match serve(family, range) {
            Ok(served) => Some(served),
            Err(parameter) => {
                unserved = Some(parameter);
                None
            }
        });
        return chosen.ok_or_else(|| match unserved {
            Some(parameter) => parameter.into(),
            None => Fault::not_acceptable(format!("expected Accept to allow {}", listed(offers))),
        });
    };
    let wanted = match format {
        "json" => Some((Family::Json, None)),
        "atom" | "xml" => Some((Family::Xml, None)),
        _ => MediaRange::parse(format).and_then(|range| {
            let offer = offers.iter().find(|offer| range.is(offer.0))?;
            Some((offer.1, Some(range)))
        }),
    };
    match wanted {
        Some((family, range)) if offers.iter().any(|offer| offer.1 == family) => Ok(serve(family, range)?),
        _ => Err(Fault::not_acceptable(format!("$format `{format}` is not there, but {}", listed(offers)))),
    }
}

/// The parameter of V2's JSON, which has one form only.
fn v2_json(range: MediaRange<'_>) -> Result<Format, Unserved<'_>> {
    match range.parameter("odata") {
        None | Some("verbose") => Ok(Format::V2Json),
        Some(value) => Err(Unserved { name: "odata", value, served: "verbose, as V2 has it" }),
    }
}

/// The parameters of V4's media type (JSON Format 3), in 4.0's and in 4.01's shorter spelling. Unknown or unsupported
/// ones must be refused (Protocol 8.2.1).
fn v4_json(range: MediaRange<'_>, release: Release) -> Result<Format, Unserved<'_>> {
    let mut metadata = Metadata::Minimal;
    let mut ieee754 = Ieee754::Number;
    for (name, value) in range.parameters() {
        let unserved = |served| Err(Unserved { name, value, served });
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("q") {
            // What stands behind it is none of the media type's.
            break;
        } else if is("odata.metadata") || is("metadata") {
            metadata = match value {
                "none" => Metadata::None,
                "minimal" => Metadata::Minimal,
                "full" => Metadata::Full,
                _ => return unserved("none, minimal or full"),
            };
        } else if is("IEEE754Compatible") {
            ieee754 = match value {
                "true" => Ieee754::String,
                "false" => Ieee754::Number,
                _ => return unserved("true or false"),
            };
        } else if is("odata.streaming") || is("streaming") || is("ExponentialDecimals") {
            // Documents are written in the order that streaming asks for, and decimals never need an exponent.
            if !matches!(value, "true" | "false") {
                return unserved("true or false");
            }
        } else if is("charset") {
            if !value.eq_ignore_ascii_case("utf-8") {
                return unserved("utf-8");
            }
        } else if is("odata") {
            return unserved("absent, since it is of V2 and V3 and this is V4");
        } else {
            return unserved("absent, since no format here has it");
        }
    }
    Ok(Format::V4Json { metadata, ieee754, release })
}

impl From<Unserved<'_>> for Fault {
    fn from(Unserved { name, value, served }: Unserved<'_>) -> Fault {
        Fault::not_acceptable(format!("expected {name} to be {served}, found `{value}`"))
    }
}

fn listed(offers: &[(&str, Family)]) -> String {
    offers.iter().map(|offer| offer.0).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::headers::Fields;

    const FULL: Format = Format::V4Json { metadata: Metadata::Full, ieee754: Ieee754::Number, release: Release::V40 };
    const V4_DEFAULT: Format = v4_default(Release::V40);

    fn accepting(accept: Option<&str>) -> Vec<(&str, &str)> {
        accept.into_iter().map(|accept| ("Accept", accept)).collect()
    }

    fn check(version: Version, format: Option<&str>, accept: Option<&str>, expected: Option<Format>) {
        let found = document(version, format, &Fields(&accepting(accept))).ok();
        assert_eq!(found, expected, "{version:?} {format:?} {accept:?}");
    }

    #[test]
    fn v2_is_atom_unless_json_is_wanted() {
        let v2 = Version::V2;
        check(v2, None, None, Some(Format::V2Atom));
        check(v2, None, Some("*/*"), Some(Format::V2Atom));
        check(v2, None, Some("application/xml"), Some(Format::V2Atom));
        check(v2, None, Some("application/json"), Some(Format::V2Json));
        check(v2, None, Some("application/json;odata=verbose"), Some(Format::V2Json));
        check(v2, None, Some("application/json;odata=light"), None);
        check(v2, None, Some("text/html"), None);
        check(v2, Some("application/json;odata=light"), None, None);
        check(v2, Some("json"), Some("application/atom+xml"), Some(Format::V2Json));
        check(v2, Some("atom"), Some("application/json"), Some(Format::V2Atom));
        check(v2, Some("xml"), None, Some(Format::V2Atom));
        check(v2, Some("yaml"), None, None);
    }

    #[test]
    fn v4_is_json_with_the_parameters_of_its_media_type() {
        let v4 = Version::V4;
        check(v4, None, None, Some(V4_DEFAULT));
        check(v4, None, Some("application/json"), Some(V4_DEFAULT));
        check(v4, None, Some("application/json;odata.metadata=full"), Some(FULL));
        check(v4, None, Some("application/json;metadata=full"), Some(FULL));
        check(v4, Some("application/json;odata.metadata=full"), Some("text/html"), Some(FULL));
        check(
            v4,
            None,
            Some("application/json;odata.metadata=none;IEEE754Compatible=true"),
            Some(Format::V4Json { metadata: Metadata::None, ieee754: Ieee754::String, release: Release::V40 }),
        );
        check(v4, None, Some("application/json;odata.metadata=some"), None);
        check(v4, None, Some("application/atom+xml"), None);
        check(v4, Some("atom"), None, None);
        check(v4, Some("json"), Some("application/json;odata.metadata=full"), Some(V4_DEFAULT));
    }

    #[test]
    fn a_refused_range_hides_no_acceptable_one() {
        let (v2, v4) = (Version::V2, Version::V4);
        let minimal_or_atom = "application/json;odata=minimalmetadata, application/atom+xml;q=0.8";
        check(v2, None, Some(minimal_or_atom), Some(Format::V2Atom));
        check(v2, None, Some("application/json;odata=light, application/json;odata=verbose"), Some(Format::V2Json));
        check(v4, None, Some("application/json;odata=verbose, application/json"), Some(V4_DEFAULT));
        check(v4, None, Some("application/json;odata.metadata=foo, */*;q=0.1"), Some(V4_DEFAULT));
        check(v4, None, Some("application/json;odata.metadata=foo, text/html"), None);
        // `$format` has no second choice.
        check(v4, Some("application/json;odata.metadata=foo"), Some("*/*"), None);
    }

    #[test]
    fn each_parameter_of_v4_is_served_or_refused() {
        let v4 = Version::V4;
        for (parameters, served) in [
            ("odata.streaming=true", true),
            ("streaming=false", true),
            ("odata.streaming=maybe", false),
            ("charset=utf-8", true),
            ("charset=\"UTF-8\"", true),
            ("charset=iso-8859-1", false),
            ("ExponentialDecimals=true", true),
            ("IEEE754Compatible=perhaps", false),
            ("odata.metadata=", false),
            ("colour=red", false),
            ("q=0.5;colour=red", true),
        ] {
            let range = format!("application/json;{parameters}");
            check(v4, None, Some(&range), served.then_some(V4_DEFAULT));
        }
    }

    #[test]
    fn who_understands_the_later_release_is_answered_in_it() {
        for (said, release) in [("4.0", Release::V40), ("4.01", Release::V401)] {
            let fields = [("OData-MaxVersion", said), ("Accept", "application/json;metadata=minimal")];
            assert_eq!(document(Version::V4, None, &Fields(&fields)).ok(), Some(v4_default(release)), "{said}");
            assert_eq!(error(Version::V4, None, Some(&Fields(&fields))), v4_default(release), "{said}");
        }
    }

    #[test]
    fn metadata_is_xml_and_in_v4_also_json() {
        let check = |version, format, accept, expected: Option<Csdl>| {
            assert_eq!(metadata(version, format, &Fields(&accepting(accept))).ok(), expected, "{format:?} {accept:?}");
        };
        for version in [Version::V2, Version::V4] {
            check(version, None, None, Some(Csdl::Xml));
            check(version, None, Some("*/*"), Some(Csdl::Xml));
            check(version, None, Some("application/xml"), Some(Csdl::Xml));
            check(version, None, Some("application/json, application/xml"), Some(Csdl::Xml));
            check(version, Some("xml"), Some("application/json"), Some(Csdl::Xml));
            check(version, None, Some("text/html"), None);
        }
        check(Version::V2, None, Some("application/json"), None);
        check(Version::V2, Some("json"), None, None);
        check(Version::V4, None, Some("application/json"), Some(Csdl::Json));
        check(Version::V4, None, Some("application/json, application/xml;q=0.5"), Some(Csdl::Json));
        check(Version::V4, Some("json"), Some("application/xml"), Some(Csdl::Json));
        check(Version::V4, Some("application/json"), None, Some(Csdl::Json));
    }

    #[test]
    fn errors_are_told_in_the_format_that_was_asked_for() {
        let check = |version, query, accept, expected| {
            assert_eq!(error(version, query, Some(&Fields(&accepting(accept)))), expected, "{query:?} {accept:?}");
        };
        check(Version::V2, None, None, Format::V2Atom);
        check(Version::V2, None, Some("application/json"), Format::V2Json);
        check(Version::V2, Some("$top=x&$format=json"), None, Format::V2Json);
        check(Version::V2, None, Some("text/html"), Format::V2Atom);
        check(Version::V4, None, Some("application/atom+xml"), V4_DEFAULT);
    }
}
