//! Requests to a server of the user's and their valid answers: the command line overrides the experiment. A built-in
//! experiment describes the answers of our own services only, so for other servers the first valid answers are the
//! model.
//!
//! It does not send requests (see [`super::first`]).

use std::env::VarError;
use std::sync::Arc;

use tollgate_net::tls::{ClientSettings, TlsChoice};
use tollgate_wire::links::Template;

use super::subjects::sites::{Origin, Site};
use crate::conduct::options::{RunError, RunOptions};
use crate::experiment::{Author, Variant};
use crate::load::answer::checks::Checks;
use crate::traffic::header::{basic_authorization, check_header};
use crate::traffic::request::{AnswerLength, ListFormat, RequestShape};

/// Refuses flags about requests, answers and TLS if there is no server that they apply to.
pub(crate) fn check(options: &RunOptions, sites: &[Site]) -> Result<(), RunError> {
    sites.iter().try_for_each(|site| access(options, site, Added::default()).map(drop)).map_err(RunError::Usage)?;
    let is_said = options.own_request.is_said() || options.tls != ClientSettings::default();
    if is_said && !sites.iter().any(is_theirs) {
        return Err(RunError::Usage(
            "--method, --post, --put, --expect-body, -l, --detail, --leave-out and the flags of TLS are for servers of yours: name one by \
             --subject VARIANT=URL"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Header fields.
type Fields = Vec<(String, String)>;

/// Header fields beside those of a variant.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Added<'a> {
    /// The user's, for all requests: those of a variant replace them.
    pub(crate) all: &'a [(String, String)],
    /// Those that the subject of a variant wants: they replace all others but cookies, which they join.
    pub(crate) wanted: &'a [(String, String)],
}

/// The header fields of a site's requests, and its TLS settings: those for all, then those of its variant, then those
/// that the subject wants.
///
/// # Errors
/// An environment variable that is missing, or cannot be sent.
pub(crate) fn access(options: &RunOptions, site: &Site, added: Added<'_>) -> Result<(Fields, ClientSettings), String> {
    access_by(|variable| std::env::var(variable), &options.experiment.variants[site.variant], (added, &options.tls))
}

/// The same of a variant, with variables from this environment.
fn access_by(
    environment: impl Fn(&str) -> Result<String, VarError>,
    Variant { name, access, request, .. }: &Variant,
    (Added { all, wanted }, tls): (Added<'_>, &ClientSettings),
) -> Result<(Fields, ClientSettings), String> {
    let value = |variable: &String| {
        environment(variable).map_err(|error| {
            // What is not Unicode would be printed with it.
            let why = if error == VarError::NotPresent { "it is not set" } else { "it is no UTF-8" };
            format!("variant `{name}` needs `{variable}` of the environment: {why}")
        })
    };
    let mut fields = all.to_vec();
    if let Some(variable) = &access.basic {
        let credentials = value(variable)?;
        let (user, password) = credentials
            .split_once(':')
            .ok_or_else(|| format!("variant `{name}`: `{variable}` of the environment holds no USER:PASSWORD"))?;
        fields.push(("Authorization".to_owned(), basic_authorization(user, password)));
    }
    for (field, variable) in &access.headers {
        let value = value(variable)?;
        check_header(field, &value).map_err(|_| {
            format!("variant `{name}`: what `{variable}` of the environment holds cannot be a header field's value")
        })?;
        fields.push((field.clone(), value));
    }
    let is_cookie = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("cookie");
    let cookie = request.headers.iter().chain(&fields).rfind(is_cookie).map(|(_, own)| own.clone());
    for field in wanted {
        let value = match &cookie {
            Some(own) if is_cookie(&field) => joined(own, &field.1),
            _ => field.1.clone(),
        };
        fields.push((field.0.clone(), value));
    }
    let mut tls = tls.clone();
    if access.authorities.is_some() {
        tls.authorities.clone_from(&access.authorities);
    }
    if access.choice == TlsChoice::Insecure {
        tls.choice = access.choice;
    }
    Ok((fields, tls))
}

/// The user's cookies and a server's; of two with the same name the server's applies.
fn joined(own: &str, wanted: &str) -> String {
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().trim().to_owned();
    let theirs: Vec<String> = wanted.split(';').map(name).collect();
    let kept = own.split(';').map(str::trim).filter(|pair| !pair.is_empty() && !theirs.contains(&name(pair)));
    kept.chain([wanted]).collect::<Vec<_>>().join("; ")
}

/// The request of a site's variant.
pub(crate) fn request(options: &RunOptions, site: &Site) -> RequestShape {
    let shape = options.experiment.variants[site.variant].request.clone();
    if !is_theirs(site) {
        return shape;
    }
    let own = &options.own_request;
    let variant = &options.experiment.variants[site.variant];
    let leave_out = if own.leave_out.is_empty() { shape.leave_out.clone() } else { own.leave_out.clone() };
    let shape = RequestShape { leave_out, ..shape };
    let is_meant = |(name, _): &&(String, Template)| *name == variant.name || name == variant.base_name();
    if let Some((_, template)) = own.details.iter().rev().find(is_meant) {
        let key = template.names().map(str::to_owned).collect();
        return RequestShape { key, detail: Some(template.clone()), ..shape };
    }
    let method = own.method.clone().unwrap_or_else(|| shape.method.clone());
    let body = own.body.clone().unwrap_or_else(|| shape.body.clone());
    if !learns(options, site) {
        return RequestShape { method, body, ..shape };
    }
    RequestShape { method, body, contains: own.contains.clone(), answer_bytes: None, element: None, ..shape }
}

/// The format of a walk's answers if they differ from those of a built-in experiment: their own links, whatever their
/// keys are. Absent if the user described them, or the format has no links.
pub(crate) fn by_links(options: &RunOptions, site: &Site) -> Option<RequestShape> {
    let shape = request(options, site);
    let has_links = !matches!(shape.format?, ListFormat::Json | ListFormat::Xml);
    let is_builtin = options.experiment.author == Author::Tollgate && is_theirs(site);
    let is_said = shape.detail != options.experiment.variants[site.variant].request.detail;
    (has_links && is_builtin && !is_said).then(|| RequestShape { key: Vec::new(), detail: None, ..shape })
}

/// Checks of the answers at a site beside those of the request's shape.
pub(crate) fn checks(options: &RunOptions, site: &Site) -> Checks {
    let is_held = learns(options, site) && options.own_request.length == AnswerLength::AsFirst;
    Checks { length: is_held.then(Arc::default), ..Checks::default() }
}

/// Whether the first valid answers at a site are the model: at a server of the user's, unless only the user's own file
/// describes the answers.
pub(crate) fn learns(options: &RunOptions, site: &Site) -> bool {
    let RequestShape { contains, answer_bytes, element, .. } = &options.experiment.variants[site.variant].request;
    let is_silent = contains.is_none() && answer_bytes.is_none() && element.is_none();
    let is_ours = options.experiment.author == Author::Tollgate;
    is_theirs(site) && (is_ours || is_silent || options.own_request.contains.is_some())
}

fn is_theirs(site: &Site) -> bool {
    matches!(site.place, Origin::There(_))
}

#[cfg(test)]
mod tests {
    use tollgate_net::http1::client::Target;

    use super::*;
    use crate::experiment::Experiment;
    use crate::traffic::request::OwnRequest;

    const FILE: &str = "name = \"mine\"\nquestion = \"?\"\n[factor]\nname = \"concurrency\"\nlevels = [1]\n\
        [workload]\nkind = \"request\"\n[[variant]]\nname = \"v\"\nurl = \"http://127.0.0.1:1/\"\n";

    fn at(place: Origin, variant: usize) -> Site {
        Site { variant, place, processes: Vec::new(), process: 0 }
    }

    fn theirs() -> Origin {
        Origin::There(Target::parse("http://127.0.0.1:1/").unwrap())
    }

    #[test]
    fn what_an_answer_holds_is_asked_of_our_own_subjects_and_by_the_users_own_words() {
        let check = |experiment: Experiment, place: Origin, own: OwnRequest, expected: (Option<&str>, bool)| {
            let own_request = OwnRequest { length: AnswerLength::AsFirst, ..own };
            let options = RunOptions { own_request, ..RunOptions::of(experiment, "/nowhere".into()) };
            let site = at(place, 0);
            let shape = request(&options, &site);
            let found = (shape.contains.as_deref(), checks(&options, &site).length.is_some());
            assert_eq!(found, expected, "{} {site:?}", options.experiment.name);
        };
        let said = || OwnRequest { contains: Some("mine".to_owned()), ..OwnRequest::default() };
        let builtin = || Experiment::builtin("encryption").unwrap();
        check(builtin(), Origin::Child("/".to_owned()), said(), (Some("6765"), false));
        check(builtin(), theirs(), OwnRequest::default(), (None, true));
        check(builtin(), theirs(), said(), (Some("mine"), true));
        let file = |more: &str| Experiment::parse(&format!("{FILE}{more}"), "mine.toml").unwrap();
        check(file(""), theirs(), OwnRequest::default(), (None, true));
        check(file("contains = \"a\""), theirs(), OwnRequest::default(), (Some("a"), false));
        check(file("contains = \"a\""), theirs(), said(), (Some("mine"), true));
    }

    #[test]
    fn secrets_of_a_variant_are_taken_out_of_the_environment_when_it_is_asked() {
        let environment = |variable: &str| match variable {
            "SHOP_KEY" => Ok("k".to_owned()),
            "SHOP_LOGIN" => Ok("Aladdin:open sesame".to_owned()),
            _ => Err(VarError::NotPresent),
        };
        let found = |keys: &str| {
            let experiment = Experiment::parse(&format!("{FILE}access = {{ {keys} }}\n"), "folder/mine.toml").unwrap();
            let all = [("A".to_owned(), "1".to_owned())];
            let added = Added { all: &all, wanted: &[] };
            access_by(environment, &experiment.variants[0], (added, &ClientSettings::default()))
        };
        let fields = |fields: &[(&str, &str)]| -> Fields {
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let (sent, tls) = found("headers_env = { X-Key = \"SHOP_KEY\" }, ca = \"ca.pem\"").unwrap();
        assert_eq!(sent, fields(&[("A", "1"), ("X-Key", "k")]));
        assert_eq!((tls.authorities, tls.choice), (Some("folder/ca.pem".into()), TlsChoice::Verify));
        let (sent, tls) = found("basic_env = \"SHOP_LOGIN\", insecure = true").unwrap();
        assert_eq!(sent, fields(&[("A", "1"), ("Authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")]));
        assert_eq!(tls.choice, TlsChoice::Insecure);
        let error = found("basic_env = \"SHOP_KEY\"").unwrap_err();
        assert_eq!(error, "variant `v`: `SHOP_KEY` of the environment holds no USER:PASSWORD");
        let error = found("basic_env = \"NOBODYS\"").unwrap_err();
        assert!(error.starts_with("variant `v` needs `NOBODYS` of the environment"), "{error}");
    }

    #[test]
    fn cookies_that_a_server_wants_join_the_users_and_other_fields_replace_his() {
        let one = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let sent = |keys: &str, all: &[(String, String)], wanted: &[(String, String)]| {
            let experiment = Experiment::parse(&format!("{FILE}{keys}\n"), "mine.toml").unwrap();
            let environment = |_: &str| Ok("sso=2; s=0".to_owned());
            let added = (Added { all, wanted }, &ClientSettings::default());
            let (fields, _) = access_by(environment, &experiment.variants[0], added).unwrap();
            let last = |name: &str| fields.iter().rfind(|field| field.0 == name).map(|field| field.1.clone());
            (last("Cookie").unwrap_or_default(), last("X-CSRF-Token").unwrap_or_default())
        };
        let wanted = [one("X-CSRF-Token", "t"), one("Cookie", "s=1; t=1")];
        let check = |keys: &str, all: &[(String, String)], cookie: &str| {
            assert_eq!(sent(keys, all, &wanted), one(cookie, "t"), "{keys} {all:?}");
        };
        check("", &[], "s=1; t=1");
        let of_variant = "access = { headers_env = { cookie = \"ANY\" } }";
        check(of_variant, &[], "sso=2; s=1; t=1");
        check(of_variant, &[one("Cookie", "all=1")], "sso=2; s=1; t=1");
        check("headers = { Cookie = \"own=1\" }", &[], "own=1; s=1; t=1");
        check("", &[one("COOKIE", "all=1;"), one("X-CSRF-Token", "his")], "all=1; s=1; t=1");
        let token = [one("X-CSRF-Token", "t")];
        assert_eq!(sent("", &[one("Cookie", "all=1")], &token), one("all=1", "t"));
    }

    #[test]
    fn a_list_is_read_by_its_own_links_where_it_is_no_list_of_flights() {
        let experiment = Experiment::builtin("protocol").unwrap();
        let position = |name: &str| experiment.variant(name).unwrap();
        let (rest, v4) = (position("rest-json"), position("odata-v4-json"));
        let said = Template::parse("P({ID})").unwrap();
        let mut options = RunOptions::of(experiment, "/nowhere".into());
        assert_eq!(by_links(&options, &at(Origin::Child("/".to_owned()), v4)), None);
        assert_eq!(by_links(&options, &at(theirs(), rest)), None, "plain JSON has none");
        let found = by_links(&options, &at(theirs(), v4)).unwrap();
        assert_eq!((found.key.len(), found.detail), (0, None));
        options.own_request.details.push(("odata-v4-json".to_owned(), said.clone()));
        let shape = request(&options, &at(theirs(), v4));
        assert_eq!((shape.key, shape.detail), (vec!["ID".to_owned()], Some(said)));
        assert_eq!(by_links(&options, &at(theirs(), v4)), None);
    }

    #[test]
    fn of_a_mediation_neither_length_nor_element_is_asked_of_a_server_of_the_users() {
        let experiment = Experiment::builtin("mediation").unwrap();
        let body = Some(b"<mine/>".to_vec());
        let own_request = OwnRequest { method: Some("PUT".to_owned()), body, ..OwnRequest::default() };
        let options = RunOptions { own_request, ..RunOptions::of(experiment, "/nowhere".into()) };
        for variant in 0..options.experiment.variants.len() {
            let shape = request(&options, &at(theirs(), variant));
            assert_eq!((shape.contains, shape.answer_bytes, shape.element), (None, None, None));
            assert_eq!((shape.method.as_str(), &shape.body[..]), ("PUT", &b"<mine/>"[..]));
            let ours = request(&options, &at(Origin::Child("/".to_owned()), variant));
            assert_eq!(ours, options.experiment.variants[variant].request);
        }
    }
}
