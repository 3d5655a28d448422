//! How a scenario is loaded where users do not simply wait: at a rate, and in stages.
//!
//! What it deliberately does not do: ask (see [`crate::load::scenario`]).

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::checker::Checker;
use super::error::ExperimentError;
use super::file::{ExperimentFile, FactorName, WorkloadKind};
use crate::traffic::model::{self, Closed, End, Lane, Load, Open};
use crate::traffic::stages::{Stage, Stages, Unit};
use tollgate_facts::results::Arrivals;

/// Users at a rate, where the file does not say how many there may be.
const USERS_DEFAULT: u32 = 200;
/// Most users at a rate.
const USERS_MAX: u32 = 20_000;

/// How a scenario is loaded where users do not simply wait.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadShape {
    /// At a rate: how the intended starts lie.
    pub arrivals: Arrivals,
    /// At a rate: users at most.
    pub users_max: u32,
    /// How users or rate change; absent: the levels are rates.
    pub stages: Option<Arc<Stages>>,
}

/// How a scenario is loaded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoadFile {
    /// At a rate: how the intended starts of iterations lie; absent: equally far apart.
    #[schemars(with = "Option<Arrivals>")]
    arrivals: Option<Spanned<Arrivals>>,
    /// At a rate: users at most, each of whom does the setup; absent: 200. What is due while all of them are at work waits.
    #[schemars(with = "Option<u32>")]
    users_max: Option<Spanned<u32>>,
    /// For `stages`: what is asked for one after the other. A trial goes through all of them.
    #[serde(default, rename = "stage")]
    stages: Vec<StageFile>,
}

/// A stage: leads evenly from one number of users, or iterations per second, to another.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StageFile {
    /// Short name, unique: its figures stand under it.
    #[schemars(with = "String")]
    name: Spanned<String>,
    /// How long it lasts.
    seconds: f64,
    /// Users that it leads to.
    users: Option<f64>,
    /// Iterations per second that it leads to; all stages have users, or all have rates.
    rate: Option<f64>,
    /// What it begins with; absent: what the one before it led to, of the first one nothing.
    from: Option<f64>,
}

impl LoadShape {
    /// Users at most at a level.
    pub fn users(&self, level: u64) -> u64 {
        match &self.stages {
            Some(stages) if stages.unit() == Unit::Users => level,
            _ => u64::from(self.users_max),
        }
    }

    /// Whether what begins does so at a rate.
    pub fn is_open(&self) -> bool {
        self.stages.as_ref().is_none_or(|stages| stages.unit() == Unit::PerSecond)
    }

    /// The load of a trial.
    pub(crate) fn of_trial(&self, level: u64, end: End, seed: u64) -> Load {
        if !self.is_open() {
            return Closed::new(level as usize, end).into();
        }
        let arrivals = match self.arrivals {
            Arrivals::Constant => model::Arrivals::Constant,
            Arrivals::Poisson => model::Arrivals::Poisson,
        };
        let (rate_per_second, users_max) = (level as f64, self.users_max as usize);
        Open { rate_per_second, arrivals, users_max, end, seed, lane: Lane::WHOLE }.into()
    }

    /// What the level of stages is called.
    pub(super) fn title(&self) -> Option<String> {
        let stages = self.stages.as_ref()?;
        let most = stages.most();
        Some(match stages.unit() {
            Unit::Users => format!("stages up to {most} users"),
            Unit::PerSecond => format!("stages up to {most} per second"),
        })
    }
}

