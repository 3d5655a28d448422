//! Whether a series goes on changing: the slope of its values over their order, common to all starts of a server.
//!
//! Each start has a level of its own, since its warm-up begins anew. It reports and corrects nothing.

use super::interval::two_sided_p;
use super::mean;

/// Degrees of freedom below which a slope shows nothing: two values more than a start's level and the slope take.
const FREEDOM_MIN: usize = 4;

/// The change of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change from the first to the last value of the longest start, in the values' own unit.
    pub change: f64,
    /// Probability of a slope as steep if nothing changes.
    pub p: f64,
}

/// The drift of the values of each start in their order. Absent where there are too few of them, or nothing varies.
pub fn drift(starts: &[Vec<f64>]) -> Option<Drift> {
    let starts: Vec<&Vec<f64>> = starts.iter().filter(|values| values.len() >= 2).collect();
    let count: usize = starts.iter().map(|values| values.len()).sum();
    let freedom = count.checked_sub(starts.len() + 1).filter(|freedom| *freedom >= FREEDOM_MIN)? as f64;
    let (mut of_places, mut of_both, mut of_values) = (0.0, 0.0, 0.0);
    for values in &starts {
        let (level, middle) = (mean(values)?, (values.len() - 1) as f64 / 2.0);
        for (place, value) in values.iter().enumerate() {
            let (place, value) = (place as f64 - middle, value - level);
            of_places += place * place;
            of_both += place * value;
            of_values += value * value;
        }
    }
    let slope = of_both / of_places;
    let error = ((of_values - slope * of_both) / freedom / of_places).sqrt();
    // Also where a value is no number.
    if error.is_nan() || error <= 0.0 {
        return None;
    }
    let p = two_sided_p(slope / error, freedom);
    let longest = starts.iter().map(|values| values.len()).max()?;
    Some(Drift { change: slope * (longest - 1) as f64, p })
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, StudentsT};

    use super::*;
    use crate::fixture::Noise;
    use crate::stats::ALPHA;

    /// Starts of this many values with noise of 1 and levels of their own, with this change from first to last.
    fn starts(noise: &mut Noise, count: usize, values: usize, change: f64) -> Vec<Vec<f64>> {
        let one = |noise: &mut Noise| {
            let level = 10.0 * noise.normal();
            (0..values).map(|place| level + change * place as f64 / (values - 1) as f64 + noise.normal()).collect()
        };
        (0..count).map(|_| one(noise)).collect()
    }

    #[test]
    fn a_textbook_slope_comes_out_as_printed() {
        // Slope 0.6 of squares 10 and 6: t = 1.5 of six degrees of freedom in two starts that are alike.
        let start = vec![2.0, 4.0, 5.0, 4.0, 5.0];
        let found = drift(&[start.clone(), start]).unwrap();
        let expected =
            2.0 * StudentsT::new(0.0, 1.0, 7.0).unwrap().sf((0.6_f64.powi(2) * 20.0 * 7.0 / (12.0 - 7.2)).sqrt());
        assert!((found.change - 2.4).abs() < 1e-12 && (found.p - expected).abs() < 1e-12, "{found:?} {expected}");
    }

    #[test]
    fn what_does_not_change_is_said_to_in_at_most_30_of_400() {
        for (count, values) in [(1, 8), (3, 10), (1, 32)] {
            let mut noise = Noise::of(values as u64);
            let wrong = (0..400).filter(|_| drift(&starts(&mut noise, count, values, 0.0)).unwrap().p < ALPHA).count();
            assert!(wrong <= 30, "{wrong} of 400 in {count} starts of {values}");
        }
    }

    #[test]
    fn what_changes_by_four_times_the_noise_is_found() {
        for (count, values) in [(1, 8), (3, 10), (1, 32)] {
            let mut noise = Noise::of(7);
            let all: Vec<Drift> = (0..100).map(|_| drift(&starts(&mut noise, count, values, 4.0)).unwrap()).collect();
            let found = all.iter().filter(|drift| drift.p < ALPHA).count();
            let typical = mean(&all.iter().map(|drift| drift.change).collect::<Vec<_>>()).unwrap();
            assert!(
                found >= 80 && (typical - 4.0).abs() < 0.4,
                "{found} of 100, {typical} in {count} starts of {values}"
            );
        }
    }

    #[test]
    fn too_few_values_or_none_that_varies_say_nothing() {
        for none in [&[][..], &[vec![1.0, 2.0, 3.0, 5.0, 8.0]], &[vec![1.0; 20]], &[vec![f64::NAN; 20]]] {
            assert_eq!(drift(none), None, "{none:?}");
        }
    }
}
