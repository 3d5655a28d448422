//! Conversion of a subject's file to a [`Peer`], with all its rules.
//!
//! It does not check whether anything is installed.

use std::path::Path;
use std::time::Duration;

use tollgate_net::http1::client::Target;

use super::file::{ReadyFile, SubjectFile};
use super::{FOLDER_PLACE, Peer, Ready, URL_PLACE, filled};
use crate::experiment::{At, Checker, ExperimentError, Files, TOLLGATE, UpTo};
use crate::subject::check_loadable;

/// Time within which a subject must be ready, unless its file sets another.
const READY_WITHIN: Duration = Duration::from_secs(20);

impl Peer {
    /// Reads a subject's file. `file` names the text in errors, and its folder is the peer's.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str, file: &Path) -> Result<Peer, ExperimentError> {
        let name = file.display().to_string();
        let parsed: SubjectFile =
            toml::from_str(text).map_err(|error| ExperimentError::of_toml(&error, text, &name))?;
        let checker = Checker { text, file: &name, files: &Files::beside(&name) };
        checker.peer(parsed, file.parent().unwrap_or(Path::new("")))
    }
}

impl Checker<'_> {
    fn peer(&self, parsed: SubjectFile, folder: &Path) -> Result<Peer, ExperimentError> {
        self.name(&parsed.name)?;
        if *parsed.name.as_ref() == TOLLGATE {
            let help = "`tollgate` is our own gateway: give the subject another name";
            return Err(self.fault(parsed.name.span(), "the name is taken", help));
        }
        self.text(&parsed.title, "say what it is, with its versions")?;
        self.text(&parsed.install, "give the line that installs it")?;
        let at = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let here = |text: &str| text.replace(FOLDER_PLACE, &at.display().to_string());
        // The program runs in the folder itself, where a relative path would lead elsewhere.
        let absolute = std::path::absolute(at).unwrap_or_else(|_| at.to_owned());
        let there = |text: &str| text.replace(FOLDER_PLACE, &absolute.display().to_string());
        let command = parsed.start.command.as_ref();
        if command.first().is_none_or(String::is_empty) {
            let help = "write the program and its arguments, such as `command = [\"java\", \"-jar\", \"it.jar\"]`";
            return Err(self.fault(parsed.start.command.span(), "there is no program to start", help));
        }
        let installed = parsed.installed.iter().map(|file| self.inside(file).map(|()| folder.join(file.as_ref())));
        for (experiment, served) in &parsed.experiment {
            self.name(experiment)?;
            for (theirs, own) in &served.paths {
                if !theirs.starts_with('/') || !own.as_ref().starts_with('/') {
                    let message = format!("`{theirs}` or `{}` is no path", own.as_ref());
                    return Err(self.fault(own.span(), &message, "both begin with `/`"));
                }
            }
        }
        Ok(Peer {
            install: here(parsed.install.as_ref()),
            folder: at.to_owned(),
            installed: installed.collect::<Result<_, _>>()?,
            command: command.iter().map(|word| there(word)).collect(),
            environment: parsed.start.env.iter().map(|(name, value)| (name.clone(), there(value))).collect(),
            watch: parsed.start.watch,
            ready: self.ready(&parsed.ready)?,
            ready_within: parsed.ready.as_ref().within_s.map_or(READY_WITHIN, UpTo::seconds),
            warm_up: parsed.warm_up_s.map_or(Duration::ZERO, UpTo::seconds),
            experiments: parsed.experiment.into_iter().map(|(name, served)| (name.into_inner(), served)).collect(),
            name: parsed.name.into_inner(),
            title: parsed.title.into_inner(),
        })
    }

    fn ready(&self, ready: &At<ReadyFile>) -> Result<Ready, ExperimentError> {
        match (&ready.as_ref().line, &ready.as_ref().url) {
            (Some(line), None) => {
                self.text(line, "give a text that the line holds, such as `listening {url}`")?;
                Ok(match line.as_ref().split_once(URL_PLACE) {
                    Some((before, behind)) => Ready::LineWithUrl(before.to_owned(), behind.to_owned()),
                    None => Ready::Line(line.as_ref().clone()),
                })
            }
            (None, Some(url)) => {
                let help = "write it as `http://127.0.0.1:{port}/`";
                let target = Target::parse(&filled(url.as_ref(), 1))
                    .map_err(|error| self.fault(url.span(), &format!("`{}`: {error}", url.as_ref()), help))?;
                check_loadable(target.host(), &[])
                    .map_err(|_| self.fault(url.span(), "a subject that is started here is on loopback", help))?;
                Ok(Ready::Url(url.as_ref().clone()))
            }
            (None, None) | (Some(_), Some(_)) => {
                let help = "give one of `line`, such as `line = \"listening {url}\"`, and `url`";
                Err(self.fault(ready.span(), "it is not clear when it is ready", help))
            }
        }
    }

    fn text(&self, text: &At<String>, help: &str) -> Result<(), ExperimentError> {
        if text.as_ref().trim().is_empty() { Err(self.fault(text.span(), "it is empty", help)) } else { Ok(()) }
    }

    fn inside(&self, file: &At<String>) -> Result<(), ExperimentError> {
        if Path::new(file.as_ref()).is_absolute() {
            return Err(self.fault(file.span(), "it does not stand in the subject's folder", "give a relative path"));
        }
        Ok(())
    }
}
