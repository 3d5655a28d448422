//! Readings at the beginning and the end of a measurement: CPU clocks and instructions of the subject and of servers
//! behind it, ticks of the cores, and the kernel's TCP counts.
//!
//! The caller decides what is measured, and when.

use super::cpu::CpuClocks;
use super::instructions::{Count, Counters};
use super::network::tcp_counts;
use super::system::Ticks;
use tollgate_facts::results::TcpCounts;

/// Sources of the readings.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    /// CPU clocks of the subject; without any its time is absent.
    pub subject: CpuClocks,
    /// CPU clocks of the servers behind it, likewise.
    pub behind: CpuClocks,
    /// Whether the subject started all servers behind it: then their use is in its figures, and they have none of their
    /// own.
    pub behind_is_inside: bool,
    /// Instruction counters of the subject, likewise.
    pub subject_instructions: Counters,
    /// Those of the servers behind it.
    pub behind_instructions: Counters,
    /// The cores whose ticks are read.
    pub cores: Vec<usize>,
}

/// Readings at one time, or the differences between two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    /// CPU time of the subject, if it is watched.
    pub subject_cpu_ns: Option<u64>,
    /// CPU time of the servers behind it, if any are ours.
    pub behind_cpu_ns: Option<u64>,
    /// Instructions of the subject, if they are counted.
    pub subject_instructions: Option<Count>,
    /// Those of the servers behind it.
    pub behind_instructions: Option<Count>,
    /// Ticks of the cores.
    pub ticks: Ticks,
    /// The kernel's TCP counts, in the network namespace of the reading threads.
    pub tcp: TcpCounts,
}

impl Meter {
    /// Reads at the beginning: the clocks last, since files of /proc take 0.1 ms and clocks almost nothing; the
    /// counters of all threads come in between. The look for descendants takes longest, and comes first.
    pub fn begin(&self) -> Passed {
        for clocks in [&self.subject, &self.behind] {
            clocks.look_around();
        }
        let (ticks, tcp) = (Ticks::now(&self.cores), tcp_counts());
        let (subject_instructions, behind_instructions) = self.counted();
        Passed {
            subject_cpu_ns: self.subject.read_ns(),
            behind_cpu_ns: self.behind.read_ns(),
            subject_instructions,
            behind_instructions,
            ticks,
            tcp,
        }
    }

    /// Reads at the end: the clocks first, and descendants last.
    pub fn end(&self, begun: &Passed) -> Passed {
        let (subject, behind) = (self.subject.read_ns(), self.behind.read_ns());
        let (subject_counted, behind_counted) = self.counted();
        let (ticks, tcp) = (Ticks::now(&self.cores).since(begun.ticks), tcp_counts().since(begun.tcp));
        let between = |clocks: &CpuClocks, before: Option<u64>, after: Option<u64>| {
            Some(after?.saturating_sub(before?) + clocks.look_around())
        };
        let counted = |before: Option<Count>, after: Option<Count>| Some(after?.since(before?));
        let subject_cpu_ns = between(&self.subject, begun.subject_cpu_ns, subject);
        let subject_instructions = counted(begun.subject_instructions, subject_counted);
        let (behind_cpu_ns, behind_instructions) = if self.behind_is_inside {
            (subject_cpu_ns.map(|_| 0), subject_instructions.map(|_| Count::default()))
        } else {
            (between(&self.behind, begun.behind_cpu_ns, behind), counted(begun.behind_instructions, behind_counted))
        };
        Passed { subject_cpu_ns, behind_cpu_ns, subject_instructions, behind_instructions, ticks, tcp }
    }

    fn counted(&self) -> (Option<Count>, Option<Count>) {
        (self.subject_instructions.read(), self.behind_instructions.read())
    }
}

#[cfg(test)]
mod tests {
    use super::super::watch::Extent;
    use super::*;

    #[test]
    fn of_what_nobody_watches_no_time_is_told() {
        let own = CpuClocks::new(&[std::process::id()], Extent::Alone).unwrap();
        let meter = Meter { subject: own, ..Meter::default() };
        let passed = meter.end(&meter.begin());
        assert!(passed.subject_cpu_ns.is_some_and(|used_ns| used_ns > 0), "{passed:?}");
        assert_eq!((passed.behind_cpu_ns, passed.ticks), (None, Ticks::default()));
    }

    #[test]
    fn servers_that_the_subject_started_are_in_its_own_time() {
        let own = CpuClocks::new(&[std::process::id()], Extent::Alone).unwrap();
        let meter = Meter { subject: own, behind_is_inside: true, ..Meter::default() };
        let passed = meter.end(&meter.begin());
        assert_eq!((passed.behind_cpu_ns, passed.behind_instructions), (Some(0), None));
        let nobody = Meter { behind_is_inside: true, ..Meter::default() };
        assert_eq!(nobody.end(&nobody.begin()).behind_cpu_ns, None);
    }
}
