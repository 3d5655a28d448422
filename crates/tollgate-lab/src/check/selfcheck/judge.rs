//! Results of comparing equals on this machine: how often they showed a difference, how often chance does, and the
//! smallest visible difference.
//!
//! It only computes; it runs nothing.

use statrs::distribution::{Beta, Binomial, ContinuousCDF, DiscreteCDF};

use super::{COMPARISONS, Claim, Comparison, Fitness, Sight};
use tollgate_facts::results::Figure;
use tollgate_facts::stats::signed_rank::median;
use tollgate_facts::stats::{ALPHA, holm, interval, mean, mean_interval, standard_deviation};

/// A toll counts as visible if this share of runs see it.
const POWER: f64 = 0.8;
/// A good machine is refused in less than this share of self-checks.
const REFUSED_BY_CHANCE: f64 = 0.02;

/// Returns the number of comparisons of equals that may show a difference: by chance more do in less than 2 % of
/// self-checks, if each does in 5 %. Of 20 it is 3.
pub fn significant_most(comparisons: usize) -> usize {
    let seen = Binomial::new(ALPHA, comparisons as u64).expect("a share is between 0 and 1");
    let is_enough = |most: &usize| seen.sf(*most as u64) <= REFUSED_BY_CHANCE;
    (0..comparisons).find(is_enough).unwrap_or(comparisons)
}

/// Returns the largest true share of comparisons with a difference that is compatible with `seen` of them: with a
/// larger one so few would be seen in less than 5 % of self-checks (C. J. Clopper and E. S. Pearson, Biometrika 26
/// (1934), one-sided). For 3 of 20 it is 34 %.
pub(super) fn false_claims_most(seen: usize, comparisons: usize) -> f64 {
    if seen >= comparisons {
        return 1.0;
    }
    let share = Beta::new(seen as f64 + 1.0, (comparisons - seen) as f64).expect("fewer were seen than compared");
    share.inverse_cdf(1.0 - ALPHA)
}

/// Decides whether tolls measured on the machine can be trusted.
pub(super) fn fitness(asked: usize, done: usize, significant: usize, unjudged: usize) -> Fitness {
    let most = significant_most(asked);
    match (significant > most || unjudged > most, done < asked) {
        (true, _) => Fitness::Refused,
        (false, true) => Fitness::Incomplete,
        (false, false) if asked < COMPARISONS as usize => Fitness::TooFew,
        (false, false) => Fitness::Fit,
    }
}

/// Creates a comparison from its log ratios by block: the figure, whether it was joint, and the ratios.
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
            n: found.n,
            is_joint: *is_joint,
            error: standard_deviation(ratios).unwrap_or(0.0) / (found.n as f64).sqrt(),
        });
    }
    let adjusted = holm::adjust(&claims.iter().map(|claim| claim.p_adjusted).collect::<Vec<_>>());
    claims.iter_mut().zip(adjusted).for_each(|(claim, p)| claim.p_adjusted = p);
    let is_significant = claims.iter().any(|claim| claim.p_adjusted < ALPHA);
    Comparison { seed, is_significant, claims, refused }
}

