//! OpenMetrics text (<https://prometheus.io/docs/specs/om/open_metrics_spec/>, version 1.0): families with `# TYPE` and
//! `# HELP`, samples, `# EOF`.
//!
//! It writes what it is given: which families there are stands in the parent module.

use std::fmt::Write;

/// The media type of an exposition.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The kinds of family that are used here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Goes up and down.
    Gauge,
    /// Only goes up; its samples are named with `_total`.
    Counter,
}

/// An exposition being written.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    name: &'static str,
    kind: Option<Kind>,
}

impl Exposition {
    /// Begins a family; `name` without `_total`.
    pub(crate) fn family(&mut self, kind: Kind, name: &'static str, help: &str) -> &mut Exposition {
        let kind_name = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        // Writing to a String cannot fail.
        let _ = write!(self.text, "# TYPE {name} {kind_name}\n# HELP {name} ");
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
        if self.kind == Some(Kind::Counter) {
            self.text.push_str("_total");
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
        exposition.family(Kind::Gauge, "tollgate_busy", "How many are busy.").sample(3);
        exposition
            .family(Kind::Counter, "tollgate_responses", "Answers by \"class\".")
            .labelled(&[("class", "2xx")], 10)
            .labelled(&[("class", "a\"b\\c"), ("service", "x")], 0.5);
        insta::assert_snapshot!(exposition.finish(), @r##"
        # TYPE tollgate_busy gauge
        # HELP tollgate_busy How many are busy.
        tollgate_busy 3
        # TYPE tollgate_responses counter
        # HELP tollgate_responses Answers by \"class\".
        tollgate_responses_total{class="2xx"} 10
        tollgate_responses_total{class="a\"b\\c",service="x"} 0.5
        # EOF
        "##);
    }
}
