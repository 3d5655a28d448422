//! A message as mediators read it: fields and body as those before them left both, and its texts in any charset.
//!
//! It undoes no content coding: a compressed message is an error.

use std::borrow::Cow;

use tollgate_net::http1::{FieldsIter, RequestHead};
use tollgate_wire::soap;
use tollgate_wire::url::decode_segment;
use tollgate_xml::{Budget, Document, Error, ErrorKind};

use super::edits::Edits;
use super::effort::Effort;
use super::way::Way;
use crate::error::Fault;

/// A readable message.
#[derive(Debug, Clone)]
pub(super) struct View<'v> {
    pub(super) request: &'v RequestHead,
    pub(super) way: Way<'v>,
    pub(super) edits: &'v Edits,
    pub(super) body: &'v [u8],
    pub(super) effort: Effort,
}

/// Kind of a body by its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Media {
    Xml,
    Json,
    Other,
    /// It has no content type.
    Unsaid,
}

/// Reason why a message cannot be mediated.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// It is compressed, by this coding.
    Coded(String),
    /// It is malformed.
    Wrong(String),
}

impl<'v> View<'v> {
    /// The first field of this name, if its value is text.
    pub(super) fn field(&self, name: &str) -> Option<&'v str> {
        let value = self.edits.find(self.fields(), name)?;
        std::str::from_utf8(value).ok()
    }

    /// The original fields.
    pub(super) fn fields(&self) -> FieldsIter<'v> {
        self.way.fields(self.request)
    }

    /// The value of an option of the request's query, decoded; the first counts.
    pub(super) fn query(&self, name: &str) -> Option<Cow<'v, str>> {
        let options = self.request.query()?.split('&');
        let mut pairs = options.map(|option| option.split_once('=').unwrap_or((option, "")));
        let (_, value) =
            pairs.find(|(known, _)| *known == name || decoded(known).is_some_and(|known| known == name))?;
        decoded(value)
    }

    /// Whether it may be XML.
    pub(super) fn may_be_xml(&self) -> bool {
        matches!(self.media(), Media::Xml | Media::Unsaid)
    }

    /// Whether it may be JSON.
    pub(super) fn may_be_json(&self) -> bool {
        matches!(self.media(), Media::Json | Media::Unsaid)
    }

    /// The SOAP version of its content type.
    pub(super) fn soap(&self) -> Option<soap::Version> {
        self.field("content-type").and_then(soap::Version::of_content_type)
    }

    /// The SOAP version of the client, as far as known; else 1.1.
    pub(super) fn client_soap(&self) -> soap::Version {
        let said = self.request.header("content-type").and_then(soap::Version::of_content_type);
        said.unwrap_or(soap::Version::V11)
    }

    /// The body, unless it is compressed.
    pub(super) fn plain_body(&self) -> Result<&'v [u8], Unreadable> {
        match self.field("content-encoding") {
            Some(coding) if !coding.trim().eq_ignore_ascii_case("identity") && !coding.trim().is_empty() => {
                Err(Unreadable::Coded(coding.to_owned()))
            }
            _ => Ok(self.body),
        }
    }

    /// The body as the text of an XML document.
    pub(super) fn xml_text(&self) -> Result<Cow<'v, str>, Unreadable> {
        let body = self.plain_body()?;
        let text = match self.charset() {
            Some(charset) => Document::decode_as(body, charset),
            None => Document::decode(body),
        };
        text.map_err(|error| Unreadable::Wrong(error.to_string()))
    }

    /// The charset that the content type names.
    pub(super) fn charset(&self) -> Option<&'v str> {
        let parameters = self.field("content-type")?.split(';').skip(1);
        let named = parameters.filter_map(|parameter| parameter.split_once('='));
        let (_, charset) = named.into_iter().find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
        Some(charset.trim().trim_matches('"')).filter(|charset| !charset.is_empty())
    }

    /// Whether its bytes may be UTF-8 by its content type.
    pub(super) fn is_utf8(&self) -> bool {
        self.charset().is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8"))
    }

    /// Fault for an unreadable message: a bad request is its sender's fault; of a bad answer the client learns no
    /// details.
    pub(super) fn refuse(&self, why: Unreadable) -> Fault {
        match (self.way, why) {
            (Way::Request, Unreadable::Coded(coding)) => {
                let message = format!("a mediator has to read this message, and it is coded as `{coding}`");
                Fault::unsupported_media_type(message)
            }
            (Way::Request, Unreadable::Wrong(wrong)) => Fault::bad_request("body", wrong),
            (Way::Answer(_), Unreadable::Coded(coding)) => {
                Fault::backend_failed(format!("a mediator has to read it, and it is coded as `{coding}`"))
            }
            (Way::Answer(_), Unreadable::Wrong(wrong)) => Fault::backend_failed(wrong),
        }
    }

    /// Budget of a mediator for reading or rewriting it, or for finding a value in it.
    pub(super) fn budget(&self) -> Budget {
        self.effort.budget(self.body.len())
    }

    /// Fault for an error of the engine: in the message, or in the configuration's use of it.
    pub(super) fn refuse_xml(&self, error: &Error, what: &str) -> Fault {
        match error.kind() {
            ErrorKind::Budget if self.effort.is_spent(self.body.len()) => {
                let wrong = format!("{error}: {}", self.effort.explanation(self.body.len()));
                self.refuse(Unreadable::Wrong(wrong))
            }
            ErrorKind::Document | ErrorKind::Budget => self.refuse(Unreadable::Wrong(error.to_string())),
            _ => Fault::internal(format!("{what}: {error}")),
        }
    }

    fn media(&self) -> Media {
        let Some(content_type) = self.field("content-type") else { return Media::Unsaid };
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let has = |format: &str| {
            let behind = essence.len().checked_sub(format.len()).and_then(|at| essence.get(at..));
            // `text/xml` and `application/xml` as well as `application/soap+xml`.
            behind.is_some_and(|behind| behind.eq_ignore_ascii_case(format))
        };
        match () {
            () if essence.is_empty() => Media::Unsaid,
            () if has("/xml") || has("+xml") => Media::Xml,
            () if has("/json") || has("+json") => Media::Json,
            () => Media::Other,
        }
    }
}

fn decoded(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('+') {
        return decode_segment(raw);
    }
    let spaced = raw.replace('+', " ");
    decode_segment(&spaced).map(|text| Cow::Owned(text.into_owned()))
}
