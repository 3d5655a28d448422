//! Numbers as texts, both ways (XPath 1.0, sections 4.2 and 4.4), and rounding (section 4.4).

use std::borrow::Cow;

use crate::characters::is_space;

/// The number that a text is: white space around it, a minus sign, digits with at most one point; anything else is NaN.
pub(crate) fn from_text(text: &str) -> f64 {
    let text = text.trim_matches(|character: char| character.is_ascii() && is_space(character as u8));
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mut points = 0;
    let mut has_digit = false;
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => has_digit = true,
            b'.' => points += 1,
            _ => return f64::NAN,
        }
    }
    if !has_digit || points > 1 { f64::NAN } else { text.parse().unwrap_or(f64::NAN) }
}

/// A number as a text: no exponent, as many digits as distinguish it from all others.
pub(crate) fn to_text(number: f64) -> Cow<'static, str> {
    if number.is_nan() {
        return Cow::Borrowed("NaN");
    }
    if number.is_infinite() {
        return Cow::Borrowed(if number > 0.0 { "Infinity" } else { "-Infinity" });
    }
    if number == 0.0 {
        // Negative zero too.
        return Cow::Borrowed("0");
    }
    Cow::Owned(number.to_string())
}

/// The nearest whole number, halves towards positive infinity; the sign of zero is kept.
pub(crate) fn round(number: f64) -> f64 {
    if !number.is_finite() || number.fract() == 0.0 {
        return number;
    }
    let floor = number.floor();
    let rounded = if number - floor < 0.5 { floor } else { floor + 1.0 };
    if rounded == 0.0 { rounded.copysign(number) } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_numbers_as_the_grammar_says() {
        for (text, expected) in
            [("12", 12.0), (" \n-12.50\t", -12.5), (".5", 0.5), ("5.", 5.0), ("-.5", -0.5), ("0010", 10.0)]
        {
            assert!((from_text(text) - expected).abs() < f64::EPSILON, "{text}");
        }
        for text in ["", ".", "-", "+1", "1e3", "1 2", "--1", "1.2.3", "Infinity", "NaN", "0x10", "- 1", "\u{A0}1"] {
            assert!(from_text(text).is_nan(), "{text}");
        }
    }

    #[test]
    fn numbers_become_texts_without_exponents() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (123456789012345680.0, "123456789012345680"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(to_text(number), expected);
        }
    }

    #[test]
    fn halves_round_upwards() {
        for (number, expected) in
            [(2.5, 3.0), (-2.5, -2.0), (0.49999999999999994, 0.0), (-0.5, 0.0), (1e300, 1e300), (-2.6, -3.0)]
        {
            assert!((round(number) - expected).abs() < f64::EPSILON, "{number}");
        }
        assert!(round(-0.2).is_sign_negative());
    }
}
