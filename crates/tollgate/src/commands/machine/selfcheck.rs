//! `tollgate selfcheck`: the same thing compared with itself, to show which tolls this machine can detect, and whether
//! the tolls that it reports are true.
//!
//! The comparisons and their verdicts are in `tollgate_lab::check::selfcheck`.

mod folder;

use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use tollgate_facts::results::Figure;
use tollgate_lab::check::selfcheck::{self, COMPARISONS, Fitness, Selfcheck, Sight};
use tollgate_lab::plan::{Extent, PlanOptions};
use tollgate_lab::run::{Observer, Progress, RunOptions, StopFlag};
use tollgate_report::Colour;

use folder::Folder;

use crate::commands::experiment::{secrets, selection};
use crate::commands::output;
use crate::failure::{Exit, Failure};
use crate::progress::{Aim, LiveView, Shown};
use crate::signals;

const EXAMPLES: &str = "\
Examples:
  tollgate selfcheck                     what tolls can a run of the usual extent show on this machine?
  tollgate selfcheck --quick             the same for runs with --quick, in half the time
  tollgate selfcheck --json > monday.json

Each comparison is a whole run: the flight service is started twice, and the one is held against the other as a variant against
its baseline. Their truth is a toll of none, so every difference that is seen is false. At 5 % one of 20 sees one by chance; more
than 3 come by chance in one self-check of sixty, and then this machine is refused for tolls. `by itself` is the smallest toll that
four runs of five would see if it were their only one, `among 60` the smallest that four of five would call a toll among the 60 that
a run of protocol compares (30 with --quick). What is found holds for runs of the same extent, while the machine is as it was.

Fewer than 20 comparisons give no verdict, unless they speak against the machine.

Exit codes: 0 tolls of this machine may be believed, or no verdict, 3 they may not be believed, 130 interrupted.";

/// Arguments of `selfcheck`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Comparisons as short as those of `run --quick`
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Comparisons as long as those of `run --full`
    #[arg(long)]
    full: bool,

    /// How many comparisons; fewer than 20 give no verdict, with more as many may see a difference as by chance do in
    /// 98 of 100 self-checks
    #[arg(long, value_name = "N", default_value_t = COMPARISONS, value_parser = clap::value_parser!(u32).range(2..=1000))]
    comparisons: u32,

    /// Seed of every order; a fresh one is drawn if it is not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Keep the runs, each in a numbered folder below this one, for `tollgate report`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// Compares and prints the result.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let options = options(arguments)?;
    let stop = StopFlag::new();
    let asked = stop.clone();
    signals::on_stop(move || asked.stop())?;

    let folder = Folder::of(arguments.out.as_deref())?;
    let view = LiveView::begin(Shown::default(), "selfcheck".to_owned(), Aim::Plan)?;
    let comparing = Comparing { view: &view, begun: Cell::new(0), asked: arguments.comparisons };
    let found = selfcheck::check(&options, arguments.comparisons, folder.path(), &comparing, &stop);
    view.end();
    let found = found.map_err(selection::failure)?;

    if arguments.json {
        serde_json::to_writer_pretty(&mut *out, &found).map_err(|error| Failure::output(error.into()))?;
        writeln!(out).map_err(Failure::output)?;
    } else {
        write(&found, output::render_options().colour, out).map_err(Failure::output)?;
    }
    Ok(match found.verdict {
        Fitness::Fit | Fitness::TooFew => Exit::Done,
        Fitness::Refused => Exit::Refused,
        Fitness::Incomplete => Exit::Interrupted,
    })
}

fn options(arguments: &Arguments) -> Result<RunOptions, Failure> {
    let serve_program = std::env::current_exe().map_err(|error| {
        Failure::failed(format_args!("cannot find this program, which serves what is compared: {error}"))
    })?;
    let extent = match (arguments.quick, arguments.full) {
        (true, _) => Extent::Quick,
        (_, true) => Extent::Full,
        _ => Extent::Default,
    };
    Ok(RunOptions {
        plan: PlanOptions { extent, ..PlanOptions::default() },
        seed: arguments.seed,
        command_line: secrets::without_secrets(std::env::args()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunOptions::of(selfcheck::experiment(), serve_program)
    })
}

/// Shows each run, and names its comparison.
struct Comparing<'a> {
    view: &'a LiveView,
    begun: Cell<u32>,
    asked: u32,
}

impl Observer for Comparing<'_> {
    fn progress(&self, progress: &Progress<'_>) {
        match progress {
            Progress::Planned { .. } => {
                self.view.progress(progress);
                self.begun.set(self.begun.get() + 1);
                self.view.part(format!("comparison {} of {}", self.begun.get(), self.asked));
            }
            _ => self.view.progress(progress),
        }
    }
}

