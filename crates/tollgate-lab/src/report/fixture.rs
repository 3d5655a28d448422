//! A run of `protocol` as it may come out, and its awkward relatives, for tests and for looking at the pictures.
//!
//! The figures are invented, but plausible; trials carry noise from a fixed seed and tolls are computed from them.

use crate::results::*;
use crate::stats::{self, synthetic::Noise};
use crate::toll;
use std::collections::BTreeMap;

mod batching;
mod distance;
mod encryption;
mod ladder;
mod mediation;
#[cfg(test)]
pub(crate) use batching::batching_whole;
pub(crate) use batching::{batching, beside_a_peer};
pub(crate) use distance::distance;
pub(crate) use encryption::{encryption, encryption_afar};
pub(crate) use ladder::ladder;
pub(crate) use mediation::mediation;

const REQUESTS_PER_PASS: u64 = 401;

/// Name, title, time of one request at one user, CPU time of one request, bytes of a pass.
const VARIANTS: [(&str, &str, f64, f64, f64); 6] = [
    ("rest-json", "plain REST, JSON", 47.0, 11.8, 421_830.0),
    ("odata-v2-atom", "OData V2, Atom", 62.0, 21.4, 1_183_204.0),
    ("odata-v2-json", "OData V2, verbose JSON", 54.5, 15.9, 712_415.0),
    ("odata-v4-json", "OData V4, JSON, minimal metadata", 49.0, 12.6, 455_120.0),
    ("odata-v4-json-full", "OData V4, JSON, full metadata", 52.0, 14.8, 598_766.0),
    ("rest-xml-padded", "plain XML of Atom's size", 55.5, 16.7, 1_179_003.0),
];

/// The run as it should be: six variants, four levels, some marks.
pub(crate) fn protocol() -> RunResult {
    let experiment = Experiment {
        name: "protocol".into(),
        question: "What does OData cost over plain REST?".into(),
        factor: "concurrency".into(),
        factor_unit: "users".into(),
        levels: vec![1, 5, 10, 20],
        named_levels: Vec::new(),
        users: None,
        variants: VARIANTS
            .iter()
            .enumerate()
            .map(|(index, (name, title, ..))| Variant {
                name: (*name).into(),
                title: (*title).into(),
                baseline: (index > 0).then(|| VARIANTS[0].0.to_owned()),
                subject: "built-in: tollgate serve".into(),
                inserting: None,
                distance: Distance::Local,
                peer: None,
                connecting: None,
                backend: None,
            })
            .collect(),
        unit_of_work: "pass of 401 requests".into(),
        piece: Piece::Request,
        published_table: None,
    };
    let trials = trials(&experiment, 16);
    let cells: Vec<Cell> = experiment
        .levels
        .iter()
        .flat_map(|level| VARIANTS.iter().map(|variant| measured(variant, *level, &trials)))
        .collect();
    let validity = validity();
    let tolls = toll::compute(
        &experiment,
        &toll::Findings {
            trials: &trials,
            cells: &cells,
            validity: &validity,
            gaps: &[],
            looking: crate::stats::sequential::Looking::Once,
            equivalence_share: toll::NO_TOLL_BAND,
        },
    );
    let series = series(&trials);
    RunResult {
        format: FORMAT,
        experiment,
        version: "0.1.0".into(),
        started: "2026-03-14T09:26:53Z".into(),
        finished: Some("2026-03-14T09:28:41Z".into()),
        state: State::Complete,
        reason: None,
        machine: Machine {
            cpu: "AMD EPYC 7B13".into(),
            cores: 2,
            memory_bytes: 8_345_120_768,
            system: "Debian GNU/Linux 12, Linux 6.18".into(),
            governor: None,
            virtualized: Some("kvm".into()),
        },
        command: ["tollgate", "run", "protocol"].map(String::from).to_vec(),
        seed: 20_110_601,
        settings: Settings {
            extent: "default".into(),
            blocks: 16,
            slice_ms: 250.0,
            generator_cores: vec![1],
            subject_cores: vec![0],
            starts: 3,
            network: "loopback".into(),
            equivalence_share: toll::NO_TOLL_BAND,
            insecure: false,
            content_checked_share: 1.0,
            round_trip_ms: None,
            cell_ms: None,
            looks: None,
        },
        cells,
        tolls,
        validity,
        trials,
        series,
        published: published(),
        gaps: Vec::new(),
        links: Vec::new(),
        peers: Vec::new(),
        comparisons: Vec::new(),
        thresholds: Vec::new(),
        fits: Vec::new(),
        flows: Vec::new(),
        round_trips: Vec::new(),
        crypto: Vec::new(),
        peaks: Vec::new(),
        scalings: Vec::new(),
        warm_ups: Vec::new(),
        distance: None,
    }
}

