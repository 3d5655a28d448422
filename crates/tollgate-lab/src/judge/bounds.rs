//! The numbers that rules hold figures against.

pub use tollgate_facts::rules::CORES_BUSY_MAX;

/// Failed requests above this share suppress the ratio.
pub const ERROR_SHARE_MAX: f64 = 0.001;
/// A generator thread busier than this is the limit itself.
pub const GENERATOR_SHARE_MAX: f64 = 0.8;
/// A generator that waits longer for its core than this share measures itself.
pub const RUN_QUEUE_SHARE_MAX: f64 = 0.05;
/// With more than this of the subjects' cores used, the subject and the server behind it wait for each other.
pub(crate) const SUBJECT_CORES_BUSY_MAX: f64 = 0.9;
/// A backend that uses less than this of what the subject uses does not limit it.
pub(crate) const BACKEND_PART_MIN: f64 = 0.1;
/// What a link adds may be off by one part in ten of what was asked …
pub(crate) const LINK_SHARE_MAX: f64 = 0.1;
/// … or by so much: what two wake-ups of a thread vary by.
pub(crate) const LINK_OFF_US: f64 = 30.0;
/// Stolen time above this share is marked.
pub const STEAL_SHARE_MAX: f64 = 0.01;
/// Connections opened beyond the users' own, by requests.
pub const FRESH_SHARE_MAX: f64 = 0.01;
/// Fewest answers of a cell whose figures stand.
pub const REQUESTS_MIN: u64 = 300;
/// Fewest blocks for an interval that says something.
pub(crate) const BLOCKS_MIN: u32 = 8;
/// With fewer answers for each user a trial is mostly its start and its end.
pub const ANSWERS_PER_USER_MIN: f64 = 10.0;
