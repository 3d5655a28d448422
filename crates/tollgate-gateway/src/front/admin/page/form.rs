//! Formats of figures for people. The script uses the same formats, by the same names.

use serde_json::Value;

/// Format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureFormat {
    /// A text; `–` for none.
    Text,
    /// A text; nothing for none.
    Plain,
    /// Words for a name in kebab case.
    Words,
    /// A number used as a name.
    Number,
    /// A number of things.
    Count,
    /// A number of bytes.
    Bytes,
    /// A number of bytes in each second.
    BytesPerSecond,
    /// A duration, given in seconds.
    Seconds,
    /// A duration, given in milliseconds.
    Milliseconds,
}

/// Text where there is no figure.
const NONE: &str = "–";

impl FigureFormat {
    /// Its name in the script.
    pub(super) fn name(self) -> &'static str {
        match self {
            FigureFormat::Text => "text",
            FigureFormat::Plain => "plain",
            FigureFormat::Words => "words",
            FigureFormat::Number => "number",
            FigureFormat::Count => "count",
            FigureFormat::Bytes => "bytes",
            FigureFormat::BytesPerSecond => "bytes-per-second",
            FigureFormat::Seconds => "seconds",
            FigureFormat::Milliseconds => "milliseconds",
        }
    }

    /// The format for a unit.
    pub(super) fn of_unit(unit: &str) -> FigureFormat {
        match unit {
            "bytes" => FigureFormat::Bytes,
            "milliseconds" => FigureFormat::Milliseconds,
            "bytes-per-second" => FigureFormat::BytesPerSecond,
            _ => FigureFormat::Count,
        }
    }

    /// The value in readable form.
    pub(super) fn write(self, value: &Value) -> String {
        match (self, value) {
            (FigureFormat::Plain, Value::Null) => String::new(),
            (_, Value::Null) => NONE.to_owned(),
            (FigureFormat::Words, Value::String(text)) => text.replace(['-', '_'], " "),
            (_, Value::String(text)) => text.clone(),
            (FigureFormat::Number, _) => value.to_string(),
            (FigureFormat::Bytes, _) => bytes(number(value)),
            (FigureFormat::BytesPerSecond, _) => bytes(number(value)) + "/s",
            (FigureFormat::Seconds, _) => seconds(number(value)),
            (FigureFormat::Milliseconds, _) => seconds(number(value) / 1000.0),
            (FigureFormat::Text | FigureFormat::Plain | FigureFormat::Words | FigureFormat::Count, _) => {
                grouped(number(value))
            }
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
            (FigureFormat::Text, json!("a-b"), "a-b"),
            (FigureFormat::Text, json!(null), "–"),
            (FigureFormat::Plain, json!(null), ""),
            (FigureFormat::Words, json!("waiting-for-database"), "waiting for database"),
            (FigureFormat::Number, json!(15_598), "15598"),
            (FigureFormat::Count, json!(0), "0"),
            (FigureFormat::Count, json!(999), "999"),
            (FigureFormat::Count, json!(1_234_567), "1,234,567"),
            (FigureFormat::Bytes, json!(1023), "1023 B"),
            (FigureFormat::Bytes, json!(1536), "1.5 KiB"),
            (FigureFormat::Bytes, json!(67_108_864), "64 MiB"),
            (FigureFormat::Bytes, json!(1u64 << 50), "1024 TiB"),
            (FigureFormat::BytesPerSecond, json!(500), "500 B/s"),
            (FigureFormat::Seconds, json!(0), "0 s"),
            (FigureFormat::Seconds, json!(0.0003), "0.3 ms"),
            (FigureFormat::Seconds, json!(0.9996), "1000 ms"),
            (FigureFormat::Seconds, json!(59.94), "59.9 s"),
            (FigureFormat::Seconds, json!(185.7), "3 min 05 s"),
            (FigureFormat::Seconds, json!(7_380), "2 h 03 min"),
            (FigureFormat::Seconds, json!(363_600), "4 d 05 h"),
            (FigureFormat::Milliseconds, json!(10_000), "10 s"),
        ] {
            assert_eq!(form.write(&value), expected, "{form:?} {value}");
        }
    }
}
