//! What the file of commands says: the words of each variant's command, where it is run, and which exit status it has.
//!
//! What it deliberately does not do: run it, or hand it to a shell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Experiment, ExperimentError, Location, Own, UpTo};

/// Highest level: a number that a command is given.
const LEVEL_MAX: u64 = 1_000_000_000;
/// The longest that one run of a command may last, in seconds.
const SECONDS_MAX: u32 = 3600;
/// The same where the file says nothing.
const SECONDS_DEFAULT: u32 = 60;
/// Stands for the level in a command's words.
const LEVEL: &str = "{level}";

/// The keys.
pub(super) const KEYS: &[&[Keys]] =
    &[&[Keys::of::<LongestFile>(TableName::Workload), Keys::of::<CommandFile>(TableName::Variant)]];

/// What all commands share.
#[derive(Debug, Deserialize, JsonSchema)]
struct LongestFile {
    /// For `command`: a run that lasts longer, in seconds, is ended and the measurement with it; absent: 60.
    seconds_max: Option<UpTo<SECONDS_MAX>>,
}

/// What a variant runs.
#[derive(Debug, Deserialize, JsonSchema)]
struct CommandFile {
    /// The program and its arguments, a word each: no shell reads them. `{level}` in one stands for the level.
    command: Option<At<Vec<String>>>,
    /// The exit status of every run; absent: 0.
    status: Option<UpTo<255, 0>>,
    /// The folder in which it is run, seen from this file; absent: that of this file.
    directory: Option<PathBuf>,
    /// Further variables of its environment.
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

/// What is run for a variant.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Words {
    words: Vec<String>,
    directory: PathBuf,
    environment: BTreeMap<String, String>,
    /// The exit status of every run.
    pub(super) status: i32,
    /// A run that lasts longer is ended.
    pub(super) longest: Duration,
}

impl Words {
    /// The command at a level.
    pub(super) fn command(&self, level: u64) -> Command {
        let at = |word: &String| word.replace(LEVEL, &level.to_string());
        let mut command = Command::new(at(&self.words[0]));
        command.args(self.words[1..].iter().map(at)).current_dir(&self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, at(value))));
        command
    }
}

/// Reads it.
pub(super) fn read(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    let LongestFile { seconds_max } = document.take(TableName::Workload)?;
    let files: Vec<CommandFile> = document.each()?;
    let levels = match document.swept.levels {
        Some(_) => document.levels(LEVEL_MAX)?,
        None => vec![1],
    };
    let mut experiment = document.experiment(levels)?;
    let here = document.checker.files.path("");
    let longest = Duration::from_secs(seconds_max.map_or(SECONDS_DEFAULT, |UpTo(seconds)| seconds).into());
    for (variant, (file, way)) in experiment.variants.iter_mut().zip(files.into_iter().zip(&document.ways)) {
        let help = "add `command`, such as `command = [\"gzip\", \"-9\", \"-k\", \"-f\", \"big.log\"]`";
        let Some(command) = file.command else {
            return Err(document.checker.unsaid(way, "what it runs", help));
        };
        if command.as_ref().first().is_none_or(String::is_empty) {
            return Err(document.checker.fault(command.span(), "the command has no program", help));
        }
        let directory = file.directory.map_or_else(|| here.clone(), |directory| here.join(directory));
        variant.at = Location::Here(command.as_ref().join(" "));
        variant.own = Own::new(Words {
            words: command.into_inner(),
            // Of a file beside which nothing is named, the folder in which tollgate is run.
            directory: if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory },
            environment: file.environment,
            status: file.status.map_or(0, |UpTo(status)| status as i32),
            longest,
        });
    }
    Ok(experiment)
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
        let command = words.command(20);
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["20"]);
        assert_eq!(command.get_current_dir().unwrap().to_str().unwrap(), "folder/");
        let two: &Words = experiment.variants[1].own().unwrap();
        assert_eq!((two.status, two.longest), (3, Duration::from_secs(5)));
        let text = SOUND.replacen(", levels = [1, 20]", "", 1);
        assert_eq!(Experiment::parse(&text, "hash.toml").unwrap().levels, [1]);
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
    }
}
