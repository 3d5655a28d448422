//! `tollgate xslt STYLESHEET INPUT`: the gateway's transformations from the shell.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tollgate_xml::{Budget, Doctype, Document, Options, Parameter, RunOptions, Stylesheet};

use super::{output, xml};
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate xslt request.xsl order.xml
  tollgate xslt request.xsl order.xml --param currency=EUR -o request.xml
  curl -s http://127.0.0.1:8080/orders | tollgate xslt request.xsl -

References of the stylesheet (xsl:include, xsl:import, document()) are read from its own folder and below.
What xsl:message says goes to stderr.";

/// Arguments of `xslt`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The stylesheet
    #[arg(value_name = "STYLESHEET")]
    stylesheet: PathBuf,

    /// The document; `-` is stdin
    #[arg(value_name = "INPUT")]
    input: PathBuf,

    /// A parameter of the stylesheet, as a text
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,

    /// Read the document's internal subset: entities, types and defaults of attributes
    #[arg(long)]
    doctype: bool,

    /// Write to this file in the place of stdout; it appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Transforms.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let name = arguments.stylesheet.to_string_lossy().into_owned();
    let source = xml::read(&arguments.stylesheet)?;
    let loader = xml::Folder::of(&arguments.stylesheet);
    // An error may be about a stylesheet that this one refers to: its own text is shown then.
    let stylesheet_failure = |error: &tollgate_xml::Error| {
        let place = error.source_name().unwrap_or(&name).to_owned();
        let text = if place == name { source.clone() } else { std::fs::read(&place).unwrap_or_default() };
        xml::failure(error, &place, &String::from_utf8_lossy(&text))
    };
    let stylesheet = Stylesheet::compile_with(&source, &name, &loader, &Budget::default())
        .map_err(|error| stylesheet_failure(&error))?;
    let input = xml::read(&arguments.input)?;
    let doctype = if arguments.doctype { Doctype::InternalSubset } else { Doctype::Refuse };
    let text =
        Document::decode(&input).map_err(|error| xml::failure(&error, &arguments.input.to_string_lossy(), ""))?;
    let document = stylesheet
        .parse_with(&text, &Options { doctype, ..Options::default() })
        .map_err(|error| xml::failure(&error, &arguments.input.to_string_lossy(), &text))?;
    let parameters: Vec<(&str, Parameter<'_>)> =
        arguments.parameters.iter().map(|(name, value)| (&**name, Parameter::String(value))).collect();
    let options = RunOptions { parameters: &parameters, loader: &loader, budget: None };
    let transformed = stylesheet.run(&document, &options).map_err(|error| stylesheet_failure(&error))?;
    for message in &transformed.messages {
        // Nobody is left to tell if stderr itself is closed.
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    match &arguments.output {
        Some(path) => output::whole_file(path, &transformed.bytes)?,
        None => {
            out.write_all(&transformed.bytes).and_then(|()| out.flush()).map_err(Failure::output)?;
        }
    }
    Ok(Exit::Done)
}
