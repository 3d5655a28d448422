//! The load of users who do not simply wait: at a rate, and in stages.
//!
//! It does not send requests (see [`crate::load::scenario`]).

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::experiment::document::Document;
use crate::experiment::{At, ExperimentError, Factor, UpTo};
use crate::kinds::http::shape::LoadShape;
use crate::traffic::stages::{Stage, Stages, Unit};
use tollgate_facts::results::Arrivals;

/// Most users at a rate if the file does not say.
pub(super) const USERS_DEFAULT: u32 = 200;
/// Most users at a rate.
pub(super) const USERS_MAX: u32 = 20_000;

/// The load of a scenario.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadFile {
    /// At a rate: the distribution of the intended starts of iterations; absent: equal intervals.
    arrivals: Option<At<Arrivals>>,
    /// At a rate: most users, each of whom does the setup; absent: 200. While all of them are busy, due iterations
    /// wait.
    users_max: Option<At<UpTo<USERS_MAX>>>,
    /// For `stages`: the stages in their order. A trial goes through all of them.
    #[serde(default, rename = "stage")]
    stages: Vec<StageFile>,
}

/// A stage: changes the number of users, or iterations per second, evenly to another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StageFile {
    /// Short name, unique, for its figures.
    name: At<String>,
    /// Its length.
    seconds: f64,
    /// Users at its end.
    users: Option<f64>,
    /// Iterations per second at its end; all stages have users, or all have rates.
    rate: Option<f64>,
    /// Users or rate at its start; absent: the end of the previous stage, for the first one zero.
    from: Option<f64>,
}

/// The factor of levels that are iterations begun each second.
pub(super) const RATE: Factor = Factor {
    name: "rate",
    unit: "per second",
    about: "Iterations of a scenario that begin in a second, whatever the subject does.",
};
/// The factor of a load that changes during a trial.
pub(super) const STAGES: Factor = Factor {
    name: "stages",
    unit: "",
    about: "Users or rate of a scenario, changing while a trial lasts, as `load` says.",
};

/// The load of a scenario if the factor is not a number of users.
pub(super) fn shape(file: Option<At<LoadFile>>, document: &Document<'_>) -> Result<Option<LoadShape>, ExperimentError> {
    let checker = &document.checker;
    let factor = document.heading.factor;
    if factor != RATE && factor != STAGES {
        let Some(load) = file else { return Ok(None) };
        let help = "set `name = \"rate\"` or `name = \"stages\"` in `[factor]`";
        return Err(checker.fault(load.span(), "`load` has no meaning for this factor", help));
    }
    let LoadFile { arrivals, users_max, stages } = file.map(At::into_inner).unwrap_or_default();
    let at_a_rate = arrivals.as_ref().map(At::span).or(users_max.as_ref().map(At::span));
    let shape = LoadShape {
        arrivals: arrivals.map_or(Arrivals::Constant, At::into_inner),
        users_max: users_max.map_or(USERS_DEFAULT, |most| most.into_inner().0),
        stages: self::stages(&stages, document)?.map(Arc::new),
    };
    if let (false, Some(span)) = (shape.is_open(), at_a_rate) {
        let help = "leave it out, or give stages a `rate` in the place of `users`";
        return Err(checker.fault(span, "users who wait do not arrive at a rate", help));
    }
    Ok(Some(shape))
}

