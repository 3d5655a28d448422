//! Common flags of `load`, `versus` and `run`: the request, the expected responses and TLS, by ApacheBench's letters.
//!
//! The amount of requests and the use of responses are not here.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use tollgate_lab::traffic::feed::template::{self, Escape, Piece};
use tollgate_lab::traffic::header::{basic_authorization, check_load_header};
use tollgate_lab::traffic::request::{AnswerLength, OwnRequest};
use tollgate_net::tls::{ClientSettings, Resumption, ServerNameSent, Suite, TlsChoice, Version};

use super::input;
use crate::failure::Failure;
use crate::values::Credentials;

/// The largest body that can be sent.
const BODY_BYTES_MAX: u64 = 256 << 20;
/// Name of the client, as logs of servers have it; ab sends its own name, too.
const USER_AGENT: &str = concat!("tollgate/", env!("CARGO_PKG_VERSION"));
/// Content type of a body without a given one, as in ab.
pub(crate) const PLAIN: &str = "text/plain";

/// What is asked.
#[derive(Debug, Args)]
pub(crate) struct Request {
    /// Method [default: GET; POST with a body; PUT with -u]
    #[arg(short = 'm', long, value_name = "METHOD", help_heading = "Request")]
    pub(crate) method: Option<String>,

    /// Use the method HEAD
    #[arg(short = 'i', conflicts_with_all = ["method", "post", "put", "text", "json_body", "form"], help_heading = "Request")]
    pub(crate) head: bool,

    /// Header field; replaces tollgate's own of that name. In `load`, Host may name another host than the URL; may be
    /// repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", help_heading = "Request")]
    pub(crate) headers: Vec<LoadField>,

    /// Cookie; may be repeated
    #[arg(short = 'C', value_name = "NAME=VALUE", help_heading = "Request")]
    pub(crate) cookies: Vec<String>,

    /// Basic authentication, sent with every request
    #[arg(short = 'A', long = "basic", value_name = "USER:PASSWORD", help_heading = "Request")]
    pub(crate) basic: Option<Credentials>,

    /// POST this file; `-` is stdin
    #[arg(short = 'p', long, value_name = "FILE", conflicts_with = "put", help_heading = "Request")]
    pub(crate) post: Option<PathBuf>,

    /// PUT this file; `-` is stdin
    #[arg(short = 'u', long, value_name = "FILE", help_heading = "Request")]
    pub(crate) put: Option<PathBuf>,

    /// POST this text
    #[arg(long = "body", value_name = "TEXT", conflicts_with_all = ["post", "put"], help_heading = "Request")]
    pub(crate) text: Option<String>,

    /// POST this JSON as application/json
    #[arg(long, value_name = "JSON", conflicts_with_all = ["post", "put", "text"], help_heading = "Request")]
    pub(crate) json_body: Option<String>,

    /// POST this form field as application/x-www-form-urlencoded; may be repeated
    #[arg(long, value_name = "NAME=VALUE", conflicts_with_all = ["post", "put", "text", "json_body"], help_heading = "Request")]
    pub(crate) form: Vec<FormField>,

    /// Content type of the body [default: text/plain; with --soap that of the envelope; with --batch application/json]
    #[arg(short = 'T', long, value_name = "TYPE", help_heading = "Request")]
    pub(crate) content_type: Option<String>,
}

/// What an answer must be; of `versus` and `run`.
#[derive(Debug, Args)]
pub(crate) struct Answers {
    /// Text that every answer must contain
    #[arg(long = "expect-body", value_name = "TEXT", help_heading = "Answers")]
    contains: Option<String>,

    /// Accept answers of any length; by default each must be as long as the first of its URL, if the second is
    #[arg(short = 'l', help_heading = "Answers")]
    any_length: bool,
}

/// How TLS is spoken.
#[derive(Debug, Args)]
pub(crate) struct Tls {
    /// Do not verify the server's certificate
    #[arg(long, conflicts_with = "authorities", help_heading = "TLS")]
    pub(crate) insecure: bool,

    /// Also trust the certificate authorities in this PEM file
    #[arg(long = "ca", value_name = "FILE", help_heading = "TLS")]
    pub(crate) authorities: Option<PathBuf>,

    /// Offer only this TLS version: 1.2 or 1.3
    #[arg(long = "tls", value_name = "VERSION", conflicts_with = "protocol", help_heading = "TLS")]
    pub(crate) tls_version: Option<Version>,

    /// The same in ab's spelling: TLS1.2, TLS1.3 or ALL
    #[arg(short = 'f', value_name = "PROTOCOL", help_heading = "TLS")]
    pub(crate) protocol: Option<Protocol>,

