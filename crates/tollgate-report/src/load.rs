//! A single load as a page: its figures and their validity, the distribution, the course, the breakdown of time.
//!
//! It reads the figures and computes none.

use tollgate_facts::results::load::{CoursePoint, Handshaken, QuickResult, Spread};
use tollgate_facts::results::{Percentiles, StageUnit, Verdict, Within};
use tollgate_page::blocks::{Answer, Block, Figure, Page, Picture, Section, Table};
use tollgate_page::chart::lines::{self, Kind, Line, Point};
use tollgate_page::chart::{Size, percentiles};
use tollgate_page::number;
use tollgate_page::parts::aggregate::{self, Sampled};
use tollgate_page::parts::{staged, steps};

/// The page.
pub(crate) fn page(result: &QuickResult) -> Page {
    let partial = "Interrupted: the figures are of what was done until then";
    let sections = [
        Some(validity(result)),
        result.staged.as_ref().map(staged::of_load),
        result.played.as_ref().map(steps::section_of_load),
        Some(distribution(result)),
        course(result),
        times(result),
        failures(result),
        Some(facts(result)),
    ];
    Page {
        name: "load".to_owned(),
        question: result.url.clone(),
        answer: Answer::of(answer(result)),
        warnings: if result.interrupted { vec![partial.to_owned()] } else { Vec::new() },
        origin: format!("{} · {} · connections: {}", result.started, asked(result), result.connection),
        version: result.version.clone(),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn answer(result: &QuickResult) -> String {
    let times = &result.response_time_ms;
    let named = [("median", times.p50), ("p99", times.p99), ("p99.9", times.p999), ("slowest", Some(times.max))];
    let named = named.into_iter().filter(|_| result.requests > 0).filter_map(|(name, time)| Some((name, time?)));
    let times: Vec<String> = named.map(|(name, time)| format!("{name} {} ms", number::three_digits(time))).collect();
    let times = if times.is_empty() { String::new() } else { format!(" Response time: {}.", times.join(", ")) };
    let failed = match result.errors.values().sum() {
        0 => "No failures.".to_owned(),
        1 => "1 request failed.".to_owned(),
        failed => format!("{} requests failed.", number::whole(failed)),
    };
    format!(
        "{} requests/s: {} valid answers in {} s.{times} {failed}",
        number::three_digits(result.requests_per_second),
        number::whole(result.requests),
        number::three_digits(result.duration_ms / 1e3)
    )
}

fn asked(result: &QuickResult) -> String {
    match &result.offered {
        _ if let Some(staged) = &result.staged => {
            let most = staged.stages.iter().map(|stage| stage.asked_from.max(stage.asked_to)).fold(0.0, f64::max);
            let unit = if staged.unit == StageUnit::Users { "users" } else { "per second" };
            format!("in stages, up to {} {unit}", number::three_digits(most))
        }
        Some(offered) => {
            let rate = number::three_digits(offered.rate_per_second);
            let what = if result.played.is_some() { "iterations" } else { "requests" };
            format!("{rate} {what} per second offered ({})", offered.arrivals)
        }
        None => format!("{} users, each waiting for its answer", number::whole(result.concurrency as u64)),
    }
}

fn validity(result: &QuickResult) -> Section {
    let heading = "Can these figures be trusted?";
    if result.validity.is_empty() {
        return Section::main(heading, vec![Block::Text("Yes: no rule found a doubt.".to_owned())]);
    }
    let rows = result.validity.iter().map(|mark| {
        let verdict = if mark.verdict == Verdict::Refused { "refused" } else { "marked" };
        vec![verdict.to_owned(), mark.reason.clone(), mark.remedy.to_owned()]
    });
    Section::main(heading, vec![Block::Table(Table::new("", ["verdict", "what was found", "what helps"]).with(rows))])
}

fn distribution(result: &QuickResult) -> Section {
    let most = (result.requests > 0 && !result.is_unsteady()).then_some(result.response_time_ms.max);
    let whole = (100.0, most);
    let within = result.served_within_ms.iter().chain([&whole]);
    let row = |(percent, time): &(f64, Option<f64>)| {
        let [low, high] = ends(result, *percent).map(number::optional);
        vec![format!("{percent} %"), number::optional(*time), low, high, undelayed(result, *percent)]
    };
    let head = ["served within", "ms", "95 % from", "to", "without the generator's own delay"];
    let table = Table::new("", head).with(within.map(row));
    let description = "Response time in milliseconds by the share of requests that were faster.";
    let chart = percentiles::chart("response time (ms)", vec![percentiles::line("response time", 1, &result.curve)]);
    let note = match &result.offered {
        Some(_) => "From when a request was due to its last byte. Each step to the right is a tenfold rarer request.",
        None => {
            "From the end of a user's answer before it to the last byte, so that a server which is slow is asked less. \
             Each step to the right is a tenfold rarer request."
        }
    };
    let mut figure = Figure::new("Response times", note).data(table, "response-times.csv");
    if result.curve.len() > 1 {
        figure = figure.picture("distribution", description, Size::Full, |size| lines::draw(size, &chart));
    }
    Section::background("", vec![Block::Figure(figure)])
}

/// The ends of a percentage's interval; each may be absent.
fn ends(result: &QuickResult, percent: f64) -> [Option<f64>; 2] {
    let found = result.served_within_interval_ms.iter().find(|(of, _)| of.total_cmp(&percent).is_eq());
    found.map_or([None; 2], |(_, Within { low, high })| [Some(*low), *high])
}

/// A percentage's time without the generator's own delay, where it differs.
fn undelayed(result: &QuickResult, percent: f64) -> String {
    let found = result.undelayed_within_ms.iter().find(|(of, _)| of.total_cmp(&percent).is_eq());
    found.map(|(_, time)| number::three_digits(*time)).unwrap_or_default()
}

fn course(result: &QuickResult) -> Option<Section> {
    // In stages there is a closer one.
    if result.course.len() < 2 || result.staged.is_some() {
        return None;
    }
    let chart = |title: &str, id: &str, label: &str, key: usize, value: fn(&CoursePoint) -> Option<f64>| {
        let point = |point: &CoursePoint| Some(Point::plain(point.until_s, value(point)?));
        let points = result.course.iter().filter_map(point).collect();
        Picture::over_seconds(id, title, label, vec![Line::new(title, key, Kind::Curve, points)])
    };
    let row = |point: &CoursePoint| {
        let [until, rate] = [point.until_s, point.requests_per_second].map(number::three_digits);
        vec![until, rate, number::optional(point.response_time_ms)]
    };
    let head = ["until second", "answers per second", "mean response time, ms"];
    let table = Table::new("", head).with(result.course.iter().map(row));
    let rate = chart("Answers per second", "rate", "answers per second", 1, |point| Some(point.requests_per_second));
    let time = chart("Mean response time", "time", "mean response time (ms)", 2, |point| point.response_time_ms);
    let note = "By the moment at which answers were whole.";
    let figure = Figure { pictures: vec![rate, time], ..Figure::new("The course", note) };
    Some(Section::background("", vec![Block::Figure(figure.data(table, "course.csv"))]))
}

fn times(result: &QuickResult) -> Option<Section> {
    let all = result.connection_times_ms.as_ref()?;
    let named = [
        ("connect: TCP and TLS", &all.connect),
        ("processing: from the send to the last byte", &all.processing),
        ("waiting: from the send to the first byte", &all.waiting),
        ("total: from the intended start", &all.total),
    ];
    let row = |(name, spread): (&str, &Spread)| {
        let Spread { min, mean, deviation, median, max } = *spread;
        named_row(name, &[Some(min), Some(mean), Some(deviation), median, Some(max)])
    };
    let head = ["all answers, ms", "least", "mean", "deviation", "median", "most"];
    let mut blocks = vec![Block::Table(Table::new("", head).with(named.map(row)))];
    if let Some(phases) = &result.phases {
        let named = [
            ("waited before connecting", Some(&phases.waited_ms)),
            ("TCP", Some(&phases.connect_ms)),
            ("TLS", phases.tls_ms.as_ref()),
            ("to the first byte", Some(&phases.first_byte_ms)),
            ("from there to the last", Some(&phases.last_byte_ms)),
        ];
        let row = |(name, times): (&str, Option<&Percentiles>)| {
            let Percentiles { mean, p50, p90, p99, max, .. } = *times?;
            Some(named_row(name, &[Some(mean), p50, p90, p99, Some(max)]))
        };
        let heading = format!("{} answers that opened their connection, ms", number::whole(phases.n));
        let head = [heading.as_str(), "mean", "p50", "p90", "p99", "max"];
        blocks.push(Block::Table(Table::new("", head).with(named.into_iter().filter_map(row))));
    }
    Some(Section::main("Where the time went", blocks))
}

fn named_row(name: &str, values: &[Option<f64>]) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(values.iter().copied().map(number::optional)).collect()
}

fn failures(result: &QuickResult) -> Option<Section> {
    let row = |(class, count): (&String, &u64)| {
        let example = result.error_examples.get(class).cloned().unwrap_or_default();
        vec![class.clone(), number::whole(*count), example]
    };
    let table = Table::new("", ["class", "requests", "the first one"]).with(result.errors.iter().map(row));
    Some(Section::main("What failed", vec![Block::Table(table.some()?)]))
}

fn facts(result: &QuickResult) -> Section {
    let mut table = Table::new("", ["fact", "value"]);
    let mut fact = |name: &str, value: String| table.push(vec![name.to_owned(), value]);
    let subject = &result.subject;
    let software = subject.software.as_str();
    fact("server", if software.is_empty() { "not disclosed" } else { software }.to_owned());
    if let Some(tls) = &subject.tls {
        fact("TLS", tls.clone());
    }
    if let Some(Handshaken { full, resumed, failed }) = result.handshakes {
        fact("handshakes", format!("{full} full, {resumed} resumed, {failed} failed"));
    }
    fact("connections opened", number::whole(result.connections));
    for (status, count) in &result.parts {
        fact(&format!("parts of batches answered {status}"), number::whole(*count));
    }
    fact("received", number::bytes(result.bytes_received as f64));
    fact("sent", number::bytes(result.bytes_sent as f64));
    if let Some(offered) = &result.offered {
        let Percentiles { p50, p99, max, .. } = offered.lateness_ms;
        let (p50, p99) = (number::optional(p50), number::optional(p99));
        fact("sent late by, ms", format!("p50 {p50}, p99 {p99}, at most {}", number::three_digits(max)));
        fact("could not be sent", format!("{} of {}", number::whole(offered.unsent), number::whole(offered.intended)));
        fact("seed", offered.seed.to_string());
    }
    if let Some((tail, told)) = result.tail.and_then(|tail| Some((tail, tail.told()?))) {
        fact(&format!("beyond {}", tail.percentile()), told);
    }
    let (cpu_us, share) = (result.generator_cpu_us_per_request, result.generator_cpu_share * 100.0);
    fact("generator", format!("{} µs of CPU per request, {share:.0} % of a core", number::three_digits(cpu_us)));
    if let Some(law) = &result.littles_law {
        let verdict = law.verdict();
        fact("Little's law", format!("{} users asked, {:.2} found: {verdict}", law.users, law.found));
    }
    Section::main("Facts", vec![Block::Table(table), Block::Table(aggregate(result))])
}

/// The load in JMeter's columns.
fn aggregate(result: &QuickResult) -> Table {
    let line = Sampled {
        label: result.url.clone(),
        answers: result.requests,
        failed: result.errors.values().sum(),
        mean_ms: result.response_time_ms.mean,
        least_ms: result.connection_times_ms.as_ref().map(|times| times.total.min),
        most_ms: result.response_time_ms.max,
        seconds: result.duration_ms / 1e3,
        bytes: Some((result.bytes_received, result.bytes_sent)),
    };
    aggregate::table([line]).folded()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tollgate_facts::results::load::{ConnectionTimes, Mark, Subject};

    fn result() -> QuickResult {
        QuickResult {
            format: 1,
            version: "0".to_owned(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            url: "http://127.0.0.1/<a>&b".to_owned(),
            subject: Subject::default(),
            connection: "keep-alive".to_owned(),
            model: "closed",
            concurrency: 2,
            requests: 9000,
            errors: [("status-503".to_owned(), 2)].into(),
            error_examples: [("status-503".to_owned(), "answered <503>".to_owned())].into(),
            duration_ms: 1000.0,
            requests_per_second: 9000.0,
            response_time_ms: Percentiles {
                mean: 1.0,
                p50: Some(0.9),
                p99: Some(3.0),
                max: 7.0,
                ..Percentiles::default()
            },
            service_time_ms: Percentiles::default(),
            response_interval_ms: None,
            undelayed_ms: None,
            undelayed_within_ms: vec![(50.0, 0.7)],
            tail: None,
            served_within_ms: vec![(50.0, Some(0.9)), (99.9, None)],
            served_within_interval_ms: vec![(50.0, Within { low: 0.8, high: None })],
            connection_times_ms: Some(ConnectionTimes::default()),
            staged: None,
            seed: None,
            played: None,
            course: (1..=40)
                .map(|place| CoursePoint {
                    until_s: f64::from(place) * 0.05,
                    requests_per_second: 9000.0,
                    response_time_ms: (place != 7).then_some(1.0),
                })
                .collect(),
            curve: vec![(0.0, 0.4), (0.5, 0.9), (0.99, 3.0)],
            bytes_received: 1000,
            body_bytes_received: 900,
            bytes_sent: 100,
            wire_bytes_received: 1000,
            wire_bytes_sent: 100,
            connections: 2,
            kept_alive: 9000,
            other_statuses: 2,
            parts: [(201, 5)].into(),
            checked: 9000,
            handshakes: None,
            phases: None,
            first_request: None,
            offered: None,
            generator_cpu_us_per_request: 6.0,
            generator_cpu_share: 0.5,
            generator_stalls_ms: Percentiles::default(),
            tcp: tollgate_facts::results::TcpCounts::default(),
            littles_law: None,
            validity: vec![Mark {
                rule: "steal",
                verdict: Verdict::Marked,
                reason: "2 % <stolen>".to_owned(),
                remedy: "run elsewhere",
                value: 0.02,
                bound: 0.01,
            }],
            thresholds: Vec::new(),
            interrupted: true,
        }
    }

    #[test]
    fn the_page_is_well_formed_and_says_everything_escaped() {
        let page = crate::load_page(&result());
        let mut reader = quick_xml::Reader::from_str(page.strip_prefix("<!DOCTYPE html>").unwrap());
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(_) => {}
                Err(error) => panic!("{error} in {page}"),
            }
        }
        for text in
            ["http://127.0.0.1/&lt;a&gt;&amp;b", "Interrupted", "2 % &lt;stolen&gt;", "answered &lt;503&gt;", "201"]
        {
            assert!(page.contains(text), "{text} in {page}");
        }
        assert_eq!(page.matches("<svg").count(), 6, "three charts, each for wide and narrow screens");
        assert!(page.len() < 500_000 && page.matches("<script").count() == 1);
    }

    #[test]
    fn every_mark_stands_on_the_page_and_in_the_json_with_its_remedy() {
        let mark = |rule: &'static str| Mark {
            rule,
            verdict: Verdict::Marked,
            reason: format!("{rule} found 7"),
            remedy: "mend it so",
            value: 7.0,
            bound: 0.0,
        };
        let marked = QuickResult { validity: tollgate_facts::rules::names().map(mark).collect(), ..result() };
        let (page, json) = (crate::load_page(&marked), serde_json::to_string(&marked).unwrap());
        for rule in tollgate_facts::rules::names() {
            assert!(
                page.contains(&format!("{rule} found 7")) && json.contains(&format!("\"{rule} found 7\"")),
                "{rule}"
            );
        }
        let marks = marked.validity.len();
        assert_eq!((page.matches("mend it so").count(), json.matches("mend it so").count()), (marks, marks));
    }

    #[test]
    fn a_load_without_an_answer_has_a_page_too() {
        let empty = QuickResult {
            requests: 0,
            connection_times_ms: None,
            curve: Vec::new(),
            course: Vec::new(),
            served_within_ms: vec![(50.0, None)],
            validity: Vec::new(),
            ..result()
        };
        let page = crate::load_page(&empty);
        assert!(page.contains("0 valid answers") && !page.contains("<svg"), "{page}");
        assert!(!page.contains("Where the time went") && !page.contains("0.000"), "{page}");
        assert!(page.contains("Yes: no rule found a doubt"), "{page}");
    }
}
