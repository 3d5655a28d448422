//! From bytes to text: the encoding that a byte order mark or the declaration names (XML 1.0, section 4.3.3 and appendix F).
//!
//! UTF-8 is only checked. It does not guess: without mark and declaration a document is UTF-8.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::characters::is_latin1;
use crate::characters::is_space;
use crate::error::{Error, ErrorKind};

/// Bytes at the beginning in which a declaration is looked for.
const DECLARATION_BYTES_MAX: usize = 256;

/// The beginning of most messages: known at a glance, where judging one costs as much as scanning a small message.
const USUAL_DECLARATIONS: [&str; 4] = [
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
    "<?xml version='1.0' encoding='UTF-8'?>",
    "<?xml version=\"1.0\"?>",
];

/// The text of a document.
///
/// # Errors
/// The encoding is unknown, or the bytes are not valid in it.
pub(crate) fn decode(source: &[u8]) -> Result<Cow<'_, str>, Error> {
    let encoding = encoding_of(source)?;
    let is_latin1 = || declared(source).is_some_and(|label| is_latin1(&label));
    decode_by(source, encoding, is_latin1)
}

/// The text of a document whose encoding is named from outside; a byte order mark goes before it.
///
/// # Errors
/// As [`decode`].
pub(crate) fn decode_as<'s>(source: &'s [u8], charset: &str) -> Result<Cow<'s, str>, Error> {
    let encoding = match Encoding::for_bom(source) {
        Some((marked, _)) => marked,
        None => for_label(charset)?,
    };
    decode_by(source, encoding, || is_latin1(charset))
}

fn decode_by<'s>(
    source: &'s [u8],
    encoding: &'static Encoding,
    is_latin1: impl FnOnce() -> bool,
) -> Result<Cow<'s, str>, Error> {
    if encoding == UTF_8 {
        return match std::str::from_utf8(source) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => {
                let valid = std::str::from_utf8(&source[..error.valid_up_to()]).unwrap_or_default();
                Err(Error::at(ErrorKind::Document, valid, valid.len(), "bytes that are no UTF-8"))
            }
        };
    }
    if encoding == WINDOWS_1252 && is_latin1() {
        // The library takes ISO-8859-1 for windows-1252, as browsers do; XML means what it says.
        return Ok(Cow::Owned(source.iter().map(|byte| char::from(*byte)).collect()));
    }
    match encoding.decode_without_bom_handling_and_without_replacement(without_mark(source, encoding)) {
        Some(text) => Ok(text),
        None => Err(Error::new(ErrorKind::Document, format!("bytes that are no {}", encoding.name()))),
    }
}

/// The length of the declaration at the beginning, if it is right and names no other encoding than UTF-8.
pub(crate) fn utf8_declaration_length(source: &[u8]) -> Option<usize> {
    if let Some(usual) = USUAL_DECLARATIONS.iter().find(|usual| source.starts_with(usual.as_bytes())) {
        return Some(usual.len());
    }
    let beginning = &source[..source.len().min(DECLARATION_BYTES_MAX)];
    let length = memchr::memmem::find(beginning, b"?>")? + b"?>".len();
    let declaration = std::str::from_utf8(&beginning[..length]).ok()?;
    check_declaration(declaration).ok()?;
    let is_utf8 = match pseudo_attribute(declaration, "encoding") {
        Some(label) => label.eq_ignore_ascii_case("UTF-8"),
        None => true,
    };
    is_utf8.then_some(length)
}

fn without_mark<'s>(source: &'s [u8], encoding: &'static Encoding) -> &'s [u8] {
    match Encoding::for_bom(source) {
        Some((marked, length)) if marked == encoding => &source[length..],
        _ => source,
    }
}

fn encoding_of(source: &[u8]) -> Result<&'static Encoding, Error> {
    if let Some((encoding, _)) = Encoding::for_bom(source) {
        return Ok(encoding);
    }
    match source {
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(UTF_16BE),
        _ => {}
    }
    if USUAL_DECLARATIONS.iter().any(|usual| source.starts_with(usual.as_bytes())) {
        return Ok(UTF_8);
    }
    let Some(label) = declared(source) else { return Ok(UTF_8) };
    for_label(&label)
}

fn for_label(label: &str) -> Result<&'static Encoding, Error> {
    Encoding::for_label(label.as_bytes())
        .ok_or_else(|| Error::new(ErrorKind::Document, format!("unknown encoding `{label}`")))
}

/// The encoding that the declaration names.
fn declared(source: &[u8]) -> Option<String> {
    let beginning = &source[..source.len().min(DECLARATION_BYTES_MAX)];
    let end = memchr::memmem::find(beginning, b"?>").filter(|_| beginning.starts_with(b"<?xml"))?;
    let declaration = String::from_utf8_lossy(&beginning[..end]);
    pseudo_attribute(&declaration, "encoding").map(str::to_owned)
}

