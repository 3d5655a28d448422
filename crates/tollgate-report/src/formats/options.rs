//! Where a text will be shown.

/// Where the text will be shown; files ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether escape sequences for colours are welcome.
    pub colour: Colour,
    /// Columns of the terminal.
    pub width: usize,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { colour: Colour::Plain, width: 120 }
    }
}

/// Whether escape sequences for colours are welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// None: a file, a pipe, or `NO_COLOR`.
    Plain,
    /// ANSI colours.
    Ansi,
}
