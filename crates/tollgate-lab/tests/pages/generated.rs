//! No result, however odd, makes a reporter panic or the page malformed: a property over generated runs.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use tollgate_facts::fixture;
use tollgate_facts::results::*;
use tollgate_report::{Colour, REPORTERS, RenderOptions, render};

/// Numbers as measurements may have them, and as they never should.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => 0.0..1e6,
        2 => 1e-9..1.0,
        1 => Just(0.0),
        1 => prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(f64::MAX),
            Just(f64::MIN_POSITIVE),
            Just(-1.0)
        ],
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("rest-json".to_owned()), "[a-c]", "\\PC{0,40}", any::<String>()]
}

fn level() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), Just(20), 0..3_u64, any::<u64>()]
}

fn estimate() -> impl Strategy<Value = Estimate> {
    (number(), number(), number(), 0..3_u32).prop_map(|(mean, low, high, n)| Estimate { mean, low, high, n })
}

fn cell() -> impl Strategy<Value = Cell> {
    let curve = proptest::collection::vec((0.0..1.01, number()), 0..5);
    let errors = proptest::collection::btree_map(name(), 0..9_u64, 0..3);
    (name(), level(), estimate(), estimate(), proptest::option::of(number()), curve, errors, any::<bool>()).prop_map(
        |(variant, level, rate, time, p50, curve, errors, watched)| {
            let times = Percentiles { mean: time.mean, p50, p90: p50, p95: None, p99: p50, p999: p50, max: rate.mean };
            let subject = watched.then(|| SubjectUse { cpu_us_per_request: rate, ..SubjectUse::default() });
            let error_examples: BTreeMap<String, String> =
                errors.keys().map(|key| (key.clone(), key.clone())).collect();
            Cell {
                requests_per_second: rate,
                unit_time_ms: time,
                response_time_ms: times,
                bytes_per_unit: rate.high,
                curve,
                errors,
                error_examples,
                subject,
                occupancy: (watched && level > 20).then(|| Occupancy {
                    value: time.low,
                    busy_mean: rate.low,
                    work_processes: rate.high,
                    look_cpu_us: Some(time.high),
                    ..Occupancy::default()
                }),
                ..fixture::cell(&variant, level)
            }
        },
    )
}

/// What of a run only inserts have.
fn inserts() -> impl Strategy<Value = (Vec<Gap>, Vec<Fit>, Vec<Option<Inserting>>, Option<Inserted>)> {
    let kind = proptest::sample::select(vec![GapKind::ErrorOnset, GapKind::AfterOnset, GapKind::TooLong]);
    let gap = (name(), level(), kind, any::<String>()).prop_map(|(variant, level, kind, reason)| Gap {
        variant,
        level,
        kind,
        reason,
    });
    let fit = (name(), estimate(), number(), proptest::option::of(any::<String>())).prop_map(
        |(variant, estimate, residual_share, doubt)| Fit {
            variant,
            fixed_ms: estimate,
            per_record_ms: estimate,
            marks: Vec::new(),
            residual_share,
            level_min: 5,
            level_max: 20,
            doubt,
        },
    );
    let mode = proptest::sample::select(vec!["sequential", "custom-rest", "batch-100", "parallel-500", "", "-", "ü"]);
    let inserting =
        (mode, 0..600_u32, proptest::option::of(0..200_u64)).prop_map(|(mode, connections, records_per_request)| {
            Some(Inserting { mode: mode.to_owned(), connections, records_per_request })
        });
    let inserted = estimate().prop_map(|estimate| Inserted {
        ms_per_record: estimate,
        subject_cpu_us_per_record: Some(estimate),
        subject_instructions_per_record: Some(estimate),
        work_processes_busy_max: Some(estimate.low),
        ..Inserted::default()
    });
    (
        proptest::collection::vec(gap, 0..4),
        proptest::collection::vec(fit, 0..3),
        proptest::collection::vec(inserting, 4),
        proptest::option::of(inserted),
    )
}

fn toll() -> impl Strategy<Value = Toll> {
    use TollVerdict::{Cheaper, Dearer, Joint, NoToll, Refused, Unclear, Unconfirmed};
    let verdict = proptest::sample::select(vec![Dearer, Cheaper, NoToll, Unconfirmed, Unclear, Joint, Refused]);
    let figure = proptest::sample::select(tollgate_facts::toll::FIGURES.to_vec());
    (name(), name(), level(), figure, number(), number(), number(), verdict).prop_map(
        |(variant, baseline, level, figure, ratio, low, high, verdict)| Toll {
            variant,
            baseline,
            level,
            figure,
            ratio,
            low,
            high,
            difference: low - high,
            difference_low: -high,
            difference_high: low,
            unit: figure.unit().to_owned(),
            blocks: 3,
            p_adjusted: low,
            verdict,
            note: None,
            by_ranks: None,
            between_starts: None,
            drift: None,
            theft: None,
        },
    )
}

fn series() -> impl Strategy<Value = Series> {
    let names = vec!["subject-cpu-share", "subject-resident-memory", "work-processes-busy", "work-processes-waiting"];
    (name(), level(), proptest::sample::select(names), proptest::collection::vec((number(), number()), 0..20)).prop_map(
        |(variant, level, name, points)| Series { variant, level, name: name.into(), unit: "bytes".into(), points },
    )
}

