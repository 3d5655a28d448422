//! Folders that a run makes for a subject. Each is removed with the value that owns it.
//!
//! They are made elsewhere, as their permissions differ.

use std::fs;
use std::path::PathBuf;

/// A folder with its contents. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The run's folder if it was made for this one; it is removed, too, if it contains nothing else.
    pub(crate) made: Option<PathBuf>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in a folder for results, where it is seen.
        let _ = fs::remove_dir_all(&self.path);
        if let Some(run) = &self.made {
            // It holds results, unless nothing was measured.
            let _ = fs::remove_dir(run);
        }
    }
}
