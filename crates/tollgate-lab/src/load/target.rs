//! A place to load: where it is, and how a request to it is written. All that its requests have in common is rendered
//! once.

use tollgate_net::http1::client::{Answers, RequestTemplate, Target, TemplateError};
use tollgate_wire::url::encode_beside;

use super::read::Judge;
use crate::experiment::RequestShape;

/// Where and how a variant is asked. Shared by all workers.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    /// Host, port and the first path.
    pub target: Target,
    /// How answers are understood.
    pub shape: RequestShape,
    /// Tells whether an answer is the entity that was asked for.
    pub(super) judge: Judge,
    template: RequestTemplate,
}

impl LoadTarget {
    /// A target whose requests carry the shape's headers and then `headers`, a later field replacing an earlier one of
    /// the same name.
    ///
    /// # Errors
    /// A method or field that cannot stand in a request.
    pub fn new(
        target: Target,
        shape: RequestShape,
        headers: &[(String, String)],
        connection: Connection,
    ) -> Result<LoadTarget, TemplateError> {
        let mut template = RequestTemplate::builder(&shape.method, target.authority()).target_slot();
        let fields: Vec<&(String, String)> = shape.headers.iter().chain(headers).collect();
        for (position, (name, value)) in fields.iter().enumerate() {
            if !fields[position + 1..].iter().any(|(later, _)| later.eq_ignore_ascii_case(name)) {
                template = template.header(name, value);
            }
        }
        if connection == Connection::New {
            template = template.header("Connection", "close");
        }
        if !shape.body.is_empty() || matches!(shape.method.as_str(), "POST" | "PUT" | "PATCH") {
            template = template.body(shape.body.clone());
        }
        let template = template.build()?;
        let judge = Judge::new(&shape);
        Ok(LoadTarget { target, shape, judge, template })
    }

    /// Writes a whole request for `path_and_query` into `out`.
    pub fn render(&self, path_and_query: &str, out: &mut Vec<u8>) {
        self.template.render(&[encoded(path_and_query)], out);
    }

    /// Which kind of answer its requests get.
    pub fn answers(&self) -> Answers {
        self.template.answers()
    }

    /// Whether asking twice is the same as asking once (RFC 9110, section 9.2.2).
    pub fn is_repeatable(&self) -> bool {
        matches!(self.shape.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }
}

/// How long connections live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connection {
    /// As long as the server keeps them.
    #[default]
    Kept,
    /// One request each.
    Each,
}

/// A request target may hold only what RFC 3986 allows: anything else of a link is percent-encoded, `%` stays.
fn encoded(path_and_query: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(path_and_query.len());
    encode_beside(&mut out, path_and_query.as_bytes(), b"-._~!$&'()*+,;=:@/?%[]");
    out
}

/// The path and query that `link` names for someone who read it at `base` (a path and query): RFC 3986, section 5.2,
/// but for the authority, since a link is followed on the subject itself, whatever name it has for itself.
pub(super) fn resolve(base: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    let rest = match link.split_once("://") {
        Some((scheme, rest)) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Some(rest),
        _ => link.strip_prefix("//"),
    };
    if let Some(rest) = rest {
        return match rest.find(['/', '?']) {
            Some(start) if rest.as_bytes()[start] == b'/' => rest[start..].to_owned(),
            Some(start) => format!("/{}", &rest[start..]),
            None => "/".to_owned(),
        };
    }
    let base_path = base.split('?').next().unwrap_or_default();
    if link.starts_with('/') {
        return link.to_owned();
    }
    if link.is_empty() {
        return base.to_owned();
    }
    if link.starts_with('?') {
        return format!("{base_path}{link}");
    }
    let folder = base_path.rfind('/').map_or("/", |end| &base_path[..=end]);
    let (path, query) = link.split_at(link.find('?').unwrap_or(link.len()));
    format!("{}{query}", without_dots(&format!("{folder}{path}")))
}

fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_on_the_subject_itself() {
        let base = "/sap/opu/Flights?$top=3";
        let check = |link: &str, expected: &str| assert_eq!(resolve(base, link), expected, "{link}");
        check("http://sap.example.com:8000/sap/opu/Flights(1)", "/sap/opu/Flights(1)");
        check("http://sap.example.com", "/");
        check("http://sap.example.com?a", "/?a");
        check("//other/x", "/x");
        check("Flights(carrid='AA')", "/sap/opu/Flights(carrid='AA')");
        check("../x/./y?z=/../", "/sap/x/y?z=/../");
        check("/rest/flights", "/rest/flights");
        check("?$skiptoken=4", "/sap/opu/Flights?$skiptoken=4");
        check("Flights(url='a://b')", "/sap/opu/Flights(url='a://b')");
        check("Flights(1)#top", "/sap/opu/Flights(1)");
    }

    #[test]
    fn what_a_request_target_may_not_hold_is_encoded() {
        let check = |link: &str, expected: &str| assert_eq!(String::from_utf8(encoded(link)).unwrap(), expected);
        check("/F(carrid='AA',n=1)?$x=%20", "/F(carrid='AA',n=1)?$x=%20");
        check("/a b\r\nc", "/a%20b%0D%0Ac");
        check("/ü", "/%C3%BC");
    }
}
