//! Properties of the output device.

/// Properties of the output device; ignored for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Use of escape sequences for colours.
    pub colour: Colour,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { colour: Colour::Plain, width: 120 }
    }
}

/// Use of escape sequences for colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// None: a file, a pipe, or `NO_COLOR`.
    Plain,
    /// ANSI colours.
    Ansi,
}
