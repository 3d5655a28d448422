//! Texts with places for a feed's values: `{{column}}`, or `{{column|json}}` for an escaping other than the text's own.
//!
//! It does not compute: a value goes in as it is in the feed, escaped.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Fixed text.
    Text(&'t str),
    /// A value of the feed.
    Value {
        /// The column's name.
        column: &'t str,
        /// The escaping of the value, if the text names one.
        escape: Option<Escape>,
        /// Byte offset of the placeholder in the text.
        position: usize,
    },
}

/// The escaping of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Escape {
    /// None.
    Raw,
    /// As the content of a JSON string.
    Json,
    /// As the content of an XML element or attribute.
    Xml,
    /// As a part of a URL.
    Url,
}

/// A fault of a placeholder, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte offset in the text.
    pub position: usize,
    /// The fault.
    pub message: String,
}

const UNCLOSED: &str = "`{{` has no `}}` behind it";

const ESCAPES: &[(&str, Escape)] =
    &[("raw", Escape::Raw), ("json", Escape::Json), ("xml", Escape::Xml), ("url", Escape::Url)];

/// Splits a text into its pieces, in their order.
///
/// # Errors
/// A placeholder without an end, without a name, or with an unknown escaping.
pub fn parse(text: &str) -> Result<Vec<Piece<'_>>, TemplateError> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        let wrong = |message: String| TemplateError { position: open, message };
        let inner = open + 2;
        let Some(close) = text[inner..].find("}}").map(|found| inner + found) else {
            return Err(wrong(UNCLOSED.to_owned()));
        };
        let (column, escape) = match text[inner..close].split_once('|') {
            None => (text[inner..close].trim(), None),
            Some((column, name)) => {
                let known = ESCAPES.iter().find(|(known, _)| *known == name.trim());
                let escape = known
                    .ok_or_else(|| wrong(format!("`{}` is no escaping: write raw, json, xml or url", name.trim())))?;
                (column.trim(), Some(escape.1))
            }
        };
        if column.contains("{{") {
            return Err(wrong(UNCLOSED.to_owned()));
        }
        if column.is_empty() || column.contains(['{', '}']) {
            return Err(wrong(format!("there is no name in `{}`", &text[open..close + 2])));
        }
        if open > at {
            pieces.push(Piece::Text(&text[at..open]));
        }
        pieces.push(Piece::Value { column, escape, position: open });
        at = close + 2;
    }
    if at < text.len() {
        pieces.push(Piece::Text(&text[at..]));
    }
    Ok(pieces)
}

impl Escape {
    /// The escaping of values in the body of a message with these fields.
    pub fn of_fields<'f>(mut fields: impl Iterator<Item = (&'f str, &'f str)>) -> Escape {
        let media_type = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        media_type.map_or(Escape::Raw, |(_, value)| Escape::of_media_type(value))
    }

    /// The escaping of values in a body of this media type.
    pub fn of_media_type(media_type: &str) -> Escape {
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/x-www-form-urlencoded" => Escape::Url,
            _ if essence.ends_with("/json") || essence.ends_with("+json") => Escape::Json,
            _ if essence.ends_with("/xml") || essence.ends_with("+xml") => Escape::Xml,
            _ => Escape::Raw,
        }
    }

    /// Writes a value.
    pub fn write(self, value: &[u8], out: &mut Vec<u8>) {
        match self {
            Escape::Raw => out.extend_from_slice(value),
            Escape::Json => tollgate_wire::escape::json_text(out, value),
            Escape::Xml => tollgate_wire::escape::xml_attribute(out, value),
            Escape::Url => tollgate_wire::url::encode_beside(out, value, b"-._~"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_apart() {
        let value = |column, escape, position| Piece::Value { column, escape, position };
        let check = |text: &str, expected: &[Piece<'_>]| assert_eq!(parse(text).unwrap(), expected);
        check("", &[]);
        check("plain { } }}", &[Piece::Text("plain { } }}")]);
        check("a{{b}}c", &[Piece::Text("a"), value("b", None, 1), Piece::Text("c")]);
        check("{{ b }}{{c | xml}}", &[value("b", None, 0), value("c", Some(Escape::Xml), 7)]);
        check(
            "{\"x\":{\"y\":\"{{z}}\"}}",
            &[Piece::Text("{\"x\":{\"y\":\""), value("z", None, 11), Piece::Text("\"}}")],
        );
    }

    #[test]
    fn a_wrong_place_is_refused_with_where_it_stands() {
        let check = |text: &str, position: usize, expected: &str| {
            let error = parse(text).unwrap_err();
            assert_eq!((error.position, error.message.as_str()), (position, expected), "{text}");
        };
        check("ab{{c}", 2, "`{{` has no `}}` behind it");
        check("{{}}", 0, "there is no name in `{{}}`");
        check("a{{b/{{c}}", 1, "`{{` has no `}}` behind it");
        check("a{{b|html}}", 1, "`html` is no escaping: write raw, json, xml or url");
    }

    #[test]
    fn a_value_is_escaped_for_where_it_goes() {
        let check = |media_type: &str, expected: &str| {
            let mut out = Vec::new();
            Escape::of_media_type(media_type).write("a\"&/é".as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{media_type}");
        };
        check("application/json; charset=utf-8", "a\\\"&/é");
        check("application/atom+xml", "a&quot;&amp;/é");
        check("text/xml", "a&quot;&amp;/é");
        check("application/x-www-form-urlencoded", "a%22%26%2F%C3%A9");
        check("text/plain", "a\"&/é");
    }
}