/// Computes the smallest visible toll of a figure, alone and as one of `among` tolls; absent below two comparisons.
pub(super) fn sight(figure: Figure, comparisons: &[Comparison], among: usize) -> Option<Sight> {
    let claims: Vec<&Claim> =
        comparisons.iter().flat_map(|comparison| &comparison.claims).filter(|claim| claim.figure == figure).collect();
    let spread = standard_deviation(&claims.iter().map(|claim| claim.ratio.ln()).collect::<Vec<_>>())?;
    let within = mean(&claims.iter().map(|claim| claim.error.powi(2)).collect::<Vec<_>>())?.sqrt();
    // Of one whose starts are seen to differ the interval is over a few starts. By chance that is so of one in twenty; where
    // it is so of more than a fifth, their interval is what a run has. With fewer of them than that, fewer than four runs of
    // five see the toll, by as many.
    let mut values: Vec<usize> = claims.iter().map(|claim| claim.n).collect();
    values.sort_unstable();
    let freedom = (*values.get(values.len() / 5)? as f64 - 1.0).max(1.0);
    // What starts differ by is no less an error than what blocks differ by, though no interval holds it.
    let error = within.max(spread);
    // Holm's first step holds the smallest p against the whole family: whoever is seen by that is seen whatever the
    // others do.
    let visible = |tolls: usize| {
        let claimed = interval::quantile(1.0 - ALPHA / tolls.max(1) as f64 / 2.0, freedom);
        ((claimed + interval::quantile(POWER, freedom)) * error).exp_m1()
    };
    Some(Sight {
        figure,
        smallest_toll: visible(1),
        smallest_toll_among_share: visible(among),
        among_tolls: among,
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
    use tollgate_facts::fixture::Noise;

    const BLOCKS: usize = 16;
    const SPREAD: f64 = 0.05;

    /// Creates twenty comparisons whose true ratio varies by `between` from start to start.
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
            let visible = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0), 60).unwrap().smallest_toll;
            let sees = |comparison: &Comparison| comparison.claims[0].low > 1.0;
            let with_toll = comparisons(&mut noise, 1.0 + visible, 0.0);
            seen += with_toll.iter().filter(|comparison| sees(comparison)).count();
            runs += with_toll.len();
        }
        let share = seen as f64 / runs as f64;
        assert!((0.75..=0.92).contains(&share), "{share}");
    }

    #[test]
    fn among_sixty_tolls_a_larger_one_is_the_smallest_that_four_runs_of_five_see() {
        const AMONG: usize = 60;
        let mut noise = Noise::of(24);
        let (mut seen, mut seen_alone, mut runs) = (0, 0, 0);
        for _ in 0..40 {
            let sight = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0), AMONG).unwrap();
            assert!(sight.smallest_toll_among_share > 1.4 * sight.smallest_toll, "{sight:?}");
            // One toll, and beside it 59 of equals: what a run says of the one after Holm.
            let mut among = |truth: f64| {
                let mut p = |truth: f64| {
                    let ratios: Vec<f64> = (0..BLOCKS).map(|_| truth.ln() + SPREAD * noise.normal()).collect();
                    mean_interval(&ratios, ALPHA).unwrap().p
                };
                let family: Vec<f64> = std::iter::once(truth).chain([1.0; AMONG - 1]).map(&mut p).collect();
                usize::from(holm::adjust(&family)[0] < ALPHA)
            };
            for _ in 0..20 {
                seen += among(1.0 + sight.smallest_toll_among_share);
                seen_alone += among(1.0 + sight.smallest_toll);
                runs += 1;
            }
        }
        let share = |seen: usize| seen as f64 / runs as f64;
        assert!((0.75..=0.92).contains(&share(seen)), "{}", share(seen));
        assert!(share(seen_alone) < 0.5, "{}", share(seen_alone));
        let alone = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0), 1).unwrap();
        assert!((alone.smallest_toll_among_share - alone.smallest_toll).abs() < 1e-12);
    }

    #[test]
    fn three_of_twenty_are_compatible_with_a_third_of_false_claims() {
        let check = |seen: usize, comparisons: usize, expected: f64| {
            let found = false_claims_most(seen, comparisons);
            assert!((found - expected).abs() < 5e-4, "{seen} of {comparisons}: {found}");
        };
        // None of n has the closed form 1 - 0.05^(1/n); the others are of printed tables.
        check(0, 20, 0.1391);
        check(1, 20, 0.2161);
        check(3, 20, 0.3437);
        check(20, 400, 0.0719);
        check(0, 1000, 0.0030);
        check(999, 1000, 0.99995);
        check(2, 2, 1.0);
        check(0, 0, 1.0);
    }

    #[test]
    fn a_few_comparisons_over_their_starts_do_not_make_the_smallest_toll_larger_and_many_do() {
        let with = |of_starts: usize| {
            let mut all = comparisons(&mut Noise::of(25), 1.0, 0.0);
            all.truncate(20 - of_starts);
            let starts = [(Figure::UnitTime, false, vec![-0.01, 0.0, 0.01])];
            all.resize_with(20, || comparison(1, &starts, Vec::new()));
            sight(Figure::UnitTime, &all, 60).unwrap().smallest_toll_among_share
        };
        for of_starts in 1..=4 {
            assert!((with(of_starts) / with(0) - 1.0).abs() < 0.3, "{of_starts}: {} of {}", with(of_starts), with(0));
        }
        assert!(with(7) > 3.0 * with(0), "{} of {}", with(7), with(0));
    }

    #[test]
    fn what_starts_differ_by_makes_the_smallest_toll_larger() {
        let mut noise = Noise::of(23);
        let calm = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.0), 60).unwrap();
        let wild = sight(Figure::UnitTime, &comparisons(&mut noise, 1.0, 0.1), 60).unwrap();
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
