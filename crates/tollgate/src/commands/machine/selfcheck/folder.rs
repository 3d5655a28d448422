//! The folder of the runs of a self-check: the user's, or one of our own that is removed with its check.
//!
//! A killed check cannot remove its folder, so the next one does. It does not look for process ids, which are reused
//! and differ between containers: a running check has a lock.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Prefix of our own folders, before the process id.
const NAME: &str = "tollgate-selfcheck-";
/// The file in such a folder that is locked while its check runs.
const LOCK: &str = "lock";

/// The folder of the runs.
#[derive(Debug)]
pub(super) enum Folder {
    /// The user's folder, which is kept.
    Kept(PathBuf),
    /// Our own folder, removed when this is dropped.
    Passing {
        /// Its path.
        path: PathBuf,
        /// The lock that keeps others from sweeping it.
        _lock: File,
    },
}

impl Folder {
    /// The user's folder, or one of our own after those of killed checks were swept.
    pub(super) fn of(kept: Option<&Path>) -> Result<Folder, Failure> {
        match kept {
            Some(folder) => Ok(Folder::Kept(folder.to_owned())),
            None => Folder::passing_in(&std::env::temp_dir()),
        }
    }

    fn passing_in(parent: &Path) -> Result<Folder, Failure> {
        sweep(parent);
        let path = parent.join(format!("{NAME}{}", std::process::id()));
        let locked = fs::create_dir_all(&path).and_then(|()| {
            let lock = File::create(path.join(LOCK))?;
            lock.lock()?;
            Ok(lock)
        });
        let lock = locked.map_err(|error| Failure::failed(format_args!("cannot write {}: {error}", path.display())))?;
        Ok(Folder::Passing { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Folder::Kept(path) | Folder::Passing { path, .. } => path,
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Folder::Passing { path, .. } = self {
            // What cannot be removed harms nothing.
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes leftovers of killed checks; those that cannot be removed, as they are another user's, stay.
fn sweep(parent: &Path) {
    let is_ours =
        |name: &str| name.strip_prefix(NAME).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_ours) && is_left(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the lock of this folder is free; a folder without a lock is not one of ours.
fn is_left(folder: &Path) -> io::Result<bool> {
    Ok(File::open(folder.join(LOCK))?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_check_left_is_swept_and_what_goes_on_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let inside = |name: &str| parent.path().join(name);
        for name in ["tollgate-selfcheck-1", "tollgate-selfcheck-2", "tollgate-selfcheck-3", "tollgate-selfcheck-x"] {
            fs::create_dir(inside(name)).unwrap();
        }
        for name in ["tollgate-selfcheck-1/lock", "tollgate-selfcheck-2/lock", "tollgate-selfcheck-x/lock"] {
            fs::write(inside(name), "").unwrap();
        }
        let going_on = File::open(inside("tollgate-selfcheck-2/lock")).unwrap();
        going_on.lock().unwrap();
        let own = Folder::passing_in(parent.path()).unwrap();
        let path = own.path().to_owned();
        assert!(path.is_dir());
        let left = |name: &str| inside(name).exists();
        assert!(!left("tollgate-selfcheck-1"), "nobody holds it");
        assert!(left("tollgate-selfcheck-2"), "its check goes on");
        assert!(left("tollgate-selfcheck-3") && left("tollgate-selfcheck-x"), "they are none of ours");
        // A check that goes on is not swept by another one.
        sweep(parent.path());
        assert!(path.is_dir());
        drop(own);
        assert!(!path.exists());
    }
}
