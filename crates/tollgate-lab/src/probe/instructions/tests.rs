//! Counters of the kernel's own clock, which every machine has, in place of the processor's.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use perf_event::events::Software;
use rustix::time::{ClockId, clock_gettime};

use super::*;
use crate::probe::cpu::CpuClocks;
use crate::probe::watch::Extent;

/// Variable that marks a process as child.
const CHILD: &str = "TOLLGATE_TEST_BURNS";
/// CPU time that each of its two threads takes.
const BURNED: Duration = Duration::from_millis(30);

/// Takes CPU time of the calling thread.
fn burn() {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let begun = now();
    while now() - begun < BURNED {
        std::hint::spin_loop();
    }
}

/// Prints a word of the child, then waits for a line.
fn say_and_wait(word: &str) {
    writeln!(std::io::stdout(), "{word}").unwrap();
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
#[ignore = "the child of the test below; by itself it does nothing"]
fn a_child_that_burns() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    say_and_wait("there");
    burn();
    std::thread::spawn(|| {
        burn();
        say_and_wait("burned");
    })
    .join()
    .unwrap();
}

#[test]
fn a_counter_sees_threads_that_begin_later_and_counts_none_twice() {
    let (counted, lack) = widest(|counted| builder(Software::TASK_CLOCK, counted).observe_self().build().map(drop));
    if let Some(lack) = lack.filter(|_| counted == Counted::Nothing) {
        println!("skipped, as perf_event_open may not be called here: {lack}");
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "probe::instructions::tests::a_child_that_burns", "--ignored", "--nocapture"])
        .env(CHILD, "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut told, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    // The test harness says something of its own, on the same line perhaps.
    let mut wait_for = |word: &str| while !lines.next().unwrap().unwrap().ends_with(word) {};
    wait_for("there");

    let counting = Counting { counted, lack: None, open: RefCell::default() };
    let counters = Counters(vec![counting.of_one(child.id(), Software::TASK_CLOCK).unwrap()]);
    let again = counting.of_one(child.id(), Software::TASK_CLOCK).unwrap();
    assert!(Arc::ptr_eq(&counters.0[0], &again), "whoever asks for a process has its one counter");
    let clock = CpuClocks::new(&[child.id()], Extent::Alone).unwrap();
    let read = || (counters.read().unwrap(), clock.read_ns().unwrap());
    let (began, before) = (Instant::now(), read());
    writeln!(told).unwrap();
    wait_for("burned");
    let (after, wall_ns) = (read(), began.elapsed().as_nanos() as u64);
    writeln!(told).unwrap();
    child.wait().unwrap();

    let counted_ns = after.0.since(before.0).whole().unwrap();
    let used_ns = after.1 - before.1;
    assert!(used_ns >= 2 * BURNED.as_nanos() as u64, "{used_ns}");
    // Without the later thread it would be half. The clock leaves out what the host took, and the counter does not: its
    // bound is that the two threads took turns.
    assert!(counted_ns * 10 >= used_ns * 8, "{counted_ns} of {used_ns}");
    assert!(counted_ns * 10 <= wall_ns * 12, "{counted_ns} of {wall_ns}");
    assert!(counters.read().unwrap().counted >= after.0.counted, "what is gone has its count");
}

#[test]
fn a_count_is_filled_up_by_a_hundredth_at_most() {
    let check = |counted, enabled_ns, running_ns, expected: Option<u64>| {
        assert_eq!(Count { counted, enabled_ns, running_ns }.whole(), expected);
    };
    check(1_000, 500, 500, Some(1_000));
    check(0, 0, 0, Some(0));
    check(990, 1_000, 990, Some(1_000));
    check(990, 1_000, 989, None);
    check(0, 1_000, 0, None);
    let before = Count { counted: 7, enabled_ns: 100, running_ns: 50 };
    let after = Count { counted: 107, enabled_ns: 200, running_ns: 150 };
    assert_eq!(after.since(before).whole(), Some(100), "what others had before is not of this time");
}

#[test]
fn each_error_has_its_words_and_what_is_mended_by_something_says_by_what() {
    let check = |code: i32, words: &str, mend: Option<&str>| {
        let lack = Lack::of(&io::Error::from_raw_os_error(code));
        assert!(lack.to_string().contains(words), "{lack}");
        assert_eq!(lack.mend().is_some(), mend.is_some(), "{lack}");
        assert!(mend.is_none_or(|mend| lack.words().contains(mend)), "{}", lack.words());
    };
    check(libc::ENOENT, "no counter of instructions", None);
    check(libc::EOPNOTSUPP, "no counter of instructions", None);
    check(libc::EACCES, "the kernel does not allow it (", Some("sysctl -w kernel.perf_event_paranoid=1"));
    check(libc::EPERM, "the kernel does not allow it (", Some("CAP_PERFMON"));
    check(libc::ENOSYS, "no perf_event_open", None);
    check(libc::EMFILE, "more threads than files", Some("ulimit -n"));
    check(libc::EBUSY, "another program", None);
    check(libc::EIO, &io::Error::from_raw_os_error(libc::EIO).to_string(), None);
    assert_eq!(Lack::NotAllowed(Some(3)).to_string(), "the kernel does not allow it (kernel.perf_event_paranoid is 3)");
}

#[test]
fn where_the_kernels_own_are_not_allowed_those_of_the_program_are_counted() {
    let check = |both: Option<i32>, user: Option<i32>, expected: Counted, words: &str| {
        let open = |counted| {
            let code = if counted == Counted::UserAndKernel { both } else { user };
            code.map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)))
        };
        let (counted, lack) = widest(open);
        assert_eq!(counted, expected);
        assert!(lack.map_or_else(String::new, |lack| lack.words()).contains(words));
    };
    check(None, Some(libc::EIO), Counted::UserAndKernel, "");
    check(Some(libc::EACCES), None, Counted::User, "does not allow to count its own");
    check(Some(libc::EACCES), Some(libc::EACCES), Counted::Nothing, "the kernel does not allow it");
    check(Some(libc::EACCES), Some(libc::ENOENT), Counted::Nothing, "no counter");
    check(Some(libc::ENOENT), None, Counted::Nothing, "no counter");
}

#[test]
fn where_nothing_can_be_counted_there_is_no_count_and_one_reason() {
    let counting = Counting { counted: Counted::Nothing, lack: Some(Lack::NoCounter), open: RefCell::default() };
    assert_eq!(counting.of(&[std::process::id()]).unwrap().read(), None);
    assert!(counting.told().words().starts_with("not counted: this machine has no counter"));
}
