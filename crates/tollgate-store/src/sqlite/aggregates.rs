//! Aggregates that SQLite's own would compute as floating-point numbers, or not at all where they overflow: sums of
//! integers and decimals, exactly.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use tollgate_wire::decimal;

use super::functions::{digits, refusal, refused, refused_decimal};
use crate::StoreError;
use crate::sql::function;

/// Registers them with a connection.
pub(super) fn register(raw: &Connection) -> std::result::Result<(), StoreError> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let name = |call: &'static str| call.trim_end_matches('(');
    raw.create_aggregate_function(name(function::INTEGER_SUM), 1, flags, IntegerSum)?;
    raw.create_aggregate_function(name(function::REAL_SUM), 1, flags, RealSum(Answer::Sum))?;
    raw.create_aggregate_function(name(function::REAL_AVERAGE), 1, flags, RealSum(Answer::Average))?;
    raw.create_aggregate_function(name(function::DECIMAL_SUM), 1, flags, DecimalSum(Answer::Sum))?;
    raw.create_aggregate_function(name(function::DECIMAL_AVERAGE), 1, flags, DecimalSum(Answer::Average))?;
    Ok(())
}

struct IntegerSum;

impl Aggregate<Option<i128>, Option<i64>> for IntegerSum {
    fn init(&self, _: &mut Context<'_>) -> Result<Option<i128>> {
        Ok(None)
    }

    fn step(&self, context: &mut Context<'_>, sum: &mut Option<i128>) -> Result<()> {
        if let Some(number) = context.get::<Option<i64>>(0)? {
            *sum = Some(sum.unwrap_or(0) + i128::from(number));
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<Option<i128>>) -> Result<Option<i64>> {
        let sum = sum.flatten();
        sum.map(|sum| i64::try_from(sum).map_err(|_| refused(refusal::INTEGER_OVERFLOW))).transpose()
    }
}

/// Sum of reals with the rounding error of each addition (Neumaier 1974), which is added at the end.
struct RealSum(Answer);

#[derive(Default)]
struct Reals {
    sum: f64,
    lost: f64,
    infinite: bool,
    count: i64,
}

impl Aggregate<Reals, Option<f64>> for RealSum {
    fn init(&self, _: &mut Context<'_>) -> Result<Reals> {
        Ok(Reals::default())
    }

    fn step(&self, context: &mut Context<'_>, reals: &mut Reals) -> Result<()> {
        let number = match context.get_raw(0) {
            ValueRef::Real(real) => real,
            ValueRef::Integer(integer) => integer as f64,
            ValueRef::Null | ValueRef::Text(_) | ValueRef::Blob(_) => return Ok(()),
        };
        let sum = reals.sum + number;
        reals.lost +=
            if reals.sum.abs() >= number.abs() { (reals.sum - sum) + number } else { (number - sum) + reals.sum };
        reals.sum = sum;
        reals.infinite |= number.is_infinite();
        reals.count += 1;
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, reals: Option<Reals>) -> Result<Option<f64>> {
        let Some(reals) = reals.filter(|reals| reals.count > 0) else { return Ok(None) };
        let sum = if reals.infinite || reals.sum.is_infinite() { reals.sum } else { reals.sum + reals.lost };
        if sum.is_nan() || (sum.is_infinite() && !reals.infinite) {
            return Err(refused(refusal::REAL_RANGE));
        }
        Ok(Some(match self.0 {
            Answer::Sum => sum,
            Answer::Average => sum / reals.count as f64,
        }))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Sum,
    Average,
}

struct DecimalSum(Answer);

/// Sum so far: as an integer with so many decimals while that fits, which takes a tenth of the time, else as digits.
#[derive(Default)]
struct Total {
    whole: i128,
    scale: u32,
    digits: Option<String>,
    count: i64,
}

/// Most decimals of numbers that are added as integers.
const SCALE_MAX: u32 = 12;

impl Total {
    fn add(&mut self, text: &str) -> Result<()> {
        self.count += 1;
        match scaled(text) {
            Some((number, scale)) if self.add_scaled(number, scale) => Ok(()),
            _ => self.add_digits(text),
        }
    }

    /// Adds a number with so many decimals, if the whole then fits.
    fn add_scaled(&mut self, number: i128, scale: u32) -> bool {
        while self.scale < scale {
            let Some(wider) = self.whole.checked_mul(10) else { return false };
            self.whole = wider;
            self.scale += 1;
        }
        let number = match self.scale - scale {
            0 => Some(number),
            missing => 10_i128.checked_pow(missing).and_then(|factor| number.checked_mul(factor)),
        };
        let Some(sum) = number.and_then(|number| self.whole.checked_add(number)) else { return false };
        self.whole = sum;
        true
    }

