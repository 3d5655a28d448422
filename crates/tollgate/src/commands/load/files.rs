//! The files that `tollgate load` writes at the end, open from the beginning.
//!
//! Their content is written by the lab and the report.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tollgate_lab::single::{Quick, export};

use super::arguments::Arguments;
use crate::failure::Failure;

/// Writes the result in one format.
type Writer = fn(&Quick, &mut dyn Write) -> io::Result<()>;

/// Formats of `--export`.
const FORMATS: [(&str, Writer); 5] = [
    ("csv", export::csv),
    ("jtl", export::jtl),
    ("prometheus", export::prometheus),
    ("influx", export::influx),
    ("otlp", export::otlp),
];

/// `FORMAT=FILE`.
#[derive(Debug, Clone)]
pub(super) struct Export {
    format: &'static str,
    writer: Writer,
    path: PathBuf,
}

impl FromStr for Export {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = FORMATS.map(|(name, _)| name).join(", ");
        let (format, path) = text.split_once('=').ok_or("expected FORMAT=FILE, such as csv=load.csv")?;
        let known = FORMATS.iter().find(|(name, _)| *name == format);
        let (format, writer) = known.ok_or_else(|| format!("`{format}` is not a format: use one of {names}"))?;
        Ok(Export { format, writer: *writer, path: path.into() })
    }
}

impl Export {
    /// Whether it has a row for each request.
    pub(super) fn is_of_requests(&self) -> bool {
        self.format == "jtl"
    }
}

/// The files, open.
pub(super) struct Files<'a> {
    files: Vec<(&'a Path, File, Writer)>,
}

impl<'a> Files<'a> {
    /// Creates them, before any request: nobody wants to load for an hour and then read that a folder is missing.
    pub(super) fn create(arguments: &'a Arguments) -> Result<Files<'a>, Failure> {
        let html: Writer = |quick, out| out.write_all(tollgate_report::load_page(&quick.result).as_bytes());
        let asked: [(&Option<_>, Writer); 4] = [
            (&arguments.csv, export::percentages),
            (&arguments.gnuplot, export::gnuplot),
            (&arguments.hlog, export::histograms),
            (&arguments.html, html),
        ];
        let exported = arguments.export.iter().map(|export| (&export.path, export.writer));
        let all = asked.into_iter().filter_map(|(path, writer)| Some((path.as_ref()?, writer))).chain(exported);
        let mut files: Vec<(&Path, File, Writer)> = Vec::new();
        for (path, writer) in all {
            if files.iter().any(|(known, ..)| known == path) {
                return Err(Failure::usage(format_args!("two outputs would be written to {}", path.display())));
            }
            let file = File::create(path)
                .map_err(|error| Failure::usage(format_args!("cannot write {}: {error}", path.display())))?;
            files.push((path.as_path(), file, writer));
        }
        Ok(Files { files })
    }

    /// Writes them.
    pub(super) fn write(self, quick: &Quick) -> Result<(), Failure> {
        for (path, file, writer) in self.files {
            let mut out = BufWriter::new(file);
            let written = writer(quick, &mut out).and_then(|()| out.flush());
            written.map_err(|error| Failure::failed(format_args!("cannot write {}: {error}", path.display())))?;
        }
        Ok(())
    }
}
