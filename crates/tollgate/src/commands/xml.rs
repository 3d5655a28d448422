//! What `tollgate xslt` and `tollgate xpath` share: files that are read, those that a stylesheet may refer to, and
//! errors shown with the text that they are about.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate_xml::{Error, ErrorKind, Loaded, Loader};

use super::input;
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
}

impl Folder {
    /// The folder that a file stands in.
    pub(super) fn of(path: &Path) -> Folder {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Folder { root: folder.unwrap_or(Path::new(".")).to_owned() }
    }
}

impl Loader for Folder {
    fn load(&self, reference: &str, base: &str) -> Result<Loaded, String> {
        let base = Path::new(base).parent().unwrap_or(Path::new(""));
        let path = normal(&base.join(reference));
        // Whoever wrote the stylesheet need not be who runs it: it reads nothing outside of its own folder.
        let is_within = path
            .strip_prefix(normal(&self.root))
            .is_ok_and(|inside| !inside.components().any(|part| matches!(part, Component::ParentDir)));
        if reference.contains("://") || Path::new(reference).is_absolute() || !is_within {
            return Err(format!("`{reference}` is outside of the stylesheet's folder {}", self.root.display()));
        }
        let bytes = input::bytes(&path, BYTES_MAX).map_err(|failure| failure.to_string())?;
        Ok(Loaded { name: path.to_string_lossy().into_owned(), bytes })
    }
}

/// The same path without `.` and, where it can be seen, without `..`.
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
        std::fs::create_dir(folder.path().join("sheets")).unwrap();
        std::fs::write(folder.path().join("secret.xml"), "<a/>").unwrap();
        std::fs::write(folder.path().join("sheets/part.xsl"), "<b/>").unwrap();
        let sheet = folder.path().join("sheets/main.xsl");
        let loader = Folder::of(&sheet);
        let base = sheet.to_string_lossy();
        assert_eq!(loader.load("part.xsl", &base).unwrap().bytes, b"<b/>");
        assert_eq!(loader.load("./x/../part.xsl", &base).unwrap().bytes, b"<b/>");
        for outside in ["../secret.xml", "x/../../secret.xml", "/etc/hostname", "file:///etc/hostname"] {
            assert!(loader.load(outside, &base).unwrap_err().contains("outside"), "{outside}");
        }
    }
}
