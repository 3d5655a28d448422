//! The file of an experiment whose levels are a setting of the user's servers: the command that applies it.
//!
//! It does not run the command (see [`super::applied`]).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::{Document, Keys, TableName};
use crate::experiment::{At, Experiment, ExperimentError, Location, Own, UpTo};
use crate::kinds::http::file::served::Served;
use crate::kinds::http::file::{answer, connections, list, users};

/// Highest level: a number that a command is given.
const LEVEL_MAX: u64 = 1_000_000_000;
/// The longest that a setting may take to be applied, in seconds.
const SECONDS_MAX: u32 = 600;
/// The same if the file does not say.
const SECONDS_DEFAULT: u32 = 60;
/// Placeholder for the level in the command's words.
const LEVEL: &str = "{level}";

/// The keys.
pub(super) const KEYS: &[Keys] = &[Keys::of::<SettingFile>(TableName::Top)];

/// The setting.
#[derive(Debug, Deserialize, JsonSchema)]
struct SettingFile {
    /// How each level of the factor `setting` is applied to the servers.
    apply: Option<ApplyFile>,
}

/// The command that applies a level.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyFile {
    /// The program and its arguments, one word each, read by no shell. `{level}` in a word is replaced by the level. It
    /// runs before each level, in the folder of this file, and exits with 0 once the setting is in effect. It may
    /// restart the servers.
    command: At<Vec<String>>,
    /// A command that runs once at the end, however the run ended: to restore the setting.
    restore: Option<At<Vec<String>>>,
    /// The time, in seconds, within which each of them ends and the servers listen; absent: 60.
    seconds_max: Option<UpTo<SECONDS_MAX>>,
}

/// How the levels are applied.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Apply {
    words: Vec<String>,
    restore: Option<Vec<String>>,
    directory: PathBuf,
    /// The time within which a command ends and the servers listen.
    pub(super) within: Duration,
}

impl Apply {
    /// The words of the command that applies a level.
    pub(super) fn words(&self, level: u64) -> Vec<String> {
        self.words.iter().map(|word| word.replace(LEVEL, &level.to_string())).collect()
    }

    /// The words of the command that restores the setting.
    pub(super) fn restoring(&self) -> Option<&[String]> {
        self.restore.as_deref()
    }

    /// The command of these words.
    pub(super) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(&self.directory);
        command
    }
}

/// Reads an experiment of single requests.
pub(super) fn request(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    read(document, answer::fill)
}

/// Reads an experiment of walks.
pub(super) fn walk(document: &mut Document<'_>) -> Result<Experiment, ExperimentError> {
    read(document, list::fill)
}

/// Reads an experiment whose work is filled in by `fill`.
fn read(
    document: &mut Document<'_>,
    fill: fn(&mut Document<'_>, &mut Experiment) -> Result<(), ExperimentError>,
) -> Result<Experiment, ExperimentError> {
    let served = Served::take(document)?;
    let SettingFile { apply } = document.take(TableName::Top)?;
    let users = users::take(document)?;
    let experiment = document.experiment(document.levels(LEVEL_MAX)?)?;
    let mut experiment = Experiment { users, ..connections::fill(document, experiment)? };
    fill(document, &mut experiment)?;
    let mut experiment = served.fill(document, experiment, |_| None)?;
    let checker = &document.checker;
    let Some(ApplyFile { command, restore, seconds_max }) = apply else {
        let help = "add `[apply]` with `command = [\"sh\", \"set-workers.sh\", \"{level}\"]`";
        return Err(checker.fault(document.factor_span(), "it is not said how a setting is applied", help));
    };
    let has_program = |words: &At<Vec<String>>| words.as_ref().first().is_some_and(|program| !program.is_empty());
    if let Some(empty) = [Some(&command), restore.as_ref()].into_iter().flatten().find(|words| !has_program(words)) {
        let help = "write a program and its arguments, such as `[\"sh\", \"set-workers.sh\", \"{level}\"]`";
        return Err(checker.fault(empty.span(), "the command has no program", help));
    }
    if !command.as_ref().iter().any(|word| word.contains(LEVEL)) {
        let help = "`{level}` in a word stands for the level";
        return Err(checker.fault(command.span(), "the command does not contain the level", help));
    }
    for (variant, way) in experiment.variants.iter().zip(&document.ways) {
        if !matches!(variant.at, Location::Url(_)) {
            let help = "write a whole URL, such as `url = \"http://127.0.0.1:8080/flights\"`";
            return Err(checker.unsaid(way, "where the user's server is that gets the setting", help));
        }
    }
    experiment.own = Own::new(Apply {
        words: command.into_inner(),
        restore: restore.map(At::into_inner),
        directory: checker.files.folder(Path::new("")),
        within: seconds_max.map_or(Duration::from_secs(SECONDS_DEFAULT.into()), UpTo::seconds),
    });
    Ok(experiment)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
name = "workers"
question = "How many workers?"
factor = { name = "setting", levels = [1, 4] }
workload = { kind = "request", users = 8 }
apply = { command = ["sh", "set.sh", "-n{level}"], restore = ["sh", "set.sh", "2"], seconds_max = 5 }
[[variant]]
name = "shop"
url = "http://127.0.0.1:8080/"
"#;

    #[test]
    fn each_level_has_its_command_and_the_same_users() {
        let experiment = Experiment::parse(SOUND, "folder/workers.toml").unwrap();
        assert_eq!((experiment.users(1), experiment.users(4)), (8, 8));
        let apply: &Apply = experiment.own.get().unwrap();
        assert_eq!((apply.words(4).join(" "), apply.within), ("sh set.sh -n4".to_owned(), Duration::from_secs(5)));
        assert_eq!(apply.restoring().unwrap().join(" "), "sh set.sh 2");
        assert_eq!(apply.command(&apply.words(1)).get_current_dir().unwrap().to_str().unwrap(), "folder/");
        let walk =
            SOUND.replace("\"request\"", "\"walk\"").replace("[[variant]]", "[[variant]]\nformat = \"odata-v2-json\"");
        assert_eq!(Experiment::parse(&walk, "workers.toml").unwrap().users(4), 8);
    }

    #[test]
    fn a_setting_that_cannot_be_applied_is_told_with_its_place() {
        let check = |from: &str, to: &str, expected: &str| {
            assert!(SOUND.contains(from), "{from}");
            let error = Experiment::parse(&SOUND.replacen(from, to, 1), "workers.toml").unwrap_err();
            assert!(error.to_string().contains(expected) && error.span.is_some(), "{error}");
        };
        check("-n{level}", "-n4", "the command does not contain the level");
        check("[\"sh\", \"set.sh\", \"2\"]", "[]", "the command has no program");
        check("apply = { command", "# { command", "it is not said how a setting is applied");
        check("http://127.0.0.1:8080/", "/rest/flights", "variant `shop` does not say where the user's server is");
        check("seconds_max = 5", "seconds_max = 601", "601 is not from 1 to 600");
        check("\"setting\"", "\"concurrency\"", "`apply` has no meaning here");
    }
}
