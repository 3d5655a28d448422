//! Buckets in which times are counted: each is a 64th of an octave, 1 % wide.
//!
//! It does not count.

/// Shorter times are all in the first place: 2^10 ns.
pub(super) const OCTAVE_MIN: u32 = 10;
/// Longer times are all in the last place: 2^36 ns is 69 s, more than a recorder distinguishes.
pub(super) const OCTAVE_MAX: u32 = 36;
/// Places of an octave, as a power of two.
pub(super) const PLACES_BITS: u32 = 6;
/// Number of places.
pub(super) const PLACES: usize = ((OCTAVE_MAX - OCTAVE_MIN) as usize) << PLACES_BITS;

/// Returns the place of a time.
#[inline]
pub(super) fn place(ns: u64) -> usize {
    let ns = ns.clamp(1 << OCTAVE_MIN, (1 << OCTAVE_MAX) - 1);
    let octave = ns.ilog2();
    let within = (ns >> (octave - PLACES_BITS)) as usize & ((1 << PLACES_BITS) - 1);
    ((octave - OCTAVE_MIN) as usize) << PLACES_BITS | within
}

/// Returns the middle of a place's times.
pub(super) fn within(place: usize) -> u64 {
    let octave = OCTAVE_MIN + (place >> PLACES_BITS) as u32;
    let width = 1 << (octave - PLACES_BITS);
    (1 << octave) + (place & ((1 << PLACES_BITS) - 1)) as u64 * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_at_most_a_64th_wide_and_none_is_left_out() {
        assert_eq!((place(0), place(1 << OCTAVE_MIN), place(u64::MAX)), (0, 0, PLACES - 1));
        let mut ns = 1_u64 << OCTAVE_MIN;
        while ns < 1 << OCTAVE_MAX {
            let next = ns + (1 << (ns.ilog2() - PLACES_BITS));
            assert_eq!(place(next.min((1 << OCTAVE_MAX) - 1)), (place(ns) + 1).min(PLACES - 1), "{ns}");
            assert_eq!(place(next - 1), place(ns));
            assert!((ns..next).contains(&within(place(ns))), "{ns}");
            ns = next;
        }
    }
}
