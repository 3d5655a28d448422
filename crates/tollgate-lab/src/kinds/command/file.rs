//! The file of commands: the words of each variant's command, its folder, its link to a server, and its expected exit
//! status.
//!
//! It does not run the command or hand it to a shell.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Checker, Experiment, ExperimentError, Location, Own, UpTo};

/// Highest level: a number that a command is given.
const LEVEL_MAX: u64 = 1_000_000_000;
/// The longest that one run of a command may last, in seconds.
const SECONDS_MAX: u32 = 3600;
/// The same if the file does not say.
const SECONDS_DEFAULT: u32 = 60;
/// Longest round trip of a link, in microseconds.
const ROUND_TRIP_US_MAX: u32 = 10_000_000;
/// Placeholder for the level in a command's words.
const LEVEL: &str = "{level}";
/// Placeholder for the address on which the link listens.
const HOST: &str = "{host}";
const PORT: &str = "{port}";

/// The keys.
pub(super) const KEYS: &[&[Keys]] =
    &[&[Keys::of::<LongestFile>(TableName::Workload), Keys::of::<CommandFile>(TableName::Variant)]];

/// Settings of all commands.
#[derive(Debug, Deserialize, JsonSchema)]
struct LongestFile {
    /// For `command`: a run that lasts longer, in seconds, is ended and the measurement with it; absent: 60.
    seconds_max: Option<UpTo<SECONDS_MAX>>,
}

/// The command of a variant.
#[derive(Debug, Deserialize, JsonSchema)]
struct CommandFile {
    /// The program and its arguments, one word each, read by no shell. In a word, `{level}` is replaced by the level,
    /// `{host}` and `{port}` by the address on which its `link` listens.
    command: Option<At<Vec<String>>>,
    /// The exit status of every run; absent: 0.
    status: Option<UpTo<255, 0>>,
    /// The folder in which it runs, relative to this file; absent: that of this file.
    directory: Option<PathBuf>,
    /// Further variables of its environment.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// An emulated network between it and a server.
    link: Option<At<LinkFile>>,
}

/// An emulated network between a command and a server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LinkFile {
    /// Address of the server, such as `127.0.0.1:5432`.
    to: String,
    /// The round trip that it adds, in microseconds; absent: none, as a baseline for the others.
    round_trip_us: Option<UpTo<ROUND_TRIP_US_MAX, 0>>,
}

/// A link that a command needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkTo {
    /// Host and port of the server.
    pub(super) server: (String, u16),
    pub(super) round_trip: Duration,
}

/// The command of a variant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    words: Vec<String>,
    directory: PathBuf,
    environment: BTreeMap<String, String>,
    /// The exit status of every run.
    pub(super) status: i32,
    /// Longest time of a run; a longer one is ended.
    pub(super) longest: Duration,
    /// The link by which it reaches a server.
    pub(super) link: Option<LinkTo>,
}

impl Words {
    /// The command at a level, connected by a link that listens there.
    pub(super) fn command(&self, level: u64, link: Option<SocketAddr>) -> Command {
        let at = |word: &String| {
            let word = word.replace(LEVEL, &level.to_string());
            match link {
                Some(link) => word.replace(HOST, &link.ip().to_string()).replace(PORT, &link.port().to_string()),
                None => word,
            }
        };
        let mut command = Command::new(at(&self.words[0]));
        command.args(self.words[1..].iter().map(at)).current_dir(&self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, at(value))));
        command
    }
}

/// Reads the experiment.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let LongestFile { seconds_max } = document.take(TableName::Workload)?;
    let files: Vec<CommandFile> = document.each()?;
    let levels = match document.swept.levels {
        Some(_) => document.levels(LEVEL_MAX)?,
        None => vec![1],
    };
    let mut experiment = document.experiment(levels)?;
    let longest = Duration::from_secs(seconds_max.map_or(SECONDS_DEFAULT, |UpTo(seconds)| seconds).into());
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(files.into_iter().zip(&document.ways)) {
        let help = "add `command`, such as `command = [\"gzip\", \"-9\", \"-k\", \"-f\", \"big.log\"]`";
        let Some(command) = file.command else {
            return Err(document.checker.unsaid(way, "what it runs", help));
        };
        if command.as_ref().first().is_none_or(String::is_empty) {
            return Err(document.checker.fault(command.span(), "the command has no program", help));
        }
        let names_link = |word: &String| word.contains(HOST) || word.contains(PORT);
        let is_linked = command.as_ref().iter().chain(file.environment.values()).any(names_link);
        let link = file.link.as_ref().map(|link| document.checker.link(link, is_linked)).transpose()?;
        if is_linked && link.is_none() {
            let help = "add `link = { to = \"127.0.0.1:5432\", round_trip_us = 200 }`";
            return Err(document.checker.fault(command.span(), "`{host}` and `{port}` stand for nothing here", help));
        }
        variant.at = Location::Here(command.as_ref().join(" "));
        variant.own = Own::new(Words {
            words: command.into_inner(),
            directory: document.checker.files.folder(&file.directory.unwrap_or_default()),
            environment: file.environment,
            status: file.status.map_or(0, |UpTo(status)| status as i32),
            longest,
            link,
        });
    }
    Ok(experiment)
}

