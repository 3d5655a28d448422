//! The findings in sentences: one for each variant and one that answers the question.
//!
//! A sentence names its level, its interval and its blocks, and says plainly when there is no valid figure.

use super::peers;
use super::view::{self, Row, headline_level};
use crate::gather::{by_key, first_of};
use crate::number;
use tollgate_facts::across::RunHead;
use tollgate_facts::results::{
    BetweenStarts, Comparison, Distance, Experiment, Figure, FirstAnswers, Gap, GapKind, Piece, RunResult, State,
    Theft, Toll, TollVerdict,
};
use tollgate_facts::stats::ALPHA;
use tollgate_facts::stats::warm_up::Course;

/// Meaning of the verdict for an interval that excludes 1 without a claim.
pub const UNCONFIRMED: &str =
    "unconfirmed: its interval excludes 1, but among so many comparisons that can be chance (Holm)";

/// Maximum number of variants whose errors are listed; the rest is counted.
const ONSETS_MAX: usize = 4;

/// The experiment's unit of work in one word: `pass` of `pass of 401 requests`.
pub fn unit_noun(experiment: &Experiment) -> &str {
    let word = experiment.unit_of_work.split(|c: char| !c.is_alphanumeric() && c != '-').next();
    word.filter(|word| !word.is_empty()).unwrap_or("unit")
}

/// A noun with its article: `a pass`, `an iteration`.
pub fn one(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !noun.starts_with("uni") { "an" } else { "a" };
    format!("{article} {noun}")
}

/// A level with its unit: `20 users`, `1 user`, `factor 20`.
pub fn level(experiment: &Experiment, level: u64) -> String {
    match (experiment.named_level(level), experiment.factor_unit.as_str()) {
        (None, "") => format!("{} {level}", experiment.factor),
        _ => experiment.level_title(level),
    }
}

/// The confidence of the intervals of tolls: a run that may stop at several looks has wider ones.
pub fn confidence(run: &RunResult) -> String {
    run.settings.looks.map_or_else(|| "95 %".to_owned(), |looks| looks.confidence())
}

/// A toll's ratio with its interval, or the reason that there is none.
pub fn ratio(toll: &Toll) -> String {
    ratio_of(toll.verdict, [toll.ratio, toll.low, toll.high])
}

/// A ratio with its interval, or the reason that there is none.
pub fn ratio_of(verdict: TollVerdict, [ratio, low, high]: [f64; 3]) -> String {
    match verdict {
        TollVerdict::Refused => verdict.to_string(),
        _ => number::ratio(ratio, low, high),
    }
}

/// A toll's ratio with the sign of its verdict; for a joint one, only the verdict.
pub fn signed(toll: &Toll) -> String {
    match toll.verdict {
        TollVerdict::Joint => toll.verdict.to_string(),
        verdict => format!("{}{}", ratio(toll), sign(verdict)),
    }
}

/// A toll in a row of a table: a variant without a baseline is a baseline itself.
pub fn toll_of(row: &Row<'_>, toll: Option<&Toll>) -> String {
    match toll {
        None if row.is_bottom => "baseline".to_owned(),
        toll => number::or_nothing(toll.map(signed)),
    }
}

/// The sign of a verdict that is no plain claim; see [`signs`].
pub fn sign(verdict: TollVerdict) -> &'static str {
    match verdict {
        TollVerdict::NoToll => " =",
        TollVerdict::Unconfirmed => " (?)",
        TollVerdict::Unclear => " ?",
        TollVerdict::Dearer | TollVerdict::Cheaper | TollVerdict::Joint | TollVerdict::Refused => "",
    }
}

/// The meaning of the signs of these verdicts, for those that have one.
pub fn signs(run: &RunResult, has: impl Fn(TollVerdict) -> bool) -> Vec<String> {
    let signs = [
        (TollVerdict::NoToll, format!("= no toll: the whole interval is within {}", band(run))),
        (TollVerdict::Unconfirmed, format!("(?) {UNCONFIRMED}")),
        (TollVerdict::Unclear, "? unclear: inconclusive, the interval includes 1".to_owned()),
    ];
    signs.into_iter().filter(|(verdict, _)| has(*verdict)).map(|(_, text)| text).collect()
}

