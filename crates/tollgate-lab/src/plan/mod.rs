//! The amount, the duration and the order of a run's measurements, before it runs.

mod asked;
mod extent;
mod make;
mod planned;
pub mod schedule;

pub(crate) use asked::goes_through;
pub use extent::{Extent, ExtentDefaults};
pub use make::PlanOptions;
pub(crate) use planned::seconds;
pub use planned::{
    ANSWERS_PER_USER, BLOCKS_LEAST, Note, Plan, RatePlan, TRIALS_PER_BLOCK, WARM_UP_LEAST, WARM_UP_MOST, blocks_within,
};
