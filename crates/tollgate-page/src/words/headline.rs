//! The answer for who reads nothing else: what the layer costs in one sentence of at most thirty words, then whether that
//! can be trusted, with the one reason against it that weighs most.
//!
//! What it deliberately does not do: say everything. Cards and tables have all variants, and the doubts are all listed.

use super::sentence;
use super::view::{self, Tolls, headline_level};
use crate::blocks::{Answer, Light, Trust};
use crate::number;
use crate::text::{capitalized, stopped};
use tollgate_facts::results::{
    Answering, Distance, Figure, Piece, RunResult, State, Toll, TollVerdict, Validity, Variant, Verdict,
};
use tollgate_facts::rules::{self, HIDDEN_TIME, OWN_DELAY, RETRANSMISSIONS, RULES, Rule, STALLS};

/// Most words of the answer.
pub const WORDS_MAX: usize = 30;
/// Longest title that stands in a sentence; of a longer one the variant's name does.
const TITLE_WORDS_MAX: usize = 8;
/// Variants that are named as not measured.
const UNMEASURED_MAX: usize = 3;

/// What a run says first.
#[derive(Debug, Default)]
pub struct Claim {
    /// Its sentences, the most important one first: the last ones are left out where they would be too many words.
    pub sentences: Vec<String>,
    /// The interval in words, without a full stop; empty where there is none.
    pub interval: String,
    /// The cells that it is made of, by variant and level: their doubts are its own.
    pub cells: Vec<(String, u64)>,
    /// Whether it is about CPU time, which is not in doubt where only times are.
    pub is_of_cpu: bool,
    /// Why it is in doubt by itself, and what helps; absent where it is not.
    pub doubt: Option<String>,
    /// What else is to be known of it, without a full stop; absent where nothing is.
    pub note: Option<String>,
    /// What would answer the question as well and was not measured.
    pub unmeasured: Vec<String>,
}

/// The first words of a report: this claim, or, where a kind has none of its own, what the tolls say.
pub fn answer(run: &RunResult, own: Option<Claim>, besides: Vec<String>) -> Answer {
    match own.or_else(|| of_tolls(run)) {
        Some(claim) => Answer { text: within(&claim.sentences), trust: Some(trust(run, &claim)), besides },
        None => Answer { text: unsaid(run).to_owned(), trust: None, besides },
    }
}

/// Why there is no claim.
fn unsaid(run: &RunResult) -> &'static str {
    match run.state {
        State::Running => "Nothing can be said yet: the run has not ended.",
        _ if run.experiment.variants.iter().all(|variant| variant.baseline.is_none()) => {
            "Nothing was compared, so there is no toll: no variant has a baseline."
        }
        _ => "No toll may be claimed from this run: see the doubts below.",
    }
}

/// As many of the sentences as fit.
fn within(sentences: &[String]) -> String {
    let mut text = sentences.first().cloned().unwrap_or_default();
    for sentence in sentences.iter().skip(1) {
        let longer = format!("{text} {sentence}");
        if words(&longer) > WORDS_MAX {
            break;
        }
        text = longer;
    }
    text
}

/// How many words a text has.
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// What the tolls say: the usual case, then what else answers the question; absent where no toll may be read.
fn of_tolls(run: &RunResult) -> Option<Claim> {
    let named = run.experiment.answer.as_ref();
    let compared = || run.experiment.variants.iter().filter(|variant| variant.baseline.is_some());
    let known = |name: &String| compared().find(|variant| variant.name == *name);
    let mut answering: Vec<&Variant> = match named {
        Some(answer) => [&answer.usual].into_iter().chain(&answer.also).filter_map(known).collect(),
        None => compared().collect(),
    };
    if answering.is_empty() {
        answering = compared().collect();
    }
    let told = |variant: &&Variant| Told::of(run, named, variant).is_some();
    let first = answering.iter().position(told)?;
    let unmeasured: Vec<String> = answering
        .iter()
        .filter(|variant| !told(variant))
        .map(|variant| called(run, named, &variant.name))
        .take(UNMEASURED_MAX)
        .collect();
    let usual = Told::of(run, named, answering[first])?;
    let also = answering.iter().skip(first + 1).filter_map(|variant| {
        let other = Told::of(run, None, variant).filter(|other| other.toll.figure == usual.toll.figure);
        other.or_else(|| Told::at(run, variant, usual.toll.level, usual.toll.figure))
    });
    let also = also.filter(|other| other.toll.verdict.is_clear()).map(|other| other.also(run, named, &usual));
    let sentences = [usual.first(run, named)].into_iter().chain(also).collect();
    let toll = usual.toll;
    let why = match toll.verdict {
        TollVerdict::Unconfirmed => Some(toll.note.as_deref().unwrap_or(sentence::UNCONFIRMED)),
        TollVerdict::Unclear => Some("the interval includes 1"),
        _ => None,
    };
    let doubt = why.map(|why| format!("{why}. More blocks make it narrower"));
    let time = run.toll(&toll.variant, toll.level, Figure::UnitTime);
    let is_joint = time.is_some_and(|time| time.verdict == TollVerdict::Joint);
    Some(Claim {
        sentences,
        note: is_joint.then(|| "the cores were full, so nothing is claimed of time".to_owned()),
        interval: interval(run, toll),
        cells: [&toll.variant, &toll.baseline].map(|name| (name.clone(), toll.level)).into(),
        is_of_cpu: toll.figure == Figure::SubjectCpu,
        doubt,
        unmeasured,
    })
}