fn pseudo_attribute<'d>(declaration: &'d str, name: &str) -> Option<&'d str> {
    let behind = &declaration[declaration.find(name)? + name.len()..];
    let value = behind.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    value[1..].split(quote).next()
}

/// Checks `<?xml …?>` against production `XMLDecl`.
///
/// # Errors
/// The place in `text`, and what is wrong there.
pub(super) fn check_declaration(text: &str) -> Result<(), (usize, String)> {
    if USUAL_DECLARATIONS.contains(&text) {
        return Ok(());
    }
    let inside = text.strip_prefix("<?xml").and_then(|rest| rest.strip_suffix("?>")).unwrap_or_default();
    let offset = "<?xml".len();
    let mut rest = inside;
    let mut allowed: &[&str] = &["version", "encoding", "standalone"];
    let mut seen_version = false;
    loop {
        let at = offset + inside.len() - rest.len();
        let blank = rest.bytes().take_while(|byte| is_space(*byte)).count();
        let behind = &rest[blank..];
        if behind.is_empty() {
            return if seen_version { Ok(()) } else { Err((at, "the declaration of XML has no version".to_owned())) };
        }
        let name_end = behind.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(behind.len());
        let name = &behind[..name_end];
        let Some(position) = allowed.iter().position(|known| *known == name).filter(|_| blank > 0) else {
            return Err((at + blank, format!("`{name}` has no place in the declaration of XML")));
        };
        allowed = &allowed[position + 1..];
        let equals = behind[name_end..].trim_start_matches([' ', '\t', '\r', '\n']);
        let value = equals.strip_prefix('=').map(|value| value.trim_start_matches([' ', '\t', '\r', '\n']));
        let quoted = value.and_then(|value| {
            let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let end = value[1..].find(quote)?;
            Some((&value[1..1 + end], &value[2 + end..]))
        });
        let Some((value, behind_value)) = quoted else {
            return Err((at + blank, format!("`{name}` has no value in quotes")));
        };
        let is_right = match name {
            "version" => value
                .strip_prefix("1.")
                .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit())),
            "standalone" => matches!(value, "yes" | "no"),
            _ => {
                value.starts_with(|letter: char| letter.is_ascii_alphabetic())
                    && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
            }
        };
        if !is_right {
            return Err((at + blank, format!("`{value}` is no {name} of XML 1.0")));
        }
        seen_version |= name == "version";
        if !seen_version {
            return Err((at, "the declaration of XML has no version".to_owned()));
        }
        rest = behind_value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_held_to_their_grammar() {
        for text in [
            "<?xml version=\"1.0\"?>",
            "<?xml version='1.1' ?>",
            "<?xml version = \"1.0\" encoding='UTF-8'\nstandalone=\"yes\"?>",
        ] {
            assert_eq!(check_declaration(text), Ok(()), "{text}");
        }
        for text in [
            "<?xml?>",
            "<?xml encoding='UTF-8'?>",
            "<?xml version='2.0'?>",
            "<?xml version='1.0'encoding='UTF-8'?>",
            "<?xml version='1.0' standalone='yes' encoding='UTF-8'?>",
            "<?xml version='1.0' standalone='maybe'?>",
            "<?xml version=1.0?>",
            "<?xml version='1.0' encoding=''?>",
            "<?xml version='1.0' other='a'?>",
        ] {
            assert!(check_declaration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn encodings_are_told_by_mark_shape_and_declaration() {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>";
        let latin: Vec<u8> = text.chars().map(|character| character as u8).collect();
        assert_eq!(decode(&latin).unwrap(), text);
        let wide = "<a>€</a>";
        let little: Vec<u8> = wide.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = wide.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little).unwrap(), wide);
        assert_eq!(decode(&big).unwrap(), wide);
        assert_eq!(decode(&[&[0xFE, 0xFF], &big[..]].concat()).unwrap(), wide);
        assert!(matches!(decode(wide.as_bytes()).unwrap(), Cow::Borrowed(_)));
        assert!(decode(b"<?xml version='1.0' encoding='EBCDIC-X'?><a/>").is_err());
        assert_eq!(decode_as(&latin, "iso-8859-1").unwrap(), text);
        assert_eq!(decode_as(b"<a>\x80</a>", "ISO-8859-1").unwrap(), "<a>\u{80}</a>");
        assert_eq!(decode_as(b"<a>\x80</a>", "windows-1252").unwrap(), "<a>\u{20AC}</a>");
        assert_eq!(decode_as(&[&[0xFE, 0xFF], &big[..]].concat(), "utf-8").unwrap(), wide, "the mark goes first");
        assert!(decode_as(&latin, "utf-8").is_err() && decode_as(b"<a/>", "EBCDIC-X").is_err());
        assert!(decode(b"<a>\xFF</a>").is_err());
    }
}
