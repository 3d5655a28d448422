//! Surroundings of tollgate's own gateway as the subject of an experiment about encryption: a certificate for each way
//! of encrypting, a user, and a configuration that names them. Made by verbs of the same program, in a folder that only
//! this user can read and that is removed with the run.
//!
//! It does not make a key or a hash itself.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use tollgate_net::link::Side;

use super::folder::Folder;
use crate::experiment::Experiment;
use crate::kinds::http::encrypting::{Authentication, Encrypting, EncryptionLevel, KeyKind};
use crate::secret;
use crate::subject::{Surroundings, TlsListener};

/// The folder inside the run's.
const FOLDER: &str = "gateway";
/// File name of a certificate and its key, as the verb that makes them chooses it.
const CERTIFICATE: &str = "server.pem";
const KEY: &str = "server.key";
/// Name of the user that the run makes.
const USER: &str = "lab";
/// Work processes of the service, as in the published measurement.
const WORK_PROCESSES: u32 = 250;
/// Seconds for which a verified password needs no new hash: the longest possible, lest one falls into a trial.
const VERIFIED_SECONDS: u32 = 3600;
/// Names of this machine in the certificates.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "127.77.0.2"];

/// Certificates, a user and a configuration. Dropping it removes them.
#[derive(Debug)]
pub(crate) struct Secured {
    folder: Folder,
    /// The gateway's configuration.
    pub(crate) configuration: PathBuf,
    /// Its listeners and its user, for peers.
    pub(crate) surroundings: Surroundings,
    /// Address of its listeners.
    pub(crate) address: Ipv4Addr,
    /// Levels, each with the number of its listener; equal levels share one.
    levels: Vec<(u64, usize)>,
}

impl Secured {
    /// Makes all of it for these levels below `run`, with `program`.
    ///
    /// # Errors
    /// The item that could not be made, and the message about it.
    pub(crate) fn make(
        experiment: &Experiment,
        levels: &[u64],
        run: &Path,
        program: &Path,
    ) -> Result<Option<Secured>, String> {
        let Some(encrypting) = experiment.own::<Encrypting>() else { return Ok(None) };
        let folder = Folder { path: private_folder(run)?, made: None };
        let configuration = folder.path.join("gateway.toml");
        let address = if encrypting.is_afar() { Side::Far.address() } else { Ipv4Addr::LOCALHOST };
        let surroundings = Surroundings::default();
        let mut secured = Secured { folder, configuration, surroundings, address, levels: Vec::new() };
        let addresses = [format!("{address}:0")];
        let mut tls = Vec::new();
        let way_of = |level: u64| encrypting.level(level);
        for level in levels {
            let way = way_of(*level);
            let alike = secured
                .levels
                .iter()
                .find(|(known, _)| way_of(*known).zip(way).is_some_and(|(known, way)| known.is_alike(way)));
            if let Some((_, listener)) = alike {
                secured.levels.push((*level, *listener));
                continue;
            }
            let Some(EncryptionLevel { version, key, chain, .. }) = way else { continue };
            let of_level = secured.folder.path.join(format!("level-{level}"));
            ask(program, &certificate_arguments(&of_level, *key, *chain), "")?;
            let (certificate, key) = (of_level.join(CERTIFICATE), of_level.join(KEY));
            tls.push(json!({
                "addresses": addresses,
                "certificate": certificate.display().to_string(),
                "key": key.display().to_string(),
                "versions": [version.to_string()],
                "tickets": true,
            }));
            secured.levels.push((*level, secured.surroundings.listeners.len()));
            secured.surroundings.listeners.push(TlsListener { version: version.to_string(), certificate, key });
        }
        let mut gateway = json!({
            "listen": { "addresses": addresses },
            "cache": { "enabled": true },
            "service": [{ "kind": "fibonacci", "work_processes": { "limit": WORK_PROCESSES } }],
            "tls": tls,
        });
        if encrypting.authentication == Authentication::Basic {
            let password = secret::drawn()?;
            let line = ask(program, &["password".to_owned(), USER.to_owned()], &password)?;
            let users = secured.folder.path.join("users");
            write_private(&users, &line)?;
            gateway["users"] = json!({ "file": users.display().to_string() });
            gateway["authentication"] = json!({ "basic": true, "cached_seconds": VERIFIED_SECONDS });
            gateway["rule"] = json!([{ "path": "/", "allow": ["authenticated"] }]);
            secured.surroundings.user = Some((USER.to_owned(), password));
        }
        write_private(&secured.configuration, &toml::to_string(&gateway).map_err(|error| error.to_string())?)?;
        Ok(Some(secured))
    }

