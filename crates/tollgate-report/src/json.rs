//! The whole result as JSON: the same text as `result.json`.

use super::{RenderOptions, Reporter};
use std::io::{self, Write};
use tollgate_facts::results::RunResult;

pub(super) const REPORTER: Reporter =
    Reporter { name: "json", also: &[], extension: "json", about: "everything, as stored", render };

fn render(run: &RunResult, out: &mut dyn Write, _: &RenderOptions) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, run)?;
    out.write_all(b"\n")
}
