//! The burden that a process carries on purpose: CPU time, memory, threads and children, each of a stated size, so that
//! a probe's readings can be compared with the truth.
//!
//! A burden is a list such as `cpu-30,memory-64,threads-9,children-2`. It deliberately does not serve.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::service::thread_cpu_ns;

/// The parts of a burden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Burden {
    /// Percent of a core, burned by one thread more.
    cpu_percent: u64,
    /// Memory that is written to.
    memory_mib: u64,
    /// Threads beside the process's own, which do nothing.
    threads: u64,
    /// Processes that carry the same, without children of their own.
    children: u64,
}

/// The parts that a burden may have: name, largest number, and meaning.
pub(crate) const NAMES: &[(&str, u64, &str)] = &[
    ("cpu", 100, "percent of a core, burned by one thread more"),
    ("memory", 4096, "MiB that are written to"),
    ("threads", 1000, "threads beside the process's own, which do nothing"),
    ("children", 100, "processes that carry the same"),
];

/// Rest of the burning thread at a time.
const REST: Duration = Duration::from_millis(2);

/// A burden that is carried until it is dropped.
#[derive(Debug)]
pub(crate) struct Carried {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    children: Vec<Child>,
    _memory: Vec<u8>,
}

impl Burden {
    /// Reads a burden; an empty text is none.
    pub(crate) fn parse(text: &str) -> Result<Burden, String> {
        let mut burden = Burden::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let known = part.split_once('-').and_then(|(name, number)| {
                let (name, most, _) = NAMES.iter().find(|(known, ..)| *known == name)?;
                Some((*name, number.parse().ok().filter(|number: &u64| number <= most)?))
            });
            let Some((name, number)) = known else {
                return Err(format!("expected a list such as cpu-30,memory-64,threads-9,children-2; found `{part}`"));
            };
            match name {
                "cpu" => burden.cpu_percent = number,
                "memory" => burden.memory_mib = number,
                "threads" => burden.threads = number,
                _ => burden.children = number,
            }
        }
        Ok(burden)
    }

    fn of_a_child(self) -> String {
        let Burden { cpu_percent, memory_mib, threads, .. } = self;
        format!("cpu-{cpu_percent},memory-{memory_mib},threads-{threads}")
    }

    /// Takes it up; all of it is there when this returns.
    ///
    /// # Errors
    /// When the machine gives no thread or no process.
    pub(crate) fn carry(self) -> io::Result<Carried> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for _ in 0..self.threads {
            let is_over = Arc::clone(&is_over);
            threads.push(spawn("idle", move || {
                while !is_over.load(Ordering::Acquire) {
                    std::thread::park();
                }
            })?);
        }
        if self.cpu_percent > 0 {
            let (is_over, share) = (Arc::clone(&is_over), self.cpu_percent as f64 / 100.0);
            threads.push(spawn("burns", move || burn_share(share, &is_over))?);
        }
        let children = (0..self.children).map(|_| child(&self.of_a_child())).collect::<io::Result<_>>()?;
        // Written to, so that every page of it is there.
        let memory = vec![1; (self.memory_mib as usize) << 20];
        Ok(Carried { is_over, threads, children, _memory: memory })
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
        for mut child in self.children.drain(..) {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Carries a burden until the standard input ends. Says `carrying`, with the memory that there was before it, when all of it
/// is there, and for each line that comes the CPU time that the process has used.
pub(crate) fn carry_alone(burden: Burden) -> Result<(), Box<dyn Error>> {
    let before_bytes = resident_bytes()?;
    let carried = burden.carry()?;
    let mut out = io::stdout();
    writeln!(out, "carrying, {before_bytes} bytes were there before")?;
    out.flush()?;
    for line in io::stdin().lock().lines() {
        line?;
        writeln!(out, "used {} ns", process_cpu_ns())?;
        out.flush()?;
    }
    drop(carried);
    Ok(())
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(64 << 10).spawn(work)
}

/// Burns a share of the time since it began, by the clocks of thread and machine: time missed for want of a core is
/// made good.
fn burn_share(share: f64, is_over: &AtomicBool) {
    let (began, cpu_began_ns) = (Instant::now(), thread_cpu_ns());
    while !is_over.load(Ordering::Acquire) {
        let owed_ns = began.elapsed().as_nanos() as f64 * share;
        if ((thread_cpu_ns() - cpu_began_ns) as f64) < owed_ns {
            continue;
        }
        std::thread::park_timeout(REST);
    }
}

fn child(burden: &str) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command
        .args(["burden", burden])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("its output is piped");
    BufReader::new(out).read_line(&mut line)?;
    if line.starts_with("carrying") {
        return Ok(child);
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(io::Error::other("a child did not take up its burden"))
}

fn process_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Resident memory by the kernel's sums, which `VmRSS` in `status` is made of.
fn resident_bytes() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes << 10).ok_or_else(|| io::Error::other("/proc/self/status has no VmRSS"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burden_is_a_list_of_what_is_carried() {
        let check = |text: &str, expected: Option<[u64; 4]>| {
            let found = Burden::parse(text).ok();
            let found = found.map(|burden| [burden.cpu_percent, burden.memory_mib, burden.threads, burden.children]);
            assert_eq!(found, expected, "{text}");
        };
        check("", Some([0; 4]));
        check("cpu-30,memory-64,threads-9,children-2", Some([30, 64, 9, 2]));
        check("threads-1000", Some([0, 0, 1000, 0]));
        check("threads-1001", None);
        check("cpu", None);
        check("weight-3", None);
    }
}
