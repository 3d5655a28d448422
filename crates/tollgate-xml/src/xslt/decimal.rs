//! `format-number()` (XSLT 1.0, section 12.3): a number written by a pattern of digits, as Java's first decimal formats
//! did.

use crate::budget::FRACTION_DIGITS_MAX;

/// The characters of a decimal format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DecimalFormat {
    pub(crate) decimal_separator: char,
    pub(crate) grouping_separator: char,
    pub(crate) percent: char,
    pub(crate) per_mille: char,
    pub(crate) zero_digit: char,
    pub(crate) digit: char,
    pub(crate) pattern_separator: char,
    pub(crate) minus_sign: char,
    pub(crate) infinity: String,
    pub(crate) not_a_number: String,
}

impl Default for DecimalFormat {
    fn default() -> DecimalFormat {
        DecimalFormat {
            decimal_separator: '.',
            grouping_separator: ',',
            percent: '%',
            per_mille: '\u{2030}',
            zero_digit: '0',
            digit: '#',
            pattern_separator: ';',
            minus_sign: '-',
            infinity: "Infinity".to_owned(),
            not_a_number: "NaN".to_owned(),
        }
    }
}

/// One half of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Picture {
    prefix: String,
    suffix: String,
    whole_digits_min: usize,
    fraction_digits_min: usize,
    fraction_digits_max: usize,
    /// Digits in a group; zero: no groups.
    group: usize,
    /// Whether the decimal separator is written even if no digit follows it.
    shows_separator: bool,
    /// 1, 100 or 1000.
    factor: u32,
}

impl DecimalFormat {
    /// Writes a number.
    ///
    /// # Errors
    /// Says what is wrong with the pattern.
    pub(crate) fn format(&self, number: f64, pattern: &str) -> Result<String, String> {
        let mut halves = pattern.split(self.pattern_separator);
        let positive = self.picture(halves.next().unwrap_or_default())?;
        let negative = halves.next().map(|half| self.picture(half)).transpose()?;
        if halves.next().is_some() {
            return Err(format!("`{pattern}` has more than two patterns"));
        }
        if number.is_nan() {
            return Ok(self.not_a_number.clone());
        }
        let mut text = String::new();
        let is_negative = number < 0.0 || (number == 0.0 && number.is_sign_negative());
        let digits = if number.is_infinite() { None } else { Some(self.digits(number.abs(), &positive)) };
        let says_nothing = digits
            .as_deref()
            .is_some_and(|digits| digits.chars().all(|digit| digit == self.zero_digit || !digit.is_numeric()));
        // Of the second half only what stands around the digits counts.
        let (prefix, suffix) = match &negative {
            Some(negative) if is_negative && !says_nothing => (&negative.prefix, &negative.suffix),
            _ => (&positive.prefix, &positive.suffix),
        };
        if is_negative && !says_nothing && negative.is_none() {
            text.push(self.minus_sign);
        }
        text.push_str(prefix);
        text.push_str(&digits.unwrap_or_else(|| self.infinity.clone()));
        text.push_str(suffix);
        Ok(text)
    }

