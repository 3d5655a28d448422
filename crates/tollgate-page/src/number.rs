//! Numbers as people read them: three significant digits, thousands grouped, units chosen once a column.
//!
//! Nothing is rounded before it comes here, and machines (CSV, JSON) get the unrounded value.

use tollgate_facts::stats::{Estimate, is_exact};

/// Larger numbers are written with their power of ten: nobody counts six commas.
const GROUPED_BELOW: f64 = 1e15;

/// Most decimals of a ratio.
const RATIO_DECIMALS_MAX: usize = 4;

/// An interval that reaches no further than this share of its mean is as far above it as below, to the digits that are
/// printed: on the log scale the two sides of 10 % differ by a tenth of themselves.
const NEARLY_SYMMETRIC_SHARE: f64 = 0.1;
/// … and neither end is further away than this many halves of it.
const LOPSIDED_MAX: f64 = 1.1;

/// Placeholder of a missing value.
pub const NOTHING: &str = "–";

/// Three significant digits, thousands grouped: `12,345`, `123`, `12.3`, `0.0123`.
pub fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = decimals(value);
    // Rounding may add a digit: 9.999 is 10.0, not 10.00.
    let rounded = format!("{value:.decimals$}").parse::<f64>().map_or(decimals, self::decimals);
    grouped(value, rounded)
}

/// Decimals for a whole column, so that its points are aligned: three digits for its middle value.
pub fn column_decimals(values: impl Iterator<Item = f64>) -> usize {
    let sizes: Vec<f64> = values.map(f64::abs).filter(|size| size.is_finite() && *size > 0.0).collect();
    tollgate_facts::stats::signed_rank::median(sizes).map_or(0, decimals)
}

/// A value of a column; one too small for its decimals keeps its own digits.
pub fn in_column(value: f64, decimals: usize) -> String {
    let is_lost = value != 0.0 && value.abs() < 10f64.powi(-i32::try_from(decimals).unwrap_or(9));
    if is_lost || !value.is_finite() { three_digits(value) } else { grouped(value, decimals) }
}

/// A mean of non-negative values with its interval, formatted by `one`: `12.3 ±0.4`, or `24.1 [2.70, 215]` where it is
/// not nearly symmetric; for a single value, with a note.
pub fn with_half(estimate: Estimate, one: impl Fn(f64) -> String) -> String {
    match estimate.n {
        0 => NOTHING.to_owned(),
        1 => format!("{} (n=1)", one(estimate.mean)),
        _ => format!("{}{}", one(estimate.mean), spread(estimate, &one, &one)),
    }
}

/// The interval after a mean of non-negative values: half of it, formatted by `half`, where it is nearly symmetric,
/// else its ends; empty where there is none.
pub fn spread(estimate: Estimate, end: impl Fn(f64) -> String, half: impl Fn(f64) -> String) -> String {
    let Some((low, high)) = estimate.interval() else { return String::new() };
    let reach = (high - low) / 2.0;
    let further = (high - estimate.mean).max(estimate.mean - low);
    // Where both ends are printed alike there is nothing to tell apart.
    let is_even = further <= LOPSIDED_MAX * reach || end(low) == end(high);
    match reach <= NEARLY_SYMMETRIC_SHARE * estimate.mean && is_even {
        true => format!(" ±{}", half(reach)),
        // Older results have intervals of times that reach below zero.
        false => format!(" [{}, {}]", end(low.max(0.0)), end(high)),
    }
}

/// A mean with its interval, in multiples of its unit: `0.52 [0.48, 0.56]`.
pub fn with_interval(estimate: Estimate, factor: f64) -> String {
    let text = |value: f64| three_digits(value * factor);
    format!("{} [{}, {}]", text(estimate.mean), text(estimate.low), text(estimate.high))
}

/// Like [`three_digits`], or [`NOTHING`].
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| NOTHING.to_owned(), three_digits)
}

/// A text, or [`NOTHING`].
pub fn or_nothing(text: Option<impl Into<String>>) -> String {
    text.map_or_else(|| NOTHING.to_owned(), Into::into)
}

/// Formats with this many decimals, thousands grouped.
pub fn grouped(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    if value.abs() >= GROUPED_BELOW {
        return format!("{value:.2e}");
    }
    group(&format!("{value:.decimals$}"))
}

/// A whole number with thousands grouped.
pub fn whole(value: u64) -> String {
    group(&value.to_string())
}

/// Bytes with the unit that fits, in powers of 1000: `412 kB`.
pub fn bytes(value: f64) -> String {
    let (unit, size) = match value.abs() {
        size if size >= 1e9 => ("GB", 1e9),
        size if size >= 1e6 => ("MB", 1e6),
        size if size >= 1e3 => ("kB", 1e3),
        _ => ("B", 1.0),
    };
    format!("{} {unit}", three_digits(value / size))
}

/// Decimals that distinguish the ends of an interval, and their side of 1: between two and four; fewer for large
/// ratios.
pub fn ratio_decimals(ratio: f64, low: f64, high: f64) -> usize {
    let decimals = match ratio {
        100.0.. => 0,
        10.0.. => 1,
        ratio if ratio < 0.1 => 4,
        _ if high - low < 0.005 => 3,
        _ => 2,
    };
    // An end that is printed as 1 would contradict the verdict beside it.
    let is_lost = |end: f64, decimals: usize| (end - 1.0).abs() > 0.0 && format!("{end:.decimals$}").parse() == Ok(1.0);
    let is_told = |decimals: &usize| is_exact(low, high) || ![low, high].iter().any(|end| is_lost(*end, *decimals));
    (decimals..RATIO_DECIMALS_MAX).find(is_told).unwrap_or(decimals.max(RATIO_DECIMALS_MAX))
}

