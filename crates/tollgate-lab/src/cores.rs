//! Division of the cores between generator and subjects, so that neither takes the other's time unnoticed.
//!
//! Affinity is inherited, so a child is pinned by briefly pinning the thread that starts it. Where there is only one
//! core nothing is pinned, and the report says so.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Most cores of the generator: one drives over 100,000 requests/s.
const GENERATOR_CORES_MAX: usize = 4;
/// The generator gets one core of this many.
const CORES_FOR_EACH_OF_GENERATOR: usize = 4;

/// The cores of both sides; both empty where they cannot be separated.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cores {
    /// Cores of the generator and of the lab itself.
    pub generator: Vec<usize>,
    /// Cores of the subjects.
    pub subjects: Vec<usize>,
    /// All cores that this process may use.
    pub all: Vec<usize>,
}

impl Cores {
    /// Divides the cores that this thread may use.
    pub fn divide() -> Cores {
        let Ok(set) = sched_getaffinity(None) else { return Cores::default() };
        Cores::of((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
    }

    /// Divides these cores.
    pub(crate) fn of(all: Vec<usize>) -> Cores {
        if all.len() < 2 {
            return Cores { all, ..Cores::default() };
        }
        let count = (all.len() / CORES_FOR_EACH_OF_GENERATOR).clamp(1, GENERATOR_CORES_MAX);
        let (subjects, generator) = all.split_at(all.len() - count);
        Cores { generator: generator.to_vec(), subjects: subjects.to_vec(), all }
    }

    /// Does `work` while this thread is limited to the subjects' cores, which child processes inherit.
    pub fn as_subject<T>(&self, work: impl FnOnce() -> T) -> T {
        let _pinned = PinGuard::to(&self.subjects);
        work()
    }

    /// Does `work` while this thread is limited to the generator's cores.
    pub fn as_generator<T>(&self, work: impl FnOnce() -> T) -> T {
        let _pinned = self.pin_to_generator();
        work()
    }

    /// Pins this thread to the generator's cores until the guard is dropped.
    pub fn pin_to_generator(&self) -> PinGuard {
        PinGuard::to(&self.generator)
    }
}

/// Gives a thread its previous cores back when dropped.
#[derive(Debug)]
pub struct PinGuard(Option<CpuSet>);

impl PinGuard {
    fn to(cores: &[usize]) -> PinGuard {
        let before = sched_getaffinity(None).ok();
        pin(cores);
        PinGuard(before)
    }
}

impl Drop for PinGuard {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // Going back to cores that were allowed before cannot fail in a way that matters: the thread stays pinned.
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Limits this thread to these cores; to any if there are none.
///
/// If the kernel refuses, the thread stays where it was: the figures are still true, but noisier.
pub fn pin(cores: &[usize]) {
    if cores.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    for core in cores {
        set.set(*core);
    }
    let _ = sched_setaffinity(None, &set);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_share_no_core() {
        let check = |count: usize, generator: &[usize], subjects: usize| {
            let cores = Cores::of((0..count).collect());
            assert_eq!((cores.generator.as_slice(), cores.subjects.len()), (generator, subjects), "{count} cores");
        };
        check(0, &[], 0);
        check(1, &[], 0);
        check(2, &[1], 1);
        check(4, &[3], 3);
        check(8, &[6, 7], 6);
        check(64, &[60, 61, 62, 63], 60);
    }

    #[test]
    fn a_child_started_as_a_subject_inherits_its_cores_and_the_thread_keeps_its_own() {
        let cores = Cores::divide();
        if cores.subjects.is_empty() {
            return;
        }
        let before = sched_getaffinity(None).unwrap();
        let output = cores
            .as_subject(|| std::process::Command::new("grep").args(["Cpus_allowed_list", "/proc/self/status"]).output())
            .unwrap();
        let expected = format!("\t{}", cores.subjects[0]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&expected), "{text} has not {expected}");
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
