//! Files that verbs read: whole, as text, up to a limit, with an error that names the file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;

/// The text of a file of at most `bytes_max`.
pub(crate) fn text(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    String::from_utf8(bytes(path, bytes_max)?).map_err(|_| unreadable(path, &"it is not text in UTF-8"))
}

/// The bytes of a file of at most `bytes_max`.
pub(crate) fn bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One more than allowed tells a file at the limit from one above, also where the size is not known before.
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes));
    read.map_err(|error: io::Error| unreadable(path, &error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(unreadable(path, &format_args!("it has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// The bytes of stdin, at most `bytes_max`.
pub(crate) fn stdin(bytes_max: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(Path::new("stdin"), &error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(unreadable(Path::new("stdin"), &format_args!("it has more than {bytes_max} bytes")));
    }
    Ok(bytes)
}

/// The user named a file that cannot be read.
pub(crate) fn unreadable(path: &Path, reason: &dyn fmt::Display) -> Failure {
    Failure::usage(format_args!("cannot read {}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_at_the_limit_is_read_and_one_above_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("four");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(text(&path, 4).unwrap(), "four");
        assert!(text(&path, 3).is_err());
        std::fs::write(&path, [0xff]).unwrap();
        assert!(text(&path, 4).is_err());
    }
}
