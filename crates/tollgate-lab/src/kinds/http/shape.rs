//! The load of users who do not simply wait: at a rate, and in stages.
//!
//! It does not send requests (see [`crate::load::scenario`]).

use std::sync::Arc;

use crate::experiment::{Experiment, Users, Variant};
use crate::traffic::model::{End, Load, Rate};
use crate::traffic::stages::{Stages, Unit};
use tollgate_facts::results::{Arrivals, NamedLevel};

/// The load of a scenario whose users do not simply wait.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadShape {
    /// At a rate: distribution of the intended starts.
    pub(crate) arrivals: Arrivals,
    /// At a rate: most users.
    pub(crate) users_max: u32,
    /// Changes of users or rate; absent: the levels are rates.
    pub(crate) stages: Option<Arc<Stages>>,
}

impl LoadShape {
    /// The load of a variant: its own, or that of all. Absent: users wait, as many as the level says.
    pub(crate) fn of(experiment: &Experiment, variant: &Variant) -> Option<LoadShape> {
        match &variant.model {
            Some(model) => Some(LoadShape { arrivals: model.arrivals, users_max: model.users_max, stages: None }),
            None => experiment.own().cloned(),
        }
    }

    /// Users at each level.
    pub(crate) fn users(&self) -> Users {
        match &self.stages {
            Some(stages) if stages.unit() == Unit::Users => Users::OfLevel,
            _ => Users::AtMost(self.users_max),
        }
    }

    /// Whether iterations begin at a rate.
    pub(crate) fn is_open(&self) -> bool {
        self.stages.as_ref().is_none_or(|stages| stages.unit() == Unit::PerSecond)
    }

    /// The load of a trial at a level, with `per_second` iterations per second at a rate.
    pub(crate) fn of_trial(&self, (level, per_second): (u64, f64), end: End, seed: u64) -> Load {
        let rate = Rate { per_second, arrivals: self.arrivals, seed };
        let load = match self.is_open() {
            true => Load::at_a_rate(self.users_max as usize, rate, end),
            false => Load::closed(level as usize, end),
        };
        Load { stages: self.stages.clone(), ..load }
    }

    /// The single level of stages, and its title; absent if levels are rates.
    pub(crate) fn level(&self) -> Option<NamedLevel> {
        let stages = self.stages.as_ref()?;
        let most = stages.most();
        let title = match stages.unit() {
            Unit::Users => format!("stages up to {most} users"),
            Unit::PerSecond => format!("stages up to {most} per second"),
        };
        Some(NamedLevel { level: (most.ceil() as u64).max(1), title, ..NamedLevel::default() })
    }
}
