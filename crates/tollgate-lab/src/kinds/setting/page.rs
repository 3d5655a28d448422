//! Page of a run over settings of the user's servers: how throughput changes with the setting.

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
    anew. Other changes on the machine may affect some settings more than others, so tolls compare only variants at the same setting.";

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

/// The claim from the first readable variant: its throughput at the lowest setting and at the best, from where a rise is
/// not shown, and how far it falls beyond the best.
fn claim(run: &RunResult) -> Option<Claim> {
    let (variant, cells) = run.experiment.variants.iter().find_map(|variant| {
        let is_readable = |cell: &&Cell| !marked::is_refused(run, &variant.name, cell.level);
        let of_variant = run.cells.iter().filter(|cell| cell.variant == variant.name);
        let mut cells: Vec<&Cell> = of_variant.filter(is_readable).collect();
        cells.sort_by_key(|cell| cell.level);
        (!cells.is_empty()).then_some((variant, cells))
    })?;
    let rate = |cell: &Cell| cell.requests_per_second;
    let first = *cells.first()?;
    let best =
        cells.iter().copied().reduce(|best, cell| if rate(cell).mean > rate(best).mean { cell } else { best })?;
    let enough = cells.iter().copied().find(|cell| rate(cell).high >= rate(best).low)?;
    let at = |cell: &Cell| sentence::level(&run.experiment, cell.level);
    let told = |cell: &Cell| number::three_digits(rate(cell).mean);
    let last = *cells.last()?;
    let whose = if run.experiment.variants.len() > 1 { variant.name.as_str() } else { "The server" };
    let of = |cells: &[&Cell]| cells.iter().map(|cell| (variant.name.clone(), cell.level)).collect();
    let rises = rate(first).high < rate(best).low;
    let falls = rate(last).high < rate(best).low;
    let most = if rises || falls { best } else { last };
    let text = match most.level == first.level {
        true => format!("{whose} answers {} requests a second at {}.", told(first), at(first)),
        false => format!(
            "{whose} answers {} requests a second at {} and {} at {}.",
            told(first),
            at(first),
            told(most),
            at(most)
        ),
    };
    let mut sentences = vec![Said { text, cells: of(&[first, most]) }];
    // Intervals that meet show no rise; that there is none they do not show.
    let open = match (rises, enough.level == best.level) {
        _ if cells.len() == 1 => None,
        (false, _) if falls => None,
        (false, _) => Some("No rise is shown.".to_owned()),
        (true, false) => Some(format!("Whether it rises beyond {} is open.", enough.level)),
        (true, true) if best.level == last.level => Some("It still rises there.".to_owned()),
        (true, true) => Some("Beyond it no rise is shown.".to_owned()).filter(|_| !falls),
    };
    let fall = falls.then(|| format!("Beyond {} it falls, to {} at {}.", best.level, told(last), last.level));
    sentences.extend(open.map(|text| Said { text, cells: of(&[enough, best]) }));
    sentences.extend(fall.map(|text| Said { text, cells: of(&[best, last]) }));
    let [low, high] = [rate(most).low, rate(most).high].map(number::three_digits);
    let interval =
        format!("the 95 % interval at {} is {low} to {high} requests a second, over {} blocks", at(most), most.rounds);
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
        check(
            &[(1, 100.0, 2.0), (4, 415.0, 6.0), (8, 420.0, 5.0)],
            &format!("{first} Whether it rises beyond 4 is open."),
        );
        check(&[(1, 100.0, 2.0), (4, 300.0, 6.0), (8, 420.0, 5.0)], &format!("{first} It still rises there."));
        check(
            &[(1, 100.0, 2.0), (4, 99.0, 2.0)],
            "The server answers 100 requests a second at setting 1 and 99.0 at setting 4. No rise is shown.",
        );
        let wide = &[(1, 300.0, 150.0), (4, 420.0, 150.0)];
        check(wide, "The server answers 300 requests a second at setting 1 and 420 at setting 4. No rise is shown.");
        let first = "The server answers 100 requests a second at setting 1 and 200 at setting 2.";
        check(
            &[(1, 100.0, 2.0), (2, 200.0, 2.0), (4, 150.0, 2.0)],
            &format!("{first} Beyond 2 it falls, to 150 at 4."),
        );
        check(&[(1, 100.0, 2.0), (2, 200.0, 9.0), (4, 195.0, 9.0)], &format!("{first} Beyond it no rise is shown."));
        check(
            &[(1, 100.0, 2.0), (2, 80.0, 2.0)],
            "The server answers 100 requests a second at setting 1. Beyond 1 it falls, to 80.0 at 2.",
        );
        check(&[(3, 100.0, 2.0)], "The server answers 100 requests a second at setting 3.");
    }

    #[test]
    fn a_refused_setting_is_not_told() {
        let mut run = run(&[(1, 100.0, 2.0), (2, 200.0, 2.0), (4, 400.0, 2.0)]);
        let name = run.experiment.variants[0].name.clone();
        run.validity = vec![fixture::doubt(&name, 4, "littles-law", Verdict::Refused)];
        let text = claim(&run).unwrap().sentences.remove(0).text;
        assert!(text.ends_with("200 at setting 2."), "{text}");
        run.validity.extend([1, 2].map(|level| fixture::doubt(&name, level, "littles-law", Verdict::Refused)));
        assert!(claim(&run).is_none());
    }
}