impl Checker<'_> {
    /// How a scenario is loaded, where the factor is no number of users.
    pub(super) fn load(&self, parsed: &ExperimentFile) -> Result<Option<LoadShape>, ExperimentError> {
        let factor = *parsed.factor.name.as_ref();
        if !matches!(factor, FactorName::Rate | FactorName::Stages) {
            return match &parsed.load {
                None => Ok(None),
                Some(load) => {
                    let help = "set `name = \"rate\"` or `name = \"stages\"` in `[factor]`";
                    Err(self.fault(load.span(), "`load` has no meaning for this factor", help))
                }
            };
        }
        if parsed.workload.as_ref().kind != WorkloadKind::Scenario {
            let help = "`rate` and `stages` are for `kind = \"scenario\"`; for one URL there is `tollgate load`";
            return Err(self.fault(parsed.workload.span(), "factor and workload do not fit", help));
        }
        let file = parsed.load.as_ref().map(Spanned::as_ref);
        let stages = self.stages(parsed, file.map_or(&[][..], |load| &load.stages))?;
        let shape = LoadShape {
            arrivals: file.and_then(|load| load.arrivals.as_ref()).map_or(Arrivals::Constant, |named| *named.as_ref()),
            users_max: match file.and_then(|load| load.users_max.as_ref()) {
                None => USERS_DEFAULT,
                Some(most) => {
                    self.bounded(Some(most), USERS_MAX, "users_max")?;
                    *most.as_ref()
                }
            },
            stages: stages.map(Arc::new),
        };
        if let (false, Some(load)) = (shape.is_open(), file) {
            let arrivals = load.arrivals.as_ref().map(Spanned::span);
            if let Some(span) = arrivals.or(load.users_max.as_ref().map(Spanned::span)) {
                let help = "leave it out, or give stages a `rate` in the place of `users`";
                return Err(self.fault(span, "users who wait do not arrive at a rate", help));
            }
        }
        Ok(Some(shape))
    }

    fn stages(&self, parsed: &ExperimentFile, files: &[StageFile]) -> Result<Option<Stages>, ExperimentError> {
        let factor = &parsed.factor;
        if *factor.name.as_ref() == FactorName::Rate {
            return match files.first() {
                None => Ok(None),
                Some(stage) => {
                    let help = "set `name = \"stages\"` in `[factor]`";
                    Err(self.fault(stage.name.span(), "a stage has no meaning for this factor", help))
                }
            };
        }
        if let Some(levels) = &factor.levels {
            let help = "leave `levels` out: what is asked for stands in the stages";
            return Err(self.fault(levels.span(), "stages have no levels", help));
        }
        for extent in parsed.extent.values() {
            if let Some(slice) = extent.slice_span() {
                return Err(self.fault(slice, "a trial lasts as long as its stages", "leave `slice_ms` out"));
            }
        }
        let Some(first) = files.first() else {
            let help = "add a `[[load.stage]]`, such as `name = \"up\"`, `seconds = 10`, `users = 50`";
            return Err(self.fault(factor.name.span(), "there is no stage", help));
        };
        let unit = if first.rate.is_some() { Unit::PerSecond } else { Unit::Users };
        let (mut stages, mut before) = (Vec::<Stage>::with_capacity(files.len()), 0.0);
        for file in files {
            self.name(&file.name)?;
            let name = file.name.as_ref();
            if stages.iter().any(|known| known.name == *name) {
                let message = format!("stage `{name}` stands twice");
                return Err(self.fault(file.name.span(), &message, "give each stage a name of its own"));
            }
            let to = match (unit, file.users, file.rate) {
                (Unit::Users, Some(to), None) | (Unit::PerSecond, None, Some(to)) => to,
                _ => {
                    let message = format!("stage `{name}` does not lead to {}", asked(unit));
                    let help = "each stage has `users`, or each has a `rate`";
                    return Err(self.fault(file.name.span(), &message, help));
                }
            };
            let lasts = Duration::try_from_secs_f64(file.seconds).unwrap_or_default();
            stages.push(Stage { name: name.clone(), from: file.from.unwrap_or(before), to, lasts });
            before = to;
        }
        let span: Range<usize> = first.name.span();
        let stages = Stages::new(unit, stages).map_err(|message| {
            self.fault(span, &message, "a stage has a `name`, `seconds`, and `users` or a `rate`")
        })?;
        Ok(Some(stages))
    }
}

fn asked(unit: Unit) -> &'static str {
    match unit {
        Unit::Users => "a number of users",
        Unit::PerSecond => "a rate",
    }
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
        assert_eq!(staged.named_levels()[0].title, "stages up to 50 users");
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
