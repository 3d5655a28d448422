//! Time and resources that a command needs: each trial runs the command of its variant until the slice is over, at
//! least once, and every run must end with the expected status.
//!
//! It does not look at the output of a command.

mod file;
mod links;
mod page;
pub(crate) mod rules;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::listed::Listed;
use crate::conduct::conductor::{Beginning, Conductor, Halt, Kind, RunOutcome, Turn};
use crate::conduct::finite::{Finished, Finite};
use crate::conduct::options::{Progress, RunError};
use crate::experiment::{Experiment, Factor, Location, Variant};
use crate::judge::cells;
use crate::judge::trend::Trend;
use crate::load::record::recorder::Recorder;
use crate::plan::schedule;
use crate::plan::{Note, Plan, PlanOptions};
use crate::probe::system::Ticks;
use crate::secret::hide;
use crate::subject::end_with_this_thread;
use file::Words;
use links::Links;
use rules::CommandEvidence;
use tollgate_facts::results::{Moment, Piece, SubjectUse, Trial};

/// The kind in the list.
pub(super) const KIND: Listed = Listed {
    name: "command",
    workload: "command",
    about: "Run a command again and again.",
    factors: &[Factor { name: "argument", unit: "", about: "A number that stands in the words of a command." }],
    unit_of_work: page::UNIT,
    piece: Piece::Unit,
    instead: "",
    keys: file::KEYS,
    read: file::read,
    elsewhere: |experiment| experiment,
    plan,
    page: page::page,
    notes,
    check: |options, plan| links::check(options, plan),
    run,
};

/// Plans the trials; how long they take is unknown until they run.
fn plan(experiment: &Experiment, options: &PlanOptions) -> Result<Plan, String> {
    let mut plan = Plan::draft(experiment, options, &options.extent.defaults())?;
    (plan.starts, plan.subjects) = (1, plan.variants.len() as u32);
    plan.trials_least = plan.slice * plan.trials() as u32;
    Ok(plan)
}

fn notes(_experiment: &Experiment, _plan: &Plan) -> Vec<Note> {
    vec![(
        "runs",
        "until a trial is over, at least one, before all trials one of each cell that does not count; what lasts longer than \
         a trial makes the run so much longer than is told here".to_owned(),
    )]
}

fn run(beginning: Beginning<'_>) -> Result<RunOutcome, RunError> {
    let stored = |variant: &Variant| match &variant.at {
        Location::Here(words) => variant.stored(hide(words)),
        Location::Gateway(_) | Location::Url(_) => variant.stored(String::new()),
    };
    let variants = beginning.plan.variants_of(&beginning.options.experiment).map(stored).collect();
    let commands = Commands { seen: BTreeMap::new(), began: Instant::now(), links: Links::default() };
    beginning.of(commands, variants, String::new()).conduct()
}

/// Additional state of a run of commands.
struct Commands {
    /// Resource use of each cell beyond its trials.
    seen: BTreeMap<(String, u64), Used>,
    began: Instant,
    links: Links,
}

/// Resource use of a cell that is not in its trials.
#[derive(Debug, Default)]
struct Used {
    ticks: Ticks,
    /// CPU time of the command, and of the thread that starts it.
    cpu: Duration,
    /// The largest resident memory of a run, in bytes; 0 where it is not known of any.
    memory_bytes_max: u64,
}

type Running<'a> = Conductor<'a, Commands>;

impl Kind for Commands {
    type Subjects = ();

    const DOER: &'static str = "command of";

    fn measure(run: &mut Running<'_>) -> Result<(), Halt> {
        run.kind.links = Links::start(&run.experiment, &run.plan, &run.cores).map_err(Halt::Ours)?;
        run.measure_links(Moment::Before)?;
        // What a command reads is then in memory for all of them.
        for variant in run.plan.variants.clone() {
            let name = run.experiment.variants[variant].name.clone();
            run.observer.progress(&Progress::WarmingUp { variant: &name });
            for level in run.plan.levels.clone() {
                run.once(variant, level)?;
            }
        }
        run.plan_trials(run.plan.trials());
        let blocks = schedule::blocks(&run.plan, run.result.seed);
        run.blocks(&blocks, &mut ())?;
        run.measure_links(Moment::After)
    }

