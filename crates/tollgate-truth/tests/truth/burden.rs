//! Readings of probes and runs for a process that carries a known burden: threads and processes exactly, memory within
//! 3 %, CPU time between what its own clock said before and after.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tollgate_lab::probe::watch::{Extent, Look, Network, Watch};

use crate::server::TRUTH;

const MIB: u64 = 1 << 20;

/// A process that carries a burden until it is dropped.
pub(crate) struct Carrier {
    child: Child,
    /// Dropped first: its end ends the burden.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Memory that there was before the burden.
    pub(crate) before_bytes: u64,
}

impl Carrier {
    pub(crate) fn start(burden: &str) -> Carrier {
        let mut command = Command::new(TRUTH);
        let mut child = command.args(["burden", burden]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut carrier = Carrier { child, orders, answers, before_bytes: 0 };
        carrier.before_bytes = carrier.number();
        carrier
    }

    /// The CPU time of all its threads, by its own clock, at some moment between call and return.
    pub(crate) fn used_ns(&mut self) -> u64 {
        self.orders.as_mut().expect("it is there until it is dropped").write_all(b"\n").unwrap();
        self.number()
    }

    pub(crate) fn watch(&self, extent: Extent) -> Watch {
        Watch::begin(self.child.id(), extent, Network::Unwatched).unwrap()
    }

    /// The number in the next line that it says.
    fn number(&mut self) -> u64 {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.split(' ').find_map(|word| word.parse().ok()).unwrap_or_else(|| panic!("it said {line:?}"))
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.orders = None;
        // Some tests end it themselves.
        let _ = self.child.wait();
    }
}

fn look(carrier: &Carrier, extent: Extent) -> Look {
    carrier.watch(extent).look().expect("it is there until it is dropped")
}

#[test]
fn threads_and_processes_are_counted_exactly() {
    let check = |burden: &str, threads: u64, processes: u64| {
        let carrier = Carrier::start(burden);
        let alone = look(&carrier, Extent::Alone);
        assert_eq!((alone.threads, alone.processes), (Some(threads), 1), "{burden}");
        let tree = look(&carrier, Extent::Tree);
        assert_eq!((tree.threads, tree.processes as u64), (Some(threads * processes), processes), "{burden}");
    };
    check("threads-0", 1, 1);
    check("threads-1", 2, 1);
    check("threads-49", 50, 1);
    check("threads-4,cpu-1", 6, 1);
    check("threads-9,children-3", 10, 4);
}

#[test]
fn memory_that_is_touched_is_seen_within_3_percent() {
    for (burden, touched_bytes) in
        [("memory-64", 64 * MIB), ("memory-256", 256 * MIB), ("memory-64,children-1", 64 * MIB)]
    {
        let carrier = Carrier::start(burden);
        let seen = look(&carrier, Extent::Alone).resident_bytes.unwrap();
        let truth = carrier.before_bytes + touched_bytes;
        assert!(seen.abs_diff(truth) <= touched_bytes * 3 / 100, "{burden}: {seen} seen, {truth} in truth");
        if burden.contains("children") {
            let tree = look(&carrier, Extent::Tree).resident_bytes.unwrap();
            assert!(tree.abs_diff(2 * truth) <= 2 * touched_bytes * 3 / 100, "{burden}: {tree} seen");
        }
    }
}

#[test]
fn cpu_time_lies_between_what_the_process_itself_read_before_and_after() {
    let mut carrier = Carrier::start("cpu-100,threads-3");
    let mut watch = carrier.watch(Extent::Alone);
    for _ in 0..5 {
        let first_ns = carrier.used_ns();
        // What a look tells is what was used since the one before it.
        watch.look().unwrap();
        let second_ns = carrier.used_ns();
        let mut third_ns = second_ns;
        while third_ns < second_ns + 5_000_000 {
            third_ns = carrier.used_ns();
        }
        let look = watch.look().unwrap();
        let fourth_ns = carrier.used_ns();
        let seen_ns = look.cpu_cores.unwrap() * look.span_s * 1e9;
        let (least, most) = ((third_ns - second_ns) as f64, (fourth_ns - first_ns) as f64);
        // A product of two numbers that were divided by each other: right to a part in a million.
        assert!(seen_ns >= least * 0.999_999 && seen_ns <= most * 1.000_001, "{seen_ns} is not in {least} to {most}");
    }
}
