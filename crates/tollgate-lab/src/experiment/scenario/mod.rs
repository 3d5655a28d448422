//! Scenarios as they stand in the file of an experiment.

mod check;
pub(super) mod file;
#[cfg(test)]
mod tests;