    fn trial(run: &mut Running<'_>, _subjects: &mut (), turn: Turn<'_>) -> Result<(), Halt> {
        let Turn { block, variant, .. } = turn;
        let name = run.experiment.variants[variant].name.clone();
        let (start, ticks, own) = (run.kind.began.elapsed(), Ticks::now(&run.cores.subjects), own_cpu());
        let (began, mut times, mut cpu) = (Instant::now(), Vec::new(), Duration::ZERO);
        let mut memory_bytes_max = 0;
        while times.is_empty() || began.elapsed() < run.plan.slice {
            let finished = run.once(variant, block.level)?;
            times.push(finished.wall.as_secs_f64() * 1e3);
            cpu += finished.cpu;
            memory_bytes_max = finished.memory_bytes_max.unwrap_or(0).max(memory_bytes_max);
        }
        let used = run.kind.seen.entry((name.clone(), block.level)).or_default();
        let ticks = Ticks::now(&run.cores.subjects).since(ticks);
        used.ticks += ticks;
        used.cpu += cpu + (own_cpu() - own);
        used.memory_bytes_max = used.memory_bytes_max.max(memory_bytes_max);
        let runs = times.len() as u64;
        run.result.trials.push(Trial {
            duration_ms: times.iter().sum(),
            units: runs,
            requests: runs,
            unit_times_ms: times,
            subject_cpu_us: Some(cpu.as_secs_f64() * 1e6),
            stolen_share: ticks.steal_share(),
            ..turn.trial(&name, start)
        });
        Ok(())
    }

    fn fill(run: &mut Running<'_>) {
        for ((variant, level), used) in &run.kind.seen {
            let seen = SubjectUse { resident_memory_bytes_max: used.memory_bytes_max, ..SubjectUse::default() };
            let trials = run.result.trials_of(variant, *level);
            let cell = cells::cell(&trials, &Recorder::default(), Some(seen));
            let over = Trend::over(&trials);
            let evidence = CommandEvidence { cell: &cell, ticks: used.ticks, own: used.cpu, over };
            run.result.validity.extend(rules::judge(&evidence));
            run.result.cells.push(cell);
        }
    }
}

impl Running<'_> {
    fn measure_links(&mut self, moment: Moment) -> Result<(), Halt> {
        let (experiment, plan) = (&self.options.experiment, &self.plan);
        for measured in links::measured(moment, experiment, plan).map_err(Halt::Ours)? {
            self.book.faults.extend(measured.doubts(experiment, plan));
            self.result.links.push(measured.check);
            let network = &mut self.result.settings.network;
            let before =
                if network.is_empty() { "emulated links (no handshake, no slow start, no loss): " } else { "; " };
            network.push_str(&format!("{before}{}", measured.words()));
        }
        Ok(())
    }

    /// Runs the command of a variant once.
    fn once(&self, variant: usize, level: u64) -> Result<Finished, Halt> {
        self.goes_on()?;
        let words: &Words = self.experiment.variants[variant].own().expect("every variant has a command");
        let Words { status, longest, .. } = *words;
        let command = words.command(level, self.kind.links.of(variant));
        let finite = Finite { command, cores: &self.cores, stop: self.stop, longest, status };
        finite.run(start, |_| {}).map_err(|broken| self.broken(variant, level, broken))
    }
}

