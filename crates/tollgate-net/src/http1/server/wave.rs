//! Waves of connections, and of bytes that requests and answers hold: when most of many have gone, the memory that the C
//! library keeps of them goes back to the system.
//!
//! So do the buffers that the engine keeps for the next connections: many of them were for the wave.

use std::cell::Cell;

/// Fewest connections of a wave: 256 hold some megabytes, which the next ones need again.
const CONNECTIONS_MIN: u64 = 256;
/// Fewest bytes of a wave: a few long lists are in this much.
const BYTES_MIN: u64 = 8 * 1024 * 1024;
/// Factor of the fall that ends a wave: giving back walks the heap, some milliseconds of 40 MiB, once a wave.
const FALL: u64 = 4;
/// Looks after which memory is given back once more: what still worked when the wave ended has ended then.
const AGAIN_AFTER: u32 = 12;

/// The most that there were at once since the last wave.
#[derive(Debug)]
pub(super) struct Wave {
    least: u64,
    peak: Cell<u64>,
    /// Looks until the memory is given back once more.
    again_in: Cell<u32>,
}

impl Wave {
    pub(super) fn of_connections() -> Wave {
        Wave { least: CONNECTIONS_MIN, peak: Cell::default(), again_in: Cell::default() }
    }

    pub(super) fn of_bytes() -> Wave {
        Wave { least: BYTES_MIN, peak: Cell::default(), again_in: Cell::default() }
    }

    /// Whether a wave ended now, with this many left, or a while ago; true only twice a wave.
    pub(super) fn is_over(&self, left: u64) -> bool {
        let peak = self.peak.get().max(left);
        let over = peak >= self.least && left <= peak / FALL;
        self.peak.set(if over { left } else { peak });
        let again_in = self.again_in.get();
        self.again_in.set(if over { AGAIN_AFTER } else { again_in.saturating_sub(1) });
        over || again_in == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_over_when_most_of_many_have_gone_and_once_more_later() {
        let check = |opens: &[u64], expected: &[bool]| {
            let wave = Wave::of_connections();
            let told: Vec<bool> = opens.iter().map(|open| wave.is_over(*open)).collect();
            assert_eq!(told, expected, "{opens:?}");
        };
        check(&[0, 255, 0], &[false, false, false]);
        check(&[256, 65, 64, 0, 0], &[false, false, true, false, false]);
        check(&[2560, 640, 0, 100, 0], &[false, true, true, false, false]);
        check(&[300, 200, 300, 75, 300, 75], &[false, false, false, true, false, true]);
        let quiet = [vec![256], vec![0; AGAIN_AFTER as usize + 3]].concat();
        let mut expected = vec![false; quiet.len()];
        (expected[1], expected[1 + AGAIN_AFTER as usize]) = (true, true);
        check(&quiet, &expected);
    }
}
