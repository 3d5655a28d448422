//! The file of an experiment whose levels are not numbers of users: as many users at each level.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{ExperimentError, LEVEL_MAX, UpTo, Users};

/// Most users.
const USERS_MAX: u32 = LEVEL_MAX as u32;
/// Users if the file does not say.
const USERS_DEFAULT: u32 = 20;

/// The keys.
pub(crate) const KEYS: &[Keys] = &[Keys::of::<UsersFile>(TableName::Workload)];

/// The users.
#[derive(Debug, Deserialize, JsonSchema)]
struct UsersFile {
    /// Users at every level, where levels are something else; absent: 20.
    users: Option<UpTo<USERS_MAX>>,
}

/// Takes the key.
pub(crate) fn take(document: &mut Document<'_>) -> Result<Users, ExperimentError> {
    let UsersFile { users } = document.take(TableName::Workload)?;
    Ok(Users::Same(users.map_or(USERS_DEFAULT, |UpTo(users)| users)))
}
