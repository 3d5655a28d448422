//! Numbers written as lists are: `1.`, `iv)`, `A-1` (XSLT 1.0, section 7.7.1).

/// The nodes that `xsl:number` counts (section 7.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Single,
    Multiple,
    Any,
}

/// Grouping of the digits of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grouping {
    pub(crate) separator: String,
    /// Digits in a group; zero: no groups.
    pub(crate) size: usize,
}

/// A piece of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece<'f> {
    /// Letters and digits: how a number is written.
    Token(&'f str),
    /// Anything else: it is between numbers, before the first or behind the last.
    Separator(&'f str),
}

/// Writes a list of numbers.
pub(crate) fn formatted(numbers: &[f64], format: &str, alphabetic: bool, grouping: &Grouping) -> String {
    let pieces = pieces(format);
    let mut text = String::new();
    let mut rest = &*pieces;
    if let [Piece::Separator(start), behind @ ..] = rest {
        // A format of nothing but signs stands before the numbers only.
        text.push_str(start);
        rest = behind;
    }
    let end = match rest {
        [before @ .., Piece::Separator(end)] => {
            rest = before;
            end
        }
        _ => "",
    };
    let mut token = "1";
    let mut separator = ".";
    for (index, number) in numbers.iter().enumerate() {
        match rest {
            [Piece::Separator(next), Piece::Token(following), behind @ ..] => {
                (separator, token, rest) = (next, following, behind);
            }
            [Piece::Token(first), behind @ ..] => (token, rest) = (first, behind),
            _ => {}
        }
        if index > 0 {
            text.push_str(separator);
        }
        push_number(&mut text, *number, token, alphabetic, grouping);
    }
    text.push_str(end);
    text
}

fn pieces(format: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let is_token = first.is_alphanumeric();
        let end = rest.find(|character: char| character.is_alphanumeric() != is_token).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        pieces.push(if is_token { Piece::Token(piece) } else { Piece::Separator(piece) });
        rest = behind;
    }
    pieces
}

/// Numbers beyond this are written as decimals where the format is Roman: it has no signs for them.
const ROMAN_MAX: u64 = 5000;
/// Numbers beyond this are written as decimals in every format: a double does not know their last digits.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

fn push_number(text: &mut String, number: f64, token: &str, alphabetic: bool, grouping: &Grouping) {
    if !number.is_finite() {
        text.push_str(&crate::xpath::number::to_text(number));
        return;
    }
    // Rounded as round() does; what is less than one has no place in a list and is written as it is.
    let rounded = crate::xpath::number::round(number);
    if rounded < 1.0 {
        text.push_str(&crate::xpath::number::to_text(rounded));
        return;
    }
    let whole = if rounded <= WHOLE_MAX { Some(rounded as u64) } else { None };
    match (token, whole) {
        ("a", Some(whole)) => text.push_str(&letters(whole, b'a')),
        ("A", Some(whole)) => text.push_str(&letters(whole, b'A')),
        ("i", Some(whole)) if alphabetic => text.push_str(&letters(whole, b'a')),
        ("I", Some(whole)) if alphabetic => text.push_str(&letters(whole, b'A')),
        ("i", Some(whole)) if whole <= ROMAN_MAX => text.push_str(&roman(whole).to_lowercase()),
        ("I", Some(whole)) if whole <= ROMAN_MAX => text.push_str(&roman(whole)),
        ("a" | "A" | "i" | "I", _) => push_decimal(text, rounded, "1", grouping),
        _ => push_decimal(text, rounded, token, grouping),
    }
}

/// `1`, `01`, or another script's digits: the token's last character is the one, those before it are zeros.
fn push_decimal(text: &mut String, number: f64, token: &str, grouping: &Grouping) {
    let one = token.chars().next_back().unwrap_or('1');
    let zero = char::from_u32(u32::from(one).wrapping_sub(1))
        .filter(|zero| one.is_numeric() && token.chars().rev().skip(1).all(|padding| padding == *zero));
    let (zero, width) = match zero {
        Some(zero) => (zero, token.chars().count()),
        None => ('0', 1),
    };
    let digits = crate::xpath::number::to_text(number);
    let count = digits.len().max(width);
    let zeros = std::iter::repeat_n(b'0', count - digits.len());
    for (index, digit) in zeros.chain(digits.bytes()).enumerate() {
        let left = count - index;
        if index > 0 && grouping.size > 0 && left.is_multiple_of(grouping.size) {
            text.push_str(&grouping.separator);
        }
        let digit = u32::from(digit - b'0');
        text.push(char::from_u32(u32::from(zero) + digit).unwrap_or('0'));
    }
}

fn letters(mut number: u64, first: u8) -> String {
    let mut letters = Vec::new();
    while number > 0 {
        number -= 1;
        letters.push(char::from(first + (number % 26) as u8));
        number /= 26;
    }
    letters.iter().rev().collect()
}

fn roman(mut number: u64) -> String {
    const SIGNS: [(u64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while number >= value {
            text.push_str(sign);
            number -= value;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbers: &[f64], format: &str, expected: &str) {
        assert_eq!(formatted(numbers, format, false, &Grouping::default()), expected, "{numbers:?} {format}");
    }

    #[test]
    fn lists_are_written_as_their_format_shows() {
        check(&[1.0], "1", "1");
        check(&[1.0, 2.0, 3.0], "1", "1.2.3");
        check(&[1.0, 2.0, 3.0], "1.A.i", "1.B.iii");
        check(&[1.0, 2.0, 3.0, 4.0], "(1-a)", "(1-b-c-d)");
        check(&[5.0], "001", "005");
        check(&[28.0], "A", "AB");
        check(&[1994.0], "I", "MCMXCIV");
        check(&[3.0], "1. ", "3. ");
        check(&[3.0, 4.0], " 1)", " 3.4)");
        check(&[7.0], "", "7");
        check(&[7.0], "\u{0661}", "\u{0667}");
        check(&[12.0], "\u{0660}\u{0660}\u{0661}", "\u{0660}\u{0661}\u{0662}");
        check(&[0.0], "a", "0");
        check(&[f64::NAN], "1", "NaN");
        check(&[1.5], "1", "2");
        check(&[5000.0, 5001.0], "I", "MMMMM.5001");
        check(&[10000.0], "i", "10000");
        check(&[9_007_199_254_740_994.0], "a", "9007199254740994");
        check(&[1e20, 1e29], "1", "100000000000000000000.100000000000000000000000000000");
    }

    #[test]
    fn digits_are_grouped_and_letters_can_be_asked_for() {
        let grouping = Grouping { separator: ",".to_owned(), size: 3 };
        assert_eq!(formatted(&[1_234_567.0], "1", false, &grouping), "1,234,567");
        assert_eq!(formatted(&[9.0], "i", true, &grouping), "i");
    }
}