    /// Offer only these cipher suites (OpenSSL names, separated by `:`)
    #[arg(short = 'Z', value_name = "SUITES", value_delimiter = ':', help_heading = "TLS")]
    pub(crate) suites: Vec<Suite>,

    /// Client certificate (PEM: certificate, chain, key)
    #[arg(short = 'E', value_name = "FILE", help_heading = "TLS")]
    pub(crate) identity: Option<PathBuf>,

    /// Do not send the server name (SNI)
    #[arg(short = 'I', help_heading = "TLS")]
    pub(crate) no_server_name: bool,

    /// Use a full handshake for each connection
    #[arg(long, help_heading = "TLS")]
    pub(crate) no_resumption: bool,
}

impl Request {
    /// The method, given or implied by the body.
    pub(crate) fn method(&self) -> String {
        let implied = match self.has_body() {
            _ if self.put.is_some() => "PUT",
            true => "POST",
            false if self.head => "HEAD",
            false => "GET",
        };
        self.method.clone().unwrap_or_else(|| implied.to_owned())
    }

    /// The file that is sent as the body.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.post.as_ref().or(self.put.as_ref())
    }

    /// Whether a body is sent.
    pub(crate) fn has_body(&self) -> bool {
        self.file().is_some() || self.text.is_some() || self.json_body.is_some() || !self.form.is_empty()
    }

    /// The body, if one is sent. With a feed, `{{column}}` is a placeholder for a value.
    pub(crate) fn body(&self, feed: Fed) -> Result<Option<Vec<u8>>, Failure> {
        if let Some(file) = self.file() {
            return read(file, BODY_BYTES_MAX).map(Some);
        }
        if let Some(json) = &self.json_body {
            // With places in it, it is JSON only when they are filled.
            let has_places = feed == Fed::Yes && json.contains("{{");
            if let (false, Err(error)) = (has_places, serde_json::from_str::<serde::de::IgnoredAny>(json)) {
                return Err(Failure::usage(format_args!("--json-body is not JSON: {error}")));
            }
            return Ok(Some(json.clone().into_bytes()));
        }
        if !self.form.is_empty() {
            return form(&self.form, feed).map(Some);
        }
        Ok(self.text.clone().map(String::into_bytes))
    }

    /// The user's own header fields, cookies among them.
    pub(crate) fn said(&self) -> Vec<(String, String)> {
        let cookies = (!self.cookies.is_empty()).then(|| ("Cookie".to_owned(), self.cookies.join("; ")));
        let written = self.headers.iter().map(|field| (field.name.clone(), field.value.clone()));
        cookies.into_iter().chain(written).collect()
    }

    /// The request and answer options given, which override the experiment's; the rest is the experiment's own.
    pub(crate) fn own(&self, answers: &Answers) -> Result<OwnRequest, Failure> {
        if self.content_type.is_some() && !self.has_body() {
            return Err(Failure::usage("-T: there is no body: add -p FILE, -u FILE or --body TEXT"));
        }
        let is_said = self.method.is_some() || self.head || self.has_body();
        Ok(OwnRequest {
            method: is_said.then(|| self.method()),
            body: self.body(Fed::No)?,
            contains: answers.contains.clone(),
            length: if answers.any_length { AnswerLength::Any } else { AnswerLength::AsFirst },
            ..OwnRequest::default()
        })
    }

    /// The content type of the body, if it is given or `plain`.
    pub(crate) fn content_type(&self, plain: Option<&str>) -> Option<(String, String)> {
        let own = match (&self.json_body, self.form.is_empty()) {
            (Some(_), _) => Some("application/json"),
            (None, false) => Some("application/x-www-form-urlencoded"),
            (None, true) => plain,
        };
        let content_type = self.content_type.as_deref().or(own).filter(|_| self.has_body());
        content_type.map(|content_type| ("Content-Type".to_owned(), content_type.to_owned()))
    }

    /// Default header fields that the user's own do not override; `plain` is the content type of a body.
    pub(crate) fn implied(&self, plain: Option<&str>) -> Vec<(String, String)> {
        let [agent, accept] = [("User-Agent", USER_AGENT), ("Accept", "*/*")];
        let mut ours = [agent, accept].map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        ours.extend(self.content_type(plain));
        ours.extend(
            self.basic.as_ref().map(|Credentials { user, password }| {
                ("Authorization".to_owned(), basic_authorization(user, password))
            }),
        );
        ours
    }
}

