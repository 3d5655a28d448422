//! One running service: a model over a database, with everything compiled for it and its rules.
//!
//! The configuration chooses the services, and the protocols answer.

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
use crate::work::allowance::AnswerLimits;
use crate::work::answer_room::AnswerRoom;
use crate::work::pool::Pool;
use crate::work::weight::{ReadPlace, Rows, WorkPlace};

/// A service with its paths and grants.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    /// The service, which stays the same while access rules change.
    pub(crate) hosted: Arc<Hosted>,
    /// Mounts of its OData services.
    pub(crate) mounts: Vec<Mount>,
    /// Its plain REST.
    pub(crate) rest: Rest,
}

/// A running service.
#[derive(Debug)]
pub(crate) struct Hosted {
    /// Its name for the operator, unique in the gateway.
    pub(crate) name: String,
    /// Its model.
    pub(crate) model: Arc<Model>,
    /// Database of its entities.
    pub(crate) database: Database,
    /// The work processes over its database.
    pub(crate) pool: Pool,
    /// Stencils that write its entities.
    pub(crate) stencils: Stencils,
    /// Reader of request bodies.
    pub(crate) bodies: body::Reader,
    /// Its service descriptions.
    pub(crate) documents: Documents,
    /// Number of entities, for estimating the cost of a read.
    pub(crate) rows: Rows,
    /// Its rules for writing.
    pub(crate) rules: Rules,
    /// The limits of each of its answers.
    pub(crate) answers: AnswerLimits,
}

/// Path of a service, with its protocol version there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The path of the service root, with its slashes.
    pub(crate) root: Box<str>,
    /// The version.
    pub(crate) version: Version,
    /// Grants there.
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
    /// Compiles everything that serving needs.
    pub(crate) fn hosted(self, name: String, rules: Rules, room: &AnswerRoom) -> Hosted {
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
            answers: AnswerLimits::new(rules.answer_bytes_max, rules.answer_entities_max, room.clone()),
            rules,
            model,
        }
    }
}

impl Hosted {
    /// Place where `plan` is to be read if a page has at most `page_size` entities.
    pub(crate) fn place_of_read(&self, plan: &Plan, page_size: u64) -> ReadPlace {
        match self.pool.place_of_reads() {
            WorkPlace::Loop => self.rows.place(&self.model, plan, page_size),
            WorkPlace::Away => ReadPlace::Away,
        }
    }
}

impl Published {
    /// Creates the service with its names, without any grants yet.
    pub(crate) fn new(hosted: Hosted, mounts: Vec<Mount>, rest: Rest) -> Published {
        Published { hosted: Arc::new(hosted), mounts, rest }
    }

    /// Applies the access rules of `policy`.
    pub(crate) fn govern(&mut self, policy: &Policy) {
        let model = &*self.hosted.model;
        for mount in &mut self.mounts {
            mount.grants = policy.grants(&mount.root, mount.places(model));
        }
        self.rest.govern(policy, model);
    }

    /// The paths that access rules may name, with the entity set if it is one's.
    pub(crate) fn places(&self) -> Vec<(String, Option<&str>)> {
        let model = &*self.hosted.model;
        let mounts = self.mounts.iter().flat_map(|mount| mount.places(model)).chain(self.rest.places(model));
        let sets = mounts.map(|(set, path)| (path, Some(set)));
        sets.chain(self.mounts.iter().map(|mount| (mount.root.to_string(), None))).collect()
    }

    /// The roots of its mounts and of its plain REST.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.mounts.iter().map(|mount| &*mount.root).chain([self.rest.root()])
    }

    /// The paths of its own, with everything below them.
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

/// Counts the rows of each set once, for estimating the cost of reads.
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
