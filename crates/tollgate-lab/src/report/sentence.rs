//! What was found, in sentences: one for each variant and one that answers the question.
//!
//! A sentence names its level, its interval and its blocks, and says plainly when nothing may be said.

use super::number;
use super::view::{self, headline_level, is_plain};
use crate::results::{Distance, Experiment, Figure, Piece, RunResult, State, Toll, TollVerdict};
use crate::toll::NO_TOLL_BAND;

/// How a ratio's unit is written: `x` in plain text, `×` in the report.
pub(super) type Times = &'static str;

/// The experiment's unit of work in one word: `pass` of `pass of 401 requests`.
pub(super) fn unit_noun(experiment: &Experiment) -> &str {
    let word = experiment.unit_of_work.split(|c: char| !c.is_alphanumeric() && c != '-').next();
    word.filter(|word| !word.is_empty()).unwrap_or("unit")
}

/// A level with its unit: `20 users`, `1 user`, `factor 20`.
pub(super) fn level(experiment: &Experiment, level: u64) -> String {
    let unit = experiment.factor_unit.as_str();
    match (unit, level) {
        ("", _) => format!("{} {level}", experiment.factor),
        (_, 1) => format!("1 {}", unit.strip_suffix('s').unwrap_or(unit)),
        _ => format!("{level} {unit}"),
    }
}

/// A toll's ratio with its interval, or why there is none.
pub(super) fn ratio(toll: &Toll, times: Times) -> String {
    if !toll.is_shown() {
        return "refused".to_owned();
    }
    number::ratio(toll.ratio, toll.low, toll.high, times)
}

/// A toll's difference with its interval; without one where it is exact.
pub(super) fn difference(toll: &Toll) -> String {
    let text = |value: f64| number::signed(value, &toll.unit);
    let (low, high) = (text(toll.difference_low), text(toll.difference_high));
    if low == high {
        return text(toll.difference);
    }
    format!("{} [{low}, {high}]", text(toll.difference))
}

/// What a toll compares, in words.
pub(super) fn figure(experiment: &Experiment, figure: Figure) -> String {
    match figure {
        Figure::UnitTime => "time".to_owned(),
        Figure::SubjectCpu => format!("CPU time per {}", piece(experiment)),
        Figure::Bytes => "bytes received".to_owned(),
    }
}

/// What the subject's CPU time is divided by, in one word.
pub(super) fn piece(experiment: &Experiment) -> &'static str {
    match experiment.piece {
        Piece::Request => "request",
        Piece::Record => "record",
    }
}

/// Whether Student t and the signed ranks disagree on a toll: the only note that such a verdict carries.
pub(super) fn ranks_disagree(toll: &Toll) -> bool {
    let by_statistics = matches!(toll.verdict, TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Unclear);
    by_statistics && toll.note.is_some()
}

/// A verdict in a word or two.
pub(super) fn verdict(verdict: TollVerdict) -> &'static str {
    match verdict {
        TollVerdict::Dearer => "dearer",
        TollVerdict::Cheaper => "cheaper",
        TollVerdict::NoToll => "no toll",
        TollVerdict::Unclear => "unclear",
        TollVerdict::Joint => "joint",
        TollVerdict::Refused => "refused",
    }
}

/// The headline of one variant; absent for one without a baseline.
pub(super) fn headline(run: &RunResult, variant: &str, times: Times) -> Option<String> {
    let baseline = run.experiment.variants.iter().find(|known| known.name == variant)?.baseline.as_deref()?;
    let Some(at) = headline_level(run, variant) else {
        return Some(format!("{variant}: not compared with {baseline}, as one of the two was not measured"));
    };
    let tolls = view::tolls(run, variant, at);
    let noun = unit_noun(&run.experiment);
    let mut parts = Vec::new();
    if let Some(time) = tolls.time {
        let difference = format!("{}, {} blocks", difference(time), time.blocks);
        parts.push(match time.verdict {
            TollVerdict::Dearer | TollVerdict::Cheaper => {
                format!("a {noun} takes {} the time of {baseline} ({difference})", ratio(time, times))
            }
            TollVerdict::NoToll => format!(
                "a {noun} takes as long as with {baseline}: {}, inside ± {:.0} % ({} blocks)",
                ratio(time, times),
                NO_TOLL_BAND * 100.0,
                time.blocks
            ),
            TollVerdict::Unclear => {
                format!("no difference in time from {baseline} could be shown: {} ({difference})", ratio(time, times))
            }
            TollVerdict::Joint => String::new(),
            TollVerdict::Refused => {
                let why = time.note.as_deref().unwrap_or("see its doubts");
                format!("the toll on time over {baseline} is refused: {why}")
            }
        });
    }
    let cpu = format!("CPU time per {}", piece(&run.experiment));
    for (toll, of_what) in [(tolls.cpu, cpu.as_str()), (tolls.bytes, "bytes")] {
        if let Some(toll) = toll.filter(|toll| is_plain(toll)) {
            let text = ratio(toll, times);
            let (text, exact) = text.strip_suffix(" exact").map_or((text.as_str(), ""), |text| (text, " (exact)"));
            let unclear = if toll.verdict == TollVerdict::Unclear { " (unclear)" } else { "" };
            parts.push(format!("{text} the {of_what}{exact}{unclear}"));
        }
    }
    if tolls.time.is_some_and(|time| time.verdict == TollVerdict::Joint) {
        parts.push(format!("no toll on time over {baseline}, as generator and subject were at their limit together"));
    }
    parts.retain(|part| !part.is_empty());
    Some(format!("{variant} at {}: {}", level(&run.experiment, at), parts.join("; ")))
}

