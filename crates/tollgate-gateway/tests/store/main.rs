//! The store held against a naive evaluation in memory, over rows with nulls, Unicode and extreme numbers, and its
//! answers to paths, hostile requests and other special cases.

mod naive;
mod plans;
mod random_plans;
mod world;