impl Tls {
    /// TLS settings of the connections.
    pub(crate) fn settings(&self) -> ClientSettings {
        ClientSettings {
            choice: if self.insecure { TlsChoice::Insecure } else { TlsChoice::Verify },
            authorities: self.authorities.clone(),
            version: self.tls_version.or(self.protocol.and_then(|protocol| protocol.0)),
            resumption: if self.no_resumption { Resumption::Disabled } else { Resumption::Allowed },
            suites: self.suites.clone(),
            server_name: if self.no_server_name { ServerNameSent::No } else { ServerNameSent::Yes },
            identity: self.identity.clone(),
        }
    }
}

/// Whether a feed fills placeholders in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    Yes,
    No,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormField {
    name: String,
    value: String,
}

impl FromStr for FormField {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, but there is no `=`")?;
        Ok(FormField { name: name.to_owned(), value: value.to_owned() })
    }
}

/// The fields as `application/x-www-form-urlencoded`. Placeholders of a feed stay, and are filled with encoded values.
fn form(fields: &[FormField], feed: Fed) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    for FormField { name, value } in fields {
        if !out.is_empty() {
            out.push(b'&');
        }
        for (number, text) in [name, value].into_iter().enumerate() {
            if number > 0 {
                out.push(b'=');
            }
            let pieces = match feed {
                Fed::Yes => template::parse(text)
                    .map_err(|error| Failure::usage(format_args!("--form: `{text}`: {}", error.message)))?,
                Fed::No => Vec::new(),
            };
            let mut rest = 0;
            for piece in pieces {
                let Piece::Value { position, .. } = piece else { continue };
                let end = text[position..].find("}}").map_or(text.len(), |end| position + end + 2);
                Escape::Url.write(&text.as_bytes()[rest..position], &mut out);
                out.extend_from_slice(&text.as_bytes()[position..end]);
                rest = end;
            }
            Escape::Url.write(&text.as_bytes()[rest..], &mut out);
        }
    }
    Ok(out)
}

/// The content of a file, or of stdin.
pub(crate) fn read(file: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") { input::stdin(bytes_max) } else { input::bytes(file, bytes_max) }
}

/// Parses a URL; ab's form `host:port/path` is accepted, too.
pub(crate) fn with_scheme(url: &str) -> String {
    let host = url.split('/').next().unwrap_or_default();
    if host.ends_with(':') { url.to_owned() } else { format!("http://{url}") }
}

/// A header field of a load; unlike those of runs it may be `Host`.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LoadField {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for LoadField {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("expected `Name: value`, but there is no `:`")?;
        let value = value.trim();
        check_load_header(name, value)?;
        Ok(LoadField { name: name.to_owned(), value: value.to_owned() })
    }
}

// A header may be a secret, so its value is not shown even when the arguments are printed for debugging.
impl fmt::Debug for LoadField {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: …", self.name)
    }
}

/// A version of TLS, as in ab; `ALL` means none in particular.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protocol(Option<Version>);

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_uppercase().as_str() {
            "ALL" => Ok(Protocol(None)),
            "TLS1.2" => Ok(Protocol(Some(Version::Tls12))),
            "TLS1.3" => Ok(Protocol(Some(Version::Tls13))),
            "SSL2" | "SSL3" | "TLS1" | "TLS1.1" => {
                Err(format!("{text} is broken and is not spoken: write TLS1.2, TLS1.3 or ALL"))
            }
            _ => Err(format!("`{text}` is no protocol: write TLS1.2, TLS1.3 or ALL")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_protocol_is_refused_by_name() {
        assert_eq!("all".parse(), Ok(Protocol(None)));
        assert_eq!("TLS1.3".parse(), Ok(Protocol(Some(Version::Tls13))));
        assert!("TLS1.1".parse::<Protocol>().unwrap_err().starts_with("TLS1.1 is broken"));
    }

    #[test]
    fn a_form_is_encoded_around_the_places_of_a_feed() {
        let fields = ["a b=1&2", "c={{id}} é"].map(|text| text.parse().unwrap());
        assert_eq!(form(&fields, Fed::No).unwrap(), b"a%20b=1%262&c=%7B%7Bid%7D%7D%20%C3%A9");
        assert_eq!(form(&fields, Fed::Yes).unwrap(), b"a%20b=1%262&c={{id}}%20%C3%A9");
    }

    #[test]
    fn a_header_field_may_name_another_host_and_smuggles_nothing() {
        let check = |text: &str, accepted: bool| assert_eq!(text.parse::<LoadField>().is_ok(), accepted, "{text:?}");
        check("Host: shop.example", true);
        check("Host: a b", false);
        check("Content-Length: 3", false);
        check("A: b\r\nC: d", false);
        check("X-Empty:", true);
        check("Accept", false);
        check(": value", false);
        check("Two words: value", false);
        assert_eq!(format!("{:?}", "Cookie: secret".parse::<LoadField>().unwrap()), "Cookie: …");
    }
}
