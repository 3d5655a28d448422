//! How it was measured, in plain words; where; what the setting hides; how to do it again.

use super::parts::escape;
use crate::mediation;
use crate::number;
use crate::sentence;
use crate::view::View;
use std::fmt::Write;
use tollgate_facts::results::{Piece, RunResult, Settlement};

pub(super) fn section(view: &View<'_>) -> Option<String> {
    let run = view.run;
    let mut html = String::from("<section class=\"method\"><h2>How it was measured</h2>");
    for paragraph in words(run) {
        let _ = write!(html, "<p>{}</p>", escape(&paragraph));
    }
    html.push_str("<div class=\"lists\">");
    html.push_str(&list("Settings", &settings(run)));
    html.push_str(&list("Machine", &machine(run)));
    html.push_str(&list("Subjects", &subjects(run)));
    html.push_str("</div>");
    if !run.command.is_empty() {
        let command: Vec<String> = run.command.iter().map(|word| quoted_for_shell(word)).collect();
        let _ = write!(html, "<h3>To repeat it</h3><pre><code>{}</code></pre>", escape(&command.join(" ")));
    }
    let _ = write!(
        html,
        "<p class=\"key\">Everything on this page comes from result.json beside it (format {}), which also holds every trial.</p></section>",
        run.format
    );
    Some(html)
}

/// What is added where response times were also taken at a rate.
const AT_RATE: &str = "Afterwards all variants of a level were offered the same rate, a stated share of what the slowest of them \
                       took, whatever their answers did. There a response time counts from when its request was to be \
                       sent, and only there are response times compared. All of it is of one start of the servers, the \
                       last: what starts differ by is in no interval of it.";

/// How users ask.
const CLOSED: &str = "Load is closed: each user sends its next request when the last one is answered. Times therefore compare at \
    equal concurrency, not at equal rate. Percentiles come from merged histograms, never from averaged ones. Failed requests \
    are counted and shown, and a cell with too many of them gets no toll.";

/// What is different where a network lies before a database.
const DISTANCE: &str = "A trial is the batch as a process of its own, with as many documents as fill a slice; it says itself how long \
    it took from the first claim to the last commit, and how often it waited for the database. Before and behind each trial an \
    echo at the far end of the link is asked how long a round trip is: what a link adds is that beyond the link without delay, in \
    the same block. Each block has a line of its own through the times of one process (least squares on relative errors); \
    intervals are Student's over the blocks. Presets are computed from the line and then run on blocks that it has not seen.";

/// What is different where records are inserted.
const INSERTS: &str = "A transfer puts its records into an empty table. Timed is what lies between the first byte out and \
    the last byte in: connections were open before, and counting, comparing and deleting the rows afterwards goes past any \
    link and is in no figure. The subject's CPU clock is read when it has come to rest. A survey of one transfer a cell, in \
    no figure, finds where errors begin and how many blocks fit into a cell's time. All variants of a subject share its \
    process.";

/// What is different where something stands between users and a backend.
const MEDIATION: &str = "Backends and mediator are processes of their own. A subject has the connections of the variant and the \
    level that are measured and no others: they are opened before a trial while its users are at it, uncounted, and closed \
    behind it. Its backend runs on the same cores, and its CPU time is kept beside the subject's: where both fill their cores, \
    the time is both's, and the toll is read from the subject's CPU time.";

