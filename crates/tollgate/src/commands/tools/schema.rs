//! `tollgate schema`: the JSON Schemas of input and output, made from the very types that read and write them.

use std::io::Write;

use clap::{Args, ValueEnum};

use crate::failure::{Exit, Failure};

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Of what
    #[arg(value_enum)]
    pub(super) of: SchemaOf,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaOf {
    /// An experiment's TOML file
    Experiment,
    /// The gateway's TOML configuration
    Config,
    /// The TOML file of a subject that is not ours
    Subject,
    /// A run's result.json
    Result,
    /// What `tollgate compare -f json` prints
    Compare,
    /// What `tollgate load --json` prints
    Load,
    /// What the gateway's admin listener says at /status.json
    Status,
    /// What `tollgate generate --json` prints
    Generate,
}

/// Prints the schema.
pub(crate) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Exit, Failure> {
    let schema = match arguments.of {
        SchemaOf::Experiment => format!("{:#}", tollgate_lab::kinds::schema().as_value()),
        SchemaOf::Config => tollgate_gateway::config::schema(),
        SchemaOf::Subject => format!("{:#}", tollgate_lab::subject::peer::schema().as_value()),
        SchemaOf::Result => format!("{:#}", schemars::schema_for!(tollgate_facts::results::RunResult).as_value()),
        SchemaOf::Compare => format!("{:#}", schemars::schema_for!(tollgate_facts::across::Across).as_value()),
        SchemaOf::Load => format!("{:#}", schemars::schema_for!(tollgate_facts::results::load::QuickResult).as_value()),
        SchemaOf::Status => tollgate_gateway::status_schema(),
        SchemaOf::Generate => tollgate_gateway::generate::report_schema(),
    };
    writeln!(out, "{schema}").map_err(Failure::output)?;
    Ok(Exit::Done)
}
