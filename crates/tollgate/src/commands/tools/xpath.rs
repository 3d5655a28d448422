//! `tollgate xpath EXPRESSION INPUT`: evaluates an expression, such as a route's condition, on a document.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tollgate_xml::tree::{NodeId, NodeKind};
use tollgate_xml::xpath::{Found, Place};
use tollgate_xml::{Doctype, Document, Options, XPath};

use super::xml;
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate xpath '//item[@price > 3]/name' shop.xml
  tollgate xpath 'count(//s:symbol)' quote.xml --namespace s=http://services.samples
  tollgate xpath \"//symbol = 'IBM'\" -

Nodes are printed one on a line, in document order: elements as they stand in the source, others by their value.";

/// Arguments of `xpath`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The expression
    #[arg(value_name = "EXPRESSION")]
    expression: String,

    /// The document; `-` is stdin
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// What a prefix in the expression means
    #[arg(short, long = "namespace", value_name = "PREFIX=URI", value_parser = namespace)]
    namespaces: Vec<(String, String)>,

    /// Read the document's internal subset: entities, types and defaults of attributes
    #[arg(long)]
    doctype: bool,
}

fn namespace(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((prefix, uri)) if !prefix.is_empty() && !uri.is_empty() => Ok((prefix.to_owned(), uri.to_owned())),
        _ => Err("expected PREFIX=URI".to_owned()),
    }
}

/// Prints the result of the expression.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let prefixes: Vec<(&str, &str)> = arguments.namespaces.iter().map(|(prefix, uri)| (&**prefix, &**uri)).collect();
    let expression = XPath::compile(&arguments.expression, &prefixes)
        .map_err(|error| xml::failure(&error, "expression", &arguments.expression))?;
    let name = arguments.input.to_string_lossy();
    let input = xml::read(&arguments.input)?;
    let text =
        Document::decode(&input).map_err(|error| xml::failure(&error, &name, &String::from_utf8_lossy(&input)))?;
    let doctype = if arguments.doctype { Doctype::InternalSubset } else { Doctype::Refuse };
    let document = Document::parse_with(&text, &Options { doctype, ..Options::default() })
        .map_err(|error| xml::failure(&error, &name, &text))?;
    let found = expression
        .find(&document, NodeId::ROOT)
        .map_err(|error| xml::failure(&error, "expression", &arguments.expression))?;
    let mut lines = Vec::new();
    match found {
        Found::Boolean(value) => lines.push(value.to_string()),
        Found::Number(_) => lines.push(expression.string(&document, NodeId::ROOT).unwrap_or_default()),
        Found::String(text) => lines.push(text),
        Found::Nodes(places) => lines.extend(places.into_iter().map(|place| shown(&document, place))),
    }
    for line in lines {
        writeln!(out, "{line}").map_err(Failure::output)?;
    }
    out.flush().map_err(Failure::output)?;
    Ok(Exit::Done)
}

fn shown(document: &Document<'_>, place: Place) -> String {
    let Some(node) = place.stored() else { return document.place_value(place).into_owned() };
    match document.kind(node) {
        NodeKind::Element => match document.source_of(node) {
            Some(source) => source.to_owned(),
            None => document.string_value(node).into_owned(),
        },
        NodeKind::Root => document.source().trim_end().to_owned(),
        _ => document.value(node).to_owned(),
    }
}
