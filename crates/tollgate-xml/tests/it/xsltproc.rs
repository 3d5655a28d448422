//! The oracle: Debian's `xsltproc`, run on a case in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::cases::Case;

/// Its answer to a case.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) bytes: Vec<u8>,
    /// Absent where it ended well.
    pub(crate) failure: Option<String>,
    /// Its messages beside the result.
    pub(crate) said: String,
}

/// Whether it is installed.
pub(crate) fn is_there() -> bool {
    Command::new("xsltproc").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Asks it.
pub(crate) fn ask(case: &Case, folder: &Path) -> Answer {
    fs::write(folder.join("sheet.xsl"), &case.stylesheet).unwrap();
    fs::write(folder.join("input.xml"), &case.input).unwrap();
    for (name, content) in &case.files {
        if let Some((within, _)) = name.rsplit_once('/') {
            fs::create_dir_all(folder.join(within)).unwrap();
        }
        fs::write(folder.join(name), content).unwrap();
    }
    let mut command = Command::new("xsltproc");
    command.current_dir(folder).args(["--nonet", "--maxdepth", "3000"]);
    for (name, value) in &case.parameters {
        command.args(["--stringparam", name, value]);
    }
    let output = command.args(["sheet.xsl", "input.xml"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let failure = (!output.status.success()).then(|| said.clone());
    Answer { bytes: output.stdout, failure, said }
}
