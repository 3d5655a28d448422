//! Runs side by side, made up so that the true ratios are known.

use super::*;
use crate::fixture::{self, again};
use crate::results::{Drift, Looks, Toll, Validity, Verdict};
use crate::toll;

fn beside(runs: &[&RunResult]) -> Across {
    let names = ["one", "two", "three"];
    let named: Vec<Named<'_>> = names.into_iter().zip(runs).map(|(name, run)| Named { name, run }).collect();
    across(&named).unwrap()
}

fn find<'a>(rows: &'a [Beside], variant: &str, level: u64, figure: Figure) -> &'a Beside {
    rows.iter().find(|row| row.variant == variant && row.level == level && row.figure == figure).unwrap()
}

#[test]
fn a_slower_machine_is_in_the_ratio_of_figures_and_not_in_that_of_tolls() {
    let (one, two) = (again(1, 1.0, 1.0), again(2, 1.5, 1.0));
    let found = beside(&[&one, &two]);
    let cpu = &find(&found.cells, "odata-v2-atom", 5, Figure::SubjectCpu).ratios[0];
    assert!(cpu.low < 1.5 && 1.5 < cpu.high && cpu.verdict == TollVerdict::Dearer, "{cpu:?}");
    let toll = &find(&found.tolls, "odata-v2-atom", 5, Figure::SubjectCpu).ratios[0];
    assert!(toll.low < 1.0 && 1.0 < toll.high, "{toll:?}");
    assert_eq!(find(&found.cells, "odata-v2-atom", 5, Figure::Bytes).ratios[0].verdict, TollVerdict::NoToll);
}

#[test]
fn a_layer_that_became_dearer_is_in_both() {
    let (one, two, three) = (again(3, 1.0, 1.0), again(4, 1.0, 1.0), again(5, 0.5, 1.4));
    let found = beside(&[&one, &two, &three]);
    let toll = find(&found.tolls, "odata-v2-atom", 20, Figure::SubjectCpu);
    assert_eq!(toll.baseline.as_deref(), Some("rest-json"));
    assert_eq!(toll.ratios.iter().map(|ratio| ratio.run).collect::<Vec<_>>(), [2, 3]);
    assert!(toll.ratios[1].low < 1.4 && 1.4 < toll.ratios[1].high, "{:?}", toll.ratios[1]);
    assert_eq!(toll.ratios[1].verdict, TollVerdict::Dearer);
    assert_ne!(toll.ratios[0].verdict, TollVerdict::Dearer);
}

#[test]
fn of_40_pairs_of_equal_runs_at_most_6_claim_a_difference_of_a_toll() {
    let wrong = (0..40)
        .filter(|seed| {
            let found = beside(&[&again(100 + 2 * seed, 1.0, 1.0), &again(101 + 2 * seed, 1.0, 1.0)]);
            let claims = |toll: &&Beside| {
                toll.figure == Figure::SubjectCpu
                    && toll
                        .ratios
                        .iter()
                        .any(|ratio| matches!(ratio.verdict, TollVerdict::Dearer | TollVerdict::Cheaper))
            };
            found.tolls.iter().filter(claims).count() > 0
        })
        .count();
    assert!(wrong <= 6, "{wrong} of 40");
}

