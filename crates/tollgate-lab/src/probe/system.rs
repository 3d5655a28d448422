//! What all cores did together, from /proc/stat: busy, idle, and stolen by the hypervisor.

use std::fs;

/// Ticks of all cores since the machine began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ticks {
    /// All of them.
    pub total: u64,
    /// Those in which a core had nothing to do.
    pub idle: u64,
    /// Those in which a core wanted to run and the hypervisor did not let it.
    pub steal: u64,
}

impl Ticks {
    /// The ticks by now; zeros where /proc does not tell.
    pub fn now() -> Ticks {
        fs::read_to_string("/proc/stat").ok().and_then(|text| parse(&text)).unwrap_or_default()
    }

    /// The ticks since `before`.
    pub fn since(self, before: Ticks) -> Ticks {
        Ticks {
            total: self.total.saturating_sub(before.total),
            idle: self.idle.saturating_sub(before.idle),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    /// Both added.
    pub fn plus(self, other: Ticks) -> Ticks {
        Ticks { total: self.total + other.total, idle: self.idle + other.idle, steal: self.steal + other.steal }
    }

    /// Share of the cores' time that was not idle, 0 to 1.
    pub fn busy_share(self) -> f64 {
        if self.total == 0 { 0.0 } else { 1.0 - self.idle as f64 / self.total as f64 }
    }

    /// Share of the cores' time that was stolen, 0 to 1.
    pub fn steal_share(self) -> f64 {
        if self.total == 0 { 0.0 } else { self.steal as f64 / self.total as f64 }
    }
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice, guests being counted in
/// user and nice already.
fn parse(text: &str) -> Option<Ticks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
    let [.., idle, waiting, _, _, steal] = fields[..] else { return None };
    Some(Ticks { total: fields.iter().sum(), idle: idle + waiting, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_added_up() {
        let ticks = parse("cpu  10 0 20 60 4 1 2 3 0 0\ncpu0 1 1 1 1\n").unwrap();
        assert_eq!(ticks, Ticks { total: 100, idle: 64, steal: 3 });
        assert!((ticks.busy_share() - 0.36).abs() < 1e-9);
        assert!((ticks.steal_share() - 0.03).abs() < 1e-9);
        assert_eq!(parse("intr 1"), None);
    }
}
