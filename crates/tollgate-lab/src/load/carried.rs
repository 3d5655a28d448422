//! Query parameters of a list's URL that are repeated in the URLs of its entities: the SAP client, a language, an API
//! key.
//!
//! In OData, parameters that begin with `$` are the list's alone; all others apply to every request. Plain REST has no
//! such rule, and an entity's URL may refuse an unknown filter: only secrets and SAP's own (`sap-client`) are repeated.
//! A link's or template's own parameters win.

use crate::secret;
use crate::traffic::request::ListFormat;

/// Returns the path and query of a link found in the list at `base`, with the list's parameters that are repeated.
pub(super) fn carry(base: &str, format: Option<ListFormat>, link: String) -> String {
    let Some((_, query)) = base.split_once('?') else { return link };
    let is_odata = !matches!(format, Some(ListFormat::Json | ListFormat::Xml));
    let own: Vec<&str> = link.split_once('?').map_or(Vec::new(), |(_, own)| own.split('&').map(name).collect());
    let goes_along = |parameter: &&str| {
        let name = name(parameter);
        let is_systems = name.starts_with('$') || name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("%24"));
        let is_everybodys = is_odata || secret::is_secret(name) || name.starts_with("sap-");
        !name.is_empty() && !is_systems && is_everybodys && !own.contains(&name)
    };
    let carried: Vec<&str> = query.split('&').filter(goes_along).collect();
    let between = match link.split_once('?') {
        _ if carried.is_empty() => return link,
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{link}{between}{}", carried.join("&"))
}

fn name(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_the_lists_alone_goes_along_once() {
        let check = |base: &str, format: ListFormat, link: &str, expected: &str| {
            assert_eq!(carry(base, Some(format), link.to_owned()), expected, "{base} {link}");
        };
        let v2 = ListFormat::OdataV2Json;
        check("/s/P", v2, "/s/P('1')", "/s/P('1')");
        let base = "/s/P?sap-client=100&$filter=a eq 1&%24top=3&sap-language=EN&key=a=b";
        check(base, v2, "/s/P('1')", "/s/P('1')?sap-client=100&sap-language=EN&key=a=b");
        check(base, v2, "/s/P('1')?sap-client=200", "/s/P('1')?sap-client=200&sap-language=EN&key=a=b");
        check("/s/P?$top=3&", v2, "/s/P('1')", "/s/P('1')");
        check("/s/P?a=1", ListFormat::OdataV4Json, "/s/P(1)?", "/s/P(1)?a=1");
        let base = "/rest/p?limit=50&city=X&api_key=k&sap-client=100";
        check(base, ListFormat::Json, "/rest/p/1", "/rest/p/1?api_key=k&sap-client=100");
        check(base, ListFormat::Xml, "/rest/p/1?api_key=other", "/rest/p/1?api_key=other&sap-client=100");
    }
}
