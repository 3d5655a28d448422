//! The text of a load, line for line.

use tollgate_facts::results::Segments;
use tollgate_facts::results::load::{LittlesLaw, Mark, Subject};

use super::*;

fn spread(min: f64, mean: f64, max: f64) -> Spread {
    Spread { min, mean, deviation: 0.5, median: Some(mean), max }
}

fn result() -> QuickResult {
    QuickResult {
        format: 1,
        version: "0.0.0".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        url: "http://…@127.0.0.1:8080/a".to_owned(),
        subject: Subject {
            software: "nginx/1.22.1".to_owned(),
            hostname: "127.0.0.1".to_owned(),
            port: 8080,
            tls: None,
            path: "/a".to_owned(),
            document_bytes: Some(1024),
            status: Some(200),
        },
        connection: "keep-alive".to_owned(),
        model: "closed",
        concurrency: 20,
        requests: 9_997,
        errors: [("status-503".to_owned(), 2), ("length".to_owned(), 1)].into(),
        error_examples: [("status-503".to_owned(), "answered 503".to_owned())].into(),
        duration_ms: 500.0,
        requests_per_second: 19_994.0,
        response_time_ms: Percentiles { mean: 0.998, max: 4.5, ..Percentiles::default() },
        service_time_ms: Percentiles::default(),
        response_interval_ms: None,
        undelayed_ms: None,
        undelayed_within_ms: vec![(98.0, 1.5)],
        tail: None,
        served_within_ms: vec![(50.0, Some(0.95)), (98.0, Some(2.0)), (99.0, None), (99.9, None)],
        served_within_interval_ms: vec![
            (50.0, Within { low: 0.94, high: Some(0.961) }),
            (98.0, Within { low: 1.9, high: None }),
        ],
        connection_times_ms: Some(ConnectionTimes {
            connect: spread(0.0, 0.001, 0.2),
            processing: spread(0.4, 0.9, 4.4),
            waiting: spread(0.3, 0.8, 4.3),
            total: spread(0.4, 0.998, 4.5),
        }),
        staged: None,
        seed: None,
        played: None,
        course: Vec::new(),
        curve: Vec::new(),
        bytes_received: 10_240_000,
        body_bytes_received: 10_000_000,
        bytes_sent: 1_024_000,
        wire_bytes_received: 10_240_000,
        wire_bytes_sent: 1_024_000,
        connections: 20,
        kept_alive: 10_000,
        other_statuses: 2,
        parts: [].into(),
        checked: 9_997,
        handshakes: None,
        phases: None,
        first_request: None,
        offered: None,
        generator_cpu_us_per_request: 6.24,
        generator_cpu_share: 0.12,
        generator_stalls_ms: Percentiles::default(),
        tcp: tollgate_facts::results::TcpCounts::default(),
        littles_law: Some(LittlesLaw {
            users: 20,
            found: 19.96,
            off: 0.002,
            bound: 0.01,
            without_core: 0.0,
            holds: Some(true),
        }),
        validity: Vec::new(),
        thresholds: Vec::new(),
        interrupted: false,
    }
}

