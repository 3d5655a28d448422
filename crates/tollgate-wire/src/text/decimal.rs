//! Exact decimals as texts: canonical form, order and arithmetic of `Edm.Decimal` without a float anywhere.
//!
//! It deliberately keeps no numbers in a binary form between calls, and does not know `INF` and `NaN`. Arithmetic is
//! exact up to [`DIGITS_MAX`] digits and returns [`DecimalError::Overflow`] beyond; order and canonical form have no
//! such limit.

use std::cmp::Ordering;
use std::fmt;

/// Most significant digits in arithmetic (as many as fit in 128 bits).
pub const DIGITS_MAX: usize = 38;
/// Longest canonical text that [`canonical`] makes from an exponent: a hostile `1e999999999` must not fill memory.
pub const CANONICAL_DIGITS_MAX: usize = 400;
/// Digits after the point to which a division that never ends is rounded.
pub const DIVISION_SCALE_MAX: u32 = 20;

/// The reason why an operation has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalError {
    /// A text is not a decimal.
    Malformed,
    /// The result needs more than [`DIGITS_MAX`] digits.
    Overflow,
    /// The divisor is zero.
    DivisionByZero,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecimalError::Malformed => formatter.write_str("not a decimal number"),
            DecimalError::Overflow => write!(formatter, "decimal result has more than {DIGITS_MAX} digits"),
            DecimalError::DivisionByZero => formatter.write_str("division by zero"),
        }
    }
}

impl std::error::Error for DecimalError {}

/// The canonical form: no plus sign, no leading zeros, no exponent, no negative zero; digits after the point are kept
/// as they are. `None` if `text` is not a decimal or longer than [`CANONICAL_DIGITS_MAX`] digits.
///
/// ```
/// use tollgate_wire::decimal::canonical;
/// assert_eq!(canonical("+0422.940").as_deref(), Some("422.940"));
/// assert_eq!(canonical("-1.5e2").as_deref(), Some("-150"));
/// assert_eq!(canonical("1,5"), None);
/// ```
pub fn canonical(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len() + 1);
    append_canonical(&mut out, text)?;
    Some(String::from_utf8(out).expect("a decimal is written in ASCII"))
}

/// Writes the canonical form; nothing where there is none.
pub(crate) fn append_canonical(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], exponent_value(&text[at + 1..])?),
        None => (text, 0),
    };
    let parts = SplitDecimal::split(mantissa)?;
    let count = (parts.whole.len() + parts.fraction.len()) as i64;
    if count + exponent.abs() > CANONICAL_DIGITS_MAX as i64 {
        return None;
    }
    if parts.negative && !parts.is_zero() {
        out.push(b'-');
    }
    // The point moves by the exponent: digits before it stand in `point`, which may lie outside of what was written.
    let point = parts.whole.len() as i64 + exponent;
    let digits = || parts.whole.bytes().chain(parts.fraction.bytes());
    let before = point.max(0) as usize;
    let start = out.len();
    out.extend(digits().take(before).skip_while(|digit| *digit == b'0'));
    if out.len() > start {
        out.extend(std::iter::repeat_n(b'0', (point - count).max(0) as usize));
    } else {
        out.push(b'0');
    }
    if point < count {
        out.push(b'.');
        out.extend(std::iter::repeat_n(b'0', (-point).max(0) as usize));
        out.extend(digits().skip(before));
    }
    Some(())
}

/// The order of two decimals by value: `2.50` equals `2.5`. Texts that are not decimals come first, by their bytes, so
/// that the order is total (it serves as a collation).
pub fn compare(a: &str, b: &str) -> Ordering {
    if let (Some(a), Some(b)) = (millionths(a), millionths(b)) {
        return a.cmp(&b);
    }
    compare_by_digits(a, b)
}

