//! `tollgate probe PID`: watches a process, and prints a line every second.
//!
//! Reading and adding up several processes are in `tollgate_lab::probe::watch`.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tollgate_lab::probe::watch::{Extent, Look, Network, Total, Totals, Watch, WatchError};

use crate::failure::{Exit, Failure};
use crate::signals;
use crate::values::duration;

const EXAMPLES: &str = "\
Examples:
  tollgate probe 4711                              a line a second, until it ends or Ctrl-C; then mean and maximum
  tollgate probe $(pidof -s nginx) --tree          with its workers, added up
  tollgate probe 4711 --duration 1m --json > series.jsonl

CPU is the time of the process's own CPU clock, in nanoseconds: 1.00 is one core. Context switches are those of all threads, \
also of ones that began since the last line. Of what begins and ends \
between two lines the CPU time is seen: that of threads, and with --tree that of children whose parent waits for them, in hundredths \
of a second. --json prints one object a line: first what is watched, then a look each, last the totals.

Exit codes: 0 the time is over or the process has ended, 1 it cannot be watched, 130 interrupted.";

/// The shortest time between two looks: below it, mainly the cost of looking is measured.
const INTERVAL_LEAST: Duration = Duration::from_millis(10);
/// Number of lines after which the heading of the table is repeated.
const LINES_BELOW_HEAD: u64 = 40;
/// Placeholder of an unknown value.
const NOTHING: &str = "-";

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The process
    #[arg(value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    process: u32,

    /// With its children, theirs, and so on, added up
    #[arg(long)]
    tree: bool,

    /// Also what its network carries; that is counted for its whole network namespace, not by process
    #[arg(long)]
    network: bool,

    /// Stop after so long [default: when the process ends]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,

    /// Time between two looks
    #[arg(long, value_name = "TIME", value_parser = interval, default_value = "1s")]
    interval: Duration,

    /// Print one JSON object a line instead of the table
    #[arg(long)]
    json: bool,
}

fn interval(text: &str) -> Result<Duration, String> {
    let asked = duration(text)?;
    if asked < INTERVAL_LEAST {
        return Err(format!("expected at least {} ms", INTERVAL_LEAST.as_millis()));
    }
    Ok(asked)
}

/// The reason for the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ended {
    /// The requested time is over.
    Time,
    /// The process has ended.
    Process,
    /// The user stopped it.
    Interrupted,
}

/// First line of `--json`.
#[derive(Debug, Serialize)]
struct Watched<'a> {
    process: u32,
    name: &'a str,
    tree: bool,
    interval_s: f64,
    notes: &'a [String],
}

/// Last line of `--json`.
#[derive(Debug, Serialize)]
struct Summary {
    ended: Ended,
    totals: Vec<Total>,
}

/// Watches the process and prints its figures.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let extent = if arguments.tree { Extent::Tree } else { Extent::Alone };
    let network = if arguments.network { Network::OfNamespace } else { Network::Unwatched };
    let mut watch = Watch::begin(arguments.process, extent, network).map_err(failure)?;
    let (told, stop) = mpsc::channel();
    signals::on_stop(move || {
        // Nobody hears it any more if the watch is over already.
        let _ = told.send(());
    })?;
    let notes = watch.notes();
    let mut page = Page { arguments, lines: 0 };
    page.begin(&watch, &notes, out).map_err(Failure::output)?;
    let began = Instant::now();
    let end = arguments.duration.map(|duration| began + duration);
    let mut totals = Totals::default();
    let mut next = began;
    let ended = loop {
        // From the beginning on, so that no delay adds up; a look that came too late is left out.
        next += arguments.interval;
        while next < Instant::now() {
            next += arguments.interval;
        }
        let is_last = end.is_some_and(|end| end <= next);
        let until = if is_last { end.unwrap_or(next) } else { next };
        let is_stopped = match stop.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Err(RecvTimeoutError::Timeout) => false,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
        };
        if is_stopped {
            break Ended::Interrupted;
        }
        let Some(look) = watch.look() else { break Ended::Process };
        totals.add(&look);
        page.look(&look, out).map_err(Failure::output)?;
        if is_last {
            break Ended::Time;
        }
    };
    page.end(ended, &totals, out).map_err(Failure::output)?;
    Ok(if ended == Ended::Interrupted { Exit::Interrupted } else { Exit::Done })
}

fn failure(error: WatchError) -> Failure {
    let hint = match error {
        WatchError::Gone(_) => Some("`pgrep -a NAME` lists the processes of a name"),
        WatchError::Hidden(_) | WatchError::Zombie { .. } | WatchError::Thread { .. } => None,
    };
    match hint {
        Some(hint) => Failure::failed(error).hint(hint),
        None => Failure::failed(error),
    }
}

/// The printed table.
struct Page<'a> {
    arguments: &'a Arguments,
    lines: u64,
}

