//! The headline, for readers of nothing else: the layer's cost in one sentence of at most thirty words, then its
//! trustworthiness, with the one strongest reason against it.
//!
//! It is not complete: cards and tables have all variants, and all doubts are listed.

use super::sentence;
use super::view::{self, Tolls, headline_level};
use crate::blocks::{Answer, Light, Trust};
use crate::gather::first_of;
use crate::number;
use crate::text::{capitalized, stopped};
use tollgate_facts::results::{
    Answering, Distance, Figure, Gap, GapKind, Piece, RunResult, State, Toll, TollVerdict, Validity, Variant, Verdict,
};
use tollgate_facts::rules::{self, DRIFT, HIDDEN_TIME, OWN_DELAY, RANKS, RETRANSMISSIONS, RULES, Rule, STALLS};
use tollgate_facts::toll::drifting;

/// Maximum number of words of the answer.
pub const WORDS_MAX: usize = 30;
/// Longest title in a sentence, in words; a longer one is replaced by the variant's name.
const TITLE_WORDS_MAX: usize = 8;
/// Maximum number of variants that are named as open, not measured, or refused.
const UNSAID_MAX: usize = 3;

/// A sentence of a claim, with the cells that it is made of, by variant and level: their doubts are its own.
#[derive(Debug, Default)]
pub struct Said {
    /// The sentence.
    pub text: String,
    /// Its cells.
    pub cells: Vec<(String, u64)>,
}

/// The first statement about a run.
#[derive(Debug, Default)]
pub struct Claim {
    /// Its sentences, the most important one first: the last ones are left out where they would be too many words.
    pub sentences: Vec<Said>,
    /// The interval of the first sentence in words, without a full stop; empty where there is none.
    pub interval: String,
    /// The toll that the first sentence is about; absent where it is about none.
    pub toll: Option<Toll>,
    /// Its own doubt, and the remedy; absent where there is none.
    pub doubt: Option<String>,
    /// Further notes about it, a sentence each without its full stop.
    pub notes: Vec<String>,
}

/// The first words of a report: this claim, or, where a kind has none of its own, a sentence about the tolls.
pub fn answer(run: &RunResult, own: Option<Claim>, besides: Vec<String>) -> Answer {
    let Some(mut claim) = own.or_else(|| of_tolls(run)) else {
        return Answer { text: unsaid(run), trust: None, besides };
    };
    claim.sentences.truncate(fitting(&claim.sentences));
    let texts: Vec<&str> = claim.sentences.iter().map(|said| said.text.as_str()).collect();
    Answer { text: texts.join(" "), trust: Some(trust(run, &claim)), besides }
}

/// The reason for a missing claim.
fn unsaid(run: &RunResult) -> String {
    let refused = |gap: &&Gap| gap.kind == GapKind::Unsupported;
    let mut refused: Vec<&Gap> = run.gaps.iter().filter(refused).collect();
    refused.dedup_by_key(|gap| &gap.variant);
    match run.state {
        State::Running => "Nothing can be said yet: the run has not ended.".to_owned(),
        _ if run.experiment.variants.iter().all(|variant| variant.baseline.is_none()) => {
            "Nothing was compared, so there is no toll: no variant has a baseline.".to_owned()
        }
        _ if let Some(found) = run.unwatched.first() => format!(
            "No toll can be stated: {} works for {}, and is not watched there. Name all of its processes.",
            found.name, found.variant
        ),
        _ if run.tolls.is_empty() && !refused.is_empty() => {
            let names: Vec<String> = refused.iter().map(|gap| gap.variant.clone()).collect();
            format!("No toll can be stated: the subject refuses {}.", first_of(&names, UNSAID_MAX))
        }
        _ if run.tolls.is_empty() => {
            "No toll can be stated: no two variants were measured at the same level.".to_owned()
        }
        _ => "No toll can be stated: the figures are refused or doubtful.".to_owned(),
    }
}

/// Number of sentences that fit; the first one always does.
fn fitting(sentences: &[Said]) -> usize {
    let mut so_far = 0;
    let mut fits = |said: &&Said| {
        so_far += words(&said.text);
        so_far <= WORDS_MAX
    };
    sentences.iter().take_while(&mut fits).count().max(1)
}