fn compare_by_digits(a: &str, b: &str) -> Ordering {
    match (SplitDecimal::split(a), SplitDecimal::split(b)) {
        (Some(a), Some(b)) => a.compare(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => a.cmp(b),
    }
}

/// The value in millionths of a decimal as nearly all are: at most 12 digits before the point and 6 behind it. A filter
/// over decimals compares one for each row.
fn millionths(text: &str) -> Option<i64> {
    const WHOLE_DIGITS_MAX: usize = 12;
    const FRACTION_DIGITS_MAX: usize = 6;
    let (negative, unsigned) = match text.as_bytes() {
        [b'-', unsigned @ ..] => (true, unsigned),
        unsigned => (false, unsigned),
    };
    let (whole, behind) = leading_digits(0, unsigned);
    let whole_digits = unsigned.len() - behind.len();
    let (value, fraction_digits) = match behind {
        [] => (whole, 0),
        [b'.', fraction @ ..] if !fraction.is_empty() && fraction.len() <= FRACTION_DIGITS_MAX => {
            let (value, behind) = leading_digits(whole, fraction);
            (behind.is_empty().then_some(value)?, fraction.len())
        }
        _ => return None,
    };
    if !(1..=WHOLE_DIGITS_MAX).contains(&whole_digits) {
        return None;
    }
    let value = (value * [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1][fraction_digits]).cast_signed();
    Some(if negative { -value } else { value })
}

/// Appends the digits at the front of a text to a number, and returns the rest of the text too. A number too long for
/// 64 bits makes no sense.
fn leading_digits(mut value: u64, mut text: &[u8]) -> (u64, &[u8]) {
    while let [digit @ b'0'..=b'9', behind @ ..] = text {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        text = behind;
    }
    (value, text)
}

/// Whether a canonical decimal fits `precision` significant digits with at most `scale` after the point (trailing zeros
/// do not count). A precision of 0 means no limit at all.
pub fn fits(text: &str, precision: u16, scale: u16) -> bool {
    let Some(parts) = SplitDecimal::split(text) else { return false };
    let fraction = parts.fraction.trim_end_matches('0');
    precision == 0
        || (fraction.len() <= usize::from(scale)
            && parts.whole.len() <= usize::from(precision) - usize::from(scale.min(precision)))
}

/// The sum.
///
/// # Errors
/// As in [`DecimalError`]; the same applies to every operation here.
pub fn add(a: &str, b: &str) -> Result<String, DecimalError> {
    let (a, b) = Number::aligned(a, b)?;
    Number { digits: a.digits.checked_add(b.digits).ok_or(DecimalError::Overflow)?, scale: a.scale }.text()
}

/// The difference.
///
/// # Errors
/// As [`add`].
pub fn sub(a: &str, b: &str) -> Result<String, DecimalError> {
    let (a, b) = Number::aligned(a, b)?;
    Number { digits: a.digits.checked_sub(b.digits).ok_or(DecimalError::Overflow)?, scale: a.scale }.text()
}

/// The product.
///
/// # Errors
/// As [`add`].
pub fn mul(a: &str, b: &str) -> Result<String, DecimalError> {
    let (a, b) = (Number::parse(a)?, Number::parse(b)?);
    let digits = a.digits.checked_mul(b.digits).ok_or(DecimalError::Overflow)?;
    Number { digits, scale: a.scale + b.scale }.text()
}

/// The quotient: exact where it ends within [`DIVISION_SCALE_MAX`] digits after the point, otherwise rounded there, half
/// away from zero.
///
/// # Errors
/// As [`add`], and [`DecimalError::DivisionByZero`].
pub fn div(a: &str, b: &str) -> Result<String, DecimalError> {
    let (a, b) = Number::aligned(a, b)?;
    if b.digits == 0 {
        return Err(DecimalError::DivisionByZero);
    }
    let negative = (a.digits < 0) != (b.digits < 0);
    let divisor = b.digits.unsigned_abs();
    let mut quotient = a.digits.unsigned_abs() / divisor;
    let mut rest = a.digits.unsigned_abs() % divisor;
    let mut scale = 0;
    while rest != 0 && scale < DIVISION_SCALE_MAX {
        let shifted = rest.checked_mul(10).ok_or(DecimalError::Overflow)?;
        let Some(longer) = quotient.checked_mul(10).filter(|longer| *longer < i128::MAX as u128 - 10) else { break };
        quotient = longer + shifted / divisor;
        rest = shifted % divisor;
        scale += 1;
    }
    if rest >= divisor - rest {
        quotient += 1;
    }
    let digits = i128::try_from(quotient).map_err(|_| DecimalError::Overflow)?;
    Number { digits: if negative { -digits } else { digits }, scale }.text()
}

/// The rest of the division to a whole quotient; it has the sign of `a`.
///
/// # Errors
/// As [`div`].
pub fn modulo(a: &str, b: &str) -> Result<String, DecimalError> {
    let (a, b) = Number::aligned(a, b)?;
    let digits = a.digits.checked_rem(b.digits).ok_or(DecimalError::DivisionByZero)?;
    Number { digits, scale: a.scale }.text()
}

/// The number with its sign turned.
///
/// # Errors
/// As [`add`].
pub fn negate(a: &str) -> Result<String, DecimalError> {
    sub("0", a)
}

/// The nearest whole number, half away from zero.
///
/// # Errors
/// As [`add`].
pub fn round(a: &str) -> Result<String, DecimalError> {
    whole(a, |number, unit| {
        let rest = number % unit;
        let away = rest.abs() >= unit - rest.abs();
        number / unit + if away { rest.signum() } else { 0 }
    })
}

/// The greatest whole number that is not greater.
///
/// # Errors
/// As [`add`].
pub fn floor(a: &str) -> Result<String, DecimalError> {
    whole(a, |number, unit| number.div_euclid(unit))
}

/// The least whole number that is not less.
///
/// # Errors
/// As [`add`].
pub fn ceiling(a: &str) -> Result<String, DecimalError> {
    whole(a, |number, unit| number.div_euclid(unit) + i128::from(number.rem_euclid(unit) != 0))
}

fn whole(text: &str, take: impl Fn(i128, i128) -> i128) -> Result<String, DecimalError> {
    let number = Number::parse(text)?;
    let unit = 10i128.checked_pow(number.scale).ok_or(DecimalError::Overflow)?;
    Number { digits: if number.scale == 0 { number.digits } else { take(number.digits, unit) }, scale: 0 }.text()
}

/// A decimal cut into its parts; zeros at the left are gone.
struct SplitDecimal<'t> {
    negative: bool,
    whole: &'t str,
    fraction: &'t str,
}

