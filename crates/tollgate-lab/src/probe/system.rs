//! Time of the cores that a run may use, from /proc/stat: busy, idle, and stolen by the hypervisor.

use std::fs;

use derive_more::{Add, AddAssign};

/// Length of a tick in /proc, whatever the kernel's own is: USER_HZ is 100 on all Linux systems.
pub(crate) const TICK_NS: u64 = 10_000_000;

/// Ticks of some cores since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Add, AddAssign)]
pub struct Ticks {
    /// All ticks.
    pub total: u64,
    /// Ticks in which a core had nothing to do.
    pub idle: u64,
    /// Ticks in which a core was ready but the hypervisor did not let it run.
    pub steal: u64,
    /// Ticks in which the kernel handled interrupts, mostly of the network: some kernels charge them to no process.
    pub interrupts: u64,
}

impl Ticks {
    /// Reads the ticks of these cores; zeros if /proc lacks them.
    ///
    /// Cores that the run may not use are left out.
    pub fn now(cores: &[usize]) -> Ticks {
        fs::read_to_string("/proc/stat").map(|text| parse(&text, cores)).unwrap_or_default()
    }

    /// Returns the ticks since `before`.
    pub fn since(self, before: Ticks) -> Ticks {
        Ticks {
            total: self.total.saturating_sub(before.total),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
            interrupts: self.interrupts.saturating_sub(before.interrupts),
        }
    }

    /// Share of the cores' time that was not idle, 0 to 1.
    pub fn busy_share(self) -> f64 {
        if self.total == 0 { 0.0 } else { 1.0 - self.idle as f64 / self.total as f64 }
    }

    /// Share of the cores' time that was stolen, 0 to 1.
    pub fn steal_share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.steal as f64 / self.total as f64 }
    }

    /// Share of the cores' time that other programs used, beyond `own_ns`, 0 to 1: interrupts are left out, so it may
    /// be larger if the kernel charges them to programs.
    pub(crate) fn others_share(self, own_ns: f64) -> f64 {
        let used = self.total - self.total.min(self.idle + self.steal + self.interrupts);
        ((used * TICK_NS) as f64 - own_ns).max(0.0) / (self.total.max(1) * TICK_NS) as f64
    }

    /// Total time stolen from the cores, in milliseconds.
    pub fn stolen_ms(self) -> f64 {
        (self.steal * TICK_NS) as f64 / 1e6
    }
}

/// Sums the lines `cpuN` of these cores.
fn parse(text: &str, cores: &[usize]) -> Ticks {
    let of_core = |line: &str| {
        let (core, fields) = line.strip_prefix("cpu")?.split_once(' ')?;
        core.parse().is_ok_and(|core: usize| cores.contains(&core)).then(|| ticks(fields))?
    };
    text.lines().filter_map(of_core).fold(Ticks::default(), |sum, of_core| sum + of_core)
}

/// Parses user nice system idle iowait irq softirq steal guest guest_nice; guests are counted in user and nice already.
fn ticks(fields: &str) -> Option<Ticks> {
    let fields: Vec<u64> = fields.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
    let [.., idle, waiting, hard, soft, steal] = fields[..] else { return None };
    Some(Ticks { total: fields.iter().sum(), idle: idle + waiting, steal, interrupts: hard + soft })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cores_that_the_run_may_use_are_added_up() {
        let text = "cpu  999 0 0 9999 0 0 0 0 0 0\n\
                    cpu0 10 0 20 60 4 1 2 3 0 0\n\
                    cpu1 90 0 0 10 0 0 0 0 0 0\n\
                    cpu11 0 0 0 100 0 0 0 0 0 0\n\
                    intr 1 2\n";
        assert_eq!(parse(text, &[0]), Ticks { total: 100, idle: 64, steal: 3, interrupts: 3 });
        let both = parse(text, &[0, 1]);
        assert_eq!(both, Ticks { total: 200, idle: 74, steal: 3, interrupts: 3 });
        assert!((both.busy_share() - 0.63).abs() < 1e-9 && (both.steal_share() - 0.015).abs() < 1e-9);
        assert!((parse(text, &[1]).busy_share() - 0.9).abs() < 1e-9, "idle neighbours hide nothing");
        assert_eq!(parse("intr 1", &[0]), Ticks::default());
    }
}
