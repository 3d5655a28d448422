//! Functions on collections of values as a whole, which are arrays of JSON, for [`sql`](crate::sql).

use std::cmp::Ordering;

use rusqlite::Connection;
use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use tollgate_wire::value::Cell;
use tollgate_wire::{decimal, items};

use super::functions::scalar;
use crate::StoreError;
use crate::sql::function::{self, BY_VALUE};

/// Registers them with a connection.
pub(super) fn register(raw: &Connection) -> Result<(), StoreError> {
    scalar(raw, function::HAS_SUBSEQUENCE, has_subsequence)
}

/// Walks once over the array: each of its values is the next wanted one, or is skipped.
fn has_subsequence(context: &Context<'_>) -> rusqlite::Result<bool> {
    const BEFORE: usize = 2;
    let by_value = context.get_raw(0).as_str()? == BY_VALUE;
    let ValueRef::Text(array) = context.get_raw(1) else { return Ok(context.len() == BEFORE) };
    let mut next = BEFORE;
    items::cells(array, |cell| {
        if next < context.len() && is_same(cell, context.get_raw(next), by_value) {
            next += 1;
        }
    });
    Ok(next == context.len())
}

fn is_same(cell: Cell<'_>, wanted: ValueRef<'_>, by_value: bool) -> bool {
    let equal = |real: f64, wanted: f64| real.partial_cmp(&wanted).is_some_and(Ordering::is_eq);
    match (cell, wanted) {
        (Cell::Null, ValueRef::Null) => true,
        (Cell::Integer(integer), ValueRef::Integer(wanted)) => integer == wanted,
        (Cell::Integer(integer), ValueRef::Real(wanted)) => equal(integer as f64, wanted),
        (Cell::Real(real), ValueRef::Real(wanted)) => equal(real, wanted),
        (Cell::Text(text), ValueRef::Text(wanted)) if by_value => {
            let digits = std::str::from_utf8(text).ok().zip(std::str::from_utf8(wanted).ok());
            digits.is_some_and(|(digits, wanted)| decimal::compare(digits, wanted).is_eq())
        }
        (Cell::Text(text), ValueRef::Text(wanted)) => text == wanted,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether an array, in SQL, contains the wanted values.
    fn check(how: &str, array: &str, wanted: &str, expected: bool) {
        let raw = Connection::open_in_memory().unwrap();
        register(&raw).unwrap();
        let call = format!("SELECT tollgate_has_subsequence('{how}', {array}{wanted})");
        assert_eq!(raw.query_row(&call, [], |row| row.get::<_, bool>(0)).unwrap(), expected, "{call}");
    }

    #[test]
    fn values_stand_in_their_order_with_others_between_them() {
        let exact = "as it is";
        check(exact, r#"'["a","b","c"]'"#, ", 'a', 'c'", true);
        check(exact, r#"'["a","b","c"]'"#, ", 'c', 'a'", false);
        check(exact, r#"'["a","a"]'"#, ", 'a', 'a', 'a'", false);
        check(exact, "'[1,null,true]'", ", NULL, 1", true);
        check(exact, "'[1.5,2.0]'", ", 1.5, 2.0", true);
        check(exact, r#"'["1.50"]'"#, ", '1.5'", false);
        check(BY_VALUE, r#"'["1.50",null,"2"]'"#, ", '1.5', '2.00'", true);
        check(exact, "NULL", ", 'a'", false);
        check(exact, "NULL", "", true);
    }
}
