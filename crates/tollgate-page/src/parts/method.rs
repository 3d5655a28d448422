//! The method in plain words; the place; the limits of the setting; the command to repeat it.

use crate::blocks::{Block, Facts, Section};
use crate::number;
use crate::text::capitalized;
use crate::words::sentence;
use crate::words::view::View;
use tollgate_facts::results::{Instructions, RunResult};

/// The method of one kind of work.
pub struct Method {
    /// Its differences from other work, a paragraph each.
    pub own: Vec<&'static str>,
    /// The form of its load.
    pub load: &'static str,
    /// The ends of the network, in words.
    pub between: &'static str,
    /// The part of the work that was checked; for other work, it is the share of answers.
    pub checked: Option<(&'static str, String)>,
}

impl Default for Method {
    fn default() -> Self {
        Self { own: Vec::new(), load: CLOSED, between: "generator and subject", checked: None }
    }
}

/// The section.
pub fn section(view: &View<'_>, method: &Method) -> Section {
    let run = view.run;
    let mut blocks: Vec<Block> = words(run, method).into_iter().map(Block::Text).collect();
    let subjects = run.experiment.variants.iter();
    let subjects = subjects.map(|variant| (variant.name.clone(), variant.subject.clone())).collect();
    let lists = [("Settings", settings(run, method)), ("Machine", machine(run)), ("Subjects", subjects)];
    blocks.push(Block::Facts(lists.map(|(heading, entries)| Facts { heading: heading.to_owned(), entries }).into()));
    if !run.command.is_empty() {
        let command: Vec<String> = run.command.iter().map(|word| quoted_for_shell(word)).collect();
        blocks.push(Block::Text("To repeat it:".to_owned()));
        blocks.push(Block::Command(command.join(" ")));
    }
    let source = "Everything on this page comes from result.json beside it";
    blocks.push(Block::Legend(vec![format!("{source} (format {}), which also holds every trial", run.format)]));
    Section::background("How it was measured", blocks)
}

/// Addition for response times that were also taken at a rate.
const AT_RATE: &str = "Afterwards all variants of a level were offered the same rate, whatever their answers did. There a \
                       response time counts from when its request was to be sent, and only there are response times \
                       compared. All of it is of one start of the servers, the last: what starts differ by is in no interval \
                       of it.";

/// The form of a closed load.
const CLOSED: &str = "Load is closed: each user sends its next request when the last one is answered. Times therefore compare at \
    equal concurrency, not at equal rate. Percentiles come from merged histograms, never from averaged ones. Failed requests \
    are counted and shown, and a cell with too many of them gets no toll.";

/// The form of an open load, where iterations begin at a rate.
const OPEN: &str = "Load is open: iterations begin at a rate, whatever the server does, and response times count from when each was \
    due. Percentiles come from merged histograms, never from averaged ones. Failed requests are counted and shown, and a cell \
    with too many of them gets no toll.";

/// Addition for a load with stages.
const STAGED: &str =
    "The load changed by stages: each stage has figures of its own, and those of a whole trial are of all stages.";

/// Addition for some variants with iterations that begin at a rate.
const BESIDE: &str = "Variants with an open model are the exception: their iterations began at a rate, whatever the server did, and \
    their response times count from when each was due. Where the rate is that of a closed variant, it is what that one had \
    as throughput in all of its trials so far at the same level; in the first block it goes before.";

fn words(run: &RunResult, method: &Method) -> Vec<String> {
    let settings = &run.settings;
    let mut words = vec![
        format!(
            "A computer is never equally fast for two minutes. So the variants did not run one after the other, but took \
             turns in short slices of at least {} ms, each twice in a block and in mirrored order (A B C, C B A), shuffled \
             anew from seed {}; the baseline is in every block. A slice ends on a whole unit of work ({}).",
            number::three_digits(settings.slice_ms),
            run.seed,
            run.experiment.unit_of_work
        ),
        format!(
            "A toll compares a variant with its baseline block by block: the mean difference of the logarithms, turned \
             back into a ratio, with Student's {} interval over {}. As several tolls are claimed at once, each \
             must pass Holm's stricter bound before it is called one, and a rank test (Wilcoxon) that assumes no bell \
             curve is held against it. \u{201c}No toll\u{201d} is said only where the whole interval lies within {}; \
             an interval that excludes 1 without passing that bound is called unconfirmed, anything else unclear.",
            sentence::confidence(run),
            sentence::over(run),
            sentence::band(run)
        ),
    ];
    words.extend(method.own.iter().map(|paragraph| (*paragraph).to_owned()));
    if run.cells.iter().any(|cell| cell.equal_rate.is_some()) {
        words.push(AT_RATE.to_owned());
    }
    let is_beside = run.experiment.variants.iter().any(|variant| variant.model.is_some());
    let played = || run.cells.iter().filter_map(|cell| cell.played.as_ref());
    let is_open = !is_beside && played().any(|played| played.offered.is_some());
    words.push(if is_open { OPEN } else { method.load }.to_owned());
    words.extend(is_beside.then(|| BESIDE.to_owned()));
    words.extend(played().any(|played| played.staged.is_some()).then(|| STAGED.to_owned()));
    words.extend(sentence::starts(run));
    words.extend(sentence::courses(run));
    words.extend(sentence::first_answers(run).map(|text| format!("{}.", capitalized(&text))));
    if settings.network == "loopback" {
        words.push(
            "Generator and subject talked over the loopback of one machine. That hides what a network adds: distance \
             (each round trip costs its delay), a line's width (larger answers would cost more than here) and the \
             network card's own work. And both share caches and memory bandwidth."
                .to_owned(),
        );
    } else if !settings.network.is_empty() {
        words.push(format!("Between {}: {}.", method.between, settings.network));
    }
    words.extend(settings.looks.map(|looks| capitalized(&looks.words())));
    if settings.insecure {
        words.push("Certificates of the servers were not verified.".to_owned());
    }
    words
}

fn settings(run: &RunResult, method: &Method) -> Vec<(String, String)> {
    let settings = &run.settings;
    let cores = |cores: &[usize]| match cores {
        [] => "not pinned".to_owned(),
        cores => cores.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let share = settings.content_checked_share * 100.0;
    let answers = || ("answers checked", format!("{} %", number::three_digits(share)));
    let checked = method.checked.clone().unwrap_or_else(answers);
    named(vec![
        ("extent", settings.extent.clone()),
        ("blocks planned", settings.blocks.to_string()),
        ("slice", format!("≥ {} ms", number::three_digits(settings.slice_ms))),
        (
            "users come over",
            settings.ramp_ms.map(|ramp| format!("{} ms", number::three_digits(ramp))).unwrap_or_default(),
        ),
        ("starts of each subject", if settings.starts > 0 { settings.starts.to_string() } else { String::new() }),
        ("connections", sentence::connections(run).map(str::to_owned).unwrap_or_default()),
        ("cores of the generator", cores(&settings.generator_cores)),
        ("cores of the subjects", cores(&settings.subject_cores)),
        ("network", settings.network.clone()),
        ("negotiated", negotiated(run)),
        checked,
        ("seed", run.seed.to_string()),
    ])
}

/// A way that connections negotiated, with the variants and levels where it occurred.
struct WaySeen<'r> {
    words: String,
    connections: u64,
    variants: Vec<&'r str>,
    levels: Vec<String>,
}

/// The negotiated properties of connections, each set once, with its variants and levels; empty without TLS.
pub fn negotiated(run: &RunResult) -> String {
    let mut ways: Vec<WaySeen<'_>> = Vec::new();
    for cell in &run.cells {
        for found in cell.all_negotiated() {
            let words = found.words();
            let place = ways.iter().position(|way| way.words == words).unwrap_or_else(|| {
                ways.push(WaySeen { words, connections: 0, variants: Vec::new(), levels: Vec::new() });
                ways.len() - 1
            });
            let (way, level) = (&mut ways[place], run.experiment.level_title(cell.level));
            way.connections += found.connections;
            if !way.variants.contains(&cell.variant.as_str()) {
                way.variants.push(&cell.variant);
            }
            if !way.levels.contains(&level) {
                way.levels.push(level);
            }
        }
    }
    let told = |WaySeen { words, connections, variants, levels }: WaySeen<'_>| {
        let (of, at, connections) = (variants.join(", "), levels.join("; "), number::whole(connections));
        format!("{of} at {at}: {words} ({connections} connections)")
    };
    ways.into_iter().map(told).collect::<Vec<String>>().join(" | ")
}

