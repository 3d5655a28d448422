//! Parts common to the files of several kinds of experiments on servers.

pub(crate) mod answer;
pub(crate) mod connections;
pub(crate) mod list;
pub(crate) mod served;
pub(crate) mod users;
