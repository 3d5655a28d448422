//! Tables beside those of the levels: peaks against their limits, the speed of cryptography, and published figures
//! beside ours.

use super::tables::{self, encryption};
use tollgate_facts::results::{Cell, Encryption, Figure, Peak, Published, RunResult};
use tollgate_page::blocks::Table;
use tollgate_page::gather::by_key;
use tollgate_page::number;
use tollgate_page::words::view::View;

/// The rate at which the published shares of a core were measured, in requests per second.
const RATE_PUBLISHED: f64 = 75.0;

/// The peak of each limited resource, over all variants and levels, and where it was.
pub(crate) fn peaks(run: &RunResult) -> Table {
    let row = |(name, own): (&String, Vec<&Peak>)| {
        let most = own.into_iter().max_by(|one, other| one.value.total_cmp(&other.value))?;
        // What never happened happened nowhere.
        let place =
            (most.value > 0.0).then(|| format!("{} at {}", most.variant, run.experiment.level_title(most.level)));
        let peak = number::three_digits(most.value);
        Some(vec![name.clone(), peak, number::optional(most.limit), number::or_nothing(place)])
    };
    let rows = by_key(run.peaks.iter().map(|peak| (&peak.name, peak))).into_iter().filter_map(row);
    let title = "the most that was seen, over all variants and levels";
    Table::new(title, ["of what", "peak", "limit", "with"]).with(rows)
}

/// The table of the speed of cryptography.
pub(crate) fn crypto(run: &RunResult) -> Table {
    let row = |speed: &tollgate_facts::results::CryptoSpeed| {
        let estimate = speed.estimate.filter(|estimate| estimate.n > 1);
        let ends = estimate.map(|estimate| [estimate.low, estimate.high].map(number::three_digits).join(" to "));
        let what = format!("{} {}", speed.algorithm, speed.operation);
        vec![what, number::three_digits(speed.value), number::or_nothing(ends), speed.unit.clone()]
    };
    let measured = run.crypto.first().and_then(|speed| Some((speed.slice_ms, speed.estimate?.n)));
    let measured =
        measured.map_or_else(String::new, |(slice_ms, slices)| format!(", {slices} slices of {slice_ms} ms each"));
    let title = format!("speed of the cryptography on one core of this machine{measured}");
    Table::new(title, ["what", "speed", "95 %", "unit"]).with(run.crypto.iter().map(row))
}

/// Published figures, each beside ours if there is one that corresponds.
pub(crate) fn published(view: &View<'_>) -> Option<Table> {
    let run = view.run;
    let level = level_beside(run)?;
    let row = |published: &Published| {
        let variant = published.variant.as_ref();
        let cell = variant.and_then(|variant| run.cell(variant, published.level.unwrap_or(level)));
        let ours = cell.and_then(|cell| ours(run, cell, published)).or_else(|| of_crypto(run, published));
        let theirs = format!("{} {}", number::three_digits(published.value), published.unit);
        let subject = match published.note.as_deref() {
            Some(note) => format!("{} ({note})", published.subject),
            None => published.subject.clone(),
        };
        vec![published.figure.clone(), theirs, number::or_nothing(ours), subject]
    };
    let title = format!("published, and ours at {}", run.experiment.level_title(level));
    Some(Table::new(title, ["figure", "published", "ours", "published of"]).with(run.published.iter().map(row)))
}

/// The level closest to the published measurement: a key of RSA-2048, else the first.
fn level_beside(run: &RunResult) -> Option<u64> {
    let measured = |level: u64| run.cells.iter().any(|cell| cell.level == level);
    let named = run.experiment.named_levels.iter().filter(|named| named.key == "rsa-2048").map(|named| named.level);
    named.chain(run.experiment.levels.iter().copied()).find(|level| measured(*level))
}

