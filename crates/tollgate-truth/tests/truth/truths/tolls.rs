//! Tolls of whole comparisons: one that is there is within its interval as often as the interval says, one that is not is
//! seen as rarely.

use std::time::Duration;

use tollgate_facts::results::{Figure, RunResult, Toll, TollVerdict, Trial};
use tollgate_facts::toll::compute;
use tollgate_lab::experiment::Connections;
use tollgate_lab::run::Ending;

use super::{Table, median, runs};
use crate::bare::{bare_times, percentile_ms};
use crate::run::{PASS_REQUESTS, dearer_us, experiment_of, measure};
use crate::server::{TruthServer, truth_server};

/// Blocks of a comparison, as in a quick run.
const BLOCKS: u32 = 8;
/// Comparisons that one run is divided into: it stores all of its trials after each, which takes longer the more there are,
/// and each run has a warm-up of 2 s.
const OF_A_RUN: u32 = 5;
const SLICE_MS: u32 = 5;
/// Slice of the bare users of a run, which take turns; each begins when its connection has been open for a moment.
const WAY_SLICE: Duration = Duration::from_millis(250);
const RAMP_UP: Duration = Duration::from_millis(20);
/// Last digits of the seed of the bare users' requests, which differs from the trials' seed.
const BARE_SEEDS: &str = "000";
/// Burn of every request. It lets the client wait longer than what a host keeps a core awake for (some 200 us): were
/// one of two classes shorter, waking the client would be much dearer after the other. The way is longer after the
/// longer wait even so, by some 5 us of 50, which bare sockets see too.
const BURNED_US: u32 = 400;

/// Each comparison of its own trials.
fn comparisons(result: &RunResult) -> Vec<Vec<Toll>> {
    let parts = result.trials.iter().map(|trial| trial.block / BLOCKS + 1).max().unwrap_or(0);
    let of_part = |part: u32| {
        let is_of_part = |trial: &&Trial| trial.block / BLOCKS == part;
        let trials = result.trials.iter().filter(is_of_part).cloned().collect();
        let part = RunResult { trials, validity: Vec::new(), gaps: Vec::new(), ..result.clone() };
        compute(&part)
    };
    (0..parts).map(of_part).collect()
}

/// Most comparisons at 5 % that may leave out the truth: 7 % of 400, and of fewer as many as chance does but once in a
/// hundred.
fn missed_most(runs: u32) -> u32 {
    let expected = f64::from(runs) * 0.05;
    let by_chance = (expected + 2.3 * (expected * 0.95).sqrt()).floor() as u32;
    if runs < 400 { by_chance } else { runs * 7 / 100 }
}

/// Extra time of a request of the second class over one of the first, in microseconds.
#[derive(Debug, Clone, Copy)]
struct Dearer {
    /// The intended burn, in the whole run.
    burned: f64,
    /// Time from arrival to departure by the server's own account, in the trials of the comparison: what was burned,
    /// and what the machine took meanwhile.
    served: f64,
    /// All that the server's thread used of its CPU in them: beside what is burned, a request that comes after a longer
    /// rest finds less of what it needs near the core.
    used: f64,
    /// The way to the server and back, by bare sockets after the run.
    way: f64,
}

/// Sums over requests in microseconds, and then the means.
#[derive(Debug, Clone, Copy, Default)]
struct Took {
    requests: f64,
    served: f64,
    used: f64,
}

/// A server half of whose connections take a tenth longer for life, twice.
const LOTTERY: [&str; 2] = ["constant-500,lottery-50", "constant-0500,lottery-050"];

/// Runs of a pair of classes until there are enough comparisons, each with the result of `of_run`. Each run has classes
/// of its own, so that the server counts them by themselves.
fn compared<T>(
    (classes, connections): ([&str; 2], Connections),
    table: &mut Table,
    of_run: impl Fn(&TruthServer, &RunResult, &[String; 2]) -> Vec<T>,
) -> Vec<(Vec<Toll>, T)> {
    let server = truth_server();
    table.calm.unit = "runs of 5 comparisons";
    let mut all = Vec::new();
    while (all.len() as u32) < runs() {
        let wanted = (runs() - all.len() as u32).min(OF_A_RUN);
        all.extend(table.calm.measure(|number| {
            let classes = classes.map(|class| format!("{class},seed-{number}"));
            let experiment = experiment_of(&server, (&classes[0], &classes[1]), SLICE_MS);
            let experiment = experiment.on_connections(connections).unwrap();
            let (outcome, _folder) = measure(&server, experiment, wanted * BLOCKS, &());
            assert_eq!(outcome.ending, Ending::Complete);
            let known = of_run(&server, &outcome.result, &classes);
            comparisons(&outcome.result).into_iter().zip(known).collect::<Vec<_>>()
        }));
    }
    all
}

