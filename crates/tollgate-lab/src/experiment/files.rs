//! The files that an experiment names: in the program, or beside the experiment's own.
//!
//! It does not look into them.

use std::fs;
use std::path::{Path, PathBuf};

use tollgate_facts::names::did_you_mean;

/// Largest file that an experiment may name.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The files that built-in experiments name.
const BUILT_IN: &[(&str, &str)] = &[
    ("mediation/1k.txt", include_str!("../../experiments/mediation/1k.txt")),
    ("mediation/5k.txt", include_str!("../../experiments/mediation/5k.txt")),
    ("mediation/get-quote.xml", include_str!("../../experiments/mediation/get-quote.xml")),
    ("mediation/check-price.xml", include_str!("../../experiments/mediation/check-price.xml")),
    ("mediation/mediator.toml", include_str!("../../experiments/mediation/mediator.toml")),
    ("mediation/request.xsl", include_str!("../../experiments/mediation/request.xsl")),
    ("mediation/response.xsl", include_str!("../../experiments/mediation/response.xsl")),
    ("ladder/gateway.toml", include_str!("../../experiments/ladder/gateway.toml")),
];

/// The place of the files that an experiment names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// In the program.
    BuiltIn,
    /// In this folder.
    In(PathBuf),
}

impl Files {
    /// The files beside a file.
    pub(crate) fn beside(file: &str) -> Files {
        Files::In(Path::new(file).parent().unwrap_or(Path::new("")).to_owned())
    }

    /// The path of a file; for a built-in one, its name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match self {
            Files::BuiltIn => PathBuf::from(name),
            Files::In(folder) => folder.join(name),
        }
    }

    /// The folder in which a command of the experiment runs; that of tollgate itself if the file is named without one.
    pub(crate) fn folder(&self, below: &Path) -> PathBuf {
        let folder = self.path("").join(below);
        if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
    }

    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        match self {
            Files::BuiltIn => {
                let known = BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
                known.ok_or_else(|| did_you_mean(name, BUILT_IN.iter().map(|(name, _)| *name)))
            }
            Files::In(_) => {
                let path = self.path(name);
                let told = |error: std::io::Error| format!("{}: {error}", path.display());
                let length = fs::metadata(&path).map_err(told)?.len();
                if length > FILE_BYTES_MAX {
                    return Err(format!(
                        "{}: it has {length} bytes, at most {FILE_BYTES_MAX} are read",
                        path.display()
                    ));
                }
                fs::read_to_string(&path).map_err(told)
            }
        }
    }
}
