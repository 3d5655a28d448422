//! Comma-separated values (RFC 4180): a first row of names, then rows of as many values. Quotes may hold commas, line ends
//! and doubled quotes; lines end with LF or CRLF; a byte-order mark at the front is skipped.
//!
//! What it deliberately does not do: guess another separator, trim spaces, or take a row that is too short for a whole
//! one.

/// Most columns of a file.
pub const COLUMNS_MAX: usize = 256;
/// Most rows of a file.
pub const ROWS_MAX: usize = 10_000_000;

/// A file's names and values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    text: Vec<u8>,
    /// Where each value ends in `text`, row by row.
    ends: Vec<u32>,
}

/// What is wrong with a file, and in which line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvError {
    line: usize,
    message: String,
}

impl std::fmt::Display for CsvError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for CsvError {}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is not as it should be.
    pub fn parse(bytes: &[u8]) -> Result<Table, CsvError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if u32::try_from(bytes.len()).is_err() {
            return Err(CsvError { line: 1, message: "a file of 4 GiB or more is not read".to_owned() });
        }
        let mut reader = Reader { bytes, at: 0, line: 1 };
        let mut table = Table::default();
        let mut names = Vec::new();
        let Some(count) = reader.row(&mut names, &mut table.ends)? else {
            return Err(reader.wrong("expected a first row with the names of the columns, but the file is empty"));
        };
        let mut start = 0;
        for end in std::mem::take(&mut table.ends) {
            let name = String::from_utf8(names[start..end as usize].to_vec());
            let name = name.map_err(|_| CsvError { line: 1, message: "a name is not UTF-8".to_owned() })?;
            let name = name.trim().to_owned();
            if name.is_empty() || table.columns.contains(&name) {
                let message = format!("each column needs a name of its own, but `{name}` is none");
                return Err(CsvError { line: 1, message });
            }
            table.columns.push(name);
            start = end as usize;
        }
        if count > COLUMNS_MAX {
            return Err(CsvError { line: 1, message: format!("{count} columns, at most {COLUMNS_MAX} may be") });
        }
        loop {
            reader.skip_empty_lines();
            let line = reader.line;
            match reader.row(&mut table.text, &mut table.ends)? {
                None => break,
                Some(found) if found == count => {}
                Some(found) => {
                    let is_other = table.columns.iter().any(|name| name.contains([';', '\t']));
                    let separator = if is_other { "; values are separated by commas" } else { "" };
                    let message = format!("{found} values where the first row has {count} names{separator}");
                    return Err(CsvError { line, message });
                }
            }
            if table.rows() > ROWS_MAX {
                return Err(CsvError { line, message: format!("more than {ROWS_MAX} rows") });
            }
        }
        if table.rows() == 0 {
            return Err(reader.wrong("expected a row of values behind the names, but there is none"));
        }
        Ok(table)
    }

    /// How many rows of values there are.
    pub fn rows(&self) -> usize {
        self.ends.len().checked_div(self.columns.len()).unwrap_or(0)
    }

    /// The value in a row and column, both counted from 0.
    pub fn value(&self, row: usize, column: usize) -> &[u8] {
        let index = row * self.columns.len() + column;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[index] as usize]
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Reader<'_> {
    fn wrong(&self, message: &str) -> CsvError {
        CsvError { line: self.line, message: message.to_owned() }
    }

    /// A line with nothing on it is no row; a single empty value stands in quotes.
    fn skip_empty_lines(&mut self) {
        loop {
            self.at += match self.bytes[self.at..] {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return,
            };
            self.line += 1;
        }
    }

    /// Reads a row and says how many values it has; `None` at the end.
    fn row(&mut self, text: &mut Vec<u8>, ends: &mut Vec<u32>) -> Result<Option<usize>, CsvError> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        let mut count = 0;
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => self.quoted(text)?,
                _ => self.plain(text)?,
            }
            ends.push(text.len() as u32);
            count += 1;
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'\r') => {
                    self.at += 2;
                    self.line += 1;
                    return Ok(Some(count));
                }
                Some(_) => {
                    self.at += 1;
                    self.line += 1;
                    return Ok(Some(count));
                }
                None => return Ok(Some(count)),
            }
        }
    }

    /// Up to a comma or the line's end.
    fn plain(&mut self, text: &mut Vec<u8>) -> Result<(), CsvError> {
        let rest = &self.bytes[self.at..];
        let ends = |(place, byte): (usize, &u8)| {
            matches!(byte, b',' | b'\n') || (*byte == b'\r' && rest.get(place + 1) == Some(&b'\n'))
        };
        let length = rest.iter().enumerate().position(ends).unwrap_or(rest.len());
        if rest[..length].contains(&b'"') {
            return Err(
                self.wrong("a quote inside a value without quotes: put the value in quotes, and double those inside")
            );
        }
        text.extend_from_slice(&rest[..length]);
        self.at += length;
        Ok(())
    }

    /// Up to the closing quote, which must be the value's end.
    fn quoted(&mut self, text: &mut Vec<u8>) -> Result<(), CsvError> {
        let begun = self.line;
        self.at += 1;
        loop {
            let rest = &self.bytes[self.at..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                return Err(CsvError {
                    line: begun,
                    message: "a value begins with a quote and has no other".to_owned(),
                });
            };
            text.extend_from_slice(&rest[..length]);
            self.line += rest[..length].iter().filter(|byte| **byte == b'\n').count();
            self.at += length + 1;
            match self.bytes[self.at..] {
                [b'"', ..] => {
                    text.push(b'"');
                    self.at += 1;
                }
                [] | [b',' | b'\n', ..] | [b'\r', b'\n', ..] => return Ok(()),
                _ => return Err(self.wrong("a comma or the line's end is expected behind a closing quote")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
        let table = Table::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        let value = |row, column| String::from_utf8(table.value(row, column).to_vec()).unwrap();
        let values = |row| (0..table.columns.len()).map(|column| value(row, column)).collect();
        Ok(std::iter::once(table.columns.clone()).chain((0..table.rows()).map(values)).collect())
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let check = |text: &str, expected: &[&[&str]]| {
            let expected: Vec<Vec<String>> =
                expected.iter().map(|row| row.iter().map(|value| (*value).to_owned()).collect()).collect();
            assert_eq!(rows(text).unwrap(), expected, "{text:?}");
        };
        check("a,b\n1,2\n", &[&["a", "b"], &["1", "2"]]);
        check("a,b\r\n1,2\r\n3,\r\n", &[&["a", "b"], &["1", "2"], &["3", ""]]);
        check("a\nx", &[&["a"], &["x"]]);
        check("\u{feff}a, b \n\"x, \"\"y\"\"\nz\",  \n", &[&["a", "b"], &["x, \"y\"\nz", "  "]]);
        check("a\n\n\"\"\n\r\n", &[&["a"], &[""]]);
        check("a,b\n\n1,2\n\n", &[&["a", "b"], &["1", "2"]]);
        check("a\nx\ry\n", &[&["a"], &["x\ry"]]);
    }

    #[test]
    fn a_wrong_file_says_in_which_line() {
        let check = |text: &str, expected: &str| assert_eq!(rows(text).unwrap_err(), expected, "{text:?}");
        check("", "line 1: expected a first row with the names of the columns, but the file is empty");
        check("a,b\n", "line 2: expected a row of values behind the names, but there is none");
        check("a,a\n1,2\n", "line 1: each column needs a name of its own, but `a` is none");
        check("a,\n1,2\n", "line 1: each column needs a name of its own, but `` is none");
        check("a,b\n1,2\n3\n", "line 3: 1 values where the first row has 2 names");
        check("a,b\n\"x\ny\",2\n1,2,3\n", "line 4: 3 values where the first row has 2 names");
        check("a;b\n1;2,5\n", "line 2: 2 values where the first row has 1 names; values are separated by commas");
        check("a\n1\n\"2\n", "line 3: a value begins with a quote and has no other");
        check("a\n\"1\"2\n", "line 2: a comma or the line's end is expected behind a closing quote");
        check(
            "a\n1\"2\n",
            "line 2: a quote inside a value without quotes: put the value in quotes, and double those inside",
        );
    }

    #[test]
    fn columns_are_taken_at_the_limit_and_refused_one_above() {
        let file = |count: usize| {
            let names: Vec<String> = (0..count).map(|number| format!("c{number}")).collect();
            format!("{}\n{}\n", names.join(","), vec!["x"; count].join(","))
        };
        assert!(rows(&file(COLUMNS_MAX)).is_ok());
        assert_eq!(rows(&file(COLUMNS_MAX + 1)).unwrap_err(), "line 1: 257 columns, at most 256 may be");
    }
}
