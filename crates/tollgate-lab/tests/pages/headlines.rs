//! The first sentence of each experiment's report: questions that were fixed before it was written, with their answers.

use tollgate_facts::fixture;
use tollgate_facts::results::{Figure, Gap, GapKind, Piece, RunResult, TollVerdict, Verdict};
use tollgate_lab::experiment::Experiment;
use tollgate_page::blocks::{Answer, Light};
use tollgate_page::words::headline::{WORDS_MAX, words};

/// A run as its experiment's file says what the sentence is about.
fn asked(name: &str, mut run: RunResult) -> RunResult {
    run.experiment.answer = Experiment::builtin(name).unwrap().answer;
    run
}

fn answer(run: &RunResult) -> Answer {
    tollgate_lab::page(run).answer
}

/// Every built-in experiment with a run of it.
fn all() -> Vec<RunResult> {
    vec![
        asked("protocol", fixture::protocol()),
        asked("encryption", fixture::encryption()),
        asked("encryption-afar", fixture::encryption_afar()),
        asked("batching", fixture::batching(&[5, 100, 1000, 2000, 20_000])),
        asked("mediation", fixture::mediation()),
        asked("ladder", fixture::ladder()),
        asked("distance", fixture::distance()),
    ]
}

/// What does it cost, in which unit, over what, at which load, and how sure is that: a sentence for each question.
#[test]
fn the_first_sentence_says_what_the_layer_costs_in_plain_words() {
    let texts: Vec<String> = all().iter().map(|run| answer(run).text).collect();
    insta::assert_snapshot!("headlines", texts.join("\n"));
}

#[test]
fn no_first_sentence_is_longer_than_thirty_words_or_names_what_is_no_answer() {
    for run in all() {
        let Answer { text, trust, .. } = answer(&run);
        assert!(words(&text) <= WORDS_MAX, "{} words: {text}", words(&text));
        for control in ["rest-xml-padded", "http-new", "odata-v2-json", "parallel"] {
            assert!(!text.contains(control), "{text}");
        }
        let trust = trust.expect("each says how far it can be trusted").text;
        assert!(trust.contains("95 % interval") || trust.contains("the same in each of"), "{trust}");
    }
}

#[test]
fn whatever_was_found_and_whichever_variants_ran_it_is_a_sentence() {
    use TollVerdict::{Cheaper, Dearer, Joint, NoToll, Refused, Unclear, Unconfirmed};
    let check = |run: &RunResult| {
        let Answer { text, trust, .. } = answer(run);
        let trust = trust.map_or_else(String::new, |trust| trust.text);
        assert!(words(&text) <= WORDS_MAX, "{} words: {text}", words(&text));
        for text in [&text, &trust] {
            let is_plain = ["  ", " .", "..", "NaN", ": .", " ,"].iter().all(|wrong| !text.contains(wrong));
            assert!(is_plain && (text.is_empty() || text.ends_with('.')), "{text}");
        }
    };
    for run in all() {
        for verdict in [Dearer, Cheaper, NoToll, Unconfirmed, Unclear, Joint, Refused] {
            for figure in [Some(Figure::UnitTime), Some(Figure::SubjectCpu), None] {
                let mut run = run.clone();
                let of_figure = run.tolls.iter_mut().filter(|toll| figure.is_none_or(|wanted| toll.figure == wanted));
                of_figure.for_each(|toll| toll.verdict = verdict);
                check(&run);
            }
        }
        // As `--only` and `--level` leave it.
        for variant in run.experiment.variants.iter().filter(|variant| variant.baseline.is_some()) {
            let is_kept = |name: &str| name == variant.name || Some(name) == variant.baseline.as_deref();
            for level in &run.experiment.levels {
                let mut run = run.clone();
                run.experiment.variants.retain(|variant| is_kept(&variant.name));
                run.cells.retain(|cell| is_kept(&cell.variant) && cell.level == *level);
                run.tolls.retain(|toll| toll.variant == variant.name && toll.level == *level);
                check(&run);
            }
        }
    }
}

#[test]
fn a_url_or_a_command_at_the_beginning_stays_as_it_is() {
    let mut run = fixture::protocol();
    run.experiment.variants.retain(|variant| ["rest-json", "odata-v2-atom"].contains(&variant.name.as_str()));
    for (title, piece) in [("http://127.0.0.1:8080/b", Piece::Request), ("zstd -q -k -f big.log", Piece::Unit)] {
        run.experiment.variants[1].title = title.to_owned();
        run.experiment.piece = piece;
        let text = answer(&run).text;
        assert!(text.starts_with(&format!("{title} takes ")), "{text}");
    }
}

#[test]
fn a_doubt_about_any_sentence_is_one_about_the_answer() {
    let mut run = asked("protocol", fixture::protocol());
    run.validity.clear();
    for level in run.experiment.levels.clone() {
        run.validity.push(fixture::doubt("odata-v2-atom", level, "steal", Verdict::Marked));
    }
    let Answer { text, trust, .. } = answer(&run);
    assert!(text.contains("OData V2 in Atom: ") && trust.unwrap().light == Light::Care, "{text}");
}

