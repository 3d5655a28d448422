//! OpenMetrics text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>, version 1.0): families with `# TYPE`,
//! `# UNIT` and `# HELP`, samples, `# EOF`.
//!
//! It writes what it is given: the families are chosen in the parent module.

use std::fmt::Write;

/// The media type of an exposition.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Units that a family's name can end with.
const UNITS: &[&str] = &["bytes", "seconds"];

/// The kinds of family that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetricKind {
    /// Goes up and down.
    Gauge,
    /// Only goes up; its samples are named with `_total`.
    Counter,
    /// A constant of the process; its sample is named with `_info` and is 1.
    Info,
}

/// An exposition being written.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    name: &'static str,
    kind: Option<MetricKind>,
}

impl Exposition {
    /// Begins a family; `name` without `_total`.
    pub(crate) fn family(&mut self, kind: MetricKind, name: &'static str, help: &str) -> &mut Exposition {
        let kind_name = match kind {
            MetricKind::Gauge => "gauge",
            MetricKind::Counter => "counter",
            MetricKind::Info => "info",
        };
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "# TYPE {name} {kind_name}");
        if let Some(unit) = UNITS.iter().find(|unit| name.strip_suffix(*unit).is_some_and(|name| name.ends_with('_'))) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = write!(self.text, "# HELP {name} ");
        escape(&mut self.text, help);
        self.text.push('\n');
        self.name = name;
        self.kind = Some(kind);
        self
    }

    /// A sample of the family begun last, without labels.
    pub(crate) fn sample(&mut self, value: impl std::fmt::Display) -> &mut Exposition {
        self.start_sample();
        let _ = writeln!(self.text, " {value}");
        self
    }

    /// A sample of the family begun last, with labels.
    pub(crate) fn labelled(&mut self, labels: &[(&str, &str)], value: impl std::fmt::Display) -> &mut Exposition {
        self.start_sample();
        let mut before = '{';
        for (label, text) in labels {
            let _ = write!(self.text, "{before}{label}=\"");
            escape(&mut self.text, text);
            self.text.push('"');
            before = ',';
        }
        let _ = writeln!(self.text, "}} {value}");
        self
    }

    /// The whole exposition with its end mark.
    pub(crate) fn finish(mut self) -> String {
        self.text.push_str("# EOF\n");
        self.text
    }

    fn start_sample(&mut self) {
        self.text.push_str(self.name);
        match self.kind {
            Some(MetricKind::Counter) => self.text.push_str("_total"),
            Some(MetricKind::Info) => self.text.push_str("_info"),
            Some(MetricKind::Gauge) | None => {}
        }
    }
}

fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_have_type_help_samples_and_the_text_its_end() {
        let mut exposition = Exposition::default();
        exposition.family(MetricKind::Gauge, "tollgate_busy", "How many are busy.").sample(3);
        exposition
            .family(MetricKind::Counter, "tollgate_responses", "Answers by \"class\".")
            .labelled(&[("class", "2xx")], 10)
            .labelled(&[("class", "a\"b\\c"), ("service", "x")], 0.5);
        exposition.family(MetricKind::Counter, "tollgate_sent_bytes", "Bytes.").sample(7);
        exposition.family(MetricKind::Info, "tollgate_build", "The program.").labelled(&[("version", "1")], 1);
        insta::assert_snapshot!(exposition.finish(), @r##"
        # TYPE tollgate_busy gauge
        # HELP tollgate_busy How many are busy.
        tollgate_busy 3
        # TYPE tollgate_responses counter
        # HELP tollgate_responses Answers by \"class\".
        tollgate_responses_total{class="2xx"} 10
        tollgate_responses_total{class="a\"b\\c",service="x"} 0.5
        # TYPE tollgate_sent_bytes counter
        # UNIT tollgate_sent_bytes bytes
        # HELP tollgate_sent_bytes Bytes.
        tollgate_sent_bytes_total 7
        # TYPE tollgate_build info
        # HELP tollgate_build The program.
        tollgate_build_info{version="1"} 1
        # EOF
        "##);
    }
}
