//! Times and numbers in readable form.
//!
//! It parses no flags: that is `values`.

use std::time::Duration;

/// Milliseconds below a second, seconds below two minutes, minutes and seconds above.
pub(crate) fn readable(duration: Duration) -> String {
    if !duration.is_zero() && duration < Duration::from_secs(1) {
        return format!("{} ms", duration.as_millis());
    }
    let seconds = duration.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// A whole number with thousands grouped.
pub(crate) fn whole(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Three significant digits, thousands grouped.
pub(crate) fn three_digits(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    match value.abs() {
        size if size >= 1000.0 => whole(value.round() as u64),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_rounded_up_and_read_at_a_glance() {
        let check = |milliseconds: u64, expected: &str| {
            assert_eq!(readable(Duration::from_millis(milliseconds)), expected);
        };
        check(200, "200 ms");
        check(1_200, "2 s");
        check(119_000, "119 s");
        check(119_500, "2 min 0 s");
        check(3_661_000, "61 min 1 s");
    }
}