/// Names and values for display; absent values are left out.
fn named(entries: Vec<(&str, String)>) -> Vec<(String, String)> {
    entries.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (name.to_owned(), text)).collect()
}

fn machine(run: &RunResult) -> Vec<(String, String)> {
    let machine = &run.machine;
    let or_unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let network = machine.network.as_ref();
    let control = network.map(|network| network.congestion_control.clone().unwrap_or_else(|| "not told".to_owned()));
    let interfaces = network.map(|network| &network.interfaces).into_iter().flatten();
    let interfaces: Vec<String> = interfaces.map(|(name, handling)| format!("{name}: {}", handling.words())).collect();
    // What is not counted stands among the doubts.
    let counted = run.instructions.as_ref().filter(|counted| counted.is_whole());
    named(vec![
        ("processor", or_unknown(&machine.cpu)),
        ("cores", machine.cores.to_string()),
        ("memory", number::bytes(machine.memory_bytes as f64)),
        ("system", or_unknown(&machine.system)),
        ("governor", machine.governor.clone().unwrap_or_else(|| "not told".to_owned())),
        ("virtual", machine.virtualized.clone().unwrap_or_else(|| "not told".to_owned())),
        ("congestion control", control.unwrap_or_default()),
        ("interfaces", interfaces.join(" | ")),
        ("instructions", counted.map(Instructions::words).unwrap_or_default()),
        ("started", run.started.clone()),
        ("finished", run.finished.clone().unwrap_or_else(|| "not finished".to_owned())),
        ("tollgate", run.version.clone()),
    ])
}

/// Quotes a word for a shell.
fn quoted_for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