/// How the answer begins, what it compares and where that toll stands.
type Candidate<'a> = (&'a str, &'a str, fn(view::Tolls<'_>) -> Option<&Toll>);

/// The answer to the experiment's question: one sentence for each distance from which it was asked.
pub(super) fn answer(run: &RunResult, times: Times) -> String {
    let sentences = [Distance::Local, Distance::Remote].map(|distance| answer_from(run, distance, times));
    let found: Vec<String> = sentences.into_iter().flatten().collect();
    match (found.is_empty(), run.state) {
        (false, _) => found.join(" "),
        (true, State::Running) => "Nothing can be said yet: the run has not ended.".to_owned(),
        (true, _) => "No toll may be claimed from this run: see the doubts below.".to_owned(),
    }
}

fn answer_from(run: &RunResult, distance: Distance, times: Times) -> Option<String> {
    let noun = unit_noun(&run.experiment);
    let time = format!("a {noun} takes");
    let by_time: Candidate<'_> = (&time, "the time", |tolls| tolls.time);
    let costs = format!("a {} costs", piece(&run.experiment));
    let by_cpu: Candidate<'_> = (&costs, "the CPU time", |tolls| tolls.cpu);
    let mut variants = run.experiment.variants.iter().filter(|variant| variant.distance == distance).peekable();
    variants.peek()?;
    let names: Vec<&str> = variants.map(|variant| variant.name.as_str()).collect();
    let candidates = view::answer_level(run).into_iter().flat_map(|at| [(at, by_time), (at, by_cpu)]);
    for (at, (begins, of_what, pick)) in candidates {
        let plain = |name: &str| pick(view::tolls(run, name, at)).filter(|toll| is_plain(toll));
        let mut found: Vec<&Toll> = names.iter().filter_map(|name| plain(name)).collect();
        found.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let (Some(least), Some(most)) = (found.first(), found.last()) else { continue };
        let of_whom = match found.iter().all(|toll| toll.baseline == least.baseline) {
            true => format!("of {}", least.baseline),
            false => "of its baseline".to_owned(),
        };
        let named = |toll: &Toll| {
            let doubt = match toll.verdict {
                TollVerdict::Unclear | TollVerdict::NoToll => format!(", {}", verdict(toll.verdict)),
                _ => String::new(),
            };
            format!("{} ({}{doubt})", ratio(toll, times), toll.variant)
        };
        let range = match found.len() {
            1 => named(least),
            _ => format!("between {} and {}", named(least), named(most)),
        };
        let is_joint = |toll: &Toll| toll.level == at && toll.verdict == TollVerdict::Joint;
        let joint = match of_what == by_cpu.1 && run.tolls.iter().any(is_joint) {
            true => " Generator and subject were at their limit together, so no toll on time is claimed.",
            false => "",
        };
        return Some(format!("At {}, {begins} {range} {of_what} {of_whom}.{joint}", level(&run.experiment, at)));
    }
    None
}

/// Why a run is not whole; absent for a complete one.
pub(super) fn incompleteness(run: &RunResult) -> Option<String> {
    let because = run.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    match run.state {
        State::Complete => None,
        State::Partial => Some(format!("Partial result{because}")),
        State::Running => Some(format!("The run had not ended when this was written{because}")),
    }
}
