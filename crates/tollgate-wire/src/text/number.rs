//! Numbers as text: integers by pairs of digits, reals by their shortest form that reads back the same.
//!
//! Decimals are not here: they are texts from end to end (see [`crate::decimal`]).

use std::io::Write;

const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut value = 0;
    while value < 100 {
        pairs[value * 2] = b'0' + (value / 10) as u8;
        pairs[value * 2 + 1] = b'0' + (value % 10) as u8;
        value += 1;
    }
    pairs
};

/// Digits of the largest integer.
const DIGITS_MAX: usize = 20;

/// Writes an integer in decimal digits.
#[inline]
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    if (0..1000).contains(&value) {
        // Counts, minutes and seats: nearly all integers of a row.
        let value = value as usize;
        let (hundreds, pair) = (value / 100, value % 100 * 2);
        let digits = [b'0' + hundreds as u8, PAIRS[pair], PAIRS[pair + 1], 0];
        match value {
            100.. => out.extend_from_slice(&digits[..3]),
            10.. => out.extend_from_slice(&digits[1..3]),
            _ => out.push(digits[2]),
        }
        return;
    }
    let mut digits = [0; DIGITS_MAX];
    let mut at = DIGITS_MAX;
    let mut rest = value.unsigned_abs();
    while rest >= 10 {
        let pair = (rest % 100) as usize * 2;
        rest /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if rest > 0 {
        at -= 1;
        digits[at] = b'0' + rest as u8;
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Number of bits of a real in its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    /// `Edm.Single`.
    Single,
    /// `Edm.Double`.
    Double,
}

/// Writes a real; the ones that are no numbers as `NaN`, `INF` and `-INF`, as both versions of OData do.
pub fn write_real(out: &mut Vec<u8>, value: f64, width: Width) {
    if value.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if value.is_infinite() {
        out.extend_from_slice(if value < 0.0 { b"-INF".as_slice() } else { b"INF".as_slice() });
    } else {
        // The debug form is the shortest that reads back as the same number, with an exponent where it is long.
        let written = match width {
            Width::Single => write!(out, "{:?}", value as f32),
            Width::Double => write!(out, "{value:?}"),
        };
        written.expect("a vector takes every byte");
    }
}

/// Whether the text is a valid JSON number: a sign, digits, a point with digits. An exponent is no canonical form.
#[inline]
pub fn is_plain_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, fraction) = match unsigned.iter().position(|byte| *byte == b'.') {
        Some(point) => (&unsigned[..point], Some(&unsigned[point + 1..])),
        None => (unsigned, None),
    };
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    digits(whole) && (whole.len() == 1 || whole[0] != b'0') && fraction.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn integer(value: i64) -> String {
        let mut out = Vec::new();
        write_integer(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn integers_at_their_edges() {
        for value in [0, 9, 10, 99, 100, 999, 1000, 1001, 9999, 10_000, -1, -10, i64::MAX, i64::MIN] {
            assert_eq!(integer(value), value.to_string());
        }
    }

    #[test]
    fn only_what_json_takes_is_a_plain_number() {
        for (text, expected) in [
            ("0", true),
            ("422.94", true),
            ("-0.5", true),
            ("2573.0000", true),
            ("10", true),
            ("", false),
            ("-", false),
            (".5", false),
            ("5.", false),
            ("0.", false),
            ("01", false),
            ("00.5", false),
            ("1.2.3", false),
            ("1e5", false),
            ("NaN", false),
            ("1 ", false),
        ] {
            assert_eq!(is_plain_number(text.as_bytes()), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn integers_are_written_as_the_standard_library_does(value in any::<i64>(), shift in 0u32..64) {
            prop_assert_eq!(integer(value >> shift), (value >> shift).to_string());
        }

        #[test]
        fn reals_read_back_the_same(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let mut out = Vec::new();
            write_real(&mut out, value, Width::Double);
            prop_assert_eq!(std::str::from_utf8(&out).unwrap().parse::<f64>().unwrap().to_bits(), bits);
        }
    }
}
