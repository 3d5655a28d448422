//! The published table of milliseconds per record, from `data/`, for comparison with a run's own.

use tollgate_facts::results::{Distance, Inserting};

/// Name of the table in an experiment.
const NAME: &str = "cap-ms-per-record";
/// Source of the published figures.
pub(crate) const SOURCE: &str = "RizInno's load test of CAP 6.4 on an Apple M1 Max, 2022: local over SQLite in \
                                            memory, remote in SAP's cloud over SAP HANA";
const TEXT: &str = include_str!("data/cap_ms_per_record.csv");

/// One published cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Published {
    /// Milliseconds per record.
    Time(f64),
    /// The message with which errors began here.
    Onset(&'static str),
}

/// Whether a published table has this name.
pub(crate) fn is_known(name: Option<&str>) -> bool {
    name == Some(NAME)
}

/// The published cells that correspond to a way of inserting, at these levels; absent without any.
pub(crate) fn row(inserting: &Inserting, distance: Distance, levels: &[u64]) -> Option<Vec<Option<Published>>> {
    let place = match distance {
        Distance::Local => "local",
        Distance::Remote => "btpFromLocal",
    };
    let mode = match inserting.mode.split('-').next() {
        Some("custom") => "customRest",
        Some("batch") => "batchSequential",
        mode => mode.unwrap_or_default(),
    };
    let (connections, records) = (inserting.connections, inserting.records_per_request.unwrap_or(1));
    let way = format!("{place},{mode},{connections},{records},");
    let found: Vec<(u64, Published)> = TEXT.lines().filter_map(|line| cell(line.strip_prefix(&way)?)).collect();
    let at = |level: &u64| found.iter().find(|(records, _)| records == level).map(|(_, cell)| *cell);
    let cells: Vec<Option<Published>> = levels.iter().map(at).collect();
    cells.iter().any(Option::is_some).then_some(cells)
}

/// Parses the rest of a line after the way of inserting: records, milliseconds for each, and the error.
fn cell(text: &'static str) -> Option<(u64, Published)> {
    let (records, rest) = text.split_once(',')?;
    let (time, error) = rest.split_once(',')?;
    let cell = match (time.parse(), error.trim().trim_matches('"').trim()) {
        (Ok(time), _) => Published::Time(time),
        (Err(_), "") => return None,
        (Err(_), error) => Published::Onset(error),
    };
    Some((records.parse().ok()?, cell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserting(mode: &str, connections: u32, records_per_request: Option<u64>) -> Inserting {
        Inserting { mode: mode.to_owned(), connections, records_per_request }
    }

    #[test]
    fn every_line_of_the_file_is_read() {
        let lines = TEXT.lines().count() - 1;
        let way_and_cell = |line: &'static str| cell(line.splitn(5, ',').nth(4)?);
        assert_eq!(TEXT.lines().skip(1).filter_map(way_and_cell).count(), lines);
    }

    #[test]
    fn a_row_is_found_by_its_mode_and_ends_where_errors_began() {
        let row = |inserting: &Inserting, distance| super::row(inserting, distance, &[5, 7, 7000, 8000, 9000]);
        let sequential = row(&inserting("sequential", 1, Some(1)), Distance::Local).unwrap();
        assert_eq!(sequential[..3], [Some(Published::Time(12.6)), None, Some(Published::Time(2.318))]);
        let parallel = row(&inserting("parallel-500", 500, Some(1)), Distance::Local).unwrap();
        assert_eq!(parallel[3..], [Some(Published::Onset("Error ECONNRESET starts occurring")), None]);
        let custom = row(&inserting("custom-rest", 1, None), Distance::Remote).unwrap();
        assert_eq!(custom[0], Some(Published::Time(77.8)));
        assert!(row(&inserting("batch-100", 1, Some(100)), Distance::Local).is_some());
        assert_eq!(row(&inserting("changeset-100", 1, Some(100)), Distance::Local), None);
    }
}
