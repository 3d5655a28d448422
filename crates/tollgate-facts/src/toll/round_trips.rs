//! Number of round trips for which a request on a fresh connection waits: the slope of its time over the length of the
//! line, and the rest of it at no distance.
//!
//! Plain least squares over trials, since the noise of a wait hardly grows with its length. It deliberately counts no
//! messages; the connections' own counts are shown beside it.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::{Cell, NamedLevel, RoundTripCost, RunResult, Trial, Verdict};
use crate::rules;
use crate::stats::mean;
use crate::stats::straight::{self, Line};

/// Fewest lengths that show whether times follow a straight line: two points are always on one.
const STRAIGHT_LENGTHS_MIN: usize = 3;
/// A line off which times typically lie further than this share is no law.
const RESIDUAL_SHARE_MAX: f64 = 0.15;

/// Round trips by the slope that differ from those counted by more than this share are doubtful.
const SEEN_SHARE_MAX: f64 = 0.1;

/// The costs of each variant in each way of encrypting; none where the levels have no distance. Refused cells do not
/// count; the marks of marked ones are carried over.
pub fn costs(run: &RunResult) -> Vec<RoundTripCost> {
    let mut ways: Vec<&NamedLevel> = Vec::new();
    for named in run.experiment.named_levels.iter().filter(|named| named.round_trip_ms.is_some()) {
        if !ways.iter().any(|known| known.way() == named.way()) {
            ways.push(named);
        }
    }
    let variants = &run.experiment.variants;
    ways.iter().flat_map(|way| variants.iter().filter_map(|variant| cost(run, way, &variant.name))).collect()
}

fn cost(run: &RunResult, way: &NamedLevel, variant: &str) -> Option<RoundTripCost> {
    let rules =
        |level: u64, verdict: Verdict| run.rules_of(variant, level, verdict).filter(|rule| !rules::is_at_rate(rule));
    // The length of a line is what the trials' own handshakes of TCP found, not what was asked, nor what a measurement found
    // at another time.
    let length = |level: &NamedLevel| Some((level.level, run.line_ms(variant, level.level)?));
    let levels = run.experiment.named_levels.iter().filter(|level| level.way() == way.way());
    let lengths: BTreeMap<u64, f64> =
        levels.filter(|level| rules(level.level, Verdict::Refused).next().is_none()).filter_map(length).collect();
    let is_own = |trial: &&Trial| trial.variant == variant && trial.errors == 0 && trial.requests > 0;
    let point = |trial: &Trial| Some((*lengths.get(&trial.level)?, trial.response_time_mean_ms));
    let points: Vec<(f64, f64)> = run.trials.iter().filter(is_own).filter_map(point).collect();
    let line = straight::line(&points, |_| 1.0)?;
    let firsts = |of: fn(&Cell) -> Option<f64>| {
        let own = run.cells.iter().filter(|cell| cell.variant == variant && lengths.contains_key(&cell.level));
        mean(&own.filter_map(of).collect::<Vec<f64>>())
    };
    let seen = firsts(|cell| cell.connected?.first_request?.round_trips);
    let otherwise = || {
        let seen = seen.filter(|seen| (line.slope.mean / seen - 1.0).abs() > SEEN_SHARE_MAX)?;
        Some(format!("its connections waited {seen:.1} times, and their time says {:.2}", line.slope.mean))
    };
    let marks: BTreeSet<&str> = lengths.keys().flat_map(|level| rules(*level, Verdict::Marked)).collect();
    Some(RoundTripCost {
        variant: variant.to_owned(),
        way: way.way_title(),
        round_trips: line.slope,
        fixed_ms: line.height,
        seen,
        wire_bytes_received: firsts(|cell| Some(cell.connected?.first_request?.wire_bytes_received)),
        marks: marks.into_iter().map(str::to_owned).collect(),
        doubt: doubt(&points, &line).or_else(otherwise),
    })
}