/// The run once more without doubts, everything `slower` times, and `odata-v2-atom` once more `dearer` times, with noise of
/// its own.
pub(crate) fn again(seed: u64, slower: f64, dearer: f64) -> RunResult {
    let mut run = protocol();
    let mut noise = Noise::of(seed);
    for trial in &mut run.trials {
        let own = if trial.variant == "odata-v2-atom" { dearer } else { 1.0 };
        let factor = slower * own;
        trial.subject_cpu_us = trial.subject_cpu_us.map(|us| us * factor * (0.02 * noise.normal()).exp());
        let wander = (0.03 * noise.normal()).exp();
        trial.unit_times_ms.iter_mut().for_each(|time| *time *= factor * wander);
    }
    for cell in &mut run.cells {
        let factor = slower * if cell.variant == "odata-v2-atom" { dearer } else { 1.0 };
        let cpu = cell.subject.as_mut().map(|subject| &mut subject.cpu_us_per_request);
        for estimate in [Some(&mut cell.unit_time_ms), cpu].into_iter().flatten() {
            for value in [&mut estimate.mean, &mut estimate.low, &mut estimate.high] {
                *value *= factor;
            }
        }
    }
    run.seed = seed;
    run.validity.clear();
    run.tolls = toll::compute(&run.experiment, &toll::Findings::of(&run));
    run
}

/// Stopped in its second level: some cells are missing, one has a single block.
pub(crate) fn partial() -> RunResult {
    let mut run = protocol();
    run.state = State::Partial;
    run.reason = Some("the subject of odata-v2-json ended with signal 9 in block 3".into());
    run.finished = Some("2026-03-14T09:27:20Z".into());
    run.trials.retain(|trial| trial.level == 1 || (trial.level == 5 && trial.block < 1));
    run.cells.retain(|cell| cell.level == 1 || (cell.level == 5 && cell.variant != "odata-v4-json"));
    run.series.retain(|series| series.level == 5);
    run.validity.retain(|doubt| doubt.level <= 5);
    for cell in run.cells.iter_mut().filter(|cell| cell.level == 5) {
        cell.rounds = 1;
        for estimate in [&mut cell.requests_per_second, &mut cell.unit_time_ms] {
            *estimate = Estimate { n: 1, low: estimate.mean, high: estimate.mean, ..*estimate };
        }
        cell.response_time_ms.p99 = None;
    }
    run.tolls = toll::compute(&run.experiment, &toll::Findings::of(&run));
    run
}

