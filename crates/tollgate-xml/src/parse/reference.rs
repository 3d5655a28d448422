//! References that every document may make: characters by number, and the five entities that need no declaration (XML 1.0,
//! sections 4.1 and 4.6).

use crate::characters::is_character;

/// The character for `&name;`; `None` for an entity that would have to be declared.
///
/// # Errors
/// Says what is wrong with a number.
pub(super) fn predefined(name: &str) -> Result<Option<char>, String> {
    let Some(number) = name.strip_prefix('#') else {
        return Ok(match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "apos" => Some('\''),
            "quot" => Some('"'),
            _ => None,
        });
    };
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    let code = if is_digits { u32::from_str_radix(digits, radix).ok() } else { None };
    match code.and_then(char::from_u32).filter(|character| is_character(*character)) {
        Some(character) => Ok(Some(character)),
        None if is_digits => Err(format!("`&{name};` is a character that may stand in no document")),
        None => Err(format!("`&{name};` is no reference")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_the_five_names_are_known() {
        for (name, expected) in [
            ("lt", Ok(Some('<'))),
            ("quot", Ok(Some('"'))),
            ("nbsp", Ok(None)),
            ("#65", Ok(Some('A'))),
            ("#x1F600", Ok(Some('😀'))),
            ("#x41", Ok(Some('A'))),
        ] {
            assert_eq!(predefined(name), expected, "{name}");
        }
        for name in ["#", "#x", "#0", "#x1", "#xD800", "#xFFFE", "#x110000", "#99999999999", "#+65", "#X41"] {
            assert!(predefined(name).is_err(), "{name}");
        }
    }
}