#[test]
fn what_is_refused_in_either_run_has_no_ratio_and_a_joint_time_is_no_claim() {
    let (one, mut two) = (again(6, 1.0, 1.0), again(7, 1.0, 1.0));
    let doubt = |rule: &str, level, verdict| Validity {
        variant: "odata-v2-json".into(),
        level,
        rule: rule.into(),
        verdict,
        reason: "4 of 100 requests failed".into(),
        remedy: String::new(),
        value: 0.04,
        bound: 0.001,
    };
    two.validity.push(doubt("errors", 5, Verdict::Refused));
    two.validity.push(doubt("joint", 20, Verdict::Marked));
    two.tolls = toll::compute(&two);
    let found = beside(&[&one, &two]);
    let row = find(&found.cells, "odata-v2-json", 5, Figure::SubjectCpu);
    assert_eq!((row.ratios[0].verdict, row.ratios[0].ratio), (TollVerdict::Refused, 0.0));
    assert_eq!((row.values[1].standing, row.values[1].interval), (Verdict::Refused, None));
    assert!(row.ratios[0].note.as_deref().unwrap().starts_with("run 2: 4 of 100"), "{row:?}");
    let toll = find(&found.tolls, "odata-v2-json", 5, Figure::SubjectCpu);
    assert_eq!(toll.ratios[0].verdict, TollVerdict::Refused);
    let time = find(&found.cells, "odata-v2-json", 20, Figure::UnitTime);
    assert_eq!((time.ratios[0].verdict, time.values[1].standing), (TollVerdict::Joint, Verdict::Marked));
    assert_ne!(find(&found.cells, "odata-v2-json", 20, Figure::SubjectCpu).ratios[0].verdict, TollVerdict::Joint);
}

/// The run with every variant of a level at this offered rate.
fn offered(mut run: RunResult, level: u64, rate_per_second: f64) -> RunResult {
    for rate in run.cells.iter_mut().filter(|cell| cell.level == level).filter_map(|cell| cell.equal_rate.as_mut()) {
        rate.rate_per_second = rate_per_second;
    }
    run
}

#[test]
fn what_was_offered_at_another_rate_in_one_run_has_no_ratio_of_figures_nor_of_tolls() {
    let one = fixture::encryption();
    let found = beside(&[&one, &offered(fixture::encryption(), 1, 3000.0)]);
    for figure in [Figure::MedianAtRate, Figure::P95AtRate] {
        for rows in [&found.cells, &found.tolls] {
            let of = |level: u64| rows.iter().filter(move |row| (row.figure, row.level) == (figure, level));
            assert!(of(1).count() > 1 && of(4).count() > 1);
            for ratio in of(1).flat_map(|row| &row.ratios) {
                let reason = ratio.note.as_deref().unwrap();
                assert_eq!((ratio.verdict, ratio.ratio), (TollVerdict::Refused, 0.0));
                assert_eq!(reason, "run 1 was offered 1500/s, run 2 3000/s");
            }
            let values: Vec<_> = of(1).flat_map(|row| &row.values).map(|value| value.rate_per_second).collect();
            assert!(values.chunks(2).all(|two| two == [Some(1500.0), Some(3000.0)]), "each run's own figure stays");
            assert!(of(4).flat_map(|row| &row.ratios).all(|ratio| ratio.verdict != TollVerdict::Refused));
        }
    }
    let verdicts = |found: &Across, accepts: fn(Figure) -> bool| {
        let rows = found.cells.iter().chain(&found.tolls).filter(|row| accepts(row.figure));
        rows.flat_map(|row| &row.ratios).map(|ratio| ratio.verdict).collect::<Vec<_>>()
    };
    let equal = beside(&[&one, &one]);
    assert_eq!(verdicts(&found, |figure| !figure.is_at_rate()), verdicts(&equal, |figure| !figure.is_at_rate()));
    let setting = found.settings.iter().find(|setting| setting.name.ends_with("offered at equal rate")).unwrap();
    assert_eq!(setting.name, "level TLS 1.3, P-256: offered at equal rate");
    assert_eq!(setting.values, [Some("1500/s".to_owned()), Some("3000/s".to_owned())]);
    let near = beside(&[&one, &offered(fixture::encryption(), 1, 1520.0)]);
    assert_eq!(verdicts(&near, |_| true), verdicts(&equal, |_| true));
}

/// A doubt about one cell.
fn doubt(variant: &str, level: u64, rule: &str) -> Validity {
    Validity {
        variant: variant.into(),
        level,
        rule: rule.into(),
        verdict: Verdict::Marked,
        reason: "7 were seen".into(),
        remedy: String::new(),
        value: 7.0,
        bound: 1.0,
    }
}

