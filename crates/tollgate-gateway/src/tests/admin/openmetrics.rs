//! Strict parser of `/metrics`, as OpenMetrics 1.0 defines its text: everything that a reader may refuse is refused
//! here.

use std::collections::{BTreeMap, BTreeSet};

use super::super::client::Running;

/// Names and values.
type Labels = Vec<(String, String)>;

/// A family and its samples, by their labels.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    unit: String,
    help: String,
    samples: BTreeMap<Labels, f64>,
}

/// Parses an exposition.
fn read(text: &str) -> Result<BTreeMap<String, Family>, String> {
    let body = text.strip_suffix("# EOF\n").ok_or("it does not end in # EOF")?;
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in body.split_terminator('\n') {
        let wrong = |what: &str| format!("{what}: {line:?}");
        if let Some(rest) = line.strip_prefix("# ") {
            let (keyword, rest) = rest.split_once(' ').ok_or_else(|| wrong("no keyword"))?;
            let (name, rest) = rest.split_once(' ').ok_or_else(|| wrong("no name"))?;
            check_name(name).map_err(|what| wrong(&what))?;
            if name != current {
                if families.contains_key(name) {
                    return Err(wrong("a family stands in one place"));
                }
                current = name.to_owned();
            }
            let family = families.entry(current.clone()).or_default();
            if !family.samples.is_empty() {
                return Err(wrong("metadata stand before samples"));
            }
            let place = match keyword {
                "TYPE" if ["gauge", "counter", "info"].contains(&rest) => &mut family.kind,
                "UNIT" if name.ends_with(&format!("_{rest}")) => &mut family.unit,
                "HELP" => &mut family.help,
                _ => return Err(wrong("not a line of metadata")),
            };
            if !std::mem::replace(place, rest.to_owned()).is_empty() {
                return Err(wrong("said twice"));
            }
            continue;
        }
        let family = families.get_mut(&current).ok_or_else(|| wrong("a sample before its family"))?;
        let suffix = match family.kind.as_str() {
            "gauge" => "",
            "counter" => "_total",
            "info" => "_info",
            _ => return Err(wrong("a family without a type")),
        };
        let rest = line.strip_prefix(&current).and_then(|rest| rest.strip_prefix(suffix));
        let rest = rest.ok_or_else(|| wrong("a sample of another family"))?;
        let (labels, rest) = labels(rest).map_err(|what| wrong(&what))?;
        let value = rest.strip_prefix(' ').ok_or_else(|| wrong("no space before the value"))?;
        let value: f64 = value.parse().map_err(|_| wrong("no value"))?;
        if family.kind != "gauge" && !(value >= 0.0 && value.is_finite()) {
            return Err(wrong("a counter goes up from zero"));
        }
        if family.samples.insert(labels, value).is_some() {
            return Err(wrong("the same sample twice"));
        }
    }
    Ok(families)
}

fn check_name(name: &str) -> Result<(), String> {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if first && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    Err(format!("not a name: {name}"))
}

/// The labels at the start of `text`, in order of their names, and the rest.
fn labels(text: &str) -> Result<(Labels, &str), String> {
    let Some(mut rest) = text.strip_prefix('{') else { return Ok((Vec::new(), text)) };
    let mut labels = Vec::new();
    loop {
        let (name, value) = rest.split_once("=\"").ok_or("a label without a value")?;
        check_name(name)?;
        let mut content = String::new();
        let mut characters = value.char_indices();
        let end = loop {
            match characters.next() {
                Some((at, '"')) => break at,
                Some((_, '\\')) => content.push(match characters.next() {
                    Some((_, '\\')) => '\\',
                    Some((_, '"')) => '"',
                    Some((_, 'n')) => '\n',
                    _ => return Err("not an escape".to_owned()),
                }),
                Some((_, other)) => content.push(other),
                None => return Err("a value without an end".to_owned()),
            }
        };
        labels.push((name.to_owned(), content));
        rest = &value[end + 1..];
        match rest.split_at_checked(1) {
            Some((",", more)) => rest = more,
            Some(("}", more)) => {
                labels.sort();
                let names: BTreeSet<_> = labels.iter().map(|label| &label.0).collect();
                return if names.len() == labels.len() { Ok((labels, more)) } else { Err("a label twice".to_owned()) };
            }
            _ => return Err("neither a comma nor a brace".to_owned()),
        }
    }
}

