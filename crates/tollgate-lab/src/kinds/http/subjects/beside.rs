//! Requests of an insert beside its transfers: to read and delete rows, bypassing any link.
//!
//! It does not send them.

use std::sync::Arc;

use tollgate_net::http1::client::Target;
use tollgate_net::tls::ClientSettings;

use super::sites::{Origin, Site};
use crate::conduct::options::RunOptions;
use crate::experiment::Experiment;
use crate::kinds::http::own::{self, Added};
use crate::load::insert::{ANY_STATE, Beside, Emptying};
use crate::load::target::{Connection, LoadTarget};
use crate::subject::is_named;
use crate::traffic::places::InsertPlaces;
use crate::traffic::request::RequestShape;

/// The requests of an insert beside its transfers; absent for other experiments.
///
/// # Errors
/// Whatever cannot be requested.
pub(crate) fn beside(
    direct: &Target,
    site: &Site,
    options: &RunOptions,
    added: Added<'_>,
) -> Result<Option<Beside>, String> {
    let Some(places) = options.experiment.own::<InsertPlaces>() else { return Ok(None) };
    let (headers, tls) = own::access(options, site, added)?;
    let ask = |method: &str, own: &[(&str, &str)], body: &[u8]| {
        let shape = RequestShape {
            method: method.to_owned(),
            headers: own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: body.to_vec(),
            ..RequestShape::default()
        };
        load_target(direct.clone(), shape, (tls.clone(), &headers))
    };
    Ok(Some(Beside {
        reading: ask("GET", &[("Accept", "application/json, text/plain")], b"")?,
        emptying: ask("POST", &[("Content-Type", "application/json"), ("Accept", "application/json")], b"{}")?,
        batching: ask("POST", &[("Accept", "multipart/mixed")], b"")?,
        deleting: ask("DELETE", &[], b"")?,
        deleting_any: ask("DELETE", &[ANY_STATE], b"")?,
        describing: ask("GET", &[("Accept", "application/xml, */*;q=0.1"), ("X-CSRF-Token", "Fetch")], b"")?,
        places: Arc::new(places_on(site, options, places)?),
        state: Arc::default(),
        permission: match &site.place {
            _ if places.delete_all.is_none() => Emptying::OwnKeys,
            Origin::There(target) if !is_named(target.host(), &options.may_empty) => Emptying::OnlyOwnRows,
            Origin::There(_) | Origin::Child(_) => Emptying::AllRows,
        },
    }))
}

/// The paths on a site's subject that correspond to the experiment's.
fn places_on(site: &Site, options: &RunOptions, places: &InsertPlaces) -> Result<InsertPlaces, String> {
    let Experiment { name, variants, .. } = &options.experiment;
    let Some(peer) = options.peer(&variants[site.variant])? else { return Ok(places.clone()) };
    let own = |path: &String| peer.path(name, path).unwrap_or_else(|| path.clone());
    Ok(InsertPlaces {
        service: own(&places.service),
        insert_all: places.insert_all.as_ref().map(own),
        delete_all: places.delete_all.as_ref().map(own),
        ..places.clone()
    })
}

/// A target for such requests.
pub(super) fn load_target(
    target: Target,
    shape: RequestShape,
    (tls, headers): (ClientSettings, &[(String, String)]),
) -> Result<Arc<LoadTarget>, String> {
    let target = LoadTarget::new(target, shape, headers, Connection::KeepAlive).map_err(|error| error.to_string())?;
    Ok(Arc::new(target.with_tls(tls)))
}
