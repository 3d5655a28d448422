//! What comparisons of equals say of the machine: how often they saw a difference, how often chance has it so, and from which
//! size on a difference would be seen.
//!
//! Pure numbers; it runs nothing.

use super::{COMPARISONS, Claim, Comparison, Fitness, Sight};
use crate::results::Figure;
use crate::stats::signed_rank::median;
use crate::stats::{ALPHA, holm, interval, mean, mean_interval, standard_deviation};

/// A toll counts as visible if this share of runs see it.
const POWER: f64 = 0.8;
/// A true machine is refused in less than this share of self-checks.
const REFUSED_BY_CHANCE: f64 = 0.02;

/// How many of so many comparisons of equals may see a difference: more come by chance in less than 2 % of self-checks, if each
/// sees one in 5 %. Of 20 it is 3.
pub fn significant_most(comparisons: usize) -> usize {
    let n = comparisons as f64;
    // Binomial probabilities one by one; at 5 % none of them vanishes for as many as anybody waits for.
    let (mut exactly, mut most) = ((1.0 - ALPHA).powf(n), 0);
    let mut beyond = 1.0 - exactly;
    while beyond > REFUSED_BY_CHANCE && most < comparisons {
        exactly *= (n - most as f64) / (most as f64 + 1.0) * ALPHA / (1.0 - ALPHA);
        most += 1;
        beyond -= exactly;
    }
    most
}

/// Whether tolls of the machine may be believed.
pub(super) fn fitness(asked: usize, done: usize, significant: usize, unjudged: usize) -> Fitness {
    let most = significant_most(asked);
    match (significant > most || unjudged > most, done < asked) {
        (true, _) => Fitness::Refused,
        (false, true) => Fitness::Incomplete,
        (false, false) if asked < COMPARISONS as usize => Fitness::TooFew,
        (false, false) => Fitness::Fit,
    }
}

/// One comparison from its log ratios, block by block: the figure, whether it was joint, and the ratios.
pub(super) fn comparison(seed: u64, seen: &[(Figure, bool, Vec<f64>)], mut refused: Vec<String>) -> Comparison {
    let mut claims = Vec::new();
    for (figure, is_joint, ratios) in seen {
        let Some(found) = mean_interval(ratios, ALPHA) else {
            refused.push(format!("no interval from {} complete block(s)", ratios.len()));
            continue;
        };
        claims.push(Claim {
            figure: *figure,
            ratio: found.mean.exp(),
            low: found.low.exp(),
            high: found.high.exp(),
            p_adjusted: found.p,
            blocks: found.n,
            is_joint: *is_joint,
            error: standard_deviation(ratios).unwrap_or(0.0) / (found.n as f64).sqrt(),
        });
    }
    let adjusted = holm::adjust(&claims.iter().map(|claim| claim.p_adjusted).collect::<Vec<_>>());
    claims.iter_mut().zip(adjusted).for_each(|(claim, p)| claim.p_adjusted = p);
    let is_significant = claims.iter().any(|claim| claim.p_adjusted < ALPHA);
    Comparison { seed, is_significant, claims, refused }
}

