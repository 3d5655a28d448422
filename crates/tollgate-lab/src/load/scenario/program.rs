//! A scenario prepared for one target: each step's request is a template, rendered before the measurement.
//!
//! It sends nothing and has no values of users (see [`super::player`]).

use tollgate_net::http1::client::{BodyFraming, Piece, RequestTemplate, TemplateBuilder};

use crate::load::answer::Verdict;
use crate::load::target::{LoadTarget, Manner, folder};
use crate::traffic::scenario::{Part, Place, Played, Source, Step, Think};
use crate::traffic::statuses::Statuses;

/// The prepared scenario that users play.
#[derive(Debug, Clone)]
pub struct Program {
    /// The scenario, and the initial values of variables.
    pub(super) played: Played,
    /// Its steps, prepared.
    pub(super) setup: Vec<Ready>,
    pub(super) steps: Vec<Ready>,
    pub(super) teardown: Vec<Ready>,
}

/// A prepared step.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) step: Step,
    /// Request of a user without cookies: the path and each field with values are slots.
    pub(super) plain: RequestTemplate,
    /// The same with cookies, in the last slot.
    pub(super) with_cookies: RequestTemplate,
    /// For a path that begins with a value: the folder put in front of it unless it begins with a slash. It is the
    /// first slot of the head.
    pub(super) folder: Option<String>,
    /// Names of the header fields that the step uses.
    pub(super) fields: Vec<String>,
    /// Whether the body is used.
    pub(super) reads_body: bool,
}

impl Program {
    /// Prepares a scenario for a target.
    ///
    /// # Errors
    /// Text that is not valid in a request.
    pub fn new(played: &Played, target: &LoadTarget) -> Result<Program, String> {
        let ready = |steps: &[Step]| steps.iter().map(|step| Ready::new(step, target)).collect::<Result<Vec<_>, _>>();
        let scenario = &played.scenario;
        Ok(Program {
            setup: ready(&scenario.setup)?,
            steps: ready(&scenario.steps)?,
            teardown: ready(&scenario.teardown)?,
            played: played.clone(),
        })
    }

    /// Returns the pauses of an iteration.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Think> + Clone {
        self.steps.iter().filter_map(|ready| ready.step.think)
    }

    /// Whether users ever think.
    pub(crate) fn thinks(&self) -> bool {
        self.pauses().any(|pause| pause.ms > 0)
    }

    /// Whether users keep their step from one trial to the next: there is no setup and no teardown.
    pub(super) fn is_kept(&self) -> bool {
        self.setup.is_empty() && self.teardown.is_empty()
    }

    /// Names of the measured steps.
    pub fn step_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.steps.iter().map(|ready| ready.step.name.as_str())
    }
}

impl Ready {
    fn new(step: &Step, target: &LoadTarget) -> Result<Ready, String> {
        let template = |head: TemplateBuilder| head.build().map_err(|error| format!("step `{}`: {error}", step.name));
        let plain = template(head(step, target))?;
        let with_cookies = template(head(step, target).header_with("Cookie", &[Piece::Slot]))?;
        let sources = || {
            let asserted = step.assertions.iter().map(|assertion| &assertion.source);
            step.extracts.iter().map(|extract| &extract.source).chain(asserted)
        };
        let field = |source: &Source| match &source.place {
            Place::Header(name) => Some(name.clone()),
            Place::Body | Place::Json(_) | Place::XPath(_) => None,
        };
        let is_in_body = |source: &Source| !matches!(source.place, Place::Header(_));
        let begins_with_a_value = matches!(step.path.0.first(), Some(Part::Value(..)));
        Ok(Ready {
            plain,
            with_cookies,
            folder: begins_with_a_value.then(|| folder(target.target.path_and_query()).to_owned()),
            fields: sources().filter_map(field).collect(),
            reads_body: sources().any(is_in_body),
            step: step.clone(),
        })
    }

    /// Returns what is known of an answer that was not refused.
    pub(super) fn verdict(&self) -> Verdict {
        // Whoever names a status says what the answer is: 204 and 404 have no other content.
        let names_status = self.step.statuses != Statuses::default();
        let looks = names_status || !self.step.assertions.is_empty() || !self.step.extracts.is_empty();
        if looks { Verdict::Right } else { Verdict::Unknown }
    }

    pub(super) fn manner(&self) -> Manner<'_> {
        Manner { answers: self.plain.answers(), method: &self.step.method, statuses: &self.step.statuses }
    }
}

/// Builds a request's head without the `Cookie` field.
fn head(step: &Step, target: &LoadTarget) -> TemplateBuilder {
    let mut builder = RequestTemplate::builder(&step.method, target.target.authority());
    builder = match step.path.0.first() {
        Some(Part::Fixed(text)) if text.starts_with('/') => builder,
        // Only the value says whether the folder stands in front of it.
        Some(Part::Value(..)) => builder.target_slot(),
        _ => builder.target_text(folder(target.target.path_and_query())),
    };
    builder = match step.path.fixed() {
        Some(text) => builder.target_text(text),
        None => builder.target_slot(),
    };
    for (name, value) in &target.fields {
        if !step.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
            builder = builder.header(name, value);
        }
    }
    for (name, value) in &step.headers {
        builder = builder.header_with(name, &[value.fixed().map_or(Piece::Slot, Piece::Text)]);
    }
    if step.body.is_some() || matches!(step.method.as_str(), "POST" | "PUT" | "PATCH" | "MERGE") {
        builder = builder.framed(BodyFraming::Length);
    }
    builder
}