/// The interval of a toll with its blocks.
fn interval(run: &RunResult, toll: &Toll) -> String {
    if tollgate_facts::stats::is_exact(toll.low, toll.high) {
        return format!("the ratio was the same in all {} blocks", toll.blocks);
    }
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
    let [low, high] = [toll.low, toll.high].map(|end| number::grouped(end, decimals));
    format!("the {} interval is {low}× to {high}×, over {} blocks", sentence::confidence(run), toll.blocks)
}

/// A variant with the toll that stands for it.
struct Told<'r> {
    variant: &'r Variant,
    toll: &'r Toll,
}

impl<'r> Told<'r> {
    /// At the level that stands for it; nothing where no toll may be read.
    fn of(run: &'r RunResult, named: Option<&Answering>, variant: &'r Variant) -> Option<Told<'r>> {
        let is_there = |level: &u64| view::tolls(run, &variant.name, *level).each().any(|toll| toll.verdict.is_plain());
        let asked = named.and_then(|answer| answer.level).filter(is_there);
        let level = asked.or_else(|| headline_level(run, &variant.name))?;
        let Tolls { time, cpu, .. } = view::tolls(run, &variant.name, level);
        let is_by_cpu = named.is_some_and(|answer| answer.per_second.is_some());
        let order = if is_by_cpu { [cpu, time] } else { [time, cpu] };
        let toll = order.into_iter().flatten().find(|toll| toll.verdict.is_plain())?;
        Some(Told { variant, toll })
    }

    /// One figure of it at a level.
    fn at(run: &'r RunResult, variant: &'r Variant, level: u64, figure: Figure) -> Option<Told<'r>> {
        let toll = run.toll(&variant.name, level, figure).filter(|toll| toll.verdict.is_plain())?;
        Some(Told { variant, toll })
    }

    /// The first sentence.
    fn first(&self, run: &RunResult, named: Option<&Answering>) -> String {
        let long = self.told(run, |name| called(run, named, name), named);
        let text = if words(&long) > WORDS_MAX { self.told(run, str::to_owned, named) } else { long };
        begun(run, &text)
    }

    fn told(&self, run: &RunResult, called: impl Fn(&str) -> String, named: Option<&Answering>) -> String {
        let Told { variant, toll } = self;
        let (who, base) = (called(&variant.name), called(&toll.baseline));
        let experiment = &run.experiment;
        let is_of_cpu = toll.figure == Figure::SubjectCpu;
        let at = match (experiment.named_level(toll.level), experiment.piece) {
            (Some(_), _) => String::new(),
            (None, Piece::Record) if is_of_cpu => format!(" of {} records", number::whole(toll.level)),
            (None, Piece::Record) => format!(" {} records", number::whole(toll.level)),
            (None, _) => format!(" at {}", sentence::level(experiment, toll.level)),
        };
        let with =
            experiment.named_level(toll.level).map_or_else(String::new, |named| format!("with {}, ", named.title));
        let ratio = ratio(toll);
        let (takes, as_much) = match is_of_cpu {
            true => (format!("needs {ratio} the CPU time of {base}"), format!("needs as much CPU time as {base}")),
            false => (format!("takes {ratio} as long as {base}"), format!("takes as long as {base}")),
        };
        match toll.verdict {
            TollVerdict::NoToll => format!("{with}{who} {as_much}, within {}{at}.", sentence::band(run)),
            TollVerdict::Unconfirmed | TollVerdict::Unclear => {
                let what = if is_of_cpu { "needs more CPU time" } else { "takes longer" };
                format!("{with}whether {who} {what} than {base} is open{at}.")
            }
            _ => format!("{with}{who} {takes}: {}{at}.", cost(run, toll, named)),
        }
    }

    /// A further sentence.
    fn also(&self, run: &RunResult, named: Option<&Answering>, usual: &Told<'_>) -> String {
        let [base, known] = [&self.toll.baseline, &usual.toll.baseline].map(|name| called(run, named, name));
        let of = if base == known { String::new() } else { format!(" {base}") };
        let found = match self.toll.verdict {
            TollVerdict::NoToll => "no difference".to_owned(),
            _ => ratio(self.toll),
        };
        format!("{}: {found}{of}.", begun(run, &called(run, named, &self.variant.name)))
    }
}

