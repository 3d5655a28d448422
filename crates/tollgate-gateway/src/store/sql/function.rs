//! The names of the functions that a store registers because SQL's own are inexact, ASCII-only or absent.
//!
//! Each answers null when an argument is null, and fails when the result does not exist (overflow, division by zero).

macro_rules! names {
    ($($constant:ident = $name:literal, $arguments:literal, $what:literal;)*) => {
        $(#[doc = $what] pub const $constant: Name = Name { text: $name, arguments: $arguments };)*
        /// All of them, so that a test can hold a store against the list.
        pub const ALL: &[Name] = &[$($constant),*];
    };
}

/// A function's name and how many arguments it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// Name in SQL.
    pub text: &'static str,
    /// Number of arguments.
    pub arguments: i32,
}

names! {
    INTEGER_ADD = "tollgate_integer_add", 2, "Checked sum of integers.";
    INTEGER_SUBTRACT = "tollgate_integer_subtract", 2, "Checked difference of integers.";
    INTEGER_MULTIPLY = "tollgate_integer_multiply", 2, "Checked product of integers.";
    INTEGER_DIVIDE = "tollgate_integer_divide", 2, "Checked quotient of integers, towards zero.";
    INTEGER_MODULO = "tollgate_integer_modulo", 2, "Rest of that division, with the sign of the dividend.";
    INTEGER_NEGATE = "tollgate_integer_negate", 1, "Checked negation of an integer.";
    REAL_DIVIDE = "tollgate_real_divide", 2, "Quotient of reals.";
    REAL_MODULO = "tollgate_real_modulo", 2, "Rest of a division of reals, with the sign of the dividend.";
    REAL_ROUND = "tollgate_real_round", 1, "A real rounded half away from zero.";
    REAL_FLOOR = "tollgate_real_floor", 1, "The greatest whole real that is not greater.";
    REAL_CEILING = "tollgate_real_ceiling", 1, "The least whole real that is not less.";
    REAL_FROM_DECIMAL = "tollgate_real_from_decimal", 1, "The real nearest to a decimal.";
    DECIMAL_ADD = "tollgate_decimal_add", 2, "Exact sum of decimals.";
    DECIMAL_SUBTRACT = "tollgate_decimal_subtract", 2, "Exact difference of decimals.";
    DECIMAL_MULTIPLY = "tollgate_decimal_multiply", 2, "Exact product of decimals.";
    DECIMAL_DIVIDE = "tollgate_decimal_divide", 2, "Quotient of decimals, exact as far as it ends.";
    DECIMAL_MODULO = "tollgate_decimal_modulo", 2, "Rest of a division of decimals, with the sign of the dividend.";
    DECIMAL_NEGATE = "tollgate_decimal_negate", 1, "Negation of a decimal.";
    DECIMAL_ROUND = "tollgate_decimal_round", 1, "A decimal rounded half away from zero.";
    DECIMAL_FLOOR = "tollgate_decimal_floor", 1, "The greatest whole decimal that is not greater.";
    DECIMAL_CEILING = "tollgate_decimal_ceiling", 1, "The least whole decimal that is not less.";
    STARTS_WITH = "tollgate_starts_with", 2, "Whether a text begins with another, exactly.";
    ENDS_WITH = "tollgate_ends_with", 2, "Whether a text ends with another, exactly.";
    LENGTH = "tollgate_length", 1, "Characters of a text.";
    SUBSTRING_FROM = "tollgate_substring_from", 2, "A text from a character on, counted from 0.";
    SUBSTRING = "tollgate_substring", 3, "So many characters of a text from one on, counted from 0.";
    CONCAT = "tollgate_concat", 2, "Two texts in one.";
    REPLACE = "tollgate_replace", 3, "A text with every occurrence of another replaced.";
    LOWER = "tollgate_lower", 1, "A text in lower case, as Unicode says.";
    UPPER = "tollgate_upper", 1, "A text in upper case, as Unicode says.";
    TRIM = "tollgate_trim", 1, "A text without white space at its ends.";
    YEAR = "tollgate_year", 1, "Year of a date.";
    MONTH = "tollgate_month", 1, "Month of a date.";
    DAY = "tollgate_day", 1, "Day of a date.";
    HOUR = "tollgate_hour", 1, "Hour of a time; 0 of a date.";
    MINUTE = "tollgate_minute", 1, "Minute of a time; 0 of a date.";
    SECOND = "tollgate_second", 1, "Whole second of a time; 0 of a date.";
    DATE = "tollgate_date", 1, "The date of an instant.";
    TIME = "tollgate_time", 1, "The time of day of an instant.";
    DURATION_SECONDS = "tollgate_duration_seconds", 1, "A duration as a decimal number of seconds.";
}
