//! The line of a batch: number of documents, rate, remaining time.

use std::io::Write;
use std::time::{Duration, Instant};

use tollgate_gateway::generate;

use super::terminal::{self, Drawn};
use crate::readable::{readable, three_digits, whole};

/// Minimum interval between two drawings.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// The line, on stderr if that is a terminal, else nowhere. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct BatchLine {
    began: Instant,
    due: Option<Duration>,
    drawn: Drawn,
}

impl BatchLine {
    /// Makes a line that begins now.
    pub(crate) fn on_stderr() -> BatchLine {
        let due = terminal::is_one().then_some(DRAW_EVERY);
        BatchLine { began: Instant::now(), due, drawn: Drawn::default() }
    }

    /// Draws the progress.
    pub(crate) fn draw(&mut self, progress: generate::Progress) {
        let at = self.began.elapsed();
        if self.due.is_some_and(|due| at >= due) {
            self.due = Some(at + DRAW_EVERY);
            let text: String = line(progress, at).chars().take(terminal::columns()).collect();
            write(&self.drawn.over(&[text]));
        }
    }
}

impl Drop for BatchLine {
    fn drop(&mut self) {
        write(&self.drawn.away());
    }
}

/// Writes to stderr; errors are ignored, since then nobody reads it.
fn write(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn line(generate::Progress { waited, stored, set_aside }: generate::Progress, at: Duration) -> String {
    let done = stored + set_aside;
    let per_second = done as f64 / at.as_secs_f64().max(f64::MIN_POSITIVE);
    let plural = if waited == 1 { "" } else { "s" };
    let mut text = format!("  {} of {} document{plural}, {}/s", whole(done), whole(waited), three_digits(per_second));
    if done > 0 {
        let left = at.mul_f64(waited.saturating_sub(done) as f64 / done as f64);
        text = format!("{text}, ETA {}", readable(Duration::from_secs(left.as_secs_f64().ceil() as u64)));
    }
    if set_aside > 0 { format!("{text}, {} set aside", whole(set_aside)) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_how_fast_and_how_long_still() {
        let check = |stored: u64, set_aside: u64, expected: &str| {
            let progress = generate::Progress { waited: 3_000, stored, set_aside };
            assert_eq!(line(progress, Duration::from_secs(10)), expected);
        };
        check(0, 0, "  0 of 3,000 documents, 0.000/s");
        check(1_000, 0, "  1,000 of 3,000 documents, 100/s, ETA 20 s");
        check(1_498, 2, "  1,500 of 3,000 documents, 150/s, ETA 10 s, 2 set aside");
    }
}
