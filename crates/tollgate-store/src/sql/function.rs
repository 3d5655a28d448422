//! The functions that expressions call because SQL's own are inexact, ASCII-only or absent: their names, as registered
//! by SQLite's store, and their SQL for PostgreSQL, as pieces of text around the arguments.
//!
//! Each answers null when an argument is null, and fails when the result does not exist (overflow, division by zero).
//! In PostgreSQL each argument occurs once, so that nested calls grow as the expression does; where a function needs it
//! more than once it has a name in a subquery, which `OFFSET 0` keeps from being dissolved. A text that grows beyond
//! [`MADE_BYTES_MAX`] is refused by asking for -1 characters of it, which is an error of its own; a moment outside of
//! the years 0001 to 9999, which no text of a version has, by asking for the date of the year 0.

macro_rules! names {
    ($($constant:ident = $name:literal, $arguments:literal, $what:literal, $postgres:expr;)*) => {
        $(#[doc = $what]
        pub const $constant: Name =
            Name { text: $name, arguments: $arguments, what: $what, postgres: $postgres };)*
        /// All of them, so that a test can compare a store with the list.
        pub const ALL: &[Name] = &[$($constant),*];
    };
}

/// Longest text that `replace` and `concat` make, in bytes: nested calls would otherwise multiply a short request into
/// gigabytes.
pub const MADE_BYTES_MAX: usize = 4_096;

/// The beginning of SQLite's calls of aggregates that are not its own.
pub const INTEGER_SUM: &str = "tollgate_integer_sum(";
/// The sum of reals, refused if it is too large.
pub const REAL_SUM: &str = "tollgate_real_sum(";
/// The average of reals.
pub const REAL_AVERAGE: &str = "tollgate_real_average(";
/// The exact sum of decimals.
pub const DECIMAL_SUM: &str = "tollgate_decimal_sum(";
/// The average of decimals, with the digits of a division.
pub const DECIMAL_AVERAGE: &str = "tollgate_decimal_average(";

/// A function's name and its number of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Name in SQLite.
    pub text: &'static str,
    /// Number of arguments; -1 if not fixed.
    pub arguments: i32,
    /// Description of the result.
    pub what: &'static str,
    /// PostgreSQL's text before, between and after the arguments; empty if PostgreSQL cannot compute it exactly, or
    /// needs no function for it.
    pub postgres: &'static [&'static str],
}

/// A stored value in the canonical form of the type that the second argument names: `date`, `datetime seconds`. Only
/// for SQLite's columns in other forms, so it is not among [`ALL`].
pub const CANONICAL: Name =
    Name { text: "tollgate_canonical", arguments: 2, postgres: &[], what: "A stored value in canonical form." };

/// Whether an array contains the values in their order, with any others between them: `by value` or `as it is` chooses
/// the comparison, then comes the array, then they do. Only SQLite's, which would compute a subquery for each value
/// anew.
pub const HAS_SUBSEQUENCE: Name = Name {
    text: "tollgate_has_subsequence",
    arguments: -1,
    postgres: &[],
    what: "Whether an array has values in their order.",
};

/// Comparison of decimals in [`HAS_SUBSEQUENCE`].
pub const BY_VALUE: &str = "by value";

