//! A run of inserts empties the table that it measures. A table that is not ours is counted first: its rows are the
//! user's, and are deleted only if the user allowed it.
//!
//! It counts rows, and changes nothing.

use crate::conduct::options::{RunError, RunOptions};
use crate::kinds::http::own::Added;
use crate::kinds::http::subjects::beside::beside;
use crate::kinds::http::subjects::sites::{Origin, Site};
use crate::load::insert::{self, Emptying};
use crate::secret;
use crate::subject::is_named;

/// Checks that every table that existed before the run is empty, or may be emptied. A table from which only our own
/// rows are deleted may have others.
///
/// # Errors
/// The table that is not empty, with its rows and the flag that allows it; or that it cannot be counted.
pub(crate) fn check(options: &RunOptions, sites: &[Site], headers: &[(String, String)]) -> Result<(), RunError> {
    let mut counted = Vec::new();
    for site in sites {
        let Origin::There(target) = &site.place else { continue };
        if is_named(target.host(), &options.may_empty) {
            continue;
        }
        let Some(beside) =
            beside(target, site, options, Added { all: headers, wanted: &[] }).map_err(RunError::Failed)?
        else {
            continue;
        };
        if beside.permission == Emptying::OwnKeys {
            continue;
        }
        let scheme = if target.to_string().starts_with("https") { "https" } else { "http" };
        let url = format!("{scheme}://{}{}", target.authority(), beside.places.entity_path());
        if counted.contains(&url) {
            continue;
        }
        let rows = insert::count(&beside).map_err(|why| {
            let (name, url) = (&options.experiment.variants[site.variant].name, secret::hide(&url));
            RunError::Failed(format!("the subject of `{name}` gives no valid answer at {url}: {why}"))
        })?;
        if rows > 0 {
            return Err(RunError::Usage(refusal(&url, rows, target.host())));
        }
        counted.push(url);
    }
    Ok(())
}

fn refusal(url: &str, rows: u64, host: &str) -> String {
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let url = secret::hide(url);
    format!("{url} holds {rows}, and this run empties that table: if they may go, say --i-may-empty {host}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_table_its_rows_and_the_flag() {
        let check = |rows: u64, expected: &str| assert_eq!(refusal("http://h/s/T", rows, "h"), expected);
        check(1, "http://h/s/T holds 1 row, and this run empties that table: if they may go, say --i-may-empty h");
        check(20, "http://h/s/T holds 20 rows, and this run empties that table: if they may go, say --i-may-empty h");
    }
}
