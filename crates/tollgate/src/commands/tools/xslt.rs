//! `tollgate xslt STYLESHEET INPUT`: the gateway's transformations from the shell.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use tollgate_xml::{Budget, Doctype, Document, Error, Options, Parameter, RunOptions, Stylesheet};

use super::xml;
use crate::commands::output;
use crate::failure::{Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  tollgate xslt request.xsl order.xml
  tollgate xslt request.xsl order.xml --param currency=EUR -o request.xml
  curl -s http://127.0.0.1:8080/orders | tollgate xslt request.xsl -

References (xsl:include, xsl:import, document()) are read from the stylesheet's own folder and below.
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

    /// A parameter of the stylesheet, as a text; of one in a namespace, NAME is `{namespace}name`
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
    // A namespace may hold an equals sign.
    let name_start = if text.starts_with('{') { text.find('}').unwrap_or(0) } else { 0 };
    match text[name_start..].find('=').map(|equals| name_start + equals) {
        Some(equals) if equals > 0 => Ok((text[..equals].to_owned(), text[equals + 1..].to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Transforms the document.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let name = arguments.stylesheet.to_string_lossy().into_owned();
    let source = xml::read(&arguments.stylesheet)?;
    let loader = xml::Folder::of(&arguments.stylesheet, &arguments.input);
    // An error may be about a stylesheet that this one refers to: its own text is shown then.
    let stylesheet_failure = |error: &Error| {
        let place = error.source_name().unwrap_or(&name).to_owned();
        let text = if place == name { source.clone() } else { std::fs::read(&place).unwrap_or_default() };
        xml::failure(error, &place, &String::from_utf8_lossy(&text))
    };
    let stylesheet = Stylesheet::compile_with(&source, &name, &loader, &Budget::default())
        .map_err(|error| stylesheet_failure(&error))?;
    if let Some((unknown, _)) = arguments.parameters.iter().find(|(parameter, _)| !stylesheet.has_parameter(parameter))
    {
        return Err(Failure::usage(format_args!("{name} has no parameter `{unknown}`")));
    }
    let input = xml::read(&arguments.input)?;
    let doctype = if arguments.doctype { Doctype::InternalSubset } else { Doctype::Refuse };
    let input_name = arguments.input.to_string_lossy();
    let text = Document::decode(&input)
        .map_err(|error| xml::failure(&error, &input_name, &String::from_utf8_lossy(&input)))?;
    let document = stylesheet
        .parse_with(&text, &Options { doctype, ..Options::default() })
        .map_err(|error| xml::failure(&error, &input_name, &text))?;
    let parameters: Vec<(&str, Parameter<'_>)> =
        arguments.parameters.iter().map(|(name, value)| (&**name, Parameter::String(value))).collect();
    let options = RunOptions { parameters: &parameters, loader: &loader, budget: None };
    let outcome = stylesheet.run(&document, &options);
    for message in outcome.as_ref().map_or_else(Error::messages, |transformed| &transformed.messages) {
        // Nobody is left to tell if stderr itself is closed.
        let _ = writeln!(std::io::stderr(), "{message}");
    }
    let transformed = outcome.map_err(|error| stylesheet_failure(&error))?;
    match &arguments.output {
        Some(path) => output::whole_file(path, &transformed.bytes)?,
        None => {
            out.write_all(&transformed.bytes).and_then(|()| out.flush()).map_err(Failure::output)?;
        }
    }
    Ok(Exit::Done)
}
