//! Page of a run over settings of the user's servers: how throughput changes with the setting, and the setting from
//! which it does not rise.

use tollgate_facts::results::{Cell, RunResult};
use tollgate_page::blocks::{Depth, Page};
use tollgate_page::number;
use tollgate_page::parts::method::Method;
use tollgate_page::parts::{self, cards, curves, peers, tolls, watched};
use tollgate_page::words::headline::{Claim, Said};
use tollgate_page::words::marked;
use tollgate_page::words::sentence;
use tollgate_page::words::view::View;

/// The name of the factor.
pub(super) const FACTOR: &str = "setting";

/// The difference of its method.
const METHOD: &str = "Before each level a command applied the setting, the lowest first, and every server was warmed up \
    anew. So what changed on the machine meanwhile lies between the settings, and only variants of one setting are compared by tolls.";

/// The page, of a result whose factor is a setting.
pub(super) fn page(view: &View<'_>) -> Option<Page> {
    let run = view.run;
    if run.experiment.factor != FACTOR {
        return None;
    }
    let before = vec![cards::section(view), curves::against_levels(view), tolls::section(view), peers::section(view)];
    let after = vec![curves::response_times(view, "Response times"), watched::section(view)];
    let method = Method { own: vec![METHOD], ..Method::default() };
    Some(parts::page(view, claim(run), before, Depth::Main, after, &method))
}

/// The claim from the first variant with two readable settings: its throughput at the lowest setting and at the best,
/// and the lowest setting that is as good.
fn claim(run: &RunResult) -> Option<Claim> {
    let (variant, cells) = run.experiment.variants.iter().find_map(|variant| {
        let is_readable = |cell: &&Cell| !marked::is_refused(run, &variant.name, cell.level);
        let of_variant = run.cells.iter().filter(|cell| cell.variant == variant.name);
        let mut cells: Vec<&Cell> = of_variant.filter(is_readable).collect();
        cells.sort_by_key(|cell| cell.level);
        (cells.len() > 1).then_some((variant, cells))
    })?;
    let rate = |cell: &Cell| cell.requests_per_second;
    let first = *cells.first()?;
    let best =
        cells.iter().copied().reduce(|best, cell| if rate(cell).mean > rate(best).mean { cell } else { best })?;
    let enough = cells.iter().copied().find(|cell| rate(cell).high >= rate(best).low)?;
    let at = |cell: &Cell| sentence::level(&run.experiment, cell.level);
    let told = |cell: &Cell| number::three_digits(rate(cell).mean);
    let whose = if run.experiment.variants.len() > 1 {
        format!("{} answers", variant.name)
    } else {
        "The server answers".to_owned()
    };
    let text = match best.level == first.level {
        true => format!("{whose} {} requests a second at {}; no higher setting answers more.", told(first), at(first)),
        false => {
            format!("{whose} {} requests a second at {} and {} at {}.", told(first), at(first), told(best), at(best))
        }
    };
    let name = |cell: &Cell| (variant.name.clone(), cell.level);
    let mut sentences = vec![Said { text, cells: vec![name(first), name(best)] }];
    if enough.level > first.level {
        let text = match enough.level == cells.last()?.level {
            true => "It still rises there.".to_owned(),
            false => format!("From {} on it rises no more.", enough.level),
        };
        sentences.push(Said { text, cells: vec![name(enough), name(best)] });
    }
    let [low, high] = [rate(best).low, rate(best).high].map(number::three_digits);
    let interval =
        format!("the 95 % interval at {} is {low} to {high} requests a second, over {} blocks", at(best), best.rounds);
    Some(Claim { sentences, interval, ..Claim::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;
    use tollgate_facts::results::{Estimate, Verdict};

    /// A run of one variant with this throughput and half width at each setting.
    fn run(rates: &[(u64, f64, f64)]) -> RunResult {
        let mut run = fixture::ladder();
        let name = run.experiment.variants[0].name.clone();
        run.experiment.variants.truncate(1);
        (run.experiment.factor, run.experiment.factor_unit) = (FACTOR.to_owned(), String::new());
        run.experiment.levels = rates.iter().map(|(level, ..)| *level).collect();
        let like = run.cells[0].clone();
        let cell = |(level, rate, half): &(u64, f64, f64)| Cell {
            variant: name.clone(),
            level: *level,
            occupancy: None,
            requests_per_second: Estimate { mean: *rate, low: rate - half, high: rate + half, n: 8 },
            ..like.clone()
        };
        run.cells = rates.iter().map(cell).collect();
        run
    }

    #[test]
    fn the_first_sentences_say_how_far_it_rises_and_from_where_it_does_not() {
        let check = |rates: &[(u64, f64, f64)], expected: &str| {
            let claim = claim(&run(rates)).unwrap();
            let texts: Vec<&str> = claim.sentences.iter().map(|said| said.text.as_str()).collect();
            assert_eq!(texts.join(" "), expected);
        };
        let first = "The server answers 100 requests a second at setting 1 and 420 at setting 8.";
        check(&[(1, 100.0, 2.0), (4, 415.0, 6.0), (8, 420.0, 5.0)], &format!("{first} From 4 on it rises no more."));
        check(&[(1, 100.0, 2.0), (4, 300.0, 6.0), (8, 420.0, 5.0)], &format!("{first} It still rises there."));
        check(
            &[(1, 100.0, 2.0), (4, 99.0, 2.0)],
            "The server answers 100 requests a second at setting 1; no higher setting answers more.",
        );
        let sinking = &[(1, 100.0, 2.0), (2, 200.0, 2.0), (4, 150.0, 2.0)];
        let first = "The server answers 100 requests a second at setting 1 and 200 at setting 2.";
        check(sinking, &format!("{first} From 2 on it rises no more."));
    }

    #[test]
    fn a_refused_setting_is_not_told() {
        let mut run = run(&[(1, 100.0, 2.0), (2, 200.0, 2.0), (4, 400.0, 2.0)]);
        let name = run.experiment.variants[0].name.clone();
        run.validity = vec![fixture::doubt(&name, 4, "littles-law", Verdict::Refused)];
        let text = claim(&run).unwrap().sentences.remove(0).text;
        assert!(text.ends_with("200 at setting 2."), "{text}");
        run.validity.push(fixture::doubt(&name, 2, "littles-law", Verdict::Refused));
        assert!(claim(&run).is_none());
    }
}
