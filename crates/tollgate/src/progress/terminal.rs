//! Lines on a terminal that are drawn over in place: the cursor goes up, and each line ends by clearing the rest of
//! its row, so that nothing flickers.
//!
//! The text of the lines is not here.

use std::io::{self, IsTerminal};

/// Maximum number of columns.
const COLUMNS_MAX: usize = 60;

/// The lines drawn now.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    lines: usize,
}

impl Drawn {
    /// The text that draws these lines over the current ones. The cursor stays after the last one.
    pub(super) fn over(&mut self, lines: &[String]) -> String {
        let text = lines.join("\x1b[K\r\n");
        let begin = self.begin();
        self.lines = lines.len();
        format!("{begin}{text}\x1b[K\x1b[J")
    }

    /// The text that removes them.
    pub(super) fn away(&mut self) -> String {
        let begin = self.begin();
        let was_empty = std::mem::take(&mut self.lines) == 0;
        if was_empty { String::new() } else { format!("{begin}\x1b[J") }
    }

    /// The text that moves the cursor to the beginning of the first line.
    fn begin(&self) -> String {
        match self.lines {
            0 => String::new(),
            1 => "\r".to_owned(),
            lines => format!("\r\x1b[{}A", lines - 1),
        }
    }
}

/// Whether stderr is a terminal whose lines can be redrawn.
pub(super) fn is_one() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|name| name != "dumb")
}

/// Usable columns. The terminal's last one is left out: cursors behave differently after it.
pub(super) fn columns() -> usize {
    let wide = terminal_size::terminal_size_of(io::stderr()).map_or(COLUMNS_MAX + 1, |(width, _)| usize::from(width.0));
    wide.saturating_sub(1).min(COLUMNS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_over_those_before_and_vanish() {
        let mut drawn = Drawn::default();
        let lines = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(drawn.away(), "");
        assert_eq!(drawn.over(&lines(&["a", "b", "c"])), "a\x1b[K\r\nb\x1b[K\r\nc\x1b[K\x1b[J");
        assert_eq!(drawn.over(&lines(&["d"])), "\r\x1b[2Ad\x1b[K\x1b[J");
        assert_eq!(drawn.over(&lines(&["e", "f"])), "\re\x1b[K\r\nf\x1b[K\x1b[J");
        assert_eq!((drawn.away().as_str(), drawn.away().as_str()), ("\r\x1b[1A\x1b[J", ""));
    }
}
