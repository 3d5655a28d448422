//! The formats of plain REST, and their choice by `Accept`.
//!
//! It knows no list and no entity.

use tollgate_net::http1::RequestHead;
use tollgate_wire::format::{Format, Padding};

use super::accept::{self, MediaRange};

/// Root path of REST for all services.
pub(crate) const ROOT: &str = "/rest/";

const XML: Format = Format::RestXml { padding: Padding::Without };
/// Formats, the default first.
pub(crate) const OFFERS: &[(&str, Format)] =
    &[("application/json", Format::RestJson), ("application/xml", XML), ("text/xml", XML)];

/// The parameter of XML's media type by which a measurement asks for documents of Atom's size
/// (`Accept: application/xml;padding=atom`), to separate payload from protocol; nobody else gets them.
const PADDING: (&str, &str) = ("padding", "atom");

/// The format that `Accept` chooses; `None` if it allows none.
pub(crate) fn chosen(request: &RequestHead) -> Option<Format> {
    accept::choose(request.values("accept"), OFFERS, |format, range| Some(padded(format, range)))
}

/// Format of a fault: the one that `Accept` chose, else JSON.
pub(crate) fn of_error(request: Option<&RequestHead>) -> Format {
    request.and_then(chosen).unwrap_or(Format::RestJson)
}

/// The format, with the padding that the range of `Accept` asks for.
fn padded(format: Format, range: Option<MediaRange<'_>>) -> Format {
    let is_wanted = || range.and_then(|range| range.parameter(PADDING.0)) == Some(PADDING.1);
    match format {
        Format::RestXml { .. } if is_wanted() => Format::RestXml { padding: Padding::AtomSize },
        other => other,
    }
}