impl Checker<'_> {
    /// Reads the target and the length of a link.
    fn link(&self, file: &At<LinkFile>, is_named: bool) -> Result<LinkTo, ExperimentError> {
        let LinkFile { to, round_trip_us } = file.as_ref();
        if !is_named {
            let help = "write `{host}` and `{port}` where it names its server";
            return Err(self.fault(file.span(), "the command does not use its link", help));
        }
        let server = to.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let Some((host, port)) = server.filter(|(host, _)| !host.is_empty()) else {
            let help = "write host and port, such as `127.0.0.1:5432`";
            return Err(self.fault(file.span(), &format!("`{to}` is no place of a server"), help));
        };
        let host = host.trim_matches(['[', ']']).to_owned();
        let round_trip = Duration::from_micros(round_trip_us.map_or(0, |UpTo(us)| us).into());
        Ok(LinkTo { server: (host, port), round_trip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
name = "hash"
question = "Which is faster?"
factor = { name = "argument", levels = [1, 20] }
workload = { kind = "command", seconds_max = 5 }
[[variant]]
name = "one"
command = ["seq", "{level}"]
[[variant]]
name = "two"
baseline = "one"
command = ["sh", "-c", "exit 3"]
status = 3
"#;

    #[test]
    fn a_command_is_words_with_the_level_in_them() {
        let experiment = Experiment::parse(SOUND, "folder/hash.toml").unwrap();
        let words: &Words = experiment.variants[0].own().unwrap();
        let command = words.command(20, None);
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["20"]);
        assert_eq!(command.get_current_dir().unwrap().to_str().unwrap(), "folder/");
        let two: &Words = experiment.variants[1].own().unwrap();
        assert_eq!((two.status, two.longest), (3, Duration::from_secs(5)));
        let text = SOUND.replacen(", levels = [1, 20]", "", 1);
        assert_eq!(Experiment::parse(&text, "hash.toml").unwrap().levels, [1]);
    }

    #[test]
    fn a_link_stands_where_a_command_names_its_server() {
        let link = "[\"seq\", \"{host}:{port}\"]\nlink = { to = \"[::1]:81\", round_trip_us = 200 }";
        let experiment = Experiment::parse(&SOUND.replacen("[\"seq\", \"{level}\"]", link, 1), "hash.toml").unwrap();
        let words: &Words = experiment.variants[0].own().unwrap();
        let server = ("::1".to_owned(), 81);
        assert_eq!(words.link, Some(LinkTo { server, round_trip: Duration::from_micros(200) }));
        let command = words.command(1, Some("127.0.0.1:9".parse().unwrap()));
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["127.0.0.1:9"]);
    }

    #[test]
    fn what_is_no_command_is_told_with_its_place() {
        let check = |from: &str, to: &str, expected: &str| {
            let error = Experiment::parse(&SOUND.replacen(from, to, 1), "hash.toml").unwrap_err();
            assert!(error.to_string().contains(expected) && error.span.is_some(), "{error}");
        };
        check("command = [\"seq\", \"{level}\"]", "", "variant `one` does not say what it runs");
        check("[\"seq\", \"{level}\"]", "[]", "the command has no program");
        check("[\"seq\", \"{level}\"]", "\"seq\"", "put it into brackets, such as `[\"one\", \"two\"]`");
        check("status = 3", "status = 300", "`status`: 300 is not from 0 to 255");
        check("seconds_max = 5", "seconds_max = 0", "`seconds_max`: 0 is not from 1 to 3600");
        check("status = 3", "url = \"/rest\"", "`url` has no meaning here");
        check("\"argument\"", "\"concurrency\"", "factor and workload do not fit");
        check("{level}", "{port}", "`{host}` and `{port}` stand for nothing here");
        check("status = 3", "link = { to = \"db:81\" }", "the command does not use its link");
        let linked = "[\"seq\", \"{port}\"]\nlink = { to = \"db\" }";
        check("[\"seq\", \"{level}\"]", linked, "`db` is no place of a server");
    }
}
