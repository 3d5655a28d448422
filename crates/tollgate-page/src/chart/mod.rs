//! Charts: pure functions from series to inline SVG, one file for each kind.
//!
//! Colours come from the page's style sheet by class, so that light, dark and paper need one picture only. A chart
//! computes no figure and knows no result: the caller passes the numbers to draw.

mod axis;
pub mod bands;
pub mod dots;
pub mod grouped;
pub mod histogram;
pub mod lines;
pub mod over_time;
mod palette;
pub mod percentiles;
mod scale;
pub mod sequence;
pub mod stacked;
mod svg;
#[cfg(test)]
mod tests;
pub mod tolls;

pub use palette::{Standing, key_class};
pub use scale::Spacing;
pub use svg::{Canvas, escape};

/// The width of a chart; the page shows the one that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Half a page on a desk, a whole one on a tablet.
    Half,
    /// The whole page.
    Full,
    /// A telephone.
    Narrow,
}

impl Size {
    /// Width in the units of the picture, which are pixels when it is shown at its own size.
    fn width(self) -> f64 {
        match self {
            Self::Half => 506.0,
            Self::Full => 1056.0,
            Self::Narrow => 340.0,
        }
    }

    /// Panels beside each other, in charts of several.
    fn columns(self) -> usize {
        match self {
            Self::Narrow => 1,
            Self::Half => 2,
            Self::Full => 3,
        }
    }
}
