//! How much a run measures, how long that takes and in which order, before it runs.

mod asked;
mod batch;
mod between;
mod extent;
mod make;
mod planned;
pub mod schedule;
#[cfg(test)]
mod tests;

pub(crate) use batch::DOCUMENTS_LEAST;
pub use extent::{Extent, ExtentDefaults};
pub use make::PlanOptions;
pub use planned::{
    ANSWERS_PER_USER, BLOCKS_LEAST, Plan, RatePlan, TRIALS_PER_BLOCK, WARM_UP_LEAST, WARM_UP_MOST, WARM_UP_OF_LADDER,
    blocks_within,
};
