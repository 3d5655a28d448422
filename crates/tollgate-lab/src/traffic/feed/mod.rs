//! A feed: rows of values that vary each request, and the order in which users take them.
//!
//! Values are escaped once, before time counts: a request is then only copied together. This does not read files or
//! know the form of a request.

pub mod csv;
pub mod template;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::Deserialize;

use super::model::Lane;
use csv::Table;
use template::Escape;

/// Maximum number of bytes of escaped values.
pub const VALUES_BYTES_MAX: usize = 1 << 30;

/// Rows of values, and the order in which they are taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The rows.
    pub table: Arc<Table>,
    /// The order in which rows are taken.
    pub order: Order,
    /// The continuation after the last row.
    pub end: FeedEnd,
    /// Seed of the random draws.
    pub seed: u64,
}

/// The order in which rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// From the first to the last, by each user for itself. At a rate, where users have no rows of their own, as
    /// [`Unique`](Order::Unique).
    #[default]
    InOrder,
    /// Any row, drawn at random for each request.
    Random,
    /// From the first to the last, each by one request of any user.
    Unique,
}

/// The continuation after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeedEnd {
    /// The first one.
    #[default]
    Again,
    /// Nothing: a user that finds no row leaves.
    Stop,
}

/// Values of some columns, each with one or more escapings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    text: Vec<u8>,
    /// For each used column, the start of its first row's value and the end of each row's.
    columns: Vec<Vec<u32>>,
    known: BTreeMap<(usize, Escape), u32>,
}

impl Values {
    /// The number of a column of `table` in this escaping; made on first use.
    ///
    /// # Errors
    /// Too many bytes, or a value that `allowed` refuses.
    pub(crate) fn column(
        &mut self,
        table: &Table,
        column: usize,
        escape: Escape,
        allowed: impl Fn(&[u8]) -> bool,
    ) -> Result<u32, String> {
        let write = |row: usize, out: &mut Vec<u8>| escape.write(table.value(row, column), out);
        let number = match self.known.get(&(column, escape)) {
            Some(number) => *number,
            None => self.made(table.rows(), write)?,
        };
        self.known.insert((column, escape), number);
        match (0..table.rows()).find(|row| !allowed(self.value(number, *row))) {
            None => Ok(number),
            Some(row) => {
                let name = &table.columns[column];
                Err(format!("the value of `{name}` in row {} of the feed cannot stand there", row + 1))
            }
        }
    }

    /// The same for a column that is written for each row.
    ///
    /// # Errors
    /// Too many bytes.
    pub(crate) fn made(&mut self, rows: usize, write: impl Fn(usize, &mut Vec<u8>)) -> Result<u32, String> {
        let mut ends = Vec::with_capacity(1 + rows);
        ends.push(self.text.len() as u32);
        for row in 0..rows {
            write(row, &mut self.text);
            if self.text.len() > VALUES_BYTES_MAX {
                return Err(format!("the feed's values take more than {VALUES_BYTES_MAX} bytes: use fewer rows"));
            }
            ends.push(self.text.len() as u32);
        }
        self.columns.push(ends);
        Ok(self.columns.len() as u32 - 1)
    }

    /// The value in a row.
    #[inline]
    pub(crate) fn value(&self, number: u32, row: usize) -> &[u8] {
        let ends = &self.columns[number as usize];
        &self.text[ends[row] as usize..ends[row + 1] as usize]
    }
}

/// One user's way through the rows.
#[derive(Debug)]
pub(crate) struct Way {
    rows: u64,
    order: Order,
    end: FeedEnd,
    lane: Lane,
    taken: u64,
    random: ChaCha8Rng,
}

impl Way {
    /// Makes the way of the user with this number in this lane.
    pub(crate) fn new(feed: &Feed, lane: Lane, user: usize) -> Way {
        let mut random = ChaCha8Rng::seed_from_u64(feed.seed);
        // Streams of one seed never overlap.
        random.set_stream((u64::from(lane.index) << 32) | user as u64);
        Way { rows: feed.table.rows() as u64, order: feed.order, end: feed.end, lane, taken: 0, random }
    }

    /// The next row; `None` after the last one. `shared` counts the rows that the lane has taken.
    pub(crate) fn next(&mut self, shared: &Cell<u64>) -> Option<u32> {
        let place = match self.order {
            Order::Random => return Some(self.random.random_range(0..self.rows) as u32),
            Order::InOrder => {
                self.taken += 1;
                self.taken - 1
            }
            Order::Unique => {
                let taken = shared.get();
                shared.set(taken + 1);
                taken * u64::from(self.lane.count) + u64::from(self.lane.index)
            }
        };
        (self.end == FeedEnd::Again || place < self.rows).then_some((place % self.rows) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(order: Order, end: FeedEnd) -> Feed {
        let table = Arc::new(Table::parse(b"a,b\n0,x\n1,\"y\"\"\"\n2,\n").unwrap());
        Feed { table, order, end, seed: 7 }
    }

    fn rows(way: &mut Way, shared: &Cell<u64>, count: usize) -> Vec<Option<u32>> {
        (0..count).map(|_| way.next(shared)).collect()
    }

    #[test]
    fn in_order_each_user_begins_at_the_first_row() {
        let shared = Cell::new(0);
        for user in 0..2 {
            let mut way = Way::new(&feed(Order::InOrder, FeedEnd::Again), Lane::WHOLE, user);
            assert_eq!(rows(&mut way, &shared, 4), [Some(0), Some(1), Some(2), Some(0)]);
            let mut way = Way::new(&feed(Order::InOrder, FeedEnd::Stop), Lane::WHOLE, user);
            assert_eq!(rows(&mut way, &shared, 4), [Some(0), Some(1), Some(2), None]);
        }
    }

    #[test]
    fn a_unique_row_is_taken_once_by_all_users_of_all_lanes() {
        let mut taken = Vec::new();
        for index in 0..2 {
            let shared = Cell::new(0);
            let lane = Lane { index, count: 2 };
            let ways = [0, 1].map(|user| Way::new(&feed(Order::Unique, FeedEnd::Stop), lane, user));
            for mut way in ways {
                taken.extend(way.next(&shared));
            }
        }
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    }

    #[test]
    fn drawn_rows_are_the_same_for_the_same_seed_and_another_for_each_user() {
        let draw =
            |user| rows(&mut Way::new(&feed(Order::Random, FeedEnd::Again), Lane::WHOLE, user), &Cell::new(0), 50);
        assert_eq!(draw(0), draw(0));
        assert_ne!(draw(0), draw(1));
        assert!((0..3).all(|row| draw(0).contains(&Some(row))));
    }

    #[test]
    fn values_are_escaped_once_for_each_use() {
        let (feed, mut values) = (feed(Order::InOrder, FeedEnd::Again), Values::default());
        let raw = values.column(&feed.table, 0, Escape::Raw, |_| true).unwrap();
        let json = values.column(&feed.table, 1, Escape::Json, |_| true).unwrap();
        assert_eq!(values.column(&feed.table, 0, Escape::Raw, |_| true), Ok(raw));
        let found: Vec<&[u8]> = (0..3).flat_map(|row| [values.value(raw, row), values.value(json, row)]).collect();
        assert_eq!(found, [b"0".as_slice(), b"x", b"1", b"y\\\"", b"2", b""]);
        let refused = values.column(&feed.table, 1, Escape::Raw, |value| !value.contains(&b'"')).unwrap_err();
        assert_eq!(refused, "the value of `b` in row 2 of the feed cannot stand there");
    }
}
