//! Progress on stderr: one line that is drawn over, and only where a person looks at it.
//!
//! Deliberately nothing of it in a pipe or a file, but what a run may have left on somebody's server: results go to stdout,
//! and a log of a run is its result.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tollgate_gateway::generate;
use tollgate_lab::run::{Observer, Progress};

use crate::readable::readable;

/// The line.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// On stderr if it is a terminal, else nowhere.
    pub(crate) fn on_stderr() -> ProgressLine {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        // Without colours: the terminal may be told to have none (NO_COLOR), and there is nothing to distinguish.
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {wide_msg}");
        bar.set_style(style.expect("the template is right, as a test shows"));
        ProgressLine { bar }
    }

    /// Says what is being done, at the line's beginning.
    pub(crate) fn name(&self, name: String) {
        self.bar.set_prefix(name);
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for ProgressLine {
    fn progress(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Planned { trials, duration } => {
                self.bar.set_length(*trials as u64);
                self.bar.set_prefix("measuring");
                self.bar.set_message(format!("at least {}", readable(*duration)));
            }
            Progress::Starting { variant } => self.bar.set_message(format!("{variant}: starting")),
            Progress::Surveying { variant } => self.bar.set_message(format!("{variant}: one transfer of each level")),
            Progress::WarmingUp { variant } => self.bar.set_message(format!("{variant}: warming up")),
            Progress::Trial { done, planned, variant, level, left } => {
                self.bar.set_length(*planned as u64);
                self.bar.set_position(*done as u64);
                self.bar.set_message(format!("{} left, {variant} at {level}", readable(whole(*left))));
            }
            // This one is for whoever reads a log, too.
            Progress::Left { what } => self.bar.suspend(|| drop(writeln!(std::io::stderr(), "tollgate: {what}"))),
            Progress::Finished => self.end(),
            _ => {}
        }
    }
}

/// The line of a batch: how many documents, how fast, how long still.
pub(crate) struct BatchLine {
    bar: ProgressBar,
}

impl BatchLine {
    /// On stderr if it is a terminal, else nowhere.
    pub(crate) fn on_stderr() -> BatchLine {
        let ProgressLine { bar } = ProgressLine::on_stderr();
        let style = ProgressStyle::with_template("generating [{bar:30}] {pos}/{len} {per_sec}, {eta} left{wide_msg}");
        bar.set_style(style.expect("the template is right, as a test shows"));
        BatchLine { bar }
    }

    /// Draws how far it is.
    pub(crate) fn draw(&self, progress: generate::Progress) {
        self.bar.set_length(progress.waited);
        self.bar.set_position(progress.stored + progress.set_aside);
        if progress.set_aside > 0 {
            self.bar.set_message(format!(", {} set aside", progress.set_aside));
        }
    }
}

/// The line is taken away with what draws it.
impl Drop for BatchLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Whole seconds, so that the line does not flicker.
fn whole(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs_f64().round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_drawn() {
        let line = ProgressLine::on_stderr();
        line.progress(&Progress::Planned { trials: 3, duration: Duration::from_secs(1) });
        line.end();
        let line = BatchLine::on_stderr();
        line.draw(generate::Progress { stored: 1, set_aside: 1, waited: 3 });
    }
}