#[test]
fn a_toll_is_marked_by_what_is_doubted_of_its_variant_or_its_baseline_and_concerns_its_figure() {
    let check = |variant: &str, rule: &str, figure: Figure, expected: &[&str]| {
        let (one, mut two) = (again(11, 1.0, 1.0), again(12, 1.0, 1.0));
        two.validity.push(doubt(variant, 5, rule));
        two.tolls = toll::compute(&two);
        let found = beside(&[&one, &two]);
        let row = find(&found.tolls, "odata-v2-json", 5, figure);
        assert_eq!((row.values[0].standing, row.values[0].doubts.len()), (Verdict::Ok, 0));
        assert_eq!(row.values[1].doubts, expected, "{variant} {rule} {figure:?}");
        assert_eq!(row.values[1].standing == Verdict::Marked, !expected.is_empty());
        let elsewhere = find(&found.tolls, "odata-v2-json", 20, figure);
        assert!(elsewhere.values.iter().all(|value| value.standing == Verdict::Ok), "{elsewhere:?}");
    };
    for rule in ["steal", "stalls", "samples", "warm-up", "fresh-connections", "link"] {
        for figure in [Figure::UnitTime, Figure::SubjectCpu] {
            check("odata-v2-json", rule, figure, &[&format!("{rule}: 7 were seen")]);
            check("rest-json", rule, figure, &[&format!("{rule}: rest-json at 5: 7 were seen")]);
            check("odata-v2-atom", rule, figure, &[]);
        }
    }
    check("odata-v2-json", "rate-steal", Figure::UnitTime, &[]);
    check("odata-v2-json", "joint", Figure::UnitTime, &["joint: 7 were seen"]);
    check("rest-json", "different-host", Figure::UnitTime, &[]);
    check("odata-v2-json", "ranks", Figure::UnitTime, &[]);
}

#[test]
fn a_toll_of_which_the_ranks_say_something_else_is_marked_and_its_cell_is_not() {
    let (one, mut two) = (again(13, 1.0, 1.0), again(14, 1.0, 1.0));
    let is_meant =
        |toll: &&mut Toll| (toll.variant.as_str(), toll.level, toll.figure) == ("odata-v2-atom", 5, Figure::SubjectCpu);
    two.tolls.iter_mut().find(is_meant).unwrap().note = Some("they disagree".into());
    two.validity.push(doubt("odata-v2-atom", 5, "ranks"));
    let found = beside(&[&one, &two]);
    let value = &find(&found.tolls, "odata-v2-atom", 5, Figure::SubjectCpu).values[1];
    assert_eq!(value.standing, Verdict::Marked);
    assert_eq!(value.doubts, ["ranks: CPU time over rest-json: they disagree"]);
    assert_eq!(find(&found.tolls, "odata-v2-atom", 5, Figure::UnitTime).values[1].standing, Verdict::Ok);
    assert_eq!(find(&found.cells, "odata-v2-atom", 5, Figure::SubjectCpu).values[1].standing, Verdict::Ok);
}

#[test]
fn a_toll_that_drifts_is_marked_and_no_other_of_its_cell_nor_the_cell() {
    let (one, mut two) = (again(13, 1.0, 1.0), again(14, 1.0, 1.0));
    let reason = "CPU time over rest-json changed by +8 % from the first block to the last one (p = 0.0001)";
    let drift = Drift { change: 0.08, p: 0.0001 };
    let is_it =
        |toll: &&mut Toll| (toll.variant.as_str(), toll.level, toll.figure) == ("odata-v2-atom", 5, Figure::SubjectCpu);
    two.tolls.iter_mut().find(is_it).unwrap().drift = Some(drift);
    two.validity.push(Validity { reason: reason.into(), value: 0.08, ..doubt("odata-v2-atom", 5, "drift") });
    let found = beside(&[&one, &two]);
    let toll = |figure| &find(&found.tolls, "odata-v2-atom", 5, figure).values[1];
    assert_eq!(toll(Figure::SubjectCpu).doubts, [format!("drift: {reason}")]);
    assert_eq!((toll(Figure::SubjectCpu).standing, toll(Figure::UnitTime).standing), (Verdict::Marked, Verdict::Ok));
    assert_eq!(find(&found.cells, "odata-v2-atom", 5, Figure::SubjectCpu).values[1].standing, Verdict::Ok);
}