/// Long and hostile names, errors, missing values, zero series, tolls of a thousand, a variant without any cell.
pub(crate) fn extreme() -> RunResult {
    let mut run = protocol();
    let long = "a-variant-whose-name-is-far-longer-than-any-column-of-the-table-would-like-it-to-be";
    let hostile = "<script>alert(\"x\")</script>&'|,=1+1";
    let rename = |name: &mut String| match name.as_str() {
        "odata-v2-atom" => *name = long.into(),
        "odata-v2-json" => *name = hostile.into(),
        _ => {}
    };
    run.experiment.question = "What does <b>a hostile</b> & \"quoted\" name do | to a table?".into();
    run.experiment.variants.iter_mut().for_each(|variant| rename(&mut variant.name));
    run.experiment.variants.push(Variant {
        name: "never-measured".into(),
        title: "its subject did not start".into(),
        baseline: Some("rest-json".into()),
        subject: "https://example.test/".into(),
        inserting: None,
        distance: Distance::Local,
        peer: None,
        connecting: None,
        backend: None,
    });
    run.cells.iter_mut().for_each(|cell| rename(&mut cell.variant));
    run.trials.iter_mut().for_each(|trial| rename(&mut trial.variant));
    run.series.iter_mut().for_each(|series| rename(&mut series.variant));
    for cell in run.cells.iter_mut().filter(|cell| cell.variant == hostile) {
        cell.errors = BTreeMap::from([("status-503".into(), 1234), ("reset".into(), 1)]);
        cell.error_examples =
            BTreeMap::from([("status-503".into(), "503 <Service> \"Unavailable\",\n Retry-After: 1".into())]);
        cell.subject = None;
        cell.response_time_ms = Percentiles { mean: 0.9, max: 60_000.0, ..Percentiles::default() };
        cell.curve.clear();
    }
    for trial in run.trials.iter_mut().filter(|trial| trial.variant == hostile) {
        trial.errors = 7;
        trial.subject_cpu_us = None;
    }
    for trial in run.trials.iter_mut().filter(|trial| trial.variant == long) {
        trial.unit_times_ms.iter_mut().for_each(|time| *time *= 1000.0);
        trial.duration_ms *= 1000.0;
    }
    for cell in run.cells.iter_mut().filter(|cell| cell.variant == long) {
        for value in [&mut cell.unit_time_ms.mean, &mut cell.unit_time_ms.low, &mut cell.unit_time_ms.high] {
            *value *= 1000.0;
        }
        cell.requests_per_second = Estimate { mean: 0.4, low: 0.0, high: 0.9, n: 16 };
    }
    run.series.iter_mut().for_each(|series| series.points.iter_mut().for_each(|point| point.1 = 0.0));
    run.validity = vec![
        Validity {
            variant: hostile.into(),
            level: 20,
            rule: "errors".into(),
            verdict: Verdict::Refused,
            reason: "3.7 % of requests failed, most by status-503: \"<queue full>\"".into(),
            remedy: "raise the limit `work_processes.waiting_max`, or load less".into(),
            value: 0.037,
            bound: 0.001,
        },
        Validity {
            variant: "rest-json".into(),
            level: 1,
            rule: "stalls".into(),
            verdict: Verdict::Marked,
            reason: "the generator's heartbeat was 12 ms late at p99.9".into(),
            remedy: "stop what else runs on this machine".into(),
            value: 12.0,
            bound: 1.0,
        },
    ];
    run.tolls = toll::compute(&run.experiment, &toll::Findings::of(&run));
    run
}

/// Nothing was measured at all.
pub(crate) fn empty() -> RunResult {
    let mut run = protocol();
    run.state = State::Running;
    run.finished = None;
    run.experiment.variants.clear();
    run.experiment.levels.clear();
    run.cells.clear();
    run.tolls.clear();
    run.validity.clear();
    run.trials.clear();
    run.series.clear();
    run.published.clear();
    run.command.clear();
    run.machine = Machine::default();
    run
}

/// A finding of a rule about a cell.
pub(crate) fn doubt(variant: &str, level: u64, rule: &str, verdict: Verdict) -> Validity {
    Validity {
        variant: variant.into(),
        level,
        rule: rule.into(),
        verdict,
        reason: "7 found".into(),
        remedy: "mend it".into(),
        value: 7.0,
        bound: 1.0,
    }
}