fn stages(files: &[StageFile], document: &Document<'_>) -> Result<Option<Stages>, ExperimentError> {
    let checker = &document.checker;
    if document.heading.factor == RATE {
        let Some(stage) = files.first() else { return Ok(None) };
        let help = "set `name = \"stages\"` in `[factor]`";
        return Err(checker.fault(stage.name.span(), "a stage has no meaning for this factor", help));
    }
    if let Some(levels) = &document.swept.levels {
        let help = "leave `levels` out: what is asked for stands in the stages";
        return Err(checker.fault(levels.span(), "stages have no levels", help));
    }
    if let Some(slice) = document.slice_span() {
        return Err(checker.fault(slice, "a trial lasts as long as its stages", "leave `slice_ms` out"));
    }
    let Some(first) = files.first() else {
        let help = "add a `[[load.stage]]`, such as `name = \"up\"`, `seconds = 10`, `users = 50`";
        return Err(checker.fault(document.factor_span(), "there is no stage", help));
    };
    let (unit, led_to) = match first.rate {
        Some(_) => (Unit::PerSecond, "a rate"),
        None => (Unit::Users, "a number of users"),
    };
    checker.names("stage", files.iter().map(|file| &file.name))?;
    let (mut stages, mut before) = (Vec::<Stage>::with_capacity(files.len()), 0.0);
    for file in files {
        let name = file.name.as_ref();
        let to = match (unit, file.users, file.rate) {
            (Unit::Users, Some(to), None) | (Unit::PerSecond, None, Some(to)) => to,
            _ => {
                let message = format!("stage `{name}` does not lead to {led_to}");
                let help = "each stage has `users`, or each has a `rate`";
                return Err(checker.fault(file.name.span(), &message, help));
            }
        };
        let lasts = Duration::try_from_secs_f64(file.seconds).unwrap_or_default();
        stages.push(Stage { name: name.clone(), from: file.from.unwrap_or(before), to, lasts });
        before = to;
    }
    let help = "a stage has a `name`, `seconds`, and `users` or a `rate`";
    Stages::new(unit, stages).map(Some).map_err(|message| checker.fault(first.name.span(), &message, help))
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    fn experiment(factor: &str, load: &str) -> Result<Experiment, String> {
        let text = format!(
            r#"
            name = "mine"
            question = "How does it bear more users?"
            factor = {{ {factor} }}
            workload = {{ kind = "scenario" }}
            [[variant]]
            name = "mine"
            url = "http://127.0.0.1:1/"
            [[scenario]]
            name = "mine"
            [[scenario.step]]
            name = "one"
            path = "one"
            {load}
            "#
        );
        Experiment::parse(&text, "mine.toml").map_err(|error| error.message)
    }

    #[test]
    fn stages_are_one_level_and_rates_are_levels() {
        let ramp = "[[load.stage]]\nname = \"up\"\nseconds = 10\nusers = 50\n[[load.stage]]\nname = \"hold\"\nseconds = 5\nusers = 50";
        let staged = experiment("name = \"stages\"", ramp).unwrap();
        assert_eq!((staged.levels.as_slice(), staged.users(50)), (&[50][..], 50));
        assert_eq!(staged.named_levels[0].title, "stages up to 50 users");
        let rates = ramp.replace("users = 50", "rate = 2.5").replace("seconds = 5", "seconds = 5\nfrom = 1");
        let rates = experiment("name = \"stages\"", &format!("[load]\nusers_max = 7\n{rates}")).unwrap();
        assert_eq!((rates.levels.as_slice(), rates.users(3)), (&[3][..], 7));
        let open = experiment("name = \"rate\", levels = [10, 20]", "[load]\narrivals = \"poisson\"").unwrap();
        assert_eq!((open.levels.as_slice(), open.users(20)), (&[10, 20][..], 200));
    }

    #[test]
    fn what_makes_no_load_is_told() {
        let up = "[[load.stage]]\nname = \"up\"\nseconds = 10\nusers = 50";
        let check = |factor: &str, load: &str, expected: &str| {
            let message = experiment(factor, load).unwrap_err();
            assert!(message.contains(expected), "{message}");
        };
        check("name = \"stages\"", "", "there is no stage");
        check("name = \"stages\", levels = [1]", up, "stages have no levels");
        check("name = \"concurrency\", levels = [1]", up, "`load` has no meaning for this factor");
        check("name = \"rate\", levels = [1]", up, "a stage has no meaning for this factor");
        check("name = \"stages\"", &up.replace("users", "rates"), "unknown key `rates`");
        check("name = \"stages\"", &format!("{up}\nrate = 5"), "does not lead to");
        check(
            "name = \"stages\"",
            &format!("{up}\n{}", up.replace("users", "rate").replace("up", "on")),
            "`on` does not",
        );
        check("name = \"stages\"", &format!("{up}\n{up}"), "stage `up` stands twice");
        check("name = \"stages\"", &up.replace("10", "0"), "lasts no time");
        check("name = \"stages\"", &up.replace("10", "-1"), "lasts no time");
        check("name = \"stages\"", &format!("[load]\nusers_max = 5\n{up}"), "do not arrive at a rate");
        check("name = \"stages\"", &format!("{up}\n[extent.quick]\nslice_ms = 5"), "as long as its stages");
    }
}