#[test]
fn the_reader_refuses_what_is_no_openmetrics() {
    assert!(read("# TYPE a gauge\n# HELP a It.\na{b=\"c\\\"\"} 1\n# EOF\n").is_ok());
    for wrong in [
        "# TYPE a gauge\na 1\n",
        "a 1\n# EOF\n",
        "# TYPE a counter\na 1\n# EOF\n",
        "# TYPE a counter\na_total -1\n# EOF\n",
        "# TYPE a gauge\n# TYPE a gauge\na 1\n# EOF\n",
        "# TYPE a gauge\na 1\n# HELP a It.\n# EOF\n",
        "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# TYPE a gauge\n# EOF\n",
        "# TYPE a gauge\n# UNIT a bytes\na 1\n# EOF\n",
        "# TYPE a gauge\na 1\na 2\n# EOF\n",
        "# TYPE a gauge\na{b=\"c\",d=\"e\"} 1\na{d=\"e\",b=\"c\"} 1\n# EOF\n",
        "# TYPE a gauge\na{b=\"c\",} 1\n# EOF\n",
        "# TYPE a gauge\na{b=\"\\x\"} 1\n# EOF\n",
        "# TYPE a gauge\na  1\n# EOF\n",
        "# TYPE a gauge\n\na 1\n# EOF\n",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn metrics_are_openmetrics_with_type_help_and_unit_for_each_family() {
    let gateway = Running::start("work_processes.limit = 3");
    gateway.get("/rest/carriers/AA").expect(200, "AA");
    gateway.get("/rest/carriers/ZZ").expect(404, "");
    let answer = gateway.admin().ask("GET", "/metrics", &[]);
    assert_eq!(answer.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let families = read(&answer.text()).unwrap();
    for (name, family) in &families {
        assert!(name.starts_with("tollgate_") && family.help.ends_with('.'), "{name} {family:?}");
        assert_eq!(name.rsplit('_').find(|part| ["bytes", "seconds"].contains(part)).unwrap_or_default(), family.unit);
    }
    let value = |name: &str, wanted: &[(&str, &str)]| -> f64 {
        let has = |labels: &[(String, String)]| {
            wanted.iter().all(|wanted| labels.iter().any(|label| (label.0.as_str(), label.1.as_str()) == *wanted))
        };
        families[name].samples.iter().filter(|(labels, _)| has(labels)).map(|(_, value)| value).sum()
    };
    let flights = ("service", "flights");
    for (name, labels, expected) in [
        ("tollgate_work_processes_limit", &[flights][..], 3.0),
        ("tollgate_work_processes", &[flights, ("state", "free")], 3.0),
        ("tollgate_work_processes_admitted", &[flights], 2.0),
        ("tollgate_responses", &[("class", "2xx"), ("protocol", "http")], 1.0),
        ("tollgate_responses", &[("class", "4xx")], 1.0),
        ("tollgate_requests", &[], 2.0),
        ("tollgate_limit_met", &[("of", "flights"), ("limit", "work_processes")], 0.0),
        ("tollgate_build", &[("version", env!("CARGO_PKG_VERSION"))], 1.0),
    ] {
        assert!((value(name, labels) - expected).abs() < 1e-9, "{name} {labels:?}: {}", value(name, labels));
    }
    assert!(value("tollgate_cpu_seconds", &[]) > 0.0 && value("tollgate_uptime_seconds", &[]) > 0.0);
}