/// What a reader sees of a run in each form, without the marks of its layout: the form and the words.
pub(crate) fn shown(run: &RunResult) -> [(&'static str, String); 3] {
    ["terminal", "markdown", "html"].map(|name| {
        let mut out = Vec::new();
        let options = crate::report::RenderOptions { width: 400, ..Default::default() };
        crate::report::render(name, run, &mut out, &options).unwrap();
        let text = String::from_utf8(out).unwrap();
        let text = match name {
            "html" => text
                .split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
                .collect::<Vec<_>>()
                .join(" "),
            _ => text.replace('\\', "").replace('|', " "),
        };
        (name, text.split_whitespace().collect::<Vec<_>>().join(" "))
    })
}

/// A cell with nothing special.
pub(crate) fn cell(variant: &str, level: u64) -> Cell {
    Cell {
        variant: variant.into(),
        level,
        rounds: 8,
        trials: 16,
        requests: 10_000,
        errors: BTreeMap::new(),
        error_examples: BTreeMap::new(),
        requests_per_second: Estimate::default(),
        unit_time_ms: Estimate::default(),
        response_time_ms: Percentiles::default(),
        service_time_ms: Percentiles::default(),
        curve: Vec::new(),
        bytes_received: 0,
        bytes_sent: 0,
        bytes_per_unit: 0.0,
        list_bytes: None,
        detail_bytes: None,
        connections: 1,
        subject: None,
        generator: GeneratorUse::default(),
        inserted: None,
        connected: None,
        linear: None,
        equal_rate: None,
        backend: None,
        occupancy: None,
        played: None,
        tcp: None,
        batch: None,
    }
}

/// Time of a pass: users share it until the subject's one core is busy.
fn pass_ms(request_us: f64, cpu_us: f64, level: u64) -> f64 {
    let waiting = request_us / level as f64;
    let floor = cpu_us * 1.06;
    (waiting.powi(6) + floor.powi(6)).powf(1.0 / 6.0) * REQUESTS_PER_PASS as f64 / 1000.0
}

fn trials(experiment: &Experiment, blocks: u32) -> Vec<Trial> {
    let mut noise = Noise::of(42);
    let mut trials = Vec::new();
    let (mut now_ms, mut wander) = (2_100.0, 0.0);
    for &level in &experiment.levels {
        for block in 0..blocks {
            let forth = 0..VARIANTS.len();
            let back = (0..VARIANTS.len()).rev();
            for (place, index) in forth.chain(back).enumerate() {
                let (name, _, request_us, cpu_us, bytes) = VARIANTS[index];
                wander = 0.5 * wander + 0.04 * noise.normal();
                let typical = pass_ms(request_us, cpu_us, level) * f64::exp(wander);
                let units = (250.0 / typical).ceil().max(1.0) as usize;
                let unit_times_ms: Vec<f64> = (0..units).map(|_| typical * (0.03 * noise.normal()).exp()).collect();
                let duration_ms: f64 = unit_times_ms.iter().sum();
                let requests = units as u64 * REQUESTS_PER_PASS;
                trials.push(Trial {
                    variant: name.into(),
                    level,
                    start: 0,
                    block,
                    place: place as u32,
                    start_ms: now_ms,
                    duration_ms,
                    units: units as u64,
                    requests,
                    records: 0,
                    errors: 0,
                    bytes_received: bytes as u64 * units as u64,
                    bytes_sent: 48_120 * units as u64,
                    response_time_mean_ms: duration_ms * level as f64 / requests as f64,
                    subject_cpu_us: Some(cpu_us * f64::exp(wander / 2.0 + 0.01 * noise.normal()) * requests as f64),
                    backend_cpu_us: None,
                    batch: None,
                    generator_cpu_us: 7.1 * requests as f64,
                    generator_busiest_cpu_us: 7.1 * requests as f64,
                    generator_run_queue_us: 0.004 * duration_ms * 1000.0,
                    unit_times_ms,
                });
                now_ms += duration_ms + 4.0;
            }
        }
    }
    trials
}

fn measured(variant: &(&str, &str, f64, f64, f64), level: u64, trials: &[Trial]) -> Cell {
    let (name, _, request_us, cpu_us, bytes) = *variant;
    let own: Vec<&Trial> = trials.iter().filter(|trial| trial.variant == name && trial.level == level).collect();
    let blocks: Vec<u32> = (0..16).collect();
    let by_block = |value: &dyn Fn(&Trial) -> f64| -> Vec<f64> {
        blocks
            .iter()
            .filter_map(|block| {
                let values: Vec<f64> =
                    own.iter().filter(|trial| trial.block == *block).map(|trial| value(trial)).collect();
                stats::mean(&values)
            })
            .collect()
    };
    let requests: u64 = own.iter().map(|trial| trial.requests).sum();
    let mean_ms = pass_ms(request_us, cpu_us, level) / REQUESTS_PER_PASS as f64 * level as f64;
    let quantile = |q: f64| mean_ms * (0.78 + 0.085 * -(1.0 - q).ln() + 0.0009 * (-(1.0 - q).ln()).powi(4));
    let curve = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999]
        .map(|q| (q, quantile(q)))
        .to_vec();
    let times = Percentiles {
        mean: mean_ms,
        p50: Some(quantile(0.5)),
        p90: Some(quantile(0.9)),
        p95: Some(quantile(0.95)),
        p99: Some(quantile(0.99)),
        p999: (level != 1).then(|| quantile(0.999)),
        max: quantile(0.99999) * 1.7,
    };
    Cell {
        rounds: 16,
        trials: 32,
        requests,
        requests_per_second: stats::estimate(&by_block(&|trial| trial.requests as f64 / trial.duration_ms * 1000.0)),
        unit_time_ms: stats::estimate(&by_block(&|trial| stats::mean(&trial.unit_times_ms).unwrap())),
        response_time_ms: times,
        service_time_ms: times,
        curve,
        bytes_received: own.iter().map(|trial| trial.bytes_received).sum(),
        bytes_sent: own.iter().map(|trial| trial.bytes_sent).sum(),
        bytes_per_unit: bytes,
        list_bytes: Some(bytes * 0.3),
        detail_bytes: Some(bytes * 0.7 / 400.0),
        connections: level * 3,
        subject: Some(SubjectUse {
            cpu_us_per_request: stats::estimate(&by_block(&|trial| {
                trial.subject_cpu_us.unwrap() / trial.requests as f64
            })),
            cpu_share: (cpu_us / (mean_ms * 1000.0 / level as f64)).min(0.99),
            resident_memory_bytes_max: 17_400_000 + level * 21_000 + bytes as u64 / 4,
            resident_memory_bytes_mean: None,
            threads_max: 3,
        }),
        generator: GeneratorUse {
            cpu_share: (7.1 / (mean_ms * 1000.0 / level as f64)).min(0.99),
            cpu_us_per_request: 7.1,
            run_queue_share: 0.004,
            stalls_ms: Percentiles::default(),
        },
        ..cell(name, level)
    }
}