fn ours(run: &RunResult, cell: &Cell, published: &Published) -> Option<String> {
    let ms = |value: f64| format!("{} ms", number::three_digits(value));
    let times = cell.response_time_ms;
    match published.figure.as_str() {
        "requests/s" => Some(format!("{} 1/s", number::three_digits(cell.requests_per_second.mean))),
        "median" => times.p50.map(ms),
        "p95" => times.p95.map(ms),
        "p99" => times.p99.map(ms),
        "share over 200 ms" => cell.linear.as_ref().map(|linear| tables::percent(linear.share_over_200_ms)),
        "added response time" if encryption(run, &cell.variant).is_some_and(|kind| kind != Encryption::Off) => run
            .toll(&cell.variant, cell.level, Figure::MedianAtRate)
            .filter(|toll| toll.is_shown())
            .map(|toll| ms(toll.difference)),
        "share of a core at 75/s" => {
            let rate = cell.equal_rate.as_ref().filter(|rate| (rate.rate_per_second - RATE_PUBLISHED).abs() < 1.0)?;
            Some(format!("{} %", number::with_half(rate.subject_cores?, |cores| number::three_digits(cores * 100.0))))
        }
        "CPU toll" => cpu_over_bottom(run, cell)
            .map(|(ratio, bottom)| format!("{} x, over {bottom}", number::three_digits(ratio))),
        "worker threads at peak" => {
            let own = run.peaks.iter().filter(|peak| peak.variant == cell.variant && peak.name == "subject-threads");
            own.map(|peak| peak.value).reduce(f64::max).map(|most| format!("{most:.0} threads"))
        }
        _ => None,
    }
}

/// The ratio of a cell's CPU time to that of the last baseline, as published: the product of the tolls on the way
/// there. They are ratios of geometric means over the same blocks, and so is their product.
fn cpu_over_bottom<'r>(run: &'r RunResult, cell: &Cell) -> Option<(f64, &'r str)> {
    let toll_of = |name| run.toll(name, cell.level, Figure::SubjectCpu).filter(|toll| toll.is_shown());
    let mut ratio = 1.0;
    let mut bottom = None;
    let mut name = cell.variant.as_str();
    // No longer than there are variants: a result that somebody wrote may go round in a circle.
    for _ in &run.experiment.variants {
        let Some(baseline) = run.experiment.variant(name).and_then(|own| own.baseline.as_deref()) else { break };
        ratio *= toll_of(name)?.ratio;
        (name, bottom) = (baseline, Some(baseline));
    }
    Some((ratio, bottom?))
}

fn of_crypto(run: &RunResult, published: &Published) -> Option<String> {
    let speed = |algorithm: &str| run.crypto.iter().find(|speed| speed.algorithm.starts_with(algorithm));
    match published.figure.as_str() {
        "RSA-2048 signature" => {
            speed("RSA-2048").map(|speed| format!("{} ms", number::three_digits(1e3 / speed.value)))
        }
        "AES" => speed("AES").map(|speed| format!("{} {}", number::three_digits(speed.value), speed.unit)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::fixture;

    #[test]
    fn the_published_toll_on_cpu_is_over_the_last_baseline_and_so_is_ours() {
        let mut run = fixture::encryption();
        let level = run.experiment.levels[0];
        let ratio_of = |run: &RunResult, name: &str| {
            let own = |toll: &&tollgate_facts::results::Toll| {
                toll.variant == name && toll.level == level && toll.figure == Figure::SubjectCpu
            };
            run.tolls.iter().find(own).unwrap().ratio
        };
        let over_bottom = |run: &RunResult, name: &str| {
            let cell = run.cells.iter().find(|cell| cell.variant == name && cell.level == level).unwrap();
            cpu_over_bottom(run, cell).map(|(ratio, bottom)| (ratio, bottom.to_owned()))
        };
        let expected = ratio_of(&run, "https-new") * ratio_of(&run, "http-new");
        assert_eq!(over_bottom(&run, "https-new"), Some((expected, "http".to_owned())));
        assert_eq!(over_bottom(&run, "https"), Some((ratio_of(&run, "https"), "http".to_owned())));
        assert_eq!(over_bottom(&run, "http"), None);
        run.tolls.retain(|toll| toll.variant != "http-new");
        assert_eq!(over_bottom(&run, "https-new"), None);
    }
}
