//! Plans of URLs that come again: each event loop parses such a URL once and keeps the plan.
//!
//! A plan depends on nothing but model, version and URL: permissions and data are checked and read anew for each
//! request. Errors in a URL are not kept.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use tollgate_wire::edm::{Model, Version};
use tollgate_wire::plan::Resource;
use tollgate_wire::url::{self, CustomOption, UrlError};

/// URLs kept by one event loop.
const KEPT_MAX: usize = 64;

/// Bytes of the longest kept URL.
const URL_BYTES_MAX: usize = 2 * 1024;

/// Nodes of the largest kept plan, some 20 KiB: a short URL may become many nodes.
const NODES_MAX: usize = 256;

/// Recently used plans of one event loop.
#[derive(Debug)]
pub(crate) struct Plans {
    slots: RefCell<Vec<Slot>>,
}

/// One slot for all URLs with the same remainder of their hash.
#[derive(Debug, Default)]
struct Slot {
    /// The URL that was parsed last in this slot, by its hash: a plan is kept only on the second use.
    last: u64,
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    model: Arc<Model>,
    version: Version,
    path: Box<str>,
    query: Option<Box<str>>,
    found: (Resource, Vec<CustomOption>),
}

impl Default for Plans {
    fn default() -> Plans {
        Plans { slots: RefCell::new((0..KEPT_MAX).map(|_| Slot::default()).collect()) }
    }
}

impl Plans {
    /// Parses a URL, or returns a kept plan.
    ///
    /// # Errors
    /// Those of [`url::parse`].
    pub(crate) fn read(
        &self,
        model: &Arc<Model>,
        version: Version,
        path: &str,
        query: Option<&str>,
    ) -> Result<(Resource, Vec<CustomOption>), UrlError> {
        if path.len() + query.map_or(0, str::len) > URL_BYTES_MAX {
            return url::parse(model, version, path, query);
        }
        let mut hasher = DefaultHasher::new();
        (Arc::as_ptr(model) as usize, version == Version::V2, path, query).hash(&mut hasher);
        let hash = hasher.finish();
        let mut slots = self.slots.borrow_mut();
        let slot = &mut slots[hash as usize % KEPT_MAX];
        if let Some(kept) = &slot.kept
            && Arc::ptr_eq(&kept.model, model)
            && kept.version == version
            && *kept.path == *path
            && kept.query.as_deref() == query
        {
            return Ok(kept.found.clone());
        }
        let found = url::parse(model, version, path, query)?;
        if slot.last == hash && is_small(&found.0) {
            let (model, path, query) = (Arc::clone(model), path.into(), query.map(Box::from));
            slot.kept = Some(Kept { model, version, path, query, found: found.clone() });
        }
        slot.last = hash;
        Ok(found)
    }
}

fn is_small(found: &Resource) -> bool {
    match found {
        Resource::Read(plan) | Resource::References(plan) => plan.options.nodes() <= NODES_MAX,
        Resource::Act(_) => false,
        Resource::ServiceDocument | Resource::Metadata | Resource::Batch | Resource::Function(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::{flights, records};

    /// Number of kept URLs.
    fn kept(plans: &Plans) -> usize {
        plans.slots.borrow().iter().filter(|slot| slot.kept.is_some()).count()
    }

    #[test]
    fn a_url_asks_for_the_same_however_often_it_comes() {
        let (plans, flights, records) = (Plans::default(), Arc::new(flights::model()), Arc::new(records::model()));
        for _ in 0..3 {
            for (path, query) in [
                ("FlightCollection", None),
                ("FlightCollection", Some("")),
                ("FlightCollection", Some("$top=20")),
                ("FlightCollection", Some("$top=21")),
                (
                    "FlightCollection",
                    Some("$filter=PRICE%20gt%20500&$expand=flightBookings($select=PASSNAME)&sap-client=1"),
                ),
                ("CarrierCollection('AA')", None),
                ("CarrierCollection('LH')", None),
                ("FlightCollection", Some("$filter=PRICE%20gt")),
                ("NoCollection", None),
            ] {
                for model in [&flights, &records] {
                    for version in [Version::V2, Version::V4] {
                        let expected = url::parse(model, version, path, query);
                        assert_eq!(plans.read(model, version, path, query), expected, "{path} {query:?} {version:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_comes_a_second_time_is_kept_unless_it_is_wrong_or_large() {
        let (plans, model) = (Plans::default(), Arc::new(flights::model()));
        let read = |path: &str, query: &str| plans.read(&model, Version::V4, path, Some(query)).is_ok();
        let doubling = "$compute=PRICE%20add%20PRICE%20as%20a,a%20add%20a%20as%20b,b%20add%20b%20as%20c,c%20add%20c%20as%20d,\
                        d%20add%20d%20as%20e,e%20add%20e%20as%20f,f%20add%20f%20as%20g,g%20add%20g%20as%20h";
        let long = format!("$filter=carrid%20eq%20'{}'", "A".repeat(URL_BYTES_MAX));
        for (path, query, kept_after) in [
            ("FlightCollection", "$top=20", 0),
            ("FlightCollection", "$top=20", 1),
            ("NoCollection", "$top=20", 1),
            ("NoCollection", "$top=20", 1),
            ("FlightCollection", &*long, 1),
            ("FlightCollection", &*long, 1),
            ("FlightCollection", doubling, 1),
            ("FlightCollection", doubling, 1),
        ] {
            assert_eq!(read(path, query), path == "FlightCollection");
            assert_eq!(kept(&plans), kept_after, "{path}");
        }
    }
}
