//! Common parts of verbs that write results: the width and colours of a terminal, and files that appear whole or not at
//! all.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use tollgate_report::{Colour, RenderOptions, Reporter};

use crate::failure::Failure;

/// Columns where the terminal does not report them.
const WIDTH_DEFAULT: usize = 120;

/// The names of these reporters, for clap.
pub(crate) fn formats<T>(reporters: &[Reporter<T>]) -> PossibleValuesParser {
    let named = |reporter: &Reporter<T>| PossibleValue::new(reporter.name).aliases(reporter.also).help(reporter.about);
    PossibleValuesParser::new(reporters.iter().map(named))
}

/// Writes the rendered text to a file, or else to `out`.
pub(crate) fn rendered(
    file: Option<&Path>,
    out: &mut dyn Write,
    render: impl Fn(&RenderOptions) -> String,
) -> Result<(), Failure> {
    match file {
        Some(path) => whole_file(path, render(&RenderOptions::default()).as_bytes()),
        None => {
            let text = render(&render_options());
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::output)
        }
    }
}

/// Render options for stdout.
pub(crate) fn render_options() -> RenderOptions {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let terminal = io::stdout().is_terminal();
    let width = terminal_size::terminal_size_of(io::stdout()).map_or(WIDTH_DEFAULT, |(width, _)| usize::from(width.0));
    RenderOptions { colour: if terminal && !plain { Colour::Ansi } else { Colour::Plain }, width }
}

/// Writes `bytes` beside `path` and renames it over: a reader sees the old file or the new one, never a half.
pub(crate) fn whole_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::failed(format_args!("cannot write {}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let beside = folder.join(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let written =
        fs::File::create(&beside).and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&beside); // the first error is the one to tell
        failed(error)
    })
}
