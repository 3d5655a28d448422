//! The token against forged requests that SAP's servers want from whoever writes, with the cookies that it goes with.
//!
//! It is asked for once for each service that is there before the run, and each access to it: a token is good for whoever
//! asked for it.

use crate::conduct::options::{RunError, RunOptions};
use crate::kinds::http::own::Added;
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
