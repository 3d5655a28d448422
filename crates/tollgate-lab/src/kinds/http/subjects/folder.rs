//! Folders that a run makes for a subject, and that go with what they were made for.
//!
//! It deliberately makes none: who does knows who may look into it.

use std::fs;
use std::path::PathBuf;

/// A folder with all that is in it. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The run's folder where it was made for this one; it goes as well if nothing else came into it.
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