impl<'t> SplitDecimal<'t> {
    fn split(text: &'t str) -> Option<SplitDecimal<'t>> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all_digits = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        // `.5` is let through since clients write it; a lone or trailing point is not.
        let shape = all_digits && if whole.len() == unsigned.len() { !whole.is_empty() } else { !fraction.is_empty() };
        shape.then(|| SplitDecimal { negative, whole: whole.trim_start_matches('0'), fraction })
    }

    fn is_zero(&self) -> bool {
        self.whole.is_empty() && self.fraction.bytes().all(|digit| digit == b'0')
    }

    fn compare(&self, other: &SplitDecimal<'_>) -> Ordering {
        match (self.negative && !self.is_zero(), other.negative && !other.is_zero()) {
            (false, false) => self.compare_size(other),
            (true, true) => other.compare_size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }

    fn compare_size(&self, other: &SplitDecimal<'_>) -> Ordering {
        self.whole
            .len()
            .cmp(&other.whole.len())
            .then_with(|| self.whole.cmp(other.whole))
            .then_with(|| self.fraction.trim_end_matches('0').cmp(other.fraction.trim_end_matches('0')))
    }
}

/// `digits * 10^-scale`.
#[derive(Clone, Copy)]
struct Number {
    digits: i128,
    scale: u32,
}

impl Number {
    fn parse(text: &str) -> Result<Number, DecimalError> {
        let parts = SplitDecimal::split(text).ok_or(DecimalError::Malformed)?;
        let mut digits = 0i128;
        for digit in parts.whole.bytes().chain(parts.fraction.bytes()) {
            digits = digits
                .checked_mul(10)
                .and_then(|digits| digits.checked_add(i128::from(digit - b'0')))
                .ok_or(DecimalError::Overflow)?;
        }
        let scale = u32::try_from(parts.fraction.len()).map_err(|_| DecimalError::Overflow)?;
        Ok(Number { digits: if parts.negative { -digits } else { digits }, scale })
    }