    fn add_digits(&mut self, text: &str) -> Result<()> {
        let sum = match &self.digits {
            None => text.to_owned(),
            Some(digits) => decimal::add(digits, text).map_err(refused_decimal)?,
        };
        self.digits = Some(sum);
        Ok(())
    }

    fn sum(&self) -> Result<String> {
        let sign = if self.whole < 0 { "-" } else { "" };
        let unsigned = self.whole.unsigned_abs();
        let scale = self.scale as usize;
        let text = match scale {
            0 => format!("{sign}{unsigned}"),
            _ => {
                let digits = format!("{unsigned:0>width$}", width = scale + 1);
                let (whole, fraction) = digits.split_at(digits.len() - scale);
                format!("{sign}{whole}.{fraction}")
            }
        };
        match &self.digits {
            None => Ok(text),
            Some(digits) => decimal::add(digits, &text).map_err(refused_decimal),
        }
    }
}

/// The short decimal for a binary number, as an integer and its decimals: the shortest that is read as that number,
/// since both the integer and the power of ten are exact, and no two decimals of 15 digits are the same number.
fn short(real: f64) -> Option<(i128, u32)> {
    const POWERS: [f64; 5] = [1.0, 1e1, 1e2, 1e3, 1e4];
    const WHOLE_MAX: f64 = 1e15;
    POWERS.iter().zip(0..).find_map(|(power, scale)| {
        let whole = (real * power).round();
        let stands_for = whole.abs() < WHOLE_MAX && (whole / power).to_bits() == real.to_bits();
        stands_for.then_some((whole as i128, scale))
    })
}

/// A decimal of few digits as an integer and its decimals.
fn scaled(text: &str) -> Option<(i128, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if text.len() > 30 || fraction.len() > SCALE_MAX as usize {
        return None;
    }
    let (negative, digits) = whole.strip_prefix('-').map_or((false, whole), |digits| (true, digits));
    let mut number: i128 = 0;
    for byte in digits.bytes().chain(fraction.bytes()) {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i128::from(byte - b'0');
    }
    Some((if negative { -number } else { number }, fraction.len() as u32))
}

impl Aggregate<Total, Value> for DecimalSum {
    fn init(&self, _: &mut Context<'_>) -> Result<Total> {
        Ok(Total::default())
    }

    fn step(&self, context: &mut Context<'_>, total: &mut Total) -> Result<()> {
        let number = match context.get_raw(0) {
            ValueRef::Integer(integer) => Some((i128::from(integer), 0)),
            ValueRef::Real(real) => short(real),
            ValueRef::Text(_) | ValueRef::Null | ValueRef::Blob(_) => None,
        };
        if let Some((number, scale)) = number
            && total.add_scaled(number, scale)
        {
            total.count += 1;
            return Ok(());
        }
        match digits(context, 0) {
            Some(text) => total.add(&text),
            None => Ok(()),
        }
    }

    fn finalize(&self, _: &mut Context<'_>, total: Option<Total>) -> Result<Value> {
        let Some(total) = total.filter(|total| total.count > 0) else { return Ok(Value::Null) };
        let sum = total.sum()?;
        Ok(Value::Text(match self.0 {
            Answer::Sum => sum,
            Answer::Average => decimal::div(&sum, &total.count.to_string()).map_err(refused_decimal)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_number_is_added_as_the_shortest_digits_that_mean_it() {
        for (real, expected) in [
            (0.0, Some((0, 0))),
            (12.5, Some((125, 1))),
            (-0.07, Some((-7, 2))),
            (999_999_999_999.99, Some((99_999_999_999_999, 2))),
            (0.1 + 0.2, None),
            (1.0 / 3.0, None),
            (1e15, None),
            (f64::NAN, None),
        ] {
            assert_eq!(short(real), expected, "{real}");
        }
    }

    #[test]
    fn numbers_of_any_kind_add_up_exactly() {
        let raw = Connection::open_in_memory().unwrap();
        register(&raw).unwrap();
        let sum = |values: &str| {
            let sql = format!("SELECT tollgate_decimal_sum(column1) FROM (VALUES {values})");
            raw.query_row(&sql, [], |row| row.get::<_, Option<String>>(0)).unwrap()
        };
        assert_eq!(sum("(0.1), (0.2)").as_deref(), Some("0.3"));
        assert_eq!(sum("(1), ('2.50'), (0.25), (NULL)").as_deref(), Some("3.75"));
        assert_eq!(sum("('99999999999999999999.5'), (0.5)").as_deref(), Some("100000000000000000000.0"));
        assert_eq!(sum("(NULL)"), None);
    }
}
