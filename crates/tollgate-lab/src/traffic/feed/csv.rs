//! Comma-separated values (RFC 4180): a first row of names, then rows of as many values. Quoted values may contain
//! commas, line ends and doubled quotes; lines end with LF or CRLF; a byte-order mark at the front is skipped.
//!
//! It does not guess another separator, trim spaces, or accept a row that is too short.

/// Most columns of a file.
pub const COLUMNS_MAX: usize = 256;
/// Most rows of a file.
pub const ROWS_MAX: usize = 10_000_000;

/// The names and values of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    text: Vec<u8>,
    /// The end of each value in `text`, row by row.
    ends: Vec<u32>,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    /// The fault of the first invalid line, with its number, from 1.
    pub fn parse(bytes: &[u8]) -> Result<Table, String> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if u32::try_from(bytes.len()).is_err() {
            return Err(wrong(1, "a file of 4 GiB or more is not read"));
        }
        let mut reader = Reader { rest: bytes, line: 1 };
        if bytes.is_empty() {
            return Err(wrong(1, "expected a first row with the names of the columns, but the file is empty"));
        }
        let (mut head, mut table) = (Table::default(), Table::default());
        reader.row(&mut head)?;
        for column in 0..head.ends.len() {
            let name = std::str::from_utf8(head.value(0, column));
            let name = name.map_err(|_| wrong(1, "a name is not UTF-8"))?.trim().to_owned();
            if name.is_empty() || table.columns.contains(&name) {
                return Err(wrong(1, format!("each column needs a name of its own, but `{name}` is none")));
            }
            table.columns.push(name);
        }
        let count = table.columns.len();
        if count > COLUMNS_MAX {
            return Err(wrong(1, format!("{count} columns, at most {COLUMNS_MAX} may be")));
        }
        loop {
            while reader.takes_line_end() {}
            if reader.rest.is_empty() {
                break;
            }
            let (line, before) = (reader.line, table.ends.len());
            reader.row(&mut table)?;
            let found = table.ends.len() - before;
            if found != count {
                let is_other = table.columns.iter().any(|name| name.contains([';', '\t']));
                let separator = if is_other { "; values are separated by commas" } else { "" };
                let message = format!("{found} values where the first row has {count} names{separator}");
                return Err(wrong(line, message));
            }
            if table.rows() > ROWS_MAX {
                return Err(wrong(line, format!("more than {ROWS_MAX} rows")));
            }
        }
        if table.rows() == 0 {
            return Err(wrong(reader.line, "expected a row of values behind the names, but there is none"));
        }
        Ok(table)
    }

    /// The number of rows of values.
    pub fn rows(&self) -> usize {
        self.ends.len().checked_div(self.columns.len()).unwrap_or(0)
    }

    /// The line, from 1, in which a row (from 0) of this file begins; 0 if there is no such row.
    pub fn line(bytes: &[u8], row: usize) -> usize {
        let (mut reader, mut scratch) = (Reader { rest: bytes, line: 1 }, Table::default());
        for _ in 0..=row {
            if reader.row(&mut scratch).is_err() {
                return 0;
            }
            while reader.takes_line_end() {}
        }
        reader.line
    }

    /// The value in a row and column, both counted from 0.
    pub fn value(&self, row: usize, column: usize) -> &[u8] {
        let index = row * self.columns.len() + column;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[index] as usize]
    }
}

/// An error message about a line.
fn wrong(line: usize, message: impl std::fmt::Display) -> String {
    format!("line {line}: {message}")
}

struct Reader<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Reader<'a> {
    /// Takes this many bytes off the front.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let taken;
        (taken, self.rest) = self.rest.split_at(length);
        self.line += taken.iter().filter(|byte| **byte == b'\n').count();
        taken
    }

    /// Goes on to the next line, if this one is over. An empty line is no row; a single empty value is quoted.
    fn takes_line_end(&mut self) -> bool {
        !self.take(line_end(self.rest)).is_empty()
    }

    /// Adds a row's values.
    fn row(&mut self, table: &mut Table) -> Result<(), String> {
        loop {
            match self.rest {
                [b'"', ..] => self.quoted(&mut table.text)?,
                _ => self.plain(&mut table.text)?,
            }
            table.ends.push(table.text.len() as u32);
            if self.rest.first() != Some(&b',') {
                self.takes_line_end();
                return Ok(());
            }
            self.take(1);
        }
    }

    /// Reads an unquoted value, up to a comma or the line's end.
    fn plain(&mut self, text: &mut Vec<u8>) -> Result<(), String> {
        let ends = |place: &usize| self.rest[*place] == b',' || line_end(&self.rest[*place..]) > 0;
        let value = self.take((0..self.rest.len()).find(ends).unwrap_or(self.rest.len()));
        if value.contains(&b'"') {
            let message = "a quote inside a value without quotes: put the value in quotes, and double those inside";
            return Err(wrong(self.line, message));
        }
        text.extend_from_slice(value);
        Ok(())
    }

    /// Reads up to the closing quote, which must be the value's end.
    fn quoted(&mut self, text: &mut Vec<u8>) -> Result<(), String> {
        let begun = self.line;
        loop {
            self.take(1);
            let Some(length) = self.rest.iter().position(|byte| *byte == b'"') else {
                return Err(wrong(begun, "a value begins with a quote and has no other"));
            };
            text.extend_from_slice(self.take(length));
            self.take(1);
            match self.rest {
                [b'"', ..] => text.push(b'"'),
                rest if matches!(rest, [] | [b',', ..]) || line_end(rest) > 0 => return Ok(()),
                _ => return Err(wrong(self.line, "a comma or the line's end is expected behind a closing quote")),
            }
        }
    }
}

/// Length in bytes of the line end at the front; 0 if there is none.
fn line_end(rest: &[u8]) -> usize {
    match rest {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<Vec<String>>, String> {
        let table = Table::parse(text.as_bytes())?;
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
    fn a_row_is_found_again_in_its_file() {
        let text = b"a,b\n\n1,2\r\n\"x\ny\",2\n3,4\n";
        assert_eq!([0, 1, 2].map(|row| Table::line(text, row)), [3, 4, 6]);
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