/// Number of words in a text.
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The claim about the tolls: the usual case, then the other variants of the question; absent where all tolls are in
/// doubt.
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
    let usual = answering.iter().find_map(|variant| Told::of(run, named, variant))?;
    let others = answering.iter().filter(|variant| variant.name != usual.variant.name);
    let beside = others.clone().filter_map(|variant| {
        let there = Told::at(run, variant, usual.toll.level, usual.toll.figure);
        there.or_else(|| Told::at(run, variant, headline_level(run, &variant.name)?, usual.toll.figure))
    });
    let found: Vec<Told<'_>> = beside.collect();
    let is_open = |found: &Told<'_>| !found.toll.verdict.is_clear();
    let also = found.iter().filter(|found| !is_open(found)).map(|found| found.also(run, named, &usual));
    let first = Said { text: usual.first(run, named), cells: usual.cells() };
    let sentences: Vec<Said> = [first].into_iter().chain(also).collect();
    let toll = usual.toll;
    let ways = match sentences.len() {
        1 => String::new(),
        _ => format!(" of {} against {}", called(run, named, &toll.variant), called(run, named, &toll.baseline)),
    };
    let why = match toll.verdict {
        TollVerdict::Unconfirmed => Some(toll.note.as_deref().unwrap_or(sentence::UNCONFIRMED)),
        TollVerdict::Unclear => Some("the interval includes 1"),
        _ => None,
    };
    let unusual = named.filter(|answer| answer.usual != usual.variant.name && known(&answer.usual).is_some());
    let unusual = unusual.map(|_| "the usual case has no figure that can be trusted".to_owned());
    let time = run.toll(&toll.variant, toll.level, Figure::UnitTime);
    let is_joint = time.is_some_and(|time| time.verdict == TollVerdict::Joint);
    let status = |variant: &Variant| match found.iter().find(|told| told.variant.name == variant.name) {
        Some(told) => is_open(told).then_some("inconclusive"),
        None if run.cells.iter().any(|cell| cell.variant == variant.name) => Some("no valid figure"),
        None => Some("not measured"),
    };
    let unsaid = |what: &str| {
        let unsaid = others.clone().filter(|variant| status(variant) == Some(what));
        let the_same = |variant: &Variant| {
            let away = distance(run, variant).filter(|_| near(&variant.name) == usual.variant.name)?;
            Some(format!("the same with the server {away}"))
        };
        let name = |variant: &Variant| the_same(variant).unwrap_or_else(|| called(run, named, &variant.name));
        let names: Vec<String> = unsaid.map(|variant| name(variant)).collect();
        (!names.is_empty()).then(|| format!("{what}: {}", first_of(&names, UNSAID_MAX)))
    };
    let has_rate = run.cell(&toll.variant, toll.level).is_some_and(|cell| cell.equal_rate.is_some());
    let load = if has_rate { " under full load" } else { "" };
    let notes = [
        is_joint.then(|| format!("response times{load} cannot be compared, as all cores were busy")),
        unsaid("inconclusive"),
        unsaid("not measured"),
        unsaid("no valid figure"),
    ];
    Some(Claim {
        sentences,
        interval: interval(run, toll, &ways),
        toll: Some(toll.clone()),
        doubt: why.map(|why| format!("{why}. More blocks (--blocks) can settle it")).or(unusual),
        notes: notes.into_iter().flatten().collect(),
    })
}

/// The interval of a toll with its blocks; `ways` names what it is of, where that could be in doubt.
fn interval(run: &RunResult, toll: &Toll, ways: &str) -> String {
    let blocks = match toll.blocks {
        1 => "1 block".to_owned(),
        blocks => format!("{blocks} blocks"),
    };
    if tollgate_facts::stats::is_exact(toll.low, toll.high) {
        return format!("the ratio{ways} was the same in each of {blocks}");
    }
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
    let [low, high] = [toll.low, toll.high].map(|end| number::grouped(end, decimals));
    format!("the {} interval{ways} is {low}× to {high}×, over {blocks}", sentence::confidence(run))
}

/// A variant with the toll that represents it.
struct Told<'r> {
    variant: &'r Variant,
    toll: &'r Toll,
}

