//! What verbs share when they write results: how wide and coloured a terminal is, and files that appear whole or not at
//! all.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use tollgate_report::{Colour, RenderOptions};

use crate::failure::Failure;

/// Columns where the terminal does not tell.
const WIDTH_DEFAULT: usize = 120;

/// How stdout wants to be written to.
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
