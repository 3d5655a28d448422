//! The rules for the parts that all experiments share: names, levels, baselines, extents.
//!
//! It looks at nothing outside the text except the files that it names.

use std::collections::BTreeSet;
use std::ops::Range;

use super::checker::{Checker, LEVEL_MAX};
use super::description::{Access, Experiment, Heading, Location, Own, Variant};
use super::document::{Document, Table};
use super::error::ExperimentError;
use super::file::{Extent, ExtentFile, VariantFile};
use super::values::At;
use crate::traffic::request::RequestShape;
use tollgate_facts::names::did_you_mean;
use tollgate_facts::results::{Answering, Distance, Published};

/// Maximum number of words in a variant's name within a sentence.
const ANSWER_WORDS_MAX: usize = 8;

impl Document<'_> {
    /// The levels of the factor as ascending numbers.
    pub(crate) fn levels(&self, most: u64) -> Result<Vec<u64>, ExperimentError> {
        match &self.swept.levels {
            Some(levels) => self.checker.ascending(levels.as_ref(), most, levels.span()),
            None => self.checker.ascending(&[], most, self.factor_span()),
        }
    }

    /// The usual levels: numbers of users.
    pub(crate) fn levels_of_users(&self) -> Result<Vec<u64>, ExperimentError> {
        self.levels(LEVEL_MAX)
    }

    /// The common part of every experiment, with these levels; the part of its kind is filled in later.
    pub(crate) fn experiment(&self, levels: Vec<u64>) -> Result<Experiment, ExperimentError> {
        let (checker, own) = (&self.checker, &self.own);
        checker.name(&own.name)?;
        if own.question.as_ref().trim().is_empty() {
            let help = "say what the experiment answers";
            return Err(checker.fault(own.question.span(), "the question is empty", help));
        }
        Ok(Experiment {
            name: own.name.as_ref().clone(),
            question: own.question.as_ref().clone(),
            heading: self.heading,
            levels,
            equivalence_ppm: own.equivalence.as_ref().map(|share| checker.equivalence(share)).transpose()?,
            variants: self.variants()?,
            published_table: own.published_table,
            ..Experiment::default()
        })
    }

    /// Adds the parts that name levels and variants, once these exist.
    pub(crate) fn complete(self, mut experiment: Experiment) -> Result<Experiment, ExperimentError> {
        let all = self.variants.iter().chain([&self.top, &self.factor, &self.workload]);
        debug_assert!(all.into_iter().all(Table::is_taken), "a kind reads all keys that it says it has");
        let Document { checker, own, .. } = self;
        for (extent, file) in &own.extent {
            checker.extent(*extent, file, &mut experiment)?;
            let Heading { kind, factor, .. } = experiment.heading;
            let ramps = ["request", "scenario"].contains(&kind) && factor.name == "concurrency";
            if let (Some(ramp), false) = (&file.ramp_ms, ramps) {
                let help = "it goes with `kind = \"request\"` and `kind = \"scenario\"` over users who wait";
                return Err(checker.fault(ramp.span(), "`ramp_ms` has no meaning here", help));
            }
        }
        if let Some(answer) = &own.answer {
            experiment.answer = Some(checker.answering(answer, &experiment)?);
        }
        experiment.extents = own.extent;
        experiment.thresholds = checker.thresholds(&own.thresholds, &experiment)?;
        for published in own.published {
            if let Some(variant) = &published.variant
                && let Err(message) = experiment.variant(variant.as_ref())
            {
                return Err(checker.fault(variant.span(), &message, "leave `variant` out where none corresponds"));
            }
            experiment.published.push(Published {
                source: published.source,
                subject: published.subject,
                variant: published.variant.map(At::into_inner),
                level: published.level,
                figure: published.figure,
                value: published.value,
                unit: published.unit,
                note: published.note,
            });
        }
        Ok(experiment)
    }

    /// The place of an extent's trial length.
    pub(crate) fn slice_span(&self) -> Option<Range<usize>> {
        self.own.extent.values().find_map(|extent| extent.slice_ms.as_ref().map(At::span))
    }

    /// The place of an extent's ramp-up time.
    pub(crate) fn ramp_span(&self) -> Option<Range<usize>> {
        self.own.extent.values().find_map(|extent| extent.ramp_ms.as_ref().map(At::span))
    }

    fn variants(&self) -> Result<Vec<Variant>, ExperimentError> {
        let (checker, files) = (&self.checker, &self.ways);
        if files.is_empty() {
            let span = self.own.name.span();
            return Err(checker.fault(span, "the experiment has no variant", "add a `[[variant]]`"));
        }
        checker.names("variant", files.iter().map(|file| &file.name))?;
        let names: Vec<&str> = files.iter().map(|file| file.name.as_ref().as_str()).collect();
        let mut variants = Vec::with_capacity(files.len());
        for (position, file) in files.iter().enumerate() {
            let baseline = file.baseline.as_ref();
            variants.push(Variant {
                name: names[position].to_owned(),
                access: Access::default(),
                title: file.title.clone().unwrap_or_else(|| names[position].to_owned()),
                baseline: baseline.map(|baseline| checker.baseline(baseline, position, &names)).transpose()?,
                at: Location::Here(String::new()),
                request: RequestShape { method: "GET".to_owned(), ..RequestShape::default() },
                distance: Distance::Local,
                peer: None,
                backend: None,
                model: None,
                left_out_of: BTreeSet::new(),
                own: Own::default(),
            });
        }
        checker.no_circle(files, &variants)?;
        Ok(variants)
    }
}