/// `1.83× [1.80, 1.86]`; without spread `1.83× exact`.
pub fn ratio(ratio: f64, low: f64, high: f64) -> String {
    if ![ratio, low, high].iter().all(|value| value.is_finite()) {
        return NOTHING.to_owned();
    }
    let decimals = ratio_decimals(ratio, low, high);
    let one = |value: f64| grouped(value, decimals);
    if is_exact(low, high) {
        return format!("{}× exact", one(ratio));
    }
    format!("{}× [{}, {}]", one(ratio), one(low), one(high))
}

/// `+12.3 ms` or `−0.4 µs`, with a true minus sign.
pub fn signed(value: f64, unit: &str) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    match unit {
        "bytes" => format!("{sign}{}", bytes(value.abs())),
        // As earlier results have it.
        "us" => format!("{sign}{} µs", three_digits(value.abs())),
        _ => format!("{sign}{} {unit}", three_digits(value.abs())),
    }
}

/// Decimals with which a value has three digits.
fn decimals(size: f64) -> usize {
    (2.0 - size.abs().log10().floor()).clamp(0.0, 9.0) as usize
}

fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("−", digits));
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut grouped = sign.to_owned();
    for (index, digit) in digits.char_indices() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_kept_and_thousands_grouped() {
        for (value, expected) in [
            (0.0, "0"),
            (1_234_567.0, "1,234,567"),
            (12_345.6, "12,346"),
            (999.6, "1,000"),
            (123.4, "123"),
            (12.34, "12.3"),
            (9.999, "10.0"),
            (1.0, "1.00"),
            (0.012_34, "0.0123"),
            (-4.5, "−4.50"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
            (f64::MAX, "1.80e308"),
        ] {
            assert_eq!(three_digits(value), expected, "{value}");
        }
    }

    #[test]
    fn a_ratio_never_travels_without_its_interval() {
        assert_eq!(ratio(1.833, 1.801, 1.864), "1.83× [1.80, 1.86]");
        assert_eq!(ratio(2.805, 2.805, 2.805), "2.805× exact");
        assert_eq!(ratio(1.0011, 1.0006, 1.0021), "1.001× [1.001, 1.002]");
        assert_eq!(ratio(1234.5, 1200.0, 1300.0), "1,234× [1,200, 1,300]");
        assert_eq!(ratio(f64::NAN, 0.0, 1.0), "–");
    }

    #[test]
    fn an_end_beside_1_is_never_printed_as_1() {
        assert_eq!(ratio(1.17, 1.002, 1.36), "1.170× [1.002, 1.360]");
        assert_eq!(ratio(1.02, 0.998, 1.05), "1.020× [0.998, 1.050]");
        assert_eq!(ratio(1.0011, 1.0001, 1.0021), "1.0011× [1.0001, 1.0021]");
        // One that is 1 is printed as it is, and beyond four digits nothing is told apart.
        assert_eq!(ratio(1.02, 1.0, 1.05), "1.02× [1.00, 1.05]");
        assert_eq!(ratio(1.02, 1.000_001, 1.05), "1.0200× [1.0000, 1.0500]");
    }

    #[test]
    fn a_time_has_its_ends_where_its_interval_is_wide_and_none_is_below_zero() {
        let estimate = |mean, low, high, n| Estimate { mean, low, high, n };
        let text = |found| with_half(found, three_digits);
        assert_eq!(text(estimate(12.3, 11.9, 12.7, 8)), "12.3 ±0.400");
        assert_eq!(text(estimate(24.1, 2.70, 215.0, 8)), "24.1 [2.70, 215]");
        // Narrow, and yet further above than below.
        assert_eq!(text(estimate(10.0, 9.9, 10.7, 8)), "10.0 [9.90, 10.7]");
        assert_eq!(text(estimate(5.0, 4.9998, 5.0018, 8)), "5.00 ±0.00100");
        // As older results have it: 24.1 ± 86.5.
        assert_eq!(text(estimate(24.1, -62.4, 110.6, 8)), "24.1 [0, 111]");
        assert_eq!(text(estimate(24.1, 24.1, 24.1, 1)), "24.1 (n=1)");
        assert_eq!(text(Estimate::default()), NOTHING);
    }

    #[test]
    fn a_column_has_one_number_of_decimals() {
        let decimals = column_decimals([0.0394, 0.105, 0.21, f64::NAN, 0.0].into_iter());
        assert_eq!(decimals, 3);
        assert_eq!(["0.039", "0.210"], [0.0394, 0.21].map(|value| in_column(value, decimals)));
        assert_eq!(in_column(0.000_123, decimals), "0.000123");
        assert_eq!(column_decimals(std::iter::empty()), 0);
    }

    #[test]
    fn units_and_signs() {
        assert_eq!(bytes(421_830.0), "422 kB");
        assert_eq!(bytes(12.0), "12.0 B");
        assert_eq!(signed(12.34, "ms"), "+12.3 ms");
        assert_eq!(signed(-1_200_000.0, "bytes"), "−1.20 MB");
    }
}
