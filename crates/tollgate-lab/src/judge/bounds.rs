//! Bounds of the rules.

pub use tollgate_facts::rules::CORES_BUSY_MAX;

/// Failed requests above this share suppress the ratio.
pub const ERROR_SHARE_MAX: f64 = 0.001;
/// A generator thread busier than this is the limit itself.
pub const GENERATOR_SHARE_MAX: f64 = 0.8;
/// A generator that waits longer for its core than this share measures itself.
pub const RUN_QUEUE_SHARE_MAX: f64 = 0.05;
/// With more than this of the subjects' cores used, the subject and the server behind it wait for each other.
pub(crate) const SUBJECT_CORES_BUSY_MAX: f64 = 0.9;
/// Least CPU use of a backend, as a share of the subject's, with which it can limit the subject.
pub(crate) const BACKEND_PART_MIN: f64 = 0.1;
/// The delay that a link adds may be off by this share of the delay asked …
pub(crate) const LINK_SHARE_MAX: f64 = 0.1;
/// … or by this much, in microseconds: two wake-ups of a thread vary by it.
pub(crate) const LINK_OFF_US: f64 = 30.0;
/// Stolen time above this share is marked.
pub const STEAL_SHARE_MAX: f64 = 0.01;
/// Connections opened beyond the users' own, as a share of the requests.
pub const FRESH_SHARE_MAX: f64 = 0.01;
/// Fewest answers of a cell whose figures can be read.
pub const REQUESTS_MIN: u64 = 300;
/// Fewest blocks for a useful interval.
pub(crate) const BLOCKS_MIN: u32 = 8;
/// With fewer answers for each user a trial is mostly its start and its end.
pub const ANSWERS_PER_USER_MIN: f64 = 10.0;
