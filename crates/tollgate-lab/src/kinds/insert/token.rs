//! The token against forged requests that SAP's servers want from whoever writes, with the cookies that it goes with.
//!
//! It is asked for once, of the first service that is there before the run.

use crate::conduct::options::{RunError, RunOptions};
use crate::kinds::http::subjects::beside::beside;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::load::insert;
use crate::traffic::places::Record;

/// The header fields of it; none where records are not made from a service's description, or the service wants none.
///
/// # Errors
/// That the service cannot be asked.
pub(super) fn of(
    options: &RunOptions,
    sites: &[Site],
    headers: &[(String, String)],
) -> Result<Vec<(String, String)>, RunError> {
    for site in sites {
        let Origin::There(target) = &site.place else { continue };
        let Some(beside) = beside(target, site, options, headers).map_err(RunError::Failed)? else { continue };
        if beside.places.record == Record::Published {
            continue;
        }
        let name = &options.experiment.variants[site.variant].name;
        return insert::token(&beside)
            .map_err(|why| RunError::Failed(format!("the subject of `{name}` gives no valid answer: {why}")));
    }
    Ok(Vec::new())
}