#[test]
fn without_a_doubt_it_can_be_trusted_with_one_its_reason_and_its_remedy_are_said() {
    let mut run = asked("protocol", fixture::protocol());
    run.validity.clear();
    let trust = answer(&run).trust.unwrap();
    assert_eq!(trust.light, Light::Trusted, "{trust:?}");
    assert!(
        trust.text.starts_with("This can be trusted: the 95 % interval of OData V4 in JSON against plain REST is "),
        "{trust:?}"
    );
    let toll = run.tolls.iter().find(|toll| toll.variant == "odata-v4-json").unwrap();
    let (variant, level) = (toll.variant.clone(), toll.level);
    for level in run.experiment.levels.clone() {
        run.validity.push(fixture::doubt(&variant, level, "steal", Verdict::Marked));
        run.validity.push(fixture::doubt(&variant, level, "samples", Verdict::Marked));
        // Of another cell: no reason to doubt this one.
        run.validity.push(fixture::doubt("odata-v2-json", level, "content", Verdict::Refused));
    }
    let doubt = fixture::doubt(&variant, level, "samples", Verdict::Marked);
    let trust = answer(&run).trust.unwrap();
    assert_eq!(trust.light, Light::Care);
    assert!(trust.text.contains(&doubt.reason[1..]), "{trust:?}");
}

#[test]
fn what_was_not_measured_is_named_and_what_is_open_is_said_to_be_open() {
    let mut run = asked("protocol", fixture::protocol());
    run.tolls.retain(|toll| toll.variant != "odata-v2-atom");
    let text = answer(&run).trust.unwrap().text;
    assert!(text.ends_with(" No valid figure: OData V2 in Atom."), "{text}");
    run.cells.retain(|cell| cell.variant != "odata-v2-atom");
    let text = answer(&run).trust.unwrap().text;
    assert!(text.ends_with(" Not measured: OData V2 in Atom."), "{text}");
    run = asked("protocol", fixture::protocol());
    let set_to = |run: &mut RunResult, name: &str, verdict: TollVerdict| {
        run.tolls.iter_mut().filter(|toll| toll.variant == name).for_each(|toll| toll.verdict = verdict);
    };
    let set = |run: &mut RunResult, name: &str| set_to(run, name, TollVerdict::Unclear);
    // Its CPU time alone is no answer beside the time of the others.
    let mut by_cpu = run.clone();
    let times = by_cpu.tolls.iter_mut().filter(|toll| toll.figure == Figure::UnitTime);
    times.filter(|toll| toll.variant == "odata-v2-atom").for_each(|toll| toll.verdict = TollVerdict::Joint);
    let text = answer(&by_cpu).trust.unwrap().text;
    assert!(text.ends_with(" No valid figure: OData V2 in Atom."), "{text}");
    // That the usual case is missing weighs less than a mark on what stands in its place.
    let mut unusual = run.clone();
    set_to(&mut unusual, "odata-v4-json", TollVerdict::Refused);
    let text = answer(&unusual).trust.unwrap().text;
    let expected = " The usual case has no figure that can be trusted. ";
    assert!(text.starts_with("Read this with care: ") && text.contains(expected), "{text}");
    for level in run.experiment.levels.clone() {
        unusual.validity.push(fixture::doubt("odata-v2-atom", level, "steal", Verdict::Marked));
    }
    let text = answer(&unusual).trust.unwrap().text;
    assert!(!text.contains("of the usual case") && text.ends_with(" No valid figure: OData V4 in JSON."), "{text}");
    let mut beside = run.clone();
    set(&mut beside, "odata-v4-json");
    let text = answer(&beside).trust.unwrap().text;
    assert!(
        text.contains(" interval of OData V4 in JSON against plain REST is "),
        "the only ratio in the text is that of the other variant: {text}"
    );
    set(&mut run, "odata-v2-atom");
    let text = answer(&run).trust.unwrap().text;
    assert!(text.ends_with(" Inconclusive: OData V2 in Atom."), "{text}");
    set(&mut run, "odata-v4-json");
    // Whatever else is in doubt, what is open is the first to be said.
    for level in run.experiment.levels.clone() {
        run.validity.push(fixture::doubt("odata-v4-json", level, "steal", Verdict::Marked));
    }
    let found = answer(&run);
    assert!(found.text.starts_with("Whether OData V4 in JSON takes longer than plain REST is open"), "{}", found.text);
    let trust = found.trust.unwrap();
    assert!(trust.light == Light::Care && trust.text.contains(" The interval includes 1."), "{trust:?}");
    run.tolls.iter_mut().for_each(|toll| toll.verdict = TollVerdict::Refused);
    assert_eq!(answer(&run).text, "No toll can be stated: the figures are refused or doubtful.");
    run.tolls.clear();
    assert_eq!(answer(&run).text, "No toll can be stated: no two variants were measured at the same level.");
    let gap = |level| Gap {
        variant: "odata-v4-json".to_owned(),
        level,
        kind: GapKind::Unsupported,
        reason: "404 Not Found".to_owned(),
    };
    run.gaps.extend([gap(1), gap(20)]);
    assert_eq!(answer(&run).text, "No toll can be stated: the subject refuses odata-v4-json.");
    run.experiment.variants.iter_mut().for_each(|variant| variant.baseline = None);
    assert!(answer(&run).text.starts_with("Nothing was compared"));
}

#[test]
fn an_increase_that_may_be_none_is_open() {
    let mut run = fixture::distance();
    let slope = run.distance.as_mut().unwrap().slope.as_mut().unwrap();
    (slope.round_trips.mean, slope.round_trips.low) = (-16.7, -60.1);
    run.validity.clear();
    let Answer { text, trust, .. } = answer(&run);
    assert_eq!(trust.unwrap().light, Light::Care);
    assert!(text.ends_with("; whether network round trips between them add time is open."), "{text}");
    assert!(words(&text) <= WORDS_MAX, "{text}");
}

#[test]
fn a_further_way_without_a_toll_names_its_base_too() {
    let mut run = asked("protocol", fixture::protocol());
    run.tolls
        .iter_mut()
        .filter(|toll| toll.variant == "odata-v2-atom")
        .for_each(|toll| toll.verdict = TollVerdict::NoToll);
    let text = answer(&run).text;
    assert!(text.ends_with(" OData V2 in Atom: no difference from plain REST."), "{text}");
}