/// A toll's difference with its interval; without one where it is exact.
pub fn difference(toll: &Toll) -> String {
    let text = |value: f64| number::signed(value, &toll.unit);
    let (low, high) = (text(toll.difference_low), text(toll.difference_high));
    if low == high {
        return text(toll.difference);
    }
    format!("{} [{low}, {high}]", text(toll.difference))
}

/// The quantity that a toll compares, in words.
pub fn figure(experiment: &Experiment, figure: Figure) -> String {
    match figure {
        Figure::UnitTime => "time".to_owned(),
        Figure::SubjectCpu => format!("CPU time per {}", piece(experiment)),
        Figure::Instructions => format!("instructions per {}", piece(experiment)),
        Figure::Bytes => "bytes received".to_owned(),
        Figure::MedianAtRate => "median response time at equal rate".to_owned(),
        Figure::P95AtRate => "95th percentile at equal rate".to_owned(),
        Figure::P99AtRate => "99th percentile at equal rate".to_owned(),
    }
}

/// The divisor of the subject's CPU time, in one word.
pub fn piece(experiment: &Experiment) -> &str {
    match experiment.piece {
        Piece::Request => "request",
        Piece::Record => "record",
        Piece::Document => "document",
        Piece::Unit => unit_noun(experiment),
    }
}

/// The counted pieces of a run: requests, or whole units of work.
pub fn pieces(experiment: &Experiment) -> String {
    match experiment.piece {
        Piece::Request | Piece::Record => "requests".to_owned(),
        Piece::Document | Piece::Unit => format!("{}s", piece(experiment)),
    }
}

/// The band inside which an interval must lie for "no toll".
pub fn band(run: &RunResult) -> String {
    format!("± {} %", (run.settings.equivalence_share * 1e4).round() / 1e2)
}

/// The lifetime of connections that the servers would have kept, where it is known.
pub fn connections(run: &RunResult) -> Option<&'static str> {
    Some(match run.settings.connections.as_str() {
        "per-block" => "opened anew for each block, before anything counted",
        "per-start" => "opened anew with each start",
        "per-trial" => "opened anew for each trial, before anything counted",
        "kept" => "kept: what they differ by is in no interval",
        _ => return None,
    })
}

/// Whether intervals are over starts of the servers.
pub fn is_over_starts(run: &RunResult) -> bool {
    let mut between = run.tolls.iter().filter_map(|toll| toll.between_starts);
    between.any(|between| between.is_interval_over_starts)
}

/// The basis of a run's intervals: starts or blocks.
pub fn over(run: &RunResult) -> &'static str {
    match is_over_starts(run) {
        true => "the starts of the servers, whose blocks are not independent",
        false => "the blocks",
    }
}

/// The differences between several starts of the servers: the basis of the intervals, and each toll and comparison
/// whose starts differ significantly. Nothing is adjusted for their number, as the error to fear is a missed warning.
pub fn starts(run: &RunResult) -> Option<String> {
    let told = |names: [&str; 3], at: u64, of: Figure, between: Option<BetweenStarts>| {
        let (names, of) = (names.join(" "), figure(&run.experiment, of));
        Some((format!("{names} at {}, {of}", run.experiment.level_title(at)), between?))
    };
    let of_toll =
        |toll: &Toll| told([&toll.variant, "over", &toll.baseline], toll.level, toll.figure, toll.between_starts);
    let of_peer = |found: &Comparison| {
        told([&found.variant, "by", &found.against], found.level, found.figure, found.between_starts)
    };
    let of_all = run.tolls.iter().filter_map(of_toll).chain(run.comparisons.iter().filter_map(of_peer));
    let told: Vec<(String, BetweenStarts)> = of_all.collect();
    let starts = told.iter().map(|(_, between)| between.starts).max()?;
    let differ: Vec<&(String, BetweenStarts)> = told.iter().filter(|(_, between)| between.p < ALPHA).collect();
    let what = if run.settings.starts > 0 {
        "starts of the servers"
    } else {
        "groups of blocks with connections of their own"
    };
    let kind = if run.comparisons.is_empty() { "tolls" } else { "tolls and comparisons" };
    // Results of earlier versions have intervals over blocks.
    let is_over = |(_, between): &(String, BetweenStarts)| between.is_interval_over_starts;
    let over = if told.iter().all(is_over) { ", over which intervals are" } else { "" };
    let of = format!("{starts} {what}{over}: of {} {kind}", told.len());
    if differ.is_empty() {
        return Some(format!("{of} none differs from one to the next by more than blocks do (F-test, p < 0.05)"));
    }
    let named = |(what, between): &&(String, BetweenStarts)| {
        let unheld =
            if between.is_interval_over_starts { "" } else { ", which its interval over blocks does not hold" };
        let p = if between.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", between.p) };
        format!("{what}: ± {:.1} % ({p}){unheld}", between.deviation * 100.0)
    };
    Some(format!(
        "{of} {} from one to the next by more than blocks do (F-test, p < 0.05; of starts that are alike, chance gives one \
         in twenty): {}",
        if differ.len() == 1 { "1 differs".to_owned() } else { format!("{} differ", differ.len()) },
        differ.iter().map(named).collect::<Vec<_>>().join("; ")
    ))
}