impl Checker<'_> {
    /// The variants and the level of the headline; all of them exist.
    fn answering(&self, file: &At<Answering>, experiment: &Experiment) -> Result<Answering, ExperimentError> {
        let answer = file.as_ref();
        let fault = |message: &str, help: &str| Err(self.fault(file.span(), message, help));
        for name in [&answer.usual].into_iter().chain(&answer.also).chain(answer.words.keys()) {
            if let Err(message) = experiment.variant(name) {
                return fault(&message, "`[answer]` names variants of this file");
            }
        }
        let of_name = |name: &String| experiment.variants.iter().find(|variant| variant.name == *name);
        let answering = [&answer.usual].into_iter().chain(&answer.also);
        if let Some(name) =
            answering.into_iter().find(|name| of_name(name).is_none_or(|found| found.baseline.is_none()))
        {
            return fault(
                &format!("`{name}` has no baseline"),
                "the sentence says what a variant costs over its baseline",
            );
        }
        let is_long = |words: &&String| words.split_whitespace().count() > ANSWER_WORDS_MAX;
        if let Some(words) = answer.words.values().find(is_long) {
            return fault(&format!("`{words}` is long"), &format!("a variant has at most {ANSWER_WORDS_MAX} words"));
        }
        match answer.level {
            Some(level) if !experiment.levels.contains(&level) => {
                fault(&format!("{level} is no level"), "`level` below `[answer]` is one of the factor's")
            }
            _ => Ok(answer.clone()),
        }
    }

    fn ascending(&self, levels: &[At<u64>], most: u64, span: Range<usize>) -> Result<Vec<u64>, ExperimentError> {
        if levels.is_empty() {
            return Err(self.fault(span, "there is no level", "list at least one, such as `levels = [1, 20]`"));
        }
        let mut checked: Vec<u64> = Vec::with_capacity(levels.len());
        for level in levels {
            let value = *level.as_ref();
            if value == 0 || value > most {
                let help = format!("it is from 1 to {most}");
                return Err(self.fault(level.span(), &format!("a level is {value}"), &help));
            }
            if checked.last().is_some_and(|last| *last >= value) {
                return Err(self.fault(
                    level.span(),
                    &format!("level {value} does not ascend"),
                    "list each level once, the smallest first",
                ));
            }
            checked.push(value);
        }
        Ok(checked)
    }

    /// Converts a share to millionths.
    fn equivalence(&self, share: &At<f64>) -> Result<u32, ExperimentError> {
        match *share.as_ref() * 1e6 {
            ppm if (1.0..=1e6).contains(&ppm) => Ok(ppm.round() as u32),
            _ => {
                let message = format!("the band of no toll is {}", share.as_ref());
                Err(self.fault(share.span(), &message, "it is a share above 0 and at most 1: 0.015 is 1.5 %"))
            }
        }
    }

    /// Checks the names in an extent, and notes the variants that it leaves out: all but those named, locally and
    /// remotely, and their baselines.
    fn extent(&self, extent: Extent, file: &ExtentFile, experiment: &mut Experiment) -> Result<(), ExperimentError> {
        let known = &experiment.levels;
        if let Some(level) = file.levels.iter().flatten().find(|level| !known.contains(level.as_ref())) {
            let message = format!("level {} is none of the factor's", level.as_ref());
            return Err(self.fault(level.span(), &message, &format!("known are {known:?}")));
        }
        let Some(names) = &file.variants else { return Ok(()) };
        let mut chosen = BTreeSet::new();
        for name in names {
            let found = experiment.with_baselines(name.as_ref());
            chosen.extend(found.map_err(|message| self.fault(name.span(), &message, "name variants of this file"))?);
        }
        for (position, variant) in experiment.variants.iter_mut().enumerate() {
            if !chosen.contains(&position) {
                variant.left_out_of.insert(extent);
            }
        }
        Ok(())
    }

    fn baseline(&self, baseline: &At<String>, position: usize, names: &[&str]) -> Result<String, ExperimentError> {
        let name = baseline.as_ref().as_str();
        match names.iter().position(|known| *known == name) {
            None => Err(self.fault(
                baseline.span(),
                &format!("there is no variant `{name}` to be the baseline"),
                &did_you_mean(name, names.iter().copied()),
            )),
            Some(found) if found == position => {
                Err(self.fault(baseline.span(), &format!("`{name}` is its own baseline"), "name another variant"))
            }
            Some(_) => Ok(name.to_owned()),
        }
    }

    fn no_circle(&self, files: &[VariantFile], variants: &[Variant]) -> Result<(), ExperimentError> {
        for (position, file) in files.iter().enumerate() {
            let next = |at: &usize| {
                let name = variants[*at].baseline.as_ref()?;
                variants.iter().position(|variant| variant.name == *name)
            };
            let mut below = std::iter::successors(next(&position), next).take(variants.len());
            if let Some(baseline) = file.baseline.as_ref().filter(|_| below.any(|at| at == position)) {
                let message = format!("the baselines lead from `{}` back to it", variants[position].name);
                return Err(self.fault(baseline.span(), &message, "the bottom variant has no `baseline`"));
            }
        }
        Ok(())
    }
}