impl<'r> Told<'r> {
    /// At the level that represents it; absent where no toll there is free of doubt.
    fn of(run: &'r RunResult, named: Option<&Answering>, variant: &'r Variant) -> Option<Told<'r>> {
        let is_there = |level: &u64| {
            let Tolls { time, cpu, .. } = view::tolls(run, &variant.name, *level);
            [time, cpu].into_iter().flatten().any(|toll| toll.verdict.is_plain())
        };
        let asked = named.and_then(|answer| answer.level).filter(is_there);
        let level = asked.or_else(|| headline_level(run, &variant.name))?;
        let Tolls { time, cpu, .. } = view::tolls(run, &variant.name, level);
        let order = if named.is_some_and(|answer| answer.cpu) { [cpu, time] } else { [time, cpu] };
        let toll = order.into_iter().flatten().find(|toll| toll.verdict.is_plain())?;
        Some(Told { variant, toll })
    }

    /// One of its figures at a level.
    fn at(run: &'r RunResult, variant: &'r Variant, level: u64, figure: Figure) -> Option<Told<'r>> {
        let mut here = view::tolls(run, &variant.name, level).each();
        let toll = here.find(|toll| toll.figure == figure && toll.verdict.is_plain())?;
        Some(Told { variant, toll })
    }

    fn cells(&self) -> Vec<(String, u64)> {
        [&self.toll.variant, &self.toll.baseline].map(|name| (name.clone(), self.toll.level)).into()
    }

    /// The first sentence.
    fn first(&self, run: &RunResult, named: Option<&Answering>) -> String {
        let long = self.told(run, |name| called(run, named, name));
        let text = if words(&long) > WORDS_MAX { self.told(run, str::to_owned) } else { long };
        begun(run, named, &text)
    }

    fn told(&self, run: &RunResult, called: impl Fn(&str) -> String) -> String {
        let Told { variant, toll } = self;
        let (who, base) = (called(&variant.name), called(&toll.baseline));
        let level = run.experiment.named_level(toll.level);
        let with = level.map_or_else(String::new, |named| format!("{}: ", named.title));
        let at = at(run, toll.level);
        let is_of_cpu = toll.figure == Figure::SubjectCpu;
        let as_much = if is_of_cpu { "needs as much CPU time as" } else { "takes as long as" };
        match toll.verdict {
            TollVerdict::NoToll => format!("{with}{who} {as_much} {base}, within {}{at}.", sentence::band(run)),
            TollVerdict::Unconfirmed | TollVerdict::Unclear => {
                let what = if is_of_cpu { "needs more CPU time" } else { "takes longer" };
                format!("{with}whether {who} {what} than {base} is open{at}.")
            }
            _ => {
                let takes = self.takes(&base);
                // The share is of a load at a rate, and the ratio of one that is as fast as it can be.
                match part_of_a_core(run, toll) {
                    Some(part) => format!("{with}{who} {takes} under full load, and {part}."),
                    None => format!("{with}{who} {takes}: {}.", cost(run, toll)),
                }
            }
        }
    }

    /// The ratio with its verb.
    fn takes(&self, base: &str) -> String {
        match (self.toll.figure, ratio(self.toll)) {
            (Figure::SubjectCpu, ratio) => format!("needs {ratio} the CPU time of {base}"),
            (_, ratio) => format!("takes {ratio} as long as {base}"),
        }
    }

    /// A further sentence, with its level if that is another one.
    fn also(&self, run: &RunResult, named: Option<&Answering>, usual: &Told<'_>) -> Said {
        // From afar it is the same as from near.
        let is_from_afar =
            self.toll.baseline != usual.toll.baseline && near(&self.toll.baseline) == usual.toll.baseline;
        let base = (!is_from_afar).then(|| called(run, named, &self.toll.baseline));
        let found = match (self.toll.verdict, base) {
            (TollVerdict::NoToll, None) => "no difference".to_owned(),
            (TollVerdict::NoToll, Some(base)) => format!("no difference from {base}"),
            (_, None) => ratio(self.toll),
            (_, Some(base)) => format!("{} {base}", ratio(self.toll)),
        };
        // Beside the same from near it is enough to say how far away it is.
        let away = distance(run, self.variant).filter(|_| near(&self.variant.name) == usual.variant.name);
        let who = away.unwrap_or_else(|| called(run, named, &self.variant.name));
        let at = if self.toll.level == usual.toll.level { String::new() } else { at(run, self.toll.level) };
        // Two addresses beside each other say nothing without a verb.
        if who.contains("://") && self.toll.verdict.is_clear() && self.toll.verdict != TollVerdict::NoToll {
            let base = called(run, named, &self.toll.baseline);
            return Said { text: format!("{who} {}{at}.", self.takes(&base)), cells: self.cells() };
        }
        Said { text: format!("{}{at}: {found}.", begun(run, named, &who)), cells: self.cells() }
    }
}