names! {
    INTEGER_ADD = "tollgate_integer_add", 2, "Checked sum of integers.",
        &["(", " + ", ")"];
    INTEGER_SUBTRACT = "tollgate_integer_subtract", 2, "Checked difference of integers.",
        &["(", " - ", ")"];
    INTEGER_MULTIPLY = "tollgate_integer_multiply", 2, "Checked product of integers.",
        &["(", " * ", ")"];
    INTEGER_DIVIDE = "tollgate_integer_divide", 2, "Checked quotient of integers, towards zero.",
        &["(", " / ", ")"];
    INTEGER_MODULO = "tollgate_integer_modulo", 2, "Rest of that division, with the sign of the dividend.",
        &["(", " % ", ")"];
    INTEGER_NEGATE = "tollgate_integer_negate", 1, "Checked negation of an integer.",
        &["(- ", ")"];
    INTEGER_AS_BYTE = "tollgate_integer_as_byte", 1, "An integer where it is in the range of Byte.",
        &["(SELECT CASE WHEN c.v BETWEEN 0 AND 255 THEN c.v END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    INTEGER_AS_SBYTE = "tollgate_integer_as_sbyte", 1, "An integer where it is in the range of Sbyte.",
        &["(SELECT CASE WHEN c.v BETWEEN -128 AND 127 THEN c.v END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    INTEGER_AS_INT16 = "tollgate_integer_as_int16", 1, "An integer where it is in the range of Int16.",
        &["(SELECT CASE WHEN c.v BETWEEN -32768 AND 32767 THEN c.v END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    INTEGER_AS_INT32 = "tollgate_integer_as_int32", 1, "An integer where it is in the range of Int32.",
        &["(SELECT CASE WHEN c.v BETWEEN -2147483648 AND 2147483647 THEN c.v END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    INTEGER_FROM_DECIMAL = "tollgate_integer_from_decimal", 1, "The whole part of a decimal.",
        &["(SELECT CASE WHEN trunc(c.v) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN CAST(trunc(c.v) AS int8) END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    INTEGER_FROM_REAL = "tollgate_integer_from_real", 1, "The whole part of a real.",
        &["(SELECT CASE WHEN c.v >= -9223372036854775808.0 AND c.v < 9223372036854775808.0 THEN CAST(trunc(c.v) AS int8) END FROM (SELECT ", " AS v OFFSET 0) AS c)"];
    OFFSET_MINUTES = "tollgate_offset_minutes", 1, "The offset of an instant, which is kept in UTC.",
        &["CAST(0 * extract(second FROM ", ") AS int8)"];
    FRACTIONAL_SECONDS = "tollgate_fractional_seconds", 1, "What a time has beside its whole seconds, as a decimal.",
        &["trim_scale(CAST(extract(microseconds FROM ", ") AS numeric) % 1000000 / 1000000)"];
    REAL_ADD = "tollgate_real_add", 2, "Checked sum of reals.",
        &["(", " + ", ")"];
    REAL_SUBTRACT = "tollgate_real_subtract", 2, "Checked difference of reals.",
        &["(", " - ", ")"];
    REAL_MULTIPLY = "tollgate_real_multiply", 2, "Checked product of reals.",
        &["(", " * ", ")"];
    REAL_DIVIDE = "tollgate_real_divide", 2, "Quotient of reals.",
        &["(", " / ", ")"];
    REAL_MODULO = "tollgate_real_modulo", 2, "Rest of a division of reals, with the sign of the dividend.",
        &[];
    REAL_ROUND = "tollgate_real_round", 1, "A real rounded half away from zero.",
        &["(SELECT trunc(r.v) + CASE WHEN abs(r.v - trunc(r.v)) >= 0.5 THEN sign(r.v) ELSE 0 END FROM (SELECT ", " AS v OFFSET 0) AS r)"];
    REAL_FLOOR = "tollgate_real_floor", 1, "The greatest whole real that is not greater.",
        &["floor(", ")"];
    REAL_CEILING = "tollgate_real_ceiling", 1, "The least whole real that is not less.",
        &["ceil(", ")"];
    REAL_FROM_DECIMAL = "tollgate_real_from_decimal", 1, "The real nearest to a decimal.",
        &["CAST(", " AS float8)"];
    DECIMAL_ADD = "tollgate_decimal_add", 2, "Exact sum of decimals.",
        &["(", " + ", ")"];
    DECIMAL_SUBTRACT = "tollgate_decimal_subtract", 2, "Exact difference of decimals.",
        &["(", " - ", ")"];
    DECIMAL_MULTIPLY = "tollgate_decimal_multiply", 2, "Exact product of decimals.",
        &["(", " * ", ")"];
    DECIMAL_DIVIDE = "tollgate_decimal_divide", 2, "Quotient of decimals, exact as far as it ends.",
        &["(SELECT div(q.v + sign(q.v), 2) * 0.00000000000000000001 FROM (SELECT div(", " * 200000000000000000000, ", ") AS v OFFSET 0) AS q)"];
    DECIMAL_MODULO = "tollgate_decimal_modulo", 2, "Rest of a division of decimals, with the sign of the dividend.",
        &["(", " % ", ")"];
    DECIMAL_NEGATE = "tollgate_decimal_negate", 1, "Negation of a decimal.",
        &["(- ", ")"];
    DECIMAL_ROUND = "tollgate_decimal_round", 1, "A decimal rounded half away from zero.",
        &["round(", ")"];
    DECIMAL_FLOOR = "tollgate_decimal_floor", 1, "The greatest whole decimal that is not greater.",
        &["floor(", ")"];
    DECIMAL_CEILING = "tollgate_decimal_ceiling", 1, "The least whole decimal that is not less.",
        &["ceil(", ")"];
    DECIMAL_TEXT = "tollgate_decimal_text", 1, "The digits of a decimal, without zeros at their end.",
        &["CAST(trim_scale(", ") AS text)"];
    STARTS_WITH = "tollgate_starts_with", 2, "Whether a text begins with another, exactly.",
        &["starts_with(", " COLLATE \"C\", ", ")"];
    ENDS_WITH = "tollgate_ends_with", 2, "Whether a text ends with another, exactly.",
        &["starts_with(reverse(", ") COLLATE \"C\", reverse(", "))"];
    MATCHES = "tollgate_matches", 2, "Whether a text matches a pattern.",
        &["(", " COLLATE \"C\" ~ ", ")"];
    LENGTH = "tollgate_length", 1, "Characters of a text.",
        &["CAST(char_length(", ") AS int8)"];
    SUBSTRING_FROM = "tollgate_substring_from", 2, "A text from a character on, counted from 0.",
        &["substring(", " FROM (SELECT CASE WHEN c.v < -1000000000 THEN -1000000000 WHEN c.v > 1000000000 THEN 1000000000 ELSE CAST(c.v AS int4) END FROM (SELECT ", " AS v OFFSET 0) AS c) + 1)"];
    SUBSTRING = "tollgate_substring", 3, "So many characters of a text from one on, counted from 0.",
        &["substring(", " FROM (SELECT CASE WHEN c.v < -1000000000 THEN -1000000000 WHEN c.v > 1000000000 THEN 1000000000 ELSE CAST(c.v AS int4) END FROM (SELECT ", " AS v OFFSET 0) AS c) + 1 FOR (SELECT CASE WHEN c.v < 0 THEN 0 WHEN c.v > 1000000000 THEN 1000000000 ELSE CAST(c.v AS int4) END FROM (SELECT ", " AS v OFFSET 0) AS c))"];
    CONCAT = "tollgate_concat", 2, "Two texts in one.",
        &["(SELECT CASE WHEN octet_length(m.v) <= 4096 THEN m.v ELSE substring(m.v, 1, -1) END FROM (SELECT ", " || ", " AS v OFFSET 0) AS m)"];
    REPLACE = "tollgate_replace", 3, "A text with every occurrence of another replaced.",
        &["(SELECT CASE WHEN octet_length(m.v) <= 4096 THEN m.v ELSE substring(m.v, 1, -1) END FROM (SELECT replace(", " COLLATE \"C\", ", ", ", ") AS v OFFSET 0) AS m)"];
    LOWER = "tollgate_lower", 1, "A text in lower case, as Unicode says.",
        &["lower(", " COLLATE \"und-x-icu\") COLLATE \"C\""];
    UPPER = "tollgate_upper", 1, "A text in upper case, as Unicode says.",
        &["upper(", " COLLATE \"und-x-icu\") COLLATE \"C\""];
    TRIM = "tollgate_trim", 1, "A text without white space at its ends.",
        &["btrim(", ", U&'\\0009\\000A\\000B\\000C\\000D\\0020\\0085\\00A0\\1680\\2000\\2001\\2002\\2003\\2004\\2005\\2006\\2007\\2008\\2009\\200A\\2028\\2029\\202F\\205F\\3000')"];
    YEAR = "tollgate_year", 1, "Year of a date.",
        &["CAST(extract(year FROM ", ") AS int8)"];
    MONTH = "tollgate_month", 1, "Month of a date.",
        &["CAST(extract(month FROM ", ") AS int8)"];
    DAY = "tollgate_day", 1, "Day of a date.",
        &["CAST(extract(day FROM ", ") AS int8)"];
    HOUR = "tollgate_hour", 1, "Hour of a time; 0 of a date.",
        &["CAST(extract(hour FROM ", ") AS int8)"];
    MINUTE = "tollgate_minute", 1, "Minute of a time; 0 of a date.",
        &["CAST(extract(minute FROM ", ") AS int8)"];
    SECOND = "tollgate_second", 1, "Whole second of a time; 0 of a date.",
        &["CAST(floor(extract(second FROM ", ")) AS int8)"];
    DATE = "tollgate_date", 1, "The date of an instant.",
        &["CAST(", " AS date)"];
    TIME = "tollgate_time", 1, "The time of day of an instant.",
        &["CAST(", " AS time)"];
    MOMENT_ADD = "tollgate_moment_add", 2, "A moment so much later.",
        &["(SELECT CASE WHEN isfinite(r.v) AND r.v NOT BETWEEN CAST('0001-01-01T00:00:00Z' AS timestamptz) AND CAST('9999-12-31T23:59:59.999999Z' AS timestamptz) THEN make_date(0 * CAST(extract(year FROM r.v) AS int4), 1, 1) ELSE r.v END FROM (SELECT ", " + ", " AS v OFFSET 0) AS r)"];
    MOMENT_SUBTRACT = "tollgate_moment_subtract", 2, "A moment so much earlier.",
        &["(SELECT CASE WHEN isfinite(r.v) AND r.v NOT BETWEEN CAST('0001-01-01T00:00:00Z' AS timestamptz) AND CAST('9999-12-31T23:59:59.999999Z' AS timestamptz) THEN make_date(0 * CAST(extract(year FROM r.v) AS int4), 1, 1) ELSE r.v END FROM (SELECT ", " - ", " AS v OFFSET 0) AS r)"];
    MOMENT_DIFFERENCE = "tollgate_moment_difference", 2, "What lies between two moments, the later one first.",
        &["(", " - ", ")"];
    DATE_ADD = "tollgate_date_add", 2, "The date so much later.",
        &["(SELECT CASE WHEN isfinite(r.v) AND r.v NOT BETWEEN CAST('0001-01-01' AS date) AND CAST('9999-12-31' AS date) THEN make_date(0 * CAST(extract(year FROM r.v) AS int4), 1, 1) ELSE r.v END FROM (SELECT CAST(", " + ", " AS date) AS v OFFSET 0) AS r)"];
    DATE_SUBTRACT = "tollgate_date_subtract", 2, "The date so much earlier.",
        &["(SELECT CASE WHEN isfinite(r.v) AND r.v NOT BETWEEN CAST('0001-01-01' AS date) AND CAST('9999-12-31' AS date) THEN make_date(0 * CAST(extract(year FROM r.v) AS int4), 1, 1) ELSE r.v END FROM (SELECT CAST(", " - ", " AS date) AS v OFFSET 0) AS r)"];
    DATE_DIFFERENCE = "tollgate_date_difference", 2, "What lies between two dates, the later one first.",
        &["(CAST(", " AS timestamp) - CAST(", " AS timestamp))"];
    DURATION_SECONDS = "tollgate_duration_seconds", 1, "A duration as a decimal number of seconds.",
        &["trim_scale(CAST(extract(epoch FROM ", ") AS numeric))"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_postgres_each_argument_stands_once_and_texts_that_are_made_have_the_same_limit() {
        for name in ALL {
            let pieces = name.postgres.len();
            assert!(pieces == 0 || pieces == name.arguments as usize + 1, "{}", name.text);
            if name.postgres.concat().contains("octet_length") {
                assert!(name.postgres.concat().contains(&format!("<= {MADE_BYTES_MAX} ")), "{}", name.text);
            }
        }
    }
}