/// What can be seen in a figure; absent below two comparisons.
pub(super) fn sight(figure: Figure, comparisons: &[Comparison]) -> Option<Sight> {
    let claims: Vec<&Claim> =
        comparisons.iter().flat_map(|comparison| &comparison.claims).filter(|claim| claim.figure == figure).collect();
    let spread = standard_deviation(&claims.iter().map(|claim| claim.ratio.ln()).collect::<Vec<_>>())?;
    let within = mean(&claims.iter().map(|claim| claim.error.powi(2)).collect::<Vec<_>>())?.sqrt();
    let freedom = claims.iter().map(|claim| claim.blocks).min()?.saturating_sub(1) as f64;
    // What starts differ by is no less an error than what blocks differ by, though no interval holds it.
    let error = within.max(spread);
    let visible = (interval::quantile(1.0 - ALPHA / 2.0, freedom) + interval::quantile(POWER, freedom)) * error;
    Some(Sight {
        figure,
        smallest_toll: visible.exp_m1(),
        half_width: median(claims.iter().map(|claim| ((claim.high / claim.low).ln() / 2.0).exp_m1()).collect())?,
        spread: spread.exp_m1(),
        apart: claims.iter().filter(|claim| claim.low > 1.0 || claim.high < 1.0).count(),
        joint: claims.iter().filter(|claim| claim.is_joint).count(),
        n: claims.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::synthetic::Noise;

    const BLOCKS: usize = 16;
    const SPREAD: f64 = 0.05;

    /// Twenty comparisons whose true ratio wanders by `between` from start to start.
    fn comparisons(noise: &mut Noise, truth: f64, between: f64) -> Vec<Comparison> {
        let one = |noise: &mut Noise| {
            let start = truth.ln() + between * noise.normal();
            let mut ratios = || (0..BLOCKS).map(|_| start + SPREAD * noise.normal()).collect();
            let seen = [(Figure::UnitTime, false, ratios()), (Figure::SubjectCpu, true, ratios())];
            comparison(1, &seen, Vec::new())
        };
        (0..20).map(|_| one(noise)).collect()
    }

    fn fitness_of(comparisons: &[Comparison]) -> Fitness {
        let significant = comparisons.iter().filter(|comparison| comparison.is_significant).count();
        fitness(20, comparisons.len(), significant, 0)
    }

    #[test]
    fn three_of_twenty_may_see_a_difference() {
        let check = |n: usize, expected: usize| assert_eq!(significant_most(n), expected, "{n}");
        check(20, 3);
        check(2, 1);
        check(1, 1);
        check(0, 0);
        assert!((28..=31).contains(&significant_most(400)), "{}", significant_most(400));
    }

    #[test]
    fn a_true_machine_is_refused_rarely_and_one_whose_starts_differ_nearly_always() {
        let mut noise = Noise::of(21);
        let error = SPREAD / (BLOCKS as f64).sqrt();
        let mut refused = |between: f64| {
            let is_refused = |_: &u32| fitness_of(&comparisons(&mut noise, 1.0, between)) == Fitness::Refused;
            (0..400).filter(is_refused).count()
        };
        let (by_chance, truly) = (refused(0.0), refused(2.0 * error));
        assert!(by_chance <= 16, "{by_chance} of 400");
        assert!(truly >= 390, "{truly} of 400");
    }

    #[test]
    fn the_smallest_toll_is_seen_by_four_runs_of_five() {
        let mut noise = Noise::of(22);
        let (mut seen, mut runs) = (0, 0);
        for _ in 0..100 {
            let visible = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0)).unwrap().smallest_toll;
            let sees = |comparison: &Comparison| comparison.claims[0].low > 1.0;
            let with_toll = comparisons(&mut noise, 1.0 + visible, 0.0);
            seen += with_toll.iter().filter(|comparison| sees(comparison)).count();
            runs += with_toll.len();
        }
        let share = seen as f64 / runs as f64;
        assert!((0.75..=0.92).contains(&share), "{share}");
    }

    #[test]
    fn what_starts_differ_by_makes_the_smallest_toll_larger() {
        let mut noise = Noise::of(23);
        let calm = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0)).unwrap();
        let wild = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.1)).unwrap();
        assert!(wild.smallest_toll > 3.0 * calm.smallest_toll, "{calm:?} {wild:?}");
        assert!((wild.half_width / calm.half_width - 1.0).abs() < 0.3, "{calm:?} {wild:?}");
        assert!(wild.apart > 10 && calm.joint == 0 && calm.n == 20);
    }

    #[test]
    fn what_cannot_be_judged_counts_against_the_machine_and_an_interruption_does_not() {
        let check = |done: usize, significant: usize, unjudged: usize, expected: Fitness| {
            assert_eq!(fitness(20, done, significant, unjudged), expected);
        };
        check(20, 3, 0, Fitness::Fit);
        check(20, 4, 0, Fitness::Refused);
        check(20, 0, 4, Fitness::Refused);
        check(7, 0, 0, Fitness::Incomplete);
        check(7, 4, 0, Fitness::Refused);
        assert_eq!(fitness(19, 19, 0, 0), Fitness::TooFew);
        assert_eq!(fitness(2, 2, 1, 0), Fitness::TooFew, "half of them wrong says nothing for it");
        assert_eq!(fitness(2, 2, 2, 0), Fitness::Refused);
        assert_eq!(fitness(400, 400, 20, 0), Fitness::Fit);
        let short = comparison(1, &[(Figure::UnitTime, false, vec![0.1])], Vec::new());
        assert!(short.claims.is_empty() && !short.is_significant);
        assert_eq!(short.refused, ["no interval from 1 complete block(s)"]);
    }
}
