//! Static caching properties of a route: fields that its mediators read and change.
//!
//! The cache decides which answers are stored and for how long.

use crate::config::{Keeping, Route};
use crate::mediate::{Mediation, Touches};

/// Fields that the backend gets from us, whatever the client sends.
const OURS: [&str; 2] = ["forwarded", "x-forwarded-for"];

/// Static caching properties of a route.
#[derive(Debug)]
pub(super) struct Caching {
    /// Request fields that its mediators read.
    pub(super) reads: Box<[Box<str>]>,
    /// Fields that the backend receives changed.
    pub(super) changes: Box<[Box<str>]>,
}

impl Caching {
    /// Properties of a route with these mediators, if its answers are stored at all.
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