/// The course of response times during the warm-up of servers, where it is known; those that are not flat are named.
pub fn courses(run: &RunResult) -> Option<String> {
    let kinds = [
        (Course::Flat, "flat from the beginning"),
        (Course::WarmUp, "faster after a while"),
        (Course::Slowing, "slower after a while"),
        (Course::NoSteadyState, "steady at no time"),
    ];
    let text = |(course, words): (Course, &str)| {
        let of_course = run.warm_ups.iter().filter(|warm_up| warm_up.course == Some(course));
        let mut names: Vec<&str> = of_course.map(|warm_up| warm_up.variant.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        let who = if course == Course::Flat { String::new() } else { format!(" ({})", names.join(", ")) };
        (count > 0).then(|| format!("{count} {words}{who}"))
    };
    let texts: Vec<String> = kinds.into_iter().filter_map(text).collect();
    (!texts.is_empty()).then(|| format!("warm-ups: {}", texts.join(", ")))
}

/// The expected responses of the user's servers, where they are not specified and the first ones are the model.
pub fn first_answers(run: &RunResult) -> Option<String> {
    let words = |FirstAnswers { bytes, has_text }: FirstAnswers| {
        let length = match bytes {
            Some(1) => "1 byte, as the first one has".to_owned(),
            Some(bytes) => format!("{} bytes, as the first one has", number::whole(bytes)),
            None => "any length".to_owned(),
        };
        format!("status 2xx, {length}{}", if has_text { ", the text of --expect-body" } else { "" })
    };
    let variants = run.experiment.variants.iter();
    let told = by_key(variants.filter_map(|variant| Some((words(variant.first_answers?), variant.name.as_str()))));
    let texts: Vec<String> = told.iter().map(|(words, names)| format!("of {}: {words}", names.join(", "))).collect();
    (!texts.is_empty()).then(|| format!("valid answers {}", texts.join("; ")))
}

/// The headline of one variant; absent for one without a baseline.
pub fn headline(run: &RunResult, variant: &str) -> Option<String> {
    let baseline = run.experiment.variant(variant)?.baseline.as_deref()?;
    let Some(at) = headline_level(run, variant) else {
        return Some(format!("{variant}: not compared with {baseline}, as one of the two was not measured"));
    };
    let tolls = view::tolls(run, variant, at);
    let a_noun = one(unit_noun(&run.experiment));
    let of_time = |time: &Toll| {
        let (ratio, blocks) = (ratio(time), time.blocks);
        let difference = format!("{}, {blocks} blocks{}", difference(time), with_theft(time));
        Some(match time.verdict {
            TollVerdict::Dearer | TollVerdict::Cheaper => {
                format!("{a_noun} takes {ratio} the time of {baseline} ({difference})")
            }
            TollVerdict::NoToll => {
                let band = band(run);
                format!(
                    "{a_noun} takes as long as with {baseline}: {ratio}, inside {band} ({blocks} blocks{})",
                    with_theft(time)
                )
            }
            TollVerdict::Unconfirmed => {
                let why = time.note.as_deref().unwrap_or(UNCONFIRMED);
                format!("{a_noun} takes {ratio} the time of {baseline} ({difference}), unconfirmed: {why}")
            }
            TollVerdict::Unclear => {
                format!("whether {a_noun} takes longer than with {baseline} is unclear: {ratio} ({difference})")
            }
            TollVerdict::Joint => return None,
            TollVerdict::Refused => {
                let why = time.note.as_deref().unwrap_or("see its doubts");
                format!("the toll on time over {baseline} is refused: {why}")
            }
        })
    };
    let mut parts: Vec<String> = tolls.time.and_then(of_time).into_iter().collect();
    let cpu = format!("CPU time per {}", piece(&run.experiment));
    for (toll, of_what) in [(tolls.cpu, cpu.as_str()), (tolls.bytes, "bytes")] {
        if let Some(toll) = toll.filter(|toll| toll.verdict.is_plain()) {
            let text = ratio(toll);
            let (text, exact) = text.strip_suffix(" exact").map_or((text.as_str(), ""), |text| (text, " (exact)"));
            let is_open = matches!(toll.verdict, TollVerdict::Unconfirmed | TollVerdict::Unclear);
            let open = if is_open { format!(" ({})", toll.verdict) } else { String::new() };
            parts.push(format!("{text} the {of_what}{exact}{open}{}", with_theft(toll)));
        }
    }
    if tolls.time.is_some_and(|time| time.verdict == TollVerdict::Joint) {
        parts.push(format!("the time over {baseline} cannot be attributed (shared CPU)"));
    }
    let is_refused = |toll: Option<&Toll>| toll.is_some_and(|toll| toll.verdict == TollVerdict::Refused);
    // What refuses both is said of the time.
    if is_refused(tolls.cpu) && !is_refused(tolls.time) {
        let why = tolls.cpu.and_then(|toll| toll.note.as_deref()).unwrap_or("see its doubts");
        parts.push(format!("the toll on CPU time over {baseline} is refused: {why}"));
    }
    Some(format!("{variant} at {}: {}", level(&run.experiment, at), parts.join("; ")))
}

/// The ratio including stolen time, where that was removed.
fn with_theft(toll: &Toll) -> String {
    let with =
        |theft: Theft| format!(", {}x if what the host stole is counted", number::three_digits(theft.ratio_with));
    toll.theft.map(with).unwrap_or_default()
}

/// Further facts beside the answer, a sentence each: the beginning of errors, and the costs of peers.
pub fn besides(run: &RunResult) -> Vec<String> {
    onsets(run).into_iter().chain(peers::answers(run)).collect()
}

/// The beginning of errors, with the wording of the first one; absent where there are none.
fn onsets(run: &RunResult) -> Option<String> {
    let mut found: Vec<&Gap> = run.gaps.iter().filter(|gap| gap.kind == GapKind::ErrorOnset).collect();
    found.sort_by_key(|gap| gap.level);
    let wording = &found.first()?.reason;
    let named = |gap: &&Gap| format!("{} at {}", gap.variant, level(&run.experiment, gap.level));
    let names = first_of(&found.iter().map(named).collect::<Vec<_>>(), ONSETS_MAX);
    let first = if found.len() > 1 { "the first: " } else { "" };
    Some(format!("Errors begin with {names}: {first}\u{201c}{wording}\u{201d}."))
}

/// The least and the most of an ordered list, named; absent where it is empty.
pub(super) fn between<T>(found: &[T], named: impl Fn(&T) -> String) -> Option<String> {
    match found {
        [] => None,
        [only] => Some(named(only)),
        [least, .., most] => Some(format!("between {} and {}", named(least), named(most))),
    }
}

/// The distance, in words at the end of a phrase; empty where there is none.
pub(super) fn far(run: &RunResult, distance: Distance) -> String {
    match (distance, run.settings.round_trip_ms) {
        (Distance::Local, _) => String::new(),
        (Distance::Remote, Some(ms)) => format!(" over a round trip of {} ms", number::three_digits(ms)),
        (Distance::Remote, None) => " from afar".to_owned(),
    }
}

/// The reason that a run is incomplete; absent for a complete one.
pub fn incompleteness(run: &RunResult) -> Option<String> {
    let because = run.reason.as_deref();
    unfinished(run.state, because, "Partial result", "The run had not ended when this was written")
}

/// The reason that one of several runs is incomplete; absent for a complete one.
pub fn incompleteness_of(run: &RunHead) -> Option<String> {
    let why = unfinished(run.state, run.reason.as_deref(), "is partial", "had not ended when it was written")?;
    Some(format!("Run {} {why}", run.number))
}

fn unfinished(state: State, because: Option<&str>, partial: &str, running: &str) -> Option<String> {
    let what = match state {
        State::Complete => return None,
        State::Partial => partial,
        State::Running => running,
    };
    Some(because.map_or_else(|| what.to_owned(), |because| format!("{what}: {because}")))
}