    /// Takes a half of a pattern apart.
    fn picture(&self, half: &str) -> Result<Picture, String> {
        let wrong = |why: &str| Err(format!("`{half}` is no pattern of a number: {why}"));
        let is_digit = |character: char| character == self.digit || character == self.zero_digit;
        let is_active = |character: char| {
            is_digit(character) || character == self.grouping_separator || character == self.decimal_separator
        };
        let mut picture = Picture { factor: 1, ..Picture::default() };
        // Quotes take their meaning from the characters in them.
        let mut quoted = false;
        let mut active = half.char_indices().filter(|(_, character)| {
            quoted ^= *character == '\'';
            !quoted && is_active(*character)
        });
        let first = active.next();
        let last = active.last().or(first);
        let start = first.map_or(half.len(), |(start, _)| start);
        let end = last.map_or(start, |(last, character)| last + character.len_utf8());
        for (side, text) in [(&mut picture.prefix, &half[..start]), (&mut picture.suffix, &half[end..])] {
            let mut quoted = false;
            for character in text.chars() {
                if character == '\'' {
                    quoted = !quoted;
                    continue;
                }
                if !quoted && character == self.percent {
                    picture.factor = 100;
                } else if !quoted && character == self.per_mille {
                    picture.factor = 1000;
                }
                side.push(character);
            }
        }
        let active = &half[start..end];
        let (whole, fraction) = active.split_once(self.decimal_separator).unwrap_or((active, ""));
        let has_separator = active.contains(self.decimal_separator);
        picture.shows_separator = has_separator && fraction.is_empty();
        if fraction.contains(self.decimal_separator) {
            return wrong("a second decimal separator");
        }
        let mut seen_zero = false;
        let mut since_separator = None;
        for character in whole.chars() {
            if character == self.grouping_separator {
                since_separator = Some(0);
            } else if is_digit(character) {
                seen_zero |= character == self.zero_digit;
                if seen_zero && character == self.digit {
                    return wrong("an optional digit behind a required one");
                }
                picture.whole_digits_min += usize::from(character == self.zero_digit);
                since_separator = since_separator.map(|count: usize| count + 1);
            } else {
                return wrong("something else between its digits");
            }
        }
        picture.group = since_separator.unwrap_or(0);
        let mut seen_optional = false;
        for character in fraction.chars() {
            if character == self.zero_digit {
                if seen_optional {
                    return wrong("a required digit behind an optional one");
                }
                picture.fraction_digits_min += 1;
                picture.fraction_digits_max += 1;
            } else if character == self.digit {
                seen_optional = true;
                picture.fraction_digits_max += 1;
            } else if character != self.grouping_separator {
                return wrong("something else between its digits");
            }
        }
        picture.fraction_digits_max = picture.fraction_digits_max.min(FRACTION_DIGITS_MAX);
        if picture.whole_digits_min == 0 && picture.fraction_digits_min == 0 {
            // A pattern of optional digits alone still asks for one: before the separator if it has any there.
            if whole.is_empty() && picture.fraction_digits_max > 0 {
                picture.fraction_digits_min = 1;
            } else {
                picture.whole_digits_min = 1;
            }
        }
        Ok(picture)
    }

    /// The digits of a number that is not negative, rounded half to even as Java does.
    fn digits(&self, number: f64, picture: &Picture) -> String {
        let scaled = number * f64::from(picture.factor);
        let rounded = format!("{scaled:.*}", picture.fraction_digits_max);
        let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let whole = whole.trim_start_matches('0');
        let width = whole.len().max(picture.whole_digits_min);
        let mut text = String::new();
        let zeros = std::iter::repeat_n(b'0', width - whole.len());
        for (index, digit) in zeros.chain(whole.bytes()).enumerate() {
            let left = width - index;
            if index > 0 && picture.group > 0 && left.is_multiple_of(picture.group) {
                text.push(self.grouping_separator);
            }
            text.push(self.digit_of(digit));
        }
        let kept = fraction.trim_end_matches('0').len().max(picture.fraction_digits_min);
        if kept > 0 || picture.shows_separator {
            text.push(self.decimal_separator);
            text.extend(fraction.bytes().take(kept).map(|digit| self.digit_of(digit)));
        }
        text
    }

    fn digit_of(&self, digit: u8) -> char {
        char::from_u32(u32::from(self.zero_digit) + u32::from(digit - b'0')).unwrap_or('0')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: f64, pattern: &str, expected: &str) {
        assert_eq!(DecimalFormat::default().format(number, pattern).unwrap(), expected, "{number} {pattern}");
    }

    #[test]
    fn numbers_are_written_as_their_pattern_shows() {
        check(1234.5, "#,##0.00", "1,234.50");
        check(0.5, "#.##", "0.5");
        check(0.5, "#.00", ".50");
        check(0.5, ".##", ".5");
        check(0.0, ".##", ".0");
        check(1234.0, "#,###.", "1,234.");
        check(0.5, "0.##", "0.5");
        check(-3.0, "0", "-3");
        check(-3.0, "0;(0)", "(3)");
        check(0.257, "0.0%", "25.7%");
        check(0.257, "0\u{2030}", "257\u{2030}");
        check(1e9, "#,###", "1,000,000,000");
        check(2.5, "0", "2");
        check(3.5, "0", "4");
        check(0.0, "#", "0");
        check(12.0, "000", "012");
        check(f64::NAN, "0", "NaN");
        check(f64::INFINITY, "0", "Infinity");
        check(f64::NEG_INFINITY, "0", "-Infinity");
        check(-0.001, "0.0", "0.0");
        check(5.0, "'#'0", "#5");
        check(5351.0, "#,###", "5,351");
    }

    #[test]
    fn other_characters_and_wrong_patterns() {
        let european = DecimalFormat { decimal_separator: ',', grouping_separator: '.', ..DecimalFormat::default() };
        assert_eq!(european.format(24535.2, "###.###,00").unwrap(), "24.535,20");
        for pattern in ["0#", "0.#0", "0.0.0", "0;0;0", "0a0"] {
            assert!(DecimalFormat::default().format(1.0, pattern).is_err(), "{pattern}");
        }
    }
}