    /// The authority that signed the certificate of a level.
    pub(crate) fn authority(&self, level: u64) -> Option<PathBuf> {
        Some(self.surroundings.listeners[self.listener(level)?].certificate.with_file_name("ca.pem"))
    }

    /// Number of the gateway's further address that serves the level.
    pub(crate) fn listener(&self, level: u64) -> Option<usize> {
        self.levels.iter().find(|(known, _)| *known == level).map(|(_, listener)| *listener)
    }
}

/// Makes the folder, which must not exist yet: the contents of an existing one are not ours to remove.
fn private_folder(run: &Path) -> Result<PathBuf, String> {
    let made = fs::create_dir_all(run).and_then(|()| {
        let folder = std::path::absolute(run.join(FOLDER))?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    });
    made.map_err(|error| format!("needs the new folder {}: {error}", run.join(FOLDER).display()))
}

fn write_private(path: &Path, text: &str) -> Result<(), String> {
    secret::write(path, text).map_err(|error| format!("needs the file {}: {error}", path.display()))
}

fn certificate_arguments(folder: &Path, key: KeyKind, chain: u32) -> Vec<String> {
    let mut arguments = vec!["cert".to_owned(), "--out".to_owned(), folder.display().to_string()];
    arguments.extend(["--key".to_owned(), key.to_string(), "--chain".to_owned(), chain.to_string()]);
    arguments.extend(NAMES.into_iter().flat_map(|name| ["--name".to_owned(), name.to_owned()]));
    arguments
}

/// The output of a verb of the program for `input`.
fn ask(program: &Path, arguments: &[String], input: &str) -> Result<String, String> {
    let verb = arguments.first().map_or("", String::as_str);
    let failed = |why: &dyn std::fmt::Display| format!("`{} {verb}` {why}", program.display());
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&format_args!("cannot be started: {error}")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read what it is given says why by its exit status.
        let _ = stdin.write_all(input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(|error| failed(&error))?;
    if !ended.status.success() {
        let words = String::from_utf8_lossy(&ended.stderr);
        return Err(failed(&format_args!("failed ({}): {}", ended.status, words.trim())));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that logs its arguments, and answers `password` with a line.
    fn program(folder: &Path) -> PathBuf {
        let path = folder.join("program");
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {}\ncase $1 in cert) exec mkdir -p \"$3\";; password) read -r word; echo \"$2:$word:\";; esac\n",
            folder.join("asked").display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn every_planned_level_has_a_certificate_and_a_listener_and_the_user_a_password() {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path());
        let experiment = Experiment::builtin("encryption").unwrap();
        let run = folder.path().join("run");
        // Another test's fork may hold the script open for writing until its exec.
        let secured = loop {
            match Secured::make(&experiment, &[1, 5], &run, &program) {
                Err(error) if error.contains("busy") => {}
                made => break made.unwrap().unwrap(),
            }
        };
        let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
        assert!(
            asked.contains("level-5 --key rsa-4096 --chain 3 --name localhost --name 127.0.0.1 --name 127.77.0.2"),
            "{asked}"
        );
        let configuration: toml::Table = fs::read_to_string(&secured.configuration).unwrap().parse().unwrap();
        let listeners = configuration["tls"].as_array().unwrap();
        assert_eq!((listeners.len(), listeners[1]["versions"][0].as_str()), (2, Some("1.3")));
        assert_eq!((secured.listener(1), secured.listener(5), secured.listener(2)), (Some(0), Some(1), None));
        let (user, password) = secured.surroundings.user.clone().unwrap();
        let users = fs::read_to_string(configuration["users"]["file"].as_str().unwrap()).unwrap();
        assert_eq!(users, format!("{user}:{password}:\n"));
        assert!(!asked.contains(&password), "a password stands on no command line");
        let mode = fs::metadata(run.join(FOLDER)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(secured);
        assert!(!run.join(FOLDER).exists());
    }

    #[test]
    fn a_verb_that_fails_is_quoted() {
        let error = ask(Path::new("/bin/sh"), &["-c".to_owned(), "echo no entropy >&2; exit 3".to_owned()], "");
        assert_eq!(error.unwrap_err(), "`/bin/sh -c` failed (exit status: 3): no entropy");
    }
}