/// The truth about each comparison of a run of a pair whose second is dearer by `asked_us`.
fn dearer(asked_us: u32, server: &TruthServer, result: &RunResult, classes: &[String; 2]) -> Vec<Dearer> {
    let burned = dearer_us(server, classes.each_ref().map(String::as_str), f64::from(asked_us));
    let [baseline, variant] = [("bottom", &classes[0]), ("top", &classes[1])]
        .map(|(name, class)| took(server, class, result.trials.iter().filter(|trial| trial.variant == name)));
    let way = way_dearer_us(server, classes);
    let of_pair = |(variant, baseline): (&Took, Took)| {
        let (served, used) = (variant.served - baseline.served, variant.used - baseline.used);
        Dearer { burned, served, used, way }
    };
    variant.iter().zip(baseline).map(of_pair).collect()
}

/// Mean times of a request of a class in each comparison of a run.
///
/// The trials are the last that the server saw of a class; before them there was the warm-up, in which a class is new
/// to it. One user asks, so that requests leave in the order in which they came.
fn took<'a>(server: &TruthServer, class: &str, trials: impl Iterator<Item = &'a Trial> + Clone) -> Vec<Took> {
    let (log, cpu_us) = (server.log(class), server.cpu_us(class));
    assert_eq!(log.len(), cpu_us.len(), "each request has its CPU time");
    let in_trials: u64 = trials.clone().map(|trial| trial.requests).sum();
    let mut place = log.len() - in_trials as usize;
    let mut all: Vec<Took> = Vec::new();
    for trial in trials {
        let of_trial = place..place + trial.requests as usize;
        place = of_trial.end;
        let logged = &log[of_trial.clone()];
        // Between two trials of a class there is one of the other, so that requests of two would take longer.
        let took_ms = (logged[logged.len() - 1].departure_ns - logged[0].arrival_ns) as f64 / 1e6;
        assert!(
            took_ms < trial.duration_ms + 1.0,
            "not the requests of a trial of {} ms: {took_ms} ms",
            trial.duration_ms
        );
        let comparison = (trial.block / BLOCKS) as usize;
        all.resize(all.len().max(comparison + 1), Took::default());
        let took = &mut all[comparison];
        took.requests += logged.len() as f64;
        took.served += logged.iter().map(|logged| logged.departure_ns - logged.arrival_ns).sum::<u64>() as f64 / 1e3;
        took.used += cpu_us[of_trial].iter().sum::<f64>();
    }
    all.iter_mut().for_each(|took| {
        took.used /= took.requests;
        took.served /= took.requests;
    });
    all
}

/// By how much the way of the second class is longer than that of the first, for one bare user and at the median.
fn way_dearer_us(server: &TruthServer, classes: &[String; 2]) -> f64 {
    let classes = classes.each_ref().map(|class| format!("{class}{BARE_SEEDS}"));
    let mut times: [Vec<u64>; 2] = Default::default();
    for place in [0, 1, 1, 0] {
        times[place].extend(bare_times(server, &classes[place], 1, (RAMP_UP, WAY_SLICE)));
    }
    let [baseline, variant] = [0, 1].map(|place| {
        times[place].sort_unstable();
        percentile_ms(&times[place], 0.5) - server.did(&classes[place]).service_ms("p50")
    });
    (variant - baseline) * 1e3
}

/// The truth about a comparison, in the unit of a toll.
type Truth<'a> = &'a dyn Fn(&Dearer) -> f64;