fn doubt() -> impl Strategy<Value = Validity> {
    let verdict = proptest::sample::select(vec![Verdict::Ok, Verdict::Marked, Verdict::Refused]);
    (name(), level(), name(), verdict, number()).prop_map(|(variant, level, rule, verdict, value)| Validity {
        variant,
        level,
        remedy: rule.clone(),
        reason: rule.clone(),
        rule,
        verdict,
        value,
        bound: value,
    })
}

/// What a run about encryption holds beyond others: distributions, messages, speeds and what peers took.
fn secured() -> impl Strategy<Value = (Option<(Linear, Flow, CryptoSpeed)>, Vec<Comparison>)> {
    let linear = (number(), proptest::collection::vec(any::<u64>(), 0..40), any::<u64>()).prop_map(
        |(bin_ms, counts, overflow)| Linear {
            bin_ms,
            counts,
            overflow,
            overflow_from_ms: bin_ms,
            share_over_200_ms: bin_ms,
        },
    );
    let side = proptest::sample::select(vec![FlowSide::Client, FlowSide::Server]);
    let step = (side, any::<String>(), number(), any::<u64>()).prop_map(|(from, what, at_us, bytes)| FlowStep {
        from,
        what,
        at_us,
        bytes,
    });
    let flow = (name(), level(), proptest::collection::vec(step, 0..5)).prop_map(|(title, level, steps)| Flow {
        title,
        level,
        encryption: Encryption::Full,
        steps,
        n: 3,
    });
    let speed = (name(), number()).prop_map(|(algorithm, value)| CryptoSpeed {
        operation: algorithm.clone(),
        unit: algorithm.clone(),
        algorithm,
        value,
        estimate: Some(Estimate { mean: value, low: -value, high: value, n: 2 }),
        slice_ms: value,
    });
    let comparison = (toll(), name()).prop_map(|(toll, peer)| Comparison {
        variant: toll.variant,
        peer,
        against: toll.baseline,
        level: toll.level,
        figure: toll.figure,
        ratio: toll.ratio,
        low: toll.low,
        high: toll.high,
        blocks: 3,
        p_adjusted: toll.low,
        verdict: toll.verdict,
        note: None,
        between_starts: None,
    });
    (proptest::option::of((linear, flow, speed)), proptest::collection::vec(comparison, 0..5))
}

fn run() -> impl Strategy<Value = RunResult> {
    static BASE: OnceLock<RunResult> = OnceLock::new();
    let variants = proptest::collection::vec((name(), proptest::option::of(name())), 0..4);
    let vectors = (
        proptest::collection::vec(level(), 0..4),
        proptest::collection::vec(cell(), 0..6),
        proptest::collection::vec(toll(), 0..6),
        proptest::collection::vec(series(), 0..4),
        proptest::collection::vec(doubt(), 0..4),
    );
    (variants, vectors, any::<String>(), inserts(), secured()).prop_map(
        |(variants, vectors, text, inserts, secured)| {
            let (levels, cells, tolls, series, validity) = vectors;
            let (gaps, fits, inserting, inserted) = inserts;
            let mut run = BASE.get_or_init(fixture::empty).clone();
            run.experiment.variants = variants
                .into_iter()
                .map(|(name, baseline)| Variant {
                    title: name.clone(),
                    subject: name.clone(),
                    name,
                    baseline,
                    inserting: None,
                    distance: Distance::Local,
                    peer: None,
                    connecting: None,
                    backend: None,
                    model: None,
                    first_answers: None,
                })
                .collect();
            run.experiment.unit_of_work.clone_from(&text);
            run.experiment.factor_unit.clone_from(&text);
            run.started.clone_from(&text);
            run.command = vec![text];
            run.experiment.levels = levels;
            run.cells = cells;
            run.tolls = tolls;
            run.series = series;
            run.validity = validity;
            if inserted.is_some() {
                run.experiment.piece = Piece::Record;
                run.experiment.published_table = Some("cap-ms-per-record".to_owned());
                for (index, variant) in run.experiment.variants.iter_mut().enumerate() {
                    variant.inserting = inserting.get(index).cloned().flatten();
                    variant.distance = if index % 2 == 0 { Distance::Local } else { Distance::Remote };
                }
                run.cells.iter_mut().for_each(|cell| cell.inserted = inserted);
            }
            (run.gaps, run.fits) = (gaps, fits);
            let (secured, comparisons) = secured;
            run.comparisons = comparisons;
            if let Some((linear, flow, speed)) = secured {
                let connecting = Connecting { requests_per_connection: Some(1), encryption: Encryption::Full };
                run.experiment.variants.iter_mut().for_each(|variant| variant.connecting = Some(connecting));
                run.cells.iter_mut().for_each(|cell| cell.linear = Some(linear.clone()));
                (run.flows, run.crypto) = (vec![flow], vec![speed]);
            }
            run
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_result_makes_a_reporter_panic_or_the_page_malformed(run in run(), width in 0..200_usize) {
        for reporter in REPORTERS {
            let options = RenderOptions { colour: Colour::Plain, width };
            let text = render(reporter.name, &run, tollgate_lab::page, &options);
            if ["html", "junit"].contains(&reporter.name) {
                let mut reader = quick_xml::Reader::from_str(&text);
                loop {
                    match reader.read_event() {
                        Ok(quick_xml::events::Event::Eof) => break,
                        Ok(_) => {}
                        Err(error) => prop_assert!(false, "{error} at {}", reader.buffer_position()),
                    }
                }
            }
        }
    }
}
