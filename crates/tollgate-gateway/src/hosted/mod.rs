//! One service that is served: a model over a database, with all that was compiled for it and the rules of its use.
//!
//! What it deliberately does not do: choose which services there are (the configuration), or answer (the protocols).

pub(crate) mod documents;
pub(crate) mod rest;
mod stencils;

use std::sync::Arc;

use tollgate_wire::body;
use tollgate_wire::edm::{Model, SetId, Version};
use tollgate_wire::plan::{Options, Plan, Shape};
use tollgate_wire::value::Row;

use self::documents::Documents;
use self::rest::Rest;
use self::stencils::Stencils;
use crate::auth::{Grants, Policy};
use crate::config::rules::Rules;
use crate::store::{Connection, Database, Flow, RowSink, Store, StoreError};
use crate::work::pool::Pool;
use crate::work::weight::{ReadPlace, Rows, WorkPlace};

/// A service where it is offered, and who may do what there.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The service, which stays the same while access rules change.
    pub(crate) hosted: Arc<Hosted>,
    /// Where it is served by OData.
    pub(crate) mounts: Vec<Mount>,
    /// What it serves by plain REST.
    pub(crate) rest: Rest,
}

/// A service that is served.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Its name for the operator, unique in the gateway.
    pub(crate) name: String,
    /// What it serves.
    pub(crate) model: Arc<Model>,
    /// Where its entities lie.
    pub(crate) database: Database,
    /// The work processes over its database.
    pub(crate) pool: Pool,
    /// How its entities are written.
    pub(crate) stencils: Stencils,
    /// How what is sent to it is read.
    pub(crate) bodies: body::Reader,
    /// How it is described.
    pub(crate) documents: Documents,
    /// How many entities there are, by which the weight of a read is told.
    pub(crate) rows: Rows,
    /// What it asks of those who write.
    pub(crate) rules: Rules,
}

/// Where a service is mounted, and in which version it speaks there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The path of the service root, with its slashes.
    pub(crate) root: Box<str>,
    /// The version.
    pub(crate) version: Version,
    /// Who may do what there.
    pub(crate) grants: Option<Arc<Grants>>,
}

/// A model with work processes over its database.
pub(crate) struct Opened {
    pub(crate) model: Model,
    pub(crate) database: Database,
    pub(crate) pool: Pool,
    pub(crate) rows: Rows,
}

impl Opened {
    /// Compiles what a service needs to be served.
    pub(crate) fn hosted(self, name: String, rules: Rules) -> Hosted {
        let Opened { model, database, pool, rows } = self;
        let model = Arc::new(model);
        Hosted {
            name,
            database,
            pool,
            stencils: Stencils::new(&model),
            bodies: body::Reader::new(Arc::clone(&model)),
            documents: Documents::new(&model),
            rows,
            rules,
            model,
        }
    }
}

impl Hosted {
    /// Where `plan` is to be read when a page holds at most `page_size` entities.
    pub(crate) fn place_of_read(&self, plan: &Plan, page_size: u64) -> ReadPlace {
        match self.pool.place_of_reads() {
            WorkPlace::Loop => self.rows.place(&self.model, plan, page_size),
            WorkPlace::Away => ReadPlace::Away,
        }
    }
}

impl Published {
    /// The service with its names, where nobody may do anything yet.
    pub(crate) fn new(hosted: Hosted, mounts: Vec<Mount>, rest: Rest) -> Published {
        Published { hosted: Arc::new(hosted), mounts, rest }
    }

    /// Lets everything be done as `policy` says.
    pub(crate) fn govern(&mut self, policy: &Policy) {
        let model = &*self.hosted.model;
        for mount in &mut self.mounts {
            mount.grants = policy.grants(&mount.root, mount.places(model));
        }
        self.rest.govern(policy, model);
    }

    /// The paths that access rules may be for, with the entity set where it is one's.
    pub(crate) fn places(&self) -> Vec<(String, Option<&str>)> {
        let model = &*self.hosted.model;
        let mounts = self.mounts.iter().flat_map(|mount| mount.places(model)).chain(self.rest.places(model));
        let sets = mounts.map(|(set, path)| (path, Some(set)));
        sets.chain(self.mounts.iter().map(|mount| (mount.root.to_string(), None))).collect()
    }

    /// The paths that are its own, with all that is below them.
    pub(crate) fn taken(&self) -> impl Iterator<Item = String> {
        let roots = self.mounts.iter().map(|mount| mount.root.trim_end_matches('/').to_owned());
        roots.chain(self.rest.taken())
    }

    /// The mount that `path` is below.
    pub(crate) fn mount_of(&self, path: &str) -> Option<&Mount> {
        self.mounts.iter().find(|mount| is_below(path, &mount.root))
    }
}

impl Mount {
    /// The entity sets, each with its path.
    fn places<'m>(&self, model: &'m Model) -> impl Iterator<Item = (&'m str, String)> {
        model.entity_sets.iter().map(|set| (&*set.name, format!("{}{}", self.root, set.name)))
    }
}

/// Whether `path` is `root` or below it; the root's last slash may be missing.
pub(crate) fn is_below(path: &str, root: &str) -> bool {
    path.starts_with(root) || root.strip_suffix('/') == Some(path)
}

/// Counts the rows of each set once, by which the weight of a read is told.
pub(crate) fn count_rows(model: &Model, connection: &mut Connection) -> Result<Rows, StoreError> {
    struct Total(u64);
    impl RowSink for Total {
        fn total(&mut self, count: u64) -> Flow {
            self.0 = count;
            Flow::Continue
        }
        fn entity<R: Row>(&mut self, _row: &R) -> Flow {
            Flow::Continue
        }
    }
    let mut rows = Vec::with_capacity(model.entity_sets.len());
    for set in 0..model.entity_sets.len() {
        let root = SetId(set);
        let plan = Plan { root, key: None, steps: Vec::new(), shape: Shape::Count, options: Options::default() };
        let mut total = Total(0);
        match connection.read(model, &plan, None, &mut total) {
            Ok(_) => rows.push(total.0),
            // What takes so long to be counted has many, and may still get more.
            Err(StoreError::TimeBudget) => rows.push(u64::MAX / 2),
            Err(error) => return Err(error),
        }
    }
    Ok(Rows::counted(rows))
}