/// The row of a figure: how often the toll's interval covers the truth, and how often it would cover others.
fn covered(
    table: &mut Table,
    (asked_us, all): (u32, &[(Vec<Toll>, Dearer)]),
    figure: Figure,
    truth: (&str, Truth<'_>),
    others: &[(&str, Truth<'_>)],
) {
    let count = all.len() as u32;
    let (name, truth) = truth;
    let of_figure = |toll: &&Toll| toll.figure == figure;
    let tolls: Vec<(&Toll, &Dearer)> =
        all.iter().filter_map(|(tolls, dearer)| Some((tolls.iter().find(of_figure)?, dearer))).collect();
    let covering = |truth: Truth<'_>| {
        let covers =
            |(toll, dearer): &&(&Toll, &Dearer)| (toll.difference_low..=toll.difference_high).contains(&truth(dearer));
        tolls.iter().filter(covers).count() as u32
    };
    let mean = |of: fn(&Toll) -> f64| {
        tolls.iter().map(|(toll, dearer)| of(toll) / truth(dearer)).sum::<f64>() / f64::from(count) * 100.0
    };
    let others: String = others.iter().map(|(name, truth)| format!(" ({name}: {})", covering(truth))).collect();
    let least = count - missed_most(count);
    table.row(
        format!("server B = A + {asked_us} us of busy CPU: {name}"),
        format!("the interval covers the truth in at least {least} of {count}"),
        format!(
            "{}{others}; the truth {:.3} {}; on average {:.1} % of it, half-width {:.1} %; seen dearer in {}",
            covering(truth),
            median(tolls.iter().map(|(_, dearer)| truth(dearer)).collect()),
            tolls[0].0.unit,
            mean(|toll| toll.difference),
            mean(|toll| (toll.difference_high - toll.difference_low) / 2.0),
            tolls.iter().filter(|(toll, _)| toll.verdict == TollVerdict::Dearer).count()
        ),
        count,
        covering(truth) >= least,
    );
}

/// Time of a pass whose requests take this long each, in milliseconds.
fn of_a_pass_ms(us: f64) -> f64 {
    us * PASS_REQUESTS as f64 / 1e3
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn two_hundred_microseconds_dearer() {
    so_much_dearer(200);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn fifty_microseconds_dearer() {
    so_much_dearer(50);
}

/// The rows of two classes, the second of which burns `asked_us` more.
fn so_much_dearer(asked_us: u32) {
    let mut table = Table::default();
    let (baseline, variant) = (format!("burn-{BURNED_US}"), format!("burn-{}", BURNED_US + asked_us));
    let connections = Connections::Kept;
    let mut all = compared(([&baseline, &variant], connections), &mut table, |server, result, classes| {
        dearer(asked_us, server, result, classes)
    });
    // A slice of each side is a coarse look at 5 us: the one in the middle stands for all.
    let way = median(all.iter().map(|(_, dearer)| dearer.way).collect());
    all.iter_mut().for_each(|(_, dearer)| dearer.way = way);
    // One truth for all of them: the account of a comparison's own trials has the noise in it that its interval is
    // there for.
    let of_all = |of: fn(&Dearer) -> f64| all.iter().map(|(_, dearer)| of(dearer)).sum::<f64>() / all.len() as f64;
    let (used, served) = (of_all(|dearer| dearer.used), of_all(|dearer| dearer.served));
    covered(
        &mut table,
        (asked_us, &all),
        Figure::SubjectCpu,
        ("CPU time by request, by the server's own account of all trials", &|_| used),
        &[("that of its own trials", &|dearer| dearer.used), ("what was burned", &|dearer| dearer.burned)],
    );
    covered(
        &mut table,
        (asked_us, &all),
        Figure::UnitTime,
        ("time of a pass of 21 requests, by the server's own account of all trials and the way", &|_| {
            of_a_pass_ms(served + way)
        }),
        &[
            ("that of its own trials", &|dearer| of_a_pass_ms(dearer.served + way)),
            ("without the way", &|_| of_a_pass_ms(served)),
            ("what was burned", &|dearer| of_a_pass_ms(dearer.burned)),
        ],
    );
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn the_same_twice() {
    equals("A = A", ["burn-100", "burn-0100"], Connections::Kept);
}

#[test]
#[ignore = "narrow bounds on times need a quiet machine: run by hand, in release"]
fn the_same_twice_by_a_lottery_of_connections() {
    equals("A = A, half of the connections dearer by 50 us for life", LOTTERY, Connections::PerBlock);
}

/// The row of comparisons of equals.
fn equals(name: &str, classes: [&str; 2], connections: Connections) {
    let mut table = Table::default();
    let all = compared((classes, connections), &mut table, |_, _, _| vec![(); OF_A_RUN as usize]);
    let count = all.len() as u32;
    // A difference is seen also where it lies within the band that is called no toll.
    let sees = |tolls: &[Toll]| tolls.iter().any(|toll| toll.p_adjusted < 0.05);
    let seen = all.iter().filter(|(tolls, _)| sees(tolls)).count() as u32;
    let outside = |figure: Figure| {
        let of_figure = all.iter().flat_map(|(tolls, _)| tolls.iter().filter(move |toll| toll.figure == figure));
        of_figure.filter(|toll| toll.low > 1.0 || toll.high < 1.0).count() as u32
    };
    let (of_time, of_cpu) = (outside(Figure::UnitTime), outside(Figure::SubjectCpu));
    let most = missed_most(count);
    table.row(
        name,
        format!(
            "at most {most} of {count} runs see a difference (by Holm over the figures of a run), and at most as many intervals of a \
             figure are without 1"
        ),
        format!("{seen}; intervals without 1: {of_time} of time, {of_cpu} of CPU"),
        count,
        [seen, of_time, of_cpu].iter().all(|missed| *missed <= most),
    );
}
