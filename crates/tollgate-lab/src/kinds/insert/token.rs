//! The token against forged requests that SAP's servers want from whoever writes, with the cookies that it goes with.
//!
//! It is asked for once for each service that is there before the run, and each access to it: a token is good for whoever
//! asked for it.

use crate::conduct::options::{RunError, RunOptions};
use crate::kinds::http::subjects::beside::beside;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::load::insert;
use crate::traffic::places::Record;

/// Header fields of tokens, each with the variant whose requests need them.
pub(super) type Tokens = Vec<(usize, Vec<(String, String)>)>;

/// The header fields of it by variants; none where records are not made from a service's description, or the service wants
/// none.
///
/// # Errors
/// That a service cannot be asked.
pub(super) fn of(options: &RunOptions, sites: &[Site], headers: &[(String, String)]) -> Result<Tokens, RunError> {
    let (mut all, mut known) = (Vec::new(), Vec::new());
    for site in sites {
        let Origin::There(target) = &site.place else { continue };
        let Some(beside) = beside(target, site, options, headers).map_err(RunError::Failed)? else { continue };
        if beside.places.record == Record::Published {
            continue;
        }
        let variant = &options.experiment.variants[site.variant];
        let service = (target.scheme(), target.authority(), &variant.access);
        let found = known.iter().find(|(other, _)| *other == service).map(|(_, fields): &(_, Vec<_>)| fields.clone());
        let fields = match found {
            Some(fields) => fields,
            None => {
                let fields = insert::token(&beside).map_err(|why| {
                    RunError::Failed(format!("the subject of `{}` gives no valid answer: {why}", variant.name))
                })?;
                beside_own_cookies(fields, headers)
            }
        };
        known.push((service, fields.clone()));
        all.push((site.variant, fields));
    }
    Ok(all)
}

/// The same fields, of which the cookies do not replace the user's.
fn beside_own_cookies(mut fields: Vec<(String, String)>, headers: &[(String, String)]) -> Vec<(String, String)> {
    let is_cookie = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("cookie");
    if let Some((_, own)) = headers.iter().rfind(is_cookie) {
        for (_, value) in fields.iter_mut().filter(|(name, _)| name == "Cookie") {
            *value = format!("{own}; {value}");
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_of_a_token_stand_beside_the_users() {
        let fields = |fields: &[(&str, &str)]| -> Vec<(String, String)> {
            fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let given = fields(&[("X-CSRF-Token", "t"), ("Cookie", "s=1")]);
        assert_eq!(beside_own_cookies(given.clone(), &[]), given);
        let found = beside_own_cookies(given, &fields(&[("cookie", "sso=2")]));
        assert_eq!(found, fields(&[("X-CSRF-Token", "t"), ("Cookie", "sso=2; s=1")]));
    }
}
