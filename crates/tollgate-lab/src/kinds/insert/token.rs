//! The token against forged requests that SAP's servers require for writing, and its cookies.
//!
//! It is fetched once for each service that existed before the run, and each access to it: a token belongs to its
//! requester.

use crate::conduct::options::{RunError, RunOptions};
use crate::kinds::http::own::Added;
use crate::kinds::http::subjects::beside::beside;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::load::insert;
use crate::traffic::places::Record;

/// Header fields of tokens, each with the variant whose requests need them.
pub(super) type Tokens = Vec<(usize, Vec<(String, String)>)>;

/// The header fields of the tokens by variants; none if records are not made from a service's description, or the
/// service needs none.
///
/// # Errors
/// A service that cannot be asked.
pub(super) fn of(options: &RunOptions, sites: &[Site], headers: &[(String, String)]) -> Result<Tokens, RunError> {
    let (mut all, mut known) = (Vec::new(), Vec::new());
    for site in sites {
        let Origin::There(target) = &site.place else { continue };
        let Some(beside) =
            beside(target, site, options, Added { all: headers, wanted: &[] }).map_err(RunError::Failed)?
        else {
            continue;
        };
        if beside.places.record == Record::Published {
            continue;
        }
        let variant = &options.experiment.variants[site.variant];
        let service = (target.scheme(), target.authority(), &variant.access);
        let found = known.iter().find(|(other, _)| *other == service).map(|(_, fields): &(_, Vec<_>)| fields.clone());
        let fields = match found {
            Some(fields) => fields,
            None => insert::token(&beside).map_err(|why| {
                RunError::Failed(format!("the subject of `{}` gives no valid answer: {why}", variant.name))
            })?,
        };
        known.push((service, fields.clone()));
        all.push((site.variant, fields));
    }
    Ok(all)
}