fn validity() -> Vec<Validity> {
    let doubt = |variant: &str, level, rule: &str, reason: &str, remedy: &str, value, bound| Validity {
        variant: variant.into(),
        level,
        rule: rule.into(),
        verdict: Verdict::Marked,
        reason: reason.into(),
        remedy: remedy.into(),
        value,
        bound,
    };
    let saturated = "give the generator more cores, or read the CPU toll";
    vec![
        doubt(
            "odata-v4-json",
            20,
            "client-saturation",
            "the generator's busiest thread used 84 % of a core (bound 80 %)",
            saturated,
            0.84,
            0.8,
        ),
        doubt(
            "odata-v2-json",
            20,
            "steal",
            "the hypervisor took 2.3 % of the CPU time (bound 1 %)",
            "run it on a machine of its own, or when the neighbours are quiet",
            0.023,
            0.01,
        ),
        doubt(
            "rest-json",
            1,
            "too-few-samples",
            "p99.9 needs 30,000 requests, there were 26,466",
            "take more blocks: --full",
            26_466.0,
            30_000.0,
        ),
    ]
}

fn series(trials: &[Trial]) -> Vec<Series> {
    let mut noise = Noise::of(7);
    let mut all = Vec::new();
    for level in [1, 20] {
        for (name, _, request_us, cpu_us, bytes) in VARIANTS {
            let own: Vec<&Trial> =
                trials.iter().filter(|trial| trial.variant == name && trial.level == level).collect();
            let mut points = |value: &mut dyn FnMut(&mut Noise) -> f64| -> Vec<(f64, f64)> {
                own.iter()
                    .flat_map(|trial| (0..5).map(move |step| trial.start_ms + f64::from(step) * 50.0))
                    .map(|at_ms| (at_ms, value(&mut noise)))
                    .collect()
            };
            let share = cpu_us * REQUESTS_PER_PASS as f64 / 1000.0 / pass_ms(request_us, cpu_us, level);
            let mut memory = 16_900_000.0 + bytes / 4.0;
            let cpu = points(&mut |noise| (share * (1.0 + 0.03 * noise.normal())).clamp(0.0, 1.0));
            let resident = points(&mut |noise| {
                memory += 4096.0 * (noise.uniform() * 2.0).floor();
                memory
            });
            let busy = points(&mut |noise| f64::from(u8::from(noise.uniform() < share)));
            let waiting = points(&mut |noise| (noise.uniform() * level as f64 * share).floor());
            for (what, unit, points) in [
                ("subject-cpu-share", "cores", cpu),
                ("subject-resident-memory", "bytes", resident),
                ("work-processes-busy", "processes", busy),
                ("work-processes-waiting", "requests", waiting),
            ] {
                all.push(Series { variant: name.into(), level, name: what.into(), unit: unit.into(), points });
            }
        }
    }
    all
}

fn published() -> Vec<Published> {
    [
        ("SAP Gateway, Atom", "odata-v2-atom", 1, 38.0),
        ("SAP Gateway, Atom", "odata-v2-atom", 20, 32.0),
        ("Jersey, JSON", "rest-json", 1, 34.5),
        ("Jersey, JSON", "rest-json", 20, 10.0),
    ]
    .into_iter()
    .map(|(subject, variant, level, value)| Published {
        source: "a vendor's blog post of 2012, JMeter".into(),
        subject: subject.into(),
        variant: Some(variant.into()),
        level: Some(level),
        figure: "pass time".into(),
        value,
        unit: "s".into(),
        note: (level == 20).then(|| "untuned, in the sdata mode; four failed requests left out".into()),
    })
    .collect()
}