fn text(result: &QuickResult, layout: Layout) -> String {
    let mut out = Vec::new();
    write(result, &layout, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_text_is_abs_and_behind_it_what_ab_leaves_out() {
    let shown = text(&result(), Layout { keep_alive: true, with_bodies: true, ..Layout::default() });
    insta::assert_snapshot!(shown, @r"
    Server Software:        nginx/1.22.1
    Server Hostname:        127.0.0.1
    Server Port:            8080

    Document Path:          /a
    Document Length:        1024 bytes

    Concurrency Level:      20
    Time taken for tests:   0.500 seconds
    Complete requests:      10000
    Failed requests:        3
       (Connect: 0, Receive: 0, Length: 1, Exceptions: 2)
    Non-2xx responses:      2
    Keep-Alive requests:    10000
    Total transferred:      10240000 bytes
    Total body sent:        1024000
    HTML transferred:       10000000 bytes
    Requests per second:    20000.00 [#/sec] (mean)
    Time per request:       1.000 [ms] (mean)
    Time per request:       0.050 [ms] (mean, across all concurrent requests)
    Transfer rate:          20000.00 [Kbytes/sec] received
                            2000.00 kb/s sent
                            22000.00 kb/s total

    Connection Times (ms)
                      min     mean  [+/-sd]   median      max
    Connect:        0.000    0.001    0.500    0.001    0.200
    Processing:     0.400    0.900    0.500    0.900    4.400
    Waiting:        0.300    0.800    0.500    0.800    4.300
    Total:          0.400    0.998    0.500    0.998    4.500

    Percentage of the requests served within a certain time (ms)
      50%     0.950
      98%     2.000 (1.500 without the generator's own delay)
      99%         - (fewer than 30 requests beyond it)
     100%     4.500 (longest request)

    URL:                    http://…@127.0.0.1:8080/a
    Load:                   closed, 20 users who wait: a stall delays each user once; --rate avoids coordinated omission
    Valid answers:          9997, 19994.00 per second
    95 % intervals (ms):    p50 [0.940, 0.961], p98 [1.900, -]
    Failed as length        1
    Failed as status-503    2, first: answered 503
    Connections opened:     20 (keep-alive)
    Total sent:             1024000 bytes

    Generator:              6.2 µs of CPU per request, 12 % of a core
    Little's law:           20 users asked, 19.96 found: holds
    ");
}

#[test]
fn of_no_answer_there_are_no_times_and_classes_stand_apart_from_their_counts() {
    let errors = [("closed-before-answer".to_owned(), 100), ("connect-refused".to_owned(), 10)].into();
    let (requests, requests_per_second, connection_times_ms) = (0, 0.0, None);
    let none = QuickResult { errors, requests, requests_per_second, connection_times_ms, ..result() };
    let few = Spread { median: None, ..spread(0.4, 0.998, 4.5) };
    let times = Some(ConnectionTimes { total: few, ..ConnectionTimes::default() });
    let shown = text(&QuickResult { connection_times_ms: times, ..result() }, Layout::default());
    assert!(shown.contains("Total:          0.400    0.998    0.500        -    4.500\n"), "{shown}");
    let shown = text(&none, Layout::default());
    for line in [
        "Total:              -        -        -        -        -\n",
        " 100%         - (longest request)\n",
        "Valid answers:          0, 0.00 per second\n",
        "Failed as closed-before-answer 100\n",
        "Failed as connect-refused 10\n",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
}

#[test]
fn a_script_that_looks_for_a_row_of_abs_by_its_percentage_finds_one() {
    let times = Percentiles { p50: Some(0.4), p99: Some(0.9), max: 2.0, ..Percentiles::default() };
    let phases = PhaseTimes {
        waited_ms: times,
        connect_ms: times,
        tls_ms: None,
        first_byte_ms: times,
        last_byte_ms: times,
        n: 1000,
    };
    let offered = Offered {
        rate_per_second: 300.0,
        arrivals: Arrivals::Constant,
        seed: 7,
        intended: 3000,
        unsent: 0,
        users: 10,
        lateness_ms: times,
        overdue_ms: times,
    };
    let served_within_ms = vec![(50.0, Some(0.95)), (99.0, Some(2.0)), (99.9, Some(3.5)), (99.99, Some(4.25))];
    let all = QuickResult { served_within_ms, phases: Some(phases), offered: Some(offered), ..result() };
    let shown = text(&all, Layout::default());
    for percent in ["50%", "99%", "100%"] {
        assert_eq!(shown.matches(percent).count(), 1, "{percent} in {shown}");
    }
    assert!(shown.contains("Slowest of them (ms):   p99.9 3.500, p99.99 4.250\n"), "{shown}");
}

#[test]
fn what_was_not_asked_for_is_left_out() {
    let shown =
        text(&result(), Layout { no_percentages: true, no_deviation: true, any_length: true, ..Layout::default() });
    for absent in ["Percentage of", "[+/-sd]", "Keep-Alive requests", "Total body sent", "kb/s"] {
        assert!(!shown.contains(absent), "{absent} in {shown}");
    }
    assert!(shown.contains("Document Length:        Variable\n"), "{shown}");
    assert!(
        shown.contains("                  min      avg      max\nConnect:        0.000    0.001    0.200\n"),
        "{shown}"
    );
}

#[test]
fn doubts_are_told_with_what_helps() {
    let mark = |rule, verdict, reason: &str, remedy| Mark {
        rule,
        verdict,
        reason: reason.to_owned(),
        remedy,
        value: 1.0,
        bound: 0.0,
    };
    let validity = vec![
        mark("rate", Verdict::Refused, "60 of 3000 requests could not be sent", "offer less"),
        mark("steal", Verdict::Marked, "2.0 % of the cores' time was stolen", "run elsewhere"),
    ];
    let shown = text(&QuickResult { validity, interrupted: true, ..result() }, Layout::default());
    assert!(shown.contains("Refused:                60 of 3000 requests could not be sent; offer less\n"), "{shown}");
    assert!(shown.contains("Marked:                 2.0 % of the cores' time was stolen; run elsewhere\n"), "{shown}");
    assert!(
        shown.ends_with("Interrupted:            partial, the figures are of what was done until then\n"),
        "{shown}"
    );
}

#[test]
fn connections_and_their_handshakes_are_taken_apart() {
    let times = Percentiles { mean: 0.5, p50: Some(0.4), p95: Some(0.9), max: 2.0, ..Percentiles::default() };
    let phases = PhaseTimes {
        waited_ms: Percentiles::default(),
        connect_ms: times,
        tls_ms: Some(times),
        first_byte_ms: times,
        last_byte_ms: times,
        n: 1000,
    };
    let segments = Segments { sent: 6.0, received: 5.5, retransmitted: 0.0, round_trip_time_ms: 0.03, n: 63 };
    let first = FirstRequest {
        round_trips: Some(3.0),
        wire_bytes_sent: 512.0,
        wire_bytes_received: 2048.0,
        n: 1000,
        segments: Some(segments),
    };
    let mut out = Vec::new();
    connecting(&phases, Some(&first), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    Requests that opened their connection: 1000, where their time went (ms)
                     mean       p50       p95       p99       max
    Waited:         0.000         -         -         -     0.000
    TCP:            0.500     0.400     0.900         -     2.000
    TLS:            0.500     0.400     0.900         -     2.000
    First byte:     0.500     0.400     0.900         -     2.000
    Last byte:      0.500     0.400     0.900         -     2.000
    Each of them:           3.00 round trips, 512 bytes sent, 2048 received
    TCP_INFO of 63          6.0 segments sent, 5.5 received, 0.030 ms round trip
    ");
    let handshakes = Some(Handshaken { full: 1000, resumed: 0, failed: 2 });
    let shown = text(&QuickResult { handshakes, ..result() }, Layout::default());
    assert!(shown.contains("TLS handshakes:         1000 full, 0 resumed, 2 failed\n"), "{shown}");
    assert!(shown.contains("Below TLS:              10240000 bytes received, 1024000 sent\n"), "{shown}");
}

#[test]
fn what_was_offered_at_a_rate_is_told() {
    let offered = Offered {
        rate_per_second: 300.0,
        arrivals: Arrivals::Poisson,
        seed: 7,
        intended: 3000,
        unsent: 60,
        users: 10,
        lateness_ms: Percentiles { p50: Some(0.02), p99: Some(0.2), max: 1.5, ..Percentiles::default() },
        overdue_ms: Percentiles { p99: Some(0.1), max: 1.2, ..Percentiles::default() },
    };
    let mut out = Vec::new();
    at_a_rate(&offered, ("requests", ""), &mut out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
    Offered:                300 requests per second (poisson, seed 7)
    Intended requests:      3000, of which 60 could not be sent; 10 users were needed
    Sent late by (ms):      p50 0.020, p99 0.200, at most 1.500; by the generator itself p99 0.100, at most 1.200
    ");
    let few = Percentiles { mean: 0.3, max: 7.0, ..Percentiles::default() };
    let mut out = Vec::new();
    at_a_rate(&Offered { lateness_ms: few, overdue_ms: few, ..offered }, ("requests", ""), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected = "p50 -, p99 -, at most 7.000; by the generator itself on average 0.300, at most 7.000";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn every_mark_stands_with_its_remedy() {
    let mark = |rule: &'static str, remedy| {
        let reason = format!("{rule} found 7");
        Mark { rule, verdict: Verdict::Marked, reason, remedy, value: 7.0, bound: 0.0 }
    };
    let validity: Vec<Mark> = tollgate_facts::rules::names().map(|rule| mark(rule, "mend it so")).collect();
    let shown = text(&QuickResult { validity, ..result() }, Layout::default());
    for rule in tollgate_facts::rules::names() {
        assert!(shown.contains(&format!("Marked:                 {rule} found 7; mend it so\n")), "{rule}: {shown}");
    }
}
