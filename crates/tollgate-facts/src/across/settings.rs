//! Differences between runs, setting by setting: everything that results contain of machine, version, command,
//! settings, levels and variants is compared, so that a new setting needs no line here.
//!
//! It deliberately judges nothing: which difference matters is the reader's to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::offered;
use crate::results::RunResult;

/// Longest value that is kept whole.
const VALUE_CHARACTERS_MAX: usize = 400;

/// Start of the measured part in the text about a network; the requested part precedes it.
const LINK_MEASURED: &str = ", measured ";

/// A setting in which runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value in each run; absent where a run does not have it.
    pub values: Vec<Option<String>>,
}

/// The settings in which `runs` differ, in the order of importance.
pub(super) fn differing(runs: &[&RunResult]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        for (name, value) in of(run) {
            let known = settings.iter().position(|setting| setting.name == name);
            let at = known.unwrap_or_else(|| {
                settings.push(Setting { name, values: vec![None; runs.len()] });
                settings.len() - 1
            });
            settings[at].values[place] = Some(value);
        }
    }
    // Of a variant or a level that a run does not have at all, the list of names says enough.
    let is_shared = |name: &str| match name.split_once(": ") {
        Some((thing, _)) if thing.starts_with("variant ") || thing.starts_with("level ") => {
            let of_thing = || settings.iter().filter(|other| other.name.starts_with(&format!("{thing}: ")));
            (0..runs.len()).all(|place| of_thing().any(|other| other.values[place].is_some()))
        }
        _ => true,
    };
    let differs = |setting: &&Setting| setting.values.iter().any(|value| *value != setting.values[0]);
    let shown = |setting: &Setting| Setting {
        name: setting.name.clone(),
        values: setting.values.iter().map(|value| value.as_deref().map(shortened)).collect(),
    };
    settings.iter().filter(differs).filter(|setting| is_shared(&setting.name)).map(shown).collect()
}

/// All settings of a run, by name.
fn of(run: &RunResult) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let value = |part: serde_json::Result<Value>| part.expect("results are plain data, which JSON can hold");
    let mut settings = value(serde_json::to_value(&run.settings));
    // What came out of a run is none of its settings.
    settings["content_checked_share"].take();
    let network = &run.settings.network;
    settings["network"] = network.split_once(LINK_MEASURED).map_or(network.as_str(), |(asked, _)| asked).into();
    flatten("machine", &value(serde_json::to_value(&run.machine)), &mut found);
    let own = [("tollgate", run.version.clone()), ("command", run.command.join(" ")), ("seed", run.seed.to_string())];
    found.extend(own.map(|(name, value)| (name.to_owned(), value)));
    flatten("", &settings, &mut found);
    let experiment = &run.experiment;
    let levels: Vec<String> = experiment.levels.iter().map(|level| experiment.level_title(*level)).collect();
    let variants: Vec<&str> = experiment.variants.iter().map(|variant| variant.name.as_str()).collect();
    let subjects: Vec<String> = run.peers.iter().map(|peer| format!("{} ({})", peer.name, peer.title)).collect();
    let lists = [("levels", levels.join(", ")), ("variants", variants.join(", ")), ("subjects", subjects.join(", "))];
    found.extend(lists.map(|(name, value)| (name.to_owned(), value)));
    // Asked for is a share: the rate comes of the slowest variant's throughput, and another one makes another load.
    for level in &experiment.levels {
        let Some(offered) = offered::at(run, *level) else { continue };
        let of = |what: &str| format!("level {}: {what} at equal rate", experiment.level_title(*level));
        found.push((of("offered"), offered::rate(offered)));
        found.push((of("arrivals"), offered.arrivals.to_string()));
    }
    let mut parts = value(serde_json::to_value(experiment));
    let named = [("variant", "name", parts["variants"].take()), ("level", "title", parts["named_levels"].take())];
    // Levels have their own line.
    parts["levels"].take();
    flatten("", &parts, &mut found);
    for (what, key, mut things) in named {
        for thing in things.as_array_mut().into_iter().flatten() {
            let name = plain(&thing[key].take());
            flatten(&format!("{what} {name}"), thing, &mut found);
        }
    }
    found
}

fn flatten(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                let name = name.replace('_', " ");
                let path = if path.is_empty() { name } else { format!("{path}: {name}") };
                flatten(&path, part, found);
            }
        }
        Value::Null => {}
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(plain).collect();
            found.push((path.to_owned(), texts.join(", ")));
        }
        other => found.push((path.to_owned(), plain(other))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(VALUE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
