//! What is known beforehand of the answers of a route that are kept: fields that its mediators read and change.
//!
//! Which answers may be kept and for how long is the cache's affair.

use crate::config::{Keeping, Route};
use crate::mediate::{Mediation, Touches};

/// Fields that the backend gets from us, whatever the client says.
const OURS: [&str; 2] = ["forwarded", "x-forwarded-for"];

/// What is known beforehand of the answers of a route that are kept.
#[derive(Debug)]
pub(super) struct Caching {
    /// Fields of a request that its mediators read.
    pub(super) reads: Box<[Box<str>]>,
    /// Fields of which the backend is told something else than the client said.
    pub(super) changes: Box<[Box<str>]>,
}

impl Caching {
    /// Of a route with these mediators, if its answers are kept at all.
    pub(super) fn of(route: &Route, mediation: &Mediation) -> Option<Caching> {
        if route.cache == Keeping::Never {
            return None;
        }
        let (mut reads, mut changes) = (Vec::<Box<str>>::new(), Vec::<Box<str>>::from(OURS.map(Box::from)));
        mediation.request.fields(&mut |touches, name| {
            let names = match touches {
                Touches::Reads => &mut reads,
                Touches::Changes => &mut changes,
            };
            if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                names.push(name.into());
            }
        });
        Some(Caching { reads: reads.into(), changes: changes.into() })
    }
}
