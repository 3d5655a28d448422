//! The wide form: a row for each way of inserting, a column for each number of records, one table for each distance, and the
//! published rows beneath ours.

use super::published::Published;
use tollgate_facts::results::{Cell, Distance, Estimate, GapKind, RunResult, Variant};
use tollgate_page::blocks::{Cell as Entered, Column, Table, TableRow, Tone};
use tollgate_page::gather::by_key;
use tollgate_page::number;
use tollgate_page::text::one_line;
use tollgate_page::words::marked::REFUSED;
use tollgate_page::words::view::{Row, View};

/// One table.
pub(super) struct Wide<'r> {
    pub(super) distance: Distance,
    pub(super) levels: Vec<u64>,
    pub(super) rows: Vec<WideRow<'r>>,
}

/// A row of the table.
pub(super) struct WideRow<'r> {
    /// Index of its colour and marker.
    pub(super) key: usize,
    pub(super) variant: &'r Variant,
    /// One for each level.
    pub(super) entries: Vec<WideCell<'r>>,
}

/// The entry at one level.
#[derive(Clone, Copy)]
pub(super) enum WideCell<'r> {
    /// A figure of a cell. It is short if its records do not fill the mode's requests and connections: its mode is then
    /// another one by this name.
    Value { value: Estimate, row: &'r Row<'r>, is_short: bool },
    /// The message with which errors began here.
    Onset(&'r str),
    /// The reason that it was skipped.
    Skipped(&'r str),
    /// No entry.
    Empty,
}

/// Explains the parentheses around a figure.
pub(super) const SHORT: &str = "in parentheses: fewer records than the mode's batch or connections";

/// The figure in the cells of a table.
pub(super) type Figure = fn(&Cell) -> Option<Estimate>;

/// Milliseconds per record.
pub(super) fn ms_per_record(cell: &Cell) -> Option<Estimate> {
    cell.inserted.map(|inserted| inserted.ms_per_record)
}

/// The subject's CPU time per record in microseconds.
pub(super) fn cpu_us_per_record(cell: &Cell) -> Option<Estimate> {
    cell.inserted?.subject_cpu_us_per_record
}

/// The tables of a figure, one for each distance that occurs.
pub(super) fn tables<'r>(view: &'r View<'r>, figure: Figure) -> Vec<Wide<'r>> {
    let experiment = &view.run.experiment;
    let of = |distance: Distance| {
        let own = experiment.variants.iter().filter(|variant| variant.distance == distance);
        let mut rows: Vec<WideRow<'r>> = Vec::new();
        // Subjects of one mode stand together, in the place of the first.
        for (mode, variants) in by_key(own.map(|variant| (mode(variant), variant))) {
            // A mode has the same colour near and from afar.
            let key = experiment.variants.iter().position(|other| self::mode(other) == mode).unwrap_or(0);
            rows.extend(variants.iter().map(|variant| ours(view, key, variant, figure)));
        }
        Wide { distance, levels: experiment.levels.clone(), rows }
    };
    [Distance::Local, Distance::Remote].map(of).into_iter().filter(|wide| !wide.rows.is_empty()).collect()
}

pub(super) fn mode(variant: &Variant) -> &str {
    variant.inserting.as_ref().map_or(variant.name.as_str(), |inserting| inserting.mode.as_str())
}

fn ours<'r>(view: &'r View<'r>, key: usize, variant: &'r Variant, figure: Figure) -> WideRow<'r> {
    let run = view.run;
    let entry = |level: &u64| {
        let gap = run.gaps.iter().find(|gap| gap.variant == variant.name && gap.level == *level);
        let value = view.row(&variant.name, *level).map(|row| {
            let value = figure(row.cell).filter(|value| value.n > 0);
            let is_short = !variant.is_whole_at(*level);
            value.map_or(WideCell::Empty, |value| WideCell::Value { value, row, is_short })
        });
        match gap.map(|gap| (gap.kind, gap.reason.as_str())) {
            Some((GapKind::ErrorOnset, reason)) => WideCell::Onset(reason),
            Some((GapKind::AfterOnset | GapKind::Unsupported, _)) => WideCell::Empty,
            Some((GapKind::TooLong | GapKind::TooShort, reason)) => value.unwrap_or(WideCell::Skipped(reason)),
            None => value.unwrap_or(WideCell::Empty),
        }
    };
    WideRow { key, variant, entries: run.experiment.levels.iter().map(entry).collect() }
}

