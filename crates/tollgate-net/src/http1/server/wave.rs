//! Waves of connections: when most of many have gone, the memory that the C library keeps of them goes back to the system.
//!
//! Memory that the engine itself keeps for the next connections is bounded in `buffers`, and stays.

use std::cell::Cell;

/// Fewest connections of a wave: 256 hold some megabytes, which the next ones need again.
const PEAK_MIN: usize = 256;
/// Factor of the fall that ends a wave: giving back walks the heap, some milliseconds of 40 MiB, once a wave.
const FALL: usize = 4;

/// The most connections that were open at once since the last wave.
#[derive(Debug, Default)]
pub(super) struct Wave {
    peak: Cell<usize>,
}

impl Wave {
    /// Whether a wave ended now, with this many connections open; true only once a wave.
    pub(super) fn is_over(&self, open: usize) -> bool {
        let peak = self.peak.get().max(open);
        let over = peak >= PEAK_MIN && open <= peak / FALL;
        self.peak.set(if over { open } else { peak });
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_over_once_when_most_of_many_have_gone() {
        let check = |opens: &[usize], expected: &[bool]| {
            let wave = Wave::default();
            let told: Vec<bool> = opens.iter().map(|open| wave.is_over(*open)).collect();
            assert_eq!(told, expected, "{opens:?}");
        };
        check(&[0, 255, 0], &[false, false, false]);
        check(&[256, 65, 64, 0, 0], &[false, false, true, false, false]);
        check(&[2560, 640, 0, 100, 0], &[false, true, true, false, false]);
        check(&[300, 200, 300, 75, 300, 75], &[false, false, false, true, false, true]);
    }
}
