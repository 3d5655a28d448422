//! CPU time of processes and all their descendants: of a master with its workers, of a server that forks for each
//! request.
//!
//! It does not look for processes during a measurement: the caller decides when.

use std::collections::BTreeMap;

use super::cpu::CpuClocks;
use super::process::{self, Found};
use super::watch::{Ended, Extent, same};

/// Some processes and their descendants.
#[derive(Debug, Default)]
pub(super) struct Started {
    roots: Vec<u32>,
    /// Processes that existed at the last look, with the last reading of their clocks.
    known: BTreeMap<u32, Found>,
    ended: Ended,
    used_ns: u64,
}

impl Started {
    /// Creates a record of these processes and their descendants.
    pub(super) fn new(roots: &[u32]) -> Started {
        let mut started = Started { roots: roots.to_vec(), ..Started::default() };
        started.look_around();
        started
    }

    /// Returns the processes that existed at the last look.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.known.keys().copied().collect()
    }

    /// Returns their CPU time in nanoseconds; it never decreases. An ended process keeps its last reading, until the
    /// next look finds the time that its parent got.
    pub(super) fn read_ns(&mut self) -> u64 {
        for (process, found) in &mut self.known {
            let (Some(now), Some(last)) = (clock_ns(*process), &mut found.cpu_ns) else { continue };
            self.used_ns += now.saturating_sub(*last);
            *last = now.max(*last);
        }
        self.used_ns
    }

    /// Looks for processes, and returns the CPU time found beyond `read_ns`: of processes that began or ended since the
    /// last look.
    pub(super) fn look_around(&mut self) -> u64 {
        let mut known = std::mem::take(&mut self.known);
        let roots = self.roots.iter().filter_map(|process| Some((*process, process::stat(*process)?))).collect();
        let mut begun_ns = 0;
        // One that ended and is kept for its parent still has its clock.
        let members = process::with_descendants(roots, |_| true).into_iter().map(|(process, stat)| {
            let mut found = Found { stat, ..Found::default() };
            found.cpu_ns = same(&known, process, &found).and_then(|known| known.cpu_ns).or_else(|| {
                let now = clock_ns(process);
                begun_ns += now.unwrap_or(0);
                now
            });
            (process, found)
        });
        let mut found: BTreeMap<u32, Found> = members.collect();
        let ended_ns = self.ended.since(&mut known, &mut found);
        self.known = found;
        self.used_ns += begun_ns + ended_ns;
        begun_ns + ended_ns
    }
}

fn clock_ns(process: u32) -> Option<u64> {
    CpuClocks::new(&[process], Extent::Alone).ok()?.read_ns()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::CommandExt;
    use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process_group};

    use super::super::meter::Meter;
    use super::super::system::TICK_NS;
    use super::*;

    /// CPU time that a process of the script uses before it reports, in ticks.
    const USED_TICKS: u64 = 6;
    const USED_NS: u64 = USED_TICKS * TICK_NS;
    /// Rounding of an ended child's time in its parent's account, which is in ticks for both user and system time.
    const ROUNDING_NS: u64 = 2 * TICK_NS;

    /// A shell that executes lines from its input; its children end with it.
    struct Forking {
        shell: Child,
        stdin: ChildStdin,
        stdout: BufReader<ChildStdout>,
    }

    impl Forking {
        fn start() -> Forking {
            let burn = format!(
                "burn() {{ set -- 0; while [ $1 -lt {USED_TICKS} ]; do read -r stat < /proc/self/stat; \
                 set -- ${{stat##*) }}; set -- $((${{12}} + ${{13}})); done; }}"
            );
            let script = format!("{burn}; while read -r line; do eval \"$line\"; done");
            let mut shell = Command::new("sh");
            shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
            shell.stderr(Stdio::null()).process_group(0);
            let mut shell = shell.spawn().unwrap();
            let (stdin, stdout) = (shell.stdin.take().unwrap(), BufReader::new(shell.stdout.take().unwrap()));
            Forking { shell, stdin, stdout }
        }

        /// Lets it run a command, and waits until that is done.
        fn has_done(&mut self, what: &str) {
            writeln!(self.stdin, "{what}").unwrap();
            let mut said = String::new();
            self.stdout.read_line(&mut said).unwrap();
            assert_eq!(said, "done\n", "{what}");
        }

        fn meter(&self, extent: Extent) -> Meter {
            Meter { subject: CpuClocks::new(&[self.shell.id()], extent).unwrap(), ..Meter::default() }
        }
    }

    impl Drop for Forking {
        fn drop(&mut self) {
            let _ = kill_process_group(Pid::from_child(&self.shell), Signal::KILL);
            let _ = self.shell.wait();
        }
    }

    #[test]
    fn what_a_child_uses_is_its_parents_whenever_it_begins_and_ends() {
        let mut shell = Forking::start();
        let (alone, tree) = (shell.meter(Extent::Alone), shell.meter(Extent::Tree));
        let mut of_children = |what: &str| {
            let begun = (alone.begin(), tree.begin());
            shell.has_done(what);
            let (all, own) = (tree.end(&begun.1).subject_cpu_ns, alone.end(&begun.0).subject_cpu_ns);
            all.unwrap().saturating_sub(own.unwrap())
        };
        let mut check = |what: &str| {
            let used_ns = of_children(what);
            assert!(used_ns >= USED_NS - ROUNDING_NS, "{what}: {used_ns} ns");
        };
        check("(burn); echo done");
        // Nobody waits for it meanwhile.
        check("(burn; echo done) &");
        check("((burn); (burn); echo done) &");
        // It is there until the last one ends it.
        check("(burn; echo done; exec tail -f /dev/null) & tail=$!");
        check("(burn); kill $tail; wait $tail; echo done");
    }

    #[test]
    fn who_lives_on_and_works_on_is_counted_on_and_who_is_gone_hides_nothing() {
        let mut shell = Forking::start();
        shell.has_done("(while :; do :; done) & endless=$!; echo done");
        let meter = shell.meter(Extent::Tree);
        let begun = meter.begin();
        assert_eq!(meter.subject.processes().len(), 2);
        // It ends only where work is seen.
        let wanted = begun.subject_cpu_ns.unwrap() + USED_NS;
        while meter.subject.read_ns().unwrap() < wanted {}
        let last = meter.begin();
        let before = meter.subject.read_ns().unwrap();
        shell.has_done("kill $endless; wait $endless; echo done");
        assert!(meter.end(&last).subject_cpu_ns.is_some() && meter.subject.read_ns().unwrap() >= before);
        assert_eq!(meter.subject.processes(), [shell.shell.id()]);
    }

    #[test]
    fn a_generator_is_no_part_of_the_shell_that_started_it() {
        let parent = rustix::process::getppid().unwrap().as_raw_pid().unsigned_abs();
        let processes = CpuClocks::new(&[parent], Extent::Tree).unwrap().processes();
        assert!(processes.contains(&parent) && !processes.contains(&std::process::id()));
    }
}
