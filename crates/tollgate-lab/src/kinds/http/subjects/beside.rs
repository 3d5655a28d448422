//! What an insert asks beside its transfers: how rows are read and deleted, past any link.
//!
//! It deliberately does not ask.

use std::sync::Arc;

use tollgate_net::http1::client::Target;
use tollgate_net::tls::ClientSettings;

use super::sites::{Origin, Site};
use crate::conduct::options::RunOptions;
use crate::experiment::Variant;
use crate::load::insert::Emptying;
use crate::load::target::{Connection, LoadTarget};
use crate::subject::is_named;
use crate::traffic::places::InsertPlaces;
use crate::traffic::request::RequestShape;

/// How rows are read and deleted.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    /// With GET.
    pub(crate) reading: Arc<LoadTarget>,
    /// With POST.
    pub(crate) emptying: Arc<LoadTarget>,
    /// Where.
    pub(crate) places: Arc<InsertPlaces>,
    /// Which rows may go.
    pub(crate) permission: Emptying,
}

/// Whether the tables of this site may be emptied whatever stands in them.
pub(crate) fn permission(site: &Site, options: &RunOptions) -> Emptying {
    match &site.place {
        Origin::There(target) if !is_named(target.host(), &options.may_empty) => Emptying::OnlyOwnRows,
        Origin::There(_) | Origin::Child(_) => Emptying::AllRows,
    }
}

/// Where the subject of a variant has what the experiment names.
pub(crate) fn places_on(
    options: &RunOptions,
    variant: &Variant,
    places: &InsertPlaces,
) -> Result<InsertPlaces, String> {
    let Some(peer) = options.peer(variant)? else { return Ok(places.clone()) };
    let own = |path: &String| peer.path(&options.experiment.name, path).unwrap_or_else(|| path.clone());
    Ok(InsertPlaces {
        service: own(&places.service),
        entity_set: places.entity_set.clone(),
        insert_all: own(&places.insert_all),
        delete_all: own(&places.delete_all),
    })
}

/// What an insert asks beside its transfers.
///
/// # Errors
/// What cannot be asked.
pub(crate) fn beside(
    direct: &Target,
    places: &InsertPlaces,
    asked: (ClientSettings, &[(String, String)]),
    permission: Emptying,
) -> Result<Beside, String> {
    let shape = |method: &str, headers: &[(&str, &str)], body: &[u8]| RequestShape {
        method: method.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_vec(),
        ..RequestShape::default()
    };
    let reading = shape("GET", &[("Accept", "application/json, text/plain")], b"");
    let emptying = shape("POST", &[("Content-Type", "application/json"), ("Accept", "application/json")], b"{}");
    Ok(Beside {
        reading: load_target(direct.clone(), reading, asked.clone())?,
        emptying: load_target(direct.clone(), emptying, asked)?,
        places: Arc::new(places.clone()),
        permission,
    })
}

/// A place that is asked in this way.
pub(super) fn load_target(
    target: Target,
    shape: RequestShape,
    (tls, headers): (ClientSettings, &[(String, String)]),
) -> Result<Arc<LoadTarget>, String> {
    let target = LoadTarget::new(target, shape, headers, Connection::KeepAlive).map_err(|error| error.to_string())?;
    Ok(Arc::new(target.with_tls(tls)))
}
