//! The progress of a run or a load, for a person: a few lines on a terminal, a line now and then in a log, and a page.
//!
//! All of it goes to stderr or over HTTP: results go to stdout, and the lines are removed at the end. Nothing is
//! measured here. A thread of its own reads the counts of the lab twice a second, so that a slow terminal or browser
//! delays nothing.

mod batch;
mod page;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::Args;
use tollgate_lab::run::{LiveCounters, Observer, Progress};

pub(crate) use batch::BatchLine;
use page::Served;
pub(crate) use state::Aim;
use state::{State, View};
use terminal::Drawn;

use crate::failure::Failure;
use crate::values::listening;

/// Interval at which counts are read and lines are drawn.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Interval between lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// What is shown while something runs.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Shown {
    /// Show nothing on stderr while it runs, neither progress nor notes
    #[arg(short = 'q', long, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Serve a page that shows the progress while it runs, at a port of this machine such as 8090, or at an address
    #[arg(long, value_name = "PORT|ADDRESS", value_parser = live_address, help_heading = "Output")]
    pub(crate) live: Option<SocketAddr>,
}

/// Address of the page: loopback, unless an address is given.
fn live_address(text: &str) -> Result<SocketAddr, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        Err(_) => listening(text).map_err(|error| format!("{error}, or a port alone")),
    }
}

/// The view of a run or load, until it ends.
#[derive(Debug)]
pub(crate) struct LiveView {
    shared: Arc<Shared>,
    looking: Option<JoinHandle<()>>,
    page: Option<Served>,
}

/// The state that the lab's thread updates, the looking thread reads, and the page requests.
#[derive(Debug)]
struct Shared {
    began: Instant,
    now: Mutex<Now>,
    /// Notified at the end.
    ended: Condvar,
}

#[derive(Debug)]
struct Now {
    state: State,
    counters: LiveCounters,
    /// Notes to be written between the lines, which stay.
    notes: String,
    has_ended: bool,
}

impl Now {
    fn new(title: String, aim: Aim) -> Now {
        let (state, counters) = (State::new(title, aim), LiveCounters::default());
        Now { state, counters, notes: String::new(), has_ended: false }
    }
}

impl LiveView {
    /// Begins to show the progress under this title, with this aim.
    ///
    /// # Errors
    /// The page cannot be served there.
    pub(crate) fn begin(shown: Shown, title: String, aim: Aim) -> Result<LiveView, Failure> {
        let shared = Arc::new(Shared::new(title, aim));
        let page = shown.live.map(|address| Served::begin(address, Arc::clone(&shared))).transpose()?;
        if let (Some(page), false) = (&page, shown.quiet) {
            // Where nobody reads stderr, there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "live view: http://{}/", page.address());
        }
        let output = match (shown.quiet, terminal::is_one()) {
            (true, _) => Output::Nowhere,
            (false, true) => Output::Terminal(Drawn::default()),
            (false, false) => Output::Log { every: LINE_EVERY, due: LINE_EVERY },
        };
        let is_looked_at = !matches!(output, Output::Nowhere) || page.is_some();
        let looking = is_looked_at.then(|| {
            let shared = Arc::clone(&shared);
            let looking = std::thread::Builder::new().name("live".to_owned());
            looking.spawn(move || shared.show(output, LOOK_EVERY, &mut std::io::stderr()))
        });
        let looking = looking.transpose().map_err(|error| Failure::failed(format_args!("no thread: {error}")))?;
        Ok(LiveView { shared, looking, page })
    }

    /// Names the one of several runs that begins.
    pub(crate) fn part(&self, part: String) {
        self.shared.now().state.part(part);
    }

    /// Removes the lines and ends the page.
    pub(crate) fn end(self) {
        drop(self);
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.shared.now().has_ended = true;
        self.shared.ended.notify_all();
        if let Some(looking) = self.looking.take() {
            // A panic of the thread was printed when it happened, and is no reason to lose a result.
            let _ = looking.join();
        }
        self.page = None;
    }
}

impl Observer for LiveView {
    fn progress(&self, progress: &Progress<'_>) {
        let mut now = self.shared.now();
        let at = self.shared.began.elapsed();
        match progress {
            Progress::Loading { counters } => now.counters = (*counters).clone(),
            // This one is said in any case.
            Progress::Left { what } if self.looking.is_some() => now.notes += &format!("tollgate: {what}\n"),
            Progress::Left { what } => drop(writeln!(std::io::stderr(), "tollgate: {what}")),
            _ => {}
        }
        let counted = now.counters.read();
        now.state.hear(at, progress, &counted);
    }
}

/// The output of the lines.
#[derive(Debug)]
enum Output {
    Nowhere,
    Terminal(Drawn),
    /// Writes a line at this interval, the next one at that time.
    Log {
        every: Duration,
        due: Duration,
    },
}

impl Output {
    /// The text to write for a view.
    fn of(&mut self, view: &View) -> String {
        match self {
            Output::Nowhere => String::new(),
            Output::Terminal(drawn) => drawn.over(&text::lines(view, terminal::columns())),
            Output::Log { every, due } => {
                let at = Duration::from_secs_f64(view.elapsed_s);
                if at < *due {
                    return String::new();
                }
                *due = (*due + *every).max(at);
                format!("{}\n", text::line(view))
            }
        }
    }

    /// The text to write at the end.
    fn end(&mut self) -> String {
        match self {
            Output::Terminal(drawn) => drawn.away(),
            Output::Nowhere | Output::Log { .. } => String::new(),
        }
    }
}

impl Shared {
    fn new(title: String, aim: Aim) -> Shared {
        Shared { began: Instant::now(), now: Mutex::new(Now::new(title, aim)), ended: Condvar::new() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().expect("nobody panics while holding what is shown")
    }

    /// The view at this moment.
    fn view(&self) -> View {
        self.now().state.view(self.began.elapsed())
    }

    /// Reads the counts until the end, and writes the lines; never while others wait for the lock.
    fn show(&self, mut output: Output, every: Duration, out: &mut dyn Write) {
        let mut write = |text: String| {
            // Where nobody reads it, there is nobody to tell.
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        };
        let mut due = every;
        loop {
            let patience = due.saturating_sub(self.began.elapsed());
            let waited = self.ended.wait_timeout_while(self.now(), patience, |now| !now.has_ended);
            let (mut now, _) = waited.expect("nobody panics while holding what is shown");
            let notes = std::mem::take(&mut now.notes);
            if now.has_ended {
                drop(now);
                write(output.end() + &notes);
                break;
            }
            let at = self.began.elapsed();
            let counted = now.counters.read();
            now.state.look(at, counted);
            let view = now.state.view(at);
            drop(now);
            let noted = if notes.is_empty() { notes } else { output.end() + &notes };
            write(noted + &output.of(&view));
            due = due.max(self.began.elapsed().saturating_sub(every)) + every;
        }
    }
}
