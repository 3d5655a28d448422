//! Common parts of `tollgate xslt` and `tollgate xpath`: input files, files that a stylesheet may refer to, and errors
//! with the text that they are about.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate_xml::{Error, ErrorKind, Loaded, Loader};

use crate::commands::input;
use crate::failure::Failure;

/// Largest document or stylesheet.
const BYTES_MAX: u64 = 64 << 20;

/// The bytes of a file, or of stdin for `-`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::failed(format_args!("cannot read stdin: {error}")))?;
        return Ok(bytes);
    }
    input::bytes(path, BYTES_MAX)
}

/// An error with the line that it is about.
pub(super) fn failure(error: &Error, name: &str, text: &str) -> Failure {
    let shown = match error.position() {
        None => format!("{name}: {}", error.message()),
        Some(position) => {
            let start = position.offset.min(text.len());
            let end =
                text[start..].find(|character: char| !character.is_alphanumeric() && !":-_$.".contains(character));
            let end =
                start + end.unwrap_or(text.len() - start).max(text[start..].chars().next().map_or(0, char::len_utf8));
            let annotation = AnnotationKind::Primary.span(start..end);
            let snippet = Snippet::source(text).path(name).annotation(annotation);
            let report = &[Level::ERROR.primary_title(error.message()).element(snippet)];
            Renderer::plain().render(report)
        }
    };
    match error.kind() {
        // The stylesheet or the expression is at fault, which the user wrote.
        ErrorKind::Static => Failure::usage(shown),
        _ => Failure::failed(shown),
    }
}

/// Files in the folder of the stylesheet, and below it.
pub(super) struct Folder {
    root: PathBuf,
    /// The path of the document that is transformed, if it is a file.
    input: Option<String>,
}

impl Folder {
    /// The folder of a stylesheet, to transform a document.
    pub(super) fn of(stylesheet: &Path, input: &Path) -> Folder {
        let folder = stylesheet.parent().filter(|folder| !folder.as_os_str().is_empty());
        let input = (input != Path::new("-")).then(|| normal(input).to_string_lossy().into_owned());
        Folder { root: folder.unwrap_or(Path::new(".")).to_owned(), input }
    }

    /// The bytes of a regular file that is in the folder after links are resolved.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let real = path.canonicalize()?;
        // Whoever wrote the stylesheet need not be who runs it: it reads nothing outside of its own folder.
        if !real.starts_with(self.root.canonicalize()?) {
            let message = format!("it is outside of the stylesheet's folder {}", self.root.display());
            return Err(io::Error::other(message));
        }
        // Opening a pipe would wait for somebody to write into it.
        let without_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let file = File::options().read(true).custom_flags(without_waiting).open(&real)?;
        let (opened, there) = (file.metadata()?, std::fs::symlink_metadata(&real)?);
        // What was judged by its path is what was opened.
        if !opened.is_file() || (opened.dev(), opened.ino()) != (there.dev(), there.ino()) {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(io::Error::other(format!("it has more than {BYTES_MAX} bytes")));
        }
        Ok(bytes)
    }
}

impl Loader for Folder {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        if reference.contains("://") || Path::new(reference).is_absolute() {
            return Err(format!("`{reference}` is outside of the stylesheet's folder {}", self.root.display()));
        }
        let path = normal(&Path::new(base).parent().unwrap_or(Path::new("")).join(reference));
        let bytes = self.read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(Loaded { name: path.to_string_lossy().into_owned(), bytes })
    }

    fn input_name(&self) -> Option<&str> {
        self.input.as_deref()
    }
}

/// The same path without `.` and, where possible, without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stylesheet_reads_its_own_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let sheets = folder.path().join("sheets");
        std::fs::create_dir(&sheets).unwrap();
        std::fs::write(folder.path().join("secret.xml"), "<a/>").unwrap();
        std::fs::write(sheets.join("part.xsl"), "<b/>").unwrap();
        let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, sheets.join(name)).unwrap();
        link("..", "up");
        link("../secret.xml", "link.xml");
        link("part.xsl", "inside.xsl");
        let sheet = sheets.join("main.xsl");
        let loader = Folder::of(&sheet, Path::new("-"));
        let base = sheet.to_string_lossy();
        for inside in ["part.xsl", "./x/../part.xsl", "inside.xsl"] {
            assert_eq!(loader.load(inside, &base).unwrap().bytes, b"<b/>", "{inside}");
        }
        for outside in [
            "../secret.xml",
            "x/../../secret.xml",
            "/etc/hostname",
            "file:///etc/hostname",
            "up/secret.xml",
            "link.xml",
        ] {
            assert!(loader.load(outside, &base).unwrap_err().contains("outside"), "{outside}");
        }
    }

    #[test]
    fn a_stylesheet_reads_regular_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let sheet = folder.path().join("main.xsl");
        let loader = Folder::of(&sheet, Path::new("-"));
        for name in ["pipe", "folder"] {
            let error = loader.load(name, &sheet.to_string_lossy()).unwrap_err();
            assert!(error.contains("no regular file"), "{error}");
        }
    }
}