#[test]
fn response_times_of_a_marked_cell_are_marked() {
    let check = |rule: &str, verdict, expected: Verdict| {
        let (one, mut two) = (again(15, 1.0, 1.0), again(16, 1.0, 1.0));
        two.validity.push(Validity { verdict, ..doubt("odata-v2-json", 5, rule) });
        let found = beside(&[&one, &two]);
        let row = found.times.iter().find(|row| (row.variant.as_str(), row.level) == ("odata-v2-json", 5)).unwrap();
        assert_eq!((row.values[0].standing, row.values[1].standing), (Verdict::Ok, expected), "{rule}");
    };
    check("steal", Verdict::Marked, Verdict::Marked);
    check("few-rounds", Verdict::Marked, Verdict::Marked);
    check("errors", Verdict::Refused, Verdict::Refused);
    check("rate-steal", Verdict::Marked, Verdict::Ok);
    check("ranks", Verdict::Marked, Verdict::Ok);
}

/// Number of ratios with these verdicts, and the widths of their intervals.
fn seen(found: &Across, verdicts: &[TollVerdict]) -> (usize, Vec<f64>) {
    let ratios = || found.tolls.iter().flat_map(|row| &row.ratios).filter(|ratio| ratio.high > ratio.low);
    let count = ratios().filter(|ratio| verdicts.contains(&ratio.verdict)).count();
    (count, ratios().map(|ratio| (ratio.high / ratio.low).ln()).collect())
}

#[test]
fn no_difference_is_said_by_the_narrower_band_of_the_two_runs_whichever_of_them_has_it() {
    let (one, mut two) = (again(17, 1.0, 1.0), again(18, 1.0, 1.0));
    let is_no_toll = [TollVerdict::NoToll];
    two.settings.equivalence_share = 0.2;
    let (by_that_of_one, _) = seen(&beside(&[&one, &two]), &is_no_toll);
    two.settings.equivalence_share = 0.03;
    assert_eq!(seen(&beside(&[&one, &two]), &is_no_toll).0, by_that_of_one);
    let mut wide = one.clone();
    (wide.settings.equivalence_share, two.settings.equivalence_share) = (0.2, 0.2);
    assert!(seen(&beside(&[&wide, &two]), &is_no_toll).0 > by_that_of_one, "both take so much for nothing");
    two.settings.equivalence_share = 0.001;
    let found = beside(&[&wide, &two]);
    assert_eq!(seen(&found, &is_no_toll).0, 0);
    assert!(
        found.tolls.iter().flat_map(|row| &row.ratios).all(|ratio| (ratio.equivalence_share - 0.001).abs() < 1e-12)
    );
}

#[test]
fn where_either_run_looked_often_ratios_have_wider_intervals_and_are_harder_to_claim() {
    let (one, two) = (again(19, 1.0, 1.0), again(20, 1.0, 1.07));
    let often = |run: &RunResult| {
        let mut run = run.clone();
        run.settings.looks = Some(Looks { width: 0.02, done: 2, is_reached: true, alpha: 0.015 });
        run
    };
    let once = beside(&[&one, &two]);
    for runs in [[&often(&one), &two], [&one, &often(&two)]] {
        let found = beside(&runs);
        for (wide, narrow) in seen(&found, &[]).1.iter().zip(seen(&once, &[]).1) {
            assert!((1.15..1.35).contains(&(wide / narrow)), "{wide} {narrow}");
        }
        let pairs = found.cells.iter().zip(&once.cells).flat_map(|(row, once)| row.ratios.iter().zip(&once.ratios));
        assert!(pairs.clone().all(|(often, once)| often.p_adjusted >= once.p_adjusted));
        assert!(pairs.clone().any(|(often, once)| often.p_adjusted > once.p_adjusted));
        assert!(pairs.clone().all(|(often, _)| (often.confidence_share - 0.985).abs() < 1e-9));
    }
}