/// CPU time so far of this thread, which starts the commands: the lab's other threads do nothing for them.
fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Starts the command so that it ends with the lab and its output is dropped.
fn start(command: &mut Command) -> io::Result<Child> {
    end_with_this_thread(command);
    command.stdout(Stdio::null()).spawn().map_err(|error| {
        let folder = command.get_current_dir().unwrap_or(Path::new("."));
        io::Error::new(error.kind(), format!("{:?} in {}: {error}", command.get_program(), folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conduct::conductor::Ending;
    use crate::conduct::stop::StopFlag;
    use tollgate_facts::results::{Figure, TollVerdict};

    const TEXT: &str = r#"
name = "loops"
question = "What do a hundred times as many turns cost?"
factor = { name = "argument", levels = [200] }
workload = { kind = "command" }
[extent.quick]
slice_ms = 1
[[variant]]
name = "few"
command = ["sh", "-c", "i=0; while [ $i -lt {level} ]; do i=$((i+1)); done; exit 4"]
status = 4
[[variant]]
name = "many"
baseline = "few"
command = ["sh", "-c", "i=0; while [ $i -lt {level}00 ]; do i=$((i+1)); done"]
"#;

    fn ran(text: &str) -> Result<(RunOutcome, tempfile::TempDir), RunError> {
        let folder = tempfile::tempdir().unwrap();
        let mut options = crate::run::tests::options();
        options.experiment = Experiment::parse(text, "loops.toml").unwrap();
        options.plan = PlanOptions { extent: crate::plan::Extent::Quick, ..PlanOptions::default() };
        options.out = Some(folder.path().join("run"));
        let plan = Plan::new(&options.experiment, &options.plan).unwrap();
        run(Beginning::new(&options, plan, &(), &StopFlag::new())?).map(|outcome| (outcome, folder))
    }

    #[test]
    fn commands_are_run_in_blocks_and_their_tolls_are_told() {
        let (RunOutcome { result, ending, .. }, _folder) = ran(TEXT).unwrap();
        assert_eq!((ending, result.trials.len(), result.cells.len()), (Ending::Complete, 2 * 8 * 2, 2));
        assert!(result.trials.iter().all(|trial| trial.units as usize == trial.unit_times_ms.len() && trial.units > 0));
        let toll = |figure| result.tolls.iter().find(|toll| toll.figure == figure).unwrap();
        let (time, cpu) = (toll(Figure::UnitTime), toll(Figure::SubjectCpu));
        assert!(cpu.ratio > 1.0 && cpu.verdict == TollVerdict::Dearer, "{cpu:?}");
        // Beside other tests its cores may be full.
        assert!(time.ratio > 1.0 && matches!(time.verdict, TollVerdict::Dearer | TollVerdict::Joint), "{time:?}");
        let page = crate::kinds::page(&result);
        assert!(page.sections.iter().any(|section| section.heading == "The commands"));
    }

    #[test]
    fn commands_beside_a_program_that_never_rests_are_marked() {
        let burn = |_| {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]);
            end_with_this_thread(&mut command);
            command.spawn().unwrap()
        };
        let mut burning: Vec<Child> = (0..std::thread::available_parallelism().unwrap().get()).map(burn).collect();
        let (RunOutcome { result, .. }, _folder) = ran(&TEXT.replacen("slice_ms = 1", "slice_ms = 20", 1)).unwrap();
        for mut child in burning.drain(..) {
            child.kill().and_then(|()| child.wait()).unwrap();
        }
        for cell in &result.cells {
            let found = result.validity.iter().filter(|found| found.variant == cell.variant);
            assert!(found.map(|found| found.rule.as_str()).any(|rule| rule == "others"), "{:?}", result.validity);
        }
    }

    #[test]
    fn another_status_than_is_expected_ends_the_run_with_the_reason() {
        let check = |from: &str, to: &str, expected: &str| {
            let Err(error) = ran(&TEXT.replacen(from, to, 1)) else { panic!("{to}") };
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("status = 4", "", "the command of `few` ended with exit status: 4");
        check(
            "[\"sh\", \"-c\", \"i=0; while [ $i -lt {level} ]",
            "[\"no-such-program\", \"-c\", \"i=0; while [ $i -lt {level} ]",
            "`few` cannot be started",
        );
    }

    #[test]
    fn a_command_reaches_its_server_over_a_link_of_the_length_that_was_asked() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                // Who only looks whether somebody listens is gone by now.
                let _ = io::Write::write_all(&mut &socket, b"here\n");
            }
        });
        let ask = r#"["bash", "-c", "exec 3<>/dev/tcp/{host}/{port}; read -u 3 line; [ $line = here ]"]"#;
        let link =
            |round_trip_us: u32| format!("link = {{ to = \"127.0.0.1:{port}\", round_trip_us = {round_trip_us} }}");
        let text = format!(
            "name = \"asking\"\nquestion = \"How far?\"\nworkload = {{ kind = \"command\" }}\nfactor = {{ name = \"argument\" }}\n\
             [extent.quick]\nslice_ms = 1\n[[variant]]\nname = \"near\"\ncommand = {ask}\n{}\n\
             [[variant]]\nname = \"far\"\nbaseline = \"near\"\ncommand = {ask}\n{}\n",
            link(0),
            link(40_000)
        );
        let (RunOutcome { ending, result, .. }, _folder) = ran(&text).unwrap();
        assert_eq!(ending, Ending::Complete);
        let lengths: Vec<(Moment, f64)> = result.links.iter().map(|check| (check.moment, check.asked_ms)).collect();
        assert_eq!(lengths, [(Moment::Before, 40.0), (Moment::After, 40.0)]);
        // What the server says takes half a round trip, and is never early.
        let far = result.trials.iter().filter(|trial| trial.variant == "far").flat_map(|trial| &trial.unit_times_ms);
        assert!(far.clone().count() > 0 && far.clone().all(|time_ms| *time_ms >= 20.0), "{:?}", result.trials);
        let Err(error) = ran(&text.replace(&port.to_string(), "1")) else { panic!("nobody listens there") };
        assert!(error.to_string().contains("`near`: 127.0.0.1, port 1, cannot be reached"), "{error}");
    }

    #[test]
    fn a_command_has_no_servers() {
        let mut options = crate::run::tests::options();
        options.experiment = Experiment::parse(TEXT, "loops.toml").unwrap();
        assert!(crate::run::check(&options).is_ok());
        options.subjects.push(("few".to_owned(), "http://127.0.0.1:1".to_owned()));
        let refused = crate::run::check(&options).unwrap_err().to_string();
        assert!(refused.starts_with("--subject: `loops` is of kind `command`"), "{refused}");
    }
}