/// The reason why the line is no law, by the mean time at each length.
fn doubt(points: &[(f64, f64)], line: &Line) -> Option<String> {
    let mut points = points.to_vec();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let lengths: Vec<&[(f64, f64)]> = points.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()).collect();
    if lengths.len() < STRAIGHT_LENGTHS_MIN {
        return Some(format!("{} lengths are always on a straight line: take one more", lengths.len()));
    }
    let times = lengths.iter().filter_map(|own| {
        let time = mean(&own.iter().map(|(_, time)| *time).collect::<Vec<f64>>())?;
        Some((line.at(own.first()?.0), time))
    });
    straight::doubt(straight::residual_share(times)?, RESIDUAL_SHARE_MAX, "levels")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::results::{LinkCheck, Moment, Validity};

    /// The way of the first three levels by the variant that is encrypted.
    fn cost_of(run: &RunResult) -> Option<RoundTripCost> {
        costs(run).into_iter().find(|cost| cost.variant == "https-new" && cost.way == "TLS 1.3, P-256")
    }

    /// A run without noise: trials at each length take the time that `time_ms` returns.
    fn afar(time_ms: impl Fn(f64) -> f64) -> RunResult {
        let mut run = fixture::encryption_afar();
        run.validity.clear();
        for place in 0..run.trials.len() {
            let length = run.line_ms("https-new", run.trials[place].level).unwrap();
            run.trials[place].response_time_mean_ms = time_ms(length);
        }
        run
    }

    fn found(level: u64, rule: &str, verdict: Verdict) -> Validity {
        fixture::doubt("https-new", level, rule, verdict)
    }

    #[test]
    fn refused_cells_are_in_no_slope_and_marks_are_carried() {
        let mut run = afar(|length| 3.0 * length + 0.7);
        let far = run.trials.iter_mut().filter(|trial| trial.variant == "https-new" && trial.level == 11);
        far.for_each(|trial| trial.response_time_mean_ms *= 2.0);
        assert!((cost_of(&run).unwrap().round_trips.mean - 3.0).abs() > 0.01, "what a wrong level does");
        run.validity = vec![
            found(11, "content", Verdict::Refused),
            found(12, "link", Verdict::Marked),
            found(12, "rate-joint", Verdict::Marked),
        ];
        let cost = cost_of(&run).unwrap();
        assert!((cost.round_trips.mean - 3.0).abs() < 1e-9 && (cost.fixed_ms.mean - 0.7).abs() < 1e-9, "{cost:?}");
        assert_eq!(cost.marks, ["link"]);
        assert!(cost.doubt.unwrap().contains("2 lengths are always on a straight line"));
        run.validity.push(found(12, "content", Verdict::Refused));
        assert_eq!(cost_of(&run), None, "one length is left");
        // At equal rate is another load.
        run.validity = vec![found(11, "rate", Verdict::Refused)];
        assert_eq!(cost_of(&run).unwrap().marks, [""; 0]);
    }

    /// Sets the time to open a connection in the trials, by the requested length of the line in milliseconds.
    fn connecting(run: &mut RunResult, connect_ms: impl Fn(f64) -> f64) {
        for cell in &mut run.cells {
            let asked_ms = run.experiment.named_level(cell.level).unwrap().round_trip_ms.unwrap();
            cell.connected.as_mut().unwrap().phases.connect_ms.mean = connect_ms(asked_ms);
        }
    }

    /// Measurements of a line with these round trips, and 50 µs without it.
    fn probed(run: &mut RunResult, got_ms: impl Fn(f64) -> f64) {
        let check = |moment: Moment, asked_ms: f64| LinkCheck {
            moment,
            asked_ms,
            got_ms: got_ms(asked_ms) + 0.05,
            direct_ms: 0.05,
            tolerance_ms: 0.06 + asked_ms / 20.0,
            samples: 100,
        };
        let moments = [Moment::Before, Moment::After];
        run.links =
            moments.into_iter().flat_map(|moment| [1.0, 10.0, 50.0].map(|asked| check(moment, asked))).collect();
    }

    #[test]
    fn the_length_of_a_line_is_what_the_trials_own_handshakes_took() {
        // The trials met the line as it was asked for; whoever measured it before and after had a worse time.
        let mut run = afar(|length| 3.0 * length + 0.7);
        probed(&mut run, |asked| asked * 1.23);
        connecting(&mut run, |asked| asked + 0.05);
        let cost = cost_of(&run).unwrap();
        assert!((cost.round_trips.mean - 3.0).abs() < 1e-9 && (cost.fixed_ms.mean - 0.7).abs() < 1e-9, "{cost:?}");
        assert_eq!((cost.seen, cost.doubt), (Some(3.0), None));
        // A variant that opened none has the line of the others of its level.
        let own = run.cells.iter_mut().filter(|cell| cell.variant == "https-new");
        own.for_each(|cell| cell.connected.as_mut().unwrap().opened = 0);
        assert!((cost_of(&run).unwrap().round_trips.mean - 3.0).abs() < 1e-9);
        // Where no trial opened any, the measurements are all that there is, and what was counted contradicts them.
        connecting(&mut run, |_| 0.0);
        let cost = cost_of(&run).unwrap();
        assert!((cost.round_trips.mean - 3.0 / 1.23).abs() < 1e-9, "{cost:?}");
        assert_eq!(cost.doubt.unwrap(), "its connections waited 3.0 times, and their time says 2.44");
    }

    #[test]
    fn times_that_follow_no_straight_line_say_so() {
        assert_eq!(cost_of(&afar(|length| 3.0 * length + 0.7)).unwrap().doubt, None);
        let doubt = cost_of(&afar(|length| if length > 5.0 { 4.0 * length } else { 30.0 })).unwrap().doubt.unwrap();
        assert!(doubt.contains("off a straight line: read the levels"), "{doubt}");
    }
}
