//! CPU time of processes in nanoseconds, from their CPU clocks: the ticks of /proc/PID/stat are 10 ms, a tenth of a
//! slice.
//!
//! It counts all threads of a process, living and ended; processes that it started are counted on request.

use std::sync::{Arc, Mutex, PoisonError};

use super::started::Started;
use super::watch::Extent;

/// Upper limit of process ids (the kernel's PID_MAX_LIMIT); all are below it.
const PROCESSES_CEILING: libc::pid_t = 4 * 1024 * 1024;

/// The CPU clocks of a subject's processes.
#[derive(Debug, Clone, Default)]
pub struct CpuClocks {
    clocks: Vec<(u32, libc::clockid_t)>,
    /// The processes with all their descendants, if these count; shared by all clones.
    started: Option<Arc<Mutex<Started>>>,
}

impl CpuClocks {
    /// Opens the clocks of these processes, alone or with all their descendants.
    ///
    /// # Errors
    /// The first process that does not exist.
    pub fn new(processes: &[u32], extent: Extent) -> Result<CpuClocks, String> {
        let clocks =
            processes.iter().map(|process| Ok((*process, clock_of(*process)?))).collect::<Result<_, String>>()?;
        let is_tree = extent == Extent::Tree && !processes.is_empty();
        let started = is_tree.then(|| Arc::new(Mutex::new(Started::new(processes))));
        Ok(CpuClocks { clocks, started })
    }

    /// Returns their total user and system time since they began, in nanoseconds; `None` if one is gone.
    ///
    /// Of descendants it counts those known since the last [look](CpuClocks::look_around).
    pub fn read_ns(&self) -> Option<u64> {
        if self.clocks.is_empty() {
            return None;
        }
        let own = self.clocks.iter().map(|(_, clock)| read_clock_ns(*clock)).sum::<Option<u64>>()?;
        Some(self.with_started(Started::read_ns).unwrap_or(own))
    }

    /// Looks for descendants, and returns the CPU time that this adds to `read_ns`: that of processes that began or
    /// ended since the last look. Takes some milliseconds on a machine with many processes.
    pub fn look_around(&self) -> u64 {
        self.with_started(Started::look_around).unwrap_or(0)
    }

    /// Returns the processes themselves, without those that they started.
    pub(crate) fn roots(&self) -> Vec<u32> {
        self.clocks.iter().map(|(process, _)| *process).collect()
    }

    /// Returns the processes that existed at the last look.
    pub(crate) fn processes(&self) -> Vec<u32> {
        self.with_started(|started| started.processes()).unwrap_or_else(|| self.roots())
    }

    fn with_started<T>(&self, of: impl FnOnce(&mut Started) -> T) -> Option<T> {
        Some(of(&mut self.started.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[expect(unsafe_code, reason = "neither std nor rustix offers the CPU clock of another process")]
fn clock_of(process: u32) -> Result<libc::clockid_t, String> {
    let mut clock: libc::clockid_t = 0;
    // A larger number overflows the clock's encoding and would name another process's clock.
    let pid = libc::pid_t::try_from(process).ok().filter(|pid| *pid < PROCESSES_CEILING);
    let Some(pid) = pid else { return Err(format!("process {process} cannot be: its number is too large")) };
    // SAFETY: `clock` outlives the call, which writes one clockid_t into it and keeps nothing.
    match unsafe { libc::clock_getcpuclockid(pid, &mut clock) } {
        0 => Ok(clock),
        code => Err(format!("process {process} cannot be watched: {}", std::io::Error::from_raw_os_error(code))),
    }
}

#[expect(unsafe_code, reason = "rustix reads only the clocks that it names")]
fn read_clock_ns(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call, which writes one timespec into it and keeps nothing.
    let code = unsafe { libc::clock_gettime(clock, &mut time) };
    (code == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_process_grows_with_its_work() {
        let clocks = CpuClocks::new(&[std::process::id()], Extent::Alone).unwrap();
        let before = clocks.read_ns().unwrap();
        let mut sum = 0_u64;
        while clocks.read_ns().unwrap() < before + 2_000_000 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0);
    }

    #[test]
    fn a_process_that_is_not_there_is_named() {
        // The kernel gives out numbers below this one, so nobody has it for long.
        let gone = PROCESSES_CEILING.unsigned_abs() - 1;
        let error = CpuClocks::new(&[gone], Extent::Tree).unwrap_err();
        assert!(error.starts_with(&format!("process {gone} cannot be watched: ")), "{error}");
        let error = CpuClocks::new(&[u32::MAX >> 1], Extent::Alone).unwrap_err();
        assert_eq!(error, "process 2147483647 cannot be: its number is too large");
    }

    #[test]
    fn no_process_has_no_time() {
        assert_eq!(CpuClocks::default().read_ns(), None);
    }
}
