//! How long something takes, as a person reads it at a glance.
//!
//! It reads no flags: that is `values`.

use std::time::Duration;

/// Milliseconds below a second, seconds below two minutes, minutes and seconds above.
pub(crate) fn readable(duration: Duration) -> String {
    if !duration.is_zero() && duration < Duration::from_secs(1) {
        return format!("{} ms", duration.as_millis());
    }
    let seconds = duration.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
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