impl Page<'_> {
    fn begin(&self, watch: &Watch, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
        let Arguments { process, tree, interval, json, .. } = self.arguments;
        // A process names itself, and may do so with escape sequences.
        let name: String = watch.name.chars().filter(|character| !character.is_control()).collect();
        if *json {
            let interval_s = interval.as_secs_f64();
            return line(&Watched { process: *process, name: &name, tree: *tree, interval_s, notes }, out);
        }
        let with = if *tree { " with what it starts" } else { "" };
        writeln!(out, "process {process} ({name}){with}")?;
        for note in notes {
            writeln!(out, "  {note}")?;
        }
        Ok(())
    }

    fn look(&mut self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if self.arguments.json {
            line(look, out)?;
            return out.flush();
        }
        if self.lines.is_multiple_of(LINES_BELOW_HEAD) {
            self.head(out)?;
        }
        self.lines += 1;
        write!(out, "{:>8}", format!("{:.1} s", look.at_s))?;
        for shown in self.shown() {
            let column = tollgate_lab::probe::watch::COLUMNS.iter().find(|(name, _)| *name == shown.name);
            let value = column.and_then(|(_, figure)| figure(look));
            write!(out, "{:>width$}", value.map_or_else(|| NOTHING.to_owned(), shown.text), width = shown.width)?;
        }
        writeln!(out)?;
        out.flush()
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{:>8}", "at")?;
        for shown in self.shown() {
            write!(out, "{:>width$}", shown.head, width = shown.width)?;
        }
        writeln!(out)
    }

    fn end(&self, ended: Ended, totals: &Totals, out: &mut dyn Write) -> io::Result<()> {
        let totals = totals.all();
        if self.arguments.json {
            line(&Summary { ended, totals }, out)?;
            return out.flush();
        }
        let rows = ["mean", "max"].into_iter().filter(|_| !totals.is_empty());
        for name in rows {
            let value = |total: &Total| if name == "mean" { total.mean } else { total.max };
            write!(out, "{name:>8}")?;
            for shown in self.shown() {
                let total = totals.iter().find(|total| total.name == shown.name);
                let text = total.map_or_else(|| NOTHING.to_owned(), |total| (shown.text)(value(total)));
                write!(out, "{text:>width$}", width = shown.width)?;
            }
            writeln!(out)?;
        }
        match ended {
            Ended::Process => writeln!(out, "process {} has ended", self.arguments.process),
            Ended::Time | Ended::Interrupted => Ok(()),
        }
    }

    /// The columns that the user asked for.
    fn shown(&self) -> impl Iterator<Item = &'static Shown> {
        let Arguments { tree, network, .. } = self.arguments;
        SHOWN.iter().filter(move |shown| match shown.when {
            When::Always => true,
            When::Tree => *tree,
            When::Network => *network,
        })
    }
}

/// The column of a figure in the table.
struct Shown {
    name: &'static str,
    head: &'static str,
    width: usize,
    when: When,
    text: fn(f64) -> String,
}

#[derive(Clone, Copy)]
enum When {
    Always,
    Tree,
    Network,
}

const SHOWN: &[Shown] = &[
    Shown { name: "processes", head: "processes", width: 11, when: When::Tree, text: whole },
    Shown { name: "cpu_cores", head: "CPU", width: 8, when: When::Always, text: |value| format!("{value:.2}") },
    Shown { name: "resident_bytes", head: "MB", width: 10, when: When::Always, text: megabytes },
    Shown { name: "threads", head: "threads", width: 9, when: When::Always, text: whole },
    Shown { name: "voluntary_switches_per_s", head: "waits/s", width: 10, when: When::Always, text: whole },
    Shown { name: "involuntary_switches_per_s", head: "preempted/s", width: 13, when: When::Always, text: whole },
    Shown { name: "descriptors", head: "files", width: 8, when: When::Always, text: whole },
    Shown { name: "received_bytes_per_s", head: "in MB/s", width: 10, when: When::Network, text: megabytes },
    Shown { name: "sent_bytes_per_s", head: "out MB/s", width: 10, when: When::Network, text: megabytes },
];

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn megabytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e6)
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(tree: bool, json: bool) -> Arguments {
        Arguments { process: 4711, tree, network: tree, duration: None, interval: Duration::from_secs(1), json }
    }

    fn look() -> Look {
        Look {
            at_s: 1.0,
            span_s: 1.0,
            processes: 3,
            cpu_cores: Some(0.5),
            resident_bytes: Some(12_345_678),
            threads: Some(7),
            voluntary_switches_per_s: Some(1200.0),
            involuntary_switches_per_s: Some(3.0),
            descriptors: None,
            received_bytes_per_s: Some(2e6),
            sent_bytes_per_s: Some(0.0),
        }
    }

    fn printed(arguments: &Arguments) -> String {
        let (mut out, mut totals) = (Vec::new(), Totals::default());
        let mut page = Page { arguments, lines: 0 };
        page.look(&look(), &mut out).unwrap();
        totals.add(&look());
        page.end(Ended::Process, &totals, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_look_is_a_line_and_what_is_not_told_is_a_dash() {
        let expected = "      at     CPU        MB  threads   waits/s  preempted/s   files\n   \
                        1.0 s    0.50      12.3        7      1200            3       -\n    \
                        mean    0.50      12.3        7      1200            3       -\n     \
                        max    0.50      12.3        7      1200            3       -\n\
                        process 4711 has ended\n";
        assert_eq!(printed(&arguments(false, false)), expected);
        let wide = printed(&arguments(true, false));
        assert!(wide.starts_with("      at  processes     CPU") && wide.contains("2.0       0.0\n"), "{wide}");
    }

    #[test]
    fn every_column_is_a_figure_that_is_watched() {
        let names: Vec<&str> = tollgate_lab::probe::watch::COLUMNS.iter().map(|(name, _)| *name).collect();
        assert_eq!(SHOWN.iter().map(|shown| shown.name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn a_line_of_json_is_a_look_and_the_last_one_the_totals() {
        let text = printed(&arguments(false, true));
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            (lines.len(), &lines[0]["cpu_cores"], &lines[0]["descriptors"]),
            (2, &0.5.into(), &serde_json::Value::Null)
        );
        assert_eq!((&lines[1]["ended"], &lines[1]["totals"][1]["mean"]), (&"process".into(), &0.5.into()));
    }

    #[test]
    fn looking_too_often_is_refused() {
        assert_eq!(interval("1ms"), Err("expected at least 10 ms".to_owned()));
        assert_eq!(interval("10ms"), Ok(INTERVAL_LEAST));
    }
}
