//! How figures are written for people. The script writes them in the same forms, by the same names.

use serde_json::Value;

/// How a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A text; `–` for none.
    Text,
    /// A text; nothing for none.
    Plain,
    /// Words that a name in kebab case stands for.
    Words,
    /// A number that is a name.
    Number,
    /// A number of things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A number of bytes in each second.
    BytesPerSecond,
    /// A span of time, said in seconds.
    Seconds,
    /// A span of time, said in milliseconds.
    Milliseconds,
}

/// What stands where there is no figure.
const NONE: &str = "–";

impl Form {
    /// The name by which the script knows it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Plain => "plain",
            Form::Words => "words",
            Form::Number => "number",
            Form::Count => "count",
            Form::Bytes => "bytes",
            Form::BytesPerSecond => "bytes-per-second",
            Form::Seconds => "seconds",
            Form::Milliseconds => "milliseconds",
        }
    }

    /// The form of a unit.
    pub(super) fn of_unit(unit: &str) -> Form {
        match unit {
            "bytes" => Form::Bytes,
            "milliseconds" => Form::Milliseconds,
            "bytes-per-second" => Form::BytesPerSecond,
            _ => Form::Count,
        }
    }

    /// The value as people read it.
    pub(super) fn write(self, value: &Value) -> String {
        match (self, value) {
            (Form::Plain, Value::Null) => String::new(),
            (_, Value::Null) => NONE.to_owned(),
            (Form::Words, Value::String(text)) => text.replace(['-', '_'], " "),
            (_, Value::String(text)) => text.clone(),
            (Form::Number, _) => value.to_string(),
            (Form::Bytes, _) => bytes(number(value)),
            (Form::BytesPerSecond, _) => bytes(number(value)) + "/s",
            (Form::Seconds, _) => seconds(number(value)),
            (Form::Milliseconds, _) => seconds(number(value) / 1000.0),
            (Form::Text | Form::Plain | Form::Words | Form::Count, _) => grouped(number(value)),
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// `1,234,567`
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `512 B`, `1.5 KiB`, `64 MiB`
fn bytes(number: f64) -> String {
    let mut rest = number;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if rest < 1024.0 {
            return format!("{} {unit}", short(rest));
        }
        rest /= 1024.0;
    }
    format!("{} TiB", short(rest))
}

/// `0.3 ms`, `45 ms`, `1.5 s`, `3 min 05 s`, `2 h 03 min`, `4 d 05 h`
fn seconds(number: f64) -> String {
    if number > 0.0 && number < 1.0 {
        return format!("{} ms", short(number * 1000.0));
    }
    if number < 60.0 {
        return format!("{} s", short(number));
    }
    let pair = |large: f64, large_unit: &str, small_unit: &str, of: f64| {
        let (whole, rest) = ((number / large).floor(), (number % large / (large / of)).floor());
        format!("{whole:.0} {large_unit} {rest:02.0} {small_unit}")
    };
    match number {
        ..3600.0 => pair(60.0, "min", "s", 60.0),
        ..86400.0 => pair(3600.0, "h", "min", 60.0),
        _ => pair(86400.0, "d", "h", 24.0),
    }
}

/// With one decimal below 100 unless it is whole.
fn short(number: f64) -> String {
    let text = if number < 99.95 { format!("{number:.1}") } else { format!("{number:.0}") };
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_written_as_people_read_them() {
        for (form, value, expected) in [
            (Form::Text, json!("a-b"), "a-b"),
            (Form::Text, json!(null), "–"),
            (Form::Plain, json!(null), ""),
            (Form::Words, json!("waiting-for-database"), "waiting for database"),
            (Form::Number, json!(15_598), "15598"),
            (Form::Count, json!(0), "0"),
            (Form::Count, json!(999), "999"),
            (Form::Count, json!(1_234_567), "1,234,567"),
            (Form::Bytes, json!(1023), "1023 B"),
            (Form::Bytes, json!(1536), "1.5 KiB"),
            (Form::Bytes, json!(67_108_864), "64 MiB"),
            (Form::Bytes, json!(1u64 << 50), "1024 TiB"),
            (Form::BytesPerSecond, json!(500), "500 B/s"),
            (Form::Seconds, json!(0), "0 s"),
            (Form::Seconds, json!(0.0003), "0.3 ms"),
            (Form::Seconds, json!(0.9996), "1000 ms"),
            (Form::Seconds, json!(59.94), "59.9 s"),
            (Form::Seconds, json!(185.7), "3 min 05 s"),
            (Form::Seconds, json!(7_380), "2 h 03 min"),
            (Form::Seconds, json!(363_600), "4 d 05 h"),
            (Form::Milliseconds, json!(10_000), "10 s"),
        ] {
            assert_eq!(form.write(&value), expected, "{form:?} {value}");
        }
    }
}
