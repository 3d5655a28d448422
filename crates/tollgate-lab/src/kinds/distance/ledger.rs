//! Records of each cell of a run of batches beside its trials, and the results made from them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::rules::{BatchEvidence, judge};
use super::slope::per_document;
use crate::conduct::series::Growing;
use crate::judge::cells;
use crate::judge::trend::Trend;
use crate::load::record::recorder::Recorder;
use crate::probe::system::Ticks;
use tollgate_facts::results::{BatchFound, Batched, Cell, Estimate, Reading, RunResult, Trial};
use tollgate_facts::stats::{self, signed_rank::median};

/// All cells of a run.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: BTreeMap<(String, u64), Entry>,
}

/// Records of a cell that are not in its trials.
#[derive(Debug, Default)]
struct Entry {
    ticks: Ticks,
    series: Growing,
    away: Option<Duration>,
}

impl Ledger {
    /// Adds a trial, with the ticks of all cores, the readings of its process, and the delay asked of its link, if any.
    pub(crate) fn add(&mut self, trial: &Trial, ticks: Ticks, readings: Vec<Reading>, away: Option<Duration>) {
        let entry = self.entries.entry((trial.variant.clone(), trial.level)).or_default();
        entry.ticks += ticks;
        entry.away = away;
        readings.into_iter().for_each(|reading| entry.series.add(trial.start_ms, reading));
        entry.series.add_cores(trial);
    }

    /// Puts cells, doubts and series into `result`.
    pub(crate) fn fill(&self, result: &mut RunResult) {
        let base = result.experiment.variants.iter().find(|variant| variant.baseline.is_none());
        let base = base.map(|base| base.name.clone()).unwrap_or_default();
        for ((variant, level), entry) in &self.entries {
            let trials = result.trials_of(variant, *level);
            let cell = entry.cell(&trials, &result.trials_of(&base, *level));
            let asked = trials.iter().filter_map(|trial| Some(trial.batch?.documents)).sum();
            let (ticks, over) = (entry.ticks, Trend::over(&trials));
            let evidence = BatchEvidence { cell: &cell, asked, ticks, over };
            result.validity.extend(judge(&evidence));
            result.cells.push(cell);
            result.series.extend(entry.series.stored(variant, *level));
        }
        result.settings.content_checked_share = 0.0;
    }
}

impl Entry {
    fn cell(&self, trials: &[&Trial], beside: &[&Trial]) -> Cell {
        // A batch that is over before it is looked at has used CPU time all the same.
        let seen = self.series.subject().unwrap_or_default();
        let mut cell = cells::cell(trials, &Recorder::default(), Some(seen));
        let set_aside: u64 = trials.iter().map(|trial| trial.errors).sum();
        if set_aside > 0 {
            cell.errors.insert("set-aside".to_owned(), set_aside);
        }
        // One of a value and of its inverse: the means of both over the blocks would contradict each other.
        cell.requests_per_second = per_second(cell.unit_time_ms);
        let of = |pick: fn(&Batched) -> f64| {
            let means = by_block(trials, &|trial| per_document(trial, pick(&trial.batch?)));
            stats::estimate_above_zero(&means.into_values().collect::<Vec<f64>>())
        };
        let link = |trials: &[&Trial]| by_block(trials, &|trial| trial.batch?.link_us);
        let (own, without) = (link(trials), link(beside));
        let added: Vec<f64> = own.iter().filter_map(|(block, link_us)| Some(link_us - without.get(block)?)).collect();
        let has_link = self.away.is_some() && !added.is_empty();
        cell.batch = Some(BatchFound {
            documents: trials.iter().filter_map(|trial| Some(trial.batch?.stored)).sum(),
            round_trips: of(|batch| batch.round_trips as f64),
            compute_us: of(|batch| batch.compute_us),
            database_us: of(|batch| batch.database_us),
            waiting_us: of(|batch| batch.waiting_us),
            asked_us: self.away.map(|away| away.as_secs_f64() * 1e6),
            added_us: has_link.then(|| stats::estimate(&added)),
            added_median_us: median(added).filter(|_| has_link),
        });
        cell
    }
}

/// Documents per second by the time per document, regardless of the number of processes: the mean and the ends of the
/// interval.
fn per_second(time_ms: Estimate) -> Estimate {
    let of = |ms: f64| if ms > 0.0 { 1e3 / ms } else { f64::MAX };
    match time_ms.n {
        0 => time_ms,
        n => Estimate { mean: of(time_ms.mean), low: of(time_ms.high), high: of(time_ms.low), n },
    }
}

