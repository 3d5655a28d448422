//! The Universal Scalability Law X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1)): least squares on log X with
//! Huber's loss, lambda > 0, 0 <= alpha <= 1, beta >= 0.
//!
//! N. J. Gunther, Guerrilla Capacity Planning (2007), chapter 4. It deliberately does not judge whether the law is
//! identified, and predicts nothing for users beyond the measured ones.

/// Residuals of log X above this lie on Huber's straight part: 5 %, about three times the error of a cell.
const HUBER: f64 = 0.05;
/// Steps of the fit; it ends earlier when nothing moves any more.
const STEPS_MAX: usize = 200;
/// A step that lowers the loss by less than this share is the last one.
const GAIN_MIN: f64 = 1e-12;
/// Damping (Levenberg, Marquardt): where it begins, and beyond which no step helps.
const DAMPING: (f64, f64) = (1e-3, 1e12);

/// A fitted law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// Throughput of one user by himself.
    pub lambda: f64,
    /// Contention.
    pub alpha: f64,
    /// Coherency.
    pub beta: f64,
    /// Typical distance of the points from the law, as a share.
    pub residual_share: f64,
}

impl Law {
    /// Throughput of this many users.
    pub fn at(&self, users: f64) -> f64 {
        self.lambda * users / denominator(users, self.alpha, self.beta)
    }

    /// Users at which throughput is largest; absent where it never falls.
    pub fn knee(&self) -> Option<f64> {
        (self.beta > 0.0).then(|| ((1.0 - self.alpha) / self.beta).max(0.0).sqrt())
    }
}

/// The law through points of users and throughput; absent for fewer than three, or for invalid points.
pub fn fit(points: &[(f64, f64)]) -> Option<Law> {
    let is_right = |(users, rate): &(f64, f64)| *users >= 1.0 && rate.is_finite() && *rate > 0.0;
    if points.len() < 3 || !points.iter().all(is_right) {
        return None;
    }
    // Along beta the loss has more than one valley where few levels lie beyond the knee: the best of several starts.
    let starts =
        [0.0, 0.01, 0.1, 0.5, 0.95].into_iter().flat_map(|alpha| [0.0, 1e-8, 1e-6, 1e-4].map(|beta| (alpha, beta)));
    let laws = starts.map(|(alpha, beta)| descend(points, [intercept(points, alpha, beta), alpha, beta]));
    let best = laws.reduce(|best, law| if law.1 < best.1 { law } else { best })?;
    let [log_lambda, alpha, beta] = best.0;
    let squares: f64 = points.iter().map(|point| residual(point, &best.0).powi(2)).sum();
    let residual_share = (squares / points.len() as f64).sqrt();
    Some(Law { lambda: log_lambda.exp(), alpha, beta, residual_share }).filter(|law| law.lambda.is_finite())
}

fn denominator(users: f64, alpha: f64, beta: f64) -> f64 {
    1.0 + alpha * (users - 1.0) + beta * users * (users - 1.0)
}

fn residual((users, rate): &(f64, f64), [log_lambda, alpha, beta]: &[f64; 3]) -> f64 {
    rate.ln() - (log_lambda + users.ln() - denominator(*users, *alpha, *beta).ln())
}

/// The mean logarithm of lambda for given alpha and beta: where the descent begins.
fn intercept(points: &[(f64, f64)], alpha: f64, beta: f64) -> f64 {
    points.iter().map(|point| residual(point, &[0.0, alpha, beta])).sum::<f64>() / points.len() as f64
}

fn loss(points: &[(f64, f64)], parameters: &[f64; 3]) -> f64 {
    let of = |residual: f64| match residual.abs() {
        off if off <= HUBER => 0.5 * off * off,
        off => HUBER * (off - 0.5 * HUBER),
    };
    points.iter().map(|point| of(residual(point, parameters))).sum()
}