impl WideCell<'_> {
    /// A figure with three digits, the wording of the first error, or nothing.
    fn cell(&self) -> Entered {
        match self {
            WideCell::Value { row, .. } if row.is_closed_refused => REFUSED.into(),
            WideCell::Value { value, row, is_short } => {
                let mark = if row.marks.is_empty() { "" } else { "*" };
                let figure = format!("{}{mark}", number::three_digits(value.mean));
                if *is_short { format!("({figure})").into() } else { figure.into() }
            }
            WideCell::Onset(wording) => onset(wording),
            WideCell::Skipped(why) => Entered { why: Some((*why).to_owned()), ..Entered::from("skip") },
            WideCell::Empty => Entered::default(),
        }
    }
}

impl Wide<'_> {
    /// The table of the figure `what`, with a file named after `file` and the distance; each mode's rows are followed
    /// by its published row.
    pub(super) fn table(
        &self,
        run: &RunResult,
        what: &str,
        file: &str,
        published: impl Fn(&Variant) -> Option<Vec<Option<Published>>>,
    ) -> Table {
        let levels = self.levels.iter().map(|level| Column::from(number::whole(*level)));
        let columns = ["mode", "conn", "batch"].map(Column::from).into_iter().chain(levels);
        let own = |row: &WideRow<'_>| {
            let cells = line(row.head(), row.entries.iter().map(WideCell::cell));
            TableRow { cells, key: Some(row.key), ..TableRow::default() }
        };
        let theirs = |mode: &[WideRow<'_>]| {
            let cell = |cell: Option<Published>| match cell {
                Some(Published::Time(ms)) => number::three_digits(ms).into(),
                Some(Published::Onset(wording)) => onset(wording),
                None => Entered::default(),
            };
            let head = ["published", "", ""].map(str::to_owned);
            let cells = line(head, published(mode[0].variant)?.into_iter().map(cell));
            Some(TableRow { cells, tone: Tone::Others, ..TableRow::default() })
        };
        let title = format!("{what}, {}", distance(run, self.distance));
        let modes = self.rows.chunk_by(|one, next| one.key == next.key);
        let rows = modes.flat_map(|mode| mode.iter().map(own).chain(theirs(mode)));
        let file = format!("{file}-{}.csv", self.distance);
        Table { axis_from: Some(3), ..Table::new(title, columns).with(rows).file(file) }
    }
}

impl WideRow<'_> {
    /// The mode, and the peer of the row.
    pub(super) fn label(&self) -> String {
        match &self.variant.peer {
            Some(peer) => format!("{} {peer}", mode(self.variant)),
            None => mode(self.variant).to_owned(),
        }
    }

    /// Its label, connections, and records in one request.
    fn head(&self) -> [String; 3] {
        let Some(inserting) = &self.variant.inserting else { return [self.label(), String::new(), String::new()] };
        let records = inserting.records_per_request.map_or_else(|| "all".to_owned(), |records| records.to_string());
        [self.label(), inserting.connections.to_string(), records]
    }
}

/// The entry at which errors begin, which takes the rest of a row.
fn onset(wording: &str) -> Entered {
    Entered { takes_rest: true, ..one_line(wording).into() }
}

/// The cells of a row, up to one that takes the rest.
fn line(head: [String; 3], entries: impl Iterator<Item = Entered>) -> Vec<Entered> {
    let mut cells: Vec<Entered> = head.into_iter().map(Entered::from).chain(entries).collect();
    cells.truncate(cells.iter().position(|cell| cell.takes_rest).map_or(cells.len(), |at| at + 1));
    cells
}

/// Describes the distance of a table's variants.
pub(super) fn distance(run: &RunResult, distance: Distance) -> String {
    match (distance, run.settings.round_trip_ms) {
        (Distance::Remote, Some(ms)) => format!("remote, {} ms round trip", number::three_digits(ms)),
        _ => distance.to_string(),
    }
}

/// The peer and the distance of a variant, in two words.
pub(super) fn distance_of(variant: &Variant) -> String {
    let distance = variant.distance;
    variant.peer.as_ref().map_or_else(|| distance.to_string(), |peer| format!("{peer}, {distance}"))
}
