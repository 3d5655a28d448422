//! The distinction of series: by colour (safe for the colour-blind), by marker shape and by dashes.
//!
//! The style sheet has the colours, once for light and once for dark, as `.k0` to `.k7`.

/// Number of different keys; further series repeat them.
const KEYS: usize = 8;

/// The shapes of markers around the origin; the first key has a circle.
const OUTLINES: [&str; KEYS - 1] = [
    "M-3.4-3.4h6.8v6.8h-6.8z",
    "M0-4.6L4.4 3.4H-4.4z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.6L-4.4-3.4H4.4z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-4.5-2.5h9v5h-9z",
    "M-2.5-4.5h5v9h-5z",
];

/// Whether a point is free of doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Free of doubt.
    Plain,
    /// With a doubt, or as the end of a stagnating step: drawn hollow.
    Hollow,
}

/// Class of the `index`-th series.
pub fn key_class(index: usize) -> String {
    format!("k{}", index % KEYS)
}

/// The shape of the marker of the `index`-th series; absent for a circle.
pub(super) fn outline(index: usize) -> Option<&'static str> {
    OUTLINES.get((index % KEYS).checked_sub(1)?).copied()
}