/// Means of each block.
fn by_block(trials: &[&Trial], value: &dyn Fn(&Trial) -> Option<f64>) -> BTreeMap<u32, f64> {
    let mean = |trials: Vec<&Trial>| stats::mean(&trials.into_iter().filter_map(value).collect::<Vec<f64>>());
    cells::by_block(trials).into_iter().filter_map(|(block, trials)| Some((block, mean(trials)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conduct::book;
    use tollgate_facts::fixture;
    use tollgate_facts::results::{Outcome, Validity};
    use tollgate_facts::threshold::Threshold;

    #[test]
    fn thresholds_are_asked_of_a_batch_too_and_its_rate_is_that_of_its_time() {
        let mut run = fixture::protocol();
        run.experiment.variants.truncate(1);
        run.experiment.levels = vec![1];
        let (name, like) = (run.experiment.variants[0].name.clone(), run.trials[0].clone());
        (run.trials, run.cells, run.validity) = Default::default();
        let mut ledger = Ledger::default();
        for (block, document_ms) in [10.0, 30.0, 20.0].into_iter().enumerate() {
            let batch = Batched { documents: 10, stored: 10, ..Batched::default() };
            let trial = Trial {
                variant: name.clone(),
                level: 1,
                block: block as u32,
                units: 10,
                requests: 10,
                duration_ms: document_ms * 10.0,
                unit_times_ms: vec![document_ms; 10],
                batch: Some(batch),
                ..like.clone()
            };
            ledger.add(&trial, Ticks::default(), Vec::new(), None);
            run.trials.push(trial);
        }
        let thresholds = ["time < 1 µs", "errors == 0"].map(|text| Threshold::parse(text).unwrap());
        ledger.fill(&mut run);
        book::judge(&thresholds, &mut run);
        let outcomes: Vec<Outcome> = run.thresholds.iter().map(|found| found.outcome).collect();
        assert_eq!(outcomes.len(), 2, "{:?}", run.thresholds);
        assert!(outcomes[0] != Outcome::Holds && outcomes[1] == Outcome::Holds, "{:?}", run.thresholds);
        let cell = &run.cells[0];
        assert!((cell.requests_per_second.mean * cell.unit_time_ms.mean - 1e3).abs() < 1e-6, "{cell:?}");
    }

    /// Describes the verdict on the dearer of two variants if its last block takes `last_ms`.
    fn judged(run: &mut RunResult, last_ms: f64) -> Vec<String> {
        let mut variants = vec![run.experiment.variants[0].clone(); 2];
        (variants[0].baseline, variants[1].baseline) = (None, Some("base".to_owned()));
        (variants[0].name, variants[1].name) = ("base".to_owned(), "dearer".to_owned());
        (run.experiment.variants, run.experiment.levels) = (variants, vec![1]);
        let like = Trial { level: 1, units: 10, requests: 10, ..run.trials[0].clone() };
        (run.trials, run.cells, run.validity) = Default::default();
        let mut ledger = Ledger::default();
        for block in 0..8 {
            let dearer_ms = if block == 7 { last_ms } else { 10.5 + 0.01 * f64::from(block) };
            for (variant, document_ms) in [("base", 10.0), ("dearer", dearer_ms)] {
                let trial = Trial {
                    variant: variant.to_owned(),
                    block,
                    duration_ms: document_ms * 10.0,
                    unit_times_ms: vec![document_ms; 10],
                    batch: Some(Batched { documents: 10, stored: 10, ..Batched::default() }),
                    ..like.clone()
                };
                ledger.add(&trial, Ticks::default(), Vec::new(), None);
                run.trials.push(trial);
            }
        }
        ledger.fill(run);
        book::judge(&[], run);
        let of = |doubt: &&Validity| doubt.variant == "dearer" && doubt.rule != "samples";
        run.validity.iter().filter(of).map(|doubt| doubt.rule.clone()).collect()
    }

    #[test]
    fn tests_that_disagree_on_a_batch_are_a_mark_of_it() {
        assert_eq!(judged(&mut fixture::protocol(), 200.0), ["ranks"]);
        let sound = judged(&mut fixture::protocol(), 10.6);
        assert!(!sound.contains(&"ranks".to_owned()), "{sound:?}");
    }
}
