//! What must hold for any bytes: the bodies of the fuzz targets of the lab's own parsers, which tests replay with their
//! corpora.

// Each target takes what it needs.
#![allow(dead_code)]

use tollgate_lab::traffic::feed::csv::Table;
use tollgate_lab::traffic::feed::template::{self, Piece};
use tollgate_lab::traffic::stages::{LASTS_MAX, Stages};

/// A CSV file: what was read of it is the same when it is written with every value in quotes and read again.
pub(crate) fn feed_csv(bytes: &[u8]) {
    let Ok(table) = Table::parse(bytes) else { return };
    let mut written = Vec::new();
    let mut write = |row: Vec<&[u8]>| {
        for (place, value) in row.into_iter().enumerate() {
            written.extend_from_slice(if place == 0 { b"\"" } else { b",\"" });
            for byte in value {
                written.extend(std::iter::repeat_n(*byte, if *byte == b'"' { 2 } else { 1 }));
            }
            written.push(b'"');
        }
        written.push(b'\n');
    };
    write(table.columns.iter().map(String::as_bytes).collect());
    for row in 0..table.rows() {
        write((0..table.columns.len()).map(|column| table.value(row, column)).collect());
    }
    let again = Table::parse(&written).expect("what is written with quotes is read");
    assert_eq!(again, table);
}

/// A text with places: its pieces are all of it, in their order.
pub(crate) fn feed_template(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match template::parse(text) {
        Err(error) => assert!(text.is_char_boundary(error.position) && text[error.position..].starts_with("{{")),
        Ok(pieces) => {
            let mut at = 0;
            for piece in &pieces {
                match piece {
                    Piece::Text(piece) => {
                        assert!(text[at..].starts_with(piece) && !piece.is_empty());
                        at += piece.len();
                    }
                    Piece::Value { position, column, .. } => {
                        assert!(*position == at && !column.is_empty());
                        at += text[at..].find("}}").expect("a place has an end") + 2;
                    }
                }
            }
            assert_eq!(at, text.len());
        }
    }
}

/// Stages of a load: what was read asks for something, within its limits, and each stage begins where the one before ended.
pub(crate) fn load_stages(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(stages) = text.parse::<Stages>() else { return };
    assert!(stages.lasts() <= LASTS_MAX && stages.most() > 0.0);
    assert!(stages.count_until(stages.lasts()) > 0.0);
    let mut end_s = 0.0;
    for (stage, at_s) in stages.each() {
        assert!((at_s - end_s).abs() < 1e-6, "{at_s} {end_s}");
        end_s = at_s + stage.lasts.as_secs_f64();
    }
}
