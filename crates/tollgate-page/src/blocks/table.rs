//! A table: columns with their units, rows with their tones, and cells with the numbers of their doubts.

use crate::number;

/// Rows and columns.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// Its title; empty where the heading above serves as one.
    pub title: String,
    /// Its columns; the first one is the row heading.
    pub columns: Vec<Column>,
    /// Its rows, as long as there are columns, or until a cell that takes the rest.
    pub rows: Vec<TableRow>,
    /// Name of the file in which it can be downloaded.
    pub file: Option<String>,
    /// Whether it is folded away at first.
    pub is_folded: bool,
    /// Maximum number of rows on a page with pictures, where they are folded away; other formats have all. Absent: all
    /// rows.
    pub page_rows_max: Option<usize>,
    /// First column of values along one axis: where there is no room for all, some are left out evenly.
    pub axis_from: Option<usize>,
    /// Whether its cells are words: a row that is too long is then shown on lines of its own.
    pub is_wordy: bool,
    /// The same with unrounded numbers, for machines: the content of the file.
    pub raw: Option<Box<Table>>,
}

/// One column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// The unit of its numbers; empty where none.
    pub unit: String,
    /// Order of removal where there is no room: the highest first, of equal ones the last. 0 stays.
    pub rank: u8,
}

/// One row.
#[derive(Debug, Clone, Default)]
pub struct TableRow {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Its emphasis.
    pub tone: Tone,
    /// Index of its colour, where the row is a variant's.
    pub key: Option<usize>,
    /// Whether a group of rows begins here.
    pub is_first: bool,
}

/// The emphasis of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// A usual row.
    #[default]
    Plain,
    /// The baseline of the others.
    Base,
    /// A row whose figures are refused.
    Refused,
    /// A row of somebody else's figures.
    Others,
}

/// One cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Its text.
    pub text: String,
    /// Numbers of the doubts that concern it.
    pub marks: Vec<usize>,
    /// Whether it spans all cells from here to the end of its row.
    pub takes_rest: bool,
    /// The reason for its value, shown on request.
    pub why: Option<String>,
}

/// Units at the end of a heading: they become the column's unit, so that every table has them in one place.
const UNITS: [&str; 11] = ["ms", "KB/s", "µs", "%", "ppm", "1/s", "/s", "kB", "MB", "cores", "µs/request"];

/// A column, or its heading, and the function from a row's item to its cell.
pub type ColumnOf<'c, H, T, C> = (H, &'c dyn Fn(&T) -> C);

impl Table {
    /// A table without rows.
    pub fn new<C: Into<Column>>(title: impl Into<String>, columns: impl IntoIterator<Item = C>) -> Self {
        Self { title: title.into(), columns: columns.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// A table with a row for each item and a cell for each column, which is a heading and a function.
    pub fn of<T, H: Into<Column> + Clone, C: Into<Cell>>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = T>,
        columns: &[ColumnOf<'_, H, T, C>],
    ) -> Self {
        let row = |of: T| columns.iter().map(|(_, cell)| cell(&of)).collect::<Vec<C>>();
        Self::new(title, columns.iter().map(|(head, _)| head.clone())).with(rows.into_iter().map(row))
    }

    /// Adds these rows.
    pub fn with<R: Into<TableRow>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        self.rows.extend(rows.into_iter().map(Into::into));
        self
    }

    /// Sets the name of its file.
    pub fn file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Folds it away.
    pub fn folded(mut self) -> Self {
        self.is_folded = true;
        self
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl Into<TableRow>) {
        self.rows.push(row.into());
    }

    /// Returns the table, or nothing if it has no rows.
    pub fn some(self) -> Option<Self> {
        Some(self).filter(|table| !table.rows.is_empty())
    }

    /// Whether all cells of a column are numbers.
    pub fn is_number(&self, column: usize) -> bool {
        let is_on_axis = self.axis_from.is_some_and(|from| column >= from);
        let is_all = || self.rows.iter().all(|row| row.cells.get(column).is_none_or(Cell::is_number));
        column > 0 && (is_on_axis || is_all())
    }
}

impl Column {
    /// A column with its unit.
    pub fn of(head: impl Into<String>, unit: impl Into<String>, rank: u8) -> Self {
        Self { head: head.into(), unit: unit.into(), rank }
    }

    /// Heading and unit in one text.
    pub fn text(&self) -> String {
        if self.unit.is_empty() { self.head.clone() } else { format!("{} {}", self.head, self.unit) }
    }
}

impl<T: Into<String>> From<T> for Column {
    fn from(head: T) -> Self {
        let head = head.into();
        let is_unit = |(what, last): &(&str, &str)| UNITS.contains(last) && what.starts_with(char::is_alphabetic);
        match head.rsplit_once(' ').filter(is_unit) {
            Some((what, unit)) => Self::of(what.trim_end_matches(','), unit, 1),
            None => Self::of(head, "", 1),
        }
    }
}

impl<C: Into<Cell>> From<Vec<C>> for TableRow {
    fn from(cells: Vec<C>) -> Self {
        Self { cells: cells.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

impl Cell {
    /// A text with the numbers of its doubts.
    pub fn marked(text: impl Into<String>, marks: Vec<usize>) -> Self {
        Self { text: text.into(), marks, ..Self::default() }
    }

    /// The text followed by the numbers, as ` [1,2]`.
    pub fn numbered(&self) -> String {
        let marks: Vec<String> = self.marks.iter().map(usize::to_string).collect();
        if marks.is_empty() { self.text.clone() } else { format!("{} [{}]", self.text, marks.join(",")) }
    }

    fn is_number(&self) -> bool {
        let begins = |first: char| first.is_ascii_digit() || matches!(first, '+' | '−' | '±' | '<' | '(');
        let is_absent = self.takes_rest || ["", number::NOTHING, "refused"].contains(&self.text.as_str());
        is_absent || self.text.starts_with(begins)
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::marked(text, Vec::new())
    }
}

impl TableRow {
    /// The texts of its cells without marks.
    pub fn texts(&self) -> Vec<&str> {
        self.cells.iter().map(|cell| cell.text.as_str()).collect()
    }
}