#[test]
fn only_what_differs_is_listed_and_lone_cells_are_told() {
    let (one, mut two) = (again(8, 1.0, 1.0), again(9, 1.0, 1.0));
    two.machine.cpu = "another".into();
    two.settings.slice_ms = 100.0;
    two.experiment.variants[1].subject = "http://there.example/".into();
    two.experiment.variants.pop();
    two.cells.retain(|cell| cell.variant != "rest-xml-padded" && cell.level != 10);
    let found = beside(&[&one, &two]);
    let names: Vec<&str> = found.settings.iter().map(|setting| setting.name.as_str()).collect();
    assert_eq!(names, ["machine: cpu", "seed", "slice ms", "variants", "variant odata-v2-atom: subject"]);
    assert_eq!(found.settings[2].values, [Some("250".to_owned()), Some("100".to_owned())]);
    assert_eq!(found.lone.len(), 6 + 3);
    assert!(found.lone.iter().all(|lone| lone.run == 1));
    assert!(found.cells.iter().all(|row| row.level != 10 && row.variant != "rest-xml-padded"));
    assert!(beside(&[&one, &one]).settings.is_empty());
}

#[test]
fn how_long_a_link_was_found_to_be_is_no_difference_but_how_long_it_was_asked_to_be_is() {
    let over = |asked_ms: f64, found_ms: f64| {
        let mut run = again(10, 1.0, 1.0);
        run.settings.network =
            format!("loopback, and a link of {asked_ms} ms round trip, measured {found_ms} ms before");
        run
    };
    let settings = |one: &RunResult, two: &RunResult| {
        let found = beside(&[one, two]);
        found.settings.into_iter().map(|setting| setting.values[1].clone().unwrap()).collect::<Vec<_>>()
    };
    assert!(settings(&over(20.0, 20.117), &over(20.0, 20.088)).is_empty());
    assert_eq!(settings(&over(20.0, 20.1), &over(5.0, 5.1)), ["loopback, and a link of 5 ms round trip"]);
}

#[test]
fn levels_with_names_are_the_same_where_their_names_are() {
    let one = fixture::encryption();
    let mut two = one.clone();
    two.experiment.named_levels.swap(0, 1);
    let (a, b) = (two.experiment.named_levels[0].level, two.experiment.named_levels[1].level);
    (two.experiment.named_levels[0].level, two.experiment.named_levels[1].level) = (b, a);
    two.experiment.named_levels.iter_mut().find(|level| level.level == a).unwrap().title = "another way".into();
    let found = beside(&[&one, &two]);
    let kept = one.experiment.level_title(a);
    assert!(found.cells.iter().any(|row| row.level_title == kept));
    assert!(found.lone.iter().any(|lone| lone.run == 2 && lone.level_title == "another way"), "{:?}", found.lone);
}

#[test]
fn runs_of_different_experiments_are_refused_by_both_names() {
    let (one, two) = (fixture::protocol(), fixture::encryption());
    let named = [Named { name: "runs/a", run: &one }, Named { name: "runs/b", run: &two }];
    let message = across(&named).unwrap_err().to_string();
    assert!(message.contains("runs/a is of `protocol`") && message.contains("runs/b of `encryption`"), "{message}");
    assert_eq!(across(&named[..1]).unwrap_err().to_string(), "1 runs: expected from 2 to 8");
    assert_eq!(across(&[named[0]; RUNS_MAX + 1]), Err(AcrossError::Count(RUNS_MAX + 1)));
    assert!(across(&[named[0]; RUNS_MAX]).is_ok());
}

#[test]
fn figures_of_inserts_stand_side_by_side_too() {
    let run = fixture::batching(&[20, 100]);
    let found = beside(&[&run, &run]);
    assert!(found.cells.iter().any(|row| row.figure == Figure::UnitTime && row.ratios.len() == 1));
    assert!(found.settings.is_empty() && found.lone.is_empty());
}