/// The level, in words at the end of a statement; empty for a named level, which comes before it.
fn at(run: &RunResult, level: u64) -> String {
    let experiment = &run.experiment;
    match (experiment.named_level(level), experiment.piece) {
        (Some(_), _) => String::new(),
        (None, Piece::Record) => format!(" at {} records", number::whole(level)),
        (None, _) => format!(" at {}", sentence::level(experiment, level)),
    }
}

/// Capitalizes the beginning, unless it is a variant's name, a URL or a command. Titles of whole units of work may be
/// commands where no file words the answer.
fn begun(run: &RunResult, named: Option<&Answering>, text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default().trim_end_matches([',', ':']);
    let is_id = |variant: &Variant| first == variant.name && called(run, named, first) == first;
    let is_name = run.experiment.variants.iter().any(is_id) || first.contains("://");
    let may_be_command = named.is_none() && run.experiment.piece == Piece::Unit && first != "whether";
    if is_name || may_be_command { text.to_owned() } else { capitalized(text) }
}

/// A ratio alone, as the next sentence has its interval: with more than two decimals only where two would be 0 or 1.
fn ratio(toll: &Toll) -> String {
    let decimals = number::ratio_decimals(toll.ratio, toll.low, toll.high);
    let short = number::grouped(toll.ratio, decimals.min(2));
    let says_nothing = ["0.00", "1.00"].contains(&short.as_str());
    format!("{}×", if says_nothing { number::grouped(toll.ratio, decimals) } else { short })
}

/// The cost behind the ratio, in time, with its level.
fn cost(run: &RunResult, toll: &Toll) -> String {
    let noun = match (toll.figure, run.experiment.piece) {
        (Figure::SubjectCpu, _) => sentence::piece(&run.experiment),
        (_, Piece::Record) => "record",
        _ => sentence::unit_noun(&run.experiment),
    };
    let is_of_records = run.experiment.piece == Piece::Record;
    let is_of_all = is_of_records && toll.figure == Figure::UnitTime;
    let each = if is_of_all { toll.difference / toll.level.max(1) as f64 } else { toll.difference };
    let than = if each < 0.0 { "less" } else { "more" };
    let value = number::three_digits(each.abs());
    match is_of_records {
        true => format!("{value} {} {than} for each of {} records", toll.unit, number::whole(toll.level)),
        false => format!("{value} {} {than} for {}{}", toll.unit, sentence::one(noun), at(run, toll.level)),
    }
}

/// The further part of a core that it keeps busy at the common measured rate; absent where there was none.
fn part_of_a_core(run: &RunResult, toll: &Toll) -> Option<String> {
    let measured = |name: &str| {
        let rate = run.cell(name, toll.level)?.equal_rate.as_ref()?;
        Some((rate.rate_per_second, rate.subject_cores?.mean * 100.0))
    };
    let ((rate, percent), (_, below)) = (measured(&toll.variant)?, measured(&toll.baseline)?);
    let [percent, rate] = [percent - below, rate].map(number::three_digits);
    let is_it = toll.figure == Figure::SubjectCpu && toll.difference > 0.0 && !percent.starts_with('-');
    is_it.then(|| {
        format!("{percent} % of a core more at a fixed {} requests/s", rate.strip_suffix(".0").unwrap_or(&rate))
    })
}

/// The name of the local variant that does the same.
fn near(name: &str) -> &str {
    name.strip_suffix("-remote").unwrap_or(name)
}

