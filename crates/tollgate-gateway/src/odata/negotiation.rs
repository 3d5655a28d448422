//! In which format an OData request is answered: `$format` before `Accept`, and what the parameters of V4's media type
//! say (`odata.metadata`, `IEEE754Compatible`).
//!
//! V2: Atom or plain XML unless JSON is wanted. V4: JSON only; XML is the metadata document's.

use tollgate_wire::edm::Version;
use tollgate_wire::format::{Format, Ieee754, Metadata};
use tollgate_wire::query::format_of;

use crate::accept::{self, MediaRange};
use crate::error::Fault;
use crate::operation::Reply;

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
const METADATA_OFFERS: &[(&str, Family)] = &[("application/xml", Family::Xml), ("text/xml", Family::Xml)];

/// What V4 answers when nothing else is said.
const V4_DEFAULT: Format = Format::V4Json { metadata: Metadata::Minimal, ieee754: Ieee754::Number };

/// A parameter of a media type that cannot be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unserved<'a> {
    name: &'a str,
    value: &'a str,
    served: &'static str,
}

/// The format of a data or service document; `accept` is the lines of the header.
///
/// # Errors
/// 406 when none is acceptable, 400 or 406 when `$format` asks for one that is not there.
pub(crate) fn document<'a>(
    version: Version,
    format: Option<&'a str>,
    accept: impl IntoIterator<Item = &'a str>,
) -> Result<Format, Fault> {
    let offers = match version {
        Version::V2 => V2_OFFERS,
        Version::V4 => V4_OFFERS,
    };
    chosen(offers, format, accept, |family, range| match (version, family) {
        (Version::V2, Family::Xml) => Ok(Format::V2Atom),
        (Version::V2, Family::Json) => range.map_or(Ok(Format::V2Json), v2_json),
        (Version::V4, _) => range.map_or(Ok(V4_DEFAULT), v4_json),
    })
}

/// The format in which that version answers when nothing is said.
pub(crate) fn default(version: Version) -> Format {
    match version {
        Version::V2 => Format::V2Atom,
        Version::V4 => V4_DEFAULT,
    }
}

/// Checks that the metadata document, which is XML in both versions, is acceptable.
///
/// # Errors
/// 406 when it is not.
pub(crate) fn metadata<'a>(format: Option<&'a str>, accept: impl IntoIterator<Item = &'a str>) -> Result<(), Fault> {
    chosen(METADATA_OFFERS, format, accept, |_, _| Ok(()))
}

/// Says that `Accept` chose the format, where it did and not `$format`. An entity has one ETag for all its formats (OData's
/// ETags are of entities, not of documents), so this is what keeps a cache from answering one format for another.
pub(crate) fn say_choice(format: Option<&str>, reply: &mut impl Reply) {
    if format.is_none() {
        reply.field("vary", b"Accept");
    }
}

/// The format in which an error is told: what the request would have been answered in, as far as that can be said.
pub(crate) fn error<'a>(version: Version, query: Option<&str>, accept: impl IntoIterator<Item = &'a str>) -> Format {
    match version {
        Version::V4 => V4_DEFAULT,
        Version::V2 => {
            let json = match format_of(version, query) {
                Some(format) => format.starts_with("json") || format.starts_with("application/json"),
                None => accept::choose(accept, V2_OFFERS, |family, _| Some(family)) == Some(Family::Json),
            };
            if json { Format::V2Json } else { Format::V2Atom }
        }
    }
}

/// What `$format`, and else `Accept`, chooses among the offers; `serve` says as what an offer is served to a range.
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

/// The parameters of V4's media type (JSON Format 3), in 4.0's and in 4.01's shorter spelling.
fn v4_json(range: MediaRange<'_>) -> Result<Format, Unserved<'_>> {
    let mut metadata = Metadata::Minimal;
    let mut ieee754 = Ieee754::Number;
    for (name, value) in range.parameters() {
        let unserved = |served| Err(Unserved { name, value, served });
        if name.eq_ignore_ascii_case("odata.metadata") || name.eq_ignore_ascii_case("metadata") {
            metadata = match value {
                "none" => Metadata::None,
                "minimal" => Metadata::Minimal,
                "full" => Metadata::Full,
                _ => return unserved("none, minimal or full"),
            };
        } else if name.eq_ignore_ascii_case("IEEE754Compatible") {
            ieee754 = match value {
                "true" => Ieee754::String,
                "false" => Ieee754::Number,
                _ => return unserved("true or false"),
            };
        } else if name.eq_ignore_ascii_case("odata") {
            return unserved("absent, since it is of V2 and V3 and this is V4");
        }
    }
    Ok(Format::V4Json { metadata, ieee754 })
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

    const FULL: Format = Format::V4Json { metadata: Metadata::Full, ieee754: Ieee754::Number };

    fn check(version: Version, format: Option<&str>, accept: Option<&str>, expected: Option<Format>) {
        assert_eq!(document(version, format, accept).ok(), expected, "{version:?} {format:?} {accept:?}");
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
            Some(Format::V4Json { metadata: Metadata::None, ieee754: Ieee754::String }),
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
    fn metadata_is_xml() {
        assert!(metadata(None, None).is_ok());
        assert!(metadata(None, Some("application/xml")).is_ok());
        assert!(metadata(Some("xml"), Some("application/json")).is_ok());
        assert!(metadata(None, Some("application/json")).is_err());
        assert!(metadata(Some("json"), None).is_err());
    }

    #[test]
    fn errors_are_told_in_the_format_that_was_asked_for() {
        assert_eq!(error(Version::V2, None, None), Format::V2Atom);
        assert_eq!(error(Version::V2, None, Some("application/json")), Format::V2Json);
        assert_eq!(error(Version::V2, Some("$top=x&$format=json"), None), Format::V2Json);
        assert_eq!(error(Version::V2, None, Some("text/html")), Format::V2Atom);
        assert_eq!(error(Version::V4, None, Some("application/atom+xml")), V4_DEFAULT);
    }
}
