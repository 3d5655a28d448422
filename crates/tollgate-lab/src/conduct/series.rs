//! Values watched over time, reduced to a bounded number of points that keeps the peaks.

use tollgate_facts::results::{Reading, Series, SubjectUse, Trial};
use tollgate_facts::stats;

/// Most points of a series: as many as a chart can show.
pub(crate) const POINTS_MAX: usize = 400;

/// The series of one cell, which grow during the run.
#[derive(Debug, Default)]
pub(crate) struct Growing(Vec<(Reading, Vec<(f64, f64)>)>);

impl Growing {
    /// Adds one value at a time since the run's start.
    pub(crate) fn add(&mut self, at_ms: f64, reading: Reading) {
        match self.0.iter_mut().find(|(known, _)| known.name == reading.name) {
            Some((_, points)) => points.push((at_ms, reading.value)),
            None => self.0.push((reading, vec![(at_ms, reading.value)])),
        }
    }

    /// Adds the number of cores that a trial's subject and its backend kept busy.
    pub(crate) fn add_cores(&mut self, trial: &Trial) {
        let used = [("subject-cpu-share", trial.subject_cpu_us), ("backend-cpu-share", trial.backend_cpu_us)];
        for (name, used_us) in used {
            let Some(used_us) = used_us else { continue };
            let value = used_us / 1e3 / trial.duration_ms.max(f64::MIN_POSITIVE);
            self.add(trial.start_ms, Reading { name, unit: "cores", value });
        }
    }

    /// The largest value of a series.
    pub(crate) fn peak(&self, name: &str) -> Option<f64> {
        self.values(name).reduce(f64::max)
    }

    /// The observed memory and threads of a subject; absent where it could not be watched.
    pub(crate) fn subject(&self) -> Option<SubjectUse> {
        let memory = "subject-resident-memory";
        Some(SubjectUse {
            resident_memory_bytes_max: self.peak(memory)? as u64,
            resident_memory_bytes_mean: stats::mean(&self.values(memory).collect::<Vec<_>>()),
            threads_max: self.peak("subject-threads")? as u32,
            ..SubjectUse::default()
        })
    }

    fn values(&self, name: &str) -> impl Iterator<Item = f64> {
        self.0
            .iter()
            .filter(move |(known, _)| known.name == name)
            .flat_map(|(_, points)| points)
            .map(|(_, value)| *value)
    }

    /// The series in its stored form.
    pub(crate) fn stored(&self, variant: &str, level: u64) -> impl Iterator<Item = Series> {
        self.0.iter().map(move |(reading, points)| Series {
            variant: variant.to_owned(),
            level,
            name: reading.name.to_owned(),
            unit: reading.unit.to_owned(),
            points: thinned(points),
        })
    }
}

/// At most [`POINTS_MAX`] points: of neighbours, the largest is kept.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let group = points.len().div_ceil(POINTS_MAX).max(1);
    let larger = |one: (f64, f64), other: (f64, f64)| if other.1 > one.1 { other } else { one };
    points.chunks(group).filter_map(|neighbours| neighbours.iter().copied().reduce(larger)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_keeps_its_peaks() {
        let points: Vec<(f64, f64)> =
            (0..10_000).map(|index| (f64::from(index), if index == 4321 { 9.0 } else { 1.0 })).collect();
        let thinned = thinned(&points);
        assert!(thinned.len() <= POINTS_MAX);
        assert!(thinned.contains(&(4321.0, 9.0)));
        assert!(thinned.is_sorted_by(|one, next| one.0 < next.0));
    }

    #[test]
    fn a_short_series_is_kept_as_it_is() {
        let mut growing = Growing::default();
        for (at_ms, value) in [(1.0, 5.0), (2.0, 3.0)] {
            growing.add(at_ms, Reading { name: "subject-threads", unit: "threads", value });
        }
        assert_eq!(growing.peak("subject-threads"), Some(5.0));
        assert_eq!(growing.peak("other"), None);
        let stored: Vec<Series> = growing.stored("v", 1).collect();
        assert_eq!(stored[0].points, [(1.0, 5.0), (2.0, 3.0)]);
    }
}