    /// Both with the larger scale of the two.
    fn aligned(a: &str, b: &str) -> Result<(Number, Number), DecimalError> {
        let (a, b) = (Number::parse(a)?, Number::parse(b)?);
        let scale = a.scale.max(b.scale);
        Ok((a.with_scale(scale)?, b.with_scale(scale)?))
    }

    fn with_scale(self, scale: u32) -> Result<Number, DecimalError> {
        let factor = 10i128.checked_pow(scale - self.scale).ok_or(DecimalError::Overflow)?;
        let digits = self.digits.checked_mul(factor).ok_or(DecimalError::Overflow)?;
        Ok(Number { digits, scale })
    }

    fn text(self) -> Result<String, DecimalError> {
        if self.digits.unsigned_abs() >= 10u128.pow(DIGITS_MAX as u32) {
            return Err(DecimalError::Overflow);
        }
        let scale = self.scale as usize;
        let digits = format!("{:0>width$}", self.digits.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let sign = if self.digits < 0 { "-" } else { "" };
        let point = if scale == 0 { "" } else { "." };
        Ok([sign, whole, point, fraction].concat())
    }
}

fn exponent_value(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value: i64 = digits.parse().ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_canonical_form_has_no_exponent_plus_or_leading_zero() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("-0.00", "0.00"),
            ("00012", "12"),
            ("+422.94", "422.94"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("2573.0000", "2573.0000"),
            ("1e3", "1000"),
            ("-1.234567e3", "-1234.567"),
            ("1.5E-3", "0.0015"),
            ("12345e-2", "123.45"),
            ("0e5", "0"),
            ("-0.0e-1", "0.00"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["", "-", "+", ".", "5.", "1.2.3", "0x1", "1e", "1e+", "INF", "NaN", " 1", "1e9999999", "--1", "1_0"]
        {
            assert_eq!(canonical(text), None, "{text}");
        }
        assert_eq!(canonical("1e-101").map(|text| text.len()), Some(103));
    }

    #[test]
    fn order_is_by_value() {
        for (a, b, expected) in [
            ("2.5", "2.50", Ordering::Equal),
            ("-0", "0.0", Ordering::Equal),
            ("9", "10", Ordering::Less),
            ("-9", "-10", Ordering::Greater),
            ("-1", "1", Ordering::Less),
            ("0.1", "0.09", Ordering::Greater),
            (
                "123456789012345678901234567890123456789012.1",
                "123456789012345678901234567890123456789012.2",
                Ordering::Less,
            ),
            ("abc", "-5", Ordering::Less),
        ] {
            assert_eq!(compare(a, b), expected, "{a} {b}");
            assert_eq!(compare(b, a), expected.reverse(), "{b} {a}");
        }
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(add("0.1", "0.2").as_deref(), Ok("0.3"));
        assert_eq!(sub("0.10", "0.2").as_deref(), Ok("-0.10"));
        assert_eq!(mul("-1.5", "0.25").as_deref(), Ok("-0.375"));
        assert_eq!(div("1", "8").as_deref(), Ok("0.125"));
        assert_eq!(div("-2", "3").as_deref(), Ok("-0.66666666666666666667"));
        assert_eq!(div("10.00", "2").as_deref(), Ok("5"));
        assert_eq!(div("1", "0.0"), Err(DecimalError::DivisionByZero));
        assert_eq!(modulo("7.5", "2").as_deref(), Ok("1.5"));
        assert_eq!(modulo("-7", "2").as_deref(), Ok("-1"));
        assert_eq!(modulo("1", "0"), Err(DecimalError::DivisionByZero));
        assert_eq!(negate("1.50").as_deref(), Ok("-1.50"));
        assert_eq!(add("1", "x"), Err(DecimalError::Malformed));
        let most = "9".repeat(DIGITS_MAX);
        assert_eq!(add(&most, "0").as_deref(), Ok(most.as_str()));
        assert_eq!(add(&most, "1"), Err(DecimalError::Overflow));
        assert_eq!(mul(&most, &most), Err(DecimalError::Overflow));
    }

    #[test]
    fn rounding_goes_half_away_from_zero() {
        for (text, rounded, lower, upper) in [
            ("2.5", "3", "2", "3"),
            ("-2.5", "-3", "-3", "-2"),
            ("2.4999", "2", "2", "3"),
            ("-2.4", "-2", "-3", "-2"),
            ("7", "7", "7", "7"),
            ("7.000", "7", "7", "7"),
            ("-0.2", "0", "-1", "0"),
        ] {
            assert_eq!(round(text).as_deref(), Ok(rounded), "round {text}");
            assert_eq!(floor(text).as_deref(), Ok(lower), "floor {text}");
            assert_eq!(ceiling(text).as_deref(), Ok(upper), "ceiling {text}");
        }
    }

    #[test]
    fn precision_and_scale_are_upper_limits() {
        assert!(fits("422.94", 15, 2));
        assert!(fits("422.9400", 15, 2));
        assert!(!fits("422.941", 15, 2));
        assert!(fits("9999999999999.99", 15, 2));
        assert!(!fits("10000000000000.00", 15, 2));
        assert!(fits("-1", 15, 14));
        assert!(!fits("12", 15, 14));
        assert!(fits("123456", 0, 0));
    }

    proptest! {
        #[test]
        fn canonical_is_idempotent_and_keeps_the_value(text in "[+-]?[0-9]{1,20}(\\.[0-9]{1,20})?") {
            let once = canonical(&text).unwrap();
            prop_assert_eq!(canonical(&once).unwrap(), once.clone());
            prop_assert_eq!(compare(&once, &text), Ordering::Equal);
        }

        #[test]
        fn a_sum_minus_one_summand_is_the_other(a in "-?[0-9]{1,15}(\\.[0-9]{1,6})?", b in "-?[0-9]{1,15}(\\.[0-9]{1,6})?") {
            let sum = add(&a, &b).unwrap();
            prop_assert_eq!(compare(&sub(&sum, &b).unwrap(), &a), Ordering::Equal);
            prop_assert_eq!(compare(&sum, &a), compare(&b, "0"));
        }

        #[test]
        fn the_short_way_to_compare_says_what_the_long_one_says(
            a in "[-+]?[0-9]{0,13}(\\.[0-9]{0,7})?", b in "[-+]?[0-9]{0,13}(\\.[0-9]{0,7})?",
        ) {
            prop_assert_eq!(compare(&a, &b), compare_by_digits(&a, &b));
            prop_assert_eq!(compare(&a, &a.replace('.', "")), compare_by_digits(&a, &a.replace('.', "")));
        }

        #[test]
        fn no_text_panics(a in "\\PC{0,12}", b in "[-+0-9.eE]{0,45}") {
            let _ = (canonical(&a), canonical(&b), compare(&a, &b), fits(&b, 5, 7));
            let _ = (add(&a, &b), mul(&b, &b), div(&b, &a), div(&b, &b), modulo(&b, &b), round(&b), floor(&b), ceiling(&b));
        }
    }
}