fn words(run: &RunResult) -> Vec<String> {
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
             back into a ratio, with Student's {} interval over the blocks. As several tolls are claimed at once, each \
             must pass Holm's stricter bound before it is called one, and a rank test (Wilcoxon) that assumes no bell \
             curve is held against it. \u{201c}No toll\u{201d} is said only where the whole interval lies within {}; \
             anything between is called unclear.",
            sentence::confidence(run),
            sentence::band(run)
        ),
        if run.experiment.piece == Piece::Record { INSERTS.to_owned() } else { String::new() },
        if mediation::is_shown(run) { MEDIATION.to_owned() } else { String::new() },
        if run.cells.iter().any(|cell| cell.equal_rate.is_some()) { AT_RATE.to_owned() } else { String::new() },
        if run.distance.is_some() { DISTANCE } else { CLOSED }.to_owned(),
    ];
    words.extend(sentence::starts(run));
    words.extend(sentence::courses(run));
    words.retain(|paragraph| !paragraph.is_empty());
    if settings.network == "loopback" {
        words.push(
            "Generator and subject talked over the loopback of one machine. That hides what a network adds: distance \
             (each round trip costs its delay), a line's width (larger answers would cost more than here) and the \
             network card's own work. And both share caches and memory bandwidth."
                .to_owned(),
        );
    } else {
        let between = if run.distance.is_some() { "batch and database" } else { "generator and subject" };
        words.push(format!("Between {between}: {}.", settings.network));
    }
    words.extend(settings.looks.map(|looks| {
        let words = looks.words();
        let (first, rest) = words.split_at(1);
        first.to_uppercase() + rest
    }));
    if settings.insecure {
        words.push("Certificates of the servers were not verified.".to_owned());
    }
    words
}

fn settings(run: &RunResult) -> Vec<(&'static str, String)> {
    let settings = &run.settings;
    let cores = |cores: &[usize]| match cores {
        [] => "not pinned".to_owned(),
        cores => cores.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    vec![
        ("extent", settings.extent.clone()),
        ("blocks planned", settings.blocks.to_string()),
        ("slice", format!("≥ {} ms", number::three_digits(settings.slice_ms))),
        ("starts of each subject", settings.starts.to_string()),
        ("cores of the generator", cores(&settings.generator_cores)),
        ("cores of the subjects", cores(&settings.subject_cores)),
        ("network", settings.network.clone()),
        checked(run),
        ("seed", run.seed.to_string()),
    ]
}

/// What stands behind the figures: answers whose content was checked, or accounts that were settled.
fn checked(run: &RunResult) -> (&'static str, String) {
    if run.experiment.piece == Piece::Request {
        let share = run.settings.content_checked_share;
        return ("answers checked", format!("{} %", number::three_digits(share * 100.0)));
    }
    if run.experiment.piece == Piece::Document {
        let documents = run.cells.iter().filter_map(|cell| Some(cell.batch?.documents)).sum();
        return ("documents stored", number::whole(documents));
    }
    let settled = |of: fn(&Settlement) -> u64| -> u64 {
        run.cells.iter().filter_map(|cell| Some(of(&cell.inserted.as_ref()?.settlement))).sum()
    };
    let (counted, compared) = (settled(|found| found.counted), settled(|found| found.compared));
    let text = format!("{} counted, {} compared record by record", number::whole(counted), number::whole(compared));
    ("transfers settled", text)
}

fn machine(run: &RunResult) -> Vec<(&'static str, String)> {
    let machine = &run.machine;
    let or_unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    vec![
        ("processor", or_unknown(&machine.cpu)),
        ("cores", machine.cores.to_string()),
        ("memory", number::bytes(machine.memory_bytes as f64)),
        ("system", or_unknown(&machine.system)),
        ("governor", machine.governor.clone().unwrap_or_else(|| "not told".to_owned())),
        ("virtual", machine.virtualized.clone().unwrap_or_else(|| "not told".to_owned())),
        ("started", run.started.clone()),
        ("finished", run.finished.clone().unwrap_or_else(|| "not finished".to_owned())),
        ("tollgate", run.version.clone()),
    ]
}

fn subjects(run: &RunResult) -> Vec<(&str, String)> {
    run.experiment.variants.iter().map(|variant| (variant.name.as_str(), variant.subject.clone())).collect()
}

fn list(heading: &str, entries: &[(&str, String)]) -> String {
    let mut html = format!("<div><h3>{}</h3><dl>", escape(heading));
    for (name, text) in entries {
        let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(text));
    }
    html.push_str("</dl></div>");
    html
}

/// A word as a shell takes it.
fn quoted_for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
