//! A configuration error for the operator: the error, then file, line and the text there.
//!
//! It keeps only the rendered text, since nothing else is done with it.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate_wire::suggest;

use crate::store::introspect::CustomisationError;

/// A place in the text, and the error there.
pub(crate) type Misplaced = (Range<usize>, String);

/// An error in a configuration file, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    rendered: String,
}

impl ConfigError {
    /// Error for something that the file's grammar or its keys' types forbid.
    pub(crate) fn new(text: &str, file_name: &str, fault: &toml::de::Error) -> ConfigError {
        // Serde names Rust's type; the operator reads what it means.
        let mut title = fault.message().replace("expected i64", "expected a whole number");
        let mut hint = None;
        if let Some((key, known)) = unknown_key(fault.message()) {
            title = format!("unknown key `{key}`");
            hint = Some(match suggest::nearest(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("expected {}", listed(&known)),
            });
        }
        ConfigError::render(text, file_name, fault.span().unwrap_or(0..0), &title, hint.as_deref())
    }

    /// Error for values that contradict each other or their limits.
    pub(crate) fn at(text: &str, file_name: &str, span: Range<usize>, wrong: &str) -> ConfigError {
        ConfigError::render(text, file_name, span, wrong, None)
    }

    /// Error for an unknown name, with the one that was probably meant.
    pub(crate) fn unknown(
        text: &str,
        file_name: &str,
        span: Range<usize>,
        (what, name): (&str, &str),
        known: &[&str],
    ) -> ConfigError {
        let hint = match suggest::nearest(name, known.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("expected {}", listed(known)),
        };
        ConfigError::render(text, file_name, span, &format!("unknown {what} `{name}`"), Some(&hint))
    }

    /// Error for a mapping file that does not fit its database.
    pub(crate) fn of_mapping(text: &str, file_name: &str, error: &CustomisationError) -> ConfigError {
        match error {
            CustomisationError::Grammar(fault) => ConfigError::new(text, file_name, fault),
            CustomisationError::Unknown { span, kind, name, known } => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                ConfigError::unknown(text, file_name, span.clone(), (kind, name), &known)
            }
            CustomisationError::Impossible { span, message } => ConfigError::at(text, file_name, span.clone(), message),
        }
    }

    fn render(text: &str, file_name: &str, span: Range<usize>, title: &str, hint: Option<&str>) -> ConfigError {
        let (text, title) = (hide_passwords(text), hide_passwords(title));
        let mut annotation = AnnotationKind::Primary.span(span);
        if let Some(hint) = hint {
            annotation = annotation.label(hint);
        }
        let report = &[Level::ERROR
            .primary_title(&title)
            .element(Snippet::source(&text).path(file_name).annotation(annotation))];
        ConfigError { rendered: Renderer::plain().render(report) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.rendered)
    }
}

impl std::error::Error for ConfigError {}

/// serde says "unknown field `a`, expected `b`" or "… expected one of `b`, `c`": the quoted names, the first apart.
fn unknown_key(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field ").or_else(|| message.strip_prefix("unknown variant "))?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let key = quoted.next()?;
    Some((key, quoted.collect()))
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing here".to_owned(),
    }
}

/// The same text with an asterisk for each byte of what may be the password of a URL, so that places in it do not move.
/// It hides too much rather than too little: on each line everything between the first colon behind `://` and the last
/// `@`, and everything after `password=`.
pub(crate) fn hide_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let Some(authority) = line.find("://").map(|scheme_end| scheme_end + "://".len()) else {
            shown.push_str(line);
            continue;
        };
        let colon = line[authority..].find(':').map(|colon| authority + colon + 1);
        let user_password = colon.zip(line.rfind('@')).filter(|(colon, at)| colon < at).map(|(colon, at)| colon..at);
        let lower_case = line.to_ascii_lowercase();
        let option = lower_case[authority..].find("password=").map(|option| {
            let start = authority + option + "password=".len();
            start..line[start..].find(['&', '"', '\n']).map_or(line.len(), |length| start + length)
        });
        let is_hidden = |at: usize| [&user_password, &option].into_iter().flatten().any(|range| range.contains(&at));
        for (at, character) in line.char_indices() {
            if is_hidden(at) {
                shown.extend(std::iter::repeat_n('*', character.len_utf8()));
            } else {
                shown.push(character);
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::introspect::{Catalog, CatalogTable, Customisation, TableKind, introspected};
    use insta::assert_snapshot;
    use tollgate_wire::edm::Changes;

    /// Message for a mapping file over a database with the table `orders`.
    fn refused(text: &str) -> String {
        let orders = CatalogTable {
            schema: None,
            name: "orders".to_owned(),
            kind: TableKind::Table,
            changes: Changes::ALL,
            label: None,
            columns: Vec::new(),
            primary_key: Vec::new(),
            unique: Vec::new(),
            row_id: None,
            foreign_keys: Vec::new(),
        };
        let catalog = Catalog { tables: vec![orders], ..Catalog::default() };
        let made = Customisation::parse(text).and_then(|custom| introspected(&catalog, "shop", &custom));
        ConfigError::of_mapping(text, "shop.toml", &made.unwrap_err()).to_string()
    }

    #[test]
    fn an_error_in_a_mapping_file_shows_its_line() {
        assert_snapshot!(refused("[tables.order]\nhidden = true"), @r"
        error: unknown table `order`
         --> shop.toml:1:9
          |
        1 | [tables.order]
          |         ^^^^^ did you mean `orders`?
        ");
        assert_snapshot!(refused("[tables.orders]\nname = \"the orders\""), @r#"
        error: `the orders` is no name: `the_orders` would be one
         --> shop.toml:2:8
          |
        2 | name = "the orders"
          |        ^^^^^^^^^^^^
        "#);
        assert_snapshot!(refused("[tables.orders]\nreadonly = true"), @r"
        error: unknown key `readonly`
         --> shop.toml:2:1
          |
        2 | readonly = true
          | ^^^^^^^^ did you mean `read_only`?
        ");
    }
}
