//! How series are told apart: by colour (safe for the colour-blind), by the shape of their marker and by their dashes.
//!
//! The colours stand in the style sheet, once for light and once for dark, as `.k0` to `.k7`.

/// Different keys; further series begin again.
const KEYS: usize = 8;

/// The shape of a marker.
pub(super) enum Marker {
    Circle,
    /// Path around the origin.
    Outline(&'static str),
}

/// Class of the `index`-th series.
pub fn key_class(index: usize) -> String {
    format!("k{}", index % KEYS)
}

pub(super) fn marker(index: usize) -> Marker {
    match index % KEYS {
        0 => Marker::Circle,
        1 => Marker::Outline("M-3.4-3.4h6.8v6.8h-6.8z"),
        2 => Marker::Outline("M0-4.6L4.4 3.4H-4.4z"),
        3 => Marker::Outline("M0-5L5 0L0 5L-5 0z"),
        4 => Marker::Outline("M0 4.6L-4.4-3.4H4.4z"),
        5 => Marker::Outline("M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z"),
        6 => Marker::Outline("M-4.5-2.5h9v5h-9z"),
        _ => Marker::Outline("M-2.5-4.5h5v9h-5z"),
    }
}