/// With a capital at its beginning, unless a variant's name stands there.
fn begun(run: &RunResult, text: &str) -> String {
    let is_name = run.experiment.variants.iter().any(|variant| text.split(' ').next() == Some(&variant.name));
    if is_name { text.to_owned() } else { capitalized(text) }
}

/// A ratio alone: its interval stands in the next sentence.
fn ratio(toll: &Toll) -> String {
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high).min(2);
    format!("{}×", number::grouped(toll.ratio, decimals))
}

/// What the ratio is in time or as a part of a core.
fn cost(run: &RunResult, toll: &Toll, named: Option<&Answering>) -> String {
    let noun = match (toll.figure, run.experiment.piece) {
        (Figure::SubjectCpu, _) => sentence::piece(&run.experiment),
        (_, Piece::Record) => "record",
        _ => sentence::unit_noun(&run.experiment),
    };
    let rate = named.and_then(|answer| answer.per_second).filter(|_| toll.figure == Figure::SubjectCpu);
    if let Some(rate) = rate {
        let percent = toll.difference.abs() * rate / 1e6 * 100.0;
        let than = if toll.difference < 0.0 { " less" } else { "" };
        let percent = number::three_digits(percent);
        return format!("{percent} % of a core{than} at {rate} {noun}s/s");
    }
    let is_of_records = toll.figure == Figure::UnitTime && run.experiment.piece == Piece::Record;
    let each = if is_of_records { toll.difference / toll.level.max(1) as f64 } else { toll.difference };
    let than = if each < 0.0 { "less" } else { "more" };
    let value = number::three_digits(each.abs());
    match is_of_records {
        true => format!("{value} {} {than} for each of", toll.unit),
        false => format!("{value} {} {than} for {}", toll.unit, sentence::one(noun)),
    }
}

/// What a sentence calls a variant: its words, if there are any; else its title, or its name where that would be long.
fn called(run: &RunResult, named: Option<&Answering>, name: &str) -> String {
    let words_of = |answer: &Answering| answer.words.get(name).cloned();
    let Some(variant) = run.experiment.variant(name) else { return name.to_owned() };
    let is_afar = named.is_some() && variant.distance == Distance::Remote;
    let away = run.settings.round_trip_ms.filter(|_| is_afar);
    let title = &variant.title;
    let is_long = words(title) > TITLE_WORDS_MAX || title.contains(',');
    let known = named.and_then(words_of).or_else(|| Some(format!("{} ms away", number::three_digits(away?))));
    known.unwrap_or_else(|| if is_long { name.to_owned() } else { title.clone() })
}

/// Rules that put a time in doubt and no CPU time.
const OF_TIMES: [Rule; 4] = [STALLS, OWN_DELAY, HIDDEN_TIME, RETRANSMISSIONS];

/// Whether the claim can be trusted, and why.
fn trust(run: &RunResult, claim: &Claim) -> Trust {
    let is_of_times = |rule: &str| rules::is_joint(rule) || OF_TIMES.iter().any(|known| known.name == rule);
    let is_its_own = |found: &&Validity| {
        let is_cell = claim.cells.iter().any(|(name, level)| found.variant == *name && found.level == *level);
        is_cell
            && found.verdict != Verdict::Ok
            && !rules::is_at_rate(&found.rule)
            && !(claim.is_of_cpu && is_of_times(&found.rule))
    };
    let place = |found: &&Validity| RULES.iter().position(|rule| rule.name == found.rule).unwrap_or(usize::MAX);
    let worst =
        run.validity.iter().filter(is_its_own).min_by_key(|found| (found.verdict != Verdict::Refused, place(found)));
    let (light, why) = match (worst, &claim.doubt, run.state) {
        (Some(found), ..) => {
            let light = if found.verdict == Verdict::Refused { Light::Not } else { Light::Care };
            (light, format!("{}. {}", found.reason, stopped(&capitalized(&found.remedy))))
        }
        (None, Some(doubt), _) => (Light::Care, stopped(doubt)),
        (None, None, State::Complete) => (Light::Trusted, String::new()),
        (None, None, _) => (Light::Care, "the run is not whole.".to_owned()),
    };
    let begins = match light {
        Light::Trusted => "This can be trusted",
        Light::Care => "Read this with care",
        Light::Not => "Do not rely on this",
    };
    let mut text = match (why.is_empty(), claim.interval.is_empty()) {
        (true, true) => format!("{begins}."),
        (true, false) => format!("{begins}: {}.", claim.interval),
        (false, true) => format!("{begins}: {why}"),
        (false, false) => format!("{begins}: {why} {}.", capitalized(&claim.interval)),
    };
    if let Some(note) = &claim.note {
        text += &format!(" {}.", capitalized(note));
    }
    if !claim.unmeasured.is_empty() {
        text += &format!(" Not measured: {}.", claim.unmeasured.join(", "));
    }
    Trust { light, text }
}
