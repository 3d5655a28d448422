//! The servers behind the subjects, each a process that is started before them, and the configuration of our own
//! mediator, which contains their URLs.
//!
//! It does not watch them (see [`super::watched`]).

use std::cell::RefCell;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::folder::Folder;
use super::sites::{Origin, Processes, Site};
use super::watched::Process;
use crate::conduct::options::RunOptions;
use crate::cores::Cores;
use crate::experiment::{Configuration, Variant};
use crate::subject::Child;

/// The configuration's folder inside the run's.
const FOLDER: &str = "mediator";
/// Name of the configuration's file.
const CONFIGURATION: &str = "mediator.toml";

/// Running servers behind subjects. Dropping it ends those without other owners.
#[derive(Debug, Default)]
pub(crate) struct Backends {
    /// Names and processes of all servers.
    pub(crate) running: Vec<(String, Rc<RefCell<Process>>)>,
    /// The configuration of our own mediator.
    pub(crate) laid: Option<Laid>,
}

/// A configuration as a file, beside the files that it names. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Laid {
    folder: Folder,
    /// Its path.
    pub(crate) file: PathBuf,
    /// The file that it was made from.
    source: PathBuf,
}

impl Laid {
    /// Replaces these files in a message by the author's, which have the same lines.
    pub(crate) fn told(&self, message: &str) -> String {
        let text = |path: &Path| path.display().to_string();
        let beside = self.source.parent().filter(|folder| !folder.as_os_str().is_empty());
        let message = message.replace(&text(&self.file), &text(&self.source));
        message.replace(&text(&self.folder.path), &text(beside.unwrap_or(Path::new("."))))
    }
}

impl Backends {
    /// Starts all backends of the experiment if any variant is measured on a process of ours.
    ///
    /// # Errors
    /// The first variant to be measured, and why it cannot be.
    pub(crate) fn begin(
        options: &RunOptions,
        sites: &[Site],
        processes: Processes,
        run: &Path,
        cores: &Cores,
    ) -> Result<Backends, (usize, String)> {
        let experiment = &options.experiment;
        let is_ours = |site: &&Site| matches!(site.place, Origin::Child(_));
        let Some(first) = sites.iter().find(is_ours) else { return Ok(Backends::default()) };
        let mut backends = Backends::default();
        for backend in &experiment.backends {
            let failed = |how: String| (first.variant, format!("has no backend `{}`: {how}", backend.name.as_ref()));
            let begun = Child::start(Ipv4Addr::LOCALHOST, &options.serve_program, &backend.arguments, cores);
            let begun = Process::of(begun.map_err(failed)?);
            backends.running.push((backend.name.as_ref().clone(), Rc::new(RefCell::new(begun))));
        }
        let is_shared = |_: &&Configuration| processes != Processes::OfEachLevel;
        if let Some(configuration) = experiment.configuration.as_ref().filter(is_shared) {
            let laid = lay(configuration, &backends.urls(), run).map_err(|how| (first.variant, how))?;
            backends.laid = Some(laid);
        }
        Ok(backends)
    }

    /// The backend that serves a variant without a subject.
    pub(crate) fn of(&self, site: &Site, variant: &Variant) -> Option<Rc<RefCell<Process>>> {
        let name = variant.backend.as_ref().filter(|_| matches!(site.place, Origin::Child(_)))?;
        self.running.iter().find(|(known, _)| known == name).map(|(_, process)| Rc::clone(process))
    }

    /// Names and URLs of the servers.
    pub(crate) fn urls(&self) -> Vec<(String, String)> {
        let url = |process: &Rc<RefCell<Process>>| process.borrow().url().trim_end_matches('/').to_owned();
        self.running.iter().map(|(name, process)| (name.clone(), url(process))).collect()
    }
}

/// Writes a configuration, with these values in it, into a new folder of the run.
///
/// # Errors
/// The folder or file that could not be written.
pub(crate) fn lay(configuration: &Configuration, values: &[(String, String)], run: &Path) -> Result<Laid, String> {
    // Of an earlier start its own is still there until its subjects are gone.
    let folder = (0..).map(|number| run.join(format!("{FOLDER}-{number}"))).find(|folder| !folder.exists());
    let folder = folder.unwrap_or_else(|| run.join(FOLDER));
    let told = |error: std::io::Error| format!("needs the new folder {}: {error}", folder.display());
    let made = (!run.exists()).then(|| run.to_owned());
    fs::create_dir_all(run).and_then(|()| fs::create_dir(&folder)).map_err(told)?;
    let folder = std::path::absolute(&folder).map_err(told)?;
    let (file, source) = (folder.join(CONFIGURATION), configuration.source.clone());
    let laid = Laid { folder: Folder { path: folder, made }, file, source };
    let write = || {
        fs::write(&laid.file, configuration.filled(values))?;
        configuration.files.iter().try_for_each(|(name, text)| fs::write(laid.folder.path.join(name), text))
    };
    write().map_err(|error: std::io::Error| format!("needs files in {}: {error}", laid.folder.path.display()))?;
    Ok(laid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_stands_beside_what_it_names_with_the_urls_of_the_backends_and_goes_with_the_run() {
        let run = tempfile::tempdir().unwrap();
        let configuration = Configuration {
            source: PathBuf::from("mine/esb.toml"),
            text: "urls = [\"{echo}\", \"{echo}\"] # {other}".to_owned(),
            files: vec![("request.xsl".to_owned(), "<xsl/>".to_owned())],
        };
        let urls = [("echo".to_owned(), "http://127.0.0.1:1".to_owned())];
        let laid = [(); 2].map(|()| lay(&configuration, &urls, run.path()).unwrap());
        assert_ne!(laid[0].file, laid[1].file, "another start has its own");
        let text = fs::read_to_string(&laid[0].file).unwrap();
        assert_eq!(text, "urls = [\"http://127.0.0.1:1\", \"http://127.0.0.1:1\"] # {other}");
        assert_eq!(fs::read_to_string(laid[0].folder.path.join("request.xsl")).unwrap(), "<xsl/>");
        let message = format!("{}:3:1 and {}/request.xsl", laid[0].file.display(), laid[0].folder.path.display());
        assert_eq!(laid[0].told(&message), "mine/esb.toml:3:1 and mine/request.xsl");
        drop(laid);
        assert_eq!(fs::read_dir(run.path()).unwrap().count(), 0);
        let fresh = run.path().join("fresh");
        drop(lay(&configuration, &urls, &fresh).unwrap());
        assert!(!fresh.exists(), "nothing was measured");
        let laid = lay(&configuration, &urls, &fresh).unwrap();
        fs::write(fresh.join("result.json"), "{}").unwrap();
        drop(laid);
        assert_eq!(fs::read_dir(&fresh).unwrap().count(), 1);
    }
}