/// Walks downhill by damped Gauss-Newton steps, each weighted anew by Huber; a parameter at its bound stays there while the
/// slope leads out.
fn descend(points: &[(f64, f64)], mut at: [f64; 3]) -> ([f64; 3], f64) {
    let (mut now, mut damping) = (loss(points, &at), DAMPING.0);
    for _ in 0..STEPS_MAX {
        let (mut matrix, mut slope) = ([[0.0; 3]; 3], [0.0; 3]);
        for point in points {
            let (users, off) = (point.0, residual(point, &at));
            let weight = if off.abs() <= HUBER { 1.0 } else { HUBER / off.abs() };
            let below = denominator(users, at[1], at[2]);
            let gradient = [1.0, -(users - 1.0) / below, -users * (users - 1.0) / below];
            for row in 0..3 {
                slope[row] += weight * gradient[row] * off;
                for column in 0..3 {
                    matrix[row][column] += weight * gradient[row] * gradient[column];
                }
            }
        }
        let is_held = [false, is_stuck(at[1], slope[1], 1.0), is_stuck(at[2], slope[2], f64::INFINITY)];
        let Some(step) = step(matrix, slope, is_held, damping) else { return (at, now) };
        let next = [at[0] + step[0], (at[1] + step[1]).clamp(0.0, 1.0), (at[2] + step[2]).max(0.0)];
        let then = loss(points, &next);
        if then < now {
            let gain = now - then;
            (at, now, damping) = (next, then, (damping / 10.0).max(1e-12));
            if gain <= GAIN_MIN * now.max(f64::MIN_POSITIVE) || now == 0.0 {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > DAMPING.1 {
                break;
            }
        }
    }
    (at, now)
}

fn is_stuck(value: f64, slope: f64, most: f64) -> bool {
    (value <= 0.0 && slope < 0.0) || (value >= most && slope > 0.0)
}

/// The step of three parameters, without the fixed ones: (M + d diag M) s = g, by elimination.
fn step(matrix: [[f64; 3]; 3], slope: [f64; 3], is_held: [bool; 3], damping: f64) -> Option<[f64; 3]> {
    let mut rows = [[0.0; 4]; 3];
    for row in 0..3 {
        for column in 0..3 {
            let is_out = is_held[row] || is_held[column];
            rows[row][column] = if is_out { f64::from(u8::from(row == column)) } else { matrix[row][column] };
        }
        if !is_held[row] {
            rows[row][row] += damping * matrix[row][row];
            rows[row][3] = slope[row];
        }
    }
    // Each parameter in its own unit: alpha and beta differ by powers of ten.
    let scale = [0, 1, 2].map(|index| rows[index][index].sqrt());
    if scale.iter().any(|scale| !(scale.is_finite() && *scale > 0.0)) {
        return None;
    }
    for row in 0..3 {
        (0..3).for_each(|column| rows[row][column] /= scale[row] * scale[column]);
        rows[row][3] /= scale[row];
    }
    for pivot in 0..3 {
        let best = (pivot..3).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))?;
        rows.swap(pivot, best);
        if rows[pivot][pivot].abs() < 1e-14 {
            return None;
        }
        for row in pivot + 1..3 {
            let factor = rows[row][pivot] / rows[pivot][pivot];
            (pivot..4).for_each(|column| rows[row][column] -= factor * rows[pivot][column]);
        }
    }
    let mut solved = [0.0; 3];
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| rows[row][column] * solved[column]).sum();
        solved[row] = (rows[row][3] - known) / rows[row][row];
    }
    Some([0, 1, 2].map(|index| solved[index] / scale[index]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Noise;

    const LEVELS: [f64; 10] = [1.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0, 1280.0];

    fn points(law: (f64, f64, f64), mut noise: impl FnMut() -> f64) -> Vec<(f64, f64)> {
        let (lambda, alpha, beta) = law;
        let of = |users: f64| (users, lambda * users / denominator(users, alpha, beta) * (1.0 + noise()));
        LEVELS.into_iter().map(of).collect()
    }

    #[test]
    fn a_law_without_noise_is_found_to_its_digits() {
        let check = |law: (f64, f64, f64)| {
            let found = fit(&points(law, || 0.0)).unwrap();
            let near = |got: f64, expected: f64| (got - expected).abs() <= expected.max(1e-9) * 1e-3;
            assert!(
                near(found.lambda, law.0) && near(found.alpha, law.1) && near(found.beta, law.2),
                "{law:?}: {found:?}"
            );
            assert!(found.residual_share < 1e-4, "{found:?}");
        };
        check((1000.0, 0.02, 1e-5));
        check((5000.0, 0.2, 1e-6));
        check((90.0, 0.0, 1e-4));
        check((90.0, 0.05, 0.0));
        check((12.5, 0.0, 0.0));
    }

    #[test]
    fn under_noise_the_knee_is_found_where_it_is() {
        let law = (1000.0, 0.02, 1e-5);
        let truth = (0.98_f64 / 1e-5).sqrt();
        let mut noise = Noise::of(5);
        let mut near = 0;
        for _ in 0..200 {
            let found = fit(&points(law, || 0.02 * noise.normal())).unwrap();
            near += u32::from(found.knee().is_some_and(|knee| (knee / truth - 1.0).abs() < 0.15));
        }
        assert!(near >= 190, "{near} of 200");
    }

    #[test]
    fn one_level_that_is_wrong_does_not_decide() {
        let mut wrong = points((1000.0, 0.02, 1e-5), || 0.0);
        wrong[4].1 *= 0.5;
        let found = fit(&wrong).unwrap();
        assert!((found.beta / 1e-5 - 1.0).abs() < 0.25 && (found.alpha / 0.02 - 1.0).abs() < 0.25, "{found:?}");
        let knee = found.knee().unwrap();
        assert!((knee / (0.98_f64 / 1e-5).sqrt() - 1.0).abs() < 0.15, "{knee}");
    }

    #[test]
    fn bounds_hold_where_throughput_grows_more_than_it_can() {
        let faster: Vec<(f64, f64)> = LEVELS.map(|users| (users, 10.0 * users.powf(1.1))).to_vec();
        let found = fit(&faster).unwrap();
        assert_eq!((found.alpha, found.beta), (0.0, 0.0));
        assert_eq!(found.knee(), None);
    }

    #[test]
    fn what_is_no_throughput_has_no_law() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 0.0), (3.0, 3.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
    }
}