fn write(found: &Selfcheck, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    let done = found.comparisons.len();
    let Selfcheck { extent, blocks, slice_ms, asked, significant, significant_most, .. } = found;
    writeln!(
        out,
        "selfcheck: comparisons of the same with itself: {done} of {asked}, each in {blocks} blocks with slices of {slice_ms:.0} ms \
         ({extent})\n"
    )?;
    if !found.sights.is_empty() {
        let among = found.sights[0].among_tolls;
        let head = ["by itself", &format!("among {among}"), "interval", "ratios spread", "apart", "joint"];
        writeln!(out, "{}", columns("toll on", head))?;
        for sight in &found.sights {
            writeln!(out, "{}", row(sight))?;
        }
        writeln!(out)?;
        let legend = [
            "by itself: the smallest toll that four runs of five see if it is their only one;".to_owned(),
            format!(
                "among {among}: the smallest that four of five call a toll, after Holm, among the {among} of a run of protocol;"
            ),
            "interval: half of the 95 % interval, median; ratios spread: standard deviation over the comparisons;"
                .to_owned(),
            "apart: intervals that leave 1 out; joint: comparisons in which generator and subject were at their limit"
                .to_owned(),
            "together, so that a run makes no claim on time".to_owned(),
        ];
        for text in legend {
            writeln!(out, "  {text}")?;
        }
        writeln!(out)?;
    }
    for (number, reason) in refused(found) {
        writeln!(out, "comparison {number}: {reason}")?;
    }
    writeln!(
        out,
        "{significant} of {done} saw a difference that is not there; at most {significant_most} of {asked} may"
    )?;
    let fit = format!(
        "fit: tolls of this machine may be believed; what was seen is still compatible with false claims in up to \
         {:.0} % of runs (95 %)",
        found.false_claims_most_share * 100.0
    );
    let (code, words) = match found.verdict {
        Fitness::Fit => (32, fit.as_str()),
        Fitness::Refused if found.significant > *significant_most => (
            31,
            "refused: what a run calls a toll here may be the machine; `tollgate doctor` says what to mend, a longer extent or \
             less beside it helps",
        ),
        Fitness::Refused => (31, "refused: too many comparisons had no valid figure; the reasons stand above"),
        Fitness::TooFew => {
            (33, "no verdict from fewer than 20 comparisons; these speak neither for this machine nor against it")
        }
        Fitness::Incomplete => (33, "no verdict: interrupted"),
    };
    match colour {
        Colour::Ansi => writeln!(out, "\x1b[{code}m{words}\x1b[0m"),
        Colour::Plain => writeln!(out, "{words}"),
    }
}

fn row(sight: &Sight) -> String {
    let name = match sight.figure {
        Figure::SubjectCpu => "CPU of the subject",
        _ => "time of a pass",
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let of = |count: usize| format!("{count} of {}", sight.n);
    let among = percent(sight.smallest_toll_among_share);
    let interval = format!("± {}", percent(sight.half_width));
    let texts =
        [percent(sight.smallest_toll), among, interval, percent(sight.spread), of(sight.apart), of(sight.joint)];
    columns(name, texts.each_ref().map(String::as_str))
}

fn columns(name: &str, texts: [&str; 6]) -> String {
    let [alone, among, interval, spread, apart, joint] = texts;
    format!("{name:20}{alone:>10}{among:>11}{interval:>11}{spread:>15}{apart:>9}{joint:>9}")
}

/// The refused comparisons with their first reason.
fn refused(found: &Selfcheck) -> impl Iterator<Item = (usize, &str)> {
    found
        .comparisons
        .iter()
        .enumerate()
        .filter_map(|(place, comparison)| Some((place + 1, comparison.refused.first()?.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_toll_and_the_verdict_are_told() {
        let sight = |figure, joint| Sight {
            figure,
            smallest_toll: 0.0312,
            smallest_toll_among_share: 0.0478,
            among_tolls: 30,
            half_width: 0.0208,
            spread: 0.009,
            apart: 1,
            joint,
            n: 20,
        };
        let comparison =
            selfcheck::Comparison { seed: 1, is_significant: false, claims: Vec::new(), refused: Vec::new() };
        let mut found = Selfcheck {
            extent: "quick".to_owned(),
            blocks: 8,
            slice_ms: 100.0,
            verdict: Fitness::Fit,
            asked: 20,
            significant: 1,
            significant_most: 3,
            false_claims_most_share: 0.2161,
            unjudged: 0,
            sights: vec![sight(Figure::UnitTime, 20), sight(Figure::SubjectCpu, 0)],
            comparisons: vec![comparison; 20],
        };
        let written = |found: &Selfcheck| {
            let mut out = Vec::new();
            write(found, Colour::Plain, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let text = written(&found);
        assert!(
            text.contains("time of a pass           3.1 %      4.8 %    ± 2.1 %          0.9 %  1 of 20 20 of 20\n"),
            "{text}"
        );
        assert!(text.contains("toll on              by itself   among 30   interval"), "{text}");
        assert!(text.contains("after Holm, among the 30 of a run of protocol"), "{text}");
        let fit = "fit: tolls of this machine may be believed; what was seen is still compatible with false claims in up to 22 % of runs (95 %)\n";
        assert!(text.ends_with(&format!("at most 3 of 20 may\n{fit}")), "{text}");
        (found.verdict, found.asked) = (Fitness::TooFew, 2);
        let text = written(&found);
        assert!(text.contains("\nno verdict from fewer than 20 comparisons") && !text.contains("fit:"), "{text}");
        found.asked = 20;
        found.comparisons[6].refused.push("the hypervisor took 4 %".to_owned());
        (found.verdict, found.significant) = (Fitness::Refused, 5);
        let text = written(&found);
        assert!(text.contains("\ncomparison 7: the hypervisor took 4 %\n5 of 20 saw"), "{text}");
        assert!(text.contains("\nrefused: what a run calls a toll here may be the machine"), "{text}");
    }
}