/// The distance of a remote variant; absent for a local one.
fn distance(run: &RunResult, variant: &Variant) -> Option<String> {
    let ms = run.settings.round_trip_ms.filter(|_| variant.distance == Distance::Remote)?;
    Some(format!("{} ms away", number::three_digits(ms)))
}

/// The name of a variant in a sentence: its words, if there are any; else its title, or its name where that would be
/// long.
fn called(run: &RunResult, named: Option<&Answering>, name: &str) -> String {
    let words_of = |name: &str| named.and_then(|answer| answer.words.get(name)).cloned();
    let Some(variant) = run.experiment.variant(name) else { return name.to_owned() };
    let from_near = || Some(format!("{}, {}", words_of(near(name))?, distance(run, variant)?));
    let is_long = words(&variant.title) > TITLE_WORDS_MAX || variant.title.contains(',');
    let title = || if is_long { name.to_owned() } else { variant.title.clone() };
    words_of(name).or_else(from_near).unwrap_or_else(title)
}

/// Rules that put times in doubt, but not CPU times.
const OF_TIMES: [Rule; 4] = [STALLS, OWN_DELAY, HIDDEN_TIME, RETRANSMISSIONS];

/// The trustworthiness of the claim, and its reason.
fn trust(run: &RunResult, claim: &Claim) -> Trust {
    let is_of_times = |rule: &str| rules::is_joint(rule) || OF_TIMES.iter().any(|known| known.name == rule);
    let is_of_cpu = claim.toll.as_ref().is_some_and(|toll| toll.figure == Figure::SubjectCpu);
    // A finding about a toll is one about this toll, or none of ours.
    let is_of_toll = |found: &Validity| match &claim.toll {
        Some(toll) if found.rule == RANKS.name => toll.do_ranks_disagree(),
        Some(toll) if found.rule == DRIFT.name => drifting::is_of(toll, found),
        _ => ![RANKS.name, DRIFT.name].contains(&found.rule.as_str()),
    };
    let is_its_own = |found: &&Validity| {
        let mut cells = claim.sentences.iter().flat_map(|said| &said.cells);
        cells.any(|(name, level)| found.variant == *name && found.level == *level)
            && found.verdict != Verdict::Ok
            && !rules::is_at_rate(&found.rule)
            && view::is_of_all(run, found)
            && !(is_of_cpu && is_of_times(&found.rule))
            && is_of_toll(found)
    };
    let place = |found: &&Validity| RULES.iter().position(|rule| rule.name == found.rule).unwrap_or(usize::MAX);
    let worst =
        run.validity.iter().filter(is_its_own).min_by_key(|found| (found.verdict != Verdict::Refused, place(found)));
    let of_finding = |found: &Validity| format!("{}. {}", found.reason, stopped(&capitalized(&found.remedy)));
    let is_open = claim.toll.as_ref().is_some_and(|toll| !toll.verdict.is_clear());
    let (light, why) = match (worst, &claim.doubt, run.state) {
        (Some(found), ..) if found.verdict == Verdict::Refused => (Light::Not, of_finding(found)),
        // What is open by itself stays open, whatever else is in doubt.
        (_, Some(doubt), _) if is_open => (Light::Care, stopped(doubt)),
        (Some(found), ..) => (Light::Care, of_finding(found)),
        (None, Some(doubt), _) => (Light::Care, stopped(doubt)),
        (None, None, State::Complete) => (Light::Trusted, String::new()),
        (None, None, _) => (Light::Care, "the run is not whole.".to_owned()),
    };
    let begins = match light {
        Light::Trusted => "This can be trusted",
        Light::Care => "Read this with care",
        Light::Not => "Do not rely on this",
    };
    let interval = &claim.interval;
    let mut text = match (why.is_empty(), interval.is_empty()) {
        (true, true) => format!("{begins}."),
        (true, false) => format!("{begins}: {interval}."),
        (false, true) => format!("{begins}: {why}"),
        (false, false) => format!("{begins}: {interval}. {}", capitalized(&why)),
    };
    for note in &claim.notes {
        text += &format!(" {}.", capitalized(note));
    }
    Trust { light, text }
}
